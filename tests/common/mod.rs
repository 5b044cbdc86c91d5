//! What the binaries share that bring processes up: kill, stop, wait, reap, ask the program.

pub(crate) mod inventory;
pub(crate) mod watched;
