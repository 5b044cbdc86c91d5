//! One file: what its metadata say, and its bytes.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::hands::Errand;
use crate::model::host::Os;
use crate::model::reading::Absence;

/// Largest configuration file that is read, bytes.
pub(super) const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// What changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Denied, gone, or failed.
    pub(super) kind: Absence,
    /// One sentence.
    pub(super) detail: String,
}

impl Trouble {
    /// Returns a failure with this sentence.
    pub(super) fn failed(detail: impl Into<String>) -> Self {
        Self {
            kind: Absence::Failed,
            detail: detail.into(),
        }
    }

    /// Returns what the system said to an operation.
    pub(super) fn from_io(operation: &str, error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::PermissionDenied => Self {
                kind: Absence::Denied,
                detail: format!(
                    "{operation}: permission denied; its owner sees it, and root unless that was restricted (CAP_DAC_READ_SEARCH)"
                ),
            },
            ErrorKind::NotFound => Self {
                kind: Absence::Gone,
                detail: format!("{operation}: it is no longer there"),
            },
            _ => Self::failed(format!("{operation}: {error}")),
        }
    }
}

/// Returns whether an error only says that there is no such file.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Looks whether a file is there; `None`: no.
pub(super) fn look(path: &Path) -> Option<Result<Stamp, Trouble>> {
    match path.metadata() {
        Ok(metadata) => Some(check(&metadata)),
        Err(error) if is_absent(&error) => None,
        Err(error) => Some(Err(Trouble::from_io("stat", &error))),
    }
}

fn check(metadata: &Metadata) -> Result<Stamp, Trouble> {
    if !metadata.is_file() {
        let kind = if metadata.is_dir() {
            "a directory"
        } else {
            "a FIFO, socket or device"
        };
        return Err(Trouble::failed(format!(
            "it is {kind}, not a regular file: not read"
        )));
    }
    if metadata.len() > MAX_BYTES {
        let size = metadata.len();
        return Err(Trouble::failed(format!(
            "{size} bytes, more than {MAX_BYTES}: not read"
        )));
    }
    Ok(metadata.into())
}

/// Reads one file.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// The file.
    pub(super) path: PathBuf,
    /// The system.
    pub(super) os: Os,
}

impl Errand for Load {
    type Answer = Result<(Stamp, Vec<u8>), Trouble>;

    fn path(&self) -> &Path {
        &self.path
    }

    fn run(&self) -> Self::Answer {
        // What is no regular file is not even opened: opening a device or a FIFO has effects.
        look(&self.path).unwrap_or_else(|| Err(Trouble::from_io("stat", &ErrorKind::NotFound.into())))?;
        read(&open(&self.path, self.os)?)
    }
}

/// Opens a file for reading; never waits for the other end of a FIFO.
pub(super) fn open(path: &Path, os: Os) -> Result<File, Trouble> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(nonblocking(os));
    options
        .open(path)
        .map_err(|error| Trouble::from_io("open", &error))
}

/// `O_NONBLOCK`, in case that the file has become a FIFO since it was looked at.
fn nonblocking(os: Os) -> i32 {
    match os {
        Os::Linux => 0o4000,
        Os::Macos => 0x4,
    }
}

/// Reads an open file, which must be a regular one.
pub(super) fn read(file: &File) -> Result<(Stamp, Vec<u8>), Trouble> {
    let stamp = check(
        &file
            .metadata()
            .map_err(|error| Trouble::from_io("fstat", &error))?,
    )?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Trouble::from_io("read", &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Trouble::failed(format!(
            "it grew over {MAX_BYTES} bytes while it was read: not read"
        )));
    }
    Ok((stamp, bytes))
}
