//! What lies beyond own processes: other users, other namespaces.

use super::{Found, check, works, wrong};
use crate::doctor::observe::Seen;
use crate::doctor::truth::Truth;
use crate::model::host::{Os, Visibility};
use crate::model::identity::Pid;
use crate::model::reading::Absence;
use crate::model::sample::Sample;
use crate::report::doctor::{Answer, Check};

/// Inode of the machine's own pid namespace (`PROC_PID_INIT_INO` in the kernel's sources).
const FIRST_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// Returns the answer on other users' processes.
pub(super) fn users(sample: &Sample) -> Check {
    let check = |found| check("processes.others", "other users' processes", found);
    let own = sample.observer.uid;
    let (mut all, mut read) = (0, 0);
    let others = sample
        .processes
        .values()
        .filter(|one| !one.kernel_thread && one.uid.value() != Some(&own));
    for process in others {
        all += 1;
        read += usize::from(!process.exe.is_denied());
    }
    let closed = sample.processes.values().any(|one| one.exe.is_denied());
    if closed && sample.visibility == Visibility::All {
        return check(wrong(
            "some cannot be read, and it was said that every process can",
        ));
    }
    let hides = sample.problems.iter().find(|problem| {
        problem.pid.is_none() && problem.kind == Absence::Denied && problem.detail.contains("hidepid")
    });
    let as_root = if own == 0 {
        "this is root, and still refused: it lacks capabilities that other processes have (CAP_SYS_PTRACE is what \
         counts), or a security module is in the way; in a container, run it outside"
    } else {
        "run it as root: it then sees and judges every user's servers"
    };
    if let Some(hides) = hides {
        let found = (
            Answer::Denied,
            format!(
                "{read} of {all} that are listed; the process table is {}",
                hides.detail
            ),
        );
        return check(found).advised(as_root);
    }
    let hidden = sample.hidden.filter(|hidden| *hidden > 0);
    if let Some(hidden) = hidden {
        let found = (
            Answer::Denied,
            format!("{read} of {all} that are listed; {hidden} more are closed"),
        );
        return check(found).advised(as_root);
    }
    let seen = match (all, read) {
        (0, _) => "there are none here".to_owned(),
        (all, read) => format!("{read} of {all} can be read in full"),
    };
    let refused = sample
        .processes
        .values()
        .filter(|one| one.exe.is_denied() && one.uid.value() == Some(&own));
    let refused = refused.count();
    let seen = match refused {
        0 => seen,
        _ => format!("{seen}; {refused} of this user's own cannot"),
    };
    if all == read && refused == 0 {
        check(works(seen))
    } else {
        check((Answer::Denied, seen)).advised(as_root)
    }
}

/// Returns the answer on processes outside this pid namespace.
pub(super) fn processes_outside(truth: &Truth, seen: &Seen) -> Check {
    let check = |found| check("namespace.pid", "pid namespace", found);
    let sample = &seen.alive.sample;
    let outside = "run it on the machine itself, outside the container";
    if !truth.counts_alike(sample) {
        return check((
            Answer::Denied,
            "the process table is that of another pid namespace than this program's: pids there are not those here"
                .to_owned(),
        ))
        .advised("mount a proc file system of this namespace, or enter the other one");
    }
    match (seen.os, sample.observer.pid_namespace) {
        (Os::Macos, _) => check(works(
            "macOS has none; containers there run in a virtual machine and are not seen",
        )),
        (Os::Linux, None) => check((
            Answer::Denied,
            "its own cannot be read: whether this is a container is not known".to_owned(),
        )),
        (Os::Linux, Some(FIRST_PID_NAMESPACE)) => {
            check(works("the machine's own: containers' processes are seen too"))
        }
        (Os::Linux, Some(_)) => check((
            Answer::Denied,
            "a container's own, or like it: processes outside it are not visible".to_owned(),
        ))
        .advised(outside),
    }
}

/// Returns the answer on sockets outside this network namespace.
pub(super) fn sockets_outside(seen: &Seen) -> Check {
    let check = |found: Found| check("namespace.net", "network namespace", found);
    let sample = &seen.alive.sample;
    if seen.os == Os::Macos {
        return check(works("macOS has none"));
    }
    let own = sample.observer.net_namespace;
    let first = sample
        .process(Pid::INIT)
        .and_then(|first| first.net_namespace.value().copied());
    let inside = sample
        .observer
        .pid_namespace
        .is_some_and(|inode| inode != FIRST_PID_NAMESPACE);
    match (own, first) {
        (Some(own), Some(first)) if own == first && inside => check((
            Answer::Denied,
            "that of this namespace's pid 1: whether it is the machine's cannot be told from inside"
                .to_owned(),
        ))
        .advised("run it on the machine itself, outside the container"),
        (Some(own), Some(first)) if own == first => {
            check(works("that of pid 1: its sockets are seen in detail"))
        }
        (Some(_), Some(_)) => check((
            Answer::Denied,
            "another than that of pid 1: sockets outside it are not seen in detail".to_owned(),
        ))
        .advised("run it on the machine itself, outside the container"),
        _ => {
            let check = check((
                Answer::Denied,
                "that of pid 1 cannot be read: whether this is the same is not known".to_owned(),
            ));
            if sample.observer.uid == 0 {
                check
            } else {
                check.advised("run it as root to know")
            }
        }
    }
}
