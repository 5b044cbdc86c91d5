//! `diff`: what changed between two snapshots.

use std::fmt::Write as _;

use anyhow::Context as _;

use super::args::keep::DiffArgs;
use super::exit::Exit;
use super::machine::Machine;
use super::{output, saved};
use crate::analysis::diff::{Change, Difference, diff};
use crate::model::identity::InstanceId;
use crate::model::world::World;
use crate::report::{Diff, Secrets};
use crate::text::Safe;

/// Runs the command.
pub(super) fn run(args: &DiffArgs, machine: &Machine) -> anyhow::Result<Exit> {
    let earlier = saved::load(&args.a)?;
    let later = saved::load(&args.b)?;
    let (earlier, later) = (earlier.world(), later.world());
    if earlier.sample.taken_at > later.sample.taken_at {
        output::say("the first snapshot was taken after the second one");
    }
    let difference = diff(earlier, later);
    if args.json {
        let diff = Diff::new(earlier, later, &difference, Secrets::Removed(machine.redactor()));
        let text = serde_json::to_string_pretty(&diff).context("write JSON")?;
        output::print(format!("{text}\n").as_bytes())?;
        return Ok(Exit::Done);
    }
    let text = Page {
        earlier,
        later,
        machine,
    }
    .told(&difference);
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}

struct Page<'a> {
    earlier: &'a World,
    later: &'a World,
    machine: &'a Machine,
}

impl Page<'_> {
    /// Returns what came, what went, what changed; instances first.
    fn told(&self, difference: &Difference) -> String {
        let mut out = String::new();
        let head = |world: &World| {
            format!(
                "{} {}",
                Safe::from_bytes(world.sample.host.hostname.as_bytes()),
                world.sample.taken_at.rfc3339()
            )
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{} -> {}", head(self.earlier), head(self.later));
        if !difference.same_boot {
            out.push_str("another machine or another boot: no process of one is one of the other\n");
        }
        for id in &difference.gone {
            let _ = writeln!(out, "- {}", self.instance(self.earlier, *id));
        }
        for id in &difference.appeared {
            let _ = writeln!(out, "+ {}", self.instance(self.later, *id));
        }
        for changed in &difference.changed {
            let _ = writeln!(out, "~ {}", self.instance(self.later, changed.id));
            for change in &changed.changes {
                let _ = writeln!(out, "    {}", self.change(change));
            }
        }
        let _ = writeln!(
            out,
            "processes: {} came, {} went",
            difference.processes_appeared, difference.processes_gone
        );
        out
    }

    fn instance(&self, world: &World, id: InstanceId) -> String {
        let Some(instance) = world.judged.instance(id) else {
            return id.to_string();
        };
        format!(
            "{} {id} {}",
            self.safe(&instance.name.lossy()),
            instance.finding.word()
        )
    }

    fn change(&self, change: &Change) -> String {
        match (&change.from, &change.to) {
            (Some(from), Some(to)) => {
                format!("{}: {} -> {}", change.what, self.safe(from), self.safe(to))
            }
            (Some(from), None) => format!("{}: {} -> none", change.what, self.safe(from)),
            (None, Some(to)) => format!("{}: none -> {}", change.what, self.safe(to)),
            (None, None) => change.what.to_owned(),
        }
    }

    fn safe(&self, text: &str) -> Safe {
        Safe::from_text(&self.machine.secrets().line(text))
    }
}
