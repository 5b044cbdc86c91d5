//! Open descriptors and who holds the other end of them.

use serde::{Deserialize, Serialize};

use super::bytes::OsBytes;
use super::identity::{Pid, ProcessKey};
use super::reading::Reading;

/// Low bits of the `flags` line in `/proc/PID/fdinfo/N` (`O_ACCMODE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Read only.
    #[serde(rename = "r")]
    Read,
    /// Write only.
    #[serde(rename = "w")]
    Write,
    /// Both.
    #[serde(rename = "rw")]
    Both,
}

impl Access {
    /// Returns whether it can be read from.
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    /// Returns whether it can be written to.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// What a descriptor leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    /// A pipe; both ends show the same inode.
    Pipe {
        /// Inode of the pipe; on macOS, which has none, the handle of the end that is read from.
        inode: u64,
    },
    /// A FIFO with a name; `inode` is the file's.
    Fifo {
        /// Path of the FIFO.
        path: OsBytes,
        /// Inode of the file.
        inode: u64,
    },
    /// A socket; each end has its own inode. Its family and state stand in `Sample::sockets`.
    Socket {
        /// Inode of the socket; on macOS, which has none, its handle (`soi_so`).
        inode: u64,
    },
    /// A terminal, or the slave of a pseudo-terminal.
    Terminal {
        /// Path, such as `/dev/pts/3`.
        path: OsBytes,
        /// Whether the name is gone: the master was closed.
        hung_up: bool,
    },
    /// The master of a pseudo-terminal.
    PtyMaster {
        /// Number N of its slave `/dev/pts/N` (fdinfo `tty-index`).
        index: Option<u32>,
    },
    /// `/dev/null`.
    Null,
    /// A regular file, directory or device.
    File {
        /// Path as the kernel gives it.
        path: OsBytes,
        /// Whether it was unlinked.
        deleted: bool,
    },
    /// Kernel objects without a name: `eventfd`, `eventpoll`, `inotify`, `pidfd`, `timerfd`,
    /// `signalfd`, `memfd:…`, `io_uring`.
    Anonymous {
        /// The kernel's name for it, without `anon_inode:`.
        name: OsBytes,
        /// The process that a pidfd refers to.
        pid: Option<Pid>,
    },
    /// Something this program does not know; the link as it is.
    Other {
        /// Link text.
        link: OsBytes,
    },
}

impl Target {
    /// Returns the inode by which the other end is searched: pipes, FIFOs and sockets.
    pub fn inode(&self) -> Option<u64> {
        match self {
            Self::Pipe { inode } | Self::Fifo { inode, .. } | Self::Socket { inode } => Some(*inode),
            _ => None,
        }
    }
}

/// One descriptor of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Its number.
    pub fd: u32,
    /// What it leads to.
    pub target: Target,
    /// How it was opened.
    pub access: Reading<Access>,
}

/// A process that has a descriptor on a pipe or socket that was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: ProcessKey,
    /// Its lowest descriptor on that inode with this access.
    pub fd: u32,
    /// How that descriptor was opened; sockets are always both.
    pub access: Access,
}

/// Something of a process that holds, or may hold, a file without a descriptor in the process's own table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unlisted {
    /// The process.
    pub process: ProcessKey,
    /// What it is.
    pub how: Hold,
}

/// Where a file is held beside a process's table of descriptors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Hold {
    /// The table of descriptors that a thread has for itself (`unshare(CLONE_FILES)`); the process is among
    /// the holders for it.
    Thread {
        /// Number of the thread.
        thread: u32,
        /// The descriptor there.
        fd: u32,
        /// Inode of the pipe or socket.
        inode: u64,
    },
    /// Threads whose tables were not looked at.
    Threads {
        /// How many.
        unread: u32,
    },
    /// A file that is registered with an `io_uring`; how it was opened is not told.
    Registered {
        /// Descriptor of the ring.
        fd: u32,
        /// Inode of the pipe or socket.
        inode: u64,
    },
    /// An `io_uring` of which the kernel did not tell all registered files.
    Ring {
        /// Its descriptor.
        fd: u32,
    },
    /// Descriptors that were sent to a unix socket and not received yet (`scm_fds` in its `fdinfo`).
    InFlight {
        /// Descriptor of the socket that they wait at.
        fd: u32,
        /// How many wait; what they lead to is not told.
        count: u32,
        /// A process of the other end, where it is one that may hold the end of a wire unseen.
        sender: Option<ProcessKey>,
    },
}

/// What the kernel itself says of the two ends of a pipe, whoever holds them; `None` where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipeEnds {
    /// Whether the end that is read from is open.
    pub reader: Option<bool>,
    /// Whether the end that is written to is open.
    pub writer: Option<bool>,
}
