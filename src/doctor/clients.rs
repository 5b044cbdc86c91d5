//! Which clients' configuration files are found for this user: counted, never named.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStringExt as _;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::intake::{Intake, Wanted};
use crate::model::bytes::OsBytes;
use crate::model::host::Os;
use crate::model::known::Configured;
use crate::model::reading::Absence;
use crate::model::sample::Sample;
use crate::report::doctor::{Answer, Check};

/// Returns whose files are wanted: those of the user who runs the program.
pub(super) fn wanted(sample: &Sample) -> Wanted {
    let own = sample
        .process(sample.observer.pid)
        .and_then(|own| own.home.clone());
    let named = std::env::var_os("HOME").map(|home| OsBytes::from(home.into_vec()));
    let homes = own.into_iter().chain(named).filter(|home| !home.is_empty());
    Wanted {
        homes: homes.map(|home| (sample.observer.uid, home)).collect(),
        ..Wanted::default()
    }
}

/// Reads them as for a judgement, and counts.
pub(super) fn try_out(catalog: &Arc<Catalog>, os: Os, wanted: &Wanted) -> Check {
    let configured = Intake::new(Arc::clone(catalog), os).read(wanted);
    check(&configured, wanted)
}

fn check(configured: &Configured, wanted: &Wanted) -> Check {
    let check = |answer, seen: String| Check::new("clients", "clients' configurations", answer, seen);
    if wanted.homes.is_empty() {
        return check(
            Answer::Unsupported,
            "this user has no home directory to look into".to_owned(),
        );
    }
    let mut clients: BTreeMap<&str, (BTreeSet<&OsBytes>, usize)> = BTreeMap::new();
    for server in &configured.servers {
        let (files, servers) = clients.entry(&server.client_name).or_default();
        files.insert(&server.file);
        *servers += 1;
    }
    let with_servers: BTreeSet<&OsBytes> = clients.values().flat_map(|(files, _)| files).copied().collect();
    let without = configured
        .files
        .iter()
        .filter(|file| !with_servers.contains(file))
        .count();
    let mut parts: Vec<String> = clients
        .iter()
        .map(|(name, (files, servers))| {
            format!(
                "{name}: {} with {}",
                count(files.len(), "file"),
                count(*servers, "server")
            )
        })
        .collect();
    if without > 0 {
        parts.push(format!("{} without a server", count(without, "file")));
    }
    if parts.is_empty() {
        parts.push("none found for this user; servers are then known by their command lines".to_owned());
    }
    let of = |kind| {
        configured
            .problems
            .iter()
            .filter(|problem| problem.kind == kind)
            .count()
    };
    let (denied, failed) = (of(Absence::Denied), of(Absence::Failed));
    for (number, words) in [
        (denied, "may not be read"),
        (failed, "could not be read or understood"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {words}"));
        }
    }
    let answer = match (denied, failed) {
        (0, 0) => Answer::Works,
        (_, 0) => Answer::Denied,
        _ => Answer::Failed,
    };
    let check = check(answer, parts.join("; "));
    if answer == Answer::Works {
        check
    } else {
        check.advised("`mcpwake list --json` names them under `problems`")
    }
}

fn count(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::known::ConfiguredServer;
    use crate::model::sample::Problem;

    fn server(file: &str, name: &str) -> ConfiguredServer {
        ConfiguredServer {
            client: "cursor".to_owned(),
            client_name: "Cursor".to_owned(),
            file: file.into(),
            scope: "user".to_owned(),
            name: name.into(),
            home: "/home/alice".into(),
            project: None,
            command: "npx".to_owned(),
            args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            disabled: false,
            guess: false,
        }
    }

    #[test]
    fn files_are_counted_and_nobody_is_named() {
        let wanted = Wanted {
            homes: BTreeSet::from([(1000, "/home/alice".into())]),
            ..Wanted::default()
        };
        let mut configured = Configured {
            servers: vec![
                server("/home/alice/.cursor/mcp.json", "a"),
                server("/home/alice/.cursor/mcp.json", "b"),
            ],
            files: vec![
                "/home/alice/.cursor/mcp.json".into(),
                "/home/alice/.claude.json".into(),
            ],
            problems: Vec::new(),
        };
        let found = check(&configured, &wanted);
        assert_eq!(found.answer, Answer::Works);
        assert_eq!(
            found.seen,
            "Cursor: 1 file with 2 servers; 1 file without a server"
        );
        for (kind, answer) in [
            (Absence::Denied, Answer::Denied),
            (Absence::Failed, Answer::Failed),
        ] {
            configured.problems.push(Problem {
                pid: None,
                what: "/home/alice/.codex/config.toml".to_owned(),
                kind,
                detail: "read /home/alice/.codex".to_owned(),
            });
            let found = check(&configured, &wanted);
            assert_eq!(found.answer, answer);
            assert!(!found.seen.contains("alice"), "{}", found.seen);
        }
        assert_eq!(check(&configured, &Wanted::default()).answer, Answer::Unsupported);
    }
}
