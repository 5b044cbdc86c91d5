//! What changed between two samples: which instances came, went, or are judged otherwise now.

use std::collections::BTreeMap;

use crate::model::finding::{Lead, LeadKind};
use crate::model::identity::{InstanceId, ProcessKey};
use crate::model::instance::Instance;
use crate::model::sample::Sample;
use crate::model::world::World;

/// The difference of two worlds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Whether both are of one boot of one machine; else no process of one is one of the other.
    pub same_boot: bool,
    /// Instances that only the later one has.
    pub appeared: Vec<InstanceId>,
    /// Instances that only the earlier one has.
    pub gone: Vec<InstanceId>,
    /// Instances that both have and that differ.
    pub changed: Vec<Changed>,
    /// Number of processes that only the later one has.
    pub processes_appeared: u64,
    /// Number of processes that only the earlier one has.
    pub processes_gone: u64,
}

/// An instance that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The instance.
    pub id: InstanceId,
    /// What differs.
    pub changes: Vec<Change>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What: `finding`, `client`, `lead`, …
    pub what: &'static str,
    /// How it was; `None`: it was not there.
    pub from: Option<String>,
    /// How it is; `None`: it is not there.
    pub to: Option<String>,
}

/// Compares two worlds.
pub fn diff(earlier: &World, later: &World) -> Difference {
    let same_boot = earlier.sample.host.boot_id == later.sample.host.boot_id;
    let before = by_id(earlier);
    let after = by_id(later);
    let mut difference = Difference {
        same_boot,
        ..Difference::default()
    };
    let keep =
        |id: &InstanceId, others: &BTreeMap<InstanceId, &Instance>| same_boot && others.contains_key(id);
    difference.appeared = after.keys().filter(|id| !keep(id, &before)).copied().collect();
    difference.gone = before.keys().filter(|id| !keep(id, &after)).copied().collect();
    for (id, was) in before.iter().filter(|_| same_boot) {
        let changes = after.get(id).map_or_else(Vec::new, |is| changes(was, is));
        if !changes.is_empty() {
            difference.changed.push(Changed { id: *id, changes });
        }
    }
    difference.processes_appeared = only_in(&later.sample, &earlier.sample, same_boot);
    difference.processes_gone = only_in(&earlier.sample, &later.sample, same_boot);
    difference
}

fn by_id(world: &World) -> BTreeMap<InstanceId, &Instance> {
    world
        .judged
        .instances
        .iter()
        .map(|instance| (instance.id, instance))
        .collect()
}

fn only_in(sample: &Sample, other: &Sample, same_boot: bool) -> u64 {
    let missing = sample
        .processes
        .values()
        .filter(|process| !same_boot || other.get(process.key).is_none());
    missing.count() as u64
}

fn changes(was: &Instance, is: &Instance) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut compare = |what, from: Option<String>, to: Option<String>| {
        if from != to {
            changes.push(Change { what, from, to });
        }
    };
    let word = |text: &str| Some(text.to_owned());
    compare("finding", word(was.finding.word()), word(is.finding.word()));
    compare("client", client(was), client(is));
    compare("adopter", adopter(was), adopter(is));
    compare(
        "server",
        was.server.map(|key| key.to_string()),
        is.server.map(|key| key.to_string()),
    );
    compare("launchers", pids(&was.launchers), pids(&is.launchers));
    compare("helpers", pids(&was.helpers), pids(&is.helpers));
    let twin = |instance: &Instance| {
        instance
            .older_twin
            .then(|| "a younger one of the same server exists".to_owned())
    };
    compare("older twin", twin(was), twin(is));
    let leads = |instance: &Instance| -> BTreeMap<(LeadKind, Vec<u8>), String> {
        let leads = instance.reach.iter().flatten();
        leads.map(|lead| (authority(lead), told(lead))).collect()
    };
    // Where nobody looked, nothing can have come or gone.
    if was.reach.is_some() && is.reach.is_some() {
        let (before, after) = (leads(was), leads(is));
        for (authority, lead) in &before {
            if !after.contains_key(authority) {
                compare("lead", Some(lead.clone()), None);
            }
        }
        for (authority, lead) in &after {
            if !before.contains_key(authority) {
                compare("lead", None, Some(lead.clone()));
            }
        }
    }
    changes
}

fn authority(lead: &Lead) -> (LeadKind, Vec<u8>) {
    (lead.kind, lead.target.as_bytes().to_vec())
}

fn told(lead: &Lead) -> String {
    format!("{} {} of {}", lead.kind.word(), lead.target.lossy(), lead.pid)
}

fn client(instance: &Instance) -> Option<String> {
    let client = instance.client.as_ref()?;
    let place = if client.on_wire { "" } else { ", not on the wire" };
    Some(format!("{} {}{place}", client.process.pid, client.name.lossy()))
}

fn adopter(instance: &Instance) -> Option<String> {
    let adopter = instance.adopter.as_ref()?;
    Some(format!("{} ({})", adopter.pid, adopter.kind.word()))
}

fn pids(keys: &[ProcessKey]) -> Option<String> {
    let pids: Vec<String> = keys.iter().map(|key| key.pid.to_string()).collect();
    (!pids.is_empty()).then(|| pids.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testkit::{Machine, once};

    fn world(machine: &Machine) -> World {
        World {
            seq: 1,
            sample: machine.sample(),
            judged: once(machine),
            complete: true,
        }
    }

    /// A client with one server on pipes, and the server's helper.
    fn machine() -> Machine {
        let mut machine = Machine::new();
        machine.add(100, 1, "claude");
        machine.add(200, 100, "python3 -m mcp_server_git --repository /srv/app");
        machine.wire_pipes(100, 200, 9000);
        machine
    }

    #[test]
    fn a_world_does_not_differ_from_itself() {
        let world = world(&machine());
        let same = Difference {
            same_boot: true,
            ..Difference::default()
        };
        assert_eq!(diff(&world, &world), same);
    }

    #[test]
    fn a_client_that_ended_changes_finding_client_and_adopter() {
        let mut machine = machine();
        let before = world(&machine);
        machine.end(100, 1);
        let found = diff(&before, &world(&machine));
        assert_eq!((found.appeared.len(), found.gone.len()), (0, 0));
        assert_eq!((found.processes_appeared, found.processes_gone), (0, 1));
        let [changed] = <[Changed; 1]>::try_from(found.changed).unwrap();
        let what: Vec<&str> = changed.changes.iter().map(|change| change.what).collect();
        assert_eq!(what, ["finding", "client", "adopter"]);
        assert_eq!(changed.changes[0].from.as_deref(), Some("attached"));
        assert_eq!(changed.changes[0].to.as_deref(), Some("severed"));
    }

    #[test]
    fn what_came_and_went_is_named() {
        let mut machine = machine();
        let before = world(&machine);
        machine.add(300, 100, "npx -y @modelcontextprotocol/server-memory");
        machine.wire_pipes(100, 300, 9100);
        let after = world(&machine);
        let came = diff(&before, &after);
        assert_eq!((came.appeared.len(), came.gone.len()), (1, 0));
        let went = diff(&after, &before);
        assert_eq!(went.gone, came.appeared);
        assert_eq!((went.processes_gone, came.processes_appeared), (1, 1));
    }

    #[test]
    fn after_a_reboot_nothing_is_the_same_process() {
        let before = world(&machine());
        let mut after = before.clone();
        after.sample.host.boot_id = "another".to_owned();
        let found = diff(&before, &after);
        assert!(!found.same_boot && found.changed.is_empty());
        assert_eq!((found.appeared.len(), found.gone.len()), (1, 1));
        assert_eq!(found.processes_gone, before.sample.processes.len() as u64);
    }
}
