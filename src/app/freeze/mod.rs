//! What the screen shows: the newest sample, or one that is held while sampling goes on.

#[cfg(test)]
mod tests;
mod update;

use std::sync::Arc;

use super::effect::JobId;
use crate::journal::Digest;
use crate::model::world::World;
use crate::table::Since;

pub(super) use update::{done, stalled, take, toggle};

/// Where the shown world comes from.
#[derive(Debug)]
pub enum Feed {
    /// There is no sample yet.
    Waiting,
    /// The newest sample is shown.
    Live(Arc<World>),
    /// A sample is held and on its way to the disk.
    Freezing(Freezing),
    /// A sample is held.
    Frozen(Frozen),
    /// A sample that was saved, on this machine or another.
    Saved(Arc<World>),
}

/// A sample that is being frozen.
#[derive(Debug)]
pub struct Freezing {
    /// The sample that is shown.
    pub(super) shown: Arc<World>,
    /// The newest sample.
    pub(super) live: Arc<World>,
    /// What is waited for.
    pub(super) stage: Stage,
}

/// What a freeze waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The closer look at the selected process: the next sample has it.
    Completing,
    /// The desk, which writes the snapshot.
    Saving(JobId),
}

/// A sample that is held.
#[derive(Debug)]
pub struct Frozen {
    /// The sample that is shown.
    pub(super) held: Arc<World>,
    /// Where it is kept.
    pub(super) saved: Saved,
    /// The newest sample.
    pub(super) live: Arc<World>,
    /// What has changed from the held one to the newest.
    pub(super) since: Since,
}

/// Where a held sample is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// In a file.
    File(SavedFile),
    /// In memory only: nothing may be written.
    ReadOnly,
    /// In memory only: it could not be written, and why.
    Failed(String),
}

/// A snapshot on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// Its path.
    pub path: String,
    /// Digest of its bytes.
    pub sha256: Digest,
}

impl Feed {
    /// Returns the world that is shown.
    pub fn shown(&self) -> Option<&Arc<World>> {
        match self {
            Self::Waiting => None,
            Self::Live(world) | Self::Saved(world) => Some(world),
            Self::Freezing(freezing) => Some(&freezing.shown),
            Self::Frozen(frozen) => Some(&frozen.held),
        }
    }

    /// Returns the newest world, whatever is shown.
    pub fn newest(&self) -> Option<&Arc<World>> {
        match self {
            Self::Waiting => None,
            Self::Live(world) | Self::Saved(world) => Some(world),
            Self::Freezing(freezing) => Some(&freezing.live),
            Self::Frozen(frozen) => Some(&frozen.live),
        }
    }

    /// Returns whether the newest sample is shown.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Waiting | Self::Live(_))
    }

    /// Returns why the held sample could not be saved.
    pub fn not_saved(&self) -> Option<&str> {
        match &self.frozen()?.saved {
            Saved::Failed(why) => Some(why),
            Saved::File(_) | Saved::ReadOnly => None,
        }
    }

    /// Returns what is held, once it is.
    pub fn frozen(&self) -> Option<&Frozen> {
        match self {
            Self::Frozen(frozen) => Some(frozen),
            _ => None,
        }
    }
}

impl Freezing {
    /// Returns the world that is shown.
    pub fn shown(&self) -> &World {
        &self.shown
    }

    /// Returns what is waited for.
    pub fn stage(&self) -> Stage {
        self.stage
    }
}

impl Frozen {
    /// Returns where it is kept.
    pub fn saved(&self) -> &Saved {
        &self.saved
    }

    /// Returns what has changed since.
    pub fn since(&self) -> &Since {
        &self.since
    }

    /// Returns the world that is held.
    pub fn held(&self) -> &World {
        &self.held
    }

    /// Returns the newest world.
    pub fn live(&self) -> &World {
        &self.live
    }
}
