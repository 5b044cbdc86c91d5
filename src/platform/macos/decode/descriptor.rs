//! Lists of descriptors, and what they lead to: vnodes, pipes, semaphores, shared memory.

use std::mem::{offset_of, size_of};

use super::{i32_at, text_at, u16_at, u32_at, u64_at};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, PipeEnds, Target};
use crate::platform::macos::layout::{
    FdInfo, FileInfo, PATH_BYTES, PipeFdInfo, PsemFdInfo, PshmFdInfo, TYPE_ATALK, TYPE_CHANNEL,
    TYPE_FSEVENTS, TYPE_KQUEUE, TYPE_NETPOLICY, TYPE_NEXUS, VinfoStat, VnodeFdInfo, VnodeFdInfoWithPath,
    VnodeInfo, VnodeInfoPath,
};

/// `sys/fcntl.h`: `FREAD`, `FWRITE`.
const READ: u32 = 1;
const WRITE: u32 = 2;
/// `sys/vnode.h`: `VCHR`, `VFIFO`.
const CHARACTER_DEVICE: i32 = 4;
const FIFO: i32 = 7;

/// One descriptor of a list, `struct proc_fdinfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::platform::macos) struct Listed {
    pub(in crate::platform::macos) fd: u32,
    /// `PROX_FDTYPE_*`.
    pub(in crate::platform::macos) kind: u32,
}

/// Returns the descriptors in a list, by number, each once. A cut-off last one is left out.
pub(in crate::platform::macos) fn list(answer: &[u8]) -> Vec<Listed> {
    let mut found: Vec<Listed> = answer
        .chunks_exact(size_of::<FdInfo>())
        .filter_map(|one| {
            Some(Listed {
                fd: u32::try_from(i32_at(one, offset_of!(FdInfo, fd))?).ok()?,
                kind: u32_at(one, offset_of!(FdInfo, kind))?,
            })
        })
        .collect();
    found.sort_unstable();
    found.dedup_by_key(|one| one.fd);
    found
}

/// Returns the access mode; every answer about a descriptor begins with a `proc_fileinfo`.
pub(in crate::platform::macos) fn access(answer: &[u8]) -> Option<Access> {
    match u32_at(answer, offset_of!(FileInfo, open_flags))? & (READ | WRITE) {
        READ => Some(Access::Read),
        WRITE => Some(Access::Write),
        0 => None,
        _ => Some(Access::Both),
    }
}

/// One end of a pipe. Handles are hashes of kernel addresses: the same for an end in every answer of one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Pipe {
    pub(in crate::platform::macos) access: Access,
    handle: u64,
    /// The other end's; 0 once that was closed by its last holder (`pipeclose`).
    peer: u64,
}

impl Pipe {
    /// Decodes a `pipe_fdinfo`. `None` also for an end without a direction, which no pipe has.
    pub(in crate::platform::macos) fn decode(answer: &[u8]) -> Option<Self> {
        Some(Self {
            access: access(answer)?,
            handle: u64_at(answer, offset_of!(PipeFdInfo, handle))?,
            peer: u64_at(answer, offset_of!(PipeFdInfo, peer_handle))?,
        })
    }

    /// Returns the number of the pipe, the same at both ends: the handle of the end that is read from. A write end
    /// whose reader is gone has only its own.
    pub(in crate::platform::macos) fn number(self) -> u64 {
        match self.access {
            Access::Write if self.peer != 0 => self.peer,
            _ => self.handle,
        }
    }

    /// Returns what the kernel says of both ends.
    pub(in crate::platform::macos) fn ends(self) -> PipeEnds {
        let (own, other) = (Some(true), Some(self.peer != 0));
        match self.access {
            Access::Write => PipeEnds {
                reader: other,
                writer: own,
            },
            _ => PipeEnds {
                reader: own,
                writer: other,
            },
        }
    }
}

/// What a descriptor on a vnode leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Vnode {
    kind: i32,
    device: u32,
    inode: u64,
    links: u16,
    /// Device number of a device.
    number: u32,
}

impl Vnode {
    /// Decodes the head of a `vnode_fdinfo`, which a `vnode_fdinfowithpath` begins with.
    pub(in crate::platform::macos) fn decode(answer: &[u8]) -> Option<Self> {
        let info = offset_of!(VnodeFdInfo, vnode);
        let stat = info + offset_of!(VnodeInfo, stat);
        Some(Self {
            kind: i32_at(answer, info + offset_of!(VnodeInfo, kind))?,
            device: u32_at(answer, stat + offset_of!(VinfoStat, dev))?,
            inode: u64_at(answer, stat + offset_of!(VinfoStat, ino))?,
            links: u16_at(answer, stat + offset_of!(VinfoStat, nlink))?,
            number: u32_at(answer, stat + offset_of!(VinfoStat, rdev))?,
        })
    }

    /// Returns device and inode of a FIFO.
    pub(in crate::platform::macos) fn fifo(&self) -> Option<(u32, u64)> {
        (self.kind == FIFO).then_some((self.device, self.inode))
    }

    /// Returns the minor number of a character device: of a pseudo-terminal, the same for master and slave.
    pub(in crate::platform::macos) fn device_minor(&self) -> Option<u32> {
        (self.kind == CHARACTER_DEVICE).then_some(self.number & 0x00ff_ffff)
    }

    /// Returns the target that has this path.
    pub(in crate::platform::macos) fn target(&self, path: OsBytes) -> Target {
        let bytes = path.as_bytes();
        if path.is_empty() {
            let link = format!("vnode {}:{} without a path", self.device, self.inode);
            return Target::Other { link: link.into() };
        }
        if self.kind == FIFO {
            return Target::Fifo {
                path,
                inode: self.inode,
            };
        }
        if self.kind == CHARACTER_DEVICE {
            if bytes == b"/dev/null" {
                return Target::Null;
            }
            if is_master(bytes) {
                return Target::PtyMaster {
                    index: self.device_minor(),
                };
            }
            if is_terminal(bytes) {
                return Target::Terminal { path, hung_up: false };
            }
        }
        Target::File {
            path,
            deleted: self.links == 0,
        }
    }
}

/// Returns the path in a `vnode_fdinfowithpath`.
pub(in crate::platform::macos) fn vnode_path(answer: &[u8]) -> Option<OsBytes> {
    let at = offset_of!(VnodeFdInfoWithPath, vnode) + offset_of!(VnodeInfoPath, path);
    text_at(answer, at, PATH_BYTES)
}

/// Returns whether a device is the master of a pseudo-terminal: each open one is a device of its own.
pub(in crate::platform::macos) fn is_master(path: &[u8]) -> bool {
    path == b"/dev/ptmx"
}

fn is_terminal(path: &[u8]) -> bool {
    path == b"/dev/console" || path.starts_with(b"/dev/tty") || path.starts_with(b"/dev/cu.")
}

/// Returns N of `/dev/ttysN`, the slave of a pseudo-terminal.
pub(in crate::platform::macos) fn slave_number(path: &[u8]) -> Option<u32> {
    let digits = path.strip_prefix(b"/dev/ttys")?;
    std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?
        .parse()
        .ok()
}

/// Returns the name in a `psem_fdinfo`.
pub(in crate::platform::macos) fn semaphore(answer: &[u8]) -> Option<OsBytes> {
    text_at(answer, offset_of!(PsemFdInfo, name), PATH_BYTES)
}

/// Returns the name in a `pshm_fdinfo`.
pub(in crate::platform::macos) fn shared_memory(answer: &[u8]) -> Option<OsBytes> {
    text_at(answer, offset_of!(PshmFdInfo, name), PATH_BYTES)
}

/// Returns the target of a kind that nothing more is asked of.
pub(in crate::platform::macos) fn unnamed(kind: u32) -> Target {
    let name = match kind {
        TYPE_ATALK => "appletalk",
        TYPE_KQUEUE => "kqueue",
        TYPE_FSEVENTS => "fsevents",
        TYPE_NETPOLICY => "netpolicy",
        TYPE_CHANNEL => "channel",
        TYPE_NEXUS => "nexus",
        _ => {
            return Target::Other {
                link: format!("descriptor of kind {kind}").into(),
            };
        }
    };
    Target::Anonymous {
        name: name.into(),
        pid: None,
    }
}
