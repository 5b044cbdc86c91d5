//! Splits a line into words as a shell does, keeping where each byte came from.
//!
//! Lines are not always shell text: a title is an argument vector joined by blanks. So a quote
//! that nobody closes is an ordinary character, and nothing but blanks separates words; only a `;` at
//! the end of a word is a word of its own.

use super::edits::{Place, Quoting, View};

/// Returns the words of a line.
pub(super) fn split(line: &[u8]) -> impl Iterator<Item = View<'_>> {
    let last_of = |quote| line.iter().rposition(|byte| *byte == quote).unwrap_or(0);
    let mut splitter = Splitter {
        line,
        at: 0,
        last_single: last_of(b'\''),
        last_double: last_of(b'"'),
    };
    std::iter::from_fn(move || splitter.next_word())
}

struct Splitter<'a> {
    line: &'a [u8],
    at: usize,
    last_single: usize,
    last_double: usize,
}

impl<'a> Splitter<'a> {
    fn next_word(&mut self) -> Option<View<'a>> {
        while self.line.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        let start = self.at;
        let plain = self.line[start..]
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'\'' | b'"' | b'\\'))
            .map_or(self.line.len(), |length| start + length);
        if self.line.get(plain).is_none_or(u8::is_ascii_whitespace) {
            let word = &self.line[start..plain];
            let plain = if word.len() > 1 && word.ends_with(b";") {
                plain - 1
            } else {
                plain
            };
            self.at = plain;
            return Some(View::plain(&self.line[start..plain], start));
        }
        Some(self.decode())
    }

    fn decode(&mut self) -> View<'a> {
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        let mut quoting = Quoting::Bare;
        while let Some(&byte) = self.line.get(self.at) {
            if quoting == Quoting::Bare {
                if byte.is_ascii_whitespace() {
                    break;
                }
                if let Some(opened) = self.opens(byte) {
                    quoting = opened;
                    self.at += 1;
                    continue;
                }
            } else if closes(quoting, byte) {
                quoting = Quoting::Bare;
                self.at += 1;
                continue;
            }
            let length = if self.escapes(byte, quoting) { 2 } else { 1 };
            bytes.push(self.line[self.at + length - 1]);
            places.push(Place {
                start: self.at,
                end: self.at + length,
                quoting,
            });
            self.at += length;
        }
        if let (Some(place), true) = (places.last(), bytes.len() > 1 && bytes.ends_with(b";"))
            && place.quoting == Quoting::Bare
            && place.end == self.at
            && place.end - place.start == 1
        {
            self.at = place.start;
            bytes.pop();
            places.pop();
        }
        View::decoded(bytes, places)
    }

    fn opens(&self, byte: u8) -> Option<Quoting> {
        match byte {
            b'\'' if self.at < self.last_single => Some(Quoting::Single),
            b'"' if self.at < self.last_double => Some(Quoting::Double),
            _ => None,
        }
    }

    fn escapes(&self, byte: u8, quoting: Quoting) -> bool {
        let Some(&next) = self.line.get(self.at + 1).filter(|_| byte == b'\\') else {
            return false;
        };
        match quoting {
            Quoting::Bare => true,
            Quoting::Double => matches!(next, b'"' | b'\\' | b'$' | b'`'),
            Quoting::Single | Quoting::Json | Quoting::Verbatim => false,
        }
    }
}

fn closes(quoting: Quoting, byte: u8) -> bool {
    match quoting {
        Quoting::Single => byte == b'\'',
        Quoting::Double => byte == b'"',
        Quoting::Bare | Quoting::Json | Quoting::Verbatim => false,
    }
}
