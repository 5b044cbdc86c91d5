//! `list`: instances or processes, as a table or as JSON.

use std::sync::Arc;

use anyhow::Context as _;

use super::args::List;
use super::exit::Exit;
use super::machine::Machine;
use super::{output, saved};
use crate::report::{self, Selection};

/// Runs the command.
pub(super) fn run(list: List, machine: &Machine) -> anyhow::Result<Exit> {
    if list.all && !list.json && (!list.finding.is_empty() || list.session.is_some()) {
        output::say("--all lists processes: --finding and --session choose instances; leave one of them out");
        return Ok(Exit::Usage);
    }
    let world = match &list.from {
        Some(path) => Arc::clone(saved::load(path)?.world()),
        None if list.once => machine.once()?,
        None => machine.settled(None)?.0,
    };
    let selection = Selection {
        all: list.all,
        findings: list.finding,
        session: list.session,
    };
    let matched = selection
        .instances(&world)
        .iter()
        .any(|instance| list.fail_on.contains(&instance.finding));
    let text = if list.json {
        let inventory = report::inventory(&world, &selection, machine.redactor());
        format!(
            "{}\n",
            serde_json::to_string_pretty(&inventory).context("write JSON")?
        )
    } else {
        for note in report::notes(&world, &selection) {
            output::say(&note);
        }
        report::list(
            &world,
            &selection,
            machine.redactor(),
            machine.secrets(),
            machine.paper(),
        )
    };
    // What was found counts also where nobody reads it to its end.
    match output::print(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    Ok(if matched { Exit::Matched } else { Exit::Done })
}
