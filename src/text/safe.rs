//! Escapes what another process wrote, so that it cannot drive a terminal or look like other text.
//!
//! What is escaped, and how:
//!
//! - control characters: `\n`, `\r`, `\t`, else `\x1b`; C1 codes, every format character (bidi
//!   controls, zero-width, soft hyphen, tags), variation selectors and other characters that are
//!   not drawn, blanks that are not U+0020, line separators, private and unassigned code points:
//!   `\u{202e}`;
//! - bytes that are not UTF-8: `\xff`. No confusion with control characters: those are below 80;
//! - combining marks that have nothing to stand on, and those past the fourth on one character;
//! - a backslash, as `\\`, only where it would otherwise read as one of these: before `\`, `n`, `r`,
//!   `t`, `x` and `u`. Reading from the left, each escape has one meaning, so different
//!   bytes never give the same text.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

use super::width::{self, Glyphs};

/// More combining marks than this on one character draw over other lines; no script needs them.
const MAX_MARKS: usize = 4;

/// Text that may go to a terminal: every control character, C1 code, bidi control, zero-width
/// character and invalid UTF-8 byte in it was made visible.
///
/// Is only made by escaping, from literals of this program, and from other `Safe` values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Safe(String);

impl Safe {
    /// Escapes bytes of unknown origin.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut escaper = Escaper::new(bytes.len(), usize::MAX);
        escaper.bytes(bytes);
        Self(escaper.finish())
    }

    /// Escapes text of unknown origin.
    pub fn from_text(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }

    /// Escapes bytes of unknown origin into at most `max_chars` characters, the last of them `…`
    /// where there was more. Looks only at the bytes that it shows.
    pub fn from_bytes_limited(bytes: &[u8], max_chars: usize) -> Self {
        if max_chars == 0 {
            return Self::default();
        }
        // One character more than is shown, at up to four bytes each: what is shown does not
        // depend on anything behind that.
        let looked_at = &bytes[..bytes.len().min(max_chars.saturating_add(1).saturating_mul(4))];
        let mut escaper = Escaper::new(looked_at.len(), max_chars);
        escaper.bytes(looked_at);
        let mut shown = escaper.finish();
        if looked_at.len() < bytes.len() || shown.chars().nth(max_chars).is_some() {
            let end = shown
                .char_indices()
                .nth(max_chars - 1)
                .map_or(shown.len(), |(at, _)| at);
            shown.truncate(end);
            shown.push('…');
        }
        Self(shown)
    }

    /// Takes text that this program brings itself. A backslash in it stays as it is; what may not
    /// go to a terminal is escaped all the same.
    pub fn literal(text: &'static str) -> Self {
        let mut safe = Self::default();
        safe.push_literal(text);
        safe
    }

    /// Takes text that was put together from safe text, as a sentence with a name in it: a backslash stays as it
    /// is, so that no escape is escaped again; what may not go to a terminal is escaped all the same.
    pub fn from_escaped(text: &str) -> Self {
        let mut escaper = Escaper::new(text.len(), usize::MAX);
        escaper.doubling = Doubling::Never;
        escaper.text(text);
        Self(escaper.finish())
    }

    /// Joins parts with a separator that this program brings itself.
    pub fn join<S: Borrow<Self>>(parts: impl IntoIterator<Item = S>, separator: &'static str) -> Self {
        let mut joined = Self::default();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                joined.push_literal(separator);
            }
            joined.push(part.borrow());
        }
        joined
    }

    /// Appends other safe text.
    pub fn push(&mut self, other: &Self) {
        self.part_from(&other.0);
        self.0.push_str(&other.0);
    }

    /// Appends text that this program brings itself, as [`Safe::literal`] does.
    pub fn push_literal(&mut self, text: &'static str) {
        self.part_from(text);
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            self.0.push_str(text);
        } else {
            let mut escaper = Escaper::new(text.len(), usize::MAX);
            escaper.doubling = Doubling::Never;
            escaper.text(text);
            self.0.push_str(&escaper.finish());
        }
    }

    /// Keeps a backslash at the end apart from what follows.
    fn part_from(&mut self, next: &str) {
        let trailing = self.0.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if trailing % 2 == 1 && next.starts_with(reads_as_escape) {
            self.0.push('\\');
        }
    }

    /// Returns the escaped text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the escaped text as a string.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of columns it takes.
    pub fn columns(&self) -> usize {
        width::columns(&self.0)
    }

    /// Returns it cut at its end to at most `columns`.
    #[must_use]
    pub fn truncated(&self, columns: usize, glyphs: Glyphs) -> Self {
        Self(width::truncate(&self.0, columns, glyphs).into_owned())
    }

    /// Returns it cut in its middle to at most `columns`: for paths.
    #[must_use]
    pub fn truncated_middle(&self, columns: usize, glyphs: Glyphs) -> Self {
        Self(width::truncate_middle(&self.0, columns, glyphs).into_owned())
    }

    /// Returns it in lines of at most `columns`.
    pub fn wrapped(&self, columns: usize) -> Vec<Self> {
        let lines = width::wrap(&self.0, columns);
        lines.into_iter().map(Self).collect()
    }

    /// Returns it for a terminal without UTF-8: `…` as `~`, every other character beyond ASCII as
    /// `\u{e9}`.
    pub fn ascii(&self) -> Cow<'_, Self> {
        if self.0.is_ascii() {
            return Cow::Borrowed(self);
        }
        let mut folded = String::with_capacity(self.0.len() * 2);
        let mut backslashes = 0;
        for c in self.0.chars() {
            match c {
                '\u{0}'..='\u{7f}' => folded.push(c),
                '…' => folded.push('~'),
                _ => {
                    // A backslash that stood for itself would now read as the start of `\\`.
                    if backslashes % 2 == 1 {
                        folded.push('\\');
                    }
                    push_code_point(&mut folded, c);
                }
            }
            backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        }
        Cow::Owned(Self(folded))
    }
}

impl fmt::Display for Safe {
    /// Width and precision of the format count columns, not characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match f.precision() {
            Some(limit) => width::truncate(&self.0, limit, Glyphs::Unicode),
            None => Cow::Borrowed(self.0.as_str()),
        };
        let missing = f
            .width()
            .map_or(0, |width| width.saturating_sub(width::columns(&text)));
        let before = match f.align() {
            Some(fmt::Alignment::Right) => missing,
            Some(fmt::Alignment::Center) => missing / 2,
            Some(fmt::Alignment::Left) | None => 0,
        };
        let fill = f.fill();
        for _ in 0..before {
            f.write_char(fill)?;
        }
        f.write_str(&text)?;
        for _ in before..missing {
            f.write_char(fill)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Safe({:?})", self.0)
    }
}

impl AsRef<str> for Safe {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<Safe> for String {
    fn from(safe: Safe) -> Self {
        safe.0
    }
}

macro_rules! from_number {
    ($($number:ty),*) => {$(
        impl From<$number> for Safe {
            fn from(number: $number) -> Self {
                Self(number.to_string())
            }
        }
    )*};
}

from_number!(u8, u16, u32, u64, usize, i32, i64);

/// Every character that is not drawn, or drawn as nothing: categories Other (control, format,
/// private, unassigned) and Separator but for the blank, what Unicode calls ignorable, and the
/// blank pattern of Braille.
static HIDDEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\x{2800}--[\x20]]").ok()
});

/// Whether a backslash that stands for itself may be doubled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doubling {
    WhereNeeded,
    Never,
}

/// Writes the escaped text; stops soon after `limit` characters.
struct Escaper {
    out: String,
    limit: usize,
    written: usize,
    doubling: Doubling,
    /// A backslash of the original was written last, and not yet doubled.
    open_backslash: bool,
    /// Where the character starts that a mark may stand on.
    base: Option<usize>,
    marks: usize,
}

impl Escaper {
    fn new(expected: usize, limit: usize) -> Self {
        Self {
            out: String::with_capacity(expected.min(limit.saturating_mul(4)) + 8),
            limit,
            written: 0,
            doubling: Doubling::WhereNeeded,
            open_backslash: false,
            base: None,
            marks: 0,
        }
    }

    fn finish(self) -> String {
        self.out
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            self.text(chunk.valid());
            for byte in chunk.invalid() {
                self.escape(|out| write!(out, "\\x{byte:02x}"));
            }
        }
    }

    fn text(&mut self, text: &str) {
        let mut hidden = if text.is_ascii() {
            None
        } else {
            next_hidden(text, 0)
        };
        for (at, c) in text.char_indices() {
            if self.written > self.limit {
                return;
            }
            let is_hidden = hidden == Some(at);
            if is_hidden {
                hidden = next_hidden(text, at + c.len_utf8());
            }
            match c {
                '\n' => self.escape(|out| out.write_str("\\n")),
                '\r' => self.escape(|out| out.write_str("\\r")),
                '\t' => self.escape(|out| out.write_str("\\t")),
                '\u{0}'..='\u{1f}' | '\u{7f}' => self.escape(|out| write!(out, "\\x{:02x}", u32::from(c))),
                ' '..='~' => self.visible(c),
                _ if is_hidden => self.code_point(c),
                _ if c.width().unwrap_or(0) == 0 => self.mark(c),
                _ => self.visible(c),
            }
        }
    }

    fn visible(&mut self, c: char) {
        self.close_backslash(reads_as_escape(c));
        self.base = (c != ' ').then_some(self.out.len());
        self.marks = 0;
        self.out.push(c);
        self.written += 1;
        self.open_backslash = c == '\\' && self.doubling == Doubling::WhereNeeded;
    }

    /// Writes a character without columns of its own: as it is where it attaches to the one
    /// before, else escaped.
    fn mark(&mut self, c: char) {
        let Some(base) = self.base.filter(|_| self.marks < MAX_MARKS) else {
            self.code_point(c);
            return;
        };
        let end = self.out.len();
        self.out.push(c);
        if self.out[base..].graphemes(true).nth(1).is_some() {
            self.out.truncate(end);
            self.code_point(c);
        } else {
            self.open_backslash = false;
            self.marks += 1;
            self.written += 1;
        }
    }

    fn code_point(&mut self, c: char) {
        self.escape(|out| {
            push_code_point(out, c);
            Ok(())
        });
    }

    fn escape(&mut self, write: impl FnOnce(&mut String) -> fmt::Result) {
        self.close_backslash(true);
        let before = self.out.len();
        // Writing to a String does not fail.
        let _ = write(&mut self.out);
        self.written += self.out.len() - before;
        self.base = None;
    }

    fn close_backslash(&mut self, double: bool) {
        if self.open_backslash && double {
            self.out.push('\\');
            self.written += 1;
        }
        self.open_backslash = false;
    }
}

/// Returns whether a backslash in front of this would read as an escape.
fn reads_as_escape(c: char) -> bool {
    matches!(c, '\\' | 'n' | 'r' | 't' | 'x' | 'u')
}

fn push_code_point(out: &mut String, c: char) {
    // Writing to a String does not fail.
    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
}

/// Returns where the next character stands that is not drawn; without the table (it is a constant
/// and compiles) every character beyond ASCII.
fn next_hidden(text: &str, from: usize) -> Option<usize> {
    match HIDDEN.as_ref() {
        Some(hidden) => hidden.find_at(text, from).map(|found| found.start()),
        None => text[from..].find(|c: char| !c.is_ascii()).map(|at| from + at),
    }
}

#[cfg(test)]
mod tests;
