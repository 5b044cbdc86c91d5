//! The desk with the signaller of this system, a process that it may end, and a program that is killed or
//! has no room to write.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{LONG, journal_of, named, next, signalling, story};
use crate::app::{JobId, Order, Outcome, Signalling};
use crate::model::act::{Sent, Signal, Standing, Target, Watched};
use crate::model::identity::Pid;
use crate::platform::{self, Ability};
use crate::runtime::desk::Desk;
use crate::runtime::desk::work::Work;
use crate::runtime::desk::work::tests::{note, opened, world};
use crate::store::check::Outcome as Checked;
use crate::store::{Access, check};

/// Names state directory and victim for a child that signals.
const STATE: &str = "MCPWAKE_TEST_DESK_STATE";
const VICTIM: &str = "MCPWAKE_TEST_DESK_VICTIM";
const REFUSED: &str = "it was refused: ";
/// Number of TERM.
const TERM: i32 = 15;

/// A process that ends by itself after a while, and is killed with the test.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        let mut command = Command::new("sleep");
        command.arg("300").stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a desk that may do what `ability` says, and an order to end a process.
fn desk(state: &Path, ability: Ability, victim: u32) -> (Work, Signalling) {
    let mut system = platform::system(ability).unwrap();
    let sample = system.source.sample().unwrap();
    let process = sample.process(Pid::new(victim.into()).unwrap()).unwrap();
    let target = Target::of(&sample, process.key, None).unwrap();
    let order = Signalling {
        named: named(&target),
        target,
        signal: Signal::Term,
        then_continue: false,
        wait_ms: u64::try_from(LONG.as_millis()).unwrap(),
    };
    (signalling(state, Access::ReadWrite, system.signaller), order)
}

#[test]
fn a_process_is_ended_and_its_end_is_told() {
    let state = tempfile::tempdir().unwrap();
    let mut victim = Victim::new();
    let (mut work, order) = desk(state.path(), Ability::Signals, victim.0.id());
    let opened = opened(&mut work);
    let mut desk = Desk::start(work).unwrap();
    desk.order(JobId(1), Order::Look(vec![order.target.clone()]));
    desk.order(JobId(2), Order::Signal(Box::new(order)));
    let Outcome::Looked(looks) = next(&mut desk).outcome else {
        panic!("not looked");
    };
    assert!(matches!(looks[0].standing, Standing::Same(_)), "{looks:?}");
    let signalled = next(&mut desk).outcome;
    assert!(
        matches!(signalled, Outcome::Signalled(Ok((Sent::Accepted, _)))),
        "{signalled:?}"
    );
    let watched = next(&mut desk).outcome;
    assert!(
        matches!(
            watched,
            Outcome::Watched(Watched {
                exited_after_ms: Some(_),
                ..
            })
        ),
        "{watched:?}"
    );
    assert_eq!(victim.0.wait().unwrap().signal(), Some(TERM));
    desk.finish();
    assert_eq!(
        check(Path::new(&opened.path), None).unwrap().outcome(),
        Checked::Sound
    );
}

#[test]
fn a_read_only_signaller_sends_nothing_even_for_an_entry() {
    let state = tempfile::tempdir().unwrap();
    let mut victim = Victim::new();
    let (mut work, order) = desk(state.path(), Ability::Looks, victim.0.id());
    let _ = opened(&mut work);
    let (outcome, _) = work.carry_out(Order::Signal(Box::new(order)));
    let Outcome::Signalled(Ok((Sent::Withheld(Standing::Unread(why)), _))) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(why.contains("read-only"), "{why}");
    assert!(victim.lives());
}

/// Opens an incident and signals the victim that the environment names. Does nothing but in a child of
/// the tests below.
#[test]
fn signals_as_a_child() {
    let (Some(state), Ok(victim)) = (std::env::var_os(STATE), std::env::var(VICTIM)) else {
        return;
    };
    let (mut work, order) = desk(Path::new(&state), Ability::Signals, victim.parse().unwrap());
    let opened = opened(&mut work);
    let ballast = Path::new(&state).join("ballast");
    if std::env::var_os("MCPWAKE_TEST_DESK_FULL").is_some() {
        let mut file = std::fs::File::create(&ballast).unwrap();
        while file.write_all(&[0; 512]).is_ok() {}
        // The last page of the journal has room of its own.
        while let Outcome::Written(Ok(_)) = work.carry_out(note("x")).0 {}
    }
    let (outcome, _) = work.carry_out(Order::Signal(Box::new(order.clone())));
    let Outcome::Signalled(Err(why)) = outcome else {
        panic!("{outcome:?}");
    };
    println!("{REFUSED}{why}");
    let (outcome, _) = work.carry_out(Order::Look(vec![order.target.clone()]));
    assert!(
        matches!(&outcome, Outcome::Looked(looks) if matches!(&looks[0].standing, Standing::Same(now) if !now.is_zombie())),
        "{outcome:?}"
    );
    // Once there is room, the same order goes through, and the journal is whole.
    std::fs::remove_file(ballast).unwrap();
    let (outcome, _) = work.carry_out(Order::Signal(Box::new(order)));
    assert!(
        matches!(outcome, Outcome::Signalled(Ok((Sent::Accepted, _)))),
        "{outcome:?}"
    );
    let checked = check(Path::new(&opened.path), None).unwrap();
    assert_eq!(checked.outcome(), Checked::Sound, "{checked:?}");
}

const CHILD: &str = "runtime::desk::act::tests::real::signals_as_a_child";

/// Returns the lines of the only journal below a directory, as far as there is one.
fn journalled(state: &Path) -> Option<(String, String)> {
    let incident = std::fs::read_dir(state.join("mcpwake/incidents"))
        .ok()?
        .next()?
        .ok()?
        .path();
    let text = std::fs::read_to_string(incident.join("journal.jsonl")).ok()?;
    Some((incident.display().to_string(), text))
}

/// Starts the program that signals; it goes no further than to this point.
fn halted_at(point: &str, state: &Path, victim: &Victim) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([CHILD, "--exact", "--nocapture"])
        .env(STATE, state)
        .env(VICTIM, victim.0.id().to_string())
        .env("MCPWAKE_TEST_HALT", point)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill(mut program: Child) {
    assert_eq!(program.try_wait().unwrap(), None, "it ended by itself");
    program.kill().unwrap();
    assert_eq!(program.wait().unwrap().signal(), Some(9));
}

/// Looks at an incident after the program was killed: the record is whole, and the next opening shows the
/// signal as one that somebody has to look at.
fn assert_unresolved(state: &Path, incident: &str) {
    let checked = check(Path::new(incident), None).unwrap();
    assert_eq!(checked.outcome(), Checked::Sound, "{checked:?}");
    let nobody = Box::new(platform::NoSignaller::new("nobody signals here"));
    let mut work = signalling(state, Access::ReadWrite, nobody);
    let (outcome, _) = work.carry_out(Order::Open {
        title: None,
        offered: None,
        on: world(),
    });
    let Outcome::Opened(Ok(opened)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(opened.path, incident);
    assert!(Path::new(&journal_of(&opened)).exists());
    let story = story(incident);
    let signals: Vec<_> = story
        .threads
        .values()
        .flat_map(|thread| &thread.signals)
        .collect();
    assert_eq!(signals.len(), 1);
    assert!(signals[0].is_unresolved() && signals[0].sent_at.is_none());
    let mut shown = crate::journal::Story::default();
    opened.lines.iter().for_each(|line| shown.add(line));
    assert_eq!(shown, story);
}

#[test]
fn killed_between_entry_and_signal_it_has_sent_nothing_and_the_record_says_so() {
    let state = tempfile::tempdir().unwrap();
    let mut victim = Victim::new();
    let mut program = halted_at("announced", state.path(), &victim);
    let announced = |(_, text): &(String, String)| text.contains("about_to_signal") && text.ends_with('\n');
    let incident = loop {
        if let Some((incident, _)) = journalled(state.path()).filter(announced) {
            break incident;
        }
        assert_eq!(program.try_wait().unwrap(), None, "it ended by itself");
        std::thread::yield_now();
    };
    kill(program);
    assert!(victim.lives());
    assert_unresolved(state.path(), &incident);
}

#[test]
fn killed_between_signal_and_entry_the_record_does_not_claim_to_know() {
    let state = tempfile::tempdir().unwrap();
    let mut victim = Victim::new();
    let program = halted_at("sent", state.path(), &victim);
    // Its end says that the signal is out.
    assert_eq!(victim.0.wait().unwrap().signal(), Some(TERM));
    kill(program);
    let (incident, _) = journalled(state.path()).unwrap();
    assert_unresolved(state.path(), &incident);
}

/// The child gets a file system of its own, in a mount namespace that nobody else sees.
#[test]
fn on_a_full_disk_nothing_is_sent_and_it_is_said() {
    let place = tempfile::tempdir().unwrap();
    let mut victim = Victim::new();
    let script =
        r#"mount -t tmpfs -o size=1m,mode=0700 none "$1" || exit 77; exec "$2" "$3" --exact --nocapture"#;
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .arg(place.path())
        .arg(std::env::current_exe().unwrap())
        .arg(CHILD)
        .env(STATE, place.path())
        .env(VICTIM, victim.0.id().to_string())
        .env("MCPWAKE_TEST_DESK_FULL", "")
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        println!("not tried: no unshare(1) here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    if !said.contains("running") {
        println!("not tried: no mount namespace here: {complained}");
        return;
    }
    assert!(output.status.success(), "{said}{complained}");
    let why = said.lines().find_map(|line| Some(line.split_once(REFUSED)?.1));
    let why = why.unwrap_or_else(|| panic!("{said}"));
    assert!(
        why.starts_with("nothing was sent: ") && why.contains("make room"),
        "{why}"
    );
    // It was ended only after there was room.
    assert_eq!(victim.0.wait().unwrap().signal(), Some(TERM));
}
