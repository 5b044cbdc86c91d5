//! What is never signalled, whatever a plan says. Nothing here can send: the calls are counted.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::Trial;
use mcpwake::journal::Entry;
use mcpwake::model::act::{Sent, Signal, Target};
use mcpwake::model::identity::Pid;
use mcpwake::platform::Signaller as _;
use mcpwake::platform::linux::kernel::{Running, Sends};
use rustix::io::Errno;

use super::kit::{Bench, Ward, earlier, pid_of, trial, unread};

const PILLARS: &str = "refuse_the_first_process_itself_and_its_ancestors";

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial(PILLARS, pillars),
        trial("refuse_threads_of_the_kernel", kernel_threads),
        trial("refuse_what_the_entry_does_not_announce", unannounced),
        trial("refuse_what_was_not_looked_at", not_looked_at),
        trial("refuse_everything_when_read_only", read_only),
        trial("control_what_is_sent_is_counted", what_is_sent_is_counted),
    ]
}

/// Counts, and sends nothing.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Sends for Counted {
    fn send(&self, _: &OwnedFd, _: Signal) -> Result<(), Errno> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn kill(&self, _: Pid, _: Signal) -> Result<(), Errno> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

fn bench() -> (Bench, Counted) {
    let counted = Counted::default();
    (Bench::with(Arc::new(Running), Box::new(counted.clone())), counted)
}

fn pillars() {
    // Below the first process, as in a container, it has no ancestor of its own: it is played by a child then.
    if rustix::process::getppid().is_none_or(rustix::process::Pid::is_init) {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", PILLARS])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("1 passed"),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    let (mut bench, counted) = bench();
    let sample = bench.sample(&[]);
    let own = sample.observer.pid;
    assert_eq!(own, pid_of(std::process::id()));
    let mut cases = vec![(Pid::INIT, "pid 1 is never signalled"), (own, "mcpwake itself")];
    let ancestors = sample.observer.ancestors.iter().filter(|pid| **pid != Pid::INIT);
    cases.extend(ancestors.map(|pid| (*pid, "an ancestor of mcpwake")));
    assert!(
        cases.len() > 2,
        "a test has a parent that is not the first process"
    );
    // Other users' are hidden under `hidepid`, and cannot be marked either.
    cases.retain(|(pid, _)| sample.process(*pid).is_some());
    assert!(!cases.is_empty());
    for (pid, wanted) in cases {
        let target = bench.see(pid.get());
        bench.look(&target);
        for signal in [Signal::Term, Signal::Kill, Signal::Cont] {
            let why = unread(bench.send(&target, signal));
            assert!(why.contains(wanted), "{pid}: {why}");
        }
    }
    assert_eq!(counted.count(), 0);
}

fn kernel_threads() {
    let (mut bench, counted) = bench();
    let sample = bench.sample(&[]);
    let Some(thread) = sample.processes.values().find(|process| process.kernel_thread) else {
        println!("not tried: no thread of the kernel is seen here");
        return;
    };
    let target = Target::of(&sample, thread.key, None).unwrap();
    bench.same(&target);
    let why = unread(bench.send(&target, Signal::Kill));
    assert!(why.contains("thread of the kernel"), "{why}");
    assert_eq!(counted.count(), 0);
}

fn unannounced() {
    let (ward, other) = (Ward::sleeper(), Ward::sleeper());
    let (mut bench, counted) = bench();
    let (target, another) = (bench.see(ward.pid()), bench.see(other.pid()));
    bench.same(&target);
    bench.same(&another);
    let note = Entry::Note {
        on: None,
        text: "TERM".to_owned(),
    };
    let inode = Target {
        pidfd_inode: target.pidfd_inode.map(|inode| inode + 1),
        ..target.clone()
    };
    let mut receipts = vec![
        bench.book.append(note),
        bench.book.announce(Signal::Kill, &target),
        bench.book.announce(Signal::Term, &another),
        bench.book.announce(Signal::Term, &earlier(&target)),
    ];
    if target.pidfd_inode.is_some() {
        receipts.push(bench.book.announce(Signal::Term, &inode));
    }
    for receipt in receipts {
        let why = unread(bench.signaller.send(&target, Signal::Term, receipt));
        assert!(
            why.contains("does not announce TERM") && why.contains(&target.key.to_string()),
            "{why}"
        );
    }
    assert_eq!(counted.count(), 0);
}

fn not_looked_at() {
    let ward = Ward::sleeper();
    let (mut bench, counted) = bench();
    let target = bench.see(ward.pid());
    let why = unread(bench.send(&target, Signal::Term));
    assert!(why.contains("look at it first"), "{why}");
    assert_eq!(counted.count(), 0);
}

fn read_only() {
    let mut ward = Ward::sleeper();
    let (mut bench, _) = bench();
    let target = bench.see(ward.pid());
    let mut onlooker = bench.source.onlooker().unwrap();
    let look = onlooker.look(&target);
    assert_eq!(look.standing, bench.look(&target).standing);
    let receipt = bench.book.announce(Signal::Kill, &target);
    let why = unread(onlooker.send(&target, Signal::Kill, receipt));
    assert!(why.contains("read-only"), "{why}");
    assert!(ward.lives());
}

/// The counts above would not be 0 if something were sent.
fn what_is_sent_is_counted() {
    let ward = Ward::sleeper();
    let (mut bench, counted) = bench();
    let target = bench.see(ward.pid());
    bench.same(&target);
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert_eq!(counted.count(), 1);
}
