//! Decoders of the kernel's answers: bytes in, facts out, no call.
//!
//! Every answer may be shorter than its structure; a field that is not there is `None`, never 0.

pub(super) mod arguments;
pub(super) mod descriptor;
pub(super) mod process;
pub(super) mod socket;
pub(super) mod system;

use crate::model::bytes::OsBytes;

/// Returns the `N` bytes at an offset.
fn bytes<const N: usize>(answer: &[u8], at: usize) -> Option<[u8; N]> {
    answer.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(answer: &[u8], at: usize) -> Option<u16> {
    bytes(answer, at).map(u16::from_ne_bytes)
}

fn i16_at(answer: &[u8], at: usize) -> Option<i16> {
    bytes(answer, at).map(i16::from_ne_bytes)
}

fn u32_at(answer: &[u8], at: usize) -> Option<u32> {
    bytes(answer, at).map(u32::from_ne_bytes)
}

fn i32_at(answer: &[u8], at: usize) -> Option<i32> {
    bytes(answer, at).map(i32::from_ne_bytes)
}

fn u64_at(answer: &[u8], at: usize) -> Option<u64> {
    bytes(answer, at).map(u64::from_ne_bytes)
}

fn i64_at(answer: &[u8], at: usize) -> Option<i64> {
    bytes(answer, at).map(i64::from_ne_bytes)
}

/// Returns the text that begins at an offset and ends at a NUL, or with its field.
fn text_at(answer: &[u8], at: usize, length: usize) -> Option<OsBytes> {
    let field = answer.get(at..at.checked_add(length)?)?;
    Some(until_nul(field).into())
}

/// Returns what stands before the first NUL.
pub(super) fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}
