//! What this program does to itself: its job is stopped as Ctrl-Z would.

use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};

/// Number of the signal by which a terminal's Ctrl-Z asks to stop (signal(7): `SIGTSTP`).
pub const STOP_REQUEST: i32 = Signal::TSTP.as_raw();
/// Number of the signal that tells a job that it runs again (`SIGCONT`).
pub const CONTINUED: i32 = Signal::CONT.as_raw();

/// Stops this program's own job until the shell continues it; returns then.
///
/// `SIGSTOP`, not `SIGTSTP`: the latter is caught, so that a stop from outside restores the
/// terminal first.
pub fn stop_own_job() -> Result<(), Errno> {
    kill_current_process_group(Signal::STOP)
}
