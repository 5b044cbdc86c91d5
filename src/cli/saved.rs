//! Worlds that were saved: a file, stdin, or the newest snapshot of an incident.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::machine::Machine;
use super::output;
use crate::analysis::Known;
use crate::model::identity::Pid;
use crate::model::known::Configured;
use crate::store::{Incident, Snapshot, StoreError};

/// Reads a snapshot; `-` means stdin, a directory the newest snapshot of the incident in it, whose problems
/// are said.
pub(super) fn load(path: &Path) -> Result<Snapshot, StoreError> {
    if path.as_os_str() == "-" {
        return Snapshot::read(&mut io::stdin().lock(), "stdin");
    }
    if path.is_dir() {
        let incident = Incident::for_reading(path.to_path_buf());
        for problem in incident.problems()? {
            output::say(&problem);
        }
        return incident.newest_snapshot();
    }
    Snapshot::load(path)
}

/// Reads what shows a process: of an incident the newest snapshot that has it, and says which one where
/// that is not the newest; a problem of the incident is said.
pub(super) fn load_with(path: &Path, pid: Pid) -> Result<Snapshot, StoreError> {
    if !path.is_dir() {
        return load(path);
    }
    let incident = Incident::for_reading(path.to_path_buf());
    for problem in incident.problems()? {
        output::say(&problem);
    }
    let mut newest = None;
    for (older, taken) in incident.snapshots()?.into_iter().enumerate() {
        let Ok(snapshot) = incident.taken(&taken) else {
            continue;
        };
        if snapshot.world().sample.process(pid).is_some() {
            if older > 0 {
                output::say(&format!(
                    "shown as of {}: {older} newer than {} do not have process {pid}",
                    taken.taken_at.rfc3339(),
                    taken.file.path
                ));
            }
            return Ok(snapshot);
        }
        newest.get_or_insert(snapshot);
    }
    newest.map_or_else(|| incident.newest_snapshot(), Ok)
}

/// Returns what is known of a saved world: the entries that were seen then, the rules of this program.
pub(super) fn known(snapshot: &Snapshot, machine: &Machine) -> Known {
    let configured = Configured {
        servers: snapshot.configured().to_vec(),
        files: Vec::new(),
        problems: Vec::new(),
    };
    Known {
        catalog: Arc::clone(machine.catalog()),
        configured: Arc::new(configured),
    }
}
