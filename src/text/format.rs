//! Durations, sizes and counts in few columns.

/// Returns `42s`, `6m05s`, `2h13m`, `3d04h`, `412d`.
pub fn elapsed(_ms: u64) -> String {
    String::new()
}
