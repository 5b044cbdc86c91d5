//! One line of input at the bottom of the screen, or in the palette.

use tui_input::{Input, InputRequest};

use super::effect::Offer;
use super::keep::{self, Then};
use super::key::Key;
use crate::journal::Subject;
use crate::table::RowId;
use crate::text::Safe;
use crate::text::width::{Glyphs, truncate_middle};

/// Longest text that a prompt takes, in characters.
const LONGEST: usize = 4000;

/// Columns of the title that could be gone on with.
const LONGEST_OFFER: usize = 20;

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
    /// The title of a new incident.
    Title {
        /// What follows once it is open.
        then: Then,
        /// The open one that an empty title goes on with.
        offer: Option<Offer>,
        /// What it is asked for, or what speaks against what was typed.
        why: String,
        /// What was typed and doubted: the same once more is meant.
        doubted: Option<String>,
    },
    /// What is left to be done of an incident that is closed.
    Close {
        /// What is known to be left open.
        why: String,
    },
    /// A note.
    Note {
        /// The rows that it is about; none: the incident alone.
        on: Vec<Subject>,
        /// Whether it is about the incident as a whole instead.
        whole: bool,
        /// Why what the editor left is no note, or why no row is meant, until the next key.
        complaint: Option<String>,
    },
}

impl Prompt {
    /// Returns what stands before the line.
    pub fn label(&self) -> Safe {
        match &self.purpose {
            Purpose::Filter { .. } => Safe::literal("filter: "),
            Purpose::Search { .. } => Safe::literal("search: "),
            Purpose::Title {
                offer: Some(offer), ..
            } => {
                let title = truncate_middle(&offer.title, LONGEST_OFFER, Glyphs::default());
                Safe::from_text(&format!("title (empty: {title}): "))
            }
            Purpose::Title { .. } => Safe::literal("title of a new incident: "),
            Purpose::Close { .. } => Safe::literal("close, what is left: "),
            Purpose::Note { whole: true, .. } => Safe::literal("note on the incident: "),
            Purpose::Note { on, .. } => match &on[..] {
                [one] => Safe::from_text(&format!("note on {}: ", keep::called(one))),
                many => Safe::from_text(&format!("note on {} marked rows: ", many.len())),
            },
        }
    }

    /// Returns whether it changes what the tree shows while it is typed.
    pub fn is_of_the_tree(&self) -> bool {
        matches!(self.purpose, Purpose::Filter { .. } | Purpose::Search { .. })
    }

    /// Returns whether it is the filter.
    pub fn is_filter(&self) -> bool {
        matches!(self.purpose, Purpose::Filter { .. })
    }

    /// Returns whether it is a note.
    pub fn is_note(&self) -> bool {
        matches!(self.purpose, Purpose::Note { .. })
    }

    /// Returns whether it is a note that can be turned between rows and the incident as a whole.
    pub fn has_rows(&self) -> bool {
        matches!(&self.purpose, Purpose::Note { on, .. } if !on.is_empty())
    }

    /// Returns why what the editor left is no note, or what the line is asked for.
    pub fn complaint(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::Note { complaint, .. } => complaint.as_deref(),
            Purpose::Title { why, .. } | Purpose::Close { why } => Some(why),
            _ => None,
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
