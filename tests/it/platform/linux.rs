//! Linux: parity with ps(1), lsof(8), ss(8) and the procfs crate, on own children.

mod descriptors;
mod observer;
mod processes;
mod sockets;
mod support;
