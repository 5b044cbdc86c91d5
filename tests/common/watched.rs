//! A process that a test has started, directly or through another, held by its pidfd.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitpid,
};

/// Makes this process the one that adopts orphans below it, so that it can reap them.
pub(crate) fn adopt_orphans() {
    set_child_subreaper(Some(getpid())).unwrap();
}

/// A process, and the descriptor by which it is signalled: never another one's.
pub(crate) struct Watched {
    pid: Pid,
    descriptor: OwnedFd,
}

impl Watched {
    /// Holds a process that runs, or is a zombie that only this test can reap.
    pub(crate) fn new(pid: u32) -> Self {
        let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        Self {
            pid,
            descriptor: pidfd_open(pid, PidfdFlags::empty()).unwrap(),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Kills it, and waits until it is gone; its children are adopted.
    pub(crate) fn kill(&self) {
        // It may have gone by itself.
        let _ = pidfd_send_signal(&self.descriptor, Signal::KILL);
        self.is_gone();
        // Only a child of this process can be waited for; another's stays its parent's zombie.
        let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
    }

    /// Stops it, and waits until it has stopped.
    pub(crate) fn stop(&self) {
        pidfd_send_signal(&self.descriptor, Signal::STOP).unwrap();
        while state(self.pid) != Some('T') {
            std::thread::yield_now();
        }
    }

    /// Waits until it has exited: a pidfd can be read from then.
    fn is_gone(&self) {
        let wait = Timespec {
            tv_sec: 30,
            tv_nsec: 0,
        };
        let ready = poll(&mut [PollFd::new(&self.descriptor, PollFlags::IN)], Some(&wait)).unwrap();
        assert_eq!(ready, 1, "a killed process is gone in time");
    }
}

fn state(pid: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Kills all of them, and reaps them: a parent stands before its children, which are adopted when
/// it is gone.
pub(crate) fn take_down<'a>(processes: impl Iterator<Item = &'a Watched> + Clone) {
    for process in processes.clone() {
        let _ = pidfd_send_signal(&process.descriptor, Signal::KILL);
    }
    for process in processes {
        process.is_gone();
        let _ = waitpid(Some(process.pid), WaitOptions::empty());
    }
}
