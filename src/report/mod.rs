//! Headless output: the published JSON formats and tables for a pipe.
//!
//! JSON keeps exact text and is always redacted; every table passes `text::Safe`.

mod difference;
pub mod doctor;
pub mod evidence;
pub mod explain;
mod fill;
mod grid;
pub mod inventory;
mod list;
mod page;
mod publish;
pub mod schema;
mod show;
mod word;
#[cfg(test)]
mod worlds;

pub use difference::Diff;
pub use fill::{Selection, evidence, inventory};
pub use list::{Paper, list, notes};
pub use publish::Secrets;
pub use show::{quoted, show};
