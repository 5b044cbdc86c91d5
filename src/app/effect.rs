//! What goes out: orders that the runtime carries out.

use crate::model::identity::ProcessKey;

/// An order to the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// What the collector should look at from now on.
    Demand(Demand),
    /// Draw every cell anew: something else has written to the terminal.
    Redraw,
    /// Leave the screen and stop, until the shell resumes the program.
    Suspend,
    /// Leave the screen and end.
    Quit,
}

/// What the screen needs of the next samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The process of the selected row: it gets a closer look whatever it is.
    pub selected: Option<ProcessKey>,
}
