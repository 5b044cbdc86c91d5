//! The machine, and who looks at it.

use serde::{Deserialize, Serialize};

use super::bytes::OsBytes;
use super::identity::Pid;
use super::time::UnixMillis;

/// Operating system that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Os {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
}

/// Facts on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub hostname: OsBytes,
    /// Operating system.
    pub os: Os,
    /// Kernel release.
    pub kernel: String,
    /// `/proc/sys/kernel/random/boot_id`; on macOS `kern.bootsessionuuid`.
    pub boot_id: String,
    /// Wall time of boot; moves when the clock is set.
    pub booted_at: UnixMillis,
    /// Units of a `StartKey` in a second.
    pub start_units_per_second: u64,
    /// Processors.
    pub cpus: u32,
    /// Load averages over 1, 5 and 15 minutes, in hundredths.
    pub load_centi: [u32; 3],
    /// Physical memory.
    pub memory_bytes: u64,
}

/// Who looks, and with which rights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observer {
    /// This program's own pid.
    pub pid: Pid,
    /// Its ancestors, nearest first.
    pub ancestors: Vec<Pid>,
    /// Effective user id.
    pub uid: u32,
    /// Name of `uid`.
    pub user: OsBytes,
    /// Login uid (`/proc/self/loginuid`), else `SUDO_UID`: who the operator is under sudo.
    pub login_uid: Option<u32>,
    /// Address that an SSH session came from.
    pub ssh_from: Option<String>,
    /// This program as it was started, for advice ("with sudo: …").
    pub program: OsBytes,
    /// Own pid namespace.
    pub pid_namespace: Option<u64>,
    /// Own network namespace.
    pub net_namespace: Option<u64>,
}

/// What a reader lacks who was denied a process: advice has to be true for whoever reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It is not root.
    Root,
    /// It is root, and less than the kernel asks for: without `CAP_SYS_PTRACE` (`capabilities`(7)) as in a
    /// container, or refused by a security module.
    Capability,
    /// It is root, and the system denies it all the same.
    Exempt,
}

impl Lack {
    /// Returns what a reader with this user id lacks.
    pub fn of(os: Os, uid: u32) -> Self {
        match (os, uid) {
            (_, 1..) => Self::Root,
            (Os::Linux, 0) => Self::Capability,
            (Os::Macos, 0) => Self::Exempt,
        }
    }
}

/// How much of the machine could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Every process in full.
    All,
    /// Own processes only; others are hidden (hidepid) or closed.
    Own,
    /// Something between.
    Partial,
}
