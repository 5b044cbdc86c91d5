//! Byte strings as the operating system hands them out: usually UTF-8, never promised to be.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A byte string that another process or a file chose: argv element, comm, path, link target.
///
/// Serialises as a string where it is UTF-8, else as `{"base64": "…"}`, so that a round trip
/// keeps every byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct OsBytes(Box<[u8]>);

impl OsBytes {
    /// Returns the bytes as they are.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text where the bytes are UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns the text with invalid sequences replaced; for matching and searching, never for a
    /// terminal (`text::Safe` is for that).
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Returns whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the part after the last `/`.
    pub fn basename(&self) -> &[u8] {
        self.0.rsplit(|b| *b == b'/').next().unwrap_or(&self.0)
    }
}

impl fmt::Debug for OsBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.lossy())
    }
}

impl From<&[u8]> for OsBytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<Vec<u8>> for OsBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<&str> for OsBytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<String> for OsBytes {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form<'a> {
    Text(Cow<'a, str>),
    Encoded { base64: Cow<'a, str> },
}

impl Serialize for OsBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            Some(text) => Form::Text(text.into()),
            None => Form::Encoded {
                base64: base64::engine::general_purpose::STANDARD.encode(&self.0).into(),
            },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OsBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(text.into_owned().into()),
            Form::Encoded { base64 } => base64::engine::general_purpose::STANDARD
                .decode(base64.as_bytes())
                .map(Into::into)
                .map_err(D::Error::custom),
        }
    }
}
