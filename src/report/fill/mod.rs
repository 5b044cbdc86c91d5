//! Fills `mcpwake.inventory/1` from a judged sample.

mod around;
mod evidence;
mod instance;
mod problems;
mod process;

use std::collections::BTreeSet;

use super::evidence::{Evidence, Identified};
use super::inventory::{Host, Inventory, SCHEMA};
use super::publish::{Secrets, exact};
use super::word;
use crate::model::finding::Finding;
use crate::model::identity::Pid;
use crate::model::instance::Instance;
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::model::world::World;
use crate::text::redact::Redactor;

use around::{ancestors, around};
pub(super) use evidence::evidence as evidence_with;
use instance::instance;
use problems::problems;
use process::process;

/// What of a world is wanted.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Every process, not only those around instances.
    pub all: bool,
    /// Only instances with one of these findings; empty: any.
    pub findings: Vec<Finding>,
    /// Only instances of this session: an identifier in the environment of a member or its
    /// client, or the number of a process session.
    pub session: Option<String>,
}

impl Selection {
    /// Returns the instances that are wanted, in trouble first, then by start.
    pub fn instances<'a>(&self, world: &'a World) -> Vec<&'a Instance> {
        let mut wanted: Vec<&Instance> = world
            .judged
            .instances
            .iter()
            .filter(|instance| self.findings.is_empty() || self.findings.contains(&instance.finding))
            .filter(|instance| {
                self.session
                    .as_ref()
                    .is_none_or(|session| in_session(world, instance, session))
            })
            .collect();
        wanted.sort_by_key(|instance| {
            let lead = instance.lead_process();
            (instance.finding, lead.start, lead.pid)
        });
        wanted
    }
}

/// Returns whether a member of the instance, or its client, carries this session: as the value of
/// an identifier in its environment, or as its process session where `session` is a number.
fn in_session(world: &World, instance: &Instance, session: &str) -> bool {
    let number = session.parse::<i64>().ok().and_then(Pid::new);
    let client = instance.client.as_ref().map(|client| client.process);
    instance.members().map(|(key, _)| key).chain(client).any(|key| {
        let Some(process) = world.sample.get(key) else {
            return false;
        };
        if number.is_some() && process.sid == number {
            return true;
        }
        process.environment.value().is_some_and(|environment| {
            environment.identifiers.iter().any(|(name, value)| {
                // A bare number would match any pid or port that is kept as an identifier.
                (number.is_none() || name.contains("SESSION")) && value.as_bytes() == session.as_bytes()
            })
        })
    })
}

/// Returns the inventory of a world. Always redacted: a file or a pipe is no terminal.
pub fn inventory(world: &World, selection: &Selection, redactor: &Redactor) -> Inventory {
    let secrets = Secrets::Removed(redactor);
    let sample = &world.sample;
    let chosen = selection.instances(world);
    let pids: BTreeSet<Pid> = if selection.all {
        sample.processes.keys().copied().collect()
    } else {
        around(world, &chosen)
    };
    Inventory {
        schema: SCHEMA,
        taken_at: sample.taken_at.rfc3339(),
        host: host(sample),
        instances: chosen.iter().map(|one| instance(one, secrets)).collect(),
        processes: pids
            .iter()
            .filter_map(|pid| sample.process(*pid))
            .map(|one| process(world, one, secrets))
            .collect(),
        problems: problems(world, &pids, None, secrets),
    }
}

/// Returns the evidence on a process of this world. Always redacted.
pub fn evidence(world: &World, subject: &Process, identified: &Identified, redactor: &Redactor) -> Evidence {
    evidence_with(world, subject, identified, Secrets::Removed(redactor))
}

/// Returns the machine and who looked.
fn host(sample: &Sample) -> Host {
    Host {
        hostname: exact(&sample.host.hostname).text,
        os: word::os(sample.host.os),
        kernel: sample.host.kernel.clone(),
        boot_id: sample.host.boot_id.clone(),
        booted_at: sample.host.booted_at.rfc3339(),
        user: exact(&sample.observer.user).text,
        uid: sample.observer.uid,
        visibility: word::visibility(sample.visibility),
        processes: sample.processes.len(),
        readable: sample.readable,
    }
}

#[cfg(test)]
mod tests;
