//! What several tests share: an environment of their own, waiting with a deadline, signals to own
//! children.

pub(crate) mod model;

#[cfg(target_os = "linux")]
#[path = "../../common/public.rs"]
pub(crate) mod public;
#[cfg(target_os = "linux")]
#[path = "../../common/short.rs"]
pub(crate) mod short;

use std::io::Read;
use std::path::Path;
use std::process::{Child, Output};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, kill_process, kill_process_group, waitid,
};
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

/// Waits for a child that ends by itself, and returns what it wrote. One that does not end in time is killed, with
/// its group where it leads one, and fails the test instead of holding it up.
pub(crate) fn output_in_time(mut child: Child, deadline: Duration) -> Output {
    let number = child.id();
    let (tell, exited) = channel();
    std::thread::spawn(move || {
        wait_for_exit(number);
        // Nobody may wait for it any more.
        let _ = tell.send(());
    });
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    if exited.recv_timeout(deadline).is_err() {
        kill_with_group(number);
        let status = child.wait().unwrap();
        panic!("{number} still ran after {deadline:?}, was killed: {status}");
    }
    Output {
        status: child.wait().unwrap(),
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn collect(from: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            from.read_to_end(&mut bytes).unwrap();
        }
        bytes
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "an unreaped child keeps its pid, and the group that it leads: no stranger can be hit"
)]
fn kill_with_group(child: u32) {
    let child = pid(child);
    if getpgid(Some(child)) == Ok(child) {
        kill_process_group(child, Signal::KILL).unwrap();
    } else {
        kill_process(child, Signal::KILL).unwrap();
    }
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
