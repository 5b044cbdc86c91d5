//! What makes a process the same process: never its pid alone.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A process id. Strictly positive: the special values of `kill(2)` (0, -1, -group) cannot be
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pid(NonZeroU32);

impl Pid {
    /// The process that adopts orphans at the root of the pid namespace.
    pub const INIT: Self = Self(NonZeroU32::MIN);

    /// Returns the pid; `None` for 0, negative numbers and what no kernel gives out (above 2^22).
    pub fn new(raw: i64) -> Option<Self> {
        u32::try_from(raw)
            .ok()
            .filter(|raw| *raw <= 1 << 22)
            .and_then(NonZeroU32::new)
            .map(Self)
    }

    /// Returns the number.
    pub fn get(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// When a process started, in the kernel's own unit: clock ticks since boot on Linux
/// (`proc_pid_stat`(5), field 22), microseconds since the epoch on macOS (`pbi_start_tvsec`,
/// `pbi_start_tvusec`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StartKey(pub u64);

/// One process of one boot. The boot id is the sample's.
///
/// A pid that was reused within one tick has the same key; where that matters (before a signal)
/// `Process::pidfd_inode` tells the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessKey {
    /// Process id.
    pub pid: Pid,
    /// Start time in the kernel's unit.
    pub start: StartKey,
}

impl fmt::Display for ProcessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.start.0)
    }
}

/// One running MCP server as its client sees it; written `<pid>-<start key>` of the process that
/// it was first seen as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceId(pub ProcessKey);

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
