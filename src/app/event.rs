//! What comes in: keys, worlds, the clock.

use std::sync::Arc;

use super::effect::{JobId, Opened, Outcome, Use};
use super::key::Key;
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// Everything that can change the screen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// So many of the keys that follow came in one read of the terminal: text that was pasted without
    /// brackets, or keys that a slow line held back. What came singly has none of these before it.
    Together(usize),
    /// Text was pasted; it is typed into a prompt, and never runs a command.
    Paste(String),
    /// The terminal has a new size, in cells.
    Resized {
        /// Columns.
        width: u16,
        /// Lines.
        height: u16,
    },
    /// A new sample was judged.
    World(Arc<World>),
    /// The journal of the incident that is followed, as it is on the disk now.
    Incident(Opened),
    /// The collector could not take a sample: why, and what to do. Kept until the next world.
    Problem(String),
    /// The desk has carried out an order, or could not.
    Done(JobId, Outcome),
    /// What a part of the shown pane says, uncut; `None` where no pane is shown.
    Excerpt(Use, Option<String>),
    /// What the operator's editor has left; or why there is none, and where the text is.
    Edited(Result<String, String>),
    /// The collector's pace has changed.
    Pace {
        /// Milliseconds between two samples.
        refresh_ms: u64,
        /// Why it is not the pace that was asked for, such as a slow terminal.
        because: Option<String>,
    },
    /// The wall clock.
    Tick(UnixMillis),
    /// The program ends, whatever is open: a signal, or a terminal that is gone.
    Leaving,
    /// The program runs in the foreground again.
    Resumed,
}
