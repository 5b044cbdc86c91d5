//! The calls of the kernel that hold on to a process and signal it: in one place, so that a test can
//! stand between them, or take one away.

use std::fmt;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{self, PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::model::act::Signal;
use crate::model::identity::Pid;

/// `PID_FS_MAGIC`: where pidfds have an inode of their own (Linux 6.9).
const PIDFS: i64 = 0x5049_4446;

/// The kernel that runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Running;

/// Opens pidfds. Whoever has nothing else cannot signal.
pub trait Opens: Send + Sync + fmt::Debug {
    /// Opens a pidfd of the process that has this pid now (`pidfd_open`(2), Linux 5.3).
    fn open(&self, pid: Pid) -> Result<OwnedFd, Errno> {
        pidfd_open(raw(pid)?, PidfdFlags::empty())
    }

    /// Returns the inode of a pidfd, where it is of this process alone.
    fn inode(&self, pidfd: &OwnedFd) -> Option<u64> {
        let on_pidfs = rustix::fs::fstatfs(pidfd).is_ok_and(|found| found.f_type == PIDFS);
        on_pidfs
            .then(|| rustix::fs::fstat(pidfd).ok().map(|stat| stat.st_ino))
            .flatten()
    }
}

/// Sends signals.
pub trait Sends: Send {
    /// Signals the process that a pidfd was opened of, whoever has its pid now (`pidfd_send_signal`(2)).
    fn send(&self, pidfd: &OwnedFd, signal: Signal) -> Result<(), Errno> {
        pidfd_send_signal(pidfd, number(signal))
    }

    /// Signals the process that has this pid now (`kill`(2)).
    #[expect(
        clippy::disallowed_methods,
        reason = "the one way of a kernel without pidfds; it is said, and journalled"
    )]
    fn kill(&self, pid: Pid, signal: Signal) -> Result<(), Errno> {
        process::kill_process(raw(pid)?, number(signal))
    }
}

impl Opens for Running {}
impl Sends for Running {}

fn raw(pid: Pid) -> Result<process::Pid, Errno> {
    i32::try_from(pid.get())
        .ok()
        .and_then(process::Pid::from_raw)
        .ok_or(Errno::SRCH)
}

fn number(signal: Signal) -> process::Signal {
    match signal {
        Signal::Term => process::Signal::TERM,
        Signal::Kill => process::Signal::KILL,
        Signal::Cont => process::Signal::CONT,
    }
}
