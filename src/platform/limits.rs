//! What the machine gives this program: room on a disk, open files, and what the system calls itself.

use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// The limits on open files of this process (`getrlimit`(2), `RLIMIT_NOFILE`); `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFiles {
    /// The one that holds.
    pub soft: Option<u64>,
    /// How far this process may raise it.
    pub hard: Option<u64>,
}

/// Returns the limits on open files.
pub fn open_files() -> OpenFiles {
    let limit = getrlimit(Resource::Nofile);
    OpenFiles {
        soft: limit.current,
        hard: limit.maximum,
    }
}

/// Returns the bytes that this user may still write to the file system of a path (`statvfs`(3)).
pub fn free_bytes(path: &Path) -> Result<u64, Errno> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Returns what the system calls itself: `Debian GNU/Linux 13`, `macOS 15.1`.
pub fn release() -> Option<String> {
    sysinfo::System::long_os_version().ok()
}
