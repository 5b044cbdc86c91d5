//! What is asked of the kernel, as bytes: a Mac's own calls, or a machine that a test has made.

use rustix::io::Errno;

use crate::model::bytes::OsBytes;
use crate::model::identity::Pid;
use crate::model::reading::{Absence, Reading};
use crate::model::time::UnixMillis;

/// The clocks that a sample is dated by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clocks {
    /// Milliseconds since the epoch.
    pub(super) wall_ms: i64,
    /// Nanoseconds since boot, sleep included.
    pub(super) since_boot_ns: u64,
    /// CPU time of this thread, microseconds.
    pub(super) own_cpu_us: u64,
}

impl Clocks {
    /// Returns the wall time.
    pub(super) fn wall(self) -> UnixMillis {
        UnixMillis(self.wall_ms)
    }
}

/// This program itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Own {
    /// Its pid.
    pub(super) pid: Pid,
    /// Effective user id.
    pub(super) uid: u32,
    /// As it was started.
    pub(super) program: OsBytes,
    /// Its variable `SSH_CONNECTION`.
    pub(super) ssh_connection: Option<String>,
    /// Its variable `SUDO_UID`.
    pub(super) sudo_uid: Option<u32>,
}

/// Answers in the kernel's own structures (`layout`); each error is the call's errno.
pub(super) trait Kernel: Send {
    /// sysctl `kern.proc.all`: every process, zombies too, as an array of `kinfo_proc`. Needs no rights.
    fn processes(&mut self) -> Result<Vec<u8>, Errno>;

    /// `proc_pidinfo`, with room for `bytes`. `arg` 1 finds zombies too, for the flavours that know them.
    fn process_info(&mut self, pid: Pid, flavour: i32, arg: u64, bytes: usize) -> Result<Vec<u8>, Errno>;

    /// `proc_pidfdinfo`.
    fn descriptor_info(&mut self, pid: Pid, fd: u32, flavour: i32, bytes: usize) -> Result<Vec<u8>, Errno>;

    /// sysctl `kern.procargs2`. It gives `EINVAL` for a process that is gone, of another user, or exiting.
    fn arguments(&mut self, pid: Pid) -> Result<Vec<u8>, Errno>;

    /// `proc_pidpath`: the program file. Needs no rights.
    fn path(&mut self, pid: Pid) -> Result<Vec<u8>, Errno>;

    /// getsid(2). Needs no rights.
    fn session(&mut self, pid: Pid) -> Result<Option<Pid>, Errno>;

    /// `sysctlbyname`.
    fn named(&mut self, name: &str) -> Result<Vec<u8>, Errno>;

    /// Login name and home directory, by getpwuid(3): users are not in a file here.
    fn user(&mut self, uid: u32) -> Option<(OsBytes, OsBytes)>;

    /// Nanoseconds in a unit of the task times: numerator and denominator (`mach_timebase_info`).
    fn timebase(&mut self) -> (u32, u32);

    /// The clocks.
    fn clocks(&mut self) -> Clocks;

    /// This program.
    fn own(&mut self) -> Own;
}

/// Returns why there is no value.
pub(super) fn absence(errno: Errno) -> Absence {
    // Two numbers on macOS, one on Linux.
    if errno == Errno::OPNOTSUPP {
        return Absence::Unsupported;
    }
    match errno {
        Errno::ACCESS | Errno::PERM => Absence::Denied,
        Errno::NOENT | Errno::SRCH => Absence::Gone,
        Errno::NOSYS | Errno::NOTSUP => Absence::Unsupported,
        _ => Absence::Failed,
    }
}

/// Returns the reading for an error; `call` names what was asked.
pub(super) fn absent<T>(errno: Errno, pid: Pid, call: &str) -> Reading<T> {
    match absence(errno) {
        Absence::Denied => Reading::Denied,
        Absence::Gone => Reading::Gone,
        Absence::Unsupported => Reading::Unsupported,
        Absence::Failed => Reading::Failed(format!("{call} of {pid}: {errno}")),
    }
}

/// Returns the reading for bytes that do not have the structure that the call promises.
pub(super) fn malformed<T>(pid: Pid, call: &str) -> Reading<T> {
    Reading::Failed(format!("{call} of {pid}: the answer is too short"))
}
