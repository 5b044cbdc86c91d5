//! `show PID`: the evidence on one process.

use std::sync::Arc;

use anyhow::Context as _;

use super::args::Show;
use super::exit::Exit;
use super::machine::Machine;
use super::{output, saved};
use crate::analysis::{self, Explanation};
use crate::model::identity::Pid;
use crate::model::process::Process;
use crate::model::world::World;
use crate::report;
use crate::report::evidence::Identified;

/// Runs the command.
pub(super) fn run(show: &Show, machine: &Machine) -> anyhow::Result<Exit> {
    let (world, known) = match &show.from {
        Some(path) => {
            let snapshot = saved::load_with(path, show.pid)?;
            (Arc::clone(snapshot.world()), saved::known(&snapshot, machine))
        }
        None => machine.settled(Some(show.pid))?,
    };
    let Some(process) = find(&world, show.pid) else {
        return Ok(match &show.from {
            Some(path) => {
                output::say(&format!(
                    "no process {} in {}{}, as of {}",
                    show.pid,
                    path.display(),
                    if path.is_dir() {
                        ": in none of its snapshots"
                    } else {
                        ""
                    },
                    world.sample.taken_at.rfc3339()
                ));
                Exit::Failed
            }
            None => no_such_process(show.pid),
        });
    };
    let Explanation {
        headline,
        because,
        near_misses,
    } = analysis::explain(&world, &known, process.key);
    let identified = Identified {
        headline,
        because,
        near_misses,
    };
    let text = if show.json {
        let evidence = report::evidence(&world, process, &identified, machine.redactor());
        format!(
            "{}\n",
            serde_json::to_string_pretty(&evidence).context("write JSON")?
        )
    } else {
        report::show(&world, process, &identified, machine.secrets(), output::columns())
    };
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Returns the process with this pid.
pub(super) fn find(world: &World, pid: Pid) -> Option<&Process> {
    world.sample.process(pid)
}

/// Says that there is no such process.
pub(super) fn no_such_process(pid: Pid) -> Exit {
    output::say(&format!(
        "no process {pid}: it has ended, or it is hidden from this user (hidepid) or lives in another pid \
         namespace; `mcpwake list --all` lists those that can be seen"
    ));
    Exit::Failed
}
