//! `snapshot`: takes one and writes it.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::bail;

use super::args::keep::SnapshotArgs;
use super::config::Settings;
use super::exit::Exit;
use super::machine::Machine;
use super::{keeping, output};
use crate::journal::Operator;
use crate::journal::entry::SnapshotReason;
use crate::platform;
use crate::store::{Snapshot, StoreError};

/// Runs the command.
pub(super) fn run(args: &SnapshotArgs, settings: &Settings, machine: &Machine) -> anyhow::Result<Exit> {
    let output = args.output.as_deref();
    let to_stdout = output == Some(Path::new("-"));
    if settings.read_only && !to_stdout {
        bail!("no file is written, read-only holds: `mcpwake snapshot -o -` writes to stdout");
    }
    if let Some(path) = output.filter(|path| !args.force && path.is_file()) {
        bail!(
            "{} is there already, and nothing is written: --force overwrites it",
            path.display()
        );
    }
    let (world, known) = machine.settled(None)?;
    let snapshot = Snapshot::new(
        &world,
        &known.configured.servers,
        machine.rules(),
        platform::wall_clock(),
        machine.redactor(),
    );
    match output {
        Some(_) if to_stdout => {
            let mut stdout = io::BufWriter::new(io::stdout().lock());
            snapshot.write(&mut stdout)?;
            stdout.flush()?;
        }
        Some(path) => snapshot.save_as(path)?,
        None => {
            let store = keeping::store(settings, machine, world.sample.observer.uid)?;
            let operator = Operator::from(&world.sample.observer);
            let kept = match store.find(None, &operator) {
                Ok(incident) => incident.save(&snapshot, SnapshotReason::Command, &operator)?.0,
                Err(StoreError::NoIncident { .. }) => store.save_loose(&snapshot)?,
                Err(error) => return Err(error.into()),
            };
            let said = format!("{}\n", kept.path.display());
            output::say(&format!("{} bytes, sha256 {}", kept.bytes, kept.sha256));
            output::print(said.as_bytes())?;
        }
    }
    Ok(Exit::Done)
}
