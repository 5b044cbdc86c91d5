//! The record on disk: journals, snapshots, attachments, and their offline check.

mod disk;
mod incidents;
mod kill;
pub(crate) mod kit;
mod secrets;
mod tamper;
