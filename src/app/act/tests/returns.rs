//! Servers that come back after the second look.

use super::super::testkit::Bench;
use super::super::{Run, Shot, ShotState};
use crate::app::popup::{Content, Popup};
use crate::app::testkit::{NOW, Scene, live, pid};
use crate::app::{Event, update};
use crate::journal::Entry;
use crate::journal::entry::OutcomeKind;
use crate::journal::story::SignalState;
use crate::model::act::Sent;
use crate::model::identity::StartKey;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::time::UnixMillis;

/// The live world without the server of git and its helper.
fn ended() -> Scene {
    let mut scene = live();
    for number in [48_271, 48_290] {
        scene.sample.processes.remove(&pid(number));
    }
    let git = pid(48_271);
    scene.judged.instances.retain(|one| one.lead_process().pid != git);
    scene
}

/// The same with a process that is git again, so many milliseconds after the first sample.
fn again(number: u32, ms: u64) -> Scene {
    let mut process: Process = live().sample.process(pid(48_271)).unwrap().clone();
    let mut scene = ended();
    process.key.pid = pid(number);
    process.key.start = StartKey((scene.sample.since_boot_ms + ms) / 10);
    process.ppid = Some(pid(1));
    scene
        .sample
        .processes
        .insert(pid(number), std::sync::Arc::new(process));
    scene
}

/// A TERM to the server of git, which has exited.
fn exited() -> Bench {
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> o 271 <enter>");
    bench.watched(Some(212));
    bench.later(3000, ended());
    bench
}

fn returns(bench: &Bench) -> Vec<(u32, Option<u64>, u64)> {
    let of = |entry: &Entry| match entry {
        Entry::CameBack {
            successor,
            after_ms,
            announced,
            ..
        } => Some((successor.key.pid.get(), *after_ms, *announced)),
        _ => None,
    };
    bench.written.iter().filter_map(of).collect()
}

const TOLD: &str = "git 48271 came back as 50211, 5.2 s after TERM, child of init 1";

#[test]
fn it_is_said_and_journalled_once() {
    let mut bench = exited();
    bench.press("<esc>");
    bench.later(5000, ended());
    assert!(returns(&bench).is_empty());
    bench.later(9000, again(50_211, 8000));
    // The signal went out 212 ms before the wait was told to have ended, at NOW + 3000.
    let about = |entry: &Entry| matches!(entry, Entry::AboutToSignal { .. });
    let seq = bench.written.iter().position(about).unwrap() as u64 + 1;
    assert_eq!(returns(&bench), [(50_211, Some(5212), seq)]);
    assert!(
        bench.said().starts_with("on disk: entry ") && bench.said().ends_with(TOLD),
        "{}",
        bench.said()
    );
    bench.later(10_000, again(50_211, 8000));
    bench.later(11_000, again(50_212, 10_500));
    assert_eq!(returns(&bench).len(), 1, "once");
    let incident = bench.app.keep().incident().unwrap();
    let thread = incident.story().threads.values().next().unwrap();
    assert!(thread.signals[0].is_unresolved());
    assert_eq!(
        thread.signals[0].outcome.as_ref().unwrap().outcome,
        OutcomeKind::Exited
    );
}

#[test]
fn it_is_said_until_a_key_acts_on_the_rows() {
    let mut bench = exited();
    // The popup of the run is open: nobody has read it when that goes.
    bench.later(9000, again(50_211, 8000));
    bench.press("<esc>");
    assert_eq!(bench.said(), TOLD);
    bench.press("<down>");
    assert_eq!(bench.said(), "");
}

#[test]
fn the_outcome_in_the_popup_says_it_too() {
    let mut bench = exited();
    bench.later(9000, again(50_211, 8000));
    let shot = &bench.app.act().run().unwrap().shots()[0];
    let ShotState::Ended { said, well: false } = shot.state() else {
        panic!("{:?}", shot.state())
    };
    assert_eq!(
        said,
        "exited after 212 ms; with it helper ssh 48290; nothing left; came back as 50211, 5.2 s after TERM, child of init 1"
    );
}

#[test]
fn behind_a_held_view_it_is_seen_all_the_same() {
    let mut bench = exited();
    bench.press("<esc> Z");
    assert!(!bench.app.feed().is_live());
    bench.later(9000, again(50_211, 8000));
    assert_eq!(returns(&bench).len(), 1);
    assert!(bench.app.world().unwrap().sample.process(pid(50_211)).is_none());
}

#[test]
fn twins_strangers_and_other_users_have_not_come_back() {
    let mut bench = exited();
    // Started 1 s before the signal, and seen only now.
    bench.later(9000, again(50_211, 1700));
    let mut other = again(50_212, 8000);
    other.edit(50_212).uid = Reading::Value(4_711);
    bench.later(9000, other);
    let mut other = again(50_213, 8000);
    other.edit(50_213).argv = Reading::Value(vec!["git".into()]);
    bench.later(9000, other);
    assert_eq!(returns(&bench), []);
    assert!(!bench.said().contains("came back"), "{}", bench.said());
}

#[test]
fn a_clock_that_is_set_changes_nothing() {
    for moved in [-3_600_000, 3_600_000] {
        let mut bench = exited();
        let mut scene = again(50_211, 8000);
        scene.sample.taken_at = UnixMillis(NOW + 9000 + moved);
        scene.sample.since_boot_ms += 9000;
        bench.event(Event::World(scene.world()));
        assert_eq!(returns(&bench)[0].1, Some(5212), "{moved}");
    }
}

#[test]
fn under_read_only_it_is_said_alone() {
    let mut bench = exited();
    bench.app.options.read_only = true;
    bench.later(9000, again(50_211, 8000));
    assert_eq!(returns(&bench), []);
    assert_eq!(bench.said(), format!("{TOLD}; not journalled: read-only"));
}

#[test]
fn after_the_incident_was_closed_or_another_was_opened_it_is_said_alone() {
    for another in [false, true] {
        let mut bench = exited();
        bench.press("<esc>");
        let incident = bench.app.keep.incident.take();
        if another {
            bench.app.keep.incident = incident;
            bench.app.keep.incident.as_mut().unwrap().story.incident = "1".repeat(32);
        }
        bench.later(9000, again(50_211, 8000));
        assert_eq!(returns(&bench), []);
        assert_eq!(
            bench.said(),
            format!("{TOLD}; not journalled: the incident of its signal is not open")
        );
    }
}

#[test]
fn who_came_back_at_the_second_look_is_told_there_alone() {
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> o 271 <enter>");
    bench.watched(Some(212));
    bench.later(3000, again(50_211, 2900));
    bench.later(9000, again(50_211, 2900));
    assert_eq!(returns(&bench), []);
    let outcomes = bench.written.iter().filter_map(|entry| match entry {
        Entry::Outcome { outcome, .. } => Some(*outcome),
        _ => None,
    });
    assert_eq!(outcomes.collect::<Vec<_>>(), [OutcomeKind::CameBack]);
}

#[test]
fn what_is_no_server_and_what_has_not_exited_is_not_looked_for() {
    // ssh 48290 is a helper: whoever starts it again is the server.
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> <space> <down> <space> o 290 <enter>");
    assert_eq!(bench.pids(), [48_290]);
    bench.watched(Some(5));
    let mut scene = live();
    let mut helper = scene.sample.process(pid(48_290)).unwrap().clone();
    scene.sample.processes.remove(&pid(48_290));
    bench.later(3000, scene);
    let mut scene = live();
    scene.sample.processes.remove(&pid(48_290));
    helper.key.pid = pid(50_290);
    helper.key.start = StartKey((scene.sample.since_boot_ms + 8000) / 10);
    scene
        .sample
        .processes
        .insert(pid(50_290), std::sync::Arc::new(helper));
    bench.later(9000, scene);
    assert_eq!(returns(&bench), []);
    let mut bench = Bench::new(live());
    bench.sent.push_back(Ok(Sent::Refused("EPERM".to_owned())));
    bench.press("T OPS <enter> o 271 <enter>");
    bench.later(9000, again(50_211, 8000));
    assert_eq!(returns(&bench), []);
}

#[test]
fn one_that_comes_back_stops_the_rest_of_the_run() {
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> <down> <space> o 2290 <enter>");
    bench.watched(Some(212));
    let mut scene = live();
    scene.sample.processes.remove(&pid(48_271));
    bench.later(3000, scene);
    assert_eq!(bench.pids(), [48_271, 48_290]);
    // A third one, which waits for its turn.
    let run = bench.app.act.run.as_mut().unwrap();
    let second = &run.shots[1];
    let third = Shot {
        target: second.target.clone(),
        named: second.named.clone(),
        name: "third 1".to_owned(),
        then_continue: false,
        state: ShotState::Waiting,
    };
    run.shots.push(third);
    let mut scene = again(50_211, 3900);
    let ssh = live().sample.process(pid(48_290)).unwrap().clone();
    scene
        .sample
        .processes
        .insert(pid(48_290), std::sync::Arc::new(ssh));
    bench.later(4000, scene);
    assert_eq!(returns(&bench).len(), 1);
    bench.watched(Some(5));
    bench.later(9000, again(50_211, 3900));
    assert_eq!(bench.signals.len(), 2, "the third gets none");
    let why = bench.app.act().run().and_then(Run::stopped).unwrap_or_default();
    assert!(
        why.contains("git 48271 came back as 50211") && why.ends_with("NOT SENT to third 1"),
        "{why}"
    );
}

#[test]
fn what_is_looked_for_is_bounded() {
    let mut bench = exited();
    let departed = {
        let lookout = &mut bench.app.act.lookout;
        let one = lookout.gone.front().unwrap();
        (
            one.departed.clone(),
            one.named.clone(),
            one.name.clone(),
            one.signal,
        )
    };
    let (departed, named, name, signal) = departed;
    for _ in 0..50 {
        bench.app.act.lookout.add(super::super::lookout::Gone {
            departed: departed.clone(),
            named: named.clone(),
            name: name.clone(),
            signal,
            announced: None,
            incident: None,
        });
    }
    assert_eq!(bench.app.act.lookout.gone.len(), 20);
}

#[test]
fn looking_again_closes_it_once_the_successor_is_gone_and_quitting_names_it() {
    let mut bench = exited();
    bench.press("<esc>");
    bench.later(9000, again(50_211, 8000));
    bench.press("q");
    let Some(Content::Quit { reasons }) = bench.app.popup().map(Popup::content) else {
        panic!("no question")
    };
    assert!(
        reasons
            .iter()
            .any(|one| one.contains("it came back as 50211 (Alt-l looks again)")),
        "{reasons:?}"
    );
    bench.press("<esc>");
    let effects = crate::app::keep::look_again(&mut bench.app);
    bench.serve(effects);
    let open = |bench: &Bench| {
        let incident = bench.app.keep().incident().unwrap();
        let mut threads = incident.story().threads.values();
        threads.any(|thread| thread.signals.iter().any(SignalState::is_unresolved))
    };
    assert!(open(&bench), "it runs");
    bench.later(12_000, ended());
    bench.app.feed.newest().unwrap();
    let mut scene = ended();
    scene.sample.hidden = Some(0);
    bench.later(13_000, scene);
    let effects = crate::app::keep::look_again(&mut bench.app);
    bench.serve(effects);
    assert!(!open(&bench), "{:?}", bench.written.last());
    let _ = update(&mut bench.app, Event::Resumed);
}
