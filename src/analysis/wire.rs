//! The wire of an instance: on which descriptors it talks, and who holds the other ends.

use crate::model::descriptor::{Access, Descriptor, Holder, Target};
use crate::model::identity::ProcessKey;
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::model::socket::{UnixKind, UnixSocket};

/// One end of a wire: a descriptor of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireEnd {
    /// The member that has it.
    pub(crate) process: ProcessKey,
    /// Its descriptor.
    pub(crate) fd: u32,
    /// Inode of pipe or socket.
    pub(crate) inode: u64,
    /// Whether it is a unix socket; else a pipe or FIFO.
    pub(crate) socket: bool,
    /// Whether the instance reads from it (its stdin).
    pub(crate) reads: bool,
}

/// The wire: where requests come in and where answers go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    /// Requests.
    pub(crate) stdin: WireEnd,
    /// Answers, where they were found.
    pub(crate) stdout: Option<WireEnd>,
    /// Where it was found, in words.
    pub(crate) place: Place,
}

/// How a wire was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Descriptors 0 and 1 of the server.
    Standard,
    /// Private descriptors that a launcher's fd 0 names.
    PrivateByLauncher,
    /// Private descriptors whose other ends share a holder, or have none.
    PrivatePair,
    /// Descriptor 0 of a launcher.
    Launcher,
}

/// Who holds the other end of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OtherEnd {
    /// These processes.
    Holders(Vec<Holder>),
    /// The kernel says that it was closed.
    Closed,
    /// A pipe that no readable process has the other end of.
    NoHolder,
    /// The kernel says that it is open, but no readable process holds it.
    Hidden {
        /// Inode of the peer; of the pipe itself, whose ends have the same.
        peer: u64,
    },
    /// The search could not say: other network namespace, no socket diagnostics.
    Unread(String),
}

impl OtherEnd {
    /// Returns the holders; none where there are none or none can be seen.
    pub(crate) fn holders(&self) -> &[Holder] {
        match self {
            Self::Holders(holders) => holders,
            _ => &[],
        }
    }
}

/// Returns the processes among holders, each once.
pub(crate) fn processes(holders: &[Holder]) -> Vec<ProcessKey> {
    let mut keys: Vec<ProcessKey> = holders.iter().map(|holder| holder.process).collect();
    // What one process holds stands side by side.
    keys.dedup();
    keys
}

/// Returns the descriptors of a process, where they were read.
pub(crate) fn descriptors(process: &Process) -> &[Descriptor] {
    process.descriptors.value().map_or(&[], Vec::as_slice)
}

/// Returns a descriptor of a process.
pub(crate) fn descriptor(process: &Process, fd: u32) -> Option<&Descriptor> {
    descriptors(process).iter().find(|one| one.fd == fd)
}

fn unix_socket(sample: &Sample, inode: u64) -> Option<&UnixSocket> {
    sample.sockets.value()?.unix.get(&inode)
}

/// Returns whether a descriptor can carry a wire in this direction: a pipe or FIFO end with the
/// right access, or a stream socket of which neither end is bound to a path.
fn carries(sample: &Sample, process: &Process, one: &Descriptor, reads: bool) -> Option<WireEnd> {
    let end = |inode, socket| WireEnd {
        process: process.key,
        fd: one.fd,
        inode,
        socket,
        reads,
    };
    match &one.target {
        Target::Pipe { inode } | Target::Fifo { inode, .. } => {
            let fits = match one.access.value() {
                Some(access) => match (access, reads) {
                    (Access::Both, _) => true,
                    (access, true) => access.reads(),
                    (access, false) => access.writes(),
                },
                None => false,
            };
            fits.then(|| end(*inode, false))
        }
        Target::Socket { inode } => {
            let nameless = match unix_socket(sample, *inode) {
                Some(socket) => {
                    let peer = socket
                        .peer
                        .filter(|peer| *peer != 0)
                        .and_then(|peer| unix_socket(sample, peer));
                    socket.kind == UnixKind::Stream
                        && !socket.listening
                        && socket.peer.is_some()
                        && socket.path.is_none()
                        && peer.is_none_or(|peer| peer.path.is_none())
                }
                None => false,
            };
            nameless.then(|| end(*inode, true))
        }
        _ => None,
    }
}

/// Returns the terminal that a process reads from: on descriptor 0, or on a private one where 0 is the null
/// device (the Python SDK 2.x moves what it serves on).
pub(crate) fn terminal(process: &Process) -> Option<(u32, &Target)> {
    let is_terminal = |one: &&Descriptor| matches!(one.target, Target::Terminal { .. });
    let standard = descriptor(process, 0)?;
    let private = || {
        let moved = matches!(standard.target, Target::Null);
        let reads = |one: &&Descriptor| one.access.value().is_some_and(|access| access.reads());
        let mut others = descriptors(process).iter().filter(|one| moved && one.fd > 2);
        others.find(|one| is_terminal(one) && reads(one))
    };
    let found = Some(standard).filter(is_terminal).or_else(private)?;
    Some((found.fd, &found.target))
}

/// Returns N of `/dev/pts/N`, or of `/dev/ttysN` as macOS names it.
pub(crate) fn terminal_number(path: &str) -> Option<u32> {
    let number = path
        .strip_prefix("/dev/pts/")
        .or_else(|| path.strip_prefix("/dev/ttys"))?;
    number.parse().ok()
}

/// Returns who holds the other end.
pub(crate) fn other_end(sample: &Sample, end: WireEnd) -> OtherEnd {
    if end.socket {
        return socket_other_end(sample, end.inode);
    }
    let Some(holders) = sample.holders.get(&end.inode) else {
        return OtherEnd::Unread("the pipe was not searched for".to_owned());
    };
    let opposite: Vec<Holder> = holders
        .iter()
        .filter(|holder| {
            if end.reads {
                holder.access.writes()
            } else {
                holder.access.reads()
            }
        })
        .copied()
        .collect();
    if !opposite.is_empty() {
        return OtherEnd::Holders(opposite);
    }
    // Where the kernel itself says whether the other end is open, nobody has to be found for it.
    let ends = sample.pipe_ends.get(&end.inode);
    match ends.and_then(|ends| if end.reads { ends.writer } else { ends.reader }) {
        Some(true) => OtherEnd::Hidden { peer: end.inode },
        Some(false) => OtherEnd::Closed,
        None => OtherEnd::NoHolder,
    }
}

/// Returns the inode of the other end: a pipe's own, a socket's peer.
pub(crate) fn far_inode(sample: &Sample, end: WireEnd) -> Option<u64> {
    if end.socket {
        unix_socket(sample, end.inode)?.peer.filter(|peer| *peer != 0)
    } else {
        Some(end.inode)
    }
}

fn socket_other_end(sample: &Sample, inode: u64) -> OtherEnd {
    match unix_socket(sample, inode).map(|socket| socket.peer) {
        Some(Some(0)) => OtherEnd::Closed,
        Some(Some(peer)) => match sample.holders.get(&peer) {
            Some(holders) if !holders.is_empty() => OtherEnd::Holders(holders.clone()),
            _ => OtherEnd::Hidden { peer },
        },
        Some(None) => OtherEnd::Unread("the socket is not connected".to_owned()),
        None => OtherEnd::Unread("the socket is not among those of this network namespace".to_owned()),
    }
}

/// Returns whether a process has the same end of a wire: the same socket, or the same pipe with
/// the same direction.
pub(crate) fn shares_end(process: &Process, end: WireEnd) -> bool {
    descriptors(process).iter().any(|one| {
        one.target.inode() == Some(end.inode)
            && (end.socket
                || one.access.value().is_some_and(|access| {
                    if end.reads {
                        access.reads()
                    } else {
                        access.writes()
                    }
                }))
    })
}

/// Finds the wire by the order of the decision list: `chain` is the server, then the members
/// upwards; `inside` says whether a process is a member or descends from one.
pub(crate) fn find(sample: &Sample, chain: &[&Process], inside: &dyn Fn(ProcessKey) -> bool) -> Option<Wire> {
    let (server, launchers) = chain.split_first()?;
    standard(sample, server, Place::Standard)
        .or_else(|| by_launcher(sample, server, launchers))
        .or_else(|| private_pair(sample, server, inside))
        .or_else(|| {
            launchers
                .iter()
                .find_map(|one| standard(sample, one, Place::Launcher))
        })
}

/// Returns descriptor 0 of a process where it can carry a wire.
pub(crate) fn stdin(sample: &Sample, process: &Process) -> Option<WireEnd> {
    carries(sample, process, descriptor(process, 0)?, true)
}

/// Returns descriptors 0 and 1 of a process where the first can carry requests.
pub(crate) fn standard(sample: &Sample, process: &Process, place: Place) -> Option<Wire> {
    let stdin = stdin(sample, process)?;
    let stdout = descriptor(process, 1).and_then(|one| carries(sample, process, one, false));
    Some(Wire { stdin, stdout, place })
}

/// The Python SDK 2.x puts `/dev/null` on 0, a copy of stderr on 1 and serves on private
/// descriptors; a launcher above it still shows the original inodes.
fn by_launcher(sample: &Sample, server: &Process, launchers: &[&Process]) -> Option<Wire> {
    let moved = |fd: u32, reads: bool| {
        launchers.iter().find_map(|launcher| {
            let inode = descriptor(launcher, fd)?.target.inode()?;
            descriptors(server)
                .iter()
                .filter(|one| one.fd > 2 && one.target.inode() == Some(inode))
                .find_map(|one| carries(sample, server, one, reads))
        })
    };
    let stdin = moved(0, true)?;
    Some(Wire {
        stdin,
        stdout: moved(1, false),
        place: Place::PrivateByLauncher,
    })
}

fn private_pair(sample: &Sample, server: &Process, inside: &dyn Fn(ProcessKey) -> bool) -> Option<Wire> {
    let standard: Vec<u64> = (0..3)
        .filter_map(|fd| descriptor(server, fd)?.target.inode())
        .collect();
    let candidates = |reads: bool| {
        let mut seen = Vec::new();
        descriptors(server)
            .iter()
            .filter(|one| one.fd > 2)
            .filter_map(|one| carries(sample, server, one, reads))
            .filter(|end| !standard.contains(&end.inode))
            .filter(|end| {
                !seen.contains(&end.inode) && {
                    seen.push(end.inode);
                    true
                }
            })
            .filter_map(|end| {
                let outside = outside_holders(sample, end, inside)?;
                Some((end, outside))
            })
            .collect::<Vec<_>>()
    };
    let (inward, outward) = (candidates(true), candidates(false));
    let fits = |(stdin, of_stdin): &(WireEnd, Vec<ProcessKey>),
                (stdout, of_stdout): &(WireEnd, Vec<ProcessKey>)| {
        stdin.inode != stdout.inode
            && stdin.socket == stdout.socket
            && (!stdin.socket || stdin.fd < stdout.fd)
            && ((of_stdin.is_empty() && of_stdout.is_empty())
                || of_stdin.iter().any(|holder| of_stdout.contains(holder)))
    };
    // A pair with a common holder is worth more than one without any.
    let pair = |held: bool| {
        inward
            .iter()
            .filter(|(_, holders)| holders.is_empty() != held)
            .find_map(|stdin| {
                outward
                    .iter()
                    .find(|stdout| fits(stdin, stdout))
                    .map(|stdout| Wire {
                        stdin: stdin.0,
                        stdout: Some(stdout.0),
                        place: Place::PrivatePair,
                    })
            })
    };
    pair(true).or_else(|| pair(false))
}

/// Returns the holders of the other end that are outside; `None` where the other end cannot be
/// told, or is held inside only (a self-pipe, a pipe to a child).
fn outside_holders(
    sample: &Sample,
    end: WireEnd,
    inside: &dyn Fn(ProcessKey) -> bool,
) -> Option<Vec<ProcessKey>> {
    match other_end(sample, end) {
        OtherEnd::Closed | OtherEnd::NoHolder => Some(Vec::new()),
        OtherEnd::Holders(holders) => {
            let outside: Vec<ProcessKey> = holders
                .iter()
                .map(|holder| holder.process)
                .filter(|key| !inside(*key))
                .collect();
            (!outside.is_empty()).then_some(outside)
        }
        OtherEnd::Hidden { .. } | OtherEnd::Unread(_) => None,
    }
}
