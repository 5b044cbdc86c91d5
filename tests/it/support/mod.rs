//! What several tests share: an environment of their own, waiting with a deadline, signals to own
//! children.

pub(crate) mod model;

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tempfile::TempDir;

/// Longer than anything takes on a loaded machine; only a failing test waits for it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A home directory with XDG directories in it: no configuration but the test's.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the whole environment of a program: nothing else is inherited.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let below = |name: &str| self.0.path().join(name).display().to_string();
        vec![
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), self.0.path().display().to_string()),
            ("XDG_CONFIG_HOME".to_owned(), below("config")),
            ("XDG_STATE_HOME".to_owned(), below("state")),
            ("XDG_CACHE_HOME".to_owned(), below("cache")),
        ]
    }
}

/// Returns the pid in the form that system calls take.
pub(crate) fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// Signals a child of this test that nobody has waited for: its pid cannot be another's.
#[expect(
    clippy::disallowed_methods,
    reason = "an unreaped child keeps its pid: no stranger can be hit"
)]
pub(crate) fn signal(child: u32, signal: Signal) {
    kill_process(pid(child), signal).unwrap();
}

/// Waits until a child has exited, and leaves it to be reaped by its owner. Blocks.
pub(crate) fn wait_for_exit(child: u32) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(
        waitid(WaitId::Pid(pid(child)), options),
        Err(rustix::io::Errno::INTR)
    ) {}
}

/// Watches a process that is not this test's child.
#[cfg(target_os = "linux")]
pub(crate) struct Watch(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Watch {
    pub(crate) fn new(process: u32) -> Self {
        Self(rustix::process::pidfd_open(pid(process), rustix::process::PidfdFlags::empty()).unwrap())
    }

    /// Waits until it has exited; a pidfd can be read from then.
    pub(crate) fn is_gone_within(&self, time: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let wait = Timespec {
            tv_sec: time.as_secs().try_into().unwrap(),
            tv_nsec: 0,
        };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&wait)).unwrap() == 1
    }
}
