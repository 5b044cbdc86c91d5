//! Twins and generations: the same server several times under one client.

use std::collections::BTreeMap;

use crate::model::identity::{Pid, ProcessKey, StartKey};
use crate::model::instance::{Instance, OwnerKey};
use crate::model::sample::Sample;

/// Servers of one name and client whose starts lie this close to the first are one generation.
const GENERATION_MS: u64 = 10_000;

/// Fills `twins`, `generation` and `older_twin` of every instance.
pub(crate) fn fill(sample: &Sample, instances: &mut [Instance]) {
    let mut families: BTreeMap<(OwnerKey, Vec<u8>), Vec<usize>> = BTreeMap::new();
    // Without a client there is no session that a younger one could have replaced.
    for (index, instance) in instances
        .iter()
        .enumerate()
        .filter(|(_, one)| one.client.is_some())
    {
        families
            .entry((instance.owner.clone(), instance.name.as_bytes().to_vec()))
            .or_default()
            .push(index);
    }
    for family in families.into_values() {
        number_generations(sample, instances, family);
    }
    let twins = twins(sample, instances);
    for (instance, twins) in instances.iter_mut().zip(twins) {
        instance.twins = twins;
    }
}

fn number_generations(sample: &Sample, instances: &mut [Instance], mut family: Vec<usize>) {
    let start = |index: &usize| instances[*index].lead_process().start;
    family.sort_by_key(start);
    let mut first: Option<StartKey> = None;
    let mut generation = 0;
    let mut numbers = Vec::with_capacity(family.len());
    for index in &family {
        let started = start(index);
        if first.is_none_or(|first| apart_ms(sample, first, started) > GENERATION_MS) {
            first = Some(started);
            generation += 1;
        }
        numbers.push(generation);
    }
    for (index, number) in family.into_iter().zip(numbers) {
        instances[index].generation = number;
        instances[index].older_twin = number < generation;
    }
}

fn apart_ms(sample: &Sample, earlier: StartKey, later: StartKey) -> u64 {
    let units = later.0.saturating_sub(earlier.0);
    units.saturating_mul(1000) / sample.host.start_units_per_second.max(1)
}

/// Same argv, same working directory, same client.
fn twins(sample: &Sample, instances: &[Instance]) -> Vec<Vec<Pid>> {
    type Same = (Vec<Vec<u8>>, Option<Vec<u8>>, Option<ProcessKey>);
    let same = |instance: &Instance| -> Option<Same> {
        let process = sample.get(instance.lead_process())?;
        let argv: Vec<Vec<u8>> = process.args().iter().map(|one| one.as_bytes().to_vec()).collect();
        let cwd = process.cwd.value().map(|cwd| cwd.as_bytes().to_vec());
        (!argv.is_empty()).then(|| (argv, cwd, instance.client.as_ref().map(|client| client.process)))
    };
    let mut groups: BTreeMap<Same, Vec<Pid>> = BTreeMap::new();
    let keys: Vec<Option<Same>> = instances.iter().map(same).collect();
    for (instance, key) in instances.iter().zip(&keys) {
        if let Some(key) = key {
            groups
                .entry(key.clone())
                .or_default()
                .push(instance.lead_process().pid);
        }
    }
    instances
        .iter()
        .zip(keys)
        .map(|(instance, key)| {
            let own = instance.lead_process().pid;
            let group = key.and_then(|key| groups.get(&key));
            group.map_or_else(Vec::new, |pids| {
                pids.iter().copied().filter(|pid| *pid != own).collect()
            })
        })
        .collect()
}
