//! A text as a person reads it: characters that are not seen left out, dashes, blanks and wide letters in
//! their ASCII form. `–api-key` and `--api\u{200b}-key` name the same thing as `--api-key`.

use super::edits::{Place, Quoting, View};

/// Returns the text as it reads; `None` where it is that already.
pub(super) fn normal(text: &[u8]) -> Option<View<'static>> {
    if text.iter().all(|byte| is_plain_byte(*byte)) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    let mut at = 0;
    let mut changed = false;
    let mut push = |read: &[u8], start: usize, end: usize| {
        for &byte in read {
            bytes.push(byte);
            places.push(Place {
                start,
                end,
                quoting: Quoting::Verbatim,
            });
        }
    };
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let end = at + c.len_utf8();
            let read = reads_as(c);
            changed |= read != Some(c);
            if let Some(read) = read {
                push(read.encode_utf8(&mut [0; 4]).as_bytes(), at, end);
            }
            at = end;
        }
        for byte in chunk.invalid() {
            push(&[*byte], at, at + 1);
            at += 1;
        }
    }
    changed.then(|| View::decoded(bytes, places))
}

fn is_plain_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') || byte.is_ascii_whitespace()
}

/// What a character reads as; `None` where it is not seen.
fn reads_as(c: char) -> Option<char> {
    Some(match c {
        // NUL ends an argument.
        '\0' => '\n',
        '\t' | '\n' | '\u{c}' | '\r' => c,
        // Control characters, soft hyphen, joiners, marks of direction, selectors, fillers, tags.
        '\u{1}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => return None,
        '\u{2010}'..='\u{2015}'
        | '\u{2043}'
        | '\u{2212}'
        | '\u{2e3a}'
        | '\u{2e3b}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{ff0d}' => '-',
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => ' ',
        '\u{ff1d}' => '=',
        '\u{ff1a}' => ':',
        '\u{ff3f}' => '_',
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
            char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c)
        }
        _ => c,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_as_a_person_reads_it() {
        for (given, expected) in [
            ("\u{2013}\u{2013}api\u{200b}-key", Some("--api-key")),
            ("\u{ff21}\u{ff30}\u{ff29}\u{ff1d}x\u{a0}y", Some("API=x y")),
            ("a\u{1}b\x7fc\0d", Some("abc\nd")),
            ("caf\u{e9}", None),
            ("a\tb\n", None),
        ] {
            let read = normal(given.as_bytes()).map(|view| String::from_utf8(view.bytes.to_vec()).unwrap());
            assert_eq!(read.as_deref(), expected, "{given:?}");
        }
        assert_eq!(normal(b"\xff\x01\xfe").unwrap().bytes.as_ref(), b"\xff\xfe");
    }
}
