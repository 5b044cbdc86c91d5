//! What this program does to itself and its own terminal: stops its job, waits for a descriptor.

use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, geteuid, getpgrp, getpid, getsid, kill_current_process_group,
    kill_process, kill_process_group, setsid, waitid,
};

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

/// Stops this process alone until somebody continues it: a program that it has lent the terminal to stops
/// by itself.
#[expect(clippy::disallowed_methods, reason = "the process is this one")]
pub fn stop_self() -> Result<Stop, Errno> {
    if getsid(None)? == getpgrp() {
        return Ok(Stop::NoShell);
    }
    kill_process(getpid(), Signal::STOP).map(|()| Stop::Sent)
}

/// Has a command run in a session and a process group of its own: it has no terminal to ask or to write
/// on, and can be ended with what it starts.
pub fn without_terminal(command: &mut Command) {
    let begin = || setsid().map(|_| ()).map_err(std::io::Error::from);
    // SAFETY: between fork and exec, `begin` makes one system call, which is async-signal-safe
    // (signal-safety(7)), and takes no lock and no memory.
    unsafe {
        command.pre_exec(begin);
    }
}

/// Asks the process group of a child to end (`SIGTERM`). The child must lead it and must not have been
/// waited for: then its pid is still its own.
pub fn ask_group_to_end(child: u32) {
    signal_group(child, Signal::TERM);
}

/// Ends the process group of a child by force (`SIGKILL`), under the same condition; what has left the
/// group goes on.
pub fn end_group(child: u32) {
    signal_group(child, Signal::KILL);
}

/// Returns whether a child has exited, and leaves it to be waited for: until then its pid is its own.
pub fn has_exited(child: u32) -> bool {
    let Some(child) = i32::try_from(child).ok().and_then(Pid::from_raw) else {
        return true;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that there is no such child: nothing to wait for.
    !matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the group is that of a command that this program has started, and nobody else's"
)]
fn signal_group(child: u32, signal: Signal) {
    let group = i32::try_from(child).ok().and_then(Pid::from_raw);
    if let Some(group) = group.filter(|group| !group.is_init()) {
        // It may have ended by itself meanwhile.
        let _ = kill_process_group(group, signal);
    }
}

/// Returns the user whose rights this process has.
pub fn effective_uid() -> u32 {
    geteuid().as_raw()
}

/// Which of two descriptors has ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either {
    /// The first.
    First,
    /// The second, or both.
    Second,
}

/// Waits until one of two descriptors can be read, or its other end is gone.
pub fn wait_for_either(first: &impl AsFd, second: &impl AsFd) -> Result<Either, Errno> {
    let mut both = [
        PollFd::new(first, PollFlags::IN),
        PollFd::new(second, PollFlags::IN),
    ];
    loop {
        match poll(&mut both, None) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
            Ok(_) if !both[1].revents().is_empty() => return Ok(Either::Second),
            // Also where the system cannot wait for such a descriptor (`POLLNVAL` of a Mac's
            // /dev/tty): reading it waits.
            Ok(_) => return Ok(Either::First),
        }
    }
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
