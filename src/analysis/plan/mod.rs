//! Plans a signal: whom the chosen rows mean, what is offered beside them, who is refused, and what
//! the signal would bring with it. Pure: says, sends nothing.

mod consequence;
mod launcher;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::model::act::Target;
use crate::model::identity::{InstanceId, Pid, ProcessKey};
use crate::model::instance::{Instance, Role};
use crate::model::plan::{Beside, Chosen, Item, MOST_TARGETS, NoPlan, Plan, Refusal};
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::model::world::World;

pub use consequence::{LOSES_NOBODY, consequences, fate, takes_along};

/// Plans a signal to what these rows of a world mean.
///
/// An instance means its server, with launchers and helpers offered beside it; a process means
/// itself. Chosen twice is meant once.
pub fn plan(world: &World, chosen: &[Chosen]) -> Result<Plan, NoPlan> {
    let wanted: BTreeSet<ProcessKey> = chosen
        .iter()
        .filter_map(|one| match one {
            Chosen::Instance(id) => world.judged.instance(*id).map(Instance::lead_process),
            Chosen::Process(key) => Some(*key),
        })
        .collect();
    if wanted.len() > MOST_TARGETS {
        return Err(NoPlan::TooMany(wanted.len()));
    }
    let mut items: Vec<Item> = Vec::new();
    for key in chosen.iter().flat_map(|one| listed(world, *one)) {
        if items.iter().any(|item| item.target.key == key) {
            continue;
        }
        let ticked = wanted.contains(&key);
        items.extend(item(world, key, ticked));
    }
    let wanted: Vec<&Item> = items
        .iter()
        .filter(|item| wanted.contains(&item.target.key))
        .collect();
    if wanted.is_empty() {
        return Err(NoPlan::Gone);
    }
    if wanted.iter().all(|item| item.refused.is_some()) {
        let all = wanted
            .iter()
            .filter_map(|item| Some((item.pid(), item.refused.clone()?)));
        return Err(NoPlan::Refused(all.collect()));
    }
    let beside = beside(world, &items);
    Ok(Plan { items, beside })
}

/// The processes that a row lists, the one it means first.
fn listed(world: &World, chosen: Chosen) -> Vec<ProcessKey> {
    match chosen {
        Chosen::Process(key) => vec![key],
        Chosen::Instance(id) => world.judged.instance(id).map_or_else(Vec::new, |instance| {
            let lead = instance.lead_process();
            let others = instance.members().map(|(key, _)| key).filter(|key| *key != lead);
            std::iter::once(lead).chain(others).collect()
        }),
    }
}

fn item(world: &World, key: ProcessKey, ticked: bool) -> Option<Item> {
    let process = world.sample.get(key)?;
    let refused = refusal(&world.sample, process);
    Some(Item {
        target: Target::of(&world.sample, key, member(world, key))?,
        name: name(process),
        ticked: ticked && refused.is_none(),
        refused,
    })
}

/// Returns the instance that a process is a member of, and as what.
fn member(world: &World, key: ProcessKey) -> Option<(InstanceId, Role)> {
    let roles = world.judged.roles.get(&key)?;
    roles
        .iter()
        .find(|one| one.role != Role::Client)
        .map(|one| (one.instance, one.role))
}

/// Returns why a process is never signalled.
pub fn refusal(sample: &Sample, process: &Process) -> Option<Refusal> {
    let pid = process.key.pid;
    if pid == Pid::INIT {
        Some(Refusal::FirstProcess)
    } else if process.kernel_thread {
        Some(Refusal::KernelThread)
    } else if pid == sample.observer.pid {
        Some(Refusal::Own)
    } else if sample.observer.ancestors.contains(&pid) {
        Some(Refusal::Ancestor)
    } else if process.is_zombie() {
        Some(Refusal::Exited { parent: process.ppid })
    } else {
        None
    }
}

/// The processes of the same groups that are not listed: a signal to the group would hit them.
fn beside(world: &World, items: &[Item]) -> Vec<Beside> {
    let groups: BTreeSet<Pid> = items
        .iter()
        .filter(|item| item.ticked)
        .filter_map(|item| world.sample.get(item.target.key)?.pgid)
        .collect();
    let listed: BTreeSet<ProcessKey> = items.iter().map(|item| item.target.key).collect();
    let processes = world.sample.processes.values();
    processes
        .filter(|process| process.pgid.is_some_and(|group| groups.contains(&group)))
        .filter(|process| !listed.contains(&process.key))
        .map(|process| Beside {
            pid: process.key.pid,
            text: format!("same group, {}", belongs(world, process)),
        })
        .collect()
}

/// Returns what a process that was not chosen belongs to.
fn belongs(world: &World, process: &Process) -> String {
    if let Some(client) = world.judged.clients.get(&process.key) {
        return format!("{}, a client", client.name);
    }
    match member(world, process.key) {
        Some((id, role)) => {
            let name = world.judged.instance(id).map_or_else(
                || "another server".to_owned(),
                |one| format!("{} {}", one.name.lossy(), one.lead_process().pid),
            );
            format!("{} of {name}", role.word())
        }
        None => format!("{}, part of no server", name(process)),
    }
}

/// Returns the short name of a process: its program, or the first word of a title, else its comm.
fn name(process: &Process) -> String {
    let first = process.args().first();
    let program = first.map(|first| match first.as_bytes() {
        // A rewritten title stands in one element; a path may have blanks too.
        title if !title.starts_with(b"/") && title.contains(&b' ') => {
            title.split(|byte| *byte == b' ').next().unwrap_or(title)
        }
        _ => first.basename(),
    });
    let program = program.filter(|name| !name.is_empty() && !name.contains(&b' ') && name.len() <= 64);
    String::from_utf8_lossy(program.unwrap_or(process.comm.as_bytes())).into_owned()
}

/// Returns `ssh 48290`, for a sentence.
fn call(world: &World, key: ProcessKey) -> String {
    let client = world.judged.clients.get(&key).map(|client| client.name.clone());
    let process = world.sample.get(key).map(name);
    let name = client.or(process).unwrap_or_else(|| "process".to_owned());
    format!("{name} {}", key.pid)
}
