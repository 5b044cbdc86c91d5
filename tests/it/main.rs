//! What runs on this machine alone: house rules, command line, platform, screen in a pty.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails there, in its helpers too"
)]

mod act;
mod cli;
mod doctor;
mod keep;
mod platform;
mod pty;
mod support;
mod tidy;
