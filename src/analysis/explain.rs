//! Why a process is, or is not, taken for an MCP server, in sentences.

use crate::catalog::{Seen, Verdict};
use crate::model::identity::ProcessKey;
use crate::model::instance::{Instance, Role};
use crate::model::process::Process;
use crate::model::world::World;

use super::Known;
use super::identify;

/// How a process is identified, or why it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// One sentence: what it is taken for.
    pub headline: String,
    /// What decided, one sentence each.
    pub because: Vec<String>,
    /// What nearly matched, and why it did not.
    pub near_misses: Vec<String>,
}

/// Explains how a process of this world is identified.
pub fn explain(world: &World, known: &Known, key: ProcessKey) -> Explanation {
    let Some(process) = world.sample.get(key) else {
        return Explanation {
            headline: format!("{} is not in this sample", key.pid),
            ..Explanation::default()
        };
    };
    let verdict = known.catalog.verdict(process.args());
    let mut explanation = Explanation {
        headline: headline(world, process),
        because: because(world, known, process, &verdict),
        near_misses: verdict
            .near_misses
            .iter()
            .map(|miss| format!("{}: {}", miss.rule, miss.why))
            .collect(),
    };
    if world.judged.instance_of(key).is_none() {
        explanation.near_misses.extend(files_looked_at(known));
    }
    explanation
}

fn headline(world: &World, process: &Process) -> String {
    let key = process.key;
    let roles = world.judged.roles.get(&key).map_or(&[][..], Vec::as_slice);
    let of = |role: &crate::model::instance::RoleOf| {
        let instance = world.judged.instance(role.instance);
        let name = instance.map_or_else(|| "?".to_owned(), |one| one.name.lossy().into_owned());
        format!("{} of {name} ({})", role.role.word(), role.instance)
    };
    if let Some(client) = world.judged.clients.get(&key).filter(|_| roles.is_empty()) {
        return format!("{} is a client: {}", key.pid, client.name);
    }
    if roles.is_empty() {
        return format!("{} is no MCP server, as far as can be told", key.pid);
    }
    format!(
        "{} is {}",
        key.pid,
        roles.iter().map(of).collect::<Vec<_>>().join(", ")
    )
}

fn because(world: &World, known: &Known, process: &Process, verdict: &Verdict) -> Vec<String> {
    let mut sentences = Vec::new();
    if process.kernel_thread {
        sentences.push("it is a thread of the kernel".to_owned());
        return sentences;
    }
    if process.args().is_empty() {
        sentences.push("its argv is empty or could not be read".to_owned());
    }
    if let Some(client) = world.judged.clients.get(&process.key) {
        sentences.push(client.because.clone());
    }
    let instance = world
        .judged
        .instance_of(process.key)
        .and_then(|id| world.judged.instance(id));
    if let Some(instance) = instance {
        sentences.extend(in_instance(instance, process));
    }
    sentences.push(format!("argv alone: {}", verdict.because));
    let seen = Seen {
        argv: process.args(),
        exe: process.exe.value(),
        cwd: process.cwd.value(),
        home: identify::home(process),
        variables: process.environment.value().map(|read| &read.identifiers),
    };
    for entry in &known.configured.servers {
        if let Some(how) = known.catalog.matches(entry, &seen) {
            let loss = if how.lossy {
                ", with something lost on the way"
            } else {
                ""
            };
            sentences.push(format!(
                "equals the entry {} of {} in {}{loss}: {}",
                entry.name.lossy(),
                entry.client_name,
                entry.file.lossy(),
                how.because
            ));
        }
    }
    sentences
}

fn in_instance(instance: &Instance, process: &Process) -> Vec<String> {
    let by = &instance.identified_by;
    let mut sentences = vec![format!(
        "{}, rule {}: {}",
        by.confidence.word(),
        by.rule,
        by.because
    )];
    let overwritten = instance
        .facts
        .iter()
        .filter(|fact| fact.code == "title_overwritten");
    sentences.extend(overwritten.map(|fact| fact.text.clone()));
    let role = instance
        .members()
        .find(|(key, _)| *key == process.key)
        .map(|(_, role)| role);
    match role {
        Some(Role::Helper) => {
            sentences.push("it was started by the server, or stands in its group".to_owned());
        }
        Some(Role::Launcher) => {
            sentences.push("it starts the server and stays between it and the client".to_owned());
        }
        _ => {}
    }
    sentences
}

fn files_looked_at(known: &Known) -> Vec<String> {
    let configured = &known.configured;
    let equal = format!(
        "configured: none of {} entries in {} files equals it",
        configured.servers.len(),
        configured.files.len()
    );
    let unread = configured
        .problems
        .iter()
        .map(|problem| format!("not read: {}: {}", problem.what, problem.detail));
    std::iter::once(equal).chain(unread).collect()
}
