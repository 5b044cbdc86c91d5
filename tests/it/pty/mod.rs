//! The built program in a terminal of its own: what the screen shows, and how it is left.

mod ends;
mod harness;
mod job;
mod lines;
mod plain;
mod screen;
