//! Escapes what another process wrote, so that it cannot drive a terminal or look like other text.

use std::fmt;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

/// Text that may go to a terminal.
///
/// Control characters (C0, DEL, C1), bidirectional controls, zero-width and other format
/// characters, private and unassigned ones, line and paragraph separators, every space but U+0020,
/// variation selectors and invalid UTF-8 were made visible: `\n`, `\r`, `\t`, `\x1b`, `\u{202e}`,
/// `\xff` (a byte that is not UTF-8). A backslash in front of a letter that would make it look like
/// one of these is doubled, so that no two inputs give the same text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Safe(String);

/// Letters that follow a backslash in an escape.
const ESCAPES: &str = "nrtxu\\";

/// One character that must not be shown as it is. `\p{C}`: control, format, surrogate, private,
/// unassigned. `\p{Z}`: separators. The rest are marks and fillers without a width of their own.
static UNSAFE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^[\p{C}\p{Z}\x{34f}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{2800}\x{3164}\x{fe00}-\x{fe0f}\x{ffa0}\x{e0100}-\x{e01ef}]$",
    )
    .ok()
});
static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{M}$").ok());

impl Safe {
    /// Escapes bytes of unknown origin.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_bytes_limited(bytes, usize::MAX)
    }

    /// Escapes text of unknown origin.
    pub fn from_text(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }

    /// Escapes the first `max_chars` characters; what follows is left out behind an ellipsis. For
    /// command lines of megabytes.
    pub fn from_bytes_limited(bytes: &[u8], max_chars: usize) -> Self {
        // No character is longer than four bytes: the rest need not be looked at.
        let window = max_chars.saturating_add(1).saturating_mul(4).min(bytes.len());
        let mut writer = Writer {
            out: String::with_capacity(window),
            pending_backslash: false,
            written: 0,
        };
        let mut cut = window < bytes.len();
        'chunks: for chunk in bytes[..window].utf8_chunks() {
            for character in chunk.valid().chars() {
                if writer.written >= max_chars {
                    cut = true;
                    break 'chunks;
                }
                writer.character(character);
            }
            for byte in chunk.invalid() {
                if writer.written >= max_chars {
                    cut = true;
                    break 'chunks;
                }
                writer.escape(format_args!("\\x{byte:02x}"));
            }
        }
        writer.flush_backslash(false);
        if cut {
            writer.out.push('…');
        }
        Self(writer.out)
    }

    /// Takes text of this program's own as it is.
    pub fn literal(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Joins parts with a separator of this program's own.
    pub fn join(parts: impl IntoIterator<Item = Self>, separator: &'static str) -> Self {
        let mut out = String::new();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                out.push_str(separator);
            }
            out.push_str(&part.0);
        }
        Self(out)
    }

    /// Appends text of this program's own.
    pub fn push_literal(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    /// Appends escaped text.
    pub fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Returns the escaped text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the escaped text as a string.
    pub fn into_string(self) -> String {
        self.0
    }
}

struct Writer {
    out: String,
    pending_backslash: bool,
    written: usize,
}

impl Writer {
    fn character(&mut self, character: char) {
        self.written += 1;
        if character == '\\' {
            self.flush_backslash(true);
            self.pending_backslash = true;
            return;
        }
        match character {
            '\n' => self.escape_uncounted(format_args!("\\n")),
            '\r' => self.escape_uncounted(format_args!("\\r")),
            '\t' => self.escape_uncounted(format_args!("\\t")),
            _ if character.is_ascii_control() => {
                self.escape_uncounted(format_args!("\\x{:02x}", u32::from(character)));
            }
            _ if !is_shown(character) || (self.out.is_empty() && is_mark(character)) => {
                self.escape_uncounted(format_args!("\\u{{{:x}}}", u32::from(character)));
            }
            _ => {
                self.flush_backslash(ESCAPES.contains(character));
                self.out.push(character);
            }
        }
    }

    fn escape(&mut self, text: fmt::Arguments<'_>) {
        self.written += 1;
        self.escape_uncounted(text);
    }

    fn escape_uncounted(&mut self, text: fmt::Arguments<'_>) {
        self.flush_backslash(true);
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn flush_backslash(&mut self, ambiguous: bool) {
        if std::mem::take(&mut self.pending_backslash) {
            self.out.push_str(if ambiguous { "\\\\" } else { "\\" });
        }
    }
}

fn is_shown(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    let mut buffer = [0; 4];
    let text: &str = character.encode_utf8(&mut buffer);
    UNSAFE.as_ref().is_some_and(|pattern| !pattern.is_match(text))
}

fn is_mark(character: char) -> bool {
    let mut buffer = [0; 4];
    let text: &str = character.encode_utf8(&mut buffer);
    !character.is_ascii() && MARK.as_ref().is_none_or(|pattern| pattern.is_match(text))
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Safe;

    #[test]
    fn what_drives_a_terminal_is_shown() {
        let cases: [(&[u8], &str); 16] = [
            (b"plain --flag=x", "plain --flag=x"),
            (b"\x1b[31mred", "\\x1b[31mred"),
            (b"a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{9b}31m".as_bytes(), "\\u{9b}31m"),
            ("abc\u{202e}txt".as_bytes(), "abc\\u{202e}txt"),
            ("a\u{200b}b".as_bytes(), "a\\u{200b}b"),
            ("a\u{a0}b".as_bytes(), "a\\u{a0}b"),
            ("\u{2028}".as_bytes(), "\\u{2028}"),
            (b"\xff\xfe", "\\xff\\xfe"),
            (b"C:\\dir", "C:\\dir"),
            (b"C:\\new", "C:\\\\new"),
            (b"\\", "\\"),
            (b"\\\n", "\\\\\\n"),
            ("\u{301}x".as_bytes(), "\\u{301}x"),
            ("e\u{301}".as_bytes(), "e\u{301}"),
            ("\u{65e5}\u{672c}".as_bytes(), "\u{65e5}\u{672c}"),
        ];
        for (input, output) in cases {
            assert_eq!(Safe::from_bytes(input).as_str(), output);
        }
    }

    #[test]
    fn a_long_line_is_cut_with_a_sign() {
        let long = vec![b'a'; 2 << 20];
        assert_eq!(Safe::from_bytes_limited(&long, 3).as_str(), "aaa…");
        assert_eq!(Safe::from_bytes_limited(b"aaa", 3).as_str(), "aaa");
        assert_eq!(Safe::from_bytes(&long).as_str().len(), long.len());
    }

    /// Undoes the escape, to show that nothing is lost.
    fn original(safe: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = safe;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            let next = rest.chars().next();
            match (character, next) {
                ('\\', Some('n' | 'r' | 't' | '\\')) => {
                    out.push(match next {
                        Some('n') => b'\n',
                        Some('r') => b'\r',
                        Some('t') => b'\t',
                        _ => b'\\',
                    });
                    rest = &rest[1..];
                }
                ('\\', Some('x')) => {
                    out.push(u8::from_str_radix(&rest[1..3], 16).expect("two digits"));
                    rest = &rest[3..];
                }
                ('\\', Some('u')) => {
                    let end = rest.find('}').expect("a brace");
                    let code = u32::from_str_radix(&rest[2..end], 16).expect("digits");
                    let mut buffer = [0; 4];
                    let decoded = char::from_u32(code)
                        .expect("a character")
                        .encode_utf8(&mut buffer);
                    out.extend_from_slice(decoded.as_bytes());
                    rest = &rest[end + 1..];
                }
                _ => {
                    let mut buffer = [0; 4];
                    out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_two_inputs_look_equal(bytes in any::<Vec<u8>>()) {
            prop_assert_eq!(original(Safe::from_bytes(&bytes).as_str()), bytes);
        }

        #[test]
        fn text_is_kept_too(text in "(\\PC|[\\\\nrtxu{}]|\\p{C}|\\p{M}){0,40}") {
            prop_assert_eq!(original(Safe::from_text(&text).as_str()), text.into_bytes());
        }

        #[test]
        fn no_control_or_format_character_is_left(text in any::<String>()) {
            let safe = Safe::from_text(&text);
            let pattern = regex::Regex::new(r"[\p{C}\p{Zl}\p{Zp}]").expect("a pattern");
            prop_assert!(!pattern.is_match(safe.as_str()), "{safe:?}");
        }
    }
}
