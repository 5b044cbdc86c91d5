//! The live screen: hands the settings to the runtime.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use super::config::Settings;
use super::exit::Exit;
use super::machine::Machine;
use super::saved;
use crate::analysis;
use crate::app::{Colour, Explainer, Options};
use crate::platform::{self, Ability, own};
use crate::runtime::collector::{Collector, Knowledge};
use crate::runtime::{self, RunOptions, Saved, Worlds};

/// Shows the screen until the operator leaves it.
pub(super) fn run(settings: &Settings, machine: &Machine) -> anyhow::Result<Exit> {
    let system = platform::system(ability(settings)).context("open the process table")?;
    let collector = Collector::beside(system.source, Arc::clone(machine.catalog()), system.os);
    let knowledge = collector.knowledge();
    let screen = options(settings, machine, knowledge, None);
    runtime::run(RunOptions {
        screen,
        worlds: Worlds::Live(Box::new(collector), system.signaller),
        rules: machine.rules().to_owned(),
    })?;
    Ok(Exit::Done)
}

/// Under read-only the screen gets nothing to signal with.
fn ability(settings: &Settings) -> Ability {
    if settings.read_only {
        Ability::Looks
    } else {
        Ability::Signals
    }
}

/// Shows what was saved: nothing is sampled, nothing is written.
pub(super) fn open(path: &Path, settings: &Settings, machine: &Machine) -> anyhow::Result<Exit> {
    let read_only = Settings {
        read_only: true,
        ..settings.clone()
    };
    let snapshot = saved::load(path)?;
    if path.as_os_str() == "-" {
        own::read_keys_from_terminal()
            .context("the snapshot came by stdin, and keys come from /dev/tty: open it")?;
    }
    let knowledge = Knowledge::fixed(saved::known(&snapshot, machine));
    let worlds = if path.is_dir() {
        Saved::Incident(path.to_path_buf())
    } else {
        Saved::Snapshot(Arc::clone(snapshot.world()))
    };
    let origin = format!("{} by {}", path.display(), snapshot.program());
    let screen = options(&read_only, machine, knowledge.clone(), Some(origin));
    runtime::run(RunOptions {
        screen,
        worlds: Worlds::Saved(worlds, knowledge),
        rules: machine.rules().to_owned(),
    })?;
    Ok(Exit::Done)
}

fn options(settings: &Settings, machine: &Machine, knowledge: Knowledge, origin: Option<String>) -> Options {
    Options {
        origin,
        read_only: settings.read_only,
        ascii: settings.ascii,
        colour: Colour::Many,
        refresh_ms: settings.refresh_ms,
        commands: settings.commands.clone().into(),
        second_look_ms: settings.second_look_ms,
        redactor: machine.screen_redactor(),
        keep_redactor: Arc::clone(machine.redactor()),
        explainer: Explainer::new(move |world, process| {
            analysis::explain(world, &knowledge.known(), process)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{Settings, ability};
    use crate::platform::Ability;

    #[test]
    fn read_only_leaves_nothing_to_signal_with() {
        let found = [true, false].map(|read_only| {
            ability(&Settings {
                refresh_ms: 1000,
                second_look_ms: 2000,
                read_only,
                ascii: false,
                catalogs: Vec::new(),
                commands: Vec::new(),
                warnings: Vec::new(),
            })
        });
        assert_eq!(found, [Ability::Looks, Ability::Signals]);
    }
}
