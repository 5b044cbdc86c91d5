//! One leftover with the program on its screen: the steps that cases begin and end with.

use super::desk::{Desk, State, code};
use super::kit::{Leftover, Nature, Stage};
use crate::pty::harness::Start;

/// A server that was left behind, and what the program keeps of it.
pub(crate) struct Case {
    pub(crate) stage: Stage,
    pub(crate) kept: State,
    pub(crate) server: Leftover,
}

impl Case {
    /// A server that has lost its client.
    pub(crate) fn severed(nature: Nature) -> Self {
        Self::of(|stage| stage.severed(nature))
    }

    /// A server that the stage brings up.
    pub(crate) fn of(start: impl FnOnce(&Stage) -> Leftover) -> Self {
        let stage = Stage::new();
        Self {
            server: start(&stage),
            kept: State::new(),
            stage,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid
    }

    /// Returns the digits that confirm a TERM to the server.
    pub(crate) fn code(&self) -> String {
        code(self.pid())
    }

    /// The program's screen, the server's row selected.
    pub(crate) fn on_its_row(&self) -> Desk<'_> {
        self.selected(self.kept.start())
    }

    /// The same in a program that is started as told.
    pub(crate) fn on_its_row_in(&self, start: Start) -> Desk<'_> {
        self.selected(self.kept.started(start))
    }

    fn selected<'a>(&self, mut desk: Desk<'a>) -> Desk<'a> {
        desk.selects(self.pid(), "SEVERED");
        desk
    }

    /// The screen held as it is with the server's row selected.
    pub(crate) fn on_its_frozen_row(&self) -> Desk<'_> {
        let mut desk = self.on_its_row();
        desk.key("Z");
        desk.sees("FROZEN");
        desk
    }

    /// The dialog that asks whether to end the server, in an incident that was opened for it.
    pub(crate) fn asked(&self) -> Desk<'_> {
        self.asked_in(self.kept.program(&[]))
    }

    /// The same in a program that is started as told.
    pub(crate) fn asked_in(&self, start: Start) -> Desk<'_> {
        let mut desk = self.on_its_row_in(start);
        desk.asks_to_end(self.pid());
        desk
    }

    /// Waits until the screen says that a signal ended the server, and until it has.
    pub(crate) fn exits_of(&self, desk: &Desk<'_>, signal: &str) {
        desk.sees(&format!("{signal} git {}: exited after ", self.pid()));
        self.server.ends();
    }

    /// Returns the entries of a signal that was sent to the server and had this outcome.
    pub(crate) fn entries(&self, signal: &str, outcome: &str) -> Vec<String> {
        let pid = self.pid();
        vec![
            format!("about_to_signal {signal} {pid}"),
            format!("sent {signal} {pid}"),
            format!("outcome {signal} {pid} {outcome}"),
        ]
    }

    /// Checks that the record tells of no signal.
    pub(crate) fn nothing_is_announced(&self) {
        assert_eq!(self.kept.signals(), Vec::<String>::new());
    }

    /// Ends the program; the record has to be sound.
    pub(crate) fn closes(&self, desk: Desk<'_>) {
        desk.quits();
        self.kept.verifies();
    }
}
