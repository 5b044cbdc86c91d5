//! Signals that the loop answers.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::platform::own;

/// The signals that are caught: all that somebody may send to end the program or by mistake, so that it
/// never leaves a terminal in raw mode. `SIGPIPE` is ignored by Rust.
pub(super) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    alarm: Signal,
    user_1: Signal,
    user_2: Signal,
    stop: Signal,
    resume: Signal,
    window: Signal,
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// `SIGTERM`, and what else ends a program by default: end in order.
    End,
    /// `SIGINT`, `SIGQUIT`: keys send them to every program of the foreground.
    Interrupt,
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
            quit: signal(SignalKind::quit())?,
            alarm: signal(SignalKind::alarm())?,
            user_1: signal(SignalKind::user_defined1())?,
            user_2: signal(SignalKind::user_defined2())?,
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
            _ = self.interrupt.recv() => Heard::Interrupt,
            _ = self.quit.recv() => Heard::Interrupt,
            _ = self.alarm.recv() => Heard::End,
            _ = self.user_1.recv() => Heard::End,
            _ = self.user_2.recv() => Heard::End,
            _ = self.stop.recv() => Heard::Stop,
            _ = self.resume.recv() => Heard::Resume,
            _ = self.window.recv() => Heard::Resized,
        }
    }
}
