//! Why a process is, or is not, taken for an MCP server, in sentences.

use crate::catalog::{EntryMatch, Seen, Verdict};
use crate::model::identity::ProcessKey;
use crate::model::instance::{Instance, Role};
use crate::model::known::ConfiguredServer;
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
    sentences.extend(equal_entries(world, known, &seen));
    sentences
}

/// An entry that equals it is told once, with every client that reads its file: some read the files of others.
fn equal_entries(world: &World, known: &Known, seen: &Seen<'_>) -> Vec<String> {
    let mut told: Vec<Equal<'_>> = Vec::new();
    for entry in &known.configured.servers {
        let Some(how) = known.catalog.matches(entry, seen) else {
            continue;
        };
        let client = (entry.client.as_str(), entry.client_name.as_str());
        let same = |one: &&mut Equal<'_>| {
            one.entry.file == entry.file && one.entry.name == entry.name && one.how.lossy == how.lossy
        };
        match told.iter_mut().find(same) {
            Some(one) => one.clients.push(client),
            None => told.push(Equal {
                entry,
                how,
                clients: vec![client],
            }),
        }
    }
    told.into_iter()
        .map(|mut one| {
            one.clients.dedup();
            let loss = if one.how.lossy {
                ", with something lost on the way"
            } else {
                ""
            };
            format!(
                "equals the entry {} of {} in {}{loss}: {}",
                one.entry.name.lossy(),
                readers(world, &one.clients),
                one.entry.file.lossy(),
                one.how.because
            )
        })
        .collect()
}

/// An entry that equals the command line, and whose it is.
struct Equal<'a> {
    entry: &'a ConfiguredServer,
    how: EntryMatch,
    /// Id and name, in the order of the catalogue.
    clients: Vec<(&'a str, &'a str)>,
}

/// Names the clients that read a file; of several, which of them run.
fn readers(world: &World, clients: &[(&str, &str)]) -> String {
    let runs = |id: &str| world.judged.clients.values().any(|client| client.id == id);
    let one = clients.len() == 1;
    let names = clients.iter().map(|(id, name)| match (one, runs(id)) {
        (true, _) => (*name).to_owned(),
        (false, true) => format!("{name} (running)"),
        (false, false) => format!("{name} (not running)"),
    });
    names.collect::<Vec<_>>().join(" and ")
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
    let equal = match (configured.servers.len(), configured.files.len()) {
        (_, 0) => "configured: no configuration file of a client was found".to_owned(),
        (0, files) => format!("configured: no server is in the configuration files that were read ({files})"),
        (entries, files) => format!("configured: none of {entries} entries in {files} files equals it"),
    };
    let unread = configured
        .problems
        .iter()
        .map(|problem| format!("not read: {}: {}", problem.what, problem.detail));
    std::iter::once(equal).chain(unread).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::analysis::testkit::{Machine, Run, instance};
    use crate::model::bytes::OsBytes;
    use crate::model::host::Os;
    use crate::model::known::Configured;

    /// Warp reads Codex's file too: the entry is told once, the file's own client first.
    #[test]
    fn a_file_that_two_clients_read_names_both_and_says_which_one_runs() {
        let home: OsBytes = "/home/user".into();
        let file: OsBytes = "/home/user/.codex/config.toml".into();
        let text = b"[mcp_servers.tool]\ncommand = \"/opt/tool\"\nargs = [\"serve\"]\n";
        let mut run = Run::new();
        let catalog = Arc::clone(&run.known.catalog);
        let servers = catalog
            .config_files(Os::Linux)
            .iter()
            .filter(|one| one.path == "~/.codex/config.toml")
            .flat_map(|one| catalog.parse_config(one.index, &file, &home, None, text).unwrap())
            .collect::<Vec<_>>();
        assert_eq!(servers.len(), 2, "Codex and Warp");
        run.known.configured = Arc::new(Configured {
            servers,
            ..Configured::default()
        });
        let mut machine = Machine::new();
        machine.add(10, 1, "codex");
        let key = machine.add(20, 10, "/opt/tool serve").key;
        let judged = run.judge(&machine);
        let by = &instance(&judged, 20).identified_by;
        assert_eq!(by.client.as_deref(), Some("Codex"));
        let world = World {
            seq: 1,
            sample: machine.sample(),
            judged,
            complete: true,
        };
        let because = explain(&world, &run.known, key).because;
        let told: Vec<&String> = because
            .iter()
            .filter(|line| line.starts_with("equals the entry"))
            .collect();
        assert_eq!(told.len(), 1, "{because:?}");
        let wanted = "equals the entry tool of Codex (running) and Warp (not running) in /home/user/.codex/config.toml";
        assert!(told[0].starts_with(wanted), "{told:?}");
    }
}
