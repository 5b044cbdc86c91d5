//! What the desk does for an order: snapshots and journal, through the store.

use std::ffi::OsString;
use std::sync::Arc;

use crate::app::freeze::SavedFile;
use crate::app::{Order, Outcome};
use crate::model::host::Observer;
use crate::model::world::World;
use crate::platform::wall_clock;
use crate::store::place::state_directory;
use crate::store::{Access, Snapshot, Store, StoreError};
use crate::text::redact::Redactor;

use crate::runtime::collector::Knowledge;

/// Version of the rules that a snapshot's judgement was made with: they come with the program.
const RULES: &str = env!("CARGO_PKG_VERSION");

/// What the desk works with.
pub(in crate::runtime) struct Work {
    access: Access,
    redactor: Arc<Redactor>,
    knowledge: Knowledge,
    state_home: Option<OsString>,
    home: Option<OsString>,
}

impl Work {
    /// Returns a desk that has done nothing yet; finds the state directory by this process's
    /// environment.
    pub(in crate::runtime) fn new(access: Access, redactor: Arc<Redactor>, knowledge: Knowledge) -> Self {
        Self {
            access,
            redactor,
            knowledge,
            state_home: std::env::var_os("XDG_STATE_HOME"),
            home: std::env::var_os("HOME"),
        }
    }

    /// Carries out one order.
    pub(super) fn carry_out(&mut self, order: Order) -> Outcome {
        match order {
            Order::Save(world) => Outcome::Saved(self.save(&world).map_err(|error| error.to_string())),
        }
    }

    fn store(&self, observer: &Observer) -> Result<Store, StoreError> {
        let root = state_directory(observer.uid, self.state_home.clone(), self.home.clone())?;
        Ok(Store::new(
            root,
            observer.uid,
            self.access,
            Arc::clone(&self.redactor),
        ))
    }

    fn save(&self, world: &World) -> Result<SavedFile, StoreError> {
        let configured = self.knowledge.known().configured;
        let snapshot = Snapshot::new(world, &configured.servers, RULES, wall_clock(), &self.redactor);
        let kept = self.store(&world.sample.observer)?.save_loose(&snapshot)?;
        Ok(SavedFile {
            path: kept.path.display().to_string(),
            sha256: kept.sha256,
        })
    }
}
