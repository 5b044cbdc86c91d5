//! The terminal: entered once, and restored whatever happens.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::queue;
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::app::App;
use crate::text::Safe;
use crate::view::{self, Scroll};

use super::caps::Capabilities;
use super::printer::{Last, Printed, Printer};

/// A terminal that does not take the restoring bytes in this time has stalled.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How to restore the terminal; `None` while it is not entered. The panic hook and the end of
/// the screen both take it: whoever comes second has nothing to do.
static ENTERED: Mutex<Option<Restorer>> = Mutex::new(None);

struct Restorer {
    printer: Printer,
    paste: bool,
    /// Which of its two screens the terminal shows.
    page: Page,
}

/// The two screens of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// The one that programs like this draw on.
    Alternate,
    /// The one with the shell's lines.
    Usual,
}

/// The entered terminal. Restores it when dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Sheet>>,
    sheet: Sheet,
    capabilities: Capabilities,
    printer: Printer,
    /// One answer for each frame that was sent.
    pub(super) printed: UnboundedReceiver<Printed>,
}

impl Screen {
    /// Enters raw mode and the alternate screen; the first frame carries the sequences.
    pub(super) fn enter(capabilities: Capabilities) -> io::Result<Self> {
        let (printer, answers) = Printer::start()?;
        let sheet = Sheet::default();
        let terminal = Terminal::new(CrosstermBackend::new(sheet.clone()))?;
        let mut screen = Self {
            terminal,
            sheet,
            capabilities,
            printer,
            printed: answers,
        };
        screen.switch_on()?;
        Ok(screen)
    }

    /// Draws the state and sends the frame.
    pub(super) fn draw(&mut self, app: &App, scroll: &mut Scroll) -> io::Result<()> {
        self.terminal.draw(|frame| view::draw(frame, app, scroll))?;
        self.printer.frame(self.sheet.take());
        Ok(())
    }

    /// Sends a sequence that draws nothing, between two frames.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        self.printer.aside(bytes);
    }

    /// Forgets what is on the terminal: the next drawing writes every cell.
    ///
    /// Not `Terminal::clear`: that asks the terminal where its cursor is, and reads the answer
    /// among the keys.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal
            .resize(Rect::from((ratatui::layout::Position::ORIGIN, size)))
    }

    /// Enters again after the terminal was given away, and whatever mode it has come back in.
    pub(super) fn enter_again(&mut self) -> io::Result<()> {
        // The library sets a mode only once, unless it was told to leave it.
        disable_raw_mode()?;
        self.switch_on()?;
        self.forget()
    }

    /// Shows text on the terminal's usual screen, below what is there: nothing is drawn around it. Keys
    /// still come one by one, and pasted text in its brackets.
    pub(super) fn plain(&mut self, text: &str) -> io::Result<()> {
        let before = self.note(Page::Usual);
        disable_raw_mode()?;
        enable_raw_mode()?;
        // What was to be drawn next belongs to the other screen.
        drop(self.sheet.take());
        let mut bytes = Vec::new();
        queue!(bytes, SetAttribute(Attribute::Reset))?;
        if before == Some(Page::Alternate) {
            // A terminal with one screen only is cleared by this.
            queue!(bytes, Clear(ClearType::All), MoveTo(0, 0), LeaveAlternateScreen)?;
        }
        if self.capabilities.paste {
            queue!(bytes, EnableBracketedPaste)?;
        }
        queue!(bytes, Show)?;
        bytes.extend_from_slice(b"\r\n");
        for line in text.lines() {
            let line = Safe::from_text(line);
            let line = if self.capabilities.ascii {
                line.ascii().into_owned()
            } else {
                line
            };
            bytes.extend_from_slice(line.as_str().as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n[any key returns to the screen]\r\n");
        self.printer.aside(bytes);
        Ok(())
    }

    /// Notes which screen the terminal shows from now on; returns which it showed, where it was entered.
    fn note(&self, page: Page) -> Option<Page> {
        let restorer = Restorer {
            printer: self.printer.clone(),
            paste: self.capabilities.paste,
            page,
        };
        let mut entered = ENTERED.lock().unwrap_or_else(PoisonError::into_inner);
        entered.replace(restorer).map(|before| before.page)
    }

    fn switch_on(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        let paste = self.capabilities.paste;
        self.note(Page::Alternate);
        queue!(self.sheet, EnterAlternateScreen, Hide)?;
        if paste {
            queue!(self.sheet, EnableBracketedPaste)?;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once. Never fails: a terminal that is gone needs no restoring, and one
/// that has stalled is waited for 300 ms only.
pub(super) fn restore() {
    let restorer = ENTERED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Restorer { printer, paste, page }) = restorer else {
        return;
    };
    let bytes = leaving(paste, page);
    if printer.last(bytes.clone(), LAST_WORDS) == Last::NoPrinter {
        let mut out = io::stdout();
        let _ = out.write_all(&bytes).and_then(|()| out.flush());
    }
    let _ = disable_raw_mode();
}

fn leaving(paste: bool, page: Page) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    if paste {
        let _ = queue!(bytes, DisableBracketedPaste);
    }
    let _ = queue!(bytes, SetAttribute(Attribute::Reset), Show);
    // On the usual screen the sequence would move the cursor back over what is shown there.
    if page == Page::Alternate {
        let _ = queue!(bytes, LeaveAlternateScreen);
    }
    bytes
}

/// Where a frame is put together, before it is sent as a whole.
#[derive(Clone, Debug, Default)]
struct Sheet(Rc<RefCell<Vec<u8>>>);

impl Sheet {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.borrow_mut())
    }
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
