//! Answers about the machine: `kern.boottime`, `vm.loadavg`, numbers and texts.

use std::mem::offset_of;

use super::{i32_at, i64_at, u32_at, u64_at, until_nul};
use crate::model::time::UnixMillis;
use crate::platform::macos::layout::LoadAverage;

/// `kern.boottime`: a `struct timeval`.
pub(in crate::platform::macos) fn boot_time(answer: &[u8]) -> Option<UnixMillis> {
    let seconds = i64_at(answer, 0)?;
    let microseconds = i64::from(i32_at(answer, 8)?);
    seconds
        .checked_mul(1000)?
        .checked_add(microseconds / 1000)
        .map(UnixMillis)
}

/// `vm.loadavg`: the averages over 1, 5 and 15 minutes, in hundredths.
pub(in crate::platform::macos) fn load_centi(answer: &[u8]) -> Option<[u32; 3]> {
    let scale = u64::try_from(i64_at(answer, offset_of!(LoadAverage, scale))?).ok()?;
    let one = |index: usize| {
        let average = u64::from(u32_at(answer, offset_of!(LoadAverage, averages) + 4 * index)?);
        u32::try_from((average * 100).checked_div(scale)?).ok()
    };
    Some([one(0)?, one(1)?, one(2)?])
}

/// A whole number of four or eight bytes, such as `hw.memsize`.
pub(in crate::platform::macos) fn number(answer: &[u8]) -> Option<u64> {
    match answer.len() {
        4 => u32_at(answer, 0).map(u64::from),
        8 => u64_at(answer, 0),
        _ => None,
    }
}

/// A text with its NUL, such as `kern.osrelease`.
pub(in crate::platform::macos) fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(until_nul(answer)).into_owned()
}
