//! What the screen and the reports are handed: one sample and its judgement, immutable.

use serde::{Deserialize, Serialize};

use super::instance::Judged;
use super::sample::Sample;

/// One sample, judged. Made off the screen's thread, shared as `Arc`, never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// Counts the samples of one run, from 1.
    pub seq: u64,
    /// What was read.
    pub sample: Sample,
    /// What was judged from it.
    pub judged: Judged,
    /// Whether the search for holders covered every readable process.
    pub complete: bool,
}
