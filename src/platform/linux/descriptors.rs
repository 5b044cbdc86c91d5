//! The descriptors of one process: link texts and `fdinfo`, nothing else.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use rustix::io::Errno;

use super::parse::descriptor::{FdInfo, fdinfo, target};
use super::parse::system::{LockLine, locks, mounted_types};
use super::reader::{Folder, Reader, absent};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Descriptor, Target};
use crate::model::identity::Pid;
use crate::model::process::Lock;
use crate::model::reading::Reading;

/// File systems of this machine's own disks and memory: asking them for a file's type cannot hang on a
/// server that is gone.
const LOCAL: [&[u8]; 11] = [
    b"ext2",
    b"ext3",
    b"ext4",
    b"xfs",
    b"btrfs",
    b"tmpfs",
    b"ramfs",
    b"overlay",
    b"f2fs",
    b"zfs",
    b"bcachefs",
];

/// What the descriptors of a process told.
pub(super) struct Open {
    pub(super) descriptors: Vec<Descriptor>,
    pub(super) locks: Vec<Lock>,
    /// Links that can change while the process rests: paths, and pidfds for what is behind them.
    watched: Vec<(u32, Vec<u8>)>,
}

/// Tells FIFOs from other files. Their link is a path like any other, and their descriptor must not be
/// asked: the path is, where it leads to a local file system and to the same inode.
#[derive(Default)]
pub(super) struct Fifos {
    types: Option<BTreeMap<u64, OsBytes>>,
}

impl Fifos {
    /// Forgets what is mounted: to be called before each look.
    pub(super) fn forget(&mut self) {
        self.types = None;
    }

    fn inode(&mut self, reader: &mut Reader, path: &OsBytes, info: &FdInfo) -> Option<u64> {
        // A FIFO has no position; a file that was read or written from has one.
        let (inode, mount) = (info.inode?, info.mount?);
        if info.position != Some(0) {
            return None;
        }
        let types = self.types.get_or_insert_with(|| {
            mounted_types(reader.system("self/mountinfo").unwrap_or_default()).collect()
        });
        // The mount of another namespace is not in the list.
        let local = types
            .get(&mount)
            .is_some_and(|kind| LOCAL.contains(&kind.as_bytes()));
        if !local {
            return None;
        }
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
        let path = std::ffi::OsStr::from_bytes(path.as_bytes());
        let found = statx(CWD, path, flags, StatxFlags::TYPE | StatxFlags::INO).ok()?;
        let fifo = FileType::from_raw_mode(u32::from(found.stx_mode)) == FileType::Fifo;
        (fifo && found.stx_ino == inode).then_some(inode)
    }
}

/// Returns whether what was read of a process that has not run since is still true: its files may have been
/// deleted, its terminal may have hung up. Locks and pidfds do not show in the link.
pub(super) fn unchanged(reader: &mut Reader, pid: Pid, open: &Open) -> bool {
    if open.watched.is_empty() {
        return true;
    }
    if !open.locks.is_empty() || open.watched.iter().any(|(_, link)| is_pidfd(link)) {
        return false;
    }
    let Ok(directory) = reader.directory(pid, "fd") else {
        return false;
    };
    open.watched.iter().all(|(fd, link)| {
        reader
            .numbered_link(directory.as_fd(), *fd)
            .is_ok_and(|now| now == link.as_slice())
    })
}

/// Reads all descriptors of a process.
pub(super) fn read(reader: &mut Reader, fifos: &mut Fifos, folder: Folder) -> Result<Open, Errno> {
    let directory = reader.directory(folder, "fd")?;
    let mut numbers = Vec::new();
    reader.numbers(directory.as_fd(), &mut numbers)?;
    let mut open = Open {
        descriptors: Vec::with_capacity(numbers.len()),
        locks: Vec::new(),
        watched: Vec::new(),
    };
    let mut refused = None;
    for fd in numbers {
        let link = match reader.numbered_link(directory.as_fd(), fd) {
            Ok(link) => link.to_vec(),
            Err(errno @ (Errno::ACCESS | Errno::PERM)) => {
                refused = Some(errno);
                continue;
            }
            // Closed since it was listed: simply not there.
            Err(_) => continue,
        };
        let descriptor = descriptor(reader, fifos, folder, (fd, &link), &mut open.locks);
        open.descriptors.push(descriptor);
        if link.starts_with(b"/") || is_pidfd(&link) {
            open.watched.push((fd, link));
        }
    }
    // The directory may be listed where no link may be read, as that of init in a container: an empty list
    // would say that it has none.
    if let Some(errno) = refused.filter(|_| open.descriptors.is_empty()) {
        return Err(errno);
    }
    open.locks
        .sort_by(|a, b| (a.inode, &a.kind, &a.mode).cmp(&(b.inode, &b.kind, &b.mode)));
    open.locks.dedup();
    Ok(open)
}

fn descriptor(
    reader: &mut Reader,
    fifos: &mut Fifos,
    folder: Folder,
    (fd, link): (u32, &[u8]),
    held: &mut Vec<Lock>,
) -> Descriptor {
    if !needs_info(fd, link) {
        let target = target(link, &FdInfo::default());
        let access = match target {
            Target::Socket { .. } => Reading::Value(Access::Both),
            _ => Reading::Unread,
        };
        return Descriptor { fd, target, access };
    }
    let text = match reader.fdinfo(folder, fd) {
        Ok(text) => text,
        Err(errno) => {
            let access = absent(errno, folder, "fdinfo");
            return Descriptor {
                fd,
                target: target(link, &FdInfo::default()),
                access,
            };
        }
    };
    let info = fdinfo(text);
    let locked: Vec<LockLine> = locks(text).collect();
    let target = match target(link, &info) {
        Target::File { path, deleted: false } => match fifos.inode(reader, &path, &info) {
            Some(inode) => Target::Fifo { path, inode },
            None => Target::File { path, deleted: false },
        },
        other => other,
    };
    let path = match &target {
        Target::File { path, .. } => Some(path.clone()),
        _ => None,
    };
    held.extend(locked.into_iter().map(|line| line.lock(path.clone())));
    let access = info.access.map_or_else(
        || Reading::Failed(format!("{folder}/fdinfo/{fd}: no line flags:")),
        Reading::Value,
    );
    Descriptor { fd, target, access }
}

/// A socket is always open both ways, and nobody asks it of an eventfd; the standard three are always
/// told in full.
fn needs_info(fd: u32, link: &[u8]) -> bool {
    fd <= 2 && !link.starts_with(b"socket:")
        || link.starts_with(b"pipe:")
        || link.starts_with(b"/") && link != b"/dev/null"
        || is_pidfd(link)
}

fn is_pidfd(link: &[u8]) -> bool {
    link == b"anon_inode:[pidfd]" || link.starts_with(b"pidfd:")
}
