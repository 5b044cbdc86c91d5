//! Tests of `text::safe`: tables and properties.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::super::width;
use super::*;

fn shown(text: &str) -> String {
    Safe::from_text(text).into()
}

/// Reads the escapes back: what makes the escaping one-to-one.
fn unescaped(safe: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = safe;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let next = rest.chars().next();
        match next {
            Some('\\') => bytes.push(b'\\'),
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('x') => {
                bytes.push(u8::from_str_radix(&rest[1..3], 16).unwrap());
                rest = &rest[2..];
            }
            Some('u') => {
                let end = rest.find('}').unwrap();
                let c = char::from_u32(u32::from_str_radix(&rest[2..end], 16).unwrap()).unwrap();
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[end..];
            }
            _ => {
                bytes.push(b'\\');
                continue;
            }
        }
        rest = &rest[1..];
    }
    bytes
}

#[test]
fn what_is_escaped_and_how() {
    for (text, expected) in [
        ("plain text", "plain text"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u{1b}[31mred", "\\x1b[31mred"),
        ("\0\u{7f}", "\\x00\\x7f"),
        ("\u{9b}31m", "\\u{9b}31m"),
        ("gnp.\u{202e}exe", "gnp.\\u{202e}exe"),
        ("a\u{200b}b\u{feff}c\u{ad}d", "a\\u{200b}b\\u{feff}c\\u{ad}d"),
        ("a\u{2028}b\u{a0}c", "a\\u{2028}b\\u{a0}c"),
        ("❤\u{fe0f}", "❤\\u{fe0f}"),
        ("\u{e0041}\u{e000}\u{378}", "\\u{e0041}\\u{e000}\\u{378}"),
        (
            "\u{61c}\u{200e}\u{2066}\u{3164}\u{2800}",
            "\\u{61c}\\u{200e}\\u{2066}\\u{3164}\\u{2800}",
        ),
        ("日本 é 👍🏽", "日本 é 👍🏽"),
        ("e\u{301}", "e\u{301}"),
        ("\u{301}e", "\\u{301}e"),
        (" \u{301}", " \\u{301}"),
        ("\n\u{301}", "\\n\\u{301}"),
        ("C:\\Users\\demo", "C:\\Users\\demo"),
        ("C:\\new", "C:\\\\new"),
        ("a\\", "a\\"),
        ("a\\\n", "a\\\\\\n"),
        ("\\\\server", "\\\\\\server"),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
    assert_eq!(Safe::from_bytes(b"a\xff\xc3b").as_str(), "a\\xff\\xc3b");
}

#[test]
fn a_pile_of_marks_ends() {
    let pile = format!("a{}", "\u{301}".repeat(6));
    assert_eq!(
        shown(&pile),
        format!("a{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(4))
    );
}

#[test]
fn literals_keep_their_backslashes() {
    assert_eq!(Safe::literal("a\\nb").as_str(), "a\\nb");
    assert_eq!(Safe::literal("─▶\n").as_str(), "─▶\\n");
    let parts = ["C:\\", "new", "\\", "\\"].map(Safe::from_text);
    assert_eq!(Safe::join(parts, "").as_str(), "C:\\\\new\\\\\\");
    let joined = Safe::join([Safe::from(7u32), Safe::from_text("a\n")], " · ");
    assert_eq!(joined.as_str(), "7 · a\\n");
}

#[test]
fn display_pads_by_columns() {
    let safe = Safe::from_text("日本");
    assert_eq!(
        format!("[{safe:6}][{safe:>6}][{safe:^6}][{safe:.3}][{safe:·<5}]"),
        "[日本  ][  日本][ 日本 ][日…][日本·]"
    );
}

#[test]
fn ascii_form_is_unambiguous() {
    for (text, expected) in [
        ("é…", "\\u{e9}~"),
        ("\\é", "\\\\\\u{e9}"),
        ("\\\\é", "\\\\\\\\\\u{e9}"),
        ("ok", "ok"),
    ] {
        assert_eq!(Safe::from_text(text).ascii().as_str(), expected, "{text}");
    }
}

#[test]
fn the_limit_stops_early() {
    assert_eq!(Safe::from_bytes_limited(b"abcdef", 6).as_str(), "abcdef");
    assert_eq!(Safe::from_bytes_limited(b"abcdef", 5).as_str(), "abcd…");
    assert_eq!(Safe::from_bytes_limited(b"\x1b\x1b", 5).as_str(), "\\x1b…");
    assert_eq!(Safe::from_bytes_limited("ééééé".as_bytes(), 5).as_str(), "ééééé");
    assert_eq!(Safe::from_bytes_limited(b"abc", 0).as_str(), "");
}

#[test]
fn megabytes_are_fast() {
    let began = Instant::now();
    for hostile in ["\u{1b}", "\\", "日", "a\u{301}", "\u{202e}", "x"] {
        let text = hostile.repeat((1 << 19) / hostile.len());
        assert!(Safe::from_text(&text).as_str().len() >= text.len() / 2);
    }
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "took {:?}",
        began.elapsed()
    );
    let huge = vec![b'a'; 2 << 20];
    let began = Instant::now();
    for _ in 0..1000 {
        assert_eq!(Safe::from_bytes_limited(&huge, 80).as_str().chars().count(), 80);
    }
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "took {:?}",
        began.elapsed()
    );
}

#[test]
fn every_character_alone_and_after_a_letter_is_drawn() {
    for c in '\u{0}'..=char::MAX {
        // Marks, format characters and everything else that is odd is below, or in the tags; of the
        // rest, which is ideographs or unassigned, every 17th says it.
        let code = u32::from(c);
        if code > 0x3000
            && !(0xa000..0x1_1000).contains(&code)
            && code >> 8 != 0xe01
            && !code.is_multiple_of(17)
        {
            continue;
        }
        assert_drawn(Safe::from_text(&format!("{c}a{c}b")).as_str());
    }
}

fn assert_drawn(text: &str) {
    for c in text.chars() {
        assert!(
            c == ' ' || !HIDDEN.as_ref().unwrap().is_match(c.encode_utf8(&mut [0; 4])),
            "{text:?}"
        );
    }
    for cluster in text.graphemes(true) {
        assert!(width::columns(cluster) >= 1, "{text:?}: {cluster:?}");
    }
}

/// Text in which everything that matters here is frequent.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        "[a-z\\\\nrtxu{}0-9]{1,4}".prop_map(String::into_bytes),
        any::<char>().prop_map(|c| c.to_string().into_bytes()),
        any::<u8>().prop_map(|byte| vec![byte]),
        prop::sample::select(vec![
            "\u{301}", "\u{202e}", "\u{1b}", "\u{200d}", "ᄀ", "ᅡ", "ᆨ", "👍", "🏽", "\\", "ﾞ"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn the_escapes_can_be_read_back(bytes in hostile()) {
        let safe = Safe::from_bytes(&bytes);
        prop_assert_eq!(unescaped(safe.as_str()), bytes);
    }

    #[test]
    fn different_bytes_look_different(a in hostile(), b in hostile()) {
        prop_assert_eq!(a == b, Safe::from_bytes(&a) == Safe::from_bytes(&b));
    }

    #[test]
    fn all_of_it_is_drawn(a in hostile(), b in hostile()) {
        let mut safe = Safe::from_bytes(&a);
        safe.push(&Safe::from_bytes(&b));
        assert_drawn(safe.as_str());
        for line in safe.wrapped(7) {
            assert_drawn(line.as_str());
        }
        assert_drawn(safe.truncated(5, Glyphs::Unicode).as_str());
        assert_drawn(safe.truncated_middle(5, Glyphs::Unicode).as_str());
        prop_assert!(safe.ascii().as_str().is_ascii());
    }

    #[test]
    fn a_limited_text_is_a_prefix(bytes in hostile(), max in 1usize..20) {
        let whole = Safe::from_bytes(&bytes);
        let cut = Safe::from_bytes_limited(&bytes, max);
        if cut != whole {
            prop_assert_eq!(cut.as_str().chars().count(), max);
            let kept: String = whole.as_str().chars().take(max - 1).collect();
            prop_assert_eq!(format!("{kept}…"), cut.as_str());
        }
    }
}
