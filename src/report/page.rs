//! A page of headings and labelled lines; all text is escaped, and wrapped where it goes to a
//! terminal.

use crate::text::{Safe, width};

/// Columns that labels take, with the space behind them.
const LABEL: usize = 16;

/// Fewest columns that a value is wrapped to.
const NARROWEST: usize = 20;

/// A page that is being written.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    columns: Option<usize>,
}

impl Page {
    /// Begins a page; `columns` of the terminal, `None` for a pipe: nothing is wrapped.
    pub(super) fn new(columns: Option<usize>) -> Self {
        Self {
            text: String::new(),
            columns,
        }
    }

    /// Writes a heading, with an empty line before it but for the first.
    pub(super) fn heading(&mut self, heading: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(Safe::from_text(heading).as_str());
        self.text.push('\n');
    }

    /// Writes a labelled line.
    pub(super) fn row(&mut self, label: &str, value: &str) {
        let label = Safe::from_text(label);
        let label = label.as_str();
        let gap = LABEL.saturating_sub(width::columns(label)).max(1);
        self.text.push_str("  ");
        self.text.push_str(label);
        self.text.push_str(&" ".repeat(gap));
        let room = self
            .columns
            .map(|columns| columns.saturating_sub(LABEL + 2).max(NARROWEST));
        let value = Safe::from_text(value);
        for (number, line) in wrap(value.as_str(), room).into_iter().enumerate() {
            if number > 0 {
                self.text.push_str(&" ".repeat(LABEL + 2));
            }
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// Returns the page.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Breaks a line at spaces, and inside a word only where it is longer than a line.
fn wrap(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else {
        return vec![text.to_owned()];
    };
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if width::columns(&line) + width::columns(word.trim_end()) > room && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for character in word.chars() {
            let mut with = line.clone();
            with.push(character);
            if width::columns(&with) > room && character != ' ' {
                lines.push(std::mem::take(&mut line));
                line.push(character);
            } else {
                line = with;
            }
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn a_pipe_gets_whole_lines() {
        assert_eq!(wrap(&"word ".repeat(100), None).len(), 1);
    }

    #[test]
    fn lines_break_at_spaces_and_lose_nothing() {
        let text = "one two  three averyveryverylongword end";
        let lines = wrap(text, Some(10));
        assert_eq!(lines.concat(), text);
        assert_eq!(lines[0].trim_end(), "one two");
        assert!(
            lines.iter().all(|line| line.trim_end().chars().count() <= 10),
            "{lines:?}"
        );
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(wrap("漢字漢字", Some(4)), ["漢字", "漢字"]);
    }
}
