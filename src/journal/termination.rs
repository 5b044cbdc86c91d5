//! The termination field of a record: each signal with its time and its outcome, and what is left behind
//! the last of them.

use super::entry::OutcomeKind;
use super::record::moment;
use super::story::SignalState;
use super::subject::InstanceRef;
use crate::model::act::Signal;
use crate::model::identity::ProcessKey;
use crate::model::instance::{Instance, Role};
use crate::model::plan::{LEFT, NOTHING_LEFT};

/// Returns the signals of an instance in words; empty where there is none.
pub(super) fn line(on: &InstanceRef, signals: &[SignalState], instance: Option<&Instance>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut left = None;
    let mut day = String::new();
    for state in signals {
        // CONT goes with the TERM before it, and is no end of its own.
        if state.signal == Signal::Cont.word() && state.was_sent() {
            continue;
        }
        let time = clock(state, &mut day);
        let detail = state.outcome.as_ref().and_then(|found| found.detail.as_deref());
        let (own, remains) = split(detail.unwrap_or_default());
        if remains.is_some() {
            left = remains;
        }
        let part = if is_server(on, instance, state.target.key) {
            of_server(state, &time)
        } else {
            of_other(state, &time, instance)
        };
        parts.push(if own.is_empty() {
            part
        } else {
            format!("{part} ({own})")
        });
    }
    parts.extend(left.map(str::to_owned));
    parts.join("; ")
}

/// Returns day and time of the first signal of a day, and the time of the others.
fn clock(state: &SignalState, day: &mut String) -> String {
    let time = moment(state.sent_at.unwrap_or(state.announced_at));
    match time.split_once(' ') {
        Some((date, clock)) if *day == date => clock.to_owned(),
        Some((date, _)) => {
            date.clone_into(day);
            time
        }
        None => time,
    }
}

/// Returns what a detail says of the process itself, and what it says is left: that stands last.
fn split(detail: &str) -> (&str, Option<&str>) {
    let (own, last) = match detail.rsplit_once("; ") {
        Some((own, last)) => (own, last),
        None => ("", detail),
    };
    if last == NOTHING_LEFT || last.starts_with(LEFT) {
        (own, Some(last))
    } else {
        (detail, None)
    }
}

fn is_server(on: &InstanceRef, instance: Option<&Instance>, key: ProcessKey) -> bool {
    instance.map_or(on.id.0, Instance::lead_process) == key
}

/// Returns `TERM 2026-12-01 01:15:10Z, exited after 212 ms`.
fn of_server(state: &SignalState, time: &str) -> String {
    format!("{} {time}, {}", state.signal, outcome(state))
}

/// Returns `helper 48290 ended by TERM 01:15:40Z`, or what became of it instead.
fn of_other(state: &SignalState, time: &str, instance: Option<&Instance>) -> String {
    let key = state.target.key;
    let role = instance.and_then(|one| one.members().find(|(member, _)| *member == key));
    let role = role.map_or("process", |(_, role)| Role::word(role));
    let pid = key.pid;
    let ended = state
        .outcome
        .as_ref()
        .is_some_and(|found| found.outcome == OutcomeKind::Exited);
    if ended {
        format!("{role} {pid} ended by {} {time}", state.signal)
    } else {
        format!("{role} {pid}: {} {time}, {}", state.signal, outcome(state))
    }
}

/// Returns what became of a signal without its detail.
fn outcome(state: &SignalState) -> String {
    if let (Some(why), None) = (&state.refused, &state.outcome) {
        return format!("refused: {why}");
    }
    if state.sent_at.is_none() && state.outcome.is_none() {
        return "announced, sending not recorded".to_owned();
    }
    match &state.outcome {
        Some(found) => {
            let after = found
                .after_ms
                .map_or_else(String::new, |ms| format!(" after {ms} ms"));
            format!("{}{after}", found.outcome.words())
        }
        None => "outcome not recorded".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn what_is_left_stands_last_in_a_detail() {
        for (detail, own, left) in [
            ("", "", None),
            ("nothing left", "", Some("nothing left")),
            (
                "left: helper ssh 1 (S), child x 2",
                "",
                Some("left: helper ssh 1 (S), child x 2"),
            ),
            (
                "as 50211, child of sup 7; nothing left",
                "as 50211, child of sup 7",
                Some("nothing left"),
            ),
            ("a; b; left: c", "a; b", Some("left: c")),
            ("state S, TERM ignored", "state S, TERM ignored", None),
            ("a; nothing left to say", "a; nothing left to say", None),
        ] {
            assert_eq!(split(detail), (own, left), "{detail}");
        }
    }
}
