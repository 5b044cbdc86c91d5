//! Through what a signal goes: the kept pidfd, a new one, or `kill`(2) where the kernel has none.

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::sync::Arc;

use libtest_mimic::Trial;
use mcpwake::model::act::{Sent, Signal, Standing, Target, Way};
use mcpwake::model::identity::Pid;
use mcpwake::platform::linux::kernel::{Opens, Running};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::kit::{Bench, LONG, Narrow, SHORT, Ward, earlier, pid_of, trial, unread};

/// Pid of the process that a child in another pid namespace tries to signal.
const ANOTHER_NAMESPACE: &str = "MCPWAKE_ACTOR_NAMESPACE";
const TERM: Option<i32> = Some(15);

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("way_without_pidfds", without_pidfds),
        trial("way_with_a_filter_that_knows_no_pidfds", filtered),
        trial("way_without_a_free_descriptor", no_descriptor),
        trial("way_beyond_the_kept_pidfds", beyond_the_kept),
        trial("way_of_a_process_that_was_let_go", let_go),
        trial("way_of_a_process_that_proc_hides", hidden),
        trial("way_in_another_pid_namespace", another_namespace),
    ]
}

/// A kernel that answers every `pidfd_open` with an error.
#[derive(Debug)]
struct Lacks(Errno);

impl Opens for Lacks {
    fn open(&self, _: Pid) -> Result<OwnedFd, Errno> {
        Err(self.0)
    }
}

fn without_pidfds() {
    by_kill(Errno::NOSYS);
}

fn filtered() {
    by_kill(Errno::PERM);
}

fn by_kill(errno: Errno) {
    let mut ward = Ward::sleeper();
    let mut bench = Bench::with(Arc::new(Lacks(errno)), Box::new(Running));
    let target = bench.see(ward.pid());
    assert_eq!(target.pidfd_inode, None);
    assert_eq!(bench.look(&target).way, Way::Kill);
    bench.same(&target);
    // Whoever has the pid and another start time is another.
    let before = earlier(&target);
    assert_eq!(bench.look(&before).standing, Standing::Replaced);
    assert!(matches!(bench.send(&before, Signal::Term), Sent::Withheld(_)));
    let watch = bench.watch(&target);
    assert!(!watch.exited(SHORT));
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert!(watch.exited(LONG));
    assert_eq!(bench.same(&target).state, 'Z');
    assert_eq!(ward.end().signal(), TERM);
    assert_eq!(bench.look(&target).standing, Standing::Gone);
    assert_eq!(bench.send(&target, Signal::Kill), Sent::Withheld(Standing::Gone));
}

fn no_descriptor() {
    let mut ward = Ward::sleeper();
    let mut bench = Bench::with(Arc::new(Lacks(Errno::MFILE)), Box::new(Running));
    let target = bench.see(ward.pid());
    let look = bench.look(&target);
    assert!(
        matches!(&look.standing, Standing::Unread(why) if why.contains("pidfd_open") && why.contains("ulimit -n")),
        "{look:?}"
    );
    // It is no reason to take a way with a window.
    unread(bench.send(&target, Signal::Term));
    assert!(ward.lives());
}

/// Raises the number of files that this process may have open, where it is lower.
fn may_open(files: u64) -> Result<(), Errno> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(files),
        maximum: limit.maximum.map(|maximum| maximum.max(files)),
    };
    setrlimit(Resource::Nofile, raised)
}

fn beyond_the_kept() {
    // Two pipes and up to two pidfds for each of 258 processes, beside what other tests have open.
    if let Err(why) = may_open(2_048) {
        println!("not tried: not so many files can be open here (ulimit -n): {why}");
        return;
    }
    let mut wards: Vec<Ward> = (0..258).map(|_| Ward::sleeper()).collect();
    let mut bench = Bench::new();
    let pids: Vec<u32> = wards.iter().map(Ward::pid).collect();
    let sample = bench.sample(&pids);
    let mut targets: Vec<Target> = pids
        .iter()
        .map(|pid| {
            let key = sample.process(pid_of(*pid)).unwrap().key;
            Target::of(&sample, key, None).unwrap()
        })
        .collect();
    let ways = |bench: &mut Bench, targets: &[Target], way: Way| {
        targets
            .iter()
            .filter(|target| bench.look(target).way == way)
            .count()
    };
    assert_eq!(ways(&mut bench, &targets, Way::NewPidfd), 2);
    // Far more than are held at a time: the oldest are taken from the kept ones again.
    assert_eq!(ways(&mut bench, &targets, Way::KeptPidfd), 256);
    targets.retain(|target| bench.look(target).way == Way::NewPidfd);
    for target in targets {
        bench.same(&target);
        assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
        let ward = wards
            .iter_mut()
            .find(|ward| ward.pid() == target.key.pid.get())
            .unwrap();
        assert_eq!(ward.end().signal(), TERM);
    }
}

/// What the sampler has no interest in any more is held for the signal all the same.
fn let_go() {
    let mut ward = Ward::sleeper();
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    assert_eq!(bench.look(&target).way, Way::KeptPidfd);
    bench.sample(&[]);
    assert!(bench.source.pidfds().get(target.key).is_none());
    assert_eq!(bench.look(&target).way, Way::KeptPidfd);
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert_eq!(ward.end().signal(), TERM);
}

/// One that lives and is not shown, as `hidepid` has it, is not gone.
fn hidden() {
    let mut ward = Ward::sleeper();
    let narrow = Narrow::new();
    narrow.show(&ward.pid().to_string());
    let mut bench = Bench::on(narrow.options(), Arc::new(Running), Box::new(Running));
    let target = bench.see(ward.pid());
    bench.same(&target);
    narrow.hide(ward.pid());
    let standing = bench.look(&target).standing;
    assert!(
        matches!(&standing, Standing::Unread(why) if why.contains("hidepid")),
        "{standing:?}"
    );
    let why = unread(bench.send(&target, Signal::Term));
    assert!(why.contains("hidepid"), "{why}");
    assert!(ward.lives());
}

/// Where pids are numbered otherwise than the proc file system shows them, nothing is signalled.
fn another_namespace() {
    let mut ward = Ward::sleeper();
    let output = Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child"])
        .arg(std::env::current_exe().unwrap())
        .env(ANOTHER_NAMESPACE, ward.pid().to_string())
        .output();
    let Ok(output) = output else {
        println!("not tried: no unshare(1) here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    if complained.starts_with("unshare:") {
        println!("not tried: no pid namespace here: {complained}");
        return;
    }
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains("another pid namespace"), "{said}");
    assert!(ward.lives());
}

/// Tries to signal a process from a pid namespace whose numbers the proc file system does not show, where
/// the environment says so; returns whether it did.
pub(super) fn play_another_namespace() -> bool {
    let Ok(pid) = std::env::var(ANOTHER_NAMESPACE) else {
        return false;
    };
    let mut bench = Bench::new();
    let target = bench.see(pid.parse().unwrap());
    match bench.look(&target).standing {
        Standing::Unread(why) => println!("{why}"),
        other => panic!("{other:?}"),
    }
    unread(bench.send(&target, Signal::Kill));
    true
}
