//! Where there is nobody to signal: saved processes, and systems that cannot be read.

use std::time::Duration;

use super::{Signaller, Watch, wall_clock};
use crate::model::act::{Look, Sent, Signal, Standing, Target, Way};
use crate::store::Receipt;

/// Looks at nothing, sends nothing, and says why.
#[derive(Clone, Debug)]
pub struct NoSignaller {
    why: String,
}

impl NoSignaller {
    /// Returns one with its reason.
    pub fn new(why: &str) -> Self {
        Self { why: why.to_owned() }
    }

    fn standing(&self) -> Standing {
        Standing::Unread(self.why.clone())
    }
}

impl Signaller for NoSignaller {
    fn look(&mut self, _target: &Target) -> Look {
        Look {
            at: wall_clock(),
            standing: self.standing(),
            way: Way::Kill,
        }
    }

    fn send(&mut self, _target: &Target, _signal: Signal, _receipt: Receipt) -> Sent {
        Sent::Withheld(self.standing())
    }

    fn watch(&self, _target: &Target) -> Box<dyn Watch> {
        Box::new(Nothing)
    }
}

/// Waits for nothing.
struct Nothing;

impl Watch for Nothing {
    fn exited(&self, _patience: Duration) -> bool {
        false
    }
}
