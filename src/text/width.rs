//! Columns that text takes in a terminal: cut, pad and wrap by graphemes.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Signs for what was left out, by what the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// `…`
    Unicode,
    /// `~`
    Ascii,
}

impl Glyphs {
    /// Returns the sign for what was left out, one column wide.
    pub fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "~",
        }
    }
}

/// Returns the number of columns.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Returns the longest beginning that fits, with a sign where something was left out.
pub fn truncate(text: &str, width: usize, glyphs: Glyphs) -> Cow<'_, str> {
    if columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let end = prefix_end(text, room);
    Cow::Owned(format!("{}{}", &text[..end], glyphs.ellipsis()))
}

/// Returns beginning and end with a sign between them: for paths, whose end says most.
pub fn truncate_middle(text: &str, width: usize, glyphs: Glyphs) -> Cow<'_, str> {
    if columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let head = prefix_end(text, room / 2);
    let tail = suffix_start(text, room - room / 2);
    Cow::Owned(format!("{}{}{}", &text[..head], glyphs.ellipsis(), &text[tail..]))
}

/// Returns text of exactly `width` columns, filled with spaces behind.
pub fn pad(text: &str, width: usize, glyphs: Glyphs) -> String {
    let cut = truncate(text, width, glyphs);
    let fill = width.saturating_sub(columns(&cut));
    format!("{cut}{}", " ".repeat(fill))
}

/// Returns text of exactly `width` columns, filled with spaces in front.
pub fn pad_left(text: &str, width: usize, glyphs: Glyphs) -> String {
    let cut = truncate(text, width, glyphs);
    let fill = width.saturating_sub(columns(&cut));
    format!("{}{cut}", " ".repeat(fill))
}

/// Returns lines of at most `width` columns: broken at spaces, inside a word only where it is
/// longer than a line. Nothing is lost but the spaces at the breaks.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        let mut word = word;
        let bare = columns(word.trim_end_matches(' '));
        if used > 0 && used + bare > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            used = 0;
        }
        while columns(word.trim_end_matches(' ')) > width {
            let end = prefix_end(word, width).max(first_grapheme(word));
            lines.push(word[..end].to_owned());
            word = &word[end..];
        }
        line.push_str(word);
        used += columns(word);
    }
    let rest = line.trim_end();
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

fn first_grapheme(text: &str) -> usize {
    text.graphemes(true).next().map_or(text.len(), str::len)
}

fn prefix_end(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        used += columns(grapheme);
        if used > width {
            return start;
        }
    }
    text.len()
}

fn suffix_start(text: &str, width: usize) -> usize {
    let mut used = 0;
    let mut start = text.len();
    for (index, grapheme) in text.grapheme_indices(true).rev() {
        used += columns(grapheme);
        if used > width {
            break;
        }
        start = index;
    }
    start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Glyphs, columns, pad, truncate, truncate_middle, wrap};

    #[test]
    fn what_is_left_out_has_a_sign() {
        assert_eq!(truncate("mcp-server-git", 6, Glyphs::Unicode), "mcp-s…");
        assert_eq!(truncate("mcp-server-git", 6, Glyphs::Ascii), "mcp-s~");
        assert_eq!(truncate("git", 3, Glyphs::Ascii), "git");
        assert_eq!(truncate("日本語", 5, Glyphs::Unicode), "日本…");
        assert_eq!(truncate("日本語", 4, Glyphs::Unicode), "日…");
        assert_eq!(truncate("git", 0, Glyphs::Ascii), "");
        assert_eq!(
            truncate_middle("/home/user/project/server.py", 13, Glyphs::Ascii),
            "/home/~ver.py"
        );
        assert_eq!(pad("日", 4, Glyphs::Unicode), "日  ");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(
            wrap("python -m mcp_server_git --repository /srv", 16),
            ["python -m", "mcp_server_git", "--repository", "/srv"]
        );
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_asked(text in "[a-z 日本é]{0,40}", width in 2_usize..20) {
            prop_assert!(columns(&truncate(&text, width, Glyphs::Unicode)) <= width);
            prop_assert!(columns(&truncate_middle(&text, width, Glyphs::Unicode)) <= width);
            prop_assert_eq!(columns(&pad(&text, width, Glyphs::Unicode)), width);
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| columns(line) <= width), "{:?}", lines);
            let squeezed = |text: &str| text.replace(' ', "");
            prop_assert_eq!(squeezed(&lines.concat()), squeezed(&text));
        }
    }
}
