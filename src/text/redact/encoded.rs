//! Secrets in text that was encoded: JSON in base64, percent signs of URLs. What holds one goes as a whole.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::edits::Edits;
use super::engine::{Engine, Expect};

const BASE64: &str = "base64";

/// What was encoded more often than this is left.
const MAX_ROUNDS: usize = 3;

const DECODER: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Engine {
    /// Finds JSON in base64, as `?config=eyJ…`, that holds a secret.
    pub(super) fn base64<'r>(&'r self, text: &[u8], depth: usize, edits: &mut Edits<'r>) {
        for found in self.anywhere.base64.captures_iter(text) {
            let Some(run) = found.get(1) else { continue };
            let decoded = decode(run.as_bytes());
            if self.holds_secret(&decoded, depth) {
                edits.add(run.range(), BASE64);
            }
        }
    }

    /// Returns whether a value of a URL, read without its percent signs, holds a secret.
    pub(super) fn hides_in_percents(&self, value: &[u8], depth: usize) -> bool {
        let mut read = value.to_vec();
        for _ in 0..MAX_ROUNDS {
            let decoded = without_percents(&read);
            if decoded == read {
                break;
            }
            read = decoded;
        }
        read != value && self.holds_secret(&read, depth)
    }

    fn holds_secret(&self, text: &[u8], depth: usize) -> bool {
        let mut inner = Edits::default();
        self.step(Expect::Nothing, text, depth + 1, &mut inner);
        !inner.is_empty()
    }
}

/// Returns the bytes of a run of either alphabet, also of one that was cut off.
fn decode(run: &[u8]) -> Vec<u8> {
    let mut run: Vec<u8> = run
        .iter()
        .filter(|byte| **byte != b'=')
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => *other,
        })
        .collect();
    if run.len() % 4 == 1 {
        run.pop();
    }
    DECODER.decode(run).unwrap_or_default()
}

fn without_percents(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| {
        text.get(at)
            .and_then(|byte| char::from(*byte).to_digit(16))
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(high << 4 | low);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}
