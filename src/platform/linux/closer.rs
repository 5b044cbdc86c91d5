//! The closer look: everything about a few processes, and who holds the other ends of what they have open.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::details::Details;
use super::holders::{Found, Search, Wanted};
use super::netlink;
use super::parse::descriptor::pts_number;
use super::parse::system::{LockLine, locks};
use super::pidfd::Pidfds;
use super::reader::Reader;
use super::table::Table;
use super::unlisted::{Missing, Place, Unlisting};
use crate::model::descriptor::Target;
use crate::model::identity::ProcessKey;
use crate::model::interest::Interest;
use crate::model::reading::Reading;
use crate::model::sample::{Problem, Sample, Unit};
use crate::model::socket::{InetSocket, Protocol, Sockets};

/// What is kept between two looks.
pub(super) struct Closer {
    /// Whether the processes are those of the running kernel.
    live: bool,
    search: Search,
    unlisting: Unlisting,
    pidfds: Pidfds,
    details: Details,
    /// Sockets of interest that no dump has.
    not_dumped: BTreeSet<u64>,
}

impl Closer {
    /// Nothing was looked at yet. `live`: the processes are those of the running kernel; their pidfds are kept
    /// in `pidfds`.
    pub(super) fn new(live: bool, pidfds: Pidfds) -> Self {
        Self {
            live,
            search: Search::default(),
            unlisting: Unlisting::default(),
            pidfds,
            details: Details::default(),
            not_dumped: BTreeSet::new(),
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
        let known = |key: &ProcessKey| sample.get(*key).is_some();
        let closely: BTreeSet<ProcessKey> = interest.closely.iter().copied().filter(known).collect();
        if self.live {
            self.pidfds.follow(reader, &closely);
        }
        self.fill(reader, table, sample, &closely, interest);
        if self.live {
            self.dump_sockets(sample, &closely);
        }
        let wanted = wanted(sample, &closely, interest);
        let mut found = self.search(reader, table, sample, &wanted);
        let missing = Missing::of(sample, &closely, &found);
        sample.unlisted = if missing.is_empty() {
            self.unlisting.rest();
            Vec::new()
        } else {
            let suspects = missing.suspects(sample, &closely);
            let hit = self
                .unlisting
                .threads(reader, &mut self.search, &missing, &suspects);
            if hit {
                found = self.search(reader, table, sample, &wanted);
            }
            let unix = (self.live && self.unlisting.is_due()).then(netlink::unix_sockets);
            let mut place = Place {
                reader,
                search: &self.search,
                sample,
                missing: &missing,
                suspects: &suspects,
                unix: unix.flatten(),
            };
            self.unlisting.beside(&mut place)
        };
        sample.unlisted.extend(found.by_threads);
        sample.holders = found.holders;
        sample.terminal_masters = found.terminal_masters;
        sample.unsearched = found.unsearched;
    }

    fn search(&mut self, reader: &mut Reader, table: &Table, sample: &Sample, wanted: &Wanted) -> Found {
        let processes = sample.processes.values().map(Arc::as_ref);
        self.search
            .run(reader, processes, |pid| table.unmoved(pid), wanted)
    }

    fn fill(
        &mut self,
        reader: &mut Reader,
        table: &Table,
        sample: &mut Sample,
        closely: &BTreeSet<ProcessKey>,
        interest: &Interest,
    ) {
        self.details.begin(interest);
        let mut system_locks = None;
        let mut units: Vec<Unit> = Vec::new();
        for key in closely {
            let Some(process) = sample.processes.get_mut(&key.pid) else {
                continue;
            };
            let process = Arc::make_mut(process);
            process.pidfd_inode = self.pidfds.inode(*key);
            units.extend(self.details.fill(reader, process, table.unmoved(key.pid)));
            if process.descriptors.is_denied() {
                let all = system_locks.get_or_insert_with(|| system_lock_lines(reader));
                let of_process = |line: &&LockLine| line.pid == Some(u64::from(key.pid.get()));
                process.locks = all
                    .iter()
                    .filter(of_process)
                    .map(|line| line.clone().lock(None))
                    .collect();
            }
        }
        sample.units = services(units);
        self.details.end();
    }

    /// Dumps the sockets. A dump of a table that changes can pass one over, so it is taken twice where a
    /// socket of interest is not in it; after that, it is of a kind that is not dumped, or of another
    /// network namespace.
    fn dump_sockets(&mut self, sample: &mut Sample, closely: &BTreeSet<ProcessKey>) {
        let mut sockets = netlink::sockets();
        if let Some(found) = sockets.value() {
            let of_interest = closely
                .iter()
                .filter_map(|key| sample.get(*key)?.descriptors.value())
                .flatten()
                .filter_map(|descriptor| match descriptor.target {
                    Target::Socket { inode } => Some(inode),
                    _ => None,
                });
            let missing: BTreeSet<u64> = of_interest
                .filter(|inode| !found.unix.contains_key(inode) && !found.inet.contains_key(inode))
                .collect();
            if !missing.is_subset(&self.not_dumped) {
                sockets = netlink::sockets();
            }
            self.not_dumped = missing;
        }
        if let Some(kind) = sockets.absence() {
            let detail = match &sockets {
                Reading::Failed(why) => why.clone(),
                _ => "sockets and their peers are not known".into(),
            };
            sample.problems.push(Problem {
                pid: None,
                what: "sock_diag".into(),
                kind,
                detail,
            });
        }
        sample.sockets = sockets;
    }
}

/// Returns each service once, with its main process where one of its processes is that.
fn services(mut units: Vec<Unit>) -> Vec<Unit> {
    let order = |unit: &Unit| {
        (
            unit.manager.clone(),
            unit.name.clone(),
            std::cmp::Reverse(unit.main_pid),
        )
    };
    units.sort_by_key(order);
    // Units of several users' managers have the same name: two main processes are two services.
    units.dedup_by(|later, first| {
        later.manager == first.manager
            && later.name == first.name
            && (later.main_pid.is_none() || later.main_pid == first.main_pid)
    });
    units
}

fn system_lock_lines(reader: &mut Reader) -> Vec<LockLine> {
    locks(reader.system("locks").unwrap_or_default()).collect()
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
