//! What a held sample does not show: which members of instances have gone and come since, and whose
//! finding is another one now. `diff` compares whole instances.

use std::collections::BTreeMap;

use crate::model::finding::Finding;
use crate::model::identity::{InstanceId, Pid, ProcessKey};
use crate::model::world::World;

/// What is different in the later of two worlds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Members of instances that do not run any more, by pid.
    pub gone: Vec<ProcessKey>,
    /// Members of instances that did not run before, by pid.
    pub new: Vec<ProcessKey>,
    /// Instances that are in both, and whose finding is another one, by id.
    pub changed: Vec<Changed>,
}

/// An instance whose finding is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The instance.
    pub instance: InstanceId,
    /// The pid that it is shown with in the later world.
    pub pid: Pid,
    /// Its finding before.
    pub from: Finding,
    /// Its finding now.
    pub to: Finding,
}

impl Since {
    /// Compares two worlds of one boot. Processes are told apart by their keys: a pid that was
    /// used again is one gone and one new.
    pub fn between(before: &World, after: &World) -> Self {
        let findings: BTreeMap<InstanceId, Finding> = before
            .judged
            .instances
            .iter()
            .map(|instance| (instance.id, instance.finding))
            .collect();
        let mut changed: Vec<Changed> = after
            .judged
            .instances
            .iter()
            .filter_map(|instance| {
                let from = *findings.get(&instance.id)?;
                (from != instance.finding).then_some(Changed {
                    instance: instance.id,
                    pid: instance.lead_process().pid,
                    from,
                    to: instance.finding,
                })
            })
            .collect();
        changed.sort_by_key(|one| one.instance);
        Self {
            gone: members_missing_in(before, after),
            new: members_missing_in(after, before),
            changed,
        }
    }

    /// Returns whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.new.is_empty() && self.changed.is_empty()
    }
}

/// The members of the instances of one world whose processes the other does not have.
fn members_missing_in(one: &World, other: &World) -> Vec<ProcessKey> {
    let mut keys: Vec<ProcessKey> = one
        .judged
        .instances
        .iter()
        .flat_map(|instance| instance.members().map(|(key, _)| key))
        .filter(|key| other.sample.get(*key).is_none())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
