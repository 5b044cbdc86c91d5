//! Worlds that were saved: a file, stdin, or the newest snapshot of an incident.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::machine::Machine;
use crate::analysis::Known;
use crate::model::known::Configured;
use crate::store::{Incident, Snapshot, StoreError};

/// Reads a snapshot; `-` means stdin, a directory the newest snapshot of the incident in it.
pub(super) fn load(path: &Path) -> Result<Snapshot, StoreError> {
    if path.as_os_str() == "-" {
        return Snapshot::read(&mut io::stdin().lock(), "stdin");
    }
    if path.is_dir() {
        return Incident::for_reading(path.to_path_buf()).newest_snapshot();
    }
    Snapshot::load(path)
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
