//! Parsers of the kernel's texts: bytes in, facts out, no reading.

pub(super) mod descriptor;
pub(super) mod process;
pub(super) mod stat;
pub(super) mod system;
pub(super) mod unlisted;

/// Returns the number that all of `digits` make; `None` for no digit, another byte, or overflow.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Returns a number with an optional minus sign.
pub(super) fn signed(digits: &[u8]) -> Option<i64> {
    match digits.strip_prefix(b"-") {
        Some(rest) => decimal(rest)
            .and_then(|number| i64::try_from(number).ok())
            .map(|n| -n),
        None => decimal(digits).and_then(|number| i64::try_from(number).ok()),
    }
}

/// Returns a number written in base `radix` (8 or 16).
pub(super) fn in_base(digits: &[u8], radix: u32) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    if text.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(text, radix).ok()
}

/// Splits at spaces, tabs and line ends, dropping empty words.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// Returns what stands after `label` at the start of a line, without spaces around it.
pub(super) fn labelled<'a>(text: &'a [u8], label: &[u8]) -> Option<&'a [u8]> {
    text.split(|byte| *byte == b'\n')
        .find_map(|line| line.strip_prefix(label))
        .map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests;
