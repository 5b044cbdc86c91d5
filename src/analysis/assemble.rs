//! Puts the judgement of a sample together from its parts.

use std::collections::BTreeMap;

use crate::model::bytes::OsBytes;
use crate::model::finding::{Finding, Lineage, Via};
use crate::model::identity::{InstanceId, ProcessKey};
use crate::model::instance::{
    ClientRef, Instance, Judged, KnownClient, LookedAt, OwnerKey, Role, RoleOf, Transport,
};
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::model::world::World;

use super::court::{Court, strong};
use super::finding::{self, Case, Judgement};
use super::group::{self, Draft};
use super::lineage::{self, Descent, Ties};
use super::tree::Tree;
use super::{Known, Memory, container, facts, generations, reach, source};

/// Judges every instance. The second value says whether a second look can change a finding.
pub(super) fn assemble(
    sample: &Sample,
    previous: Option<&World>,
    known: &Known,
    memory: &Memory,
) -> (Judged, bool) {
    let tree = Tree::new(sample);
    let drafts = group::group(
        sample,
        &tree,
        &memory.identities,
        known,
        previous.map(|world| &world.judged),
    );
    let court = Court {
        sample,
        previous,
        tree,
        identities: &memory.identities,
        known,
        zombies: &memory.zombies,
        drafts,
        connections: Court::connections(sample),
        ssh_masters: Court::ssh_masters(sample),
    };
    let cases: Vec<Case<'_, '_>> = court
        .drafts
        .iter()
        .map(|draft| Case::new(&court, draft))
        .collect();
    let judgements: Vec<Judgement> = cases.iter().map(finding::judge).collect();
    let needs_second = judgements.iter().any(|judgement| judgement.needs_second);
    let mut instances: Vec<Instance> = cases
        .iter()
        .zip(&judgements)
        .map(|(case, judgement)| instance(case, judgement, &judgements))
        .collect();
    generations::fill(sample, &mut instances);
    instances.sort_by_key(|instance| (instance.lead_process().start, instance.id));
    let judged = Judged {
        roles: roles(&instances),
        instances,
        clients: clients(&court),
        looked_at: looked_at(known, memory),
        problems: known.configured.problems.clone(),
    };
    (judged, needs_second)
}

fn instance(case: &Case<'_, '_>, judgement: &Judgement, all: &[Judgement]) -> Instance {
    let (court, draft) = (case.court, case.draft);
    let top = draft.top();
    let managed = court.get(top).and_then(|process| manager(court, process));
    let ties = Ties {
        instance: draft.id,
        managed: managed.is_some(),
        judgement,
    };
    let descent = lineage::trace(court, top, ties);
    let client = client(court, draft, judgement);
    let via = via(court, draft, judgement, all);
    let mut found = judgement.facts.clone();
    if let Some(via) = &via {
        let text = format!(
            "its client is itself an MCP server ({}), found {}",
            via.instance,
            via.finding.word()
        );
        found.push(strong("via", text, "/proc/*/fd"));
    }
    found.extend(descent.facts.clone());
    found.extend(facts::of(case, judgement));
    found.sort_by_key(|fact| fact.weight);
    let mut acts_now = facts::acts_now(case);
    for facts in [&mut found, &mut acts_now] {
        source::name(court.sample.host.os, facts);
    }
    let lead = case.chain.first().copied();
    Instance {
        id: draft.id,
        name: name(court, draft, client.as_ref()),
        top,
        server: draft.server,
        launchers: draft.launchers.clone(),
        helpers: draft.helpers.clone(),
        owner: owner(court, draft, client.as_ref(), judgement, &descent),
        identified_by: identification(court, draft, client.as_ref()),
        client,
        transport: transport(judgement),
        finding: judgement.finding,
        lineage: descent.lineage,
        adopter: descent.adopter,
        managed,
        container: lead.and_then(container::of),
        via,
        network: judgement.network.clone(),
        stdio: judgement.stdio.clone(),
        reach: reach::of(case),
        acts_now,
        twins: Vec::new(),
        older_twin: false,
        generation: 1,
        facts: found,
    }
}

fn transport(judgement: &Judgement) -> Transport {
    if judgement.finding == Finding::Network {
        Transport::Network
    } else {
        judgement.transport
    }
}

/// The unit whose main process this is; membership in a unit's control group is not enough:
/// terminals are units too.
fn manager(court: &Court<'_>, process: &Process) -> Option<crate::model::finding::Managed> {
    let unit = court
        .sample
        .units
        .iter()
        .find(|unit| unit.main_pid == Some(process.key.pid))?;
    Some(crate::model::finding::Managed {
        by: unit.manager.clone(),
        unit: unit.name.clone(),
    })
}

/// The client on the wire; else, for a label only, the nearest known client among the ancestors.
fn client(court: &Court<'_>, draft: &Draft, judgement: &Judgement) -> Option<ClientRef> {
    let on_wire = judgement
        .client
        .and_then(|key| court.get(key))
        .map(|process| (process, true));
    let above = || {
        let ancestor = court
            .tree
            .ancestors(draft.top().pid)
            .find(|process| court.is_client(process.key))?;
        Some((ancestor, false))
    };
    let (process, on_wire) = on_wire.or_else(above)?;
    let known = court
        .identities
        .get(process.key)
        .and_then(|identity| identity.client.as_ref());
    Some(ClientRef {
        process: process.key,
        id: known.map(|known| known.id.clone()),
        name: known.map_or_else(|| process.comm.clone(), |known| known.name.as_str().into()),
        state: process.state,
        on_wire,
    })
}

fn via(court: &Court<'_>, draft: &Draft, judgement: &Judgement, all: &[Judgement]) -> Option<Via> {
    let index = court.draft_of(judgement.client?)?;
    let proxy = court.drafts.get(index).filter(|proxy| proxy.id != draft.id)?;
    Some(Via {
        instance: proxy.id,
        finding: all.get(index)?.finding,
    })
}

/// The member that identifies the instance best: the surest, the server before launchers.
fn identified<'c>(
    court: &'c Court<'_>,
    draft: &Draft,
) -> Option<(&'c super::identify::Identity, super::identify::Mark)> {
    draft
        .chain()
        .filter_map(|key| {
            let identity = court.identities.get(key)?;
            Some((identity, identity.mark()?))
        })
        .max_by_key(|(_, mark)| (mark.confidence, std::cmp::Reverse(mark.role)))
}

fn identification(
    court: &Court<'_>,
    draft: &Draft,
    client: Option<&ClientRef>,
) -> crate::model::instance::Identification {
    let client = client.and_then(|client| client.id.as_deref());
    match identified(court, draft) {
        Some((identity, _)) => identity.identification(court.known, client),
        None => crate::model::instance::Identification {
            confidence: crate::model::instance::Confidence::Likely,
            rule: "kept".to_owned(),
            because: "it was identified in an earlier sample of this run".to_owned(),
            client: None,
            file: None,
            server_name: None,
        },
    }
}

fn name(court: &Court<'_>, draft: &Draft, client: Option<&ClientRef>) -> OsBytes {
    if let Some(name) = identification(court, draft, client).server_name {
        return name;
    }
    let argv = draft
        .chain()
        .find_map(|key| Some(court.identities.get(key)?.name()?.to_owned()));
    let comm = || {
        court
            .get(draft.server.unwrap_or(draft.top()))
            .map(|process| process.comm.clone())
    };
    let before = || {
        let previous = court.previous?;
        previous
            .judged
            .instance(draft.id)
            .map(|instance| instance.name.clone())
    };
    argv.map(Into::into)
        .or_else(before)
        .or_else(comm)
        .unwrap_or_default()
}

fn owner(
    court: &Court<'_>,
    draft: &Draft,
    client: Option<&ClientRef>,
    judgement: &Judgement,
    descent: &Descent,
) -> OwnerKey {
    if let Some(client) = client {
        return OwnerKey::Process(client.process);
    }
    let top = court.get(draft.top());
    let denied = judgement
        .facts
        .iter()
        .any(|fact| fact.code == "descriptors_denied");
    if let Some(uid) = top.filter(|_| denied).and_then(|top| top.uid.value()) {
        return OwnerKey::User(*uid);
    }
    let adopter = descent
        .adopter
        .as_ref()
        .and_then(|adopter| court.by_pid(adopter.pid));
    if let Some(adopter) = adopter.filter(|_| descent.lineage == Lineage::Reparented) {
        return OwnerKey::Adopter(adopter.key);
    }
    let parent = court.tree.parent(draft.top().pid).map(|parent| parent.key);
    OwnerKey::Process(parent.unwrap_or_else(|| draft.top()))
}

fn roles(instances: &[Instance]) -> BTreeMap<ProcessKey, Vec<RoleOf>> {
    let mut roles: BTreeMap<ProcessKey, Vec<RoleOf>> = BTreeMap::new();
    let mut add = |key: ProcessKey, instance: InstanceId, role: Role| {
        roles.entry(key).or_default().push(RoleOf { instance, role });
    };
    for instance in instances {
        for (key, role) in instance.members() {
            add(key, instance.id, role);
        }
        if let Some(client) = &instance.client {
            add(client.process, instance.id, Role::Client);
        }
    }
    roles
}

fn clients(court: &Court<'_>) -> BTreeMap<ProcessKey, KnownClient> {
    court
        .identities
        .iter()
        .filter_map(|(key, identity)| {
            let client = identity.client.as_ref()?;
            let known = KnownClient {
                id: client.id.clone(),
                name: client.name.clone(),
                because: client.because.clone(),
            };
            Some((key, known))
        })
        .collect()
}

fn looked_at(known: &Known, memory: &Memory) -> LookedAt {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    LookedAt {
        files: count(known.configured.files.len()),
        entries: count(known.configured.servers.len()),
        running: count(memory.identities.running_entries()),
    }
}
