//! Which processes an instance cannot be understood without.

use std::collections::BTreeSet;

use crate::model::identity::{Pid, ProcessKey};
use crate::model::instance::Instance;
use crate::model::process::Process;
use crate::model::world::World;

/// Returns the pids of every process with a part in one of the instances, of all their ancestors,
/// and of the other members of their process groups and sessions.
pub(in crate::report) fn around(world: &World, instances: &[&Instance]) -> BTreeSet<Pid> {
    let sample = &world.sample;
    let mut with_part: BTreeSet<ProcessKey> = instances
        .iter()
        .flat_map(|instance| instance.members().map(|(key, _)| key))
        .chain(
            instances
                .iter()
                .filter_map(|instance| instance.client.as_ref().map(|client| client.process)),
        )
        .collect();
    for (key, roles) in &world.judged.roles {
        if roles
            .iter()
            .any(|role| instances.iter().any(|instance| instance.id == role.instance))
        {
            with_part.insert(*key);
        }
    }
    let members: Vec<&Process> = with_part.iter().filter_map(|key| sample.get(*key)).collect();
    let groups: BTreeSet<Pid> = members.iter().filter_map(|process| process.pgid).collect();
    let sessions: BTreeSet<Pid> = members.iter().filter_map(|process| process.sid).collect();
    let mut pids: BTreeSet<Pid> = members.iter().map(|process| process.key.pid).collect();
    for process in &members {
        pids.extend(ancestors(world, process));
    }
    pids.extend(
        sample
            .processes
            .values()
            .filter(|process| {
                process.pgid.is_some_and(|pgid| groups.contains(&pgid))
                    || process.sid.is_some_and(|sid| sessions.contains(&sid))
            })
            .map(|process| process.key.pid),
    );
    pids
}

/// Returns the pids of the ancestors, nearest first. A sample is not atomic: parent pointers read
/// at different times could form a circle, which ends the list.
pub(in crate::report) fn ancestors(world: &World, process: &Process) -> Vec<Pid> {
    let mut seen = vec![process.key.pid];
    let mut next = process.ppid;
    while let Some(parent) = next.and_then(|pid| world.sample.process(pid)) {
        if seen.contains(&parent.key.pid) {
            break;
        }
        seen.push(parent.key.pid);
        next = parent.ppid;
    }
    seen.remove(0);
    seen
}
