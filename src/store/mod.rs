//! Incident directories: appends under a lock with fsync, snapshots, attachments, and their offline
//! check. The only layer that writes files that last.

pub mod append;
pub mod check;
mod draft;
pub mod error;
pub mod files;
pub mod incident;
pub mod place;
mod redact;
pub mod snapshot;
pub mod tail;
pub mod tell;

pub use append::Receipt;
pub use check::{Checked, FileFault, FileFaultKind, Outcome, check};
pub use draft::Draft;
pub use error::StoreError;
pub use incident::{Attachment, Incident, Opened, Opening, Summary};
pub use place::{Access, Store};
pub use snapshot::Snapshot;
pub use tail::{Added, Tail, Turn};
pub use tell::Telling;
