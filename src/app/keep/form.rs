//! The form of the record: thirteen fields, then the authorities; owns every key while it is open.

use std::sync::Arc;

use tui_input::Input;

use super::command::{self, Ready};
use super::record;
use super::stated::{self, Stated};
use super::tally::tally;
use super::update::{append, order, take_note};
use crate::app::App;
use crate::app::effect::{Attach, Effect, Material, Order};
use crate::app::key::Key;
use crate::app::popup::{Content, Popup};
use crate::app::prompt;
use crate::journal::entry::{FieldName, FieldSource};
use crate::journal::record::{LeadLine, typed as typed_of};
use crate::journal::{Entry, InstanceRef, LeadRef, Record, Subject};
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// An open form.
#[derive(Debug)]
pub struct Form {
    on: InstanceRef,
    /// The evidence, as it was when the form was opened: nothing moves beneath it.
    world: Arc<World>,
    /// The chosen line: fields first, then authorities.
    at: usize,
    typing: Option<Typing>,
    /// The place of the list that it was opened from, and goes back to.
    listed: Option<usize>,
}

/// What is being typed.
#[derive(Debug)]
pub struct Typing {
    what: Asked,
    input: Input,
    /// Text that was pasted as the output to attach, exactly as it came.
    pasted: Option<String>,
    /// What speaks against what was typed, and that text: the same once more is meant.
    doubted: Option<(String, String)>,
}

/// What it is typed for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    /// Text of a field, and whether some was entered before.
    Field(FieldName, bool),
    Revoked(LeadRef),
    Denied(LeadRef),
    Note,
    Attach(Option<LeadRef>),
    /// One of these commands; the place of the chosen one.
    Run(LeadRef, Vec<Ready>, usize),
}

impl Form {
    /// Returns the form of an instance.
    pub(in crate::app) fn new(on: InstanceRef, world: Arc<World>) -> Self {
        Self {
            on,
            world,
            at: 0,
            typing: None,
            listed: None,
        }
    }

    /// Returns it as opened from a place of the list of records.
    pub(super) fn listed(mut self, at: usize) -> Self {
        self.listed = Some(at);
        self
    }

    /// Returns the instance.
    pub fn on(&self) -> &InstanceRef {
        &self.on
    }

    /// Returns the record as it stands.
    pub fn record(&self, app: &App) -> Record {
        record::of(app, &self.on, &self.world)
    }

    /// Returns the place of the chosen line.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns whether Esc goes back to the list of records.
    pub fn is_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// Returns what is being typed.
    pub fn typing(&self) -> Option<&Typing> {
        self.typing.as_ref()
    }

    fn begin(&mut self, what: Asked, value: String) {
        self.typing = Some(Typing {
            what,
            input: value.into(),
            pasted: None,
            doubted: None,
        });
    }
}

impl Typing {
    /// Returns what stands before the line.
    pub fn label(&self) -> String {
        match &self.what {
            Asked::Field(name, _) => format!("{}: ", name.title()),
            Asked::Revoked(lead) => format!("{} revoked, how: ", lead.letter),
            Asked::Denied(lead) => format!("{} denied, by check: ", lead.letter),
            Asked::Note => "note: ".to_owned(),
            Asked::Attach(_) => "attach path, or paste: ".to_owned(),
            Asked::Run(..) => "yes runs it: ".to_owned(),
        }
    }

    /// Returns what speaks against what was typed, else what may be typed.
    pub fn hint(&self) -> Option<&str> {
        if let Some((doubt, _)) = &self.doubted {
            return Some(doubt);
        }
        match &self.what {
            Asked::Revoked(_) | Asked::Denied(_) => Some(stated::HINT),
            Asked::Field(_, true) => Some("Emptied (Ctrl-U) and written, what was entered is withdrawn"),
            _ => None,
        }
    }

    /// Returns whether what was typed is doubted.
    pub fn is_doubted(&self) -> bool {
        self.doubted.is_some()
    }

    /// Returns the command that would be run, with its place among how many.
    pub fn command(&self) -> Option<(&Ready, usize, usize)> {
        match &self.what {
            Asked::Run(_, ready, at) => Some((ready.get(*at)?, at + 1, ready.len())),
            _ => None,
        }
    }

    /// Returns the line.
    pub fn text(&self) -> String {
        match &self.pasted {
            Some(pasted) => format!("{} bytes pasted, {} lines", pasted.len(), pasted.lines().count()),
            None => self.input.value().to_owned(),
        }
    }

    /// Returns the cursor's place, in characters.
    pub fn cursor(&self) -> usize {
        match &self.pasted {
            Some(_) => self.text().chars().count(),
            None => self.input.cursor(),
        }
    }
}

/// Gives a key to the form; it stays open until Esc.
pub(in crate::app) fn key(app: &mut App, mut form: Box<Form>, key: Key) -> Vec<Effect> {
    let effects = match form.typing.take() {
        Some(typing) => typed(app, &mut form, typing, key),
        None if matches!(key, Key::Esc | Key::Char('q' | 'r')) => {
            if let Some(at) = form.listed {
                app.popup = Some(Popup::new(Content::Incident {
                    at: place_of(app, &form, at),
                }));
            }
            return Vec::new();
        }
        None => chosen(app, &mut form, key),
    };
    app.popup = Some(Popup::new(Content::Record(form)));
    effects
}

/// The place of the record in the list, which what was written may have changed.
fn place_of(app: &App, form: &Form, before: usize) -> usize {
    let listed = app.listed();
    let same = listed.iter().position(|one| one.record.instance.id == form.on.id);
    same.unwrap_or(before)
}

/// Why nothing can be revoked, denied or run here.
fn no_authority(record: &Record) -> String {
    match record.leads.len() {
        0 => "no authority seen: nothing to revoke".to_owned(),
        many => format!("move to an authority (Down, G) first: {many} are listed below the fields"),
    }
}

/// The authority that a key is about: the chosen one, else the only one there is.
fn lead_of<'a>(record: &'a Record, chosen: Option<&'a LeadLine>) -> Option<&'a LeadLine> {
    match (chosen, &record.leads[..]) {
        (None, [only]) => Some(only),
        (chosen, _) => chosen,
    }
}

fn chosen(app: &mut App, form: &mut Form, key: Key) -> Vec<Effect> {
    let record = form.record(app);
    let last = (record.fields.len() + record.leads.len()).saturating_sub(1);
    let lead = form
        .at
        .checked_sub(record.fields.len())
        .and_then(|at| record.leads.get(at));
    match key {
        Key::Up | Key::Char('k') => form.at = form.at.saturating_sub(1),
        Key::Down | Key::Char('j') | Key::Tab => form.at = (form.at + 1).min(last),
        Key::PageUp | Key::Home | Key::Char('g') => form.at = 0,
        Key::PageDown | Key::End | Key::Char('G') => form.at = last,
        Key::Char('P') => return vec![Effect::Plain(record::plain(app, &record))],
        Key::Char('x' | 'a' | 'm' | 'v' | 'd' | 'e') | Key::Enter if app.options.read_only => {
            app.say("read-only: nothing is written".to_owned());
        }
        Key::Char('x') => match lead_of(&record, lead) {
            None => app.say(no_authority(&record)),
            Some(line) => match command::of_lead(app, &form.world, &form.on, &line.lead) {
                Ok(ready) => form.begin(Asked::Run(line.lead.clone(), ready, 0), String::new()),
                Err(why) => app.say(why),
            },
        },
        Key::Char('a') => form.begin(Asked::Attach(lead.map(|line| line.lead.clone())), String::new()),
        Key::Char('m') => form.begin(Asked::Note, String::new()),
        Key::Enter | Key::Char('e') if lead.is_none() => {
            if let Some(field) = record.fields.get(form.at) {
                let value = entered(app, form, field.name);
                form.begin(Asked::Field(field.name, !value.is_empty()), value);
            }
        }
        Key::Char('v' | 'd') | Key::Enter => match lead_of(&record, lead) {
            None => app.say(no_authority(&record)),
            Some(line) => {
                let revoke = key == Key::Char('v') || (key == Key::Enter && line.revoked.is_none());
                let asked = if revoke { Asked::Revoked } else { Asked::Denied };
                form.begin(asked(line.lead.clone()), String::new());
            }
        },
        _ => {}
    }
    Vec::new()
}

/// What an operator has entered into a field: what the program puts together is not typed over.
fn entered(app: &App, form: &Form, name: FieldName) -> String {
    let incident = app.keep.incident.as_ref();
    let thread = incident.and_then(|incident| incident.story.threads.get(&form.on.id));
    let typed = thread.and_then(|thread| typed_of(thread, name));
    typed
        .filter(|typed| typed.source == FieldSource::Entered)
        .map_or_else(String::new, |typed| typed.value.clone())
}

fn typed(app: &mut App, form: &mut Form, mut typing: Typing, key: Key) -> Vec<Effect> {
    match key {
        Key::Esc => Vec::new(),
        Key::Enter => accept(app, form, typing),
        Key::Up | Key::Down => {
            if let Asked::Run(_, ready, at) = &mut typing.what {
                let last = ready.len().saturating_sub(1);
                *at = if key == Key::Up {
                    at.saturating_sub(1)
                } else {
                    (*at + 1).min(last)
                };
                // What was typed was typed for the other one.
                typing.input.reset();
            }
            form.typing = Some(typing);
            Vec::new()
        }
        _ => {
            if typing.pasted.is_some() {
                if matches!(key, Key::Backspace | Key::Delete | Key::Ctrl('u')) {
                    typing.pasted = None;
                }
            } else {
                prompt::edit(&mut typing.input, key);
            }
            form.typing = Some(typing);
            Vec::new()
        }
    }
}

fn accept(app: &mut App, form: &mut Form, mut typing: Typing) -> Vec<Effect> {
    let on = form.on.clone();
    let text = typing.input.value().trim().to_owned();
    let name = format!("{} {}", on.name, on.pid());
    if let Some(doubt) = doubt(app, form, &typing, &text) {
        typing.doubted = Some((doubt, text));
        form.typing = Some(typing);
        return Vec::new();
    }
    match typing.what {
        Asked::Field(_, false) if text.is_empty() => {
            app.say("nothing was typed: nothing is written".to_owned());
            Vec::new()
        }
        Asked::Field(field, _) => {
            let withdrawn = if text.is_empty() { ", withdrawn" } else { "" };
            let what = format!("{} of {name}{withdrawn}", field.title());
            let entry = Entry::Field {
                on,
                field,
                value: text,
                source: FieldSource::Entered,
            };
            append(app, entry, what)
        }
        Asked::Revoked(lead) => revoked(app, on, lead, &text),
        Asked::Denied(lead) => denied(app, on, lead, &text),
        Asked::Note => take_note(app, &text, vec![Subject::Instance(on)], false),
        Asked::Run(lead, ready, at) => {
            if text != "yes" {
                app.say("not run: only yes runs it".to_owned());
                return Vec::new();
            }
            command::confirmed(app, ready, at, &on, &lead)
        }
        Asked::Attach(lead) => {
            let material = match typing.pasted {
                Some(pasted) => Material::Pasted(pasted),
                None if text.is_empty() => return Vec::new(),
                None => Material::File(text),
            };
            let about = lead.as_ref().map_or(name, ToString::to_string);
            let attach = Attach {
                material,
                label: format!("output on {about}"),
                on: Some(Subject::Instance(on)),
                lead,
            };
            order(
                app,
                Order::Attach(Box::new(attach)),
                format!("the output on {about}"),
            )
        }
    }
}

/// What speaks against writing what was typed, as long as it was not said of the same text.
fn doubt(app: &App, form: &Form, typing: &Typing, text: &str) -> Option<String> {
    if typing
        .doubted
        .as_ref()
        .is_some_and(|(_, doubted)| doubted == text)
    {
        return None;
    }
    let (Asked::Revoked(_) | Asked::Denied(_)) = typing.what else {
        return None;
    };
    let stated = Stated::of(text, app.now);
    let sample = &form.world.sample;
    let since_boot = i64::try_from(sample.since_boot_ms).unwrap_or(i64::MAX);
    let booted = UnixMillis(sample.taken_at.0.saturating_sub(since_boot));
    let opened = app
        .keep
        .incident
        .as_ref()
        .and_then(|incident| incident.story.opened.as_ref());
    let unnamed = matches!(typing.what, Asked::Denied(_)) && stated.how.is_none();
    stated
        .doubt(app.now, booted, opened.map(|act| act.at))
        .or_else(|| unnamed.then(|| "No check named: Enter again records it so; Esc: back".to_owned()))
}

fn revoked(app: &mut App, on: InstanceRef, lead: LeadRef, text: &str) -> Vec<Effect> {
    let stated = Stated::of(text, app.now);
    let what = format!("revocation of {lead}{}", unread(&stated));
    let entry = Entry::Revoked {
        on,
        lead,
        revoked_at: app.now,
        by: None,
        how: stated.how,
        done_by: stated.by,
        done_at: stated.at,
    };
    append(app, entry, what)
}

fn denied(app: &mut App, on: InstanceRef, lead: LeadRef, text: &str) -> Vec<Effect> {
    let stated = Stated::of(text, app.now);
    let what = format!("denial of {lead}{}", unread(&stated));
    let entry = Entry::Denied {
        on,
        lead,
        denied_at: app.now,
        how: stated.how,
        done_by: stated.by,
        done_at: stated.at,
    };
    // What it did until the check refused it.
    let mut effects = tally(app);
    effects.extend(append(app, entry, what));
    effects
}

/// Says what was not read as a time.
fn unread(stated: &Stated) -> String {
    stated.no_time.as_ref().map_or_else(String::new, |word| {
        format!(" (\"{word}\" is no time, it stays text)")
    })
}

/// Types pasted text; as the output to attach it is kept as it is.
pub(in crate::app) fn paste(form: &mut Form, text: &str) {
    let Some(typing) = &mut form.typing else { return };
    match typing.what {
        Asked::Attach(_) => typing.pasted = Some(text.to_owned()),
        // A yes is typed.
        Asked::Run(..) => {}
        _ => prompt::paste(&mut typing.input, text),
    }
}
