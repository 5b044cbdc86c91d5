//! Link texts of `/proc/PID/fd` and lines of `/proc/PID/fdinfo`.

use super::{decimal, in_base, labelled};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Target};
use crate::model::identity::Pid;

/// Mark that the kernel puts after the path of an unlinked file.
const DELETED: &[u8] = b" (deleted)";

/// What the `fdinfo` of a descriptor says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::platform::linux) struct FdInfo {
    /// Low bits of `flags`.
    pub(in crate::platform::linux) access: Option<Access>,
    /// Inode (Linux 5.14).
    pub(in crate::platform::linux) inode: Option<u64>,
    /// Number of the mount that the file was opened through.
    pub(in crate::platform::linux) mount: Option<u64>,
    /// Position in the file.
    pub(in crate::platform::linux) position: Option<u64>,
    /// Number of the slave, for the master of a pseudo-terminal.
    pub(in crate::platform::linux) tty_index: Option<u32>,
    /// The process that a pidfd refers to; -1 once it was reaped.
    pub(in crate::platform::linux) pid: Option<Pid>,
}

/// Parses a `fdinfo`.
pub(in crate::platform::linux) fn fdinfo(text: &[u8]) -> FdInfo {
    let access = labelled(text, b"flags:")
        .and_then(|digits| in_base(digits, 8))
        .and_then(access);
    FdInfo {
        access,
        inode: labelled(text, b"ino:").and_then(decimal),
        mount: labelled(text, b"mnt_id:").and_then(decimal),
        position: labelled(text, b"pos:").and_then(decimal),
        tty_index: labelled(text, b"tty-index:")
            .and_then(decimal)
            .and_then(|index| u32::try_from(index).ok()),
        pid: labelled(text, b"Pid:")
            .and_then(decimal)
            .and_then(|pid| i64::try_from(pid).ok())
            .and_then(Pid::new),
    }
}

/// `O_ACCMODE`: 0 read, 1 write, 2 both; `O_PATH` descriptors show 0 and can do neither, which no pipe
/// end is.
fn access(flags: u64) -> Option<Access> {
    match flags & 0o3 {
        0 => Some(Access::Read),
        1 => Some(Access::Write),
        2 => Some(Access::Both),
        _ => None,
    }
}

/// Returns what a descriptor leads to. `info` completes what the link does not say. A FIFO with a name
/// looks like a file.
pub(in crate::platform::linux) fn target(link: &[u8], info: &FdInfo) -> Target {
    if let Some(inode) = bracketed(link, b"pipe:[") {
        return Target::Pipe { inode };
    }
    if let Some(inode) = bracketed(link, b"socket:[") {
        return Target::Socket { inode };
    }
    if let Some(name) = link.strip_prefix(b"anon_inode:") {
        let name = name
            .strip_prefix(b"[")
            .and_then(|rest| rest.strip_suffix(b"]"))
            .unwrap_or(name);
        return Target::Anonymous {
            name: name.into(),
            pid: info.pid,
        };
    }
    if !link.starts_with(b"/") {
        // pidfds of pidfs: `pidfd:[INODE]`; namespaces and others have no file either.
        return match bracketed(link, b"pidfd:[") {
            Some(_) => Target::Anonymous {
                name: "pidfd".into(),
                pid: info.pid,
            },
            None => Target::Other { link: link.into() },
        };
    }
    path_target(link, info)
}

fn path_target(link: &[u8], info: &FdInfo) -> Target {
    let (path, deleted) = match link.strip_suffix(DELETED) {
        Some(path) => (path, true),
        None => (link, false),
    };
    if path == b"/dev/null" && !deleted {
        return Target::Null;
    }
    if info.tty_index.is_some() || path == b"/dev/ptmx" || path == b"/dev/pts/ptmx" {
        return Target::PtyMaster {
            index: info.tty_index,
        };
    }
    if path.starts_with(b"/memfd:") {
        return Target::Anonymous {
            name: OsBytes::from(path.get(1..).unwrap_or_default()),
            pid: None,
        };
    }
    if is_terminal(path) {
        return Target::Terminal {
            path: path.into(),
            hung_up: deleted,
        };
    }
    Target::File {
        path: path.into(),
        deleted,
    }
}

fn is_terminal(path: &[u8]) -> bool {
    let numbered = |prefix: &[u8]| path.strip_prefix(prefix).and_then(decimal).is_some();
    numbered(b"/dev/pts/")
        || path == b"/dev/console"
        || path == b"/dev/tty"
        || path
            .strip_prefix(b"/dev/tty")
            .is_some_and(|rest| rest.last().is_some_and(u8::is_ascii_digit))
        || numbered(b"/dev/hvc")
}

/// Returns the number in `prefix NUMBER ]`.
pub(in crate::platform::linux) fn bracketed(link: &[u8], prefix: &[u8]) -> Option<u64> {
    link.strip_prefix(prefix)
        .and_then(|rest| rest.strip_suffix(b"]"))
        .and_then(decimal)
}

/// Returns the number of a pseudo-terminal's slave from its path.
pub(in crate::platform::linux) fn pts_number(path: &[u8]) -> Option<u32> {
    path.strip_prefix(b"/dev/pts/")
        .and_then(decimal)
        .and_then(|number| u32::try_from(number).ok())
}
