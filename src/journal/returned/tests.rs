//! A journal in memory that tells of a return: its story, its record, its place.

use std::ops::ControlFlow;

use super::{Misplaced, Place};
use crate::journal::entry::{FieldName, OutcomeKind};
use crate::journal::record::plain;
use crate::journal::story::{SignalState, open_signals};
use crate::journal::subject::parse_key;
use crate::journal::{
    Entry, InstanceRef, Joint, Line, Operator, ParentRef, Record, Sealed, Story, TargetRef, verify,
};
use crate::model::identity::InstanceId;
use crate::model::time::UnixMillis;
use crate::text::redact::Redactor;

const GIT: &str = "200-7";
const AGAIN: &str = "300-9";

fn target(key: &str) -> TargetRef {
    let key = parse_key(key).unwrap();
    TargetRef {
        key,
        pidfd_inode: None,
        argv: vec!["git-server".to_owned()],
        instance: Some(InstanceRef {
            id: InstanceId(key),
            name: "git".to_owned(),
        }),
    }
}

fn about(key: &str) -> Entry {
    Entry::AboutToSignal {
        signal: "TERM".to_owned(),
        targets: vec![target(key)],
        way: "pidfd".to_owned(),
    }
}

fn sent(key: &str, announced: u64) -> Entry {
    Entry::Sent {
        signal: "TERM".to_owned(),
        target: target(key),
        way: "pidfd".to_owned(),
        refused: None,
        announced: Some(announced),
    }
}

fn outcome(key: &str, announced: u64, outcome: OutcomeKind) -> Entry {
    Entry::Outcome {
        signal: "TERM".to_owned(),
        target: target(key),
        outcome,
        after_ms: Some(212),
        detail: Some("nothing left".to_owned()),
        announced: Some(announced),
    }
}

fn came_back(successor: &str, announced: u64) -> Entry {
    Entry::CameBack {
        signal: "TERM".to_owned(),
        target: target(GIT),
        successor: target(successor),
        parent: Some(ParentRef {
            key: parse_key("190-1").unwrap(),
            comm: "sh".to_owned(),
        }),
        started_at: UnixMillis(5210),
        after_ms: Some(5210),
        seen_at: UnixMillis(6000),
        announced,
    }
}

/// The lines of a journal with these entries, the first of which has the number 1.
fn lines(entries: &[Entry]) -> (Vec<Line>, Vec<u8>) {
    let operator = Operator {
        user: "ana".to_owned(),
        uid: 0,
        login_uid: None,
        ssh_from: None,
    };
    let (mut joint, mut lines, mut bytes) = (Joint::START, Vec::new(), Vec::new());
    for entry in entries {
        let sealed = Sealed::new(joint, UnixMillis(0), &operator, entry).unwrap();
        joint = sealed.joint;
        lines.push(Line::read(&sealed.bytes).unwrap());
        bytes.extend(sealed.bytes);
    }
    (lines, bytes)
}

fn story(entries: &[Entry]) -> Story {
    let mut story = Story::default();
    for line in lines(entries).0 {
        story.add(&line);
    }
    story
}

/// git 200 was signalled, has exited, and came back as 300.
fn returned() -> Vec<Entry> {
    vec![
        about(GIT),
        sent(GIT, 1),
        outcome(GIT, 1, OutcomeKind::Exited),
        came_back(AGAIN, 1),
    ]
}

fn with(more: impl IntoIterator<Item = Entry>) -> Vec<Entry> {
    let mut entries = returned();
    entries.extend(more);
    entries
}

fn signals(story: &Story, key: &str) -> Vec<SignalState> {
    let id = InstanceId(parse_key(key).unwrap());
    story
        .threads
        .get(&id)
        .map_or_else(Vec::new, |thread| thread.signals.clone())
}

fn field(story: &Story, name: FieldName) -> String {
    let id = InstanceId(parse_key(GIT).unwrap());
    let record = Record::new(&story.threads[&id], None, &Redactor::builtin().unwrap());
    let field = record.fields.iter().find(|field| field.name == name).unwrap();
    plain(&field.value)
}

#[test]
fn the_chain_holds_and_the_entry_is_read_as_it_was_written() {
    let (lines, bytes) = lines(&returned());
    let verified = verify(&mut std::io::Cursor::new(bytes), None, &mut |_, _| {}).unwrap();
    assert_eq!((verified.entries, verified.fault), (4, None));
    assert_eq!(lines[3].entry, Ok(came_back(AGAIN, 1)));
}

#[test]
fn the_record_says_who_came_back_and_that_somebody_has_to_look() {
    let told = story(&returned());
    assert_eq!(
        field(&told, FieldName::Termination),
        "TERM 1970-01-01 00:00:00Z, exited after 212 ms; nothing left; 200 came back as 300, 5.2 s after TERM, \
         child of sh 190, seen 1970-01-01 00:00:06Z"
    );
    assert_eq!(
        field(&told, FieldName::FollowUp),
        "look at 300: 200 came back as it"
    );
    let event = told.events.last().unwrap();
    assert_eq!(
        event.what,
        "git 200 (key 200-7) came back as 300-9, 5.2 s after TERM, child of sh 190, started 1970-01-01 00:00:05Z"
    );
    let state = &signals(&told, GIT)[0];
    assert!(state.is_unresolved());
    assert_eq!(
        state.outcome.as_ref().unwrap().outcome,
        OutcomeKind::Exited,
        "how it ended stays"
    );
    assert!(signals(&told, AGAIN).is_empty());
}

#[test]
fn it_is_open_until_the_successor_has_ended() {
    let open = |entries: &[Entry]| {
        let told = story(entries);
        let open = open_signals(&signals(&told, GIT)).count();
        (open, field(&told, FieldName::FollowUp))
    };
    assert_eq!(open(&returned()).0, 1);
    // The successor is signalled and has exited.
    let ended = with([
        about(AGAIN),
        sent(AGAIN, 5),
        outcome(AGAIN, 5, OutcomeKind::Exited),
    ]);
    assert_eq!(open(&ended), (0, String::new()));
    assert!(
        field(&story(&ended), FieldName::Termination).contains("child of sh 190, has ended since, seen"),
        "{}",
        field(&story(&ended), FieldName::Termination)
    );
    let deaf = with([
        about(AGAIN),
        sent(AGAIN, 5),
        outcome(AGAIN, 5, OutcomeKind::StillThere),
    ]);
    assert_eq!(open(&deaf).0, 1);
    // Somebody has looked again at the first signal.
    assert_eq!(open(&with([outcome(GIT, 1, OutcomeKind::CameBack)])).0, 1);
    assert_eq!(open(&with([outcome(GIT, 1, OutcomeKind::AlreadyGone)])).0, 0);
    // The outcome could not be written before the return was.
    let late = [
        about(GIT),
        sent(GIT, 1),
        came_back(AGAIN, 1),
        outcome(GIT, 1, OutcomeKind::Exited),
    ];
    assert_eq!(open(&late).0, 1);
    assert!(field(&story(&late), FieldName::Termination).contains("exited after 212 ms"));
    // A second operator's signal to the same process does not hide it.
    let two = [
        about(GIT),
        about(GIT),
        outcome(GIT, 1, OutcomeKind::Exited),
        came_back(AGAIN, 1),
        outcome(GIT, 2, OutcomeKind::Exited),
    ];
    assert_eq!(open(&two).0, 1);
}

#[test]
fn told_twice_it_came_back_once() {
    let told = story(&with([came_back(AGAIN, 1)]));
    assert_eq!(signals(&told, GIT)[0].came_back.len(), 1);
}

#[test]
fn an_entry_has_its_place_behind_its_signal_and_once() {
    let judge = |journal: &[Entry], entry: &Entry| {
        let mut place = Place::of(entry).unwrap();
        let breaks = lines(journal)
            .0
            .iter()
            .rev()
            .find_map(|line| match place.see(line) {
                ControlFlow::Break(answer) => Some(answer),
                ControlFlow::Continue(()) => None,
            });
        let misplaced = place.misplaced();
        assert_eq!(breaks.unwrap_or(false), misplaced.is_none());
        misplaced
    };
    let entry = came_back(AGAIN, 1);
    let exited = &returned()[..3];
    assert_eq!(judge(exited, &entry), None);
    assert_eq!(judge(&returned(), &entry), Some(Misplaced::Told));
    assert_eq!(
        judge(&returned(), &came_back("301-9", 1)),
        None,
        "another process"
    );
    assert_eq!(judge(exited, &came_back(AGAIN, 2)), Some(Misplaced::Foreign));
    assert_eq!(judge(exited, &came_back(AGAIN, 9)), Some(Misplaced::Foreign));
    assert_eq!(judge(&[], &entry), Some(Misplaced::Foreign));
    assert_eq!(judge(&[about(AGAIN)], &entry), Some(Misplaced::Foreign));
    let closed = Entry::Closed { remaining: None };
    let mut journal = exited.to_vec();
    journal.push(closed);
    assert_eq!(judge(&journal, &entry), Some(Misplaced::Closed));
    // Gone on with since.
    journal.push(about(AGAIN));
    assert_eq!(judge(&journal, &entry), None);
    assert!(Place::of(&about(GIT)).is_none());
}

#[test]
fn how_long_after_is_told_as_exactly_as_it_is_of_use() {
    for (after_ms, told) in [
        (Some(0), "0.0 s after TERM"),
        (Some(2999), "2.9 s after TERM"),
        (Some(59_999), "59.9 s after TERM"),
        (Some(60_000), "1m00s after TERM"),
        (Some(7_200_000), "2h00m after TERM"),
        (None, "some time after TERM"),
    ] {
        assert_eq!(
            super::words("300", after_ms, "TERM", None),
            format!("came back as 300, {told}")
        );
    }
}
