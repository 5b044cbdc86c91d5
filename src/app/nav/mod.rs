//! The tree as it is shown: what is selected, folded, sorted.

mod moves;
mod settle;
mod state;

pub use state::Nav;

pub(super) use moves::{Jump, Step};
pub(super) use settle::Change;
