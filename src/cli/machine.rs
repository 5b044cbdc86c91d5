//! What the commands work with: the catalogue with the operator's additions, and samples of this
//! machine.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::args::{Global, Redact};
use super::config::Settings;
use super::output;
use crate::analysis::Known;
use crate::catalog::Catalog;
use crate::journal::Digest;
use crate::model::identity::Pid;
use crate::model::world::World;
use crate::platform::{self, Ability, System};
use crate::report::{Paper, Secrets};
use crate::runtime::caps::Surroundings;
use crate::runtime::collector::Collector;
use crate::text::redact::Redactor;
use crate::text::width::Glyphs;

/// How long a command may take for a finding that needs two samples.
const BUDGET: Duration = Duration::from_millis(2_500);

/// The catalogue, and how what is found is shown.
#[derive(Debug)]
pub(super) struct Machine {
    catalog: Arc<Catalog>,
    rules: String,
    redactor: Arc<Redactor>,
    show_secrets: bool,
    ascii: bool,
    talks: Talks,
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Talks {
    /// What the operator has to know.
    Usual,
    /// What was looked at, and what it cost.
    More,
}

impl Machine {
    /// Returns the machine with the rules and clients of the configuration files added.
    pub(super) fn new(global: &Global, settings: &Settings) -> anyhow::Result<Self> {
        let mut catalog = Catalog::builtin()?;
        let mut rules = vec![format!("built into mcpwake {}", env!("CARGO_PKG_VERSION"))];
        for addition in &settings.catalogs {
            catalog = catalog.extended(&addition.file, &addition.text)?;
            let digest = Digest::of(addition.text.as_bytes());
            rules.push(format!("{} sha256 {digest}", addition.file));
        }
        Ok(Self {
            catalog: Arc::new(catalog),
            rules: rules.join(", "),
            redactor: Arc::new(Redactor::builtin()?),
            ascii: Surroundings::of_this_process().capabilities(settings.ascii).ascii,
            show_secrets: global.redact == Redact::Off && output::is_terminal(),
            talks: if global.verbose > 0 {
                Talks::More
            } else {
                Talks::Usual
            },
        })
    }

    /// Returns the catalogue.
    pub(super) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Returns which rules judge, for snapshots.
    pub(super) fn rules(&self) -> &str {
        &self.rules
    }

    /// Returns what removes secrets, for JSON: there they are always removed.
    pub(super) fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    /// Returns what removes secrets on the live screen, which is always this terminal.
    pub(super) fn screen_redactor(&self) -> Arc<Redactor> {
        if self.show_secrets {
            Arc::new(Redactor::off())
        } else {
            Arc::clone(&self.redactor)
        }
    }

    /// Returns what is done with secrets in text on stdout.
    pub(super) fn secrets(&self) -> Secrets<'_> {
        if self.show_secrets {
            Secrets::Shown
        } else {
            Secrets::Removed(self.redactor())
        }
    }

    /// Returns where tables go.
    pub(super) fn paper(&self) -> Paper {
        let glyphs = if self.ascii {
            Glyphs::Ascii
        } else {
            Glyphs::Unicode
        };
        Paper {
            columns: output::columns(),
            glyphs,
        }
    }

    /// Takes one sample.
    pub(super) fn once(&self) -> anyhow::Result<Arc<World>> {
        let world = self.collector()?.next(None).context("take a sample")?;
        self.tell(&world);
        Ok(world)
    }

    /// Says what a sample looked at and what it cost, where more is to be said.
    fn tell(&self, world: &World) {
        if self.talks == Talks::More {
            let looked = &world.judged.looked_at;
            output::say(&format!(
                "sample {} at {}: {} processes, {} configuration files with {} entries, {} ms of CPU",
                world.seq,
                world.sample.taken_at.rfc3339(),
                world.sample.processes.len(),
                looked.files,
                looked.entries,
                world.sample.cost_us.div_ceil(1000)
            ));
        }
    }

    /// Takes a sample, and a second one where a finding needs it; the process with this pid gets a
    /// closer look whatever it is.
    pub(super) fn settled(&self, pid: Option<Pid>) -> anyhow::Result<(Arc<World>, Known)> {
        let mut collector = self.collector()?;
        let selected = match pid {
            None => None,
            // A pid is no key: which process it is only a sample can say.
            Some(pid) => {
                let world = collector.next(None).context("take a sample")?;
                let Some(process) = world.sample.process(pid) else {
                    return Ok((world, collector.known()));
                };
                Some(process.key)
            }
        };
        let world = collector.settled(selected, BUDGET).context("take a sample")?;
        self.tell(&world);
        Ok((world, collector.known()))
    }

    fn collector(&self) -> anyhow::Result<Collector> {
        let System { source, os, .. } = platform::system(Ability::Looks).context("open the process table")?;
        Ok(Collector::at_once(source, Arc::clone(&self.catalog), os))
    }
}
