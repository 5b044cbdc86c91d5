//! Looks at the parts as the program looks at everything: by the platform's source and the judgement.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::part::Kind;
use super::stage::Stage;
use super::truth::Truth;
use super::within::pause;
use crate::analysis::{self, Known, Memory};
use crate::catalog::Catalog;
use crate::model::host::Os;
use crate::model::identity::Pid;
use crate::model::interest::Interest;
use crate::model::known::Configured;
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::model::world::World;
use crate::platform::{self, Ability, Signaller, Source, SourceError};

/// A zombie is judged after this time.
const SECOND_LOOK_AFTER: Duration = Duration::from_millis(2_050);
/// How long an exited process may take to become a zombie.
const ZOMBIE_WITHIN: Duration = Duration::from_secs(1);

/// Knows the parts as servers, so that they are judged like any other.
const RULE: &str = r#"
[[rules]]
id = "doctor-part"
role = "server"
confidence = "known"
programs = ["mcpwake-doctor-part"]
arguments = [["doctor-part"]]
name = "doctor"
because = "the self-test started it"
evidence = "run"
"#;

/// What reads the system and signals its processes.
pub(super) struct Instruments {
    /// Takes samples.
    pub(super) source: Box<dyn Source>,
    /// Which system it is.
    pub(super) os: Os,
    /// Sends signals.
    pub(super) signaller: Box<dyn Signaller>,
}

impl Instruments {
    /// Opens those of this system.
    pub(super) fn of_this_system() -> Result<Self, SourceError> {
        let platform::System {
            source,
            os,
            signaller,
        } = platform::system(Ability::Signals)?;
        Ok(Self {
            source,
            os,
            signaller,
        })
    }
}

/// What was seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Which system it is.
    pub(super) os: Os,
    /// While every part ran.
    pub(super) alive: World,
    /// After one had exited, two seconds later.
    pub(super) after: World,
}

/// Returns the catalogue with the self-test's own rule.
pub(super) fn known(catalog: Catalog) -> Result<Known, String> {
    let catalog = catalog
        .extended("the self-test's rule", RULE)
        .map_err(|error| error.to_string())?;
    Ok(Known {
        catalog: Arc::new(catalog),
        configured: Arc::new(Configured::default()),
    })
}

/// Looks at the parts of a stage; one of them exits in between.
pub(super) fn observe(
    instruments: &mut Instruments,
    stage: &mut Stage,
    known: &Known,
) -> Result<Seen, SourceError> {
    let truth = stage.truth();
    let mut watcher = Watcher {
        source: instruments.source.as_mut(),
        truth: &truth,
        known,
        memory: Memory::default(),
        seq: 0,
    };
    let alive = watcher.look(None)?;
    stage.let_exit();
    let since = Instant::now();
    let mut after = watcher.look(Some(&alive))?;
    while since.elapsed() < ZOMBIE_WITHIN && !exited(&truth, &after.sample) {
        pause(Duration::from_millis(20));
        after = watcher.look(Some(&after))?;
    }
    pause(SECOND_LOOK_AFTER);
    let after = watcher.look(Some(&after))?;
    Ok(Seen {
        os: instruments.os,
        alive,
        after,
    })
}

fn exited(truth: &Truth, sample: &Sample) -> bool {
    let part = truth.part(Kind::Exits).ok();
    part.and_then(|part| truth.find(sample, part))
        .is_none_or(Process::is_zombie)
}

struct Watcher<'a> {
    source: &'a mut dyn Source,
    truth: &'a Truth,
    known: &'a Known,
    memory: Memory,
    seq: u64,
}

impl Watcher<'_> {
    fn look(&mut self, previous: Option<&World>) -> Result<World, SourceError> {
        let mut sample = self.source.sample()?;
        let own = [sample.observer.pid, Pid::INIT];
        let own = own.iter().filter_map(|pid| sample.process(*pid));
        let parts = self
            .truth
            .parts
            .iter()
            .filter_map(|part| self.truth.find(&sample, part));
        let closely: BTreeSet<_> = own.chain(parts).map(|process| process.key).collect();
        let interest = Interest {
            closely,
            ..Interest::default()
        };
        self.source.look_closer(&mut sample, &interest);
        let judged = analysis::judge(&sample, previous, self.known, &mut self.memory);
        self.seq += 1;
        Ok(World {
            seq: self.seq,
            sample,
            judged,
            complete: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::part;
    use crate::model::bytes::OsBytes;
    use crate::model::instance::Role;

    #[test]
    fn the_rule_knows_a_part_and_nothing_else_does() {
        let arguments = part::arguments(Kind::Pipes, "token", None);
        let argv: Vec<OsBytes> = std::iter::once(OsBytes::from(part::NAME))
            .chain(arguments.into_iter().map(|one| {
                use std::os::unix::ffi::OsStringExt as _;
                OsBytes::from(one.into_vec())
            }))
            .collect();
        let builtin = Catalog::builtin().expect("the built-in catalogue");
        assert!(!builtin.verdict(&argv).mcp);
        let known = known(builtin).expect("the rule");
        let verdict = known.catalog.verdict(&argv);
        assert!(verdict.mcp && verdict.role == Role::Server, "{verdict:?}");
    }
}
