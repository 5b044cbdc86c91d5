//! The contract with the operating system: what each system's folder fills.
//!
//! The only layer with `cfg(target_os)` and the only one with `unsafe`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thiserror::Error;

use crate::model::act::{Look, Sent, Signal, Target};
use crate::model::host::Os;
use crate::model::interest::Interest;
use crate::model::sample::Sample;
use crate::model::time::UnixMillis;
use crate::store::Receipt;

mod ancestry;
mod compare;
mod environment;
pub mod limits;
mod nowhere;
pub mod own;
mod permission;

pub use self::nowhere::NoSignaller;

#[cfg(target_os = "linux")]
pub mod linux;
// Tests run everything but the calls on any system: the decoders take bytes.
#[cfg(any(target_os = "macos", test))]
pub mod macos;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("mcpwake reads processes on Linux and macOS only: fill src/platform for this system");

/// Reads the system. Keeps what it may keep between two samples; every value of a sample is true
/// at the time of that sample.
pub trait Source: Send {
    /// Takes one pass over all processes: everything but what `look_closer` fills.
    fn sample(&mut self) -> Result<Sample, SourceError>;

    /// Fills, for the processes named: descriptors, environment, signal masks, swap, locks,
    /// namespaces, cwd anew; and for the pipes, sockets and terminals among their descriptors:
    /// sockets and holders.
    fn look_closer(&mut self, sample: &mut Sample, interest: &Interest);
}

/// Sends signals, to exactly the process that was seen or to none.
pub trait Signaller: Send {
    /// Looks at a process anew, and holds on to it where the system can: what is sent later goes to
    /// what was looked at here.
    fn look(&mut self, target: &Target) -> Look;

    /// Compares the process with what was seen once more, and sends. Only a receipt of the entry that
    /// announces this signal to this process sends anything; it is used up.
    fn send(&mut self, target: &Target, signal: Signal, receipt: Receipt) -> Sent;

    /// Returns what waits for the end of a process, on another thread.
    fn watch(&self, target: &Target) -> Box<dyn Watch>;
}

/// Waits for the end of one process.
pub trait Watch: Send {
    /// Waits until it has exited, at most so long; returns whether it has.
    fn exited(&self, patience: Duration) -> bool;
}

/// The system could not be read at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{operation} {path}: {reason}")]
pub struct SourceError {
    /// Path or call.
    pub path: String,
    /// What was being done.
    pub operation: String,
    /// The system's reason, and what to do.
    pub reason: String,
}

/// What this run may do to processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Look at them: its signaller has nothing to send with.
    Looks,
    /// Signal them.
    Signals,
}

/// What reads this system and signals its processes.
pub struct System {
    /// Reads it.
    pub source: Box<dyn Source>,
    /// Which one it is.
    pub os: Os,
    /// Signals, where the run may; shares with the source what is held of processes.
    pub signaller: Box<dyn Signaller>,
}

/// Opens this system.
pub fn system(ability: Ability) -> Result<System, SourceError> {
    #[cfg(target_os = "linux")]
    return linux::system(ability);
    #[cfg(target_os = "macos")]
    return macos::system(ability);
}

/// Returns the wall clock.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the wall clock"
)]
pub fn wall_clock() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
