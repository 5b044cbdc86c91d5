//! The signaller on a constructed machine: what it compares, and that nothing else is hit.

use std::sync::{Arc, Mutex};

use rustix::io::Errno;
use tempfile::TempDir;

use super::asked::Asked;
use super::mac::{Machine, Open, USER, procargs};
use crate::journal::{Entry, Operator, TargetRef};
use crate::model::act::{Difference, Sent, Signal, Standing, Target, Way};
use crate::model::identity::Pid;
use crate::model::interest::Interest;
use crate::platform::macos::MacosSource;
use crate::platform::macos::signaller::{MacosSignaller, Sends, Told};
use crate::platform::{Signaller as _, Source as _, wall_clock};
use crate::store::{Access, Incident, Opening, Receipt, Store};
use crate::text::redact::Redactor;

const SERVER: u32 = 710;

/// Signals that were sent.
#[derive(Clone, Default)]
struct Sink {
    sent: Arc<Mutex<Vec<(u32, Signal)>>>,
    refuses: Option<Errno>,
}

impl Sends for Sink {
    fn kill(&self, pid: Pid, signal: Signal) -> Result<(), Errno> {
        if let Some(errno) = self.refuses {
            return Err(errno);
        }
        self.sent.lock().unwrap().push((pid.get(), signal));
        Ok(())
    }
}

struct Bench {
    asked: Asked,
    sink: Sink,
    signaller: MacosSignaller,
    target: Target,
    _state: TempDir,
    incident: Incident,
    operator: Operator,
}

fn machine() -> Machine {
    let mut machine = Machine::new();
    machine.add(89_000, 1, USER, "/bin/zsh", &["-zsh"]);
    machine.add(90_000, 89_000, USER, "/usr/local/bin/mcpwake", &["mcpwake"]);
    machine.add(SERVER, 1, USER, "/usr/bin/python3", &["python3", "server.py"]);
    machine.open(SERVER, 0, Open::Kqueue);
    machine
}

impl Bench {
    fn new() -> Self {
        Self::with(Sink::default(), true)
    }

    /// A process was seen, closely, and is the target.
    fn with(sink: Sink, signals: bool) -> Self {
        let asked = Asked::new(machine());
        let mut source = MacosSource::on(Box::new(asked.clone())).unwrap();
        let mut sample = source.sample().unwrap();
        let key = sample.process(Pid::new(i64::from(SERVER)).unwrap()).unwrap().key;
        let mut interest = Interest::default();
        interest.closely.insert(key);
        source.look_closer(&mut sample, &interest);
        let target = Target::of(&sample, key, None).unwrap();
        let state = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let redactor = Arc::new(Redactor::builtin().unwrap());
        let store = Store::new(state.path().join("mcpwake"), uid, Access::ReadWrite, redactor);
        let operator = Operator::from(&sample.observer);
        let opening = Opening::on(&sample.host, "signals");
        let incident = store.create(&opening, &operator, wall_clock()).unwrap();
        let sends = signals.then(|| Box::new(sink.clone()) as Box<dyn Sends>);
        Self {
            signaller: MacosSignaller::new(Box::new(asked.clone()), sends, |_, _| Box::new(Told(true))),
            asked,
            sink,
            target,
            _state: state,
            incident,
            operator,
        }
    }

    fn announce(&self, signal: Signal, target: &Target) -> Receipt {
        let entry = Entry::AboutToSignal {
            signal: signal.word().to_owned(),
            targets: vec![TargetRef {
                key: target.key,
                pidfd_inode: target.pidfd_inode,
                argv: Vec::new(),
                instance: None,
            }],
            way: Way::Kill.word().to_owned(),
        };
        self.incident.append(entry, &self.operator, wall_clock()).unwrap()
    }

    fn look(&mut self) -> Standing {
        self.signaller.look(&self.target.clone()).standing
    }

    fn send(&mut self, signal: Signal) -> Sent {
        let target = self.target.clone();
        let receipt = self.announce(signal, &target);
        self.signaller.send(&target, signal, receipt)
    }

    fn change(&self, change: impl FnOnce(&mut super::mac::Proc)) {
        self.asked.change(|machine| change(machine.process(SERVER)));
    }

    fn sent(&self) -> Vec<(u32, Signal)> {
        self.sink.sent.lock().unwrap().clone()
    }
}

#[test]
fn the_process_that_was_seen_is_signalled_by_its_pid() {
    let mut bench = Bench::new();
    let look = bench.signaller.look(&bench.target.clone());
    assert_eq!(look.way, Way::Kill);
    let Standing::Same(process) = look.standing else {
        panic!("{look:?}");
    };
    assert_eq!(process.pidfd_inode, Some(100_710));
    assert_eq!(bench.send(Signal::Term), Sent::Accepted);
    assert_eq!(bench.send(Signal::Kill), Sent::Accepted);
    assert_eq!(bench.sent(), [(SERVER, Signal::Term), (SERVER, Signal::Kill)]);
    assert!(
        bench
            .signaller
            .watch(&bench.target)
            .exited(std::time::Duration::ZERO)
    );
}

/// What becomes of the process between the look and the signal.
type Change = fn(&mut super::mac::Proc);
/// What has to be found then.
type Expected = fn(&Standing) -> bool;

#[test]
fn whoever_is_another_by_now_is_not_hit() {
    let cases: [(&str, Change, Expected); 6] = [
        (
            "another start time",
            |one| one.started += 1,
            |found| *found == Standing::Replaced,
        ),
        (
            "the same start time, another unique id",
            |one| one.unique += 1,
            |found| *found == Standing::Replaced,
        ),
        (
            "another argv",
            |one| one.arguments = procargs(1, "/usr/bin/python3", &["python3"], &[], true),
            |found| matches!(found, Standing::Changed(_, what) if *what == [Difference::Argv]),
        ),
        (
            "another program",
            |one| one.arguments = procargs(2, "/bin/sh", &["python3", "server.py"], &[], true),
            |found| matches!(found, Standing::Changed(_, what) if *what == [Difference::Program]),
        ),
        (
            "a zombie",
            |one| one.stat = 5,
            |found| matches!(found, Standing::Same(process) if process.is_zombie()),
        ),
        (
            "exiting",
            |one| one.flags |= 0x2000,
            |found| matches!(found, Standing::Unread(why) if why.contains("exiting")),
        ),
    ];
    for (what, change, expected) in cases {
        let mut bench = Bench::new();
        assert!(matches!(bench.look(), Standing::Same(_)), "{what}");
        bench.change(change);
        let Sent::Withheld(standing) = bench.send(Signal::Term) else {
            panic!("{what}: {:?}", bench.sent());
        };
        assert!(expected(&standing), "{what}: {standing:?}");
        // A new look says the same.
        assert!(expected(&bench.look()), "{what}");
        assert_eq!(bench.sent(), [], "{what}");
    }
}

#[test]
fn one_that_is_gone_is_gone() {
    let mut bench = Bench::new();
    bench.look();
    bench.asked.change(|machine| machine.end(SERVER));
    assert_eq!(bench.send(Signal::Term), Sent::Withheld(Standing::Gone));
    assert_eq!(bench.look(), Standing::Gone);
}

#[test]
fn nothing_is_sent_without_look_and_announcement() {
    let mut bench = Bench::new();
    let why = |sent: Sent| match sent {
        Sent::Withheld(Standing::Unread(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(why(bench.send(Signal::Term)).contains("not looked at"));
    bench.look();
    let target = bench.target.clone();
    let receipt = bench.announce(Signal::Term, &target);
    let sent = bench.signaller.send(&target, Signal::Kill, receipt);
    assert!(why(sent).contains("does not announce KILL"));
    assert_eq!(bench.sent(), []);
}

#[test]
fn the_first_process_itself_and_its_ancestors_are_refused() {
    for (raw, part) in [(1, "pid 1"), (90_000, "mcpwake itself"), (89_000, "ancestor")] {
        let mut bench = Bench::new();
        let mut source = MacosSource::on(Box::new(bench.asked.clone())).unwrap();
        let sample = source.sample().unwrap();
        let key = sample.process(Pid::new(raw).unwrap()).unwrap().key;
        bench.target = Target::of(&sample, key, None).unwrap();
        assert!(matches!(bench.look(), Standing::Same(_)));
        let Sent::Withheld(Standing::Unread(why)) = bench.send(Signal::Term) else {
            panic!("{raw}");
        };
        assert!(why.contains(part), "{why}");
        assert_eq!(bench.sent(), []);
    }
}

#[test]
fn a_run_that_only_looks_has_nothing_to_send_with() {
    let mut bench = Bench::with(Sink::default(), false);
    assert!(matches!(bench.look(), Standing::Same(_)));
    let Sent::Withheld(Standing::Unread(why)) = bench.send(Signal::Term) else {
        panic!();
    };
    assert!(why.contains("read-only"), "{why}");
}

#[test]
fn a_refusal_says_whose_process_it_is() {
    let sink = Sink {
        refuses: Some(Errno::PERM),
        ..Sink::default()
    };
    let mut bench = Bench::with(sink, true);
    bench.look();
    let Sent::Refused(why) = bench.send(Signal::Term) else {
        panic!();
    };
    assert!(
        why.starts_with("EPERM: kill 710: it belongs to op (uid 501)"),
        "{why}"
    );
}
