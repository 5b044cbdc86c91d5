//! Keys of the dialog and what they send: scripts against a desk that answers as it is told.

mod keys;
mod random;
mod returns;
mod sending;
