//! What every step of the judgement looks at: the sample, the one before, who is who.

use std::collections::BTreeMap;

use crate::model::finding::{Fact, Weight};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::model::world::World;

use super::Known;
use super::group::Draft;
use super::identify::Identities;
use super::listeners::Ends;
use super::masters;
use super::tree::Tree;

/// The material of one judgement.
pub(crate) struct Court<'a> {
    /// The sample.
    pub(crate) sample: &'a Sample,
    /// The world before it.
    pub(crate) previous: Option<&'a World>,
    /// Families.
    pub(crate) tree: Tree<'a>,
    /// Who is what by itself.
    pub(crate) identities: &'a Identities,
    /// Rules and configurations.
    pub(crate) known: &'a Known,
    /// Since when a process has been seen as a zombie, milliseconds since boot.
    pub(crate) zombies: &'a BTreeMap<ProcessKey, u64>,
    /// The instances.
    pub(crate) drafts: Vec<Draft>,
    /// Connected TCP and UDP sockets by their addresses.
    pub(crate) connections: BTreeMap<Ends, u64>,
    /// Ssh masters that have left their parent.
    pub(crate) ssh_masters: Vec<&'a Process>,
}

impl<'a> Court<'a> {
    /// Returns the ssh masters of a sample.
    pub(crate) fn ssh_masters(sample: &'a Sample) -> Vec<&'a Process> {
        let processes = sample.processes.values().map(std::sync::Arc::as_ref);
        processes.filter(|process| masters::is_one(process)).collect()
    }

    /// Returns the connected sockets of a sample by their addresses.
    pub(crate) fn connections(sample: &Sample) -> BTreeMap<Ends, u64> {
        let sockets = sample
            .sockets
            .value()
            .into_iter()
            .flat_map(|sockets| &sockets.inet);
        sockets
            .filter_map(|(inode, socket)| Some((Ends::of(socket)?, *inode)))
            .collect()
    }

    /// Returns a process by key.
    pub(crate) fn get(&self, key: ProcessKey) -> Option<&'a Process> {
        self.sample.get(key)
    }

    /// Returns the instance (its index) that a process is a member of.
    pub(crate) fn draft_of(&self, key: ProcessKey) -> Option<usize> {
        self.drafts
            .iter()
            .position(|draft| draft.members().any(|member| member == key))
    }

    /// Returns whether a process is a known client.
    pub(crate) fn is_client(&self, key: ProcessKey) -> bool {
        self.identities
            .get(key)
            .is_some_and(|identity| identity.client.is_some())
    }

    /// Returns the same process in the sample before.
    pub(crate) fn before(&self, key: ProcessKey) -> Option<&'a Process> {
        self.previous?.sample.get(key)
    }

    /// Returns the milliseconds between the sample before and this one.
    pub(crate) fn interval_ms(&self) -> Option<u64> {
        Some(
            self.sample
                .since_boot_ms
                .saturating_sub(self.previous?.sample.since_boot_ms),
        )
    }

    /// Returns a process's name as one would say it: the catalogue's for a client, else its comm.
    pub(crate) fn name_of(&self, key: ProcessKey) -> String {
        let client = self
            .identities
            .get(key)
            .and_then(|identity| identity.client.as_ref());
        let comm = || self.get(key).map(|process| process.comm.lossy().into_owned());
        client
            .map(|client| client.name.clone())
            .or_else(comm)
            .unwrap_or_else(|| "?".to_owned())
    }

    /// Returns `48271 git` for a sentence.
    pub(crate) fn call(&self, key: ProcessKey) -> String {
        format!("{} {}", key.pid, self.name_of(key))
    }

    /// Returns the process with a pid.
    pub(crate) fn by_pid(&self, pid: Pid) -> Option<&'a Process> {
        self.sample.process(pid)
    }
}

/// Makes a fact that decides.
pub(crate) fn strong(code: &str, text: impl Into<String>, source: impl Into<String>) -> Fact {
    fact(code, text, source, Weight::Strong)
}

/// Makes a fact that speaks for a finding.
pub(crate) fn supporting(code: &str, text: impl Into<String>, source: impl Into<String>) -> Fact {
    fact(code, text, source, Weight::Supporting)
}

/// Makes a fact that is good to know.
pub(crate) fn context(code: &str, text: impl Into<String>, source: impl Into<String>) -> Fact {
    fact(code, text, source, Weight::Context)
}

fn fact(code: &str, text: impl Into<String>, source: impl Into<String>, weight: Weight) -> Fact {
    Fact {
        code: code.to_owned(),
        text: text.into(),
        source: source.into(),
        weight,
    }
}
