//! Columns, cell text and sort keys: one definition for the tree, `list` and help.

pub mod column;
