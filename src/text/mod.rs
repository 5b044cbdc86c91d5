//! Text: what other processes wrote made visible and harmless, secrets removed, widths, durations.
//!
//! Imports nothing else of this crate.

pub mod format;
pub mod redact;
pub mod safe;
pub mod shell;
pub mod width;

pub use safe::Safe;
