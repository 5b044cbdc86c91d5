//! One pass over the system. Not atomic: a process can vanish in the middle of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::descriptor::{Holder, PipeEnds, Unlisted};
use super::host::{Host, Lack, Observer, Visibility};
use super::identity::{Pid, ProcessKey};
use super::process::Process;
use super::reading::{Absence, Reading};
use super::socket::Sockets;
use super::time::UnixMillis;

/// One sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Wall time when it was begun.
    pub taken_at: UnixMillis,
    /// `CLOCK_BOOTTIME` then, milliseconds: elapsed times are taken against it, not the wall clock.
    pub since_boot_ms: u64,
    /// CPU time that taking it cost this program, microseconds.
    pub cost_us: u64,
    /// The machine.
    pub host: Host,
    /// Who looked.
    pub observer: Observer,
    /// How much could be read.
    pub visibility: Visibility,
    /// Number of processes whose descriptors the reader may look at.
    pub readable: u32,
    /// Number of processes that the kernel counts but does not show (hidepid), where known.
    pub hidden: Option<u32>,
    /// Every process, by pid. Unchanged ones are shared with the sample before.
    pub processes: BTreeMap<Pid, Arc<Process>>,
    /// Sockets of the reader's network namespace.
    pub sockets: Reading<Sockets>,
    /// Who has a descriptor on the pipes and sockets that were searched for, by inode; every
    /// inode that was searched has an entry.
    pub holders: BTreeMap<u64, Vec<Holder>>,
    /// What the kernel says of the ends of pipes, by inode, where it says it whoever holds them (macOS).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pipe_ends: BTreeMap<u64, PipeEnds>,
    /// Processes whose parent is another than at their fork or last exec, by the kernel's word (macOS).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub adopted: BTreeSet<ProcessKey>,
    /// Who holds the master of a pseudo-terminal, by the number N of its slave `/dev/pts/N` (macOS `/dev/ttysN`).
    pub terminal_masters: BTreeMap<u32, Vec<Holder>>,
    /// Services that name a process of interest as their main one.
    pub units: Vec<Unit>,
    /// Processes whose descriptors were looked for in the search and could not be read.
    pub unsearched: Vec<Unsearched>,
    /// What holds, or may hold, files without a descriptor in a process's own table (Linux): looked for only
    /// while a process of interest reads from a pipe that no process has open for writing, or talks on a
    /// socket whose peer no process has open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<Unlisted>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// What a service manager says of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// `systemd`, `systemd --user`, `launchd`.
    pub manager: String,
    /// Unit or job.
    pub name: String,
    /// Its main process (`MainPID`).
    pub main_pid: Option<Pid>,
}

/// A process that the search for holders could not look into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsearched {
    /// The process.
    pub process: ProcessKey,
    /// Why.
    pub why: Absence,
}

/// One thing that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Process, where it is about one.
    pub pid: Option<Pid>,
    /// What was being read: a path, a field, a call.
    pub what: String,
    /// Why it was not.
    pub kind: Absence,
    /// What to know or do.
    pub detail: String,
}

impl Sample {
    /// Returns what this reader lacks where it was denied a process.
    pub fn lack(&self) -> Lack {
        Lack::of(self.host.os, self.observer.uid)
    }

    /// Returns the process with this pid.
    pub fn process(&self, pid: Pid) -> Option<&Process> {
        self.processes.get(&pid).map(Arc::as_ref)
    }

    /// Returns the process with this key; `None` also when its pid was reused.
    pub fn get(&self, key: ProcessKey) -> Option<&Process> {
        self.process(key.pid).filter(|process| process.key == key)
    }

    /// Returns how long a process has run, milliseconds since its start by the boot clock.
    pub fn elapsed_ms(&self, process: &Process) -> u64 {
        let units = self.host.start_units_per_second.max(1);
        match self.host.os {
            super::host::Os::Linux => {
                let started = u128::from(process.key.start.0) * 1000 / u128::from(units);
                self.since_boot_ms
                    .saturating_sub(u64::try_from(started).unwrap_or(u64::MAX))
            }
            super::host::Os::Macos => {
                let started = i64::try_from(process.key.start.0 / 1000).unwrap_or(i64::MAX);
                u64::try_from(self.taken_at.0.saturating_sub(started)).unwrap_or(0)
            }
        }
    }

    /// Returns the wall time at which a process started.
    pub fn started_at(&self, process: &Process) -> UnixMillis {
        let elapsed = i64::try_from(self.elapsed_ms(process)).unwrap_or(i64::MAX);
        UnixMillis(self.taken_at.0.saturating_sub(elapsed))
    }
}
