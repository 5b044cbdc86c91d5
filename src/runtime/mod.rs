//! The running program: event loop, terminal, collector thread.
