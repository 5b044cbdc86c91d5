//! A writer that is killed at any moment: what was confirmed is there.
