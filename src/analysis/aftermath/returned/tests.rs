//! Who is the same server again, as tables: what one sample must show of a process.

use super::{Departed, Successor, returned};
use crate::analysis::testkit::{Machine, pid};
use crate::model::act::{Target, Watched};
use crate::model::identity::StartKey;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::time::UnixMillis;

const GIT: &str = "python -m mcp_server_git --repository /srv/app";

/// The wall clock when the machine was booted.
const BOOTED_AT: i64 = 1_789_999_000_000;
/// Milliseconds from boot: a sample before the signal, the signal, the second look, and a later sample.
const BEFORE: u64 = 1_000_000;
const SENT: u64 = 1_000_500;
const LOOK: u64 = 1_003_000;
const LATER: u64 = 1_010_000;

/// git 200 and git 300, both of the supervisor 190.
fn before() -> Machine {
    let mut machine = Machine::new();
    machine.add(190, 1, "supervisord");
    machine.add(195, 1, "sshd");
    for number in [200, 300] {
        machine.add(number, 190, GIT).exe = Reading::Value("/usr/bin/python3".into());
    }
    machine
}

/// The machine without these.
fn without(numbers: &[u32]) -> Machine {
    let mut machine = before();
    for number in numbers {
        machine.end(*number, 1);
    }
    machine
}

fn at(machine: &Machine, ms: u64) -> Sample {
    let mut sample = machine.sample();
    sample.since_boot_ms = ms;
    sample.taken_at = UnixMillis(BOOTED_AT + i64::try_from(ms).unwrap());
    sample
}

/// Adds a process that started then.
fn start(machine: &mut Machine, number: u32, parent: u32, ms: u64) -> &mut Process {
    let process = machine.add(number, parent, GIT);
    process.key.start = StartKey(ms / 10);
    process
}

fn departed_of(number: u32, early: &Machine, look: &Machine, exited_after_ms: Option<u64>) -> Departed {
    departed_at(number, &at(early, BEFORE), &at(look, LOOK), exited_after_ms)
}

fn departed_at(number: u32, early: &Sample, look: &Sample, exited_after_ms: Option<u64>) -> Departed {
    let key = early.process(pid(number)).unwrap().key;
    let target = Target::of(early, key, None).unwrap();
    let watched = Watched {
        exited_after_ms,
        at: UnixMillis(BOOTED_AT + i64::try_from(SENT + exited_after_ms.unwrap_or(0)).unwrap()),
    };
    Departed::new(early, look, &target, &watched).unwrap()
}

fn pids(found: &[(usize, Successor)]) -> Vec<(usize, u32)> {
    found.iter().map(|(at, one)| (*at, one.key.pid.get())).collect()
}

/// Who is 200 again in a later sample.
fn again(later: &Machine) -> Vec<u32> {
    let gone = departed_of(200, &before(), &without(&[200]), Some(100));
    let found = returned(&at(later, LATER), &[&gone], &|_| false);
    found.iter().map(|(_, one)| one.key.pid.get()).collect()
}

#[test]
fn one_that_is_started_after_the_second_look_is_told_with_its_time_and_its_parent() {
    let mut later = without(&[200]);
    start(&mut later, 500, 190, SENT + 5000);
    let gone = departed_of(200, &before(), &without(&[200]), Some(100));
    let found = returned(&at(&later, LATER), &[&gone], &|_| false);
    assert_eq!(pids(&found), [(0, 500)]);
    let successor = &found[0].1;
    assert_eq!(successor.after_ms, Some(5000));
    let started_at = UnixMillis(BOOTED_AT + i64::try_from(SENT + 5000).unwrap());
    assert_eq!(successor.started_at, started_at);
    let parent = successor.parent.as_ref().unwrap();
    assert_eq!(
        (parent.0.pid, parent.1.lossy().as_ref()),
        (pid(190), "supervisord")
    );
    let told = returned(&at(&later, LATER), &[&gone], &|one| one.key.pid == pid(500));
    assert_eq!(told, [], "told already");
}

#[test]
fn what_differs_in_one_point_is_another() {
    type Change = fn(&mut Process);
    let cases: [(&str, Change, bool); 12] = [
        ("nothing", |_| {}, true),
        (
            "argv",
            |one| one.argv = Reading::Value(vec!["python".into()]),
            false,
        ),
        (
            "one element more",
            |one| {
                let Reading::Value(argv) = &mut one.argv else {
                    panic!("no argv")
                };
                argv.push("-v".into());
            },
            false,
        ),
        ("argv denied", |one| one.argv = Reading::Denied, false),
        ("user", |one| one.uid = Reading::Value(7), false),
        ("user not read", |one| one.uid = Reading::Denied, false),
        (
            "program",
            |one| one.exe = Reading::Value("/usr/bin/perl".into()),
            false,
        ),
        ("program not read", |one| one.exe = Reading::Denied, true),
        (
            "program replaced on the disk",
            |one| one.exe = Reading::Value("/usr/bin/python3 (deleted)".into()),
            true,
        ),
        ("directory", |one| one.cwd = Reading::Value("/tmp".into()), false),
        ("directory not read", |one| one.cwd = Reading::Denied, true),
        ("exited", |one| one.state = 'Z', false),
    ];
    for (what, change, same) in cases {
        let mut later = without(&[200]);
        change(start(&mut later, 500, 190, SENT + 5000));
        assert_eq!(again(&later), if same { vec![500] } else { vec![] }, "{what}");
    }
}

#[test]
fn who_may_have_run_before_the_signal_is_nobody_that_came_back() {
    for (started, is_back) in [
        (SENT - 200_000, false),
        (SENT - 10, false),
        // The two clocks read one moment up to 50 ms apart.
        (SENT + 40, false),
        (SENT + 60, true),
        (LOOK + 10, true),
    ] {
        let mut later = without(&[200]);
        start(&mut later, 500, 190, started);
        assert_eq!(!again(&later).is_empty(), is_back, "{started}");
    }
    // A process that was there at the second look, and was not told to have come back then.
    let mut look = without(&[200]);
    start(&mut look, 500, 190, SENT + 100);
    let gone = departed_of(200, &before(), &look, Some(100));
    assert_eq!(returned(&at(&look, LATER), &[&gone], &|_| false), []);
    // One that became the server since: it was no twin then.
    let mut early = look.sample();
    let shell = std::sync::Arc::make_mut(early.processes.get_mut(&pid(500)).unwrap());
    shell.argv = Reading::Value(vec!["sh".into()]);
    early.since_boot_ms = LOOK;
    early.taken_at = UnixMillis(BOOTED_AT + i64::try_from(LOOK).unwrap());
    let gone = departed_at(200, &at(&before(), BEFORE), &early, Some(100));
    assert_eq!(
        pids(&returned(&at(&look, LATER), &[&gone], &|_| false)),
        [(0, 500)]
    );
}

#[test]
fn the_same_pid_again_is_another_process() {
    let mut later = without(&[200]);
    start(&mut later, 200, 190, SENT + 5000);
    assert_eq!(again(&later), [200]);
    // The process itself, still listed by a sample that was begun before it was reaped.
    assert_eq!(again(&before()), Vec::<u32>::new());
}

#[test]
fn where_the_clock_was_set_about_the_signal_only_what_began_after_the_look_is_told() {
    let set = |ms: i64, exited_after_ms: Option<u64>, started: u64| {
        let mut look = at(&without(&[200]), LOOK);
        look.taken_at = UnixMillis(look.taken_at.0 + ms);
        let gone = departed_at(200, &at(&before(), BEFORE), &look, exited_after_ms);
        let mut later = without(&[200]);
        start(&mut later, 500, 190, started);
        let mut later = at(&later, LATER);
        later.taken_at = UnixMillis(later.taken_at.0 + ms);
        let found = returned(&later, &[&gone], &|_| false);
        found.first().map(|(_, one)| one.after_ms)
    };
    for ms in [-3_600_000, 3_600_000] {
        assert_eq!(set(ms, Some(100), SENT + 1000), None, "{ms}");
        assert_eq!(set(ms, Some(100), LOOK + 1000), Some(None), "{ms}");
    }
    assert_eq!(set(0, None, SENT + 1000), None, "nobody saw when it ended");
    assert_eq!(set(0, None, LOOK + 1000), Some(None));
    assert_eq!(set(0, Some(100), SENT + 1000), Some(Some(1000)));
    // Set after the second look: times from boot do not move.
    let gone = departed_of(200, &before(), &without(&[200]), Some(100));
    let mut later = without(&[200]);
    start(&mut later, 500, 190, SENT + 5000);
    start(&mut later, 400, 190, SENT - 5000);
    for ms in [-3_600_000, 3_600_000] {
        let mut later = at(&later, LATER);
        later.taken_at = UnixMillis(later.taken_at.0 + ms);
        let found = returned(&later, &[&gone], &|_| false);
        assert_eq!(pids(&found), [(0, 500)], "{ms}");
        assert_eq!(found[0].1.after_ms, Some(5000), "{ms}");
    }
}

#[test]
fn of_twins_each_has_a_successor_of_its_own() {
    let mut early = before();
    early.process(300).ppid = Some(pid(195));
    let mut look = early.sample();
    look.processes.remove(&pid(200));
    look.processes.remove(&pid(300));
    look.since_boot_ms = LOOK;
    look.taken_at = UnixMillis(BOOTED_AT + i64::try_from(LOOK).unwrap());
    let early = at(&early, BEFORE);
    let (first, second) = (
        departed_at(200, &early, &look, Some(100)),
        departed_at(300, &early, &look, Some(100)),
    );
    let found = |parents: &[(u32, u32)]| {
        let mut later = without(&[200, 300]);
        for (at, (number, parent)) in parents.iter().enumerate() {
            start(&mut later, *number, *parent, SENT + 5000 + 10 * at as u64);
        }
        pids(&returned(&at(&later, LATER), &[&first, &second], &|_| false))
    };
    assert_eq!(found(&[(500, 190)]), [(0, 500)]);
    assert_eq!(found(&[(500, 195)]), [(1, 500)], "that of the same parent");
    assert_eq!(found(&[(500, 1)]), [(0, 500)], "that which was signalled first");
    assert_eq!(found(&[(500, 195), (510, 195)]), [(1, 500), (0, 510)]);
    assert_eq!(found(&[(500, 1), (510, 1), (520, 1)]), [(0, 500), (1, 510)]);
}

#[test]
fn what_a_server_forks_is_part_of_it() {
    let mut later = without(&[200]);
    start(&mut later, 500, 190, SENT + 5000);
    start(&mut later, 510, 500, SENT + 5010);
    start(&mut later, 520, 300, SENT + 5020);
    assert_eq!(again(&later), [500]);
    let gone = departed_of(200, &before(), &without(&[200]), Some(100));
    let rest = returned(&at(&later, LATER), &[&gone], &|one| one.key.pid == pid(500));
    assert_eq!(rest, [], "and has not come back beside it");
    // A worker whose master has the same argv, and starts it again.
    let mut early = before();
    early.process(200).ppid = Some(pid(300));
    let mut look = early.sample();
    look.processes.remove(&pid(200));
    look.since_boot_ms = LOOK;
    look.taken_at = UnixMillis(BOOTED_AT + i64::try_from(LOOK).unwrap());
    let gone = departed_at(200, &at(&early, BEFORE), &look, Some(100));
    let mut later = without(&[200]);
    start(&mut later, 500, 300, SENT + 5000);
    assert_eq!(
        pids(&returned(&at(&later, LATER), &[&gone], &|_| false)),
        [(0, 500)]
    );
}

#[test]
fn who_could_not_be_known_again_is_not_looked_for() {
    let key = before().process(200).key;
    let new = |change: fn(&mut Process)| {
        let mut early = before();
        change(early.process(200));
        let early = at(&early, BEFORE);
        let target = Target::of(&early, key, None).unwrap();
        let watched = Watched {
            exited_after_ms: Some(1),
            at: UnixMillis(BOOTED_AT),
        };
        Departed::new(&early, &at(&without(&[200]), LOOK), &target, &watched)
    };
    assert!(new(|_| {}).is_some());
    assert_eq!(new(|one| one.argv = Reading::Denied), None);
    assert_eq!(new(|one| one.argv = Reading::Value(Vec::new())), None);
    assert_eq!(new(|one| one.uid = Reading::Denied), None);
}
