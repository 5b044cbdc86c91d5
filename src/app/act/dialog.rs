//! Keys of the dialog, and the answer to its look. Whatever is not the exact confirmation sends
//! nothing.

use std::sync::Arc;

use super::confirm::{Code, live_clients};
use super::{Dialog, missing, run};
use crate::app::App;
use crate::app::effect::{Effect, JobId};
use crate::app::key::Key;
use crate::app::layout;
use crate::app::popup::{Content, Popup};
use crate::model::act::{Difference, Look, Signal, Standing, Way};
use crate::model::plan::MOST_TARGETS;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::world::World;

/// More digits than any confirmation has: what is typed beyond is wrong all the same.
const LONGEST: usize = 16;

/// What a key does to the dialog.
enum Next {
    /// It stays open.
    Stay,
    /// It closes, and nothing is sent.
    Close,
    /// It was confirmed.
    Confirmed,
}

/// Gives a key to the dialog.
pub(in crate::app) fn key(app: &mut App, mut dialog: Box<Dialog>, key: Key) -> Vec<Effect> {
    let next = if dialog.signal().is_none() {
        choose(&mut dialog, key)
    } else {
        typed(app, &mut dialog, key)
    };
    match next {
        Next::Stay => {
            app.popup = Some(Popup::new(Content::Act(dialog)));
            Vec::new()
        }
        Next::Close => {
            app.say("nothing was sent".to_owned());
            Vec::new()
        }
        Next::Confirmed => run::start(app, &dialog),
    }
}

/// The signal is to be chosen.
fn choose(dialog: &mut Dialog, key: Key) -> Next {
    match key {
        Key::Char('T') => dialog.intent.signal = Some(Signal::Term),
        Key::Char('K') => dialog.intent.signal = Some(Signal::Kill),
        Key::Esc => return Next::Close,
        _ => scroll(dialog, key),
    }
    Next::Stay
}

fn typed(app: &mut App, dialog: &mut Dialog, key: Key) -> Next {
    match key {
        Key::Esc if dialog.asks_again => {
            dialog.asks_again = false;
            dialog.input.clear();
        }
        Key::Esc => return Next::Close,
        Key::Enter => return enter(app, dialog),
        Key::Char(digit) if digit.is_ascii_digit() => {
            if dialog.looking.is_some() {
                app.say("the targets are being read again: what is typed before does not count".to_owned());
            } else if dialog.input.len() < LONGEST {
                dialog.input.push(digit);
            }
        }
        Key::Backspace => {
            dialog.input.pop();
        }
        Key::Ctrl('u') => dialog.input.clear(),
        Key::Char(' ' | 'o' | 'c') if !dialog.asks_again => change(app, dialog, key),
        Key::Char(other) => {
            dialog.input.clear();
            app.say(format!("{other:?} is no digit: type anew"));
        }
        _ => scroll(dialog, key),
    }
    Next::Stay
}

fn scroll(dialog: &mut Dialog, key: Key) {
    let last = dialog.plan().items.len().saturating_sub(1);
    match key {
        Key::Up => {
            dialog.at = dialog.at.saturating_sub(1);
            dialog.scrolled = 0;
        }
        Key::Down | Key::Tab => {
            dialog.at = (dialog.at + 1).min(last);
            dialog.scrolled = 0;
        }
        Key::PageUp => dialog.scrolled -= 5,
        Key::PageDown => dialog.scrolled += 5,
        _ => {}
    }
}

/// Ticks, passes over, continues: what was typed before was for something else.
fn change(app: &mut App, dialog: &mut Dialog, key: Key) {
    dialog.input.clear();
    match key {
        Key::Char('o') => {
            let missing = dialog.missing(app);
            if missing.is_empty() {
                app.say("nothing is missing".to_owned());
            } else if dialog.passes_over(&missing) {
                dialog.passed_over.clear();
            } else {
                dialog.passed_over = missing;
            }
        }
        Key::Char('c') => {
            if dialog.signal() == Some(Signal::Term) && !dialog.stopped().is_empty() {
                dialog.continues = !dialog.continues;
            } else {
                app.say("CONT is for a TERM to a stopped process: none is ticked".to_owned());
            }
        }
        _ => tick(app, dialog),
    }
}

fn tick(app: &mut App, dialog: &mut Dialog) {
    if std::mem::take(&mut dialog.scrolled) != 0 {
        return app.say("the chosen line is in sight again: Space ticks it".to_owned());
    }
    let ticked = dialog.ticked().len();
    let Some(item) = dialog.intent.plan.items.get(dialog.at) else {
        return;
    };
    let pid = item.pid();
    if let Some(why) = &item.refused {
        return app.say(format!("{pid}: {}", why.words()));
    }
    if let Some(why) = dialog.lost.get(&item.target.key) {
        let said = format!("{pid}: {why}");
        return app.say(said);
    }
    if !item.ticked && ticked >= MOST_TARGETS {
        return app.say(format!("at most {MOST_TARGETS} are signalled at once"));
    }
    let item = &mut dialog.intent.plan.items[dialog.at];
    item.ticked = !item.ticked;
}

/// Sends only where the exact confirmation was typed; else clears it and says why not.
fn enter(app: &mut App, dialog: &mut Dialog) -> Next {
    let typed = std::mem::take(&mut dialog.input);
    let said = match refuse(app, dialog, &typed) {
        Some(said) => said,
        None if dialog.asks_again || live_clients(dialog).is_empty() => return Next::Confirmed,
        None => {
            dialog.asks_again = true;
            "a live client is meant: asked a second time".to_owned()
        }
    };
    app.say(said);
    Next::Stay
}

/// Why what was typed does not send.
fn refuse(app: &App, dialog: &Dialog, typed: &str) -> Option<String> {
    if dialog.looking.is_some() {
        return Some("not sent: the targets are being read again".to_owned());
    }
    let (width, height) = app.size;
    if layout::too_small(width, height) {
        return Some("not sent: the terminal is too small to show what would be".to_owned());
    }
    let Some(code) = Code::of(dialog) else {
        return Some("not sent: no target is ticked".to_owned());
    };
    if typed.is_empty() {
        return Some(format!("Enter alone sends nothing: type {}", code.words()));
    }
    if app.burst.before >= typed.len() {
        return Some(
            "not sent: digits and Enter came at once, as pasted text does: type them anew".to_owned(),
        );
    }
    if typed != code.digits() {
        return Some(format!("not sent: {typed} is not {}", code.words()));
    }
    let missing = dialog.missing(app);
    if !missing.is_empty() && !dialog.passes_over(&missing) {
        let steps = missing::words(&missing);
        return Some(format!("not sent: {steps} not done; o goes on without"));
    }
    (!app.keep.is_open()).then(|| "not sent: no incident is open; Esc, and the key again".to_owned())
}

/// Pasted text never counts; what was typed before it neither.
pub(in crate::app) fn paste(app: &mut App) -> bool {
    let Some(Popup {
        content: Content::Act(dialog),
        ..
    }) = &mut app.popup
    else {
        return false;
    };
    dialog.input.clear();
    app.say("pasted text never counts: type the digits".to_owned());
    true
}

/// Takes the answer to the look: any difference of a ticked target closes the dialog.
pub(in crate::app) fn looked(app: &mut App, job: JobId, looks: &[Look]) {
    let Some(Popup {
        content: Content::Act(dialog),
        ..
    }) = &mut app.popup
    else {
        return;
    };
    if dialog.looking != Some(job) {
        return;
    }
    if let Some(why) = compare(dialog, looks) {
        app.popup = None;
        app.say(format!("closed, nothing was sent: {why}"));
    }
}

/// Answers with what closes the dialog.
fn compare(dialog: &mut Dialog, looks: &[Look]) -> Option<String> {
    dialog.looking = None;
    if looks.len() != dialog.plan().items.len() {
        return Some("the targets could not be read again".to_owned());
    }
    dialog.way = weakest(dialog, looks);
    dialog.read_at = looks.iter().map(|look| look.at).max();
    let mut now = World::clone(&dialog.intent.world);
    let mut closed: Vec<String> = Vec::new();
    for (item, look) in dialog.intent.plan.items.iter_mut().zip(looks) {
        let key = item.target.key;
        let change = match &look.standing {
            Standing::Same(process) if process.key == key && !process.is_zombie() => {
                renew(&mut now, process);
                continue;
            }
            standing => changed(standing),
        };
        if matches!(look.standing, Standing::Gone | Standing::Replaced) {
            now.sample.processes.remove(&key.pid);
        }
        if item.ticked {
            closed.push(format!("{} {change}", key.pid));
        } else {
            dialog.lost.insert(key, change);
        }
    }
    dialog.now = Arc::new(now);
    (!closed.is_empty()).then(|| closed.join("; "))
}

/// The weakest way among those to the ticked targets.
fn weakest(dialog: &Dialog, looks: &[Look]) -> Option<Way> {
    let ticked = dialog
        .plan()
        .items
        .iter()
        .zip(looks)
        .filter(|(item, _)| item.ticked);
    ticked.map(|(_, look)| look.way).max_by_key(|way| match way {
        Way::KeptPidfd => 0,
        Way::NewPidfd => 1,
        Way::Kill => 2,
    })
}

/// Puts a process as it was read again in the place of what was seen; what a look does not read stays.
fn renew(world: &mut World, read: &Process) {
    let Some(place) = world.sample.processes.get_mut(&read.key.pid) else {
        return;
    };
    let seen = Process::clone(place);
    let mut now = read.clone();
    if now.descriptors == Reading::Unread {
        now.descriptors = seen.descriptors;
        now.locks = seen.locks;
    }
    if now.signals == Reading::Unread {
        now.signals = seen.signals;
    }
    if now.namespace_pids == Reading::Unread {
        now.namespace_pids = seen.namespace_pids;
    }
    if now.cpu_permille.is_none() {
        now.cpu_permille = seen.cpu_permille;
    }
    *place = Arc::new(now);
}

/// Returns in words what became of a process since it was seen.
pub(super) fn changed(standing: &Standing) -> String {
    match standing {
        Standing::Same(process) if process.is_zombie() => match process.ppid {
            Some(parent) => {
                format!("has exited: TERM does nothing, its parent {parent} must wait for it")
            }
            None => "has exited: TERM does nothing, its parent must wait for it".to_owned(),
        },
        Standing::Same(_) => "could not be read again".to_owned(),
        Standing::Changed(_, differences) => {
            let what: Vec<&str> = differences
                .iter()
                .map(|one| match one {
                    Difference::Argv => "its command line",
                    Difference::Program => "its program",
                })
                .collect();
            format!("is not what was seen: {} changed", what.join(" and "))
        }
        Standing::Replaced => "was replaced: its pid is another process's now".to_owned(),
        Standing::Gone => "is gone".to_owned(),
        Standing::Unread(why) => format!("could not be read again: {why}"),
    }
}
