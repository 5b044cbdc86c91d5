//! Linux: parity with ps(1), lsof(8), ss(8) and the procfs crate, on own children.

mod churn;
mod descriptors;
mod fixtures;
mod observer;
mod processes;
mod rights;
mod sockets;
mod support;
mod threads;
