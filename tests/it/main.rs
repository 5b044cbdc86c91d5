//! What runs on this machine alone: house rules, command line, platform, screen in a pty.

mod cli;
mod keep;
mod platform;
mod pty;
mod support;
mod tidy;
