//! Columns that text takes in a terminal.

/// Returns the number of columns.
pub fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}
