//! SHA-256 as the record writes it: 64 lower-case hexadecimal digits, never shortened.

use std::fmt;
use std::io;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// What the first line of a journal names as the line before it.
    pub const ZERO: Self = Self([0; 32]);

    /// Returns the digest of bytes; `sha256sum` gives the same.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a SHA-256 has 64 lower-case hexadecimal digits")]
pub struct NoDigest;

impl FromStr for Digest {
    type Err = NoDigest;

    fn from_str(text: &str) -> Result<Self, NoDigest> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            // One way of writing a digest: a second one would be a change that no check finds.
            _ => Err(NoDigest),
        };
        let mut bytes = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return Err(NoDigest);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Digests what is written to it, a part at a time.
#[derive(Clone, Debug, Default)]
pub struct Digester(Sha256);

impl Digester {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl io::Write for Digester {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last entry of a journal: what goes with every copy, so that a later look can tell whether
/// the journal was cut or written anew. Written `SEQ:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// Number of the entry, from 1.
    pub seq: u64,
    /// Its `hash`.
    #[schemars(with = "String")]
    pub hash: Digest,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

/// Not a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a head is written SEQ:HASH, as in `23:` and 64 lower-case hexadecimal digits")]
pub struct NoHead;

impl FromStr for Head {
    type Err = NoHead;

    fn from_str(text: &str) -> Result<Self, NoHead> {
        let (seq, hash) = text.split_once(':').ok_or(NoHead)?;
        let seq = seq.parse().map_err(|_| NoHead)?;
        let hash = hash.parse().map_err(|_| NoHead)?;
        if seq == 0 {
            Err(NoHead)
        } else {
            Ok(Self { seq, hash })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// FIPS 180-2, appendix B.1.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_digest_is_that_of_the_standard_however_it_is_fed() {
        assert_eq!(Digest::of(b"abc").to_string(), ABC);
        let mut parts = Digester::default();
        parts.write_all(b"a").unwrap();
        parts.write_all(b"bc").unwrap();
        assert_eq!(parts.finish().to_string(), ABC);
    }

    #[test]
    fn there_is_one_way_to_write_a_digest() {
        assert_eq!(ABC.parse(), Ok(Digest::of(b"abc")));
        for wrong in [
            "",
            &ABC[..63],
            &format!("{ABC}0"),
            &ABC.to_uppercase(),
            &ABC.replace('b', "g"),
        ] {
            assert_eq!(wrong.parse::<Digest>(), Err(NoDigest), "{wrong}");
        }
    }

    #[test]
    fn a_head_is_a_number_and_a_digest() {
        let head: Head = format!("23:{ABC}").parse().unwrap();
        assert_eq!(head.to_string(), format!("23:{ABC}"));
        for wrong in ["", "23", "23:", &format!("0:{ABC}"), &format!("-1:{ABC}"), ABC] {
            assert_eq!(wrong.parse::<Head>(), Err(NoHead), "{wrong}");
        }
    }
}
