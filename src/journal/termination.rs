//! The termination field of a record: each signal with its time and its outcome, what is left behind the
//! last of them, and who came back since.

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
    for (at, state) in signals.iter().enumerate() {
        // CONT goes with the TERM before it, and is no end of its own.
        if is_with_another(state) {
            continue;
        }
        let next = signals.get(at + 1);
        let continued = next.is_some_and(|next| next.target.key == state.target.key && is_with_another(next));
        let with = if continued { " with CONT" } else { "" };
        let time = clock(state, &mut day);
        let detail = state.outcome.as_ref().and_then(|found| found.detail.as_deref());
        let (own, remains) = split(detail.unwrap_or_default());
        if remains.is_some() {
            left = remains;
        }
        let part = if is_server(on, instance, state.target.key) {
            of_server(state, with, &time)
        } else {
            of_other(state, with, &time, instance)
        };
        parts.push(if own.is_empty() {
            part
        } else {
            format!("{part} ({own})")
        });
    }
    parts.extend(left.map(str::to_owned));
    parts.extend(signals.iter().flat_map(returns));
    parts.join("; ")
}

/// Returns as whom a process came back after its signal: `came back as 50211, 5.2 s after TERM, child of sh
/// 4711`.
fn returns(state: &SignalState) -> impl Iterator<Item = String> {
    state.came_back.iter().map(|one| {
        let seen = moment(one.seen_at);
        format!(
            "{} {}, seen {seen}",
            state.target.key.pid,
            one.words(&state.signal)
        )
    })
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

/// Returns whether it is a CONT that went out.
fn is_with_another(state: &SignalState) -> bool {
    state.signal == Signal::Cont.word() && state.was_sent()
}

fn is_server(on: &InstanceRef, instance: Option<&Instance>, key: ProcessKey) -> bool {
    instance.map_or(on.id.0, Instance::lead_process) == key
}

/// Returns how a signal is called: one that did not go out was not sent.
fn called(state: &SignalState) -> String {
    let word = &state.signal;
    if state.outcome.is_some() && state.sent_at.is_none() {
        format!("{word} not sent")
    } else {
        word.clone()
    }
}

/// Returns `TERM 2026-12-01 01:15:10Z, exited after 212 ms`.
fn of_server(state: &SignalState, with: &str, time: &str) -> String {
    format!("{}{with} {time}, {}", called(state), outcome(state))
}

/// Returns `helper 48290 ended by TERM 01:15:40Z`, or what became of it instead.
fn of_other(state: &SignalState, with: &str, time: &str, instance: Option<&Instance>) -> String {
    let key = state.target.key;
    let role = instance.and_then(|one| one.members().find(|(member, _)| *member == key));
    let role = role.map_or("process", |(_, role)| Role::word(role));
    let pid = key.pid;
    let ended = state
        .outcome
        .as_ref()
        .is_some_and(|found| found.outcome == OutcomeKind::Exited);
    if ended {
        format!("{role} {pid} ended by {}{with} {time}", state.signal)
    } else {
        format!("{role} {pid}: {}{with} {time}, {}", called(state), outcome(state))
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
    use super::super::entry::OutcomeKind;
    use super::super::record::signal_line;
    use super::super::story::{Found, SignalState};
    use super::super::subject::InstanceRef;
    use super::super::{Operator, TargetRef};
    use super::{line, split};
    use crate::model::identity::{InstanceId, Pid, ProcessKey, StartKey};
    use crate::model::time::UnixMillis;

    /// A signal to 200 at 0 s, with the outcome after it.
    fn signal(word: &str, sent: bool, outcome: Option<OutcomeKind>) -> SignalState {
        SignalState {
            announced: 1,
            signal: word.to_owned(),
            target: TargetRef {
                key: key(),
                pidfd_inode: None,
                argv: vec!["git".to_owned()],
                instance: None,
            },
            announced_at: UnixMillis(0),
            operator: Operator {
                user: "root".to_owned(),
                uid: 0,
                login_uid: None,
                ssh_from: None,
            },
            sent_at: sent.then_some(UnixMillis(0)),
            refused: None,
            outcome: outcome.map(|outcome| Found {
                outcome,
                after_ms: None,
                detail: None,
            }),
            came_back: Vec::new(),
        }
    }

    fn key() -> ProcessKey {
        ProcessKey {
            pid: Pid::new(200).expect("a pid"),
            start: StartKey(1),
        }
    }

    #[test]
    fn a_line_says_what_went_out() {
        let on = InstanceRef {
            id: InstanceId(key()),
            name: "git".to_owned(),
        };
        let exited = Some(OutcomeKind::Exited);
        for (signals, expected) in [
            (
                vec![signal("TERM", true, exited)],
                "TERM 1970-01-01 00:00:00Z, exited",
            ),
            (
                vec![signal("TERM", true, exited), signal("CONT", true, None)],
                "TERM with CONT 1970-01-01 00:00:00Z, exited",
            ),
            (
                vec![signal("TERM", false, Some(OutcomeKind::AlreadyGone))],
                "TERM not sent 1970-01-01 00:00:00Z, already gone",
            ),
            (
                vec![signal("TERM", false, None)],
                "TERM 1970-01-01 00:00:00Z, announced, sending not recorded",
            ),
        ] {
            assert_eq!(line(&on, &signals, None), expected);
        }
    }

    #[test]
    fn a_refusal_says_its_reason_once() {
        let why = "EPERM: pidfd_send_signal 200: it belongs to ana (uid 7)";
        let mut state = signal("TERM", true, Some(OutcomeKind::NotPermitted));
        state.refused = Some(why.to_owned());
        state.outcome.as_mut().expect("an outcome").detail = Some(why.to_owned());
        assert_eq!(
            signal_line(&state),
            format!("TERM to 200 refused 1970-01-01 00:00:00Z: {why}, not permitted")
        );
        state.outcome.as_mut().expect("an outcome").detail = Some("state S".to_owned());
        assert!(signal_line(&state).ends_with(&format!("{why}, not permitted (state S)")));
    }

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
