//! Judges a sample. Pure: the same sample, the same previous one and the same knowledge give the
//! same judgement.
//!
//! The order of one judgement: who is what by itself (`identify`), who belongs together (`group`),
//! whose wire leads where (`wire`, `finding`), what became of the parent (`lineage`), what else was
//! seen (`facts`), what it can reach (`reach`, `letters`), which are copies of each other (`generations`).

mod aftermath;
mod arguments;
mod assemble;
mod container;
mod court;
pub mod diff;
mod ends;
mod explain;
mod facts;
mod finding;
mod generations;
mod group;
mod identify;
mod interest;
mod letters;
mod lineage;
mod listeners;
mod masters;
mod names;
pub mod plan;
mod reach;
mod relay;
pub mod since;
#[cfg(test)]
mod situations;
mod source;
mod ssh;
#[cfg(test)]
pub(crate) mod testkit;
mod tree;
mod unseen;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::model::identity::ProcessKey;
use crate::model::instance::Judged;
use crate::model::known::Configured;
use crate::model::sample::Sample;
use crate::model::world::World;

pub use aftermath::{Departed, Successor, aftermath, returned};
pub use diff::diff;
pub use explain::{Explanation, explain};
pub use identify::Identities;
pub use interest::{Places, interest, places};
pub use ssh::of_lead as control_path;

/// What the judgement knows beside the sample: rules, and clients' configurations.
#[derive(Clone, Debug)]
pub struct Known {
    /// Rules and client definitions.
    pub catalog: Arc<Catalog>,
    /// Entries of the configuration files that were found.
    pub configured: Arc<Configured>,
}

/// What one judgement hands to the next.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Who is what: taken over where argv and configuration did not change.
    pub identities: Identities,
    /// Since when a process has been seen as a zombie, milliseconds since boot.
    zombies: BTreeMap<ProcessKey, u64>,
    /// What leads were called.
    letters: letters::Letters,
    /// Whether a second look can change a finding.
    needs_second: bool,
}

impl Memory {
    /// Returns whether a second look, at least two seconds later, can change a finding.
    pub fn needs_second(&self) -> bool {
        self.needs_second
    }
}

/// Judges a sample. `previous` is the world before it, of the same run; `memory` what the judgement
/// of it left, renewed by this one.
pub fn judge(sample: &Sample, previous: Option<&World>, known: &Known, memory: &mut Memory) -> Judged {
    memory.identities = Identities::of(sample, known, &memory.identities);
    let now = sample.since_boot_ms;
    let earlier = std::mem::take(&mut memory.zombies);
    memory.zombies = sample
        .processes
        .values()
        .filter(|process| process.is_zombie())
        .map(|process| (process.key, earlier.get(&process.key).copied().unwrap_or(now)))
        .collect();
    let (mut judged, needs_second) = assemble::assemble(sample, previous, known, memory);
    memory.letters.name(&mut judged.instances);
    memory.needs_second = needs_second;
    judged
}
