//! A return on the disk: journalled once, and nowhere but where its signal is.

use super::{ABOUT, Scene, named, order, story, target};
use crate::app::{Order, Outcome};
use crate::journal::entry::OutcomeKind;
use crate::journal::{Entry, Line, TargetRef};
use crate::model::act::{Sent, Signal, Way};
use crate::model::identity::{Pid, ProcessKey, StartKey};
use crate::model::time::UnixMillis;
use crate::runtime::desk::work::Work;
use crate::store::check;

fn came_back(announced: u64) -> Entry {
    let key = ProcessKey {
        pid: Pid::new(50_211).unwrap(),
        start: StartKey(9),
    };
    Entry::CameBack {
        signal: "TERM".to_owned(),
        target: named(&target()),
        successor: TargetRef {
            key,
            ..named(&target())
        },
        parent: None,
        started_at: UnixMillis(1),
        after_ms: Some(5),
        seen_at: UnixMillis(2),
        announced,
    }
}

/// A TERM that went out, and whose target has exited.
fn exited() -> Scene {
    let mut scene = Scene::new(&[Sent::Accepted], Way::KeptPidfd);
    scene.signal(order(Signal::Term)).0.unwrap();
    let outcome = Entry::Outcome {
        signal: "TERM".to_owned(),
        target: named(&target()),
        outcome: OutcomeKind::Exited,
        after_ms: Some(1),
        detail: None,
        announced: Some(ABOUT),
    };
    append(&mut scene.work, outcome).unwrap();
    scene
}

fn append(work: &mut Work, entry: Entry) -> Result<Vec<Line>, String> {
    match work.carry_out(Order::Append(Box::new(entry))).0 {
        Outcome::Written(result) => result,
        Outcome::Refused(why) => Err(format!("refused: {why}")),
        other => panic!("{other:?}"),
    }
}

fn kinds(lines: &[Line]) -> usize {
    let told = |line: &&Line| matches!(line.entry, Ok(Entry::CameBack { .. }));
    lines.iter().filter(told).count()
}

fn on_disk(scene: &Scene) -> usize {
    let text = std::fs::read_to_string(super::journal_of(&scene.opened)).unwrap();
    text.matches(r#""kind":"came_back""#).count()
}

/// A second operator's desk, at work on the same incident.
fn colleague(scene: &Scene) -> super::Work {
    let mut second = super::signalling(
        scene.state.path(),
        super::Access::ReadWrite,
        Box::new(crate::platform::NoSignaller::new("a test")),
    );
    let order = Order::Open {
        title: None,
        offered: None,
        on: super::world(),
    };
    let joined = second.carry_out(order).0;
    assert!(matches!(joined, Outcome::Opened(Ok(_))), "{joined:?}");
    second
}

#[test]
fn it_is_appended_and_the_incident_is_sound() {
    let mut scene = exited();
    let lines = append(&mut scene.work, came_back(ABOUT)).unwrap();
    assert_eq!(kinds(&lines), 1);
    let checked = check(std::path::Path::new(&scene.opened.path), None).unwrap();
    assert_eq!(checked.verified.fault, None);
    let story = story(&scene.opened.path);
    let signal = &story.threads.values().next().unwrap().signals[0];
    assert_eq!(signal.came_back.len(), 1);
    assert!(signal.is_unresolved());
}

#[test]
fn who_sees_it_second_writes_nothing_and_is_shown_what_the_first_wrote() {
    let mut scene = exited();
    let mut second = colleague(&scene);
    assert_eq!(kinds(&append(&mut scene.work, came_back(ABOUT)).unwrap()), 1);
    assert_eq!(kinds(&append(&mut second, came_back(ABOUT)).unwrap()), 1);
    assert_eq!(on_disk(&scene), 1);
}

#[test]
fn another_incident_and_a_closed_one_get_nothing() {
    let mut scene = exited();
    let why = append(&mut scene.work, came_back(ABOUT + 1)).unwrap_err();
    assert_eq!(why, "refused: the incident that is open does not hold its signal");
    append(&mut scene.work, Entry::Closed { remaining: None }).unwrap();
    let why = append(&mut scene.work, came_back(ABOUT)).unwrap_err();
    assert_eq!(why, "refused: no incident is open");
    assert_eq!(on_disk(&scene), 0);
    let mut other = Scene::new(&[], Way::KeptPidfd);
    let why = append(&mut other.work, came_back(ABOUT)).unwrap_err();
    assert_eq!(why, "refused: the incident that is open does not hold its signal");
    assert_eq!(on_disk(&other), 0);
}

#[test]
fn one_that_somebody_else_has_closed_gets_nothing() {
    let mut scene = exited();
    let mut second = colleague(&scene);
    append(&mut second, Entry::Closed { remaining: None }).unwrap();
    let why = append(&mut scene.work, came_back(ABOUT)).unwrap_err();
    assert_eq!(why, "refused: the incident was closed");
    assert_eq!(on_disk(&scene), 0);
}
