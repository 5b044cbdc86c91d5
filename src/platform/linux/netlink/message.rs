//! Netlink messages and attributes, netlink(7): bytes in, parts out.
//!
//! Every length is checked against what is there: a buffer that lies ends in `Malformed`, never in a
//! read beyond it.

use thiserror::Error;

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const REQUEST_DUMP: u16 = 0x1 | 0x300;
/// `NLM_F_DUMP_INTR`: what is dumped changed since the part before.
const INTERRUPTED: u16 = 0x10;
const NOOP: u16 = 1;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const OVERRUN: u16 = 4;
const HEADER_BYTES: usize = 16;

/// A buffer that is no netlink answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Malformed {
    /// It ends in the middle of a message.
    #[error("an answer ends too early")]
    Truncated,
    /// A length is smaller than the header it stands in.
    #[error("an answer has an impossible length")]
    Length,
    /// The kernel lost data.
    #[error("an answer was lost")]
    Overrun,
}

/// One message of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// One socket.
    Body { body: &'a [u8], interrupted: bool },
    /// The end of the dump.
    Done { interrupted: bool },
    /// A refusal, with its error number.
    Error(i32),
}

/// Returns a dump request with `body`.
pub(super) fn request(sequence: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER_BYTES + body.len()).unwrap_or(u32::MAX);
    let mut text = Vec::with_capacity(HEADER_BYTES + body.len());
    text.extend(length.to_ne_bytes());
    text.extend(BY_FAMILY.to_ne_bytes());
    text.extend(REQUEST_DUMP.to_ne_bytes());
    text.extend(sequence.to_ne_bytes());
    text.extend(0_u32.to_ne_bytes());
    text.extend(body);
    text
}

/// Returns the messages of one part; those of another request (`sequence`) are passed over.
pub(super) fn answers(text: &[u8], sequence: u32) -> impl Iterator<Item = Result<Answer<'_>, Malformed>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (kind, flags, of, body) = match split(&mut rest) {
                Ok(parts) => parts,
                Err(malformed) => {
                    rest = &[];
                    return Some(Err(malformed));
                }
            };
            let interrupted = flags & INTERRUPTED != 0;
            if of != sequence || kind == NOOP {
                continue;
            }
            return Some(match kind {
                DONE => Ok(Answer::Done { interrupted }),
                OVERRUN => Err(Malformed::Overrun),
                ERROR => match number::<4>(body, 0).map(i32::from_ne_bytes) {
                    // 0 is an acknowledgement, which a dump is not asked for.
                    Some(code) => Ok(Answer::Error(code.checked_neg().unwrap_or(i32::MAX))),
                    None => Err(Malformed::Truncated),
                },
                _ => Ok(Answer::Body { body, interrupted }),
            });
        }
        None
    })
}

/// Type, flags, sequence and body of a message.
type Parts<'a> = (u16, u16, u32, &'a [u8]);

fn split<'a>(rest: &mut &'a [u8]) -> Result<Parts<'a>, Malformed> {
    let length = number::<4>(rest, 0)
        .map(u32::from_ne_bytes)
        .ok_or(Malformed::Truncated)?;
    let kind = number::<2>(rest, 4)
        .map(u16::from_ne_bytes)
        .ok_or(Malformed::Truncated)?;
    let flags = number::<2>(rest, 6)
        .map(u16::from_ne_bytes)
        .ok_or(Malformed::Truncated)?;
    let sequence = number::<4>(rest, 8)
        .map(u32::from_ne_bytes)
        .ok_or(Malformed::Truncated)?;
    let length = usize::try_from(length).map_err(|_| Malformed::Length)?;
    if length < HEADER_BYTES {
        return Err(Malformed::Length);
    }
    let body = rest.get(HEADER_BYTES..length).ok_or(Malformed::Truncated)?;
    *rest = rest.get(aligned(length)..).unwrap_or_default();
    Ok((kind, flags, sequence, body))
}

/// Returns type and value of each attribute. One that does not fit ends the list.
pub(super) fn attributes(body: &[u8], header_bytes: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = body.get(aligned(header_bytes)..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(number(rest, 0)?));
        let kind = u16::from_ne_bytes(number(rest, 2)?);
        let value = rest.get(4..length)?;
        rest = rest.get(aligned(length)..).unwrap_or_default();
        // The two top bits are flags.
        Some((kind & 0x3fff, value))
    })
}

/// Returns `N` bytes at an offset.
pub(super) fn number<const N: usize>(text: &[u8], at: usize) -> Option<[u8; N]> {
    text.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn aligned(length: usize) -> usize {
    length.saturating_add(3) & !3
}
