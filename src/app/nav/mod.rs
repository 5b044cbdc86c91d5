//! The tree as it is shown: what is selected, folded, sorted.

mod ghost;
mod moves;
mod settle;
mod state;

pub use ghost::Ghost;
pub use state::Nav;

pub(super) use ghost::Before;
pub(super) use moves::{Jump, Step};
pub(super) use settle::Change;
