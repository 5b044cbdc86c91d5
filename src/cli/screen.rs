//! The live screen: hands the settings to the runtime.

use std::sync::Arc;

use anyhow::Context as _;

use super::config::Settings;
use super::exit::Exit;
use super::machine::Machine;
use crate::analysis;
use crate::app::{Colour, Explainer, Options};
use crate::platform;
use crate::runtime::collector::Collector;
use crate::runtime::{self, RunOptions};

/// Shows the screen until the operator leaves it.
pub(super) fn run(settings: &Settings, machine: &Machine) -> anyhow::Result<Exit> {
    let (source, os) = platform::system().context("open the process table")?;
    let collector = Collector::beside(source, Arc::clone(machine.catalog()), os);
    let knowledge = collector.knowledge();
    let screen = Options {
        read_only: settings.read_only,
        ascii: settings.ascii,
        colour: Colour::Many,
        refresh_ms: settings.refresh_ms,
        redactor: machine.screen_redactor(),
        keep_redactor: Arc::clone(machine.redactor()),
        explainer: Explainer::new(move |world, process| {
            analysis::explain(world, &knowledge.known(), process)
        }),
    };
    runtime::run(RunOptions {
        screen,
        collector,
        rules: machine.rules().to_owned(),
    })?;
    Ok(Exit::Done)
}
