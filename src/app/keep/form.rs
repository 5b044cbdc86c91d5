//! The form of the record: thirteen fields, then the authorities; owns every key while it is open.

use std::sync::Arc;

use tui_input::Input;

use super::command::{self, Ready};
use super::record;
use super::tally::tally;
use super::update::{append, order};
use crate::app::App;
use crate::app::effect::{Attach, Effect, Material, Order};
use crate::app::key::Key;
use crate::app::popup::{Content, Popup};
use crate::app::prompt;
use crate::journal::entry::{FieldName, FieldSource};
use crate::journal::record::plain;
use crate::journal::{Entry, InstanceRef, LeadRef, Record, Subject};
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
}

/// What is being typed.
#[derive(Debug)]
pub struct Typing {
    what: Asked,
    input: Input,
    /// Text that was pasted as the output to attach, exactly as it came.
    pasted: Option<String>,
}

/// What it is typed for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Field(FieldName),
    Revoked(LeadRef),
    Denied(LeadRef),
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
        }
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

    /// Returns what is being typed.
    pub fn typing(&self) -> Option<&Typing> {
        self.typing.as_ref()
    }

    fn begin(&mut self, what: Asked, value: String) {
        self.typing = Some(Typing {
            what,
            input: value.into(),
            pasted: None,
        });
    }
}

impl Typing {
    /// Returns what stands before the line.
    pub fn label(&self) -> String {
        match &self.what {
            Asked::Field(name) => format!("{}: ", name.title()),
            Asked::Revoked(lead) => format!("{} revoked, how: ", lead.letter),
            Asked::Denied(lead) => format!("{} denied, by check: ", lead.letter),
            Asked::Attach(_) => "attach path, or paste: ".to_owned(),
            Asked::Run(..) => "yes runs it: ".to_owned(),
        }
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
        None if matches!(key, Key::Esc | Key::Char('q' | 'r')) => return Vec::new(),
        None => chosen(app, &mut form, key),
    };
    app.popup = Some(Popup::new(Content::Record(form)));
    effects
}

/// Why nothing can be revoked, denied or run here.
fn no_authority(record: &Record) -> String {
    let text = if record.leads.is_empty() {
        "no authority seen: nothing to revoke"
    } else {
        "choose an authority below the fields first: a, b, c …"
    };
    text.to_owned()
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
        Key::Char('x') => match lead {
            None => app.say(no_authority(&record)),
            Some(line) => match command::of_lead(app, &form.world, &form.on, &line.lead) {
                Ok(ready) => form.begin(Asked::Run(line.lead.clone(), ready, 0), String::new()),
                Err(why) => app.say(why),
            },
        },
        Key::Char('P') => return vec![Effect::Plain(record::plain(app, &record))],
        Key::Char('a') => form.begin(Asked::Attach(lead.map(|line| line.lead.clone())), String::new()),
        Key::Enter | Key::Char('e') if lead.is_none() => {
            if let Some(field) = record.fields.get(form.at) {
                let entered = field.source == Some(FieldSource::Entered);
                let value = if entered {
                    plain(&field.value)
                } else {
                    String::new()
                };
                form.begin(Asked::Field(field.name), value);
            }
        }
        Key::Char('v' | 'd') | Key::Enter => match lead {
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

fn accept(app: &mut App, form: &Form, typing: Typing) -> Vec<Effect> {
    let on = form.on.clone();
    let text = typing.input.value().trim().to_owned();
    let name = format!("{} {}", on.name, on.pid());
    let how = (!text.is_empty()).then(|| text.clone());
    match typing.what {
        Asked::Field(_) if text.is_empty() => Vec::new(),
        Asked::Field(field) => {
            let what = format!("{} of {name}", field.title());
            let entry = Entry::Field {
                on,
                field,
                value: text,
                source: FieldSource::Entered,
            };
            append(app, entry, what)
        }
        Asked::Revoked(lead) => {
            let what = format!("revocation of {lead}");
            let entry = Entry::Revoked {
                on,
                lead,
                revoked_at: app.now,
                by: None,
                how,
            };
            append(app, entry, what)
        }
        Asked::Denied(lead) => {
            let what = format!("denial of {lead}");
            let entry = Entry::Denied {
                on,
                lead,
                denied_at: app.now,
                how,
            };
            // What it did until the check refused it.
            let mut effects = tally(app);
            effects.extend(append(app, entry, what));
            effects
        }
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
