//! Turns the bytes of a terminal into keys and pasted text.
//!
//! Sequences: ECMA-48 (CSI, SS3), xterm's control sequences (bracketed paste, modifiers), and the
//! function keys of the Linux console (`console_codes(4)`). Pure: the caller keeps the time.

use std::time::Duration;

use crate::app::{Event, Key};

const ESC: u8 = 0x1b;
/// A sequence that is longer than this is none that we know.
const LONGEST_SEQUENCE: usize = 64;
/// Pasted text beyond this is dropped.
const LONGEST_PASTE: usize = 1 << 20;
const PASTE_END: &[u8] = b"\x1b[201~";
/// After this long an Esc that nothing follows was the key.
const ESCAPE_TIME: Duration = Duration::from_millis(50);
/// After this long a sequence that has not ended will not: it is dropped, never typed.
const SEQUENCE_TIME: Duration = Duration::from_millis(500);

/// Decodes a stream of bytes, however it was cut into chunks.
#[derive(Debug, Default)]
pub(in crate::runtime) struct Decoder {
    pending: Vec<u8>,
    /// What was pasted so far, between the two brackets.
    paste: Option<Vec<u8>>,
}

/// What the bytes at the front are.
enum Piece {
    /// Not yet to be told: more bytes are needed.
    Partial,
    /// So many bytes, and the key that they are, if any.
    Key(usize, Option<Key>),
    /// So many bytes that begin a paste.
    Paste(usize),
}

impl Decoder {
    /// Takes the next bytes; returns what they complete.
    pub(in crate::runtime) fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.pending.extend_from_slice(bytes);
        let mut events = Vec::new();
        loop {
            if self.paste.is_some() {
                let Some(text) = self.take_paste() else { break };
                events.push(Event::Paste(text));
            }
            match piece(&self.pending) {
                Piece::Partial => break,
                Piece::Key(length, key) => {
                    self.pending.drain(..length);
                    events.extend(key.map(Event::Key));
                }
                Piece::Paste(length) => {
                    self.pending.drain(..length);
                    self.paste = Some(Vec::new());
                }
            }
        }
        events
    }

    /// Returns how long to wait for more before `give_up`; `None`: nothing is cut.
    pub(in crate::runtime) fn patience(&self) -> Option<Duration> {
        match (&self.paste, self.pending.as_slice()) {
            (Some(_), _) | (None, []) => None,
            (None, [ESC]) => Some(ESCAPE_TIME),
            (None, _) => Some(SEQUENCE_TIME),
        }
    }

    /// Nothing has followed in time: returns the Esc key where there was one, and drops a
    /// sequence that was cut.
    pub(in crate::runtime) fn give_up(&mut self) -> Option<Event> {
        let escape = self.pending == [ESC];
        self.pending.clear();
        escape.then_some(Event::Key(Key::Esc))
    }

    /// Moves pending bytes to the paste; returns its text once the closing bracket is there.
    fn take_paste(&mut self) -> Option<String> {
        let paste = self.paste.as_mut()?;
        let end = self
            .pending
            .windows(PASTE_END.len())
            .position(|window| window == PASTE_END);
        // Without the end, the last bytes may be its beginning.
        let take = end.unwrap_or_else(|| self.pending.len().saturating_sub(PASTE_END.len() - 1));
        let room = LONGEST_PASTE.saturating_sub(paste.len());
        paste.extend(self.pending.drain(..take).take(room));
        end?;
        self.pending.drain(..PASTE_END.len());
        self.paste
            .take()
            .map(|text| String::from_utf8_lossy(&text).into_owned())
    }
}

fn piece(bytes: &[u8]) -> Piece {
    match bytes {
        [] => Piece::Partial,
        [ESC, rest @ ..] => escape(rest),
        [byte, ..] if byte.is_ascii() => Piece::Key(1, Some(plain(*byte))),
        _ => match character(bytes) {
            Letter::Partial => Piece::Partial,
            Letter::Bad => Piece::Key(1, None),
            Letter::Good(letter) => Piece::Key(letter.len_utf8(), Some(Key::Char(letter))),
        },
    }
}

/// One byte below 0x80 that is not ESC.
fn plain(byte: u8) -> Key {
    match byte {
        b'\r' => Key::Enter,
        b'\t' => Key::Tab,
        // A vt100's backspace key sends 0x08.
        0x08 | 0x7f => Key::Backspace,
        0 => Key::Ctrl(' '),
        0x01..=0x1a => Key::Ctrl(char::from(byte - 1 + b'a')),
        0x1c..=0x1f => Key::Ctrl(char::from(byte - 0x1c + b'4')),
        _ => Key::Char(char::from(byte)),
    }
}

enum Letter {
    Partial,
    Bad,
    Good(char),
}

fn character(bytes: &[u8]) -> Letter {
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) if error.error_len().is_none() => return Letter::Partial,
        Err(_) => return Letter::Bad,
    };
    valid.chars().next().map_or(Letter::Bad, Letter::Good)
}

/// What follows an ESC. Lengths count the ESC.
fn escape(rest: &[u8]) -> Piece {
    match rest {
        [] | [b'O'] => Piece::Partial,
        [b'[', body @ ..] => control_sequence(body),
        [b'O', letter, ..] => Piece::Key(3, single_shift(*letter)),
        // Esc, then another sequence or a control key.
        [0x00..=0x1f | 0x7f, ..] => Piece::Key(1, Some(Key::Esc)),
        [byte, ..] if byte.is_ascii() => Piece::Key(2, Some(Key::Alt(char::from(*byte)))),
        _ => match character(rest) {
            Letter::Partial => Piece::Partial,
            Letter::Bad => Piece::Key(2, None),
            Letter::Good(letter) => Piece::Key(1 + letter.len_utf8(), Some(Key::Alt(letter))),
        },
    }
}

/// Keys in application mode, and the keypad's.
fn single_shift(letter: u8) -> Option<Key> {
    match letter {
        b'M' => Some(Key::Enter),
        b'P'..=b'S' => Some(Key::F(letter - b'P' + 1)),
        _ => arrow(letter),
    }
}

fn arrow(letter: u8) -> Option<Key> {
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => return None,
    })
}

/// What follows `ESC [`. Lengths count both.
fn control_sequence(body: &[u8]) -> Piece {
    if let [b'[', rest @ ..] = body {
        // The Linux console: ESC [ [ A is F1.
        return match rest {
            [] => Piece::Partial,
            [letter @ b'A'..=b'E', ..] => Piece::Key(4, Some(Key::F(letter - b'A' + 1))),
            _ => Piece::Key(4, None),
        };
    }
    let Some(end) = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else {
        return if body.len() > LONGEST_SEQUENCE {
            Piece::Key(2 + body.len(), None)
        } else {
            Piece::Partial
        };
    };
    let (parameters, last, length) = (&body[..end], body[end], 2 + end + 1);
    if !matches!(last, 0x40..=0x7e) {
        // No final byte: the sequence was cut, and what follows is something else.
        return Piece::Key(length - 1, None);
    }
    if last == b'~' && parameters == b"200" {
        return Piece::Paste(length);
    }
    Piece::Key(length, sequence_key(parameters, last))
}

fn sequence_key(parameters: &[u8], last: u8) -> Option<Key> {
    match last {
        b'Z' => Some(Key::BackTab),
        b'~' => tilde(parameters),
        // With modifiers: ESC [ 1 ; 2 P.
        b'P'..=b'S' => Some(Key::F(last - b'P' + 1)),
        _ => arrow(last),
    }
}

/// `ESC [ n ~`, with or without modifiers after n.
fn tilde(parameters: &[u8]) -> Option<Key> {
    let number = parameters.split(|byte| *byte == b';').next()?;
    let number: u8 = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some(match number {
        1 | 7 => Key::Home,
        3 => Key::Delete,
        4 | 8 => Key::End,
        5 => Key::PageUp,
        6 => Key::PageDown,
        11..=15 => Key::F(number - 10),
        17..=21 => Key::F(number - 11),
        23..=24 => Key::F(number - 12),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Decoder, ESC};
    use crate::app::{Event, Key};

    fn keys(bytes: &[u8]) -> Vec<Key> {
        Decoder::default()
            .feed(bytes)
            .into_iter()
            .filter_map(|event| match event {
                Event::Key(key) => Some(key),
                _ => None,
            })
            .collect()
    }

    /// Events have no equality: what they show stands for them.
    fn shown(events: &[Event]) -> String {
        format!("{events:?}")
    }

    #[test]
    fn keys_of_several_terminals() {
        let cases: &[(&[u8], Key)] = &[
            (b"q", Key::Char('q')),
            ("é".as_bytes(), Key::Char('é')),
            ("🦀".as_bytes(), Key::Char('🦀')),
            (b"\r", Key::Enter),
            (b"\n", Key::Ctrl('j')),
            (b"\x03", Key::Ctrl('c')),
            (b"\x1a", Key::Ctrl('z')),
            (b"\x7f", Key::Backspace),
            (b"\x08", Key::Backspace),
            (b"\x1b[A", Key::Up),
            (b"\x1bOA", Key::Up),
            (b"\x1b[1;5D", Key::Left),
            (b"\x1b[H", Key::Home),
            (b"\x1b[1~", Key::Home),
            (b"\x1b[8~", Key::End),
            (b"\x1b[5~", Key::PageUp),
            (b"\x1b[3~", Key::Delete),
            (b"\x1b[Z", Key::BackTab),
            (b"\x1bOP", Key::F(1)),
            (b"\x1b[11~", Key::F(1)),
            (b"\x1b[[A", Key::F(1)),
            (b"\x1b[1;2S", Key::F(4)),
            (b"\x1b[15~", Key::F(5)),
            (b"\x1b[17~", Key::F(6)),
            (b"\x1b[20~", Key::F(9)),
            (b"\x1b[21~", Key::F(10)),
            (b"\x1b[24;5~", Key::F(12)),
            (b"\x1bx", Key::Alt('x')),
        ];
        for (bytes, key) in cases {
            assert_eq!(keys(bytes), [*key], "{bytes:?}");
        }
    }

    #[test]
    fn an_escape_alone_waits_for_its_time() {
        let mut decoder = Decoder::default();
        assert!(decoder.feed(&[ESC]).is_empty());
        assert!(decoder.patience().is_some());
        assert!(matches!(decoder.give_up(), Some(Event::Key(Key::Esc))));
        assert!(decoder.patience().is_none());
    }

    #[test]
    fn a_sequence_cut_by_a_slow_line_types_nothing() {
        let mut decoder = Decoder::default();
        assert!(decoder.feed(b"\x1b[").is_empty());
        assert!(matches!(decoder.feed(b"A")[..], [Event::Key(Key::Up)]));
        assert!(decoder.feed(b"\x1b[2").is_empty());
        assert!(decoder.give_up().is_none());
        assert_eq!(shown(&decoder.feed(b"x")), "[Key(Char('x'))]");
    }

    #[test]
    fn escape_before_another_key_is_both() {
        assert_eq!(keys(b"\x1b\r"), [Key::Esc, Key::Enter]);
        assert_eq!(keys(b"\x1b\x1b[A"), [Key::Esc, Key::Up]);
    }

    #[test]
    fn unknown_sequences_and_broken_text_are_dropped_whole() {
        for bytes in [
            &b"\x1b[I"[..],
            b"\x1b[?1;2c",
            b"\x1b[99~",
            b"\x1b[M",
            b"\xff",
            b"\xc3(",
        ] {
            let left: Vec<Key> = keys(bytes)
                .into_iter()
                .filter(|key| *key != Key::Char('('))
                .collect();
            assert!(left.is_empty(), "{bytes:?}: {left:?}");
        }
        let mut long = b"\x1b[".to_vec();
        long.extend([b'1'; 200]);
        let mut decoder = Decoder::default();
        assert!(decoder.feed(&long).is_empty());
        assert_eq!(shown(&decoder.feed(b"k")), "[Key(Char('k'))]");
    }

    #[test]
    fn pasted_text_is_no_key() {
        let mut decoder = Decoder::default();
        let mut events = decoder.feed(b"\x1b[200~481\r\x1b[A");
        assert!(decoder.patience().is_none(), "a paste is waited for");
        events.extend(decoder.feed(b"q\x1b[20"));
        assert!(events.is_empty());
        events.extend(decoder.feed(b"1~j"));
        assert_eq!(
            shown(&events),
            shown(&[
                Event::Paste("481\r\u{1b}[Aq".to_owned()),
                Event::Key(Key::Char('j'))
            ])
        );
    }

    #[test]
    fn an_endless_paste_keeps_a_bounded_text() {
        let mut decoder = Decoder::default();
        decoder.feed(b"\x1b[200~");
        for _ in 0..40 {
            decoder.feed(&vec![b'x'; 1 << 16]);
        }
        let events = decoder.feed(b"\x1b[201~");
        assert!(matches!(&events[..], [Event::Paste(text)] if text.len() == super::LONGEST_PASTE));
    }

    proptest! {
        /// However the bytes are cut, they mean the same.
        #[test]
        fn chunks_do_not_matter(
            bytes in prop::collection::vec(
                prop_oneof![Just(ESC), Just(b'['), Just(b'2'), Just(b'0'), Just(b'1'), Just(b'~'), any::<u8>()],
                0..60,
            ),
            cut in 0_usize..60,
        ) {
            let whole = shown(&Decoder::default().feed(&bytes));
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let mut decoder = Decoder::default();
            let mut events = decoder.feed(head);
            events.extend(decoder.feed(tail));
            prop_assert_eq!(whole, shown(&events));
        }
    }
}
