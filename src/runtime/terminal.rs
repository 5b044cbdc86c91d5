//! The terminal: entered once, and restored whatever happens.

use std::io::{self, Stdout, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::app::App;
use crate::view::{self, Scroll};

use super::caps::Capabilities;

/// Whether the screen is entered: the panic hook and the guard must not restore it twice.
static ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether bracketed paste was switched on.
static PASTE: AtomicBool = AtomicBool::new(false);

/// The entered terminal. Restores it when dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    capabilities: Capabilities,
}

impl Screen {
    /// Enters raw mode and the alternate screen.
    pub(super) fn enter(capabilities: Capabilities) -> io::Result<Self> {
        switch_on(capabilities)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout())).inspect_err(|_| restore())?;
        Ok(Self {
            terminal,
            capabilities,
        })
    }

    /// Draws the state; returns how long the terminal took.
    pub(super) fn draw(&mut self, app: &App, scroll: &mut Scroll) -> io::Result<Duration> {
        let begun = Instant::now();
        self.terminal.draw(|frame| view::draw(frame, app, scroll))?;
        Ok(begun.elapsed())
    }

    /// Forgets what is on the terminal: the next drawing writes every cell.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Enters again after the terminal was given away.
    pub(super) fn enter_again(&mut self) -> io::Result<()> {
        ENTERED.store(false, Ordering::SeqCst);
        switch_on(self.capabilities)?;
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn switch_on(capabilities: Capabilities) -> io::Result<()> {
    ENTERED.store(true, Ordering::SeqCst);
    PASTE.store(capabilities.paste, Ordering::SeqCst);
    let entered = enable_raw_mode().and_then(|()| {
        let mut out = io::stdout();
        execute!(out, EnterAlternateScreen, Hide)?;
        if capabilities.paste {
            execute!(out, EnableBracketedPaste)?;
        }
        Ok(())
    });
    entered.inspect_err(|_| restore())
}

/// Restores the terminal, once. Never fails: a terminal that is gone needs no restoring.
pub(super) fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    if PASTE.load(Ordering::SeqCst) {
        let _ = execute!(out, DisableBracketedPaste);
    }
    let _ = execute!(out, Show, LeaveAlternateScreen);
    let _ = out.flush();
    let _ = disable_raw_mode();
}
