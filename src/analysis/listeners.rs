//! What processes listen on, and who is connected there.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use crate::model::identity::ProcessKey;
use crate::model::process::Process;
use crate::model::socket::{InetSocket, Protocol, UnixKind, UnixSocket};

use super::court::Court;
use super::wire::descriptors;

/// Listening sockets of some processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listening {
    /// Addresses and paths.
    pub(crate) listens: Vec<String>,
    /// Connected peers: addresses, with the process where it is on this host.
    pub(crate) peers: Vec<String>,
    /// Peers on this host.
    pub(crate) local_peers: Vec<ProcessKey>,
    /// Peers that are not on this host, or whose process cannot be seen.
    foreign: usize,
}

impl Listening {
    /// Returns whether somebody outside `members` is connected.
    pub(crate) fn has_outside_peer(&self, members: &BTreeSet<ProcessKey>) -> bool {
        self.foreign > 0 || self.local_peers.iter().any(|peer| !members.contains(peer))
    }
}

/// Returns what `processes` listen on.
pub(crate) fn of<'a>(court: &Court<'_>, processes: impl Iterator<Item = &'a Process>) -> Listening {
    let mut found = Listening::default();
    let Some(sockets) = court.sample.sockets.value() else {
        return found;
    };
    let mut inodes: BTreeSet<u64> = BTreeSet::new();
    for process in processes {
        inodes.extend(descriptors(process).iter().filter_map(|one| one.target.inode()));
    }
    let inet: Vec<&InetSocket> = inodes
        .iter()
        .filter_map(|inode| sockets.inet.get(inode))
        .collect();
    let ports: Vec<u16> = inet
        .iter()
        .filter(|one| one.state == "LISTEN")
        .map(|one| one.local.port())
        .collect();
    for socket in inet.iter().filter(|one| one.state == "LISTEN") {
        push_new(&mut found.listens, format!("tcp {}", socket.local));
    }
    for inode in &inodes {
        if let Some(socket) = sockets.unix.get(inode).filter(|socket| socket.listening) {
            let path = socket
                .path
                .as_ref()
                .map_or_else(|| "?".into(), |path| path.lossy());
            push_new(&mut found.listens, format!("unix {path}"));
        }
    }
    for socket in inet.iter().filter(|one| {
        one.protocol == Protocol::Tcp && one.state == "ESTAB" && ports.contains(&one.local.port())
    }) {
        add_peer(court, &mut found, socket);
    }
    for socket in inet.iter().filter(|one| one.state == "LISTEN") {
        add_waiting(court, &mut found, socket, &inodes);
    }
    for inode in &inodes {
        if let Some(socket) = sockets.unix.get(inode).filter(|socket| !socket.listening) {
            add_unix_peer(court, &mut found, socket);
        }
    }
    found
}

/// Returns in words what a connected socket is that can be no stdio wire, and who is at its other end.
pub(crate) fn connection(court: &Court<'_>, inode: u64) -> Option<String> {
    let sockets = court.sample.sockets.value()?;
    if let Some(socket) = sockets.inet.get(&inode) {
        let at = match (socket.remote, inet_peer(court, socket)) {
            (Some(remote), Some(peer)) => format!(" with {remote} ({})", court.call(peer)),
            (Some(remote), None) => format!(" with {remote}"),
            (None, _) => String::new(),
        };
        let protocol = match socket.protocol {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        };
        return Some(format!(
            "a {protocol} socket on {}{at}, state {}",
            socket.local, socket.state
        ));
    }
    let socket = sockets.unix.get(&inode)?;
    let peer = socket.peer.filter(|peer| *peer != 0);
    let there = peer.and_then(|peer| sockets.unix.get(&peer));
    let kind = match socket.kind {
        UnixKind::Stream => "stream",
        UnixKind::Datagram => "datagram",
        UnixKind::Packet => "seqpacket",
    };
    let path = match (&socket.path, there.and_then(|there| there.path.as_ref())) {
        (Some(own), _) => format!(" bound to {}", own.lossy()),
        (None, Some(other)) => format!(" connected to {}", other.lossy()),
        (None, None) => String::new(),
    };
    let holder = peer.and_then(|peer| court.sample.holders.get(&peer)?.first());
    let who = match (socket.peer, holder) {
        (_, Some(holder)) => format!("other end held by {}", court.call(holder.process)),
        (Some(0), None) => "other end closed".to_owned(),
        (Some(_), None) => "other end held by nobody that can be seen".to_owned(),
        (None, None) => "not connected".to_owned(),
    };
    Some(format!("a unix {kind} socket{path}, {who}"))
}

/// Adds those of this host whose connection the kernel has made and the listener has not accepted yet: nobody
/// has a descriptor of its near end. A busy server leaves its callers there. What it has opened itself (`own`)
/// is no caller.
fn add_waiting(court: &Court<'_>, found: &mut Listening, listener: &InetSocket, own: &BTreeSet<u64>) {
    let Some(sockets) = court.sample.sockets.value() else {
        return;
    };
    let here = listener.local.ip().to_canonical();
    for (inode, socket) in &sockets.inet {
        let Some(ends) = Ends::of(socket).filter(|_| socket.state == "ESTAB") else {
            continue;
        };
        let there = ends.remote.ip();
        // An address of this host: its own connection comes from the same one, or from loopback.
        let of_this_host = there.is_loopback() || there == ends.local.ip();
        let to_listener = ends.protocol == Protocol::Tcp
            && ends.remote.port() == listener.local.port()
            && (here == there || here.is_unspecified() && of_this_host);
        if !to_listener || own.contains(inode) || court.connections.contains_key(&ends.swapped()) {
            continue;
        }
        let caller = court.sample.holders.get(inode).and_then(|all| all.first());
        let who = caller.map_or_else(String::new, |caller| format!(" ({})", court.call(caller.process)));
        push_new(
            &mut found.peers,
            format!("tcp {}{who}, not accepted yet", ends.local),
        );
        match caller {
            Some(caller) => found.local_peers.push(caller.process),
            None => found.foreign += 1,
        }
    }
}

/// Adds who is connected to a unix listener: an accepted socket has the listener's path.
fn add_unix_peer(court: &Court<'_>, found: &mut Listening, socket: &UnixSocket) {
    let path = socket.path.as_ref().map(|path| format!("unix {}", path.lossy()));
    let Some(path) = path.filter(|path| found.listens.contains(path)) else {
        return;
    };
    let Some(peer) = socket.peer.filter(|peer| *peer != 0) else {
        return;
    };
    if let Some(holder) = court.sample.holders.get(&peer).and_then(|all| all.first()) {
        push_new(
            &mut found.peers,
            format!("{path} ({})", court.call(holder.process)),
        );
        found.local_peers.push(holder.process);
    } else {
        push_new(&mut found.peers, path);
        found.foreign += 1;
    }
}

fn add_peer(court: &Court<'_>, found: &mut Listening, socket: &InetSocket) {
    let Some(remote) = socket.remote else { return };
    if let Some(peer) = inet_peer(court, socket) {
        push_new(&mut found.peers, format!("tcp {remote} ({})", court.call(peer)));
        found.local_peers.push(peer);
    } else {
        push_new(&mut found.peers, format!("tcp {remote}"));
        found.foreign += 1;
    }
}

/// Returns the process at the other end of a connection, where it is on this host: the socket
/// with the addresses swapped.
pub(crate) fn inet_peer(court: &Court<'_>, socket: &InetSocket) -> Option<ProcessKey> {
    let inode = court.connections.get(&Ends::of(socket)?.swapped())?;
    court
        .sample
        .holders
        .get(inode)?
        .first()
        .map(|holder| holder.process)
}

/// Both addresses of a connection. An IPv4 address that IPv6 carries (`::ffff:127.0.0.1`) is the
/// same address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ends {
    protocol: Protocol,
    local: SocketAddr,
    remote: SocketAddr,
}

impl Ends {
    /// Returns the addresses of a connected socket.
    pub(crate) fn of(socket: &InetSocket) -> Option<Self> {
        let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        Some(Self {
            protocol: socket.protocol,
            local: plain(socket.local),
            remote: plain(socket.remote?),
        })
    }

    fn swapped(self) -> Self {
        Self {
            local: self.remote,
            remote: self.local,
            ..self
        }
    }
}

fn push_new(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}
