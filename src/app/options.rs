//! What the command line and the environment decide about the screen.

use std::fmt;
use std::sync::Arc;

use super::keep::Configured;
use crate::analysis::Explanation;
use crate::model::identity::ProcessKey;
use crate::model::world::World;
use crate::text::redact::Redactor;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// None: `NO_COLOR`, or a terminal without.
    None,
    /// The sixteen of every terminal.
    Sixteen,
    /// 256 and more.
    Many,
}

/// How a process of a world is explained: `analysis::explain` with the knowledge of the moment.
#[derive(Clone)]
pub struct Explainer(Arc<Explain>);

type Explain = dyn Fn(&World, ProcessKey) -> Explanation + Send + Sync;

impl Explainer {
    /// Wraps a function.
    pub fn new(explain: impl Fn(&World, ProcessKey) -> Explanation + Send + Sync + 'static) -> Self {
        Self(Arc::new(explain))
    }

    /// Explains a process.
    pub fn explain(&self, world: &World, process: ProcessKey) -> Explanation {
        (self.0)(world, process)
    }
}

impl fmt::Debug for Explainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Explainer")
    }
}

/// Options of the screen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether nothing may be signalled or written; the header says so.
    pub read_only: bool,
    /// Whether only ASCII is drawn.
    pub ascii: bool,
    /// Colours.
    pub colour: Colour,
    /// Milliseconds between two samples.
    pub refresh_ms: u64,
    /// Milliseconds from a signal to the second look.
    pub second_look_ms: u64,
    /// Takes secrets out of command lines before they are shown.
    pub redactor: Arc<Redactor>,
    /// Takes secrets out of whatever leaves the screen: files and copies, whatever is shown.
    pub keep_redactor: Arc<Redactor>,
    /// Explains rows.
    pub explainer: Explainer,
    /// Commands for leads, as they are configured.
    pub commands: Arc<[Configured]>,
    /// Where a saved world comes from; `None`: from this machine, now.
    pub origin: Option<String>,
}
