//! The way out: data to stdout, diagnostics to stderr, a closed pipe is no error.

use std::io::{self, IsTerminal as _, Write};

use crate::text::Safe;

/// Writes text to stdout, flushed.
pub(super) fn print(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text)?;
    stdout.flush()
}

/// Writes one line to stderr. What cannot be said there cannot be said anywhere.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "mcpwake: {}", Safe::from_text(text));
}

/// Returns whether stdout is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether an error says that the reader of our output went away.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns the columns of the terminal on stdout; `None` for a pipe or a file: full width.
pub(super) fn columns() -> Option<usize> {
    if !is_terminal() {
        return None;
    }
    crossterm::terminal::size()
        .ok()
        .map(|(columns, _)| usize::from(columns))
        .filter(|columns| *columns > 0)
}
