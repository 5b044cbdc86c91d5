//! Takes samples and judges them: one place for the live screen and for one-shot commands.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::analysis::{self, Identities, Known, Memory, Places};
use crate::catalog::Catalog;
use crate::intake::{Intake, IntakeThread, Wanted};
use crate::model::host::Os;
use crate::model::identity::ProcessKey;
use crate::model::interest::Interest;
use crate::model::known::Configured;
use crate::model::sample::Sample;
use crate::model::world::World;
use crate::platform::{Source, SourceError};

/// A finding that needs two samples needs them this far apart.
const SECOND_LOOK_AFTER: Duration = Duration::from_millis(2_050);

/// Looks that the first sample gets beyond one, where one tells of more to look at: processes that
/// only a configuration names, and relays, each behind the other. Later samples learn it from the one
/// before.
const FIRST_LOOKS: usize = 3;

/// Where configurations come from.
enum Files {
    /// Read before each judgement: a one-shot command waits for its files.
    AtOnce(Box<Intake>),
    /// Read beside it: the screen never waits for a file.
    Beside(IntakeThread),
}

/// What the last judgement knew, for those who explain it while the collector goes on elsewhere.
#[derive(Clone, Debug)]
pub struct Knowledge(Arc<Mutex<Known>>);

impl Knowledge {
    /// Returns one that stays as it is.
    pub fn fixed(known: Known) -> Self {
        Self(Arc::new(Mutex::new(known)))
    }

    /// Returns it as it is now.
    pub fn known(&self) -> Known {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Samples and judges, and keeps what one sample hands to the next.
pub struct Collector {
    source: Box<dyn Source>,
    catalog: Arc<Catalog>,
    files: Files,
    configured: Arc<Configured>,
    knowledge: Knowledge,
    memory: Memory,
    previous: Option<Arc<World>>,
}

impl Collector {
    /// Returns a collector that reads configuration files before it judges.
    pub fn at_once(source: Box<dyn Source>, catalog: Arc<Catalog>, os: Os) -> Self {
        let files = Files::AtOnce(Box::new(Intake::new(Arc::clone(&catalog), os)));
        Self::with(source, catalog, files)
    }

    /// Returns a collector that reads configuration files on a thread of their own.
    pub fn beside(source: Box<dyn Source>, catalog: Arc<Catalog>, os: Os) -> Self {
        let files = Files::Beside(IntakeThread::spawn(Intake::new(Arc::clone(&catalog), os)));
        Self::with(source, catalog, files)
    }

    fn with(source: Box<dyn Source>, catalog: Arc<Catalog>, files: Files) -> Self {
        let configured = Arc::new(Configured::default());
        let known = Known {
            catalog: Arc::clone(&catalog),
            configured: Arc::clone(&configured),
        };
        Self {
            source,
            catalog,
            files,
            configured,
            knowledge: Knowledge(Arc::new(Mutex::new(known))),
            memory: Memory::default(),
            previous: None,
        }
    }

    /// Returns what the last judgement knew.
    pub fn known(&self) -> Known {
        Known {
            catalog: Arc::clone(&self.catalog),
            configured: Arc::clone(&self.configured),
        }
    }

    /// Returns what each judgement knew, from now on.
    pub fn knowledge(&self) -> Knowledge {
        self.knowledge.clone()
    }

    /// Takes the next sample and judges it; the selected process gets a closer look whatever it is.
    pub fn next(&mut self, selected: Option<ProcessKey>) -> Result<Arc<World>, SourceError> {
        let mut sample = self.source.sample()?;
        let mut identities = Identities::of(&sample, &self.known(), &self.memory.identities);
        let mut looked = self.look(&mut sample, &identities, selected, &Interest::default());
        // The closer look brings environments, and with them home directories; those bring
        // configurations, and those may name processes that nothing else does.
        identities = Identities::of(&sample, &self.known(), &identities);
        if self.read_files(analysis::places(&sample, &identities)) {
            identities = Identities::of(&sample, &self.known(), &identities);
        }
        if self.previous.is_none() {
            for _ in 0..FIRST_LOOKS {
                looked = self.look(&mut sample, &identities, selected, &looked);
            }
        }
        self.memory.identities = identities;
        let known = self.known();
        let judged = analysis::judge(&sample, self.previous.as_deref(), &known, &mut self.memory);
        let seq = self.previous.as_ref().map_or(1, |world| world.seq + 1);
        let world = Arc::new(World {
            seq,
            sample,
            judged,
            complete: true,
        });
        self.previous = Some(Arc::clone(&world));
        Ok(world)
    }

    /// Takes one sample, and a second where a finding needs it and the budget allows it.
    pub fn settled(
        &mut self,
        selected: Option<ProcessKey>,
        budget: Duration,
    ) -> Result<Arc<World>, SourceError> {
        let first = self.next(selected)?;
        if !self.memory.needs_second() || budget < SECOND_LOOK_AFTER {
            return Ok(first);
        }
        pause(SECOND_LOOK_AFTER);
        self.next(selected)
    }

    /// Looks closer where `before` did not; returns what was looked at in all.
    fn look(
        &mut self,
        sample: &mut Sample,
        identities: &Identities,
        selected: Option<ProcessKey>,
        before: &Interest,
    ) -> Interest {
        let mut interest = {
            let looked = self.previous.as_ref().map_or(&*sample, |world| &world.sample);
            analysis::interest(sample, looked, &self.known(), identities, selected)
        };
        if let Some(previous) = &self.previous {
            let clients = previous
                .judged
                .instances
                .iter()
                .filter_map(|instance| instance.client.as_ref());
            interest.closely.extend(clients.map(|client| client.process));
        }
        if !interest.closely.is_subset(&before.closely) {
            self.source.look_closer(sample, &interest);
        }
        interest
    }

    /// Returns whether the configurations are others than before.
    fn read_files(&mut self, places: Places) -> bool {
        let Places {
            homes,
            projects,
            clients,
        } = places;
        let wanted = Wanted {
            homes,
            projects,
            clients,
        };
        let configured = match &mut self.files {
            Files::AtOnce(intake) => intake.read(&wanted),
            Files::Beside(thread) => {
                thread.want(wanted);
                thread.latest()
            }
        };
        let changed = !Arc::ptr_eq(&configured, &self.configured);
        self.configured = configured;
        if changed {
            *self.knowledge.0.lock().unwrap_or_else(PoisonError::into_inner) = self.known();
        }
        changed
    }
}

/// Waits; nothing can end the wait early.
fn pause(time: Duration) {
    let (_sender, receiver) = mpsc::channel::<()>();
    let _ = receiver.recv_timeout(time);
}
