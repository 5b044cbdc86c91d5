//! Makes text of other processes fit for a file: redacted, exact, with the bytes in base64 where
//! they are not UTF-8. Nothing is escaped for a terminal here.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::model::bytes::OsBytes;
use crate::text::redact::Redactor;

/// What is done with secrets in text of other processes.
#[derive(Clone, Copy, Debug)]
pub enum Secrets<'a> {
    /// They are removed: always in a file or a pipe.
    Removed(&'a Redactor),
    /// They are shown: on the operator's own terminal, when asked for.
    Shown,
}

impl Secrets<'_> {
    /// Returns a line (a sentence, a title, a URL) as it may be shown.
    pub fn line(self, line: &str) -> String {
        match self {
            Self::Removed(redactor) => redactor.line(line),
            Self::Shown => line.to_owned(),
        }
    }

    /// Returns an argument vector as it may be shown, with as many elements.
    pub fn argv(self, argv: &[OsBytes]) -> Vec<Vec<u8>> {
        let raw: Vec<Vec<u8>> = argv.iter().map(|element| element.as_bytes().to_vec()).collect();
        match self {
            Self::Removed(redactor) => redactor.argv(&raw),
            Self::Shown => raw,
        }
    }
}

/// Text for a JSON string, and the bytes where the text could not keep them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Exact {
    /// The text; `\xNN` in place of bytes that are not UTF-8.
    pub(super) text: String,
    /// All bytes in base64, where the text is not exact.
    pub(super) base64: Option<String>,
}

/// An argument vector for JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExactArgv {
    /// The elements.
    pub(super) text: Vec<String>,
    /// All elements in base64, where one of them is not exact.
    pub(super) base64: Option<Vec<String>>,
}

/// Returns the text of bytes that the machine's owner chose: the names of host and operator.
pub(super) fn exact(bytes: &OsBytes) -> Exact {
    exact_bytes(bytes.as_bytes())
}

/// Returns the text of bytes that may hold a secret: names, paths, targets, commands, titles.
pub(super) fn redacted(bytes: &OsBytes, secrets: Secrets<'_>) -> Exact {
    if let Some(text) = bytes.as_str() {
        return Exact {
            text: secrets.line(text),
            base64: None,
        };
    }
    let redacted = secrets.argv(std::slice::from_ref(bytes));
    exact_bytes(redacted.first().map_or(&[], Vec::as_slice))
}

/// Returns an argument vector, redacted, with as many elements as it had.
pub(super) fn argv(argv: &[OsBytes], secrets: Secrets<'_>) -> ExactArgv {
    let redacted = secrets.argv(argv);
    let text: Vec<Exact> = redacted.iter().map(|element| exact_bytes(element)).collect();
    let base64 = text
        .iter()
        .any(|element| element.base64.is_some())
        .then(|| redacted.iter().map(|element| STANDARD.encode(element)).collect());
    ExactArgv {
        text: text.into_iter().map(|element| element.text).collect(),
        base64,
    }
}

fn exact_bytes(bytes: &[u8]) -> Exact {
    let mut text = String::with_capacity(bytes.len());
    let mut lossy = false;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            lossy = true;
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Exact {
        text,
        base64: lossy.then(|| STANDARD.encode(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_stays_as_it_is() {
        let hostile = "a\u{1b}[31m\u{202e}\n\u{0}é";
        assert_eq!(
            exact(&hostile.into()),
            Exact {
                text: hostile.to_owned(),
                base64: None
            }
        );
    }

    #[test]
    fn other_bytes_are_kept_in_base64() {
        let exact = exact(&OsBytes::from(&b"a\xff\xe2\x28b"[..]));
        assert_eq!(exact.text, "a\\xff\\xe2(b");
        assert_eq!(STANDARD.decode(exact.base64.unwrap()).unwrap(), b"a\xff\xe2\x28b");
    }
}
