//! What the desk does around a signal, with a signaller that only says what it was asked.

#[cfg(target_os = "linux")]
mod real;
mod returned;

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::app::{JobId, Opened, Order, Outcome, Signalling};
use crate::journal::entry::OutcomeKind;
use crate::journal::{Entry, Line, Story, TargetRef};
use crate::model::act::{Difference, Look, Sent, Signal, Standing, Target, Watched, Way};
use crate::model::process::Process;
use crate::model::time::UnixMillis;
use crate::platform::{Signaller, Watch};
use crate::runtime::desk::work::tests::{opened, signalling, world};
use crate::runtime::desk::work::{After, Work};
use crate::runtime::desk::{Answer, Desk};
use crate::store::{Access, Receipt};

/// Longer than anything takes on a loaded machine.
const LONG: Duration = Duration::from_mins(1);

/// Answers as it was told to, and notes what it was asked and what was on the disk then.
struct Puppet {
    script: VecDeque<Sent>,
    way: Way,
    journal: Arc<Mutex<String>>,
    log: Arc<Mutex<Vec<String>>>,
    exits: Arc<Mutex<Receiver<()>>>,
}

impl Signaller for Puppet {
    fn look(&mut self, target: &Target) -> Look {
        self.log.lock().unwrap().push(format!("look {}", target.key));
        Look {
            at: UnixMillis(0),
            standing: Standing::Gone,
            way: self.way,
        }
    }

    fn send(&mut self, target: &Target, signal: Signal, receipt: Receipt) -> Sent {
        let journal = fs::read_to_string(self.journal.lock().unwrap().as_str()).unwrap();
        let last = journal.lines().last().unwrap();
        let announced = receipt.announces(signal, target)
            && last.contains("about_to_signal")
            && last.contains(&format!(r#""signal":"{}""#, signal.word()));
        let line = format!("send {} {} announced {announced}", signal.word(), target.key);
        self.log.lock().unwrap().push(line);
        self.script.pop_front().unwrap()
    }

    fn watch(&self, _: &Target) -> Box<dyn Watch> {
        Box::new(PuppetWatch(Arc::clone(&self.exits)))
    }
}

struct PuppetWatch(Arc<Mutex<Receiver<()>>>);

impl Watch for PuppetWatch {
    fn exited(&self, patience: Duration) -> bool {
        self.0.lock().unwrap().recv_timeout(patience).is_ok()
    }
}

/// A desk with a puppet.
struct Scene {
    work: Work,
    opened: Opened,
    log: Arc<Mutex<Vec<String>>>,
    exit: Sender<()>,
    state: TempDir,
}

impl Scene {
    fn new(script: &[Sent], way: Way) -> Self {
        let state = tempfile::tempdir().unwrap();
        let (exit, exits) = channel();
        let journal = Arc::new(Mutex::new(String::new()));
        let log = Arc::default();
        let puppet = Puppet {
            script: script.iter().cloned().collect(),
            way,
            journal: Arc::clone(&journal),
            log: Arc::clone(&log),
            exits: Arc::new(Mutex::new(exits)),
        };
        let mut work = signalling(state.path(), Access::ReadWrite, Box::new(puppet));
        let opened = opened(&mut work);
        *journal.lock().unwrap() = journal_of(&opened);
        Self {
            work,
            opened,
            log,
            exit,
            state,
        }
    }

    fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Signals, and answers with what came of it and the entries that are new.
    fn signal(&mut self, order: Signalling) -> (Result<Sent, String>, Vec<Entry>, After) {
        let (outcome, after) = self.work.carry_out(Order::Signal(Box::new(order)));
        let Outcome::Signalled(outcome) = outcome else {
            panic!("{outcome:?}");
        };
        match outcome {
            Ok((sent, lines)) => (Ok(sent), entries(&lines), after),
            Err(why) => (Err(why), Vec::new(), after),
        }
    }
}

fn journal_of(opened: &Opened) -> String {
    format!("{}/journal.jsonl", opened.path)
}

fn entries(lines: &[Line]) -> Vec<Entry> {
    lines.iter().map(|line| line.entry.clone().unwrap()).collect()
}

/// The story that the disk tells.
fn story(path: &str) -> Story {
    let mut story = Story::default();
    let incident = crate::store::Incident::for_reading(Path::new(path).to_path_buf());
    incident.read(&mut |line| story.add(line)).unwrap();
    story
}

fn some_process() -> Process {
    let world = world();
    let process = world.sample.processes.values().nth(2).unwrap();
    process.as_ref().clone()
}

fn target() -> Target {
    let process = some_process();
    Target {
        key: process.key,
        pidfd_inode: None,
        argv: process.argv,
        exe: process.exe,
        member: None,
    }
}

fn order(signal: Signal) -> Signalling {
    let target = target();
    Signalling {
        named: named(&target),
        target,
        signal,
        then_continue: false,
        wait_ms: 0,
    }
}

fn named(target: &Target) -> TargetRef {
    TargetRef {
        key: target.key,
        pidfd_inode: target.pidfd_inode,
        argv: vec!["node".to_owned()],
        instance: None,
    }
}

/// Number of the first announcement: the incident was opened before.
const ABOUT: u64 = 2;

/// Number of that of a CONT, behind the TERM and its `sent`.
const CONT_ABOUT: u64 = 4;

fn about(signal: &str, way: &str) -> Entry {
    Entry::AboutToSignal {
        signal: signal.to_owned(),
        targets: vec![named(&target())],
        way: way.to_owned(),
    }
}

fn handed_over(signal: &str, way: &str, refused: Option<&str>) -> Entry {
    Entry::Sent {
        signal: signal.to_owned(),
        target: named(&target()),
        way: way.to_owned(),
        refused: refused.map(str::to_owned),
        announced: Some(if signal == "CONT" { CONT_ABOUT } else { ABOUT }),
    }
}

fn outcome(kind: OutcomeKind, detail: Option<&str>) -> Entry {
    Entry::Outcome {
        signal: "TERM".to_owned(),
        target: named(&target()),
        outcome: kind,
        after_ms: None,
        detail: detail.map(str::to_owned),
        announced: Some(ABOUT),
    }
}

#[test]
fn a_signal_is_announced_on_the_disk_before_it_is_sent() {
    let mut scene = Scene::new(&[Sent::Accepted], Way::KeptPidfd);
    let (sent, entries, after) = scene.signal(order(Signal::Term));
    assert_eq!(sent, Ok(Sent::Accepted));
    let key = target().key;
    assert_eq!(
        scene.log(),
        [format!("look {key}"), format!("send TERM {key} announced true")]
    );
    assert_eq!(
        entries,
        [about("TERM", "pidfd"), handed_over("TERM", "pidfd", None)]
    );
    assert!(matches!(after, After::Wait(_)));
    // Nobody has told yet what became of it.
    let story = story(&scene.opened.path);
    let signal = &story.threads.values().next().unwrap().signals[0];
    assert!(signal.sent_at.is_some() && signal.is_unresolved());
}

#[test]
fn without_an_incident_nothing_is_sent() {
    let state = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(&[], Way::KeptPidfd);
    let (log, (_exit, exits)) = (Arc::clone(&scene.log), channel());
    let puppet = Puppet {
        script: VecDeque::new(),
        way: Way::KeptPidfd,
        journal: Arc::default(),
        log,
        exits: Arc::new(Mutex::new(exits)),
    };
    scene.work = signalling(state.path(), Access::ReadWrite, Box::new(puppet));
    let (sent, _, after) = scene.signal(order(Signal::Kill));
    assert_eq!(sent, Err("nothing was sent: no incident is open".to_owned()));
    assert!(matches!(after, After::Nothing));
    assert!(scene.log().is_empty());
}

#[test]
fn a_journal_that_takes_no_entry_lets_no_signal_out() {
    let mut scene = Scene::new(&[Sent::Accepted], Way::KeptPidfd);
    let journal = journal_of(&scene.opened);
    fs::rename(&journal, format!("{journal}.moved")).unwrap();
    let (sent, _, after) = scene.signal(order(Signal::Term));
    let why = sent.unwrap_err();
    assert!(
        why.starts_with("nothing was sent: ") && why.contains("journal.jsonl"),
        "{why}"
    );
    assert!(matches!(after, After::Nothing));
    assert_eq!(scene.log(), [format!("look {}", target().key)]);
}

#[test]
fn a_journal_that_would_name_another_lets_no_signal_out() {
    let mut scene = Scene::new(&[Sent::Accepted], Way::KeptPidfd);
    let mut order = order(Signal::Term);
    order.named.key.start.0 += 1;
    let (sent, ..) = scene.signal(order);
    let why = sent.unwrap_err();
    assert!(why.contains("the journal would name"), "{why}");
    assert!(scene.log().is_empty());
}

#[test]
fn what_was_not_sent_is_told_as_it_was() {
    let zombie = || {
        let mut process = some_process();
        process.state = 'Z';
        Standing::Same(Box::new(process))
    };
    let changed = Standing::Changed(
        Box::new(some_process()),
        vec![Difference::Argv, Difference::Program],
    );
    let cases = [
        (Standing::Gone, OutcomeKind::AlreadyGone, None),
        (Standing::Replaced, OutcomeKind::Replaced, None),
        (
            zombie(),
            OutcomeKind::AlreadyGone,
            Some("nothing was sent: it has exited and waits for its parent (a zombie)"),
        ),
        (
            changed,
            OutcomeKind::StillThere,
            Some(
                "nothing was sent: its argument vector is not the one that was seen, it runs another program than was seen",
            ),
        ),
        (
            Standing::Unread("it is mcpwake itself".to_owned()),
            OutcomeKind::NotPermitted,
            Some("nothing was sent: it is mcpwake itself"),
        ),
    ];
    for (standing, kind, detail) in cases {
        let resolved = kind.is_resolved();
        let sent = Sent::Withheld(standing);
        let mut scene = Scene::new(std::slice::from_ref(&sent), Way::NewPidfd);
        let (answer, entries, after) = scene.signal(order(Signal::Term));
        assert_eq!(answer, Ok(sent));
        assert_eq!(
            entries,
            [
                about("TERM", "pidfd opened for the dialog"),
                outcome(kind, detail)
            ]
        );
        assert!(matches!(after, After::Nothing));
        let story = story(&scene.opened.path);
        let signal = &story.threads.values().next().unwrap().signals[0];
        assert_eq!((signal.sent_at, signal.is_unresolved()), (None, !resolved));
    }
}

#[test]
fn a_refusal_is_told_with_its_reason_and_stays_open() {
    let why = "EPERM: it belongs to root";
    let mut scene = Scene::new(&[Sent::Refused(why.to_owned())], Way::KeptPidfd);
    let (_, entries, after) = scene.signal(order(Signal::Term));
    assert_eq!(
        entries,
        [
            about("TERM", "pidfd"),
            handed_over("TERM", "pidfd", Some(why)),
            outcome(OutcomeKind::NotPermitted, Some(why)),
        ]
    );
    assert!(matches!(after, After::Nothing));
    let story = story(&scene.opened.path);
    assert!(story.threads.values().next().unwrap().signals[0].is_unresolved());
}

#[test]
fn a_way_with_a_window_names_it_before_the_signal() {
    let mut scene = Scene::new(&[Sent::Accepted], Way::Kill);
    let (_, entries, _) = scene.signal(order(Signal::Term));
    let Entry::AboutToSignal { way, .. } = &entries[0] else {
        panic!("{entries:?}");
    };
    assert!(way.contains("no pidfd") && way.contains("another's"), "{way}");
    assert_eq!(entries[1], handed_over("TERM", "kill", None));
}

#[test]
fn a_stopped_target_is_continued_and_both_are_announced() {
    let mut scene = Scene::new(&[Sent::Accepted, Sent::Accepted], Way::KeptPidfd);
    let continued = Signalling {
        then_continue: true,
        ..order(Signal::Term)
    };
    let (sent, entries, _) = scene.signal(continued.clone());
    assert_eq!(sent, Ok(Sent::Accepted));
    assert_eq!(
        entries,
        [
            about("TERM", "pidfd"),
            handed_over("TERM", "pidfd", None),
            about("CONT", "pidfd"),
            handed_over("CONT", "pidfd", None),
        ]
    );
    let sends: Vec<String> = scene
        .log()
        .into_iter()
        .filter(|line| line.starts_with("send"))
        .collect();
    assert!(
        sends.iter().all(|line| line.ends_with("announced true")),
        "{sends:?}"
    );
    // CONT ends nothing: what is left to be looked at is what TERM has done.
    let story = story(&scene.opened.path);
    let signals = &story.threads.values().next().unwrap().signals;
    let unresolved: Vec<(&str, bool)> = signals
        .iter()
        .map(|signal| (signal.signal.as_str(), signal.is_unresolved()))
        .collect();
    assert_eq!(unresolved, [("TERM", true), ("CONT", false)]);
    // Nothing is continued after a signal that was not accepted.
    let mut scene = Scene::new(&[Sent::Withheld(Standing::Gone)], Way::KeptPidfd);
    let (_, entries, _) = scene.signal(continued);
    assert_eq!(entries.len(), 2, "{entries:?}");
}

/// Takes the journal away when a signal goes out, and puts it back when it is told to.
struct Thief(String);

impl Signaller for Thief {
    fn look(&mut self, _: &Target) -> Look {
        Look {
            at: UnixMillis(0),
            standing: Standing::Gone,
            way: Way::KeptPidfd,
        }
    }

    fn send(&mut self, _: &Target, _: Signal, _: Receipt) -> Sent {
        let journal = fs::read_dir(&self.0).unwrap().next().unwrap().unwrap().path();
        fs::rename(journal.join("journal.jsonl"), journal.join("stolen")).unwrap();
        Sent::Accepted
    }

    fn watch(&self, _: &Target) -> Box<dyn Watch> {
        let (_, exits) = channel();
        Box::new(PuppetWatch(Arc::new(Mutex::new(exits))))
    }
}

#[test]
fn what_was_sent_and_could_not_be_written_is_written_before_the_next_entry() {
    let state = tempfile::tempdir().unwrap();
    let incidents = state.path().join("mcpwake/incidents").display().to_string();
    let mut work = signalling(state.path(), Access::ReadWrite, Box::new(Thief(incidents)));
    let opened = opened(&mut work);
    let (answer, after) = work.carry_out(Order::Signal(Box::new(order(Signal::Term))));
    // It is out: nothing may say that it was not sent.
    assert!(
        matches!(answer, Outcome::Signalled(Ok((Sent::Accepted, _)))),
        "{answer:?}"
    );
    assert!(matches!(after, After::Wait(_)));
    let stolen = Path::new(&opened.path).join("stolen");
    fs::rename(stolen, journal_of(&opened)).unwrap();
    let exited = outcome(OutcomeKind::Exited, None);
    let (answer, _) = work.carry_out(Order::Append(Box::new(exited.clone())));
    let Outcome::Written(Ok(lines)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(
        entries(&lines),
        [about("TERM", "pidfd"), handed_over("TERM", "pidfd", None), exited]
    );
}

/// Takes the next answer of a desk.
fn next(desk: &mut Desk) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let answer = runtime.block_on(async { tokio::time::timeout(LONG, desk.answers.recv()).await });
    answer.unwrap().unwrap()
}

#[test]
fn the_wait_is_told_under_the_same_number_and_holds_nobody_up() {
    let Scene {
        work,
        exit,
        state: _state,
        ..
    } = Scene::new(&[Sent::Accepted], Way::KeptPidfd);
    let mut desk = Desk::start(work).unwrap();
    let waiting = Signalling {
        wait_ms: u64::try_from(LONG.as_millis()).unwrap(),
        ..order(Signal::Term)
    };
    desk.order(JobId(7), Order::Signal(Box::new(waiting)));
    desk.order(JobId(8), Order::Look(vec![target()]));
    let first = next(&mut desk);
    assert!(matches!(first.outcome, Outcome::Signalled(Ok(_))) && first.job == JobId(7));
    // The target has not exited, and the next order is answered all the same.
    let second = next(&mut desk);
    assert!(matches!(second.outcome, Outcome::Looked(_)) && second.job == JobId(8));
    exit.send(()).unwrap();
    let third = next(&mut desk);
    let Outcome::Watched(Watched { exited_after_ms, .. }) = third.outcome else {
        panic!("{:?}", third.outcome);
    };
    assert!(exited_after_ms.is_some() && third.job == JobId(7));
    desk.finish();
}

#[test]
fn a_wait_without_an_end_is_told_as_such() {
    let mut scene = Scene::new(&[Sent::Accepted], Way::KeptPidfd);
    let (_, _, after) = scene.signal(order(Signal::Term));
    let After::Wait(wait) = after else {
        panic!("no wait");
    };
    let (answers, mut told): (_, UnboundedReceiver<Answer>) = unbounded_channel();
    wait.tell(JobId(3), &answers);
    let answer = told.blocking_recv().unwrap();
    assert!(
        matches!(
            answer.outcome,
            Outcome::Watched(Watched {
                exited_after_ms: None,
                ..
            })
        ),
        "{:?}",
        answer.outcome
    );
}
