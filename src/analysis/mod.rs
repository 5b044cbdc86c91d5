//! Judges a sample. Pure: the same sample, the same previous one and the same knowledge give the
//! same judgement.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::model::identity::ProcessKey;
use crate::model::instance::Judged;
use crate::model::interest::Interest;
use crate::model::known::Configured;
use crate::model::sample::Sample;
use crate::model::world::World;

/// What the judgement knows beside the sample: rules, and clients' configurations.
#[derive(Clone, Debug)]
pub struct Known {
    /// Rules and client definitions.
    pub catalog: Arc<Catalog>,
    /// Entries of the configuration files that were found.
    pub configured: Arc<Configured>,
}

/// How a process is identified, or why it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// One sentence: what it is taken for.
    pub headline: String,
    /// What decided, one sentence each.
    pub because: Vec<String>,
    /// What nearly matched, and why it did not.
    pub near_misses: Vec<String>,
}

/// Returns which processes the next closer look is to read: candidates, their ancestors and
/// children, known clients, and the selected process.
pub fn interest(_sample: &Sample, _known: &Known, _selected: Option<ProcessKey>) -> Interest {
    Interest::default()
}

/// Judges a sample. `previous` is the world before it, of the same run.
pub fn judge(_sample: &Sample, _previous: Option<&World>, _known: &Known) -> Judged {
    Judged::default()
}

/// Explains how a process of this world is identified.
pub fn explain(_world: &World, _known: &Known, _process: ProcessKey) -> Explanation {
    Explanation::default()
}
