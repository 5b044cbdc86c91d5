//! The built program in a terminal of its own: what the screen shows, and how it is left.

#[cfg(target_os = "linux")]
mod closed;
mod ends;
mod harness;
mod job;
mod lent;
mod lines;
mod open;
mod plain;
mod run;
mod screen;
