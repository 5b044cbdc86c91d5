//! The record on disk: journals, snapshots, attachments, and their offline check.

mod commands;
mod copies;
mod disk;
mod handover;
mod incidents;
mod kill;
mod kinds;
pub(crate) mod kit;
mod record;
mod secrets;
mod snapshots;
mod tamper;
mod together;
