//! All descriptors of all processes that may be read: what they lead to, and who has the other ends.
//!
//! Pipes and sockets have no inode here. What stands in its place is a handle, a hash of the kernel's address of
//! the object: the same in every answer of one boot, never shown by anything else. For a pipe it is the handle of
//! the end that is read from, so that both ends have the same number; for a socket its own (`soi_so`). A handle may
//! come again once its object is gone; one search takes milliseconds.
//!
//! Nothing is kept between two searches: the other end of a pipe or socket can close without its process running.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem::size_of;
use std::net::SocketAddr;

use rustix::io::Errno;

use super::decode::descriptor::{self, Pipe, Vnode};
use super::decode::process;
use super::decode::socket::{Socket, What};
use super::kernel::{Kernel, absence, absent};
use super::layout::{
    BsdInfo, FDPIPEINFO, FDPSEMINFO, FDPSHMINFO, FDSOCKETINFO, FDVNODEINFO, FDVNODEPATHINFO, FdInfo,
    PIDLISTFDS, PIDTBSDINFO, PipeFdInfo, PsemFdInfo, PshmFdInfo, SocketFdInfo, TYPE_PIPE, TYPE_PSEM,
    TYPE_PSHM, TYPE_SOCKET, TYPE_VNODE, VnodeFdInfo, VnodeFdInfoWithPath,
};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Descriptor, Holder, PipeEnds, Target};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::reading::{Absence, Reading};
use crate::model::sample::Unsearched;
use crate::model::socket::{Protocol, Sockets, UnixSocket};

/// Descriptors that a process may open between the two calls that a list takes.
const MARGIN: usize = 64;
/// How often a list that filled its buffer is asked for with a larger one.
const ATTEMPTS: u32 = 4;

/// What one search found.
#[derive(Default)]
pub(super) struct Search {
    sockets: Sockets,
    pipe_ends: BTreeMap<u64, PipeEnds>,
    /// Every descriptor on a pipe or socket, by the number of that.
    holders: BTreeMap<u64, Vec<Holder>>,
    /// Other ends of unix sockets with their paths, as this end tells them: their processes may be closed.
    peers: BTreeMap<u64, UnixSocket>,
    masters: BTreeMap<u32, Vec<Holder>>,
    unsearched: Vec<Unsearched>,
    /// FIFOs of the processes of interest: device and inode.
    fifos: BTreeSet<(u32, u64)>,
    /// Pseudo-terminals of the processes of interest.
    terminals: BTreeSet<u32>,
}

/// What a search leaves in the sample.
pub(super) struct Found {
    pub(super) sockets: Sockets,
    pub(super) pipe_ends: BTreeMap<u64, PipeEnds>,
    pub(super) holders: BTreeMap<u64, Vec<Holder>>,
    pub(super) terminal_masters: BTreeMap<u32, Vec<Holder>>,
    pub(super) unsearched: Vec<Unsearched>,
}

impl Search {
    /// Reads every descriptor of a process of interest.
    pub(super) fn closely(&mut self, kernel: &mut dyn Kernel, key: ProcessKey) -> Reading<Vec<Descriptor>> {
        let call = "proc_pidinfo PROC_PIDLISTFDS";
        match list(kernel, key) {
            Ok(listed) => {
                let read = listed
                    .into_iter()
                    .filter_map(|one| self.descriptor(kernel, key, one))
                    .collect();
                Reading::Value(read)
            }
            Err(errno) => {
                self.not_read(key, errno);
                absent(errno, key.pid, call)
            }
        }
    }

    /// Reads the pipes and sockets of any other process; FIFOs and masters of terminals where a process of
    /// interest has the other end. To be called after all of those.
    pub(super) fn other(&mut self, kernel: &mut dyn Kernel, key: ProcessKey) {
        let listed = match list(kernel, key) {
            Ok(listed) => listed,
            Err(errno) => return self.not_read(key, errno),
        };
        for one in listed {
            match one.kind {
                TYPE_PIPE => drop(self.pipe(kernel, key, one.fd)),
                TYPE_SOCKET => drop(self.socket(kernel, key, one.fd)),
                TYPE_VNODE if !self.fifos.is_empty() || !self.terminals.is_empty() => {
                    self.vnode_of_other(kernel, key, one.fd);
                }
                _ => {}
            }
        }
    }

    /// Ends the search: keeps the holders of what is `wanted`, of the other ends of that, and of connections
    /// within this machine.
    pub(super) fn finish(mut self, wanted: impl Iterator<Item = u64>) -> Found {
        for (handle, socket) in std::mem::take(&mut self.peers) {
            self.sockets.unix.entry(handle).or_insert(socket);
        }
        let ends = ends(&self.sockets);
        let mut numbers: BTreeSet<u64> = BTreeSet::new();
        for number in wanted {
            numbers.insert(number);
            let unix = self.sockets.unix.get(&number).and_then(|socket| socket.peer);
            numbers.extend(unix.filter(|peer| *peer != 0));
            let inet = self.sockets.inet.get(&number).and_then(|socket| {
                let swapped = (socket.protocol, plain(socket.remote?), plain(socket.local));
                ends.get(&swapped).copied()
            });
            numbers.extend(inet);
        }
        let holders = numbers
            .iter()
            .map(|number| (*number, self.holders.remove(number).unwrap_or_default()))
            .collect();
        self.pipe_ends.retain(|number, _| numbers.contains(number));
        for number in self.terminals {
            self.masters.entry(number).or_default();
        }
        Found {
            sockets: self.sockets,
            pipe_ends: self.pipe_ends,
            holders,
            terminal_masters: self.masters,
            unsearched: self.unsearched,
        }
    }

    fn not_read(&mut self, process: ProcessKey, errno: Errno) {
        match absence(errno) {
            Absence::Gone => {}
            why => self.unsearched.push(Unsearched { process, why }),
        }
    }

    fn descriptor(
        &mut self,
        kernel: &mut dyn Kernel,
        key: ProcessKey,
        listed: descriptor::Listed,
    ) -> Option<Descriptor> {
        let fd = listed.fd;
        let told = match listed.kind {
            TYPE_PIPE => self.pipe(kernel, key, fd),
            TYPE_SOCKET => self.socket(kernel, key, fd),
            TYPE_VNODE => self.vnode(kernel, key, fd),
            TYPE_PSEM => named(kernel, key.pid, fd, FDPSEMINFO),
            TYPE_PSHM => named(kernel, key.pid, fd, FDPSHMINFO),
            kind => Ok((descriptor::unnamed(kind), Reading::Unread)),
        };
        match told {
            Ok((target, access)) => Some(Descriptor { fd, target, access }),
            // Another kind of descriptor has its number by now, or none.
            Err(Errno::NOTSOCK) => None,
            Err(errno) => unread(listed, key.pid, errno),
        }
    }

    fn pipe(
        &mut self,
        kernel: &mut dyn Kernel,
        key: ProcessKey,
        fd: u32,
    ) -> Result<(Target, Reading<Access>), Errno> {
        let answer = kernel.descriptor_info(key.pid, fd, FDPIPEINFO, size_of::<PipeFdInfo>())?;
        let pipe = Pipe::decode(&answer).ok_or(Errno::INVAL)?;
        let (inode, access) = (pipe.number(), pipe.access);
        let known = self.pipe_ends.entry(inode).or_default();
        let said = pipe.ends();
        known.reader = said.reader.or(known.reader);
        known.writer = said.writer.or(known.writer);
        self.hold(inode, key, fd, access);
        Ok((Target::Pipe { inode }, Reading::Value(access)))
    }

    fn socket(
        &mut self,
        kernel: &mut dyn Kernel,
        key: ProcessKey,
        fd: u32,
    ) -> Result<(Target, Reading<Access>), Errno> {
        let answer = kernel.descriptor_info(key.pid, fd, FDSOCKETINFO, size_of::<SocketFdInfo>())?;
        let socket = Socket::decode(&answer).ok_or(Errno::INVAL)?;
        let target = socket.target();
        let handle = socket.handle;
        match socket.what {
            What::Unix(unix, peer_path) => {
                if let (Some(peer), Some(path)) = (unix.peer.filter(|peer| *peer != 0), peer_path) {
                    let other = UnixSocket {
                        peer: Some(handle),
                        path: Some(path),
                        kind: unix.kind,
                        listening: false,
                        unread: None,
                    };
                    self.peers.insert(peer, other);
                }
                self.sockets.unix.insert(handle, unix);
            }
            What::Inet(inet) => {
                self.sockets.inet.insert(handle, inet);
            }
            What::Other(_) => {}
        }
        self.hold(handle, key, fd, Access::Both);
        Ok((target, Reading::Value(Access::Both)))
    }

    fn vnode(
        &mut self,
        kernel: &mut dyn Kernel,
        key: ProcessKey,
        fd: u32,
    ) -> Result<(Target, Reading<Access>), Errno> {
        let (vnode, path, access) = vnode_with_path(kernel, key.pid, fd)?;
        if let Some(fifo) = vnode.fifo() {
            self.fifos.insert(fifo);
        }
        let target = vnode.target(path);
        match (&target, access) {
            (Target::Fifo { inode, .. }, Some(access)) => self.hold(*inode, key, fd, access),
            (Target::Terminal { path, .. }, _) => {
                self.terminals.extend(descriptor::slave_number(path.as_bytes()));
            }
            (Target::PtyMaster { index: Some(index) }, _) => self.hold_master(*index, key, fd),
            _ => {}
        }
        let access = access.map_or(Reading::Unread, Reading::Value);
        Ok((target, access))
    }

    /// What does not concern a process of interest is passed over.
    fn vnode_of_other(&mut self, kernel: &mut dyn Kernel, key: ProcessKey, fd: u32) {
        let answer = kernel.descriptor_info(key.pid, fd, FDVNODEINFO, size_of::<VnodeFdInfo>());
        let Ok(answer) = answer else { return };
        let Some(vnode) = Vnode::decode(&answer) else {
            return;
        };
        let fifo = vnode.fifo().filter(|fifo| self.fifos.contains(fifo));
        if let Some(((_, inode), access)) = fifo.zip(descriptor::access(&answer)) {
            self.hold(inode, key, fd, access);
        }
        let wanted = |number: &u32| self.terminals.contains(number);
        if let Some(number) = vnode.device_minor().filter(wanted)
            && let Ok((_, path, _)) = vnode_with_path(kernel, key.pid, fd)
            && descriptor::is_master(path.as_bytes())
        {
            self.hold_master(number, key, fd);
        }
    }

    fn hold(&mut self, number: u64, process: ProcessKey, fd: u32, access: Access) {
        push(
            self.holders.entry(number).or_default(),
            Holder { process, fd, access },
        );
    }

    fn hold_master(&mut self, number: u32, process: ProcessKey, fd: u32) {
        push(
            self.masters.entry(number).or_default(),
            Holder {
                process,
                fd,
                access: Access::Both,
            },
        );
    }
}

/// A process is named once for each access: by its lowest descriptor, which comes first.
fn push(holders: &mut Vec<Holder>, holder: Holder) {
    let known = holders
        .iter()
        .any(|one| one.process == holder.process && one.access == holder.access);
    if !known {
        holders.push(holder);
    }
}

/// Lists the descriptors of a process. The list is sized by its table; one that fills its buffer may go on behind
/// it. Listed by pid, so the start time is compared first.
fn list(kernel: &mut dyn Kernel, key: ProcessKey) -> Result<Vec<descriptor::Listed>, Errno> {
    let answer = kernel.process_info(key.pid, PIDTBSDINFO, 0, size_of::<BsdInfo>())?;
    let bsd = process::bsd(&answer).ok_or(Errno::INVAL)?;
    if bsd.start != key.start {
        return Err(Errno::SRCH);
    }
    let mut room = usize::try_from(bsd.table_size).unwrap_or(0).min(1 << 20) + MARGIN;
    for _ in 0..ATTEMPTS {
        let answer = kernel.process_info(key.pid, PIDLISTFDS, 0, room * size_of::<FdInfo>())?;
        if answer.len() < room * size_of::<FdInfo>() {
            return Ok(descriptor::list(&answer));
        }
        room *= 2;
    }
    Err(Errno::NOBUFS)
}

fn vnode_with_path(
    kernel: &mut dyn Kernel,
    pid: Pid,
    fd: u32,
) -> Result<(Vnode, OsBytes, Option<Access>), Errno> {
    let answer = kernel.descriptor_info(pid, fd, FDVNODEPATHINFO, size_of::<VnodeFdInfoWithPath>())?;
    let vnode = Vnode::decode(&answer).ok_or(Errno::INVAL)?;
    let path = descriptor::vnode_path(&answer).ok_or(Errno::INVAL)?;
    Ok((vnode, path, descriptor::access(&answer)))
}

fn named(
    kernel: &mut dyn Kernel,
    pid: Pid,
    fd: u32,
    flavour: i32,
) -> Result<(Target, Reading<Access>), Errno> {
    let (kind, name) = if flavour == FDPSEMINFO {
        let answer = kernel.descriptor_info(pid, fd, flavour, size_of::<PsemFdInfo>())?;
        ("semaphore", descriptor::semaphore(&answer))
    } else {
        let answer = kernel.descriptor_info(pid, fd, flavour, size_of::<PshmFdInfo>())?;
        ("shared memory", descriptor::shared_memory(&answer))
    };
    let name = name.ok_or(Errno::INVAL)?;
    let text = [kind.as_bytes(), b" ", name.as_bytes()].concat();
    let target = Target::Anonymous {
        name: text.trim_ascii_end().into(),
        pid: None,
    };
    Ok((target, Reading::Unread))
}

/// A descriptor that is listed and cannot be read is not left out: what it leads to is not known. One of a vnode
/// that was revoked, as a terminal's is that hung up, answers like a closed one.
fn unread(listed: descriptor::Listed, pid: Pid, errno: Errno) -> Option<Descriptor> {
    let name = match listed.kind {
        TYPE_VNODE => "file",
        TYPE_PIPE => "pipe",
        TYPE_SOCKET => "socket",
        TYPE_PSEM => "semaphore",
        _ => "shared memory",
    };
    let access = match errno {
        Errno::SRCH => return None,
        Errno::BADF if listed.kind != TYPE_VNODE => return None,
        Errno::BADF => Reading::Failed(format!(
            "proc_pidfdinfo of {pid}, fd {}: {errno}: closed meanwhile, or its file was revoked",
            listed.fd
        )),
        _ => absent(errno, pid, "proc_pidfdinfo"),
    };
    Some(Descriptor {
        fd: listed.fd,
        target: Target::Other {
            link: format!("{name} that could not be read").into(),
        },
        access,
    })
}

/// Protocol, own and remote address.
type Ends = (Protocol, SocketAddr, SocketAddr);

/// Connected sockets by their own and the remote address.
fn ends(sockets: &Sockets) -> BTreeMap<Ends, u64> {
    let connected = sockets.inet.iter().filter_map(|(handle, socket)| {
        Some((
            (socket.protocol, plain(socket.local), plain(socket.remote?)),
            *handle,
        ))
    });
    connected.collect()
}

/// An IPv4 address that an IPv6 socket shows is the IPv4 address.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Returns the numbers of everything that processes of interest talk through.
pub(super) fn numbers<'a>(
    descriptors: impl Iterator<Item = &'a Descriptor>,
    further: &BTreeSet<u64>,
) -> HashSet<u64> {
    descriptors
        .filter_map(|one| one.target.inode())
        .chain(further.iter().copied())
        .collect()
}
