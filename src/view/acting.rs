//! Signals that are under way, or were the last: as a popup, and in the step line.

use super::paint::{Para, lit, say};
use super::theme::Tone;
use crate::app::act::{Dialog, Run, ShotState};
use crate::app::command::{self, Availability, Command};
use crate::app::{App, act};
use crate::journal::Return;
use crate::journal::story::{SignalState, open_signals};
use crate::model::identity::InstanceId;

/// Text of the popup.
pub(super) fn paragraphs(app: &App) -> Vec<Para> {
    let Some(run) = app.act().run() else {
        return vec![Para::bare(lit("No signal was sent.", Tone::Plain))];
    };
    let mut out: Vec<Para> = run.shots().iter().map(|shot| shot_para(app, run, shot)).collect();
    out.push(Para::blank());
    if let Some(why) = run.stopped() {
        out.push(Para::bare(say(&why_stopped(app, why), Tone::Alarm)));
    } else if run.is_under_way() {
        let doing = text(app, &run.doing(app.now()));
        out.push(Para::bare(say(&doing, Tone::Strong)));
        out.push(Para::bare(lit(
            "Esc hides this: it goes on, and the step line shows it.",
            Tone::Dim,
        )));
    } else {
        out.push(over(app));
    }
    out
}

/// Every target has exited: whether the record says so, too.
fn over(app: &App) -> Para {
    if app.keep().not_on_disk().is_empty() {
        return Para::bare(lit("Done: each outcome is journalled.", Tone::Good));
    }
    let text =
        "Done, but NOT EVERYTHING IS ON DISK: it is written with the next entry, or goes with this program.";
    Para::bare(lit(text, Tone::Alarm))
}

fn why_stopped(app: &App, why: &str) -> String {
    text(app, &format!("Stopped. {why}"))
}

fn shot_para(app: &App, run: &Run, shot: &act::Shot) -> Para {
    let (state, tone) = match shot.state() {
        ShotState::Waiting if run.is_under_way() => ("waits".to_owned(), Tone::Dim),
        ShotState::Waiting => ("NOT SENT".to_owned(), Tone::Warning),
        ShotState::Sending => ("being journalled and sent".to_owned(), Tone::Strong),
        ShotState::Sent { due } => (format!("sent; second look at {}", due.clock()), Tone::Strong),
        ShotState::Ended { said, well: true } => (said.clone(), Tone::Good),
        ShotState::Ended { said, well: false } => (said.clone(), Tone::Alarm),
    };
    let line = format!("{} {}: {state}", run.signal().word(), shot.name());
    Para::bare(say(&text(app, &line), tone))
}

/// Names and details may quote what other processes wrote.
fn text(app: &App, text: &str) -> String {
    app.options().redactor.line(text)
}

/// The step line while signals are under way.
pub(super) fn under_way(app: &App) -> Option<String> {
    let run = app.act().under_way()?;
    Some(text(app, &run.doing(app.now())))
}

/// What the step line says of signals without an end: those of the selected row in words, others by
/// their pids.
pub(super) fn unresolved(app: &App) -> Option<Unresolved> {
    let incident = app.keep().incident().filter(|_| !app.options().read_only)?;
    let selected = app.nav().node().and_then(|node| node.instance);
    let mut elsewhere: Vec<String> = Vec::new();
    for thread in incident.story().threads.values() {
        for state in open_signals(&thread.signals) {
            let is_here = selected == Some(thread.on.id)
                || state
                    .open_returns()
                    .any(|one| selected == Some(successor_of(one)));
            if is_here {
                let said = if app.is_under_way_elsewhere(state) {
                    under_way_elsewhere(&thread.on.name, state)
                } else {
                    format!("unresolved: {}", one(&thread.on.name, state))
                };
                return Some(Unresolved::Here(text(app, &said)));
            }
            elsewhere.push(whom(state));
        }
    }
    (!elsewhere.is_empty())
        .then(|| Unresolved::Elsewhere(format!("unresolved signals: {}", elsewhere.join(", "))))
}

/// The pid of a process, and those as which it came back: `48271 (now 50211)`.
fn whom(state: &SignalState) -> String {
    let returns = state
        .open_returns()
        .map(|one| format!(" (now {})", one.successor.key.pid));
    let returns: String = returns.collect();
    format!("{}{returns}", state.target.key.pid)
}

/// The instance as which a process came back.
fn successor_of(one: &Return) -> InstanceId {
    let instance = one.successor.instance.as_ref();
    instance.map_or(InstanceId(one.successor.key), |instance| instance.id)
}

/// Signals without an end.
pub(super) enum Unresolved {
    /// Of the selected row.
    Here(String),
    /// Of others.
    Elsewhere(String),
}

/// A signal of another screen, which looks again itself.
fn under_way_elsewhere(name: &str, state: &SignalState) -> String {
    format!(
        "under way: {} to {} ({name}) by {} at {}, its second look is due",
        state.signal,
        state.target.key.pid,
        state.operator,
        state.announced_at.clock()
    )
}

fn one(name: &str, state: &SignalState) -> String {
    let pid = state.target.key.pid;
    let signal = &state.signal;
    match &state.outcome {
        Some(found) => {
            let returns: Vec<String> = state.open_returns().map(|one| one.words(signal)).collect();
            if !returns.is_empty() {
                return format!("{pid} ({name}) {}", returns.join("; "));
            }
            let next = if signal == "TERM" && state.was_sent() {
                "; K offers forced containment"
            } else {
                ""
            };
            format!("{signal} to {pid} ({name}): {}{next}", found.outcome.words())
        }
        None => format!("{signal} to {pid} ({name}): no outcome is journalled, look again"),
    }
}

/// The keys of the dialog that do something.
pub(super) fn keys(app: &App, dialog: &Dialog) -> Vec<(&'static str, &'static str)> {
    if dialog.signal().is_none() {
        return vec![("T", "ask to end"), ("K", "forced containment"), ("Esc", "back")];
    }
    let mut keys = vec![("0-9 Enter", "send")];
    if !dialog.asks_again() {
        keys.extend([("Space", "tick"), ("Up Down", "choose")]);
        if !dialog.missing(app).is_empty() {
            keys.push(("o", "go on without"));
        }
        if !dialog.stopped().is_empty() {
            keys.push(("c", "CONT with it"));
        }
    }
    keys.push(("Esc", "back"));
    keys
}

/// Whether the key for TERM is shown: once the evidence of the selected server is kept.
pub(super) fn is_advertised(app: &App) -> bool {
    let Some(id) = app.nav().node().and_then(|node| node.instance) else {
        return false;
    };
    let available = command::of(Command::Term).map(|spec| (spec.available)(app));
    app.keep().is_saved(id) && available == Some(Availability::Yes)
}
