//! Signals that the loop answers.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::platform::own;

/// The signals that are caught. Those that the program does not catch (`SIGPIPE` apart, which
/// Rust ignores) do what they always do.
pub(super) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    stop: Signal,
    resume: Signal,
    window: Signal,
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// `SIGTERM`, `SIGINT`: end in order.
    End,
    /// `SIGHUP`: the terminal has gone.
    HangUp,
    /// `SIGTSTP`, from another process: in raw mode Ctrl-Z is a key.
    Stop,
    /// `SIGCONT`: the program runs again, the terminal may be in any state.
    Resume,
    /// `SIGWINCH`: the terminal has another size.
    Resized,
}

impl Signals {
    /// Catches them.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(SignalKind::from_raw(own::STOP_REQUEST))?,
            resume: signal(SignalKind::from_raw(own::CONTINUED))?,
            window: signal(SignalKind::window_change())?,
        })
    }

    /// Waits for the next; those that end the program come first.
    pub(super) async fn next(&mut self) -> Heard {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Heard::End,
            _ = self.hang_up.recv() => Heard::HangUp,
            _ = self.interrupt.recv() => Heard::End,
            _ = self.stop.recv() => Heard::Stop,
            _ = self.resume.recv() => Heard::Resume,
            _ = self.window.recv() => Heard::Resized,
        }
    }
}
