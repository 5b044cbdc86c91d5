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
        self.safe_heading(&Safe::from_text(heading));
    }

    /// Writes a heading that was escaped from bytes.
    pub(super) fn safe_heading(&mut self, heading: &Safe) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(heading.as_str());
        self.text.push('\n');
    }

    /// Writes a labelled line.
    pub(super) fn row(&mut self, label: &str, value: &str) {
        self.safe_row(label, &Safe::from_text(value));
    }

    /// Writes a labelled line whose value was escaped from bytes.
    pub(super) fn safe_row(&mut self, label: &str, value: &Safe) {
        let label = Safe::from_text(label);
        let label = label.as_str();
        let gap = LABEL.saturating_sub(width::columns(label)).max(1);
        self.text.push_str("  ");
        self.text.push_str(label);
        self.text.push_str(&" ".repeat(gap));
        let room = self
            .columns
            .map(|columns| columns.saturating_sub(LABEL + 2).max(NARROWEST));
        let lines = room.map_or_else(
            || vec![value.as_str().to_owned()],
            |room| width::wrap(value.as_str(), room),
        );
        for (number, line) in lines.iter().enumerate() {
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

#[cfg(test)]
mod tests {
    use super::Page;

    fn page(columns: Option<usize>) -> String {
        let mut page = Page::new(columns);
        page.heading("PROCESS 1");
        page.row("command", "one two three four five six seven");
        page.heading("END");
        page.into_text()
    }

    #[test]
    fn a_pipe_gets_whole_lines() {
        assert_eq!(
            page(None),
            "PROCESS 1\n  command         one two three four five six seven\n\nEND\n"
        );
    }

    #[test]
    fn a_terminal_gets_lines_that_fit_below_each_other() {
        assert_eq!(
            page(Some(40)),
            "PROCESS 1\n  command         one two three four\n                  five six seven\n\nEND\n"
        );
    }
}
