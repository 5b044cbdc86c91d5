//! Reads clients' configuration files, on a thread of its own.
