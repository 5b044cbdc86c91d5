//! Shows an argument vector as one line, quoted as a shell would need it.
//!
//! For reading, not for running: control characters are escaped after quoting.

use super::safe::Safe;

/// Returns the elements, quoted where a shell needs it and joined by blanks, escaped: at most
/// `max_chars` characters, the last of them `…` where it was cut. Does no work for what is cut off, so
/// an argument of megabytes costs nothing; what is cut off does not decide on quotes either.
pub fn line(argv: &[impl AsRef<[u8]>], max_chars: usize) -> Safe {
    Safe::from_bytes_limited(
        &quoted(argv, max_chars.saturating_add(1).saturating_mul(4)),
        max_chars,
    )
}

/// Quotes until at least `enough` bytes are there. Elements longer than that are cut before
/// quoting.
fn quoted(argv: &[impl AsRef<[u8]>], enough: usize) -> Vec<u8> {
    // An element cannot hold a NUL where it comes from the kernel, but a title or a record can.
    let quoter = shlex::bytes::Quoter::new().allow_nul(true);
    let mut line = Vec::new();
    for element in argv {
        if !line.is_empty() {
            line.push(b' ');
        }
        if line.len() > enough {
            break;
        }
        let element = element.as_ref();
        let element = &element[..element.len().min(enough)];
        match quoter.quote(element) {
            Ok(text) => line.extend_from_slice(&text),
            Err(_) => line.extend_from_slice(element),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(argv: &[&str]) -> String {
        line(argv, usize::MAX).as_str().to_owned()
    }

    #[test]
    fn quotes_only_where_needed() {
        assert_eq!(shown(&["npx", "-y", "demo-mcp"]), "npx -y demo-mcp");
        assert_eq!(shown(&["sh", "-c", "a b", ""]), "sh -c 'a b' ''");
        assert_eq!(shown(&[""]), "''");
        assert_eq!(shown(&["a\nb"]), "'a\\nb'");
        assert_eq!(line(&[b"a\xff".as_slice()], usize::MAX).as_str(), "'a\\xff'");
    }

    #[test]
    fn the_limit_cuts_with_a_mark() {
        assert_eq!(line(&["node", "server.js"], 8).as_str(), "node se…");
        assert_eq!(line(&["node", "server.js"], 14).as_str(), "node server.js");
        let huge = "a".repeat(2 << 20);
        assert_eq!(line(&["x", &huge], 10).as_str(), "x aaaaaaa…");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn different_argument_vectors_look_different(
            a in proptest::collection::vec("[ab '\"\\\\\n\u{e9}]{0,4}", 1..4),
            b in proptest::collection::vec("[ab '\"\\\\\n\u{e9}]{0,4}", 1..4),
        ) {
            prop_assert_eq!(a == b, line(&a, usize::MAX) == line(&b, usize::MAX));
        }

        #[test]
        fn a_limit_that_is_large_changes_nothing(argv in proptest::collection::vec(any::<Vec<u8>>(), 0..4)) {
            prop_assert_eq!(line(&argv, usize::MAX), line(&argv, 100_000));
        }

        #[test]
        fn a_limited_line_is_a_prefix(argv in proptest::collection::vec("\\PC{0,6}", 0..4), max in 6usize..20) {
            // From 6 on no element of 24 bytes is cut before it is quoted: the same quotes stand around it.
            let whole = line(&argv, usize::MAX);
            let cut = line(&argv, max);
            let count = cut.as_str().chars().count();
            prop_assert!(count <= max);
            if cut != whole {
                let kept: String = whole.as_str().chars().take(count - 1).collect();
                prop_assert_eq!(format!("{kept}…"), cut.as_str());
            }
        }
    }
}
