//! Finds secrets in JSON, also in JSON that is cut off or stands in the middle of other text.
//!
//! Replaces inside the quotes of strings only, and numbers by strings: JSON that was valid stays
//! valid. Reads with a stack of its own, so nesting costs no recursion.

use super::edits::{Edit, Edits, Place, Quoting, View};
use super::engine::{Engine, Expect, JSON_RULE, Strength};
use super::names::Meaning;
use super::programs::Follow;

/// Returns whether the text is one JSON object or array and nothing else.
pub(super) fn is_whole(text: &[u8]) -> bool {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'[')) && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

/// Finds the secrets in every part of the text that looks like JSON.
pub(super) fn scan<'r>(engine: &'r Engine, text: &[u8], depth: usize, edits: &mut Edits<'r>) {
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|byte| matches!(byte, b'{' | b'[')) {
        at += found;
        if begins_json(&text[at..]) {
            let mut scanner = Scanner {
                engine,
                text,
                at,
                depth,
                edits,
                frames: Vec::new(),
                so_far: Follow::default(),
            };
            scanner.run();
            at = scanner.at.max(at + 1);
        } else {
            at += 1;
        }
    }
}

/// Finds the secrets in an object whose every value is one: headers.
pub(super) fn scan_map<'r>(engine: &'r Engine, text: &[u8], depth: usize, edits: &mut Edits<'r>) {
    let outside = Frame {
        object: true,
        at_key: false,
        key: Key::Map,
        all: false,
        in_array: false,
        named: false,
        expect: Expect::Nothing,
    };
    let mut scanner = Scanner {
        engine,
        text,
        at: 0,
        depth,
        edits,
        frames: vec![outside],
        so_far: Follow::default(),
    };
    scanner.run();
}

fn begins_json(text: &[u8]) -> bool {
    const BLANKS: usize = 64;
    let next = text[1..]
        .iter()
        .take(BLANKS)
        .find(|byte| !byte.is_ascii_whitespace());
    match next {
        Some(b'"') => true,
        Some(b'{' | b'[') => text[0] == b'[',
        _ => false,
    }
}

/// An open object or array.
#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent facts on one place in the text"
)]
#[derive(Clone, Copy)]
struct Frame {
    object: bool,
    /// The next string is a key.
    at_key: bool,
    /// What the key in front of the next value says of it.
    key: Key,
    /// Every value in here goes.
    all: bool,
    /// Stands in an array: `[{"name": "X-Api-Key", "value": "…"}]`.
    in_array: bool,
    /// `"name": "API_TOKEN"` was read: its neighbour `value` is a secret.
    named: bool,
    /// In an array: what the string before says of the next one.
    expect: Expect,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Says(Meaning),
    Map,
    Name,
    Value,
}

struct Scanner<'s, 'r> {
    engine: &'r Engine,
    text: &'s [u8],
    at: usize,
    depth: usize,
    edits: &'s mut Edits<'r>,
    frames: Vec<Frame>,
    so_far: Follow,
}

impl Scanner<'_, '_> {
    /// Reads to the end of the outermost value, or to the first thing that is not JSON.
    fn run(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'{' | b'[' => self.open(byte == b'{'),
                b'}' | b']' => {
                    self.frames.pop();
                    self.at += 1;
                    if self.frames.is_empty() {
                        return;
                    }
                    self.value_done(Expect::Nothing);
                }
                b'"' => self.string(),
                b':' | b',' => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.at_key = frame.object && byte == b',';
                    }
                    self.at += 1;
                }
                b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => self.literal(),
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn open(&mut self, object: bool) {
        let in_array = self.frames.last().is_some_and(|frame| !frame.object);
        let all = self
            .frames
            .last()
            .is_some_and(|frame| frame.all || matches!(frame.key, Key::Map | Key::Says(Meaning::Strong)));
        let frame = Frame {
            object,
            at_key: object,
            key: Key::Says(Meaning::Plain),
            all,
            in_array,
            named: false,
            expect: Expect::Nothing,
        };
        self.frames.push(frame);
        self.at += 1;
    }

    fn value_done(&mut self, expect: Expect) {
        if let Some(frame) = self.frames.last_mut() {
            frame.key = Key::Says(Meaning::Plain);
            frame.expect = if frame.object { Expect::Nothing } else { expect };
        }
    }

    /// A number below a key that says so is a secret too (a PIN, an account number); `true`, `false` and
    /// `null` are none.
    fn literal(&mut self) {
        let start = self.at;
        let token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        self.at += self.text[start..].iter().take_while(|byte| token(byte)).count();
        let number = self.text[start].is_ascii_digit() || self.text[start] == b'-';
        let strength = self.strength().filter(|_| number);
        if let Some(strength) = strength
            && self.engine.is_secret(&self.text[start..self.at], strength)
        {
            self.edits.push(Edit {
                range: start..self.at,
                rule: JSON_RULE,
                secret_len: self.at - start,
                before: "\"".to_owned(),
                after: "\"".to_owned(),
            });
        }
        self.value_done(Expect::Nothing);
    }

    fn string(&mut self) {
        let start = self.at + 1;
        let end = string_end(self.text, start);
        self.at = (end + 1).min(self.text.len());
        let view = decode(&self.text[start..end], start);
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if frame.at_key {
            frame.key = key_of(self.engine, &view.bytes);
            let mut inner = Edits::default();
            self.engine.shapes(&view.bytes, &mut inner);
            self.edits.extend_from(inner, &view);
            return;
        }
        if frame.key == Key::Name {
            frame.named = self.engine.names.of_variable(&view.bytes) == Meaning::Strong;
        }
        let expect = frame.expect;
        let secret = self
            .strength()
            .is_some_and(|strength| self.engine.is_secret(&view.bytes, strength));
        let mut inner = Edits::default();
        self.engine.follow(&mut self.so_far, &view.bytes, &mut inner);
        let next = if secret {
            inner.add(0..view.bytes.len(), JSON_RULE);
            Expect::Nothing
        } else {
            self.engine.step(expect, &view.bytes, self.depth + 1, &mut inner)
        };
        self.edits.extend_from(inner, &view);
        self.value_done(next);
    }

    /// Returns whether the next value is a secret by where it stands, and how surely.
    fn strength(&self) -> Option<Strength> {
        let frame = self.frames.last()?;
        match frame.key {
            Key::Name if frame.in_array => None,
            _ if frame.all => Some(Strength::Strong),
            Key::Says(Meaning::Strong) | Key::Map => Some(Strength::Strong),
            Key::Value if frame.named => Some(Strength::Strong),
            Key::Says(Meaning::Weak) => Some(Strength::Weak),
            _ => None,
        }
    }
}

fn key_of(engine: &Engine, name: &[u8]) -> Key {
    match name {
        b"name" | b"key" => Key::Name,
        b"value" => Key::Value,
        _ if engine.names.is_map(name) => Key::Map,
        _ => Key::Says(engine.names.of_flag(name)),
    }
}

/// Returns where a string ends: at its quote, or at the end of a text that is cut off.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the string as it reads, `offset` being where it starts.
fn decode(raw: &[u8], offset: usize) -> View<'_> {
    if !raw.contains(&b'\\') {
        return View::json(raw, offset);
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut places = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let (length, c) = escaped(&raw[at..]);
        let mut buffer = [0; 4];
        let decoded = match c {
            Some(c) => c.encode_utf8(&mut buffer).as_bytes(),
            None => &raw[at..=at],
        };
        for &byte in decoded {
            bytes.push(byte);
            places.push(Place {
                start: offset + at,
                end: offset + at + length,
                quoting: Quoting::Json,
            });
        }
        at += length;
    }
    View::decoded(bytes, places)
}

/// Returns the bytes of the first character as written, and the character where it is an escape.
fn escaped(raw: &[u8]) -> (usize, Option<char>) {
    let (Some(b'\\'), Some(&kind)) = (raw.first(), raw.get(1)) else {
        return (1, None);
    };
    let c = match kind {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(raw),
        _ if kind.is_ascii() => char::from(kind),
        _ => return (1, None),
    };
    (2, Some(c))
}

fn unicode_escape(raw: &[u8]) -> (usize, Option<char>) {
    let unit = |at: usize| {
        let digits = raw.get(at..at + 6).filter(|digits| digits.starts_with(b"\\u"))?;
        u32::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (2, Some('u'));
    };
    if let (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) = (first, unit(6)) {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (12, char::from_u32(code));
    }
    (
        6,
        Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)),
    )
}
