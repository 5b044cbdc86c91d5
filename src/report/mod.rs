//! Headless output: the published JSON formats and tables for a pipe.
//!
//! JSON keeps exact text and is always redacted; every table passes `text::Safe`.

mod fill;
pub mod inventory;
mod publish;
mod word;

pub use fill::{Selection, inventory};
