//! Names in a sentence: the first few, and how many more there are.

/// More names than this are counted.
const NAMED: usize = 6;

/// Joins names.
pub(crate) fn some(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
