//! From the confirmation to the outcome.

use super::super::testkit::Bench;
use super::super::{ShotState, Stage};
use crate::app::popup::{Content, Popup};
use crate::app::testkit::{NOW, Scene, live, pid};
use crate::app::{Effect, Event, Key, update};
use crate::journal::Entry;
use crate::journal::entry::{OutcomeKind, SnapshotReason};
use crate::model::act::{Sent, Standing};
use crate::model::time::UnixMillis;

/// The server of git was signalled.
fn sent(sent: Option<Result<Sent, String>>) -> Bench {
    let mut bench = Bench::new(live());
    bench.sent.extend(sent);
    bench.press("T OPS <enter> o 271 <enter>");
    assert_eq!(bench.pids(), [48_271]);
    bench
}

fn without(numbers: &[u32]) -> Scene {
    let mut scene = live();
    for number in numbers {
        scene.sample.processes.remove(&pid(*number));
        scene
            .judged
            .instances
            .retain(|one| one.lead_process().pid != pid(*number));
    }
    for instance in &mut scene.judged.instances {
        instance.helpers.retain(|key| !numbers.contains(&key.pid.get()));
    }
    scene
}

fn outcomes(bench: &Bench) -> Vec<(OutcomeKind, Option<u64>, String)> {
    bench
        .written
        .iter()
        .filter_map(|entry| match entry {
            Entry::Outcome {
                outcome,
                after_ms,
                detail,
                ..
            } => Some((*outcome, *after_ms, detail.clone().unwrap_or_default())),
            _ => None,
        })
        .collect()
}

fn snapshots(bench: &Bench) -> Vec<SnapshotReason> {
    bench
        .written
        .iter()
        .filter_map(|entry| match entry {
            Entry::Snapshot { why, .. } => Some(*why),
            _ => None,
        })
        .collect()
}

fn stopped(bench: &Bench) -> Option<&str> {
    bench.app.act().run().and_then(super::super::Run::stopped)
}

#[test]
fn an_outcome_wants_the_wait_and_a_sample_behind_it() {
    let mut bench = sent(None);
    bench.later(9000, without(&[48_271]));
    assert!(outcomes(&bench).is_empty(), "the wait has not ended");
    bench.watched(Some(212));
    assert!(outcomes(&bench).is_empty(), "no sample since");
    // The journal wrote `sent` at NOW + 1000: the second look is due at NOW + 3000.
    bench.later(2999, without(&[48_271]));
    assert!(outcomes(&bench).is_empty(), "the sample is too old");
    bench.later(3000, without(&[48_271]));
    assert_eq!(
        outcomes(&bench),
        [(
            OutcomeKind::Exited,
            Some(212),
            "left: helper ssh 48290 (S)".to_owned()
        )]
    );
    assert_eq!(
        snapshots(&bench),
        [SnapshotReason::BeforeSignal, SnapshotReason::AfterSignal]
    );
    assert!(bench.app.act().under_way().is_none());
}

#[test]
fn a_clock_that_was_set_back_begins_the_wait_anew() {
    let mut bench = sent(None);
    bench.watched(None);
    let mut scene = live();
    scene.sample.taken_at = UnixMillis(NOW - 3_600_000);
    bench.event(Event::World(scene.world()));
    assert!(outcomes(&bench).is_empty());
    let mut scene = live();
    scene.sample.taken_at = UnixMillis(NOW - 3_600_000 + 2000);
    bench.event(Event::World(scene.world()));
    assert_eq!(outcomes(&bench)[0].0, OutcomeKind::StillThere);
}

#[test]
fn still_there_says_what_it_does_and_offers_kill_as_words_only() {
    let mut bench = sent(None);
    bench.watched(None);
    bench.later(3000, live());
    let (kind, after, detail) = outcomes(&bench).remove(0);
    assert_eq!((kind, after), (OutcomeKind::StillThere, Some(2000)));
    assert_eq!(detail, "state Rl, CPU 98 %");
    assert!(stopped(&bench).is_some_and(|why| why.ends_with("K offers forced containment (KILL)")));
    assert_eq!(bench.signals.len(), 1);
    // Now KILL is no missing step any more; the authorities are.
    bench.press("<esc> K 48271 <enter>");
    assert!(!bench.said().contains("TERM 48271"), "{}", bench.said());
    bench.press("o 48271 <enter>");
    assert_eq!(bench.signals.len(), 2);
}

#[test]
fn whatever_is_not_accepted_stops_and_is_journalled() {
    let world = live().world();
    let process = Box::new(world.sample.process(pid(48_271)).unwrap().clone());
    for (answer, kind) in [
        (Sent::Refused("EPERM".to_owned()), OutcomeKind::NotPermitted),
        (Sent::Withheld(Standing::Replaced), OutcomeKind::Replaced),
        (
            Sent::Withheld(Standing::Changed(
                process,
                vec![crate::model::act::Difference::Program],
            )),
            OutcomeKind::StillThere,
        ),
        (
            Sent::Withheld(Standing::Unread("open".to_owned())),
            OutcomeKind::NotPermitted,
        ),
    ] {
        let mut bench = Bench::new(live());
        bench.sent.push_back(Ok(answer));
        bench.press("T OPS <enter> <down> <space> o 2290 <enter>");
        assert_eq!(bench.pids(), [48_271], "it stops at the first surprise");
        assert_eq!(outcomes(&bench)[0].0, kind);
        let why = stopped(&bench).expect("it stopped");
        assert!(why.ends_with("NOT SENT to ssh 48290"), "{why}");
        assert!(!why.contains("KILL"), "{why}");
        // A TERM that was not sent is no TERM before a KILL.
        bench.press("<esc> K 48271 <enter>");
        assert!(
            bench.said().contains("TERM 48271 and a second look"),
            "{}",
            bench.said()
        );
    }
}

#[test]
fn an_outcome_that_the_desk_has_journalled_is_not_journalled_twice() {
    let mut bench = Bench::new(live());
    bench.desk_tells = true;
    bench.sent.push_back(Ok(Sent::Refused("EPERM".to_owned())));
    bench.press("T OPS <enter> o 271 <enter>");
    assert_eq!(outcomes(&bench).len(), 1);
    assert!(stopped(&bench).is_some_and(|why| why.contains("not permitted")));
}

#[test]
fn no_entry_no_signal() {
    let mut bench = Bench::new(live());
    bench.press("i OPS <enter>");
    bench.disk_full = Some("write snapshots/x: no space left on device".to_owned());
    bench.press("T o 271 <enter>");
    assert!(bench.pids().is_empty());
    assert_eq!(
        stopped(&bench),
        Some("the evidence could not be saved: write snapshots/x: no space left on device: nothing was sent")
    );
    // The evidence is saved already, and the disk fills up before the override is written.
    let mut bench = Bench::new(live());
    bench.press("i OPS <enter> Z T o");
    bench.disk_full = Some("write journal.jsonl: no space left on device".to_owned());
    bench.press("271 <enter>");
    assert!(bench.pids().is_empty());
    assert!(stopped(&bench).is_some_and(|why| why.contains("could not be journalled")));
    // The desk could not announce it.
    let bench = sent(Some(Err(
        "write journal.jsonl: no space left on device".to_owned()
    )));
    assert!(stopped(&bench).is_some_and(|why| why.starts_with("NOT JOURNALLED, so nothing was sent")));
    assert!(outcomes(&bench).is_empty());
}

#[test]
fn an_incident_that_cannot_be_opened_sends_nothing() {
    let mut bench = Bench::new(live());
    bench.slow = true;
    bench.press("T");
    let effects = crate::app::testkit::press(&mut bench.app, "OPS <enter>");
    let [Effect::Desk(open, _), Effect::Desk(look, order)] = &effects[..] else {
        panic!("{effects:?}");
    };
    bench.slow = false;
    bench.serve(vec![Effect::Desk(*look, order.clone())]);
    bench.press("o 271 <enter>");
    assert!(bench.pids().is_empty(), "it waits for the incident");
    bench.event(Event::Done(
        *open,
        crate::app::Outcome::Opened(Err("mkdir: read-only file system".to_owned())),
    ));
    assert!(bench.pids().is_empty());
    assert_eq!(
        stopped(&bench),
        Some("no incident could be opened: nothing was sent")
    );
}

#[test]
fn several_go_one_after_the_other_each_with_an_outcome() {
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> <down> <space> o 2290 <enter>");
    assert_eq!(bench.pids(), [48_271]);
    bench.watched(Some(212));
    bench.later(3000, without(&[48_271]));
    assert_eq!(bench.pids(), [48_271, 48_290]);
    bench.watched(Some(5));
    bench.later(6000, without(&[48_271, 48_290]));
    let all = outcomes(&bench);
    assert_eq!(all[1], (OutcomeKind::Exited, Some(5), "nothing left".to_owned()));
    assert_eq!(stopped(&bench), None);
    assert!(bench.app.act().under_way().is_none());
    let states: Vec<bool> = bench
        .app
        .act()
        .run()
        .unwrap()
        .shots()
        .iter()
        .map(|shot| matches!(shot.state(), ShotState::Ended { well: true, .. }))
        .collect();
    assert_eq!(states, [true, true]);
}

#[test]
fn the_rest_can_be_withdrawn_and_is_before_quitting_is_asked() {
    for keys in ["x", "<esc> q"] {
        let mut bench = Bench::new(live());
        bench.press("T OPS <enter> <down> <space> o 2290 <enter>");
        assert_eq!(bench.pids(), [48_271]);
        bench.press(keys);
        bench.watched(Some(212));
        bench.later(3000, without(&[48_271]));
        assert_eq!(bench.pids(), [48_271], "{keys}");
        assert_eq!(outcomes(&bench)[0].0, OutcomeKind::Exited);
        let why = stopped(&bench).unwrap_or_default();
        assert!(why.contains("withdrawn; NOT SENT to"), "{why}");
        assert!(bench.app.act().under_way().is_none());
    }
}

#[test]
fn whoever_ended_with_the_one_before_is_no_surprise() {
    let mut bench = Bench::new(live());
    bench
        .sent
        .extend([Ok(Sent::Accepted), Ok(Sent::Withheld(Standing::Gone))]);
    bench.press("T OPS <enter> <down> <space> o 2290 <enter>");
    bench.watched(Some(1));
    bench.later(3000, without(&[48_271, 48_290]));
    assert_eq!(outcomes(&bench)[1].0, OutcomeKind::AlreadyGone);
    assert_eq!(stopped(&bench), None);
}

#[test]
fn the_operator_may_move_on_and_one_run_is_under_way_at_a_time() {
    let mut bench = sent(None);
    assert!(matches!(
        bench.app.popup().map(Popup::content),
        Some(Content::Acting)
    ));
    bench.press("<esc> <down> <down>");
    assert!(bench.app.popup().is_none());
    bench.press("T");
    assert!(
        matches!(bench.app.popup().map(Popup::content), Some(Content::Acting)),
        "the one that is under way is shown"
    );
    bench.press("<enter> 113 <enter> <esc>");
    bench.press("<esc>");
    bench.watched(Some(212));
    bench.later(3000, without(&[48_271]));
    assert_eq!(outcomes(&bench).len(), 1, "in the background");
    assert_eq!(bench.signals.len(), 1);
}

#[test]
fn quitting_asks_while_one_is_under_way_and_while_one_has_no_end() {
    let mut bench = sent(None);
    assert_eq!(update(&mut bench.app, Event::Key(Key::Ctrl('c'))), []);
    let reasons = |bench: &Bench| match bench.app.popup().map(Popup::content) {
        Some(Content::Quit { reasons }) => reasons.clone(),
        other => panic!("{other:?}"),
    };
    assert!(reasons(&bench)[0].starts_with("TERM to git 48271 was sent"));
    bench.press("n");
    bench.watched(None);
    bench.later(3000, live());
    bench.press("q");
    let all = reasons(&bench);
    assert!(
        all.iter().any(|one| one.contains("1 signal without an outcome")),
        "{all:?}"
    );
}

#[test]
fn an_answer_to_somebody_else_changes_nothing() {
    let mut bench = sent(None);
    let job = crate::app::JobId(9_999);
    for outcome in [
        crate::app::Outcome::Signalled(Ok((Sent::Accepted, Vec::new()))),
        crate::app::Outcome::Signalled(Err("x".to_owned())),
        crate::app::Outcome::Looked(Vec::new()),
        crate::app::Outcome::Written(Err("x".to_owned())),
        crate::app::Outcome::Watched(crate::model::act::Watched {
            exited_after_ms: Some(1),
            at: UnixMillis(NOW),
        }),
    ] {
        bench.event(Event::Done(job, outcome));
    }
    bench.later(3000, without(&[48_271]));
    assert!(outcomes(&bench).is_empty());
    assert!(matches!(
        bench.app.act().run().unwrap().stage,
        Stage::Watching { watched: None, .. }
    ));
}

/// Returns the termination field of the record of git.
fn line(bench: &Bench) -> String {
    let world = live().world();
    let instance = world
        .judged
        .instances
        .iter()
        .find(|one| one.name.lossy() == "git")
        .unwrap();
    let on = crate::journal::InstanceRef::of(instance);
    let record = crate::app::keep::record_of(&bench.app, &on, &world);
    let field = record
        .fields
        .iter()
        .find(|field| field.name == crate::journal::entry::FieldName::Termination)
        .unwrap();
    crate::journal::record::plain(&field.value)
}

#[test]
fn an_outcome_names_the_entry_that_announced_its_signal() {
    let mut bench = Bench::new(live());
    bench.press("T OPS-1412 <enter> o 271 <enter>");
    bench.watched(Some(212));
    bench.later(3000, without(&[48_271]));
    let about = |entry: &Entry| matches!(entry, Entry::AboutToSignal { .. });
    let seq = bench.written.iter().position(about).unwrap() as u64 + 1;
    let named = bench.written.iter().find_map(|entry| match entry {
        Entry::Outcome { announced, .. } => Some(*announced),
        _ => None,
    });
    assert_eq!(named, Some(Some(seq)));
}

#[test]
fn what_was_not_sent_is_not_told_as_sent() {
    let mut bench = Bench::new(live());
    let changed = |process: &crate::model::process::Process| {
        Standing::Changed(
            Box::new(process.clone()),
            vec![crate::model::act::Difference::Program],
        )
    };
    let standing = changed(bench.machine.sample.process(pid(48_271)).unwrap());
    bench.sent.push_back(Ok(Sent::Withheld(standing)));
    bench.press("T OPS-1412 <enter> o 271 <enter>");
    let told = line(&bench);
    assert!(
        told.starts_with("TERM not sent 2026-12-01 01:07:13Z, still there (nothing was sent: "),
        "{told}"
    );
}

/// The record reads as the procedure wants it, without a word that was typed by hand.
#[test]
fn the_record_tells_the_termination() {
    let mut bench = Bench::new(live());
    bench.press("T OPS-1412 <enter> o 271 <enter>");
    bench.watched(Some(212));
    bench.later(3000, without(&[48_271]));
    // Without its server the helper is a process of its own: all processes are shown.
    assert_eq!(
        line(&bench),
        "TERM 2026-12-01 01:07:13Z, exited after 212 ms; left: helper ssh 48290 (S)"
    );
    let mut bench = Bench::new(live());
    bench.press("T OPS-1412 <enter> <down> <space> o 2290 <enter>");
    bench.watched(Some(212));
    bench.later(3000, without(&[48_271]));
    bench.watched(Some(5));
    bench.later(6000, without(&[48_271, 48_290]));
    assert_eq!(
        line(&bench),
        "TERM 2026-12-01 01:07:13Z, exited after 212 ms; helper 48290 ended by TERM 01:07:13Z; nothing left"
    );
}
