//! One line of input at the bottom of the screen, or in the palette.

use tui_input::{Input, InputRequest};

use super::key::Key;
use crate::table::RowId;

/// Longest text that a prompt takes, in characters.
const LONGEST: usize = 500;

/// What is being typed.
#[derive(Debug)]
pub struct Prompt {
    /// What it is for.
    pub(super) purpose: Purpose,
    /// The line.
    pub(super) input: Input,
}

/// What a prompt is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The filter; what it was before.
    Filter {
        /// Filter to go back to.
        before: String,
    },
    /// The search.
    Search {
        /// Row that it started from.
        origin: Option<RowId>,
    },
}

impl Prompt {
    /// Returns what stands before the line.
    pub fn label(&self) -> &'static str {
        match self.purpose {
            Purpose::Filter { .. } => "filter: ",
            Purpose::Search { .. } => "search: ",
        }
    }

    /// Returns the line.
    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// Returns the cursor's place, in characters.
    pub fn cursor(&self) -> usize {
        self.input.cursor()
    }
}

/// Edits a line by a key; returns whether the text has changed, `None` for a key that edits
/// nothing.
pub(super) fn edit(input: &mut Input, key: Key) -> Option<bool> {
    let request = match key {
        Key::Char(c) => {
            if input.value().chars().count() >= LONGEST || c.is_control() {
                return Some(false);
            }
            InputRequest::InsertChar(c)
        }
        Key::Backspace => InputRequest::DeletePrevChar,
        Key::Delete => InputRequest::DeleteNextChar,
        Key::Left => InputRequest::GoToPrevChar,
        Key::Right => InputRequest::GoToNextChar,
        Key::Home | Key::Ctrl('a') => InputRequest::GoToStart,
        Key::End | Key::Ctrl('e') => InputRequest::GoToEnd,
        Key::Ctrl('w') => InputRequest::DeletePrevWord,
        Key::Ctrl('u') => InputRequest::DeleteLine,
        Key::Ctrl('k') => InputRequest::DeleteTillEnd,
        _ => return None,
    };
    Some(input.handle(request).is_some_and(|changed| changed.value))
}

/// Types pasted text: control characters, line ends among them, become blanks.
pub(super) fn paste(input: &mut Input, text: &str) {
    for c in text.chars() {
        let c = if c.is_control() { ' ' } else { c };
        edit(input, Key::Char(c));
    }
}
