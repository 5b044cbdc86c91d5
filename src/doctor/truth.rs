//! What the self-test knows to be true, because it made it so or was told by the process itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::part::Kind;
use crate::model::bytes::OsBytes;
use crate::model::process::{Argv, Process};
use crate::model::sample::Sample;

/// A process that was started, as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// What it does.
    pub(super) kind: Kind,
    /// Its pid, by its own word.
    pub(super) pid: u32,
    /// Its parent's pid, by its own word.
    pub(super) parent: u32,
    /// The argument vector that it was given.
    pub(super) argv: Argv,
    /// Its end and this program's end of the connection.
    pub(super) connection: Option<(SocketAddr, SocketAddr)>,
}

/// Everything that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    /// This program's own pid, by its own word.
    pub(super) own_pid: u32,
    /// This program's file, which every part runs.
    pub(super) program: OsBytes,
    /// The working directory of every part.
    pub(super) cwd: OsBytes,
    /// The variable in every part's environment.
    pub(super) variable: OsBytes,
    /// The parts that run.
    pub(super) parts: Vec<Part>,
    /// Those that could not be started, and why.
    pub(super) missing: BTreeMap<&'static str, String>,
}

impl Truth {
    /// Returns the part of a kind; else why there is none.
    pub(super) fn part(&self, kind: Kind) -> Result<&Part, String> {
        let found = self.parts.iter().find(|part| part.kind == kind);
        found.ok_or_else(|| {
            self.missing
                .get(kind.word())
                .cloned()
                .unwrap_or_else(|| "it was not started".to_owned())
        })
    }

    /// Returns whether the process table counts pids as this program does: it may be that of another pid
    /// namespace.
    pub(super) fn counts_alike(&self, sample: &Sample) -> bool {
        sample.observer.pid.get() == self.own_pid
    }

    /// Returns the process that a part is: by its pid; in another namespace's table by its arguments,
    /// which hold a random word.
    pub(super) fn find<'s>(&self, sample: &'s Sample, part: &Part) -> Option<&'s Process> {
        let mut all = sample.processes.values().map(AsRef::as_ref);
        if self.counts_alike(sample) {
            all.find(|process: &&Process| process.key.pid.get() == part.pid)
        } else {
            all.find(|process: &&Process| process.args() == part.argv)
        }
    }
}
