//! Columns that text takes in a terminal: counting, cutting, padding, wrapping.
//!
//! Counts as the screen's cells do: the sum over grapheme clusters. Never cuts inside a cluster.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

/// Signs for what was left out, by what the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Glyphs {
    /// `…`.
    #[default]
    Unicode,
    /// `~`, for terminals without UTF-8.
    Ascii,
}

impl Glyphs {
    /// Returns the sign for what was left out; it takes one column.
    pub fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "~",
        }
    }
}

/// Returns the number of columns.
pub fn columns(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns the text, cut at its end to at most `limit` columns; the last of them is the mark.
pub fn truncate(text: &str, limit: usize, glyphs: Glyphs) -> Cow<'_, str> {
    if limit == 0 {
        return Cow::Borrowed("");
    }
    match fitting_prefix(text, limit) {
        (whole, _) if whole == text.len() => Cow::Borrowed(text),
        _ => {
            let (end, _) = fitting_prefix(text, limit - 1);
            Cow::Owned(format!("{}{}", &text[..end], glyphs.ellipsis()))
        }
    }
}

/// Returns the text, cut in its middle to at most `limit` columns: both ends of a path say more
/// than its middle. The end gets the larger half.
pub fn truncate_middle(text: &str, limit: usize, glyphs: Glyphs) -> Cow<'_, str> {
    if limit == 0 {
        return Cow::Borrowed("");
    }
    if fitting_prefix(text, limit).0 == text.len() {
        return Cow::Borrowed(text);
    }
    let head = (limit - 1) / 2;
    let (head_end, _) = fitting_prefix(text, head);
    let tail_start = fitting_suffix(text, limit - 1 - head);
    Cow::Owned(format!(
        "{}{}{}",
        &text[..head_end],
        glyphs.ellipsis(),
        &text[tail_start..]
    ))
}

/// Returns a command line of at most `limit` columns: directories go first, word by word from the left, since the
/// names of program and script tell more than where they lie; then its end.
pub fn truncate_command(line: &str, limit: usize, glyphs: Glyphs) -> Cow<'_, str> {
    let mut over = columns(line).saturating_sub(limit);
    if over == 0 {
        return Cow::Borrowed(line);
    }
    let words = line.split(' ').map(|word| {
        if over == 0 {
            return Cow::Borrowed(word);
        }
        let short = without_directories(word, glyphs);
        over = over.saturating_sub(columns(word).saturating_sub(columns(&short)));
        short
    });
    let short = words.collect::<Vec<_>>().join(" ");
    Cow::Owned(truncate(&short, limit, glyphs).into_owned())
}

/// Returns `…/name` of a path with directories; anything else, such as a URL or a package's name, as it is.
fn without_directories(word: &str, glyphs: Glyphs) -> Cow<'_, str> {
    let is_path = word.starts_with('/') || word.starts_with("./") || word.starts_with("../");
    match word.rsplit_once('/') {
        Some((directories, name)) if is_path && directories.len() > 1 && !name.is_empty() => {
            // `~/name` would be another place.
            let mark = match glyphs {
                Glyphs::Unicode => glyphs.ellipsis(),
                Glyphs::Ascii => "...",
            };
            Cow::Owned(format!("{mark}/{name}"))
        }
        _ => Cow::Borrowed(word),
    }
}

/// Returns text of exactly `width` columns: cut at its end, or with blanks behind.
pub fn pad(text: &str, width: usize, glyphs: Glyphs) -> String {
    let cut = truncate(text, width, glyphs);
    let fill = width.saturating_sub(columns(&cut));
    format!("{cut}{}", " ".repeat(fill))
}

/// Returns text of exactly `width` columns: cut at its end, or with blanks before: numbers.
pub fn pad_left(text: &str, width: usize, glyphs: Glyphs) -> String {
    let cut = truncate(text, width, glyphs);
    let fill = width.saturating_sub(columns(&cut));
    format!("{}{cut}", " ".repeat(fill))
}

/// Returns the text in lines of at most `limit` columns: broken after a blank where there is one
/// in the line, else between clusters. Line breaks in the text are kept. A cluster wider than
/// `limit` stands alone. Never empty; joining the lines gives the text without the blanks at
/// breaks and without line breaks.
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        wrap_line(line, limit, &mut lines);
    }
    lines
}

fn wrap_line(line: &str, limit: usize, lines: &mut Vec<String>) {
    let mut rest = line;
    loop {
        let (end, _) = fitting_prefix(rest, limit);
        if end == rest.len() {
            lines.push(rest.to_owned());
            return;
        }
        let end = if end == 0 { first_cluster(rest) } else { end };
        let at_blank = rest[end..].starts_with(' ');
        let cut = match rest[..end].rfind(' ') {
            _ if at_blank => end,
            Some(blank) if blank > 0 && !rest[..blank].trim_end_matches(' ').is_empty() => blank,
            _ => end,
        };
        lines.push(rest[..cut].trim_end_matches(' ').to_owned());
        rest = rest[cut..].trim_start_matches(' ');
        if rest.is_empty() {
            return;
        }
    }
}

/// Returns whether every byte is one visible column of its own.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn first_cluster(text: &str) -> usize {
    text.graphemes(true).next().map_or(0, str::len)
}

/// Returns where the longest prefix of at most `limit` columns ends, and its columns. Looks at
/// no more of the text than that prefix needs.
fn fitting_prefix(text: &str, limit: usize) -> (usize, usize) {
    let probe = text.len().min(limit.saturating_add(1));
    if text.as_bytes()[..probe]
        .iter()
        .all(|byte| matches!(byte, b' '..=b'~'))
    {
        // What follows may still attach to the last byte that would be taken.
        let end = probe.min(limit);
        if text.as_bytes().get(end).is_none_or(u8::is_ascii) {
            return (end, end);
        }
    }
    let mut used = 0;
    let mut end = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        let columns = cluster.width();
        if used + columns > limit {
            break;
        }
        used += columns;
        end = at + cluster.len();
    }
    (end, used)
}

fn fitting_suffix(text: &str, limit: usize) -> usize {
    let mut used = 0;
    let mut start = text.len();
    for (at, cluster) in text.grapheme_indices(true).rev() {
        used += cluster.width();
        if used > limit {
            break;
        }
        start = at;
    }
    start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_those_of_the_cells() {
        for (text, expected) in [
            ("", 0),
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}x", 2),
            ("👍🏽", 2),
            ("🇩🇪", 2),
            ("ｶﾞ", 2),
            ("…", 1),
        ] {
            assert_eq!(columns(text), expected, "{text}");
        }
    }

    #[test]
    fn a_command_line_loses_its_directories_before_its_end() {
        let line = "/usr/bin/node /root/.cache/lab/dist/index.js --root /srv";
        for (limit, expected) in [
            (60, line),
            (52, "…/node /root/.cache/lab/dist/index.js --root /srv"),
            (40, "…/node …/index.js --root /srv"),
            (16, "…/node …/index.…"),
            (0, ""),
        ] {
            assert_eq!(truncate_command(line, limit, Glyphs::Unicode), expected);
        }
        let ascii = truncate_command("/a/b/server x", 12, Glyphs::Ascii);
        assert_eq!(ascii, ".../server x");
        // What is no path says all of itself: a package, a URL, a directory.
        let others = "npx @scope/server https://host/mcp /srv/ relative/path";
        assert_eq!(
            truncate_command(others, 53, Glyphs::Unicode),
            truncate(others, 53, Glyphs::Unicode)
        );
    }

    #[test]
    fn truncation_marks_the_cut() {
        assert_eq!(truncate("abcdef", 6, Glyphs::Unicode), "abcdef");
        assert_eq!(truncate("abcdef", 5, Glyphs::Unicode), "abcd…");
        assert_eq!(truncate("abcdef", 5, Glyphs::Ascii), "abcd~");
        assert_eq!(truncate("日本語", 5, Glyphs::Unicode), "日本…");
        assert_eq!(truncate("日本語", 4, Glyphs::Unicode), "日…");
        assert_eq!(truncate("abc", 1, Glyphs::Unicode), "…");
        assert_eq!(truncate("abc", 0, Glyphs::Unicode), "");
        assert_eq!(truncate("abce\u{301}", 4, Glyphs::Unicode), "abce\u{301}");
        assert_eq!(truncate("abe\u{301}d", 3, Glyphs::Unicode), "ab…");
    }

    #[test]
    fn middle_truncation_keeps_both_ends() {
        assert_eq!(
            truncate_middle("/home/alex/src/server.js", 12, Glyphs::Unicode),
            "/home…ver.js"
        );
        assert_eq!(truncate_middle("/home/a", 12, Glyphs::Unicode), "/home/a");
        assert_eq!(truncate_middle("abcdef", 1, Glyphs::Ascii), "~");
        assert_eq!(
            truncate_middle("日本語日本語", 7, Glyphs::Ascii),
            "日~本語"[..].replace("本語", "語")
        );
    }

    #[test]
    fn padding_goes_by_columns() {
        assert_eq!(pad("日", 4, Glyphs::Unicode), "日  ");
        assert_eq!(pad_left("7", 3, Glyphs::Unicode), "  7");
        assert_eq!(pad("long", 2, Glyphs::Ascii), "l~");
    }

    #[test]
    fn wrapping_prefers_blanks() {
        assert_eq!(wrap("npx -y demo-mcp", 8), ["npx -y", "demo-mcp"]);
        assert_eq!(wrap("npx -y demo-mcp", 4), ["npx", "-y", "demo", "-mcp"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(wrap("日本語", 1), ["日", "本", "語"]);
        assert_eq!(wrap("ab  cd", 2), ["ab", "cd"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_result_is_wider_than_asked(text in "\\PC{0,40}", limit in 2usize..30) {
            prop_assert!(columns(&truncate(&text, limit, Glyphs::Unicode)) <= limit);
            prop_assert!(columns(&truncate_middle(&text, limit, Glyphs::Ascii)) <= limit);
            let path = format!("/{text}/{text} /{text}");
            prop_assert!(columns(&truncate_command(&path, limit, Glyphs::Unicode)) <= limit);
            prop_assert_eq!(columns(&pad(&text, limit, Glyphs::Unicode)), limit);
            prop_assert_eq!(columns(&pad_left(&text, limit, Glyphs::Ascii)), limit);
            for line in wrap(&text, limit) {
                // A cluster wider than the limit stands alone: there is no narrower line for it.
                let one_cluster = line.graphemes(true).count() == 1;
                prop_assert!(columns(&line) <= limit || one_cluster, "{line:?}");
            }
        }

        #[test]
        fn wrapping_loses_nothing_but_blanks(text in "[a-z é日]{0,60}", limit in 2usize..12) {
            let joined: String = wrap(&text, limit).concat();
            prop_assert_eq!(joined.replace(' ', ""), text.replace(' ', ""));
        }
    }
}
