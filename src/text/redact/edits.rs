//! Replacements found in a text, and how those found in a decoded view come back to its source.

use std::borrow::Cow;
use std::io::Write as _;
use std::ops::Range;

/// One secret found.
#[derive(Clone, Debug)]
pub(super) struct Edit<'r> {
    /// Bytes that go.
    pub(super) range: Range<usize>,
    /// Id of the rule.
    pub(super) rule: &'r str,
    /// Bytes of the secret itself, without the quoting around it.
    pub(super) secret_len: usize,
    /// What stands before the mark, to keep the quoting of the source.
    pub(super) before: String,
    /// What stands behind it.
    pub(super) after: String,
}

/// The replacements of one text.
#[derive(Debug, Default)]
pub(super) struct Edits<'r>(Vec<Edit<'r>>);

impl<'r> Edits<'r> {
    /// Adds a secret.
    pub(super) fn add(&mut self, range: Range<usize>, rule: &'r str) {
        let secret_len = range.len();
        self.push(Edit {
            range,
            rule,
            secret_len,
            before: String::new(),
            after: String::new(),
        });
    }

    /// Adds a replacement.
    pub(super) fn push(&mut self, edit: Edit<'r>) {
        self.0.push(edit);
    }

    /// Returns whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over what was found in a part of the text.
    pub(super) fn extend_from(&mut self, inner: Edits<'r>, view: &View<'_>) {
        self.0.extend(inner.0.into_iter().map(|edit| view.outer(edit)));
    }

    /// Returns the text with every replacement made; those that overlap become one, by the rule
    /// that begins first.
    pub(super) fn apply(mut self, text: &[u8]) -> Vec<u8> {
        self.0.sort_by_key(|edit| edit.range.start);
        let mut merged: Vec<Edit<'r>> = Vec::new();
        for edit in self.0 {
            match merged.last_mut() {
                Some(last) if edit.range.start < last.range.end => last.absorb(&edit),
                _ => merged.push(edit),
            }
        }
        let mut redacted = Vec::with_capacity(text.len());
        let mut done = 0;
        for edit in merged {
            redacted.extend_from_slice(&text[done..edit.range.start]);
            // Writing to a Vec does not fail.
            let _ = write!(
                redacted,
                "{}<redacted:{}:len={}>{}",
                edit.before, edit.rule, edit.secret_len, edit.after
            );
            done = edit.range.end;
        }
        redacted.extend_from_slice(&text[done..]);
        redacted
    }
}

impl Edit<'_> {
    fn absorb(&mut self, other: &Self) {
        if other.range.end <= self.range.end {
            return;
        }
        self.range.end = other.range.end;
        self.secret_len = self.range.len();
        self.after.clone_from(&other.after);
    }
}

/// Where a decoded byte stands in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// First byte of the source that makes it.
    pub(super) start: usize,
    /// End of those bytes.
    pub(super) end: usize,
    /// The quoting that it stands in.
    pub(super) quoting: Quoting,
}

/// What a text stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Nothing, of a shell.
    Bare,
    /// `'…'` of a shell.
    Single,
    /// `"…"` of a shell.
    Double,
    /// A string of JSON.
    Json,
    /// Text that stands for itself.
    Verbatim,
}

impl Quoting {
    /// The quote that opens and closes it within a word.
    fn mark(self) -> &'static str {
        match self {
            Self::Bare | Self::Json | Self::Verbatim => "",
            Self::Single => "'",
            Self::Double => "\"",
        }
    }

    /// Returns text that reads as `text` where this quoting is open.
    fn escape(self, text: &str) -> String {
        match self {
            _ if text.is_empty() => String::new(),
            Self::Verbatim => text.to_owned(),
            Self::Bare => text
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\'', "\\'"),
            Self::Single => text.replace('\'', "'\\''"),
            Self::Double | Self::Json => text.replace('\\', "\\\\").replace('"', "\\\""),
        }
    }
}

/// A part of a text as its reader would see it: without quotes and escapes.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The decoded bytes.
    pub(super) bytes: Cow<'a, [u8]>,
    /// Where the first byte stands, for a view without `places`.
    offset: usize,
    /// What it stands in, for a view without `places`.
    quoting: Option<Quoting>,
    /// One for each byte where something was decoded, else empty.
    places: Vec<Place>,
}

impl<'a> View<'a> {
    /// A part that stands in the source as it is.
    pub(super) fn plain(bytes: &'a [u8], offset: usize) -> Self {
        Self {
            bytes: Cow::Borrowed(bytes),
            offset,
            quoting: None,
            places: Vec::new(),
        }
    }

    /// A string of JSON without escapes.
    pub(super) fn json(bytes: &'a [u8], offset: usize) -> Self {
        Self {
            quoting: Some(Quoting::Json),
            ..Self::plain(bytes, offset)
        }
    }

    /// A part that was decoded; `places` has one entry for each byte.
    pub(super) fn decoded(bytes: Vec<u8>, places: Vec<Place>) -> Self {
        Self {
            bytes: Cow::Owned(bytes),
            offset: 0,
            quoting: None,
            places,
        }
    }

    /// Returns the replacement in terms of the source. Quotes that the replaced part opened or
    /// closed are put back, so that the rest reads as before.
    fn outer<'r>(&self, edit: Edit<'r>) -> Edit<'r> {
        let Range { start, end } = edit.range;
        if self.places.is_empty() || start >= end {
            let escape = |text: String| self.quoting.map_or(text.clone(), |quoting| quoting.escape(&text));
            return Edit {
                range: start + self.offset..end + self.offset,
                before: escape(edit.before),
                after: escape(edit.after),
                ..edit
            };
        }
        let (first, last) = (self.places[start], self.places[end - 1]);
        let mut after = first.quoting.escape(&edit.after);
        if first.quoting != last.quoting {
            after.push_str(first.quoting.mark());
            after.push_str(last.quoting.mark());
        }
        Edit {
            range: first.start..last.end,
            before: first.quoting.escape(&edit.before),
            after,
            ..edit
        }
    }
}
