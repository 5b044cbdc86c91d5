//! One process as it was read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes::OsBytes;
use super::descriptor::Descriptor;
use super::identity::{Pid, ProcessKey};
use super::reading::Reading;

/// The argument vector: a list of byte strings, as given to `execve(2)` or as the process has
/// rewritten it since. Trailing empty elements (padding of a rewritten title) are dropped.
pub type Argv = Vec<OsBytes>;

/// One process. Field meanings: `proc_pid_stat`(5), `proc_pid_status`(5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Pid and start time.
    pub key: ProcessKey,
    /// What no other process of this boot has: the inode of a pidfd of it (Linux 6.9), the unique process id
    /// (macOS, `p_uniqueid`).
    pub pidfd_inode: Option<u64>,
    /// Current parent; `None` for the first process and kernel threads' root.
    pub ppid: Option<Pid>,
    /// Process group; `None` where the leader lives outside this pid namespace.
    pub pgid: Option<Pid>,
    /// Session; `None` likewise.
    pub sid: Option<Pid>,
    /// Controlling terminal as ps(1) names it (`pts/3`); `None`: no terminal.
    pub tty: Option<String>,
    /// State letter: R, S, D, T, t, Z, X, I; `?` where it lives and more may not be read.
    pub state: char,
    /// State with ps(1)'s marks: `<`, `N`, `L`, `s`, `l`, `+`.
    pub stat: String,
    /// Whether it is a thread of the kernel.
    pub kernel_thread: bool,
    /// Real user id.
    pub uid: Reading<u32>,
    /// Login name of `uid`; the number as text where no name is known.
    pub user: Reading<OsBytes>,
    /// Home directory of `uid` in the user database.
    pub home: Option<OsBytes>,
    /// Kernel's short name, at most 15 bytes, any bytes.
    pub comm: OsBytes,
    /// Argument vector; empty for kernel threads.
    pub argv: Reading<Argv>,
    /// Whether `argv` was read before the process became a zombie and is kept from then.
    pub argv_kept: bool,
    /// Addresses that only a new program image moves: the same as before means that what has changed since
    /// was overwritten, not executed. `None` without the right to read them; not kept in snapshots.
    #[serde(skip)]
    pub image: Option<(u64, u64)>,
    /// Running program file; a file that was replaced ends in ` (deleted)`.
    pub exe: Reading<OsBytes>,
    /// Working directory.
    pub cwd: Reading<OsBytes>,
    /// Control group path (version 2, else the one of the `name=systemd` hierarchy).
    pub cgroup: Reading<OsBytes>,
    /// Number of threads.
    pub threads: u32,
    /// Resident memory.
    pub rss_bytes: u64,
    /// Memory in swap.
    pub swap_bytes: Reading<u64>,
    /// User and system CPU time used so far, milliseconds.
    pub cpu_ms: u64,
    /// CPU use since the sample before, in tenths of a per cent of one CPU; `None` in the first.
    pub cpu_permille: Option<u32>,
    /// First two numbers of schedstat (run time, wait time): unchanged means that the (single)
    /// thread has not run.
    pub schedstat: Reading<(u64, u64)>,
    /// Pending, blocked, ignored, caught signals as bit masks (bit n-1 = signal n).
    pub signals: Reading<SignalMasks>,
    /// Inode of its pid namespace.
    pub pid_namespace: Reading<u64>,
    /// Inode of its network namespace.
    pub net_namespace: Reading<u64>,
    /// Pids from the outermost namespace inwards (`NSpid`); one where it lives in the reader's.
    pub namespace_pids: Reading<Vec<u32>>,
    /// Environment: names, and values only of named identifiers.
    pub environment: Reading<Environment>,
    /// Open descriptors, ordered by number.
    pub descriptors: Reading<Vec<Descriptor>>,
    /// Locks it holds (`/proc/locks`): path where known.
    pub locks: Vec<Lock>,
}

/// Signal masks of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalMasks {
    /// Pending, thread or process.
    pub pending: u64,
    /// Blocked by the main thread.
    pub blocked: u64,
    /// Ignored.
    pub ignored: u64,
    /// Caught by a handler.
    pub caught: u64,
}

/// What is kept of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// All names, sorted.
    pub names: Vec<OsBytes>,
    /// Values of identifiers that the catalogue names (session ids, client pids, socket paths).
    /// Never a secret.
    pub identifiers: BTreeMap<String, OsBytes>,
}

/// A file lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// `POSIX`, `FLOCK`, `OFDLCK`.
    pub kind: String,
    /// `READ` or `WRITE`.
    pub mode: String,
    /// Inode of the file.
    pub inode: u64,
    /// Path, where a descriptor of the process leads to that inode.
    pub path: Option<OsBytes>,
}

impl Process {
    /// Returns whether it has exited and was not yet waited for.
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }

    /// Returns whether its main thread has exited and others run: it lives on, though its state letter is
    /// that of a zombie.
    pub fn lost_main_thread(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads > 1
    }

    /// Returns whether a stop signal or a tracer holds it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }

    /// Returns the argument vector, empty where it could not be read.
    pub fn args(&self) -> &[OsBytes] {
        self.argv.value().map_or(&[], Vec::as_slice)
    }
}
