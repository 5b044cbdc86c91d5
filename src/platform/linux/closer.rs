//! The closer look: everything about a few processes, and who holds the other ends of what they have open.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustix::io::Errno;

use super::descriptors::{self, Fifos};
use super::holders::{Search, Wanted};
use super::netlink;
use super::parse::descriptor::pts_number;
use super::parse::process::{self, CloserStatus};
use super::parse::stat::{Stat, schedstat};
use super::parse::system::{LockLine, locks};
use super::pidfd::Pidfds;
use super::reader::{Reader, absent, reading};
use super::table::Table;
use crate::model::descriptor::Target;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::interest::Interest;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::socket::{InetSocket, Protocol, Sockets};

/// What is kept between two looks.
pub(super) struct Closer {
    /// Whether the processes are those of the running kernel.
    live: bool,
    search: Search,
    pidfds: Pidfds,
    fifos: Fifos,
}

impl Closer {
    /// Nothing was looked at yet. `live`: the processes are those of the running kernel.
    pub(super) fn new(live: bool) -> Self {
        Self {
            live,
            search: Search::default(),
            pidfds: Pidfds::default(),
            fifos: Fifos::default(),
        }
    }

    /// The pidfds of the processes of interest.
    pub(super) fn pidfds(&self) -> Pidfds {
        self.pidfds.clone()
    }

    /// Fills the sample.
    pub(super) fn look(
        &mut self,
        reader: &mut Reader,
        table: &Table,
        sample: &mut Sample,
        interest: &Interest,
    ) {
        let closely: BTreeSet<ProcessKey> = interest
            .closely
            .iter()
            .copied()
            .filter(|key| sample.get(*key).is_some())
            .collect();
        if self.live {
            sample.sockets = netlink::sockets();
            self.pidfds.follow(reader, &closely);
        }
        self.fifos.forget();
        let mut system_locks = None;
        for key in &closely {
            let Some(process) = sample.processes.get_mut(&key.pid) else {
                continue;
            };
            let process = Arc::make_mut(process);
            process.pidfd_inode = self.pidfds.inode(*key);
            look_at(reader, &mut self.fifos, process, interest);
            if process.descriptors.is_denied() {
                let all = system_locks.get_or_insert_with(|| system_lock_lines(reader));
                let own = all
                    .iter()
                    .filter(|line| line.pid == Some(u64::from(key.pid.get())));
                process.locks = own.map(|line| line.clone().lock(None)).collect();
            }
        }
        let wanted = wanted(sample, &closely, interest);
        let unmoved = |pid| table.unmoved(pid);
        let found = self.search.run(
            reader,
            sample.processes.values().map(Arc::as_ref),
            unmoved,
            &wanted,
        );
        sample.holders = found.holders;
        sample.terminal_masters = found.terminal_masters;
        sample.unsearched = found.unsearched;
    }
}

fn system_lock_lines(reader: &mut Reader) -> Vec<LockLine> {
    locks(reader.system("locks").unwrap_or_default()).collect()
}

/// Reads everything about one process. What was read under a pid that is another's by now is dropped.
fn look_at(reader: &mut Reader, fifos: &mut Fifos, process: &mut Process, interest: &Interest) {
    let pid = process.key.pid;
    let before = process.clone();
    fill(reader, fifos, process, interest);
    let same = reader.record(pid, "stat").map(Stat::parse);
    let still = matches!(&same, Ok(Some(stat)) if stat.start == before.key.start);
    if !still {
        *process = before;
        process.swap_bytes = Reading::Gone;
        process.signals = Reading::Gone;
        process.pid_namespace = Reading::Gone;
        process.net_namespace = Reading::Gone;
        process.namespace_pids = Reading::Gone;
        process.environment = Reading::Gone;
        process.descriptors = Reading::Gone;
    }
}

fn fill(reader: &mut Reader, fifos: &mut Fifos, process: &mut Process, interest: &Interest) {
    let pid = process.key.pid;
    fill_status(reader, process);
    process.schedstat = match reader.record(pid, "schedstat").map(schedstat) {
        Ok(Some([run, wait, _])) => Reading::Value((run, wait)),
        Ok(None) => Reading::Unsupported,
        Err(errno) => absent(errno, pid, "schedstat"),
    };
    process.pid_namespace = namespace(reader, pid, "ns/pid");
    process.net_namespace = namespace(reader, pid, "ns/net");
    if !process.kernel_thread {
        process.exe = reading(reader.link(pid, "exe"), pid, "exe");
        process.cwd = reading(reader.link(pid, "cwd"), pid, "cwd");
        fill_argv(reader, process);
    }
    let environment = reader
        .whole(pid, "environ")
        .map(|text| process::environment(text, &interest.identifiers));
    process.environment = reading(environment, pid, "environ");
    match descriptors::read(reader, fifos, pid) {
        Ok(open) => {
            process.descriptors = Reading::Value(open.descriptors);
            process.locks = open.locks;
        }
        Err(errno) => process.descriptors = absent(errno, pid, "fd"),
    }
}

fn fill_status(reader: &mut Reader, process: &mut Process) {
    let pid = process.key.pid;
    match reader.record(pid, "status").map(process::closer_status) {
        Ok(CloserStatus {
            signals,
            swap_bytes,
            namespace_pids,
        }) => {
            process.signals = signals.map_or(Reading::Unsupported, Reading::Value);
            process.swap_bytes = swap_bytes.map_or(Reading::Unsupported, Reading::Value);
            process.namespace_pids = namespace_pids.map_or(Reading::Unsupported, Reading::Value);
        }
        Err(errno) => {
            process.signals = absent(errno, pid, "status");
            process.swap_bytes = absent(errno, pid, "status");
            process.namespace_pids = absent(errno, pid, "status");
        }
    }
}

/// A zombie's is empty: what was read before is kept.
fn fill_argv(reader: &mut Reader, process: &mut Process) {
    let pid = process.key.pid;
    match reader.whole(pid, "cmdline").map(process::argv) {
        Ok(argv) if argv.is_empty() && !process.args().is_empty() => process.argv_kept = true,
        outcome => process.argv = reading(outcome, pid, "cmdline"),
    }
}

fn namespace(reader: &mut Reader, pid: Pid, name: &str) -> Reading<u64> {
    match reader.link(pid, name) {
        Ok(link) => process::namespace(link.as_bytes()).map_or_else(
            || Reading::Failed(format!("{pid}/{name}: {link:?} holds no number")),
            Reading::Value,
        ),
        // Without namespaces in the kernel there is no such link; a process that is gone has no stat either.
        Err(Errno::NOENT) if reader.record(pid, "stat").is_ok() => Reading::Unsupported,
        Err(errno) => absent(errno, pid, name),
    }
}

/// Collects what to search for: both ends of everything that the processes of interest talk through.
fn wanted(sample: &Sample, closely: &BTreeSet<ProcessKey>, interest: &Interest) -> Wanted {
    let mut wanted = Wanted::default();
    wanted.inodes.extend(&interest.inodes);
    let sockets = sample.sockets.value();
    let ends = sockets.map(InetEnds::new);
    let open = closely
        .iter()
        .filter_map(|key| sample.get(*key))
        .filter_map(|process| process.descriptors.value())
        .flatten();
    for descriptor in open {
        match &descriptor.target {
            Target::Pipe { inode } => {
                wanted.inodes.insert(*inode);
            }
            Target::Fifo { path, inode } => {
                wanted.fifos.insert(path.clone(), *inode);
            }
            Target::Socket { inode } => {
                wanted.inodes.insert(*inode);
                let unix = sockets.and_then(|sockets| sockets.unix.get(inode));
                wanted
                    .inodes
                    .extend(unix.and_then(|socket| socket.peer).filter(|peer| *peer != 0));
                let inet = sockets.and_then(|sockets| sockets.inet.get(inode));
                let peer = inet
                    .zip(ends.as_ref())
                    .and_then(|(socket, ends)| ends.peer(socket));
                wanted.inodes.extend(peer);
            }
            Target::Terminal { path, .. } => wanted.terminals.extend(pts_number(path.as_bytes())),
            _ => {}
        }
    }
    wanted
}

/// Connected sockets of this machine by both addresses: the other end of a connection within it is the
/// socket whose addresses are swapped.
struct InetEnds(BTreeSet<(Protocol, SocketAddr, SocketAddr, u64)>);

impl InetEnds {
    fn new(sockets: &Sockets) -> Self {
        let connected = sockets.inet.iter().filter_map(|(inode, socket)| {
            Some((
                socket.protocol,
                plain(socket.local),
                plain(socket.remote?),
                *inode,
            ))
        });
        Self(connected.collect())
    }

    fn peer(&self, socket: &InetSocket) -> Option<u64> {
        let (local, remote) = (plain(socket.local), plain(socket.remote?));
        let from = (socket.protocol, remote, local, 0);
        let to = (socket.protocol, remote, local, u64::MAX);
        self.0.range(from..=to).next().map(|(.., inode)| *inode)
    }
}

/// An IPv4 address that an IPv6 socket shows is the IPv4 address.
fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V6(ip) => SocketAddr::new(ip.to_canonical(), address.port()),
        IpAddr::V4(_) => address,
    }
}
