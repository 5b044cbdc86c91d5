//! Counts by client and server, with generations.

use std::collections::BTreeMap;

use super::cells;
use super::index::Shown;
use super::row::{Figures, Node, RowId};
use crate::model::instance::{Instance, OwnerKey};
use crate::text::Safe;

/// One line of the count: the servers of one name under one owner.
#[derive(Clone, Debug)]
pub struct Count {
    /// Owner as rows name it.
    pub owner: Safe,
    /// Name of the server.
    pub name: Safe,
    /// Their figures.
    pub figures: Figures,
    /// Instances of each generation, the oldest first.
    pub generations: Vec<u32>,
}

/// Counts the instances of a world, most instances first.
pub fn counts(shown: Shown<'_>) -> Vec<Count> {
    let mut groups: BTreeMap<(&OwnerKey, &[u8]), Vec<&Instance>> = BTreeMap::new();
    for instance in &shown.world.judged.instances {
        groups
            .entry((&instance.owner, instance.name.as_bytes()))
            .or_default()
            .push(instance);
    }
    let mut counts: Vec<Count> = groups
        .into_iter()
        .map(|((owner, name), instances)| {
            let mut figures = Figures::default();
            let mut generations: BTreeMap<u32, u32> = BTreeMap::new();
            for instance in instances {
                figures.add(&Figures::of_instance(shown.world, instance));
                *generations.entry(instance.generation).or_default() += 1;
            }
            let node = Node::new(RowId::Owner(owner.clone()), Figures::default());
            Count {
                owner: cells::label(shown, &node),
                name: shown.safe_bytes(name),
                figures,
                generations: generations.into_values().collect(),
            }
        })
        .collect();
    counts.sort_by(|a, b| {
        b.figures
            .instances
            .cmp(&a.figures.instances)
            .then_with(|| (&a.owner, &a.name).cmp(&(&b.owner, &b.name)))
    });
    counts
}
