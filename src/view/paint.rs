//! Puts text into cells: pieces with a tone, paragraphs with a label, segments that fit or go.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::theme::{Theme, Tone};
use crate::text::Safe;
use crate::text::width::{columns, pad, pad_left, truncate, wrap};

/// Text of one tone.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    /// The text.
    pub(super) text: Safe,
    /// Its tone.
    pub(super) tone: Tone,
}

/// Returns text of this program's own.
pub(super) fn lit(text: &'static str, tone: Tone) -> Piece {
    Piece {
        text: Safe::literal(text),
        tone,
    }
}

/// Returns text that was put together: it is escaped.
pub(super) fn say(text: &str, tone: Tone) -> Piece {
    Piece {
        text: Safe::from_text(text),
        tone,
    }
}

/// Returns text that is escaped already.
pub(super) fn safe(text: Safe, tone: Tone) -> Piece {
    Piece { text, tone }
}

/// One line as it will be drawn: pieces side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn(Vec<(String, Tone)>);

impl Drawn {
    /// Returns the text without its tones.
    pub(super) fn plain(&self) -> String {
        let text: String = self.0.iter().map(|(text, _)| text.as_str()).collect();
        text.trim_end().to_owned()
    }

    /// Returns a line of one tone.
    pub(super) fn one(text: String, tone: Tone) -> Self {
        Self(vec![(text, tone)])
    }

    /// Adds text behind.
    pub(super) fn push(&mut self, text: String, tone: Tone) {
        self.0.push((text, tone));
    }

    /// Draws the line; what does not fit is cut, with a sign.
    pub(super) fn draw(&self, buffer: &mut Buffer, area: Rect, theme: Theme) {
        let mut x = area.x;
        let end = area.x.saturating_add(area.width);
        for (at, (text, tone)) in self.0.iter().enumerate() {
            let room = usize::from(end.saturating_sub(x));
            let more = self.0[at + 1..].iter().any(|(text, _)| !text.trim().is_empty());
            let full = columns(text) == room && more;
            let cut = if full {
                truncate(text, room.saturating_sub(1), theme.glyphs())
            } else {
                truncate(text, room, theme.glyphs())
            };
            let (after, _) = buffer.set_stringn(x, area.y, cut.as_ref(), room, theme.style(*tone));
            if columns(text) > room || full {
                return;
            }
            x = after;
        }
    }
}

/// Fills a line with one tone.
pub(super) fn fill(buffer: &mut Buffer, area: Rect, theme: Theme, tone: Tone) {
    buffer.set_style(area, theme.style(tone));
}

/// A paragraph: a label, text, and a note at the right.
#[derive(Clone, Debug, Default)]
pub(super) struct Para {
    /// Columns of the label.
    pub(super) gutter: usize,
    /// The label.
    pub(super) label: Piece,
    /// The text.
    pub(super) text: Piece,
    /// The note.
    pub(super) note: Option<Safe>,
    /// Whether it is a row of a table: never wrapped.
    pub(super) row: bool,
}

/// Columns of the labels of panes.
const GUTTER: usize = 10;

impl Para {
    /// Returns text without a label.
    pub(super) fn bare(text: Piece) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Returns text with a label.
    pub(super) fn labelled(label: Piece, text: Piece) -> Self {
        Self {
            gutter: GUTTER,
            label,
            text,
            ..Self::default()
        }
    }

    /// Returns text of several lines, one paragraph each; label and note stand at the first.
    pub(super) fn several(label: Piece, text: &str, tone: Tone, note: Safe) -> Vec<Self> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let mut paras = vec![Self::labelled(label, say(first, tone)).note(note)];
        paras.extend(lines.map(|line| Self::labelled(Piece::default(), say(line, tone))));
        paras
    }

    /// Returns a row of a table.
    pub(super) fn row(text: Piece) -> Self {
        Self {
            text,
            row: true,
            ..Self::default()
        }
    }

    /// Returns an empty line.
    pub(super) fn blank() -> Self {
        Self::default()
    }

    /// Adds a note at the right.
    pub(super) fn note(mut self, note: Safe) -> Self {
        self.note = (!note.as_str().is_empty()).then_some(note);
        self
    }

    /// Returns the paragraph in one line, however long.
    pub(super) fn plain(&self) -> String {
        let mut parts = vec![
            self.label.text.as_str().trim_end(),
            self.text.text.as_str().trim_end(),
        ];
        parts.retain(|part| !part.is_empty());
        let mut line = parts.join("  ");
        if let Some(note) = &self.note {
            // Writing to a string cannot fail.
            let _ = write!(line, "  [{note}]");
        }
        line
    }

    /// Lays the paragraph out in lines of `width` columns.
    pub(super) fn lines(&self, width: usize, wraps: bool, theme: Theme) -> Vec<Drawn> {
        let text = theme.text(&self.text.text);
        let note = self.note.as_ref().map(|note| theme.text(note));
        let room = width.saturating_sub(self.gutter).max(1);
        let taken = note.as_ref().map_or(0, |note| columns(note) + 2);
        // A note that would take half of the line goes below the text instead.
        let beside = taken > 0 && taken * 2 <= room;
        let first_room = if beside { room - taken } else { room };
        let mut texts = if self.row || !wraps {
            vec![truncate(&text, first_room, theme.glyphs()).into_owned()]
        } else {
            wrap(&text, first_room)
        };
        if let Some(note) = note.as_ref().filter(|_| !beside && wraps && !self.row) {
            texts.extend(wrap(&format!("[{note}]"), room));
        }
        let label = theme.text(&self.label.text).into_owned();
        texts
            .into_iter()
            .enumerate()
            .map(|(at, text)| {
                let mut line = Drawn::default();
                if self.gutter > 0 {
                    let label = if at == 0 { label.as_str() } else { "" };
                    line.push(pad(label, self.gutter, theme.glyphs()), self.label.tone);
                }
                match &note {
                    Some(note) if beside && at == 0 => {
                        line.push(pad(&text, first_room, theme.glyphs()), self.text.tone);
                        line.push(pad_left(note, taken, theme.glyphs()), Tone::Dim);
                    }
                    _ => line.push(text, self.text.tone),
                }
                line
            })
            .collect()
    }
}

/// Segments of a line, two blanks between them; those of the least weight go until the rest fits.
#[derive(Debug, Default)]
pub(super) struct Segments(Vec<(u8, Piece)>);

impl Segments {
    /// Adds a segment.
    pub(super) fn add(&mut self, weight: u8, piece: Piece) {
        if !piece.text.as_str().is_empty() {
            self.0.push((weight, piece));
        }
    }

    /// Returns what fits.
    pub(super) fn fit(mut self, width: usize, theme: Theme) -> Drawn {
        loop {
            let needed: usize = self
                .0
                .iter()
                .map(|(_, piece)| columns(&theme.text(&piece.text)) + 2)
                .sum();
            let least = self.0.iter().map(|(weight, _)| *weight).min();
            let Some(least) = least.filter(|_| needed > width + 1 && self.0.len() > 1) else {
                break;
            };
            if let Some(at) = self.0.iter().rposition(|(weight, _)| *weight == least) {
                self.0.remove(at);
            }
        }
        let mut line = Drawn::one(" ".to_owned(), Tone::Plain);
        for (at, (_, piece)) in self.0.iter().enumerate() {
            if at > 0 {
                line.push("  ".to_owned(), Tone::Plain);
            }
            line.push(theme.text(&piece.text).into_owned(), piece.tone);
        }
        line
    }
}
