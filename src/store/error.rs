//! What can go wrong with files that must last: each names path and operation, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::journal::line::SealError;

/// A file or directory could not be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system refused or failed.
    #[error("{operation} {}: {reason}{}", path.display(), advice(reason))]
    Io {
        /// What was being done: `append to`, `create`.
        operation: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's reason; said with the rest, so that it is not said again as the cause.
        reason: io::Error,
    },
    /// `--read-only` holds.
    #[error("{operation} {}: not done, read-only holds", path.display())]
    ReadOnly {
        /// What would have been done.
        operation: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// Others may read or write it.
    #[error(
        "{} has mode {mode:04o}: others may use it; `chmod {} {}`, and look who did since",
        path.display(), if *directory { "700" } else { "600" }, path.display()
    )]
    NotPrivate {
        /// Where.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// Whether it is a directory.
        directory: bool,
    },
    /// It belongs to somebody else.
    #[error(
        "{} belongs to uid {owner}, not to {uid}: run as that user, or name another place with XDG_STATE_HOME",
        path.display()
    )]
    NotOwn {
        /// Where.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who runs the program.
        uid: u32,
    },
    /// It is no directory, or no regular file.
    #[error("{} is no {expected}: move it away", path.display())]
    WrongKind {
        /// Where.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
    },
    /// It was there before, and is not any more.
    #[error(
        "{operation} {}: it was moved or removed since it was opened; nothing was written there",
        path.display()
    )]
    Vanished {
        /// What was being done.
        operation: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// The last line of a journal cannot be continued.
    #[error(
        "append to {}: {what}; `mcpwake verify` says more; open a new incident and keep this one as it is",
        path.display()
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The entry cannot be written.
    #[error("append to {}: {reason}", path.display())]
    Entry {
        /// The journal.
        path: PathBuf,
        /// Why.
        reason: SealError,
    },
    /// No incident is meant by that.
    #[error("no incident {wanted} in {}: {hint}", path.display())]
    NoIncident {
        /// What was asked for.
        wanted: String,
        /// Where it was looked for.
        path: PathBuf,
        /// Which there are instead.
        hint: String,
    },
    /// It is no snapshot that this version can read.
    #[error("read {path}: {what}")]
    NoSnapshot {
        /// The file, or `stdin`.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// No place for files is known.
    #[error("no directory for incidents: neither XDG_STATE_HOME nor HOME names one")]
    NoPlace,
}

impl StoreError {
    /// Returns a function that names operation and path of a failure.
    pub(super) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |reason| Self::Io {
            operation,
            path,
            reason,
        }
    }

    /// Returns whether there is no room: the disk is full, or a quota is used up.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Io { reason, .. } if is_full(reason))
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

fn advice(error: &io::Error) -> &'static str {
    if is_full(error) {
        return "; make room there, or name another place with XDG_STATE_HOME: what is in the journal stays valid";
    }
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => "; name a place that can be written with XDG_STATE_HOME",
        io::ErrorKind::PermissionDenied => "; run as the owner, or name another place with XDG_STATE_HOME",
        _ => "",
    }
}
