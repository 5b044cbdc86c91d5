//! The exact bytes of one line of a journal, written and read.
//!
//! `{"seq":…,"prev":"…","at":"…","operator":{…},"kind":"…",…,"hash":"…"}` and a newline. `prev` is
//! the SHA-256 of the line before including its newline. `hash` is the SHA-256 of the 64 digits of
//! `prev` followed by the line's own bytes up to, and without, `,"hash":"`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::digest::{Digest, Digester, Head};
use super::entry::{Entry, rfc3339};
use super::operator::Operator;
use crate::model::time::UnixMillis;

/// Longest line, newline included: a longer text belongs into an attachment.
pub const LONGEST_LINE: usize = 1 << 20;

const HASH_KEY: &[u8] = b",\"hash\":\"";
const HASH_END: &[u8] = b"\"}";
const HASH_DIGITS: usize = 64;
const KEYS: [&str; 5] = ["seq", "prev", "at", "operator", "kind"];

/// Where the next line has to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint {
    /// Number of the last entry; 0 before the first.
    pub seq: u64,
    /// Digest of the last line with its newline.
    pub digest: Digest,
}

impl Joint {
    /// Before the first line.
    pub const START: Self = Self {
        seq: 0,
        digest: Digest::ZERO,
    };
}

/// A line that is ready to be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Its bytes, newline included.
    pub bytes: Vec<u8>,
    /// What the head will be.
    pub head: Head,
    /// Where the line after it will join.
    pub joint: Joint,
}

/// An entry that cannot be written.
#[derive(Debug, Error)]
pub enum SealError {
    /// Too much text.
    #[error("the entry would have {bytes} bytes, {LONGEST_LINE} at most: attach the text as a file instead")]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// It is no JSON.
    #[error("write the entry as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

#[derive(Serialize)]
struct Body<'a> {
    seq: u64,
    prev: Digest,
    #[serde(with = "rfc3339")]
    at: UnixMillis,
    operator: &'a Operator,
    #[serde(flatten)]
    entry: &'a Entry,
}

impl Sealed {
    /// Writes an entry as the line after `joint`.
    pub fn new(joint: Joint, at: UnixMillis, operator: &Operator, entry: &Entry) -> Result<Self, SealError> {
        let seq = joint.seq + 1;
        let mut bytes = serde_json::to_vec(&Body {
            seq,
            prev: joint.digest,
            at,
            operator,
            entry,
        })?;
        // The closing brace follows the hash.
        bytes.pop();
        let hash = hash(joint.digest, &bytes);
        bytes.extend_from_slice(HASH_KEY);
        bytes.extend_from_slice(hash.to_string().as_bytes());
        bytes.extend_from_slice(HASH_END);
        bytes.push(b'\n');
        if bytes.len() > LONGEST_LINE {
            return Err(SealError::TooLong { bytes: bytes.len() });
        }
        let digest = Digest::of(&bytes);
        Ok(Self {
            bytes,
            head: Head { seq, hash },
            joint: Joint { seq, digest },
        })
    }
}

fn hash(prev: Digest, body: &[u8]) -> Digest {
    let mut digester = Digester::default();
    digester.update(prev.to_string().as_bytes());
    digester.update(body);
    digester.finish()
}

/// A line that says of itself that it is whole: whether it follows the line before is the chain's
/// question.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Number of the entry.
    pub seq: u64,
    /// Digest of the line before, as this line names it.
    pub prev: Digest,
    /// When it was written.
    pub at: UnixMillis,
    /// Who wrote it.
    pub operator: Operator,
    /// What happened; `Err` holds the kind where this version does not know it, or not in this
    /// shape.
    pub entry: Result<Entry, String>,
    /// Its hash.
    pub hash: Digest,
    /// Digest of the whole line with its newline.
    pub digest: Digest,
}

/// Why bytes are no whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    /// It does not end with a hash.
    #[error("it does not end with a hash")]
    NoHash,
    /// What stands before the hash is not what was hashed.
    #[error("its hash is not that of its bytes")]
    WrongHash,
    /// It is no entry in the form that this program writes.
    #[error("it is no entry in the form that is written")]
    Form,
}

#[derive(Deserialize)]
struct Outline {
    seq: u64,
    prev: Digest,
    #[serde(with = "rfc3339")]
    at: UnixMillis,
    operator: Operator,
    kind: String,
}

impl Line {
    /// Reads a line, newline included.
    pub fn read(line: &[u8]) -> Result<Self, LineError> {
        let text = line.strip_suffix(b"\n").ok_or(LineError::NoHash)?;
        let rest = text.strip_suffix(HASH_END).ok_or(LineError::NoHash)?;
        let at = rest.len().checked_sub(HASH_DIGITS).ok_or(LineError::NoHash)?;
        let (before, digits) = rest.split_at(at);
        let named: Digest = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or(LineError::NoHash)?;
        let body = before.strip_suffix(HASH_KEY).ok_or(LineError::NoHash)?;
        let value = exact_json(body).ok_or(LineError::Form)?;
        let outline = Outline::deserialize(&value).map_err(|_| LineError::Form)?;
        if hash(outline.prev, body) != named {
            return Err(LineError::WrongHash);
        }
        Ok(Self {
            seq: outline.seq,
            prev: outline.prev,
            at: outline.at,
            operator: outline.operator,
            entry: Entry::deserialize(&value).map_err(|_| outline.kind),
            hash: named,
            digest: Digest::of(line),
        })
    }

    /// Returns its number and hash.
    pub fn head(&self) -> Head {
        Head {
            seq: self.seq,
            hash: self.hash,
        }
    }

    /// Returns where the next line has to join.
    pub fn joint(&self) -> Joint {
        Joint {
            seq: self.seq,
            digest: self.digest,
        }
    }

    /// Returns whether it is the line after `joint`.
    pub fn follows(&self, joint: Joint) -> bool {
        joint.seq.checked_add(1) == Some(self.seq) && self.prev == joint.digest
    }
}

/// Parses the body of a line only where writing it again gives the same bytes: no blanks, no key
/// twice, no second way to write a character. Two readers cannot see two different entries.
fn exact_json(body: &[u8]) -> Option<Value> {
    let mut text = body.to_vec();
    text.push(b'}');
    let value: Value = serde_json::from_slice(&text).ok()?;
    let keys = value.as_object()?.keys().take(KEYS.len());
    if !keys.eq(KEYS) || serde_json::to_vec(&value).ok()? != text {
        return None;
    }
    Some(value)
}
