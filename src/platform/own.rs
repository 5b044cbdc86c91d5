//! What this program does to itself and its own terminal: stops its job, waits for a descriptor.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};

/// Number of the signal by which a terminal's Ctrl-Z asks to stop (signal(7): `SIGTSTP`).
pub const STOP_REQUEST: i32 = Signal::TSTP.as_raw();
/// Number of the signal that tells a job that it runs again (`SIGCONT`).
pub const CONTINUED: i32 = Signal::CONT.as_raw();

/// Whether there is a shell that could continue a stopped job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The stop was sent; `SIGCONT` follows when the shell continues the job.
    Sent,
    /// The job leads the session (`ssh -t host mcpwake`): nobody could continue it.
    NoShell,
}

/// Stops this program's own job until the shell continues it.
///
/// `SIGSTOP`, not `SIGTSTP`: the latter is caught, so that a stop from outside restores the
/// terminal first. The kernel ignores `SIGTSTP` where no shell could continue the job, but not
/// `SIGSTOP`; hence the look at the session.
pub fn stop_own_job() -> Result<Stop, Errno> {
    if getsid(None)? == getpgrp() {
        return Ok(Stop::NoShell);
    }
    kill_current_process_group(Signal::STOP).map(|()| Stop::Sent)
}

/// Makes this process's terminal its standard input, which something else came by.
pub fn read_keys_from_terminal() -> std::io::Result<()> {
    let terminal = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")?;
    Ok(rustix::stdio::dup2_stdin(terminal)?)
}

/// What a descriptor is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Bytes can be read.
    Reading,
    /// Bytes can be written.
    Writing,
}

/// Waits until a descriptor of this program is ready, or its other end is gone.
pub fn wait_until(descriptor: &impl AsFd, ready: Ready) -> Result<(), Errno> {
    let flags = match ready {
        Ready::Reading => PollFlags::IN,
        Ready::Writing => PollFlags::OUT,
    };
    loop {
        match poll(&mut [PollFd::new(descriptor, flags)], None) {
            Err(Errno::INTR) => {}
            result => return result.map(|_| ()),
        }
    }
}
