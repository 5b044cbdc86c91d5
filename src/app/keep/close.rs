//! The end of an incident: signals whose outcome nobody saw are looked at again, and the journal is
//! closed. Both by the operator's own key: what an entry says somebody has looked at, somebody has.

use std::sync::Arc;

use super::listed::left_open;
use super::others::find_open;
use super::tally::{Tallies, tally};
use super::update::append;
use crate::app::App;
use crate::app::act;
use crate::app::effect::{Effect, Order};
use crate::app::prompt::{Prompt, Purpose};
use crate::journal::entry::OutcomeKind;
use crate::journal::story::{SignalState, open_signals};
use crate::journal::unhandled::Unhandled;
use crate::journal::{Entry, Evidence};
use crate::model::world::World;

/// A dead process that nobody has waited for.
const ZOMBIE: char = 'Z';

/// Asks what is left to be done, before the incident is closed.
pub(in crate::app) fn ask_close(app: &mut App) {
    let mut under_way = app.keep.not_on_disk();
    let running: Vec<&str> = app.keep.running.values().map(String::as_str).collect();
    under_way.extend(running);
    let acting = act::reasons(app);
    under_way.extend(acting.iter().map(String::as_str));
    if let Some(first) = under_way.first() {
        let text = format!("not closed yet: {first} is under way");
        return app.say(text);
    }
    let mut left = left_open(app);
    left.extend(not_handled(app));
    let why = if left.is_empty() {
        "Nothing is known to be left open. Enter: close; Esc: keep it open".to_owned()
    } else {
        format!("Enter: close all the same. LEFT OPEN: {}", left.join("; "))
    };
    app.prompt = Some(Prompt {
        purpose: Purpose::Close { why },
        input: String::new().into(),
    });
}

/// Counts the servers in trouble that the newest sample shows and the journal tells nothing of.
fn not_handled(app: &App) -> Option<String> {
    let story = app.keep.incident()?.story();
    let newest = Evidence {
        file: None,
        kept: None,
        program: String::new(),
        world: Arc::clone(app.feed.newest()?),
    };
    let left = Unhandled::new(story, &newest, &app.options.keep_redactor);
    (!left.servers.is_empty()).then(|| format!("{} seen and not handled", left.counted()))
}

/// Orders the entry that closes the incident.
pub(in crate::app) fn close(app: &mut App, text: &str) -> Vec<Effect> {
    let text = text.trim();
    let mut effects = tally(app);
    app.keep.closing = true;
    let entry = Entry::Closed {
        remaining: (!text.is_empty()).then(|| text.to_owned()),
    };
    effects.extend(append(app, entry, "the incident is closed".to_owned()));
    effects
}

/// Whether an order closes the incident.
pub(super) fn closes(order: &Order) -> bool {
    matches!(order, Order::Append(entry) if matches!(**entry, Entry::Closed { .. }))
}

/// Takes the answer to the order to close: what comes later is no part of it.
pub(super) fn closed(app: &mut App, result: Result<u64, String>) -> Vec<Effect> {
    app.keep.closing = false;
    match result {
        Err(why) => {
            app.say(format!("NOT CLOSED: {why}"));
            Vec::new()
        }
        Ok(seq) => {
            let title = app.keep.incident.take().map(|one| one.story.title);
            app.keep.tallies = Tallies::default();
            app.keep.saved.clear();
            app.keep.lasts.clear();
            app.keep.gone.clear();
            app.say(format!(
                "on disk: entry {seq}: incident {} is closed",
                title.unwrap_or_default()
            ));
            find_open(app)
        }
    }
}

/// Looks again at the processes of signals whose outcome nobody has seen; journals what is found.
pub(in crate::app) fn look_again(app: &mut App) -> Vec<Effect> {
    let looked = match look(app) {
        Ok(looked) => looked,
        Err(why) => {
            app.say(why);
            return Vec::new();
        }
    };
    let mut effects = Vec::new();
    for (entry, what) in looked {
        effects.extend(append(app, entry, what));
    }
    effects
}

fn look(app: &App) -> Result<Vec<(Entry, String)>, String> {
    let (Some(world), Some(incident)) = (app.feed.newest(), &app.keep.incident) else {
        return Err("no incident is open: i opens one".to_owned());
    };
    if let Some(doing) = act::reasons(app).first() {
        return Err(format!("not now: {doing}"));
    }
    let story = &incident.story;
    let host = &world.sample.host;
    if story.boot_id != host.boot_id || story.host != host.hostname.lossy() {
        return Err("not looked: the incident is of another boot or another machine".to_owned());
    }
    let threads = story.threads.values();
    let open: Vec<&SignalState> = threads.flat_map(|thread| open_signals(&thread.signals)).collect();
    if open.is_empty() {
        return Err("no signal of this incident is without an outcome".to_owned());
    }
    open.into_iter().map(|state| found(world, state)).collect()
}

/// Returns what became of a signalled process, or of whoever it came back as, as far as a sample shows it.
fn found(world: &World, state: &SignalState) -> Result<(Entry, String), String> {
    let sample = &world.sample;
    let successor = state.open_returns().last().map(|one| one.successor.key);
    let key = successor.unwrap_or(state.target.key);
    let at = sample.taken_at.rfc3339();
    let (outcome, detail) = match sample.get(key) {
        Some(process) if successor.is_some() && process.state != ZOMBIE => (
            OutcomeKind::CameBack,
            format!(
                "as {}, state {} when looked at again at {at}",
                key.pid, process.state
            ),
        ),
        Some(process) if process.state == ZOMBIE => (
            OutcomeKind::Exited,
            format!(
                "dead, and nobody has waited for it, when looked at again at {at}; when it ended was not seen"
            ),
        ),
        Some(process) => (
            OutcomeKind::StillThere,
            format!("state {} when looked at again at {at}", process.state),
        ),
        None if sample.hidden.is_some_and(|hidden| hidden > 0) => {
            let pid = key.pid;
            return Err(format!(
                "not told: {pid} is not seen, and processes are hidden from this user"
            ));
        }
        None => (
            OutcomeKind::AlreadyGone,
            format!("gone when looked at again at {at}; when it ended was not seen"),
        ),
    };
    let detail = match successor {
        Some(key) if outcome != OutcomeKind::CameBack => {
            format!("it came back as {}, and that is {detail}", key.pid)
        }
        _ => detail,
    };
    let whom = state.target.key.pid;
    let what = format!("{whom} after {}: {}", state.signal, outcome.words());
    let entry = Entry::Outcome {
        signal: state.signal.clone(),
        target: state.target.clone(),
        outcome,
        after_ms: None,
        announced: Some(state.announced),
        detail: Some(detail),
    };
    Ok((entry, what))
}
