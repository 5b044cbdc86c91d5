//! The decoders on constructed answers, and whole samples of a machine that answers as a Mac does.

mod answers;
mod arguments;
mod asked;
mod descriptors;
mod mac;
mod processes;
mod properties;
mod saved;
mod signals;
mod situations;
mod sockets;
