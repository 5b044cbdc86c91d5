//! Files of the whole system: `stat`, `locks`, `mountinfo`, passwd(5).

use super::{decimal, labelled, words};
use crate::model::bytes::OsBytes;
use crate::model::process::Lock;

/// Returns the wall time of boot in seconds since the epoch, from `/proc/stat`.
pub(in crate::platform::linux) fn boot_seconds(text: &[u8]) -> Option<u64> {
    labelled(text, b"btime ").and_then(decimal)
}

/// Returns the number of processors in use, from `/proc/stat`.
pub(in crate::platform::linux) fn processors(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n')
        .filter(|line| {
            line.strip_prefix(b"cpu")
                .and_then(|rest| rest.first())
                .is_some_and(u8::is_ascii_digit)
        })
        .count()
}

/// One user of passwd(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::linux) struct PasswdEntry {
    pub(in crate::platform::linux) uid: u32,
    pub(in crate::platform::linux) name: OsBytes,
    pub(in crate::platform::linux) home: OsBytes,
}

/// Parses passwd(5); lines that are not of its form are passed over, as getpwuid(3) does.
pub(in crate::platform::linux) fn passwd(text: &[u8]) -> impl Iterator<Item = PasswdEntry> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let [name, _, uid, _, _, home, ..] = fields.as_slice() else {
            return None;
        };
        let uid = decimal(uid).and_then(|uid| u32::try_from(uid).ok())?;
        (!name.is_empty()).then(|| PasswdEntry {
            uid,
            name: (*name).into(),
            home: (*home).into(),
        })
    })
}

/// One line of `/proc/locks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::linux) struct LockLine {
    /// `POSIX`, `FLOCK`, `OFDLCK`.
    pub(in crate::platform::linux) kind: String,
    /// `READ` or `WRITE`.
    pub(in crate::platform::linux) mode: String,
    /// Owner; `None` for a lock of an open file description (printed as -1).
    pub(in crate::platform::linux) pid: Option<u64>,
    /// Inode of the file.
    pub(in crate::platform::linux) inode: u64,
}

impl LockLine {
    /// Returns the lock, with the path where it is known.
    pub(in crate::platform::linux) fn lock(self, path: Option<OsBytes>) -> Lock {
        Lock {
            kind: self.kind,
            mode: self.mode,
            inode: self.inode,
            path,
        }
    }
}

/// Parses `/proc/locks` or the `lock:` lines of a `fdinfo`; waiters (`->`) hold nothing and leases are
/// no locks: both are left out.
pub(in crate::platform::linux) fn locks(text: &[u8]) -> impl Iterator<Item = LockLine> {
    text.split(|byte| *byte == b'\n').filter_map(lock_line)
}

fn lock_line(line: &[u8]) -> Option<LockLine> {
    let line = line.strip_prefix(b"lock:").unwrap_or(line);
    let mut fields = words(line);
    let _number = fields.next()?;
    let text = |word: &[u8]| std::str::from_utf8(word).ok().map(str::to_owned);
    let kind = text(fields.next()?)?;
    if !matches!(kind.as_str(), "POSIX" | "FLOCK" | "OFDLCK") {
        return None;
    }
    let _advisory = fields.next()?;
    let mode = text(fields.next()?)?;
    let pid = decimal(fields.next()?);
    // major:minor:inode, the first two in hexadecimal.
    let inode = fields
        .next()?
        .rsplit(|byte| *byte == b':')
        .next()
        .and_then(decimal)?;
    Some(LockLine {
        kind,
        mode,
        pid,
        inode,
    })
}

/// How a proc file system hides processes, by the options of its mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::linux) struct HidePid {
    /// The value of `hidepid=`: a word on newer kernels, a number on older ones.
    pub(in crate::platform::linux) value: String,
    /// The group from whose members nothing is hidden, but by `ptraceable`.
    pub(in crate::platform::linux) gid: u32,
}

/// Returns how the proc file system at `mount_point` hides processes, where it hides any. The last mount
/// on a place is the one that is seen.
pub(in crate::platform::linux) fn hidepid(mountinfo: &[u8], mount_point: &[u8]) -> Option<HidePid> {
    let line = mountinfo
        .split(|byte| *byte == b'\n')
        .rfind(|line| words(line).nth(4) == Some(mount_point))?;
    let options = words(line).last()?;
    let option = |name: &[u8]| {
        let mut options = options.split(|byte| *byte == b',');
        options.find_map(|option| option.strip_prefix(name))
    };
    let value = std::str::from_utf8(option(b"hidepid=")?).ok()?;
    let gid = option(b"gid=").and_then(decimal);
    (!matches!(value, "0" | "off")).then(|| HidePid {
        value: value.to_owned(),
        gid: gid.and_then(|gid| u32::try_from(gid).ok()).unwrap_or(0),
    })
}

/// Returns the type of each mounted file system, by the number of the mount.
pub(in crate::platform::linux) fn mounted_types(mountinfo: &[u8]) -> impl Iterator<Item = (u64, OsBytes)> {
    mountinfo.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = words(line);
        let mount = fields.next().and_then(decimal)?;
        // A variable number of fields ends at a lone hyphen.
        let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
        Some((mount, kind.into()))
    })
}
