//! Keys and pasted text: a thread that reads the terminal, and what its bytes mean.
//!
//! Own code, not crossterm's event stream: that one spins for ever on a terminal that was closed
//! (it reads 0 bytes again and again while the loop waits for it), and takes an escape sequence
//! that a slow line has cut in two for the Esc key and text.

mod decode;
mod reader;

pub(super) use decode::Decoder;
pub(super) use reader::{Reading, start};
