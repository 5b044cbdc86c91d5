//! What an instance could still act through: a list of leads. A lead is a possibility, never proof
//! that it was used; no lead is no proof that it cannot act.

use std::collections::BTreeSet;

use crate::catalog::{Catalog, SocketMeaning};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Descriptor, Target};
use crate::model::finding::{Lead, LeadKind};
use crate::model::identity::ProcessKey;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::socket::{InetSocket, Protocol, UnixSocket};

use super::arguments;
use super::court::Court;
use super::finding::Case;
use super::listeners;
use super::masters;
use super::ssh;
use super::wire;

/// Returns the leads of an instance, lettered; `None` where no member could be looked at.
pub(crate) fn of(case: &Case<'_, '_>) -> Option<Vec<Lead>> {
    let members: Vec<&Process> = case
        .members
        .iter()
        .filter_map(|key| case.court.get(*key))
        .collect();
    if members
        .iter()
        .all(|process| process.descriptors.value().is_none())
    {
        return None;
    }
    let mut collector = Collector {
        case,
        seen: BTreeSet::new(),
        leads: Vec::new(),
    };
    for process in &members {
        collector.sockets(process);
        collector.files(process);
    }
    for process in &members {
        collector.ssh(process, "");
        collector.environment(process);
        collector.arguments(process);
    }
    collector.masters(&members);
    collector.children(&members);
    let mut leads = collector.leads;
    leads.sort_by_key(|lead| rank(lead.kind));
    for (index, lead) in leads.iter_mut().enumerate() {
        lead.letter = letter(index);
    }
    Some(leads)
}

/// Where an SSH agent listens by itself; one that was told another place is known by who holds it.
const SSH_AGENT: &[u8] = b"/tmp/ssh-XXXXXXXXXX/agent.1";

/// Connections first: they act without a further step.
fn rank(kind: LeadKind) -> u8 {
    match kind {
        LeadKind::Tcp => 0,
        LeadKind::Udp => 1,
        LeadKind::Ssh => 2,
        LeadKind::UnixSocket => 3,
        LeadKind::Listener => 4,
        LeadKind::CredentialFile => 5,
        LeadKind::CredentialName => 6,
        LeadKind::CredentialArgument => 7,
        LeadKind::File => 8,
        LeadKind::Child => 9,
    }
}

/// Returns `a` … `z`, `aa`, `ab`, …
pub(super) fn letter(index: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = index;
    loop {
        let offset = u8::try_from(rest % 26).unwrap_or(0);
        letters.push(char::from(b'a' + offset));
        match (rest / 26).checked_sub(1) {
            Some(next) => rest = next,
            None => break,
        }
    }
    letters.iter().rev().collect()
}

struct Collector<'s, 'c, 'a> {
    case: &'s Case<'c, 'a>,
    seen: BTreeSet<(LeadKind, Vec<u8>)>,
    leads: Vec<Lead>,
}

impl Collector<'_, '_, '_> {
    fn court(&self) -> &Court<'_> {
        self.case.court
    }

    fn catalog(&self) -> &Catalog {
        &self.case.court.known.catalog
    }

    /// Adds a lead once: npm, sh and node often share a descriptor.
    fn add(&mut self, unique: &[u8], lead: Lead) {
        if self.seen.insert((lead.kind, unique.to_vec())) {
            self.leads.push(lead);
        }
    }

    fn sockets(&mut self, process: &Process) {
        let Some(sockets) = self.case.court.sample.sockets.value() else {
            return;
        };
        let ports: BTreeSet<u16> = wire::descriptors(process)
            .iter()
            .filter_map(|one| sockets.inet.get(&one.target.inode()?))
            .filter(|socket| socket.state == "LISTEN")
            .map(|socket| socket.local.port())
            .collect();
        for one in wire::descriptors(process) {
            let Target::Socket { inode } = one.target else {
                continue;
            };
            if let Some(socket) = sockets.inet.get(&inode) {
                self.inet(process, one, inode, socket, &ports);
            } else if let Some(socket) = sockets.unix.get(&inode) {
                self.unix(process, one, inode, socket);
            }
        }
    }

    fn inet(
        &mut self,
        process: &Process,
        one: &Descriptor,
        inode: u64,
        socket: &InetSocket,
        ports: &BTreeSet<u16>,
    ) {
        let listener = socket.state == "LISTEN";
        let (kind, target) = match socket.remote {
            Some(_) if ports.contains(&socket.local.port()) => return,
            Some(remote) if socket.protocol == Protocol::Tcp => (LeadKind::Tcp, remote),
            Some(remote) => (LeadKind::Udp, remote),
            None if listener => (LeadKind::Listener, socket.local),
            None => return,
        };
        if listeners::inet_peer(self.court(), socket).is_some_and(|peer| self.case.members.contains(&peer)) {
            return;
        }
        let closing = matches!(socket.state.as_str(), "TIME-WAIT" | "CLOSE");
        if closing && socket.protocol == Protocol::Tcp {
            return;
        }
        let meaning = if listener {
            self.listener_meaning(process)
        } else {
            self.peer_meaning(socket)
        };
        let lead = Lead {
            kind,
            target: target.to_string().into(),
            state: Some(socket.state.clone()),
            last_sent_ms: socket.last_sent_ms,
            last_received_ms: socket.last_received_ms,
            ..lead(process, Some(one.fd), meaning)
        };
        self.add(&inode.to_ne_bytes(), lead);
    }

    fn peer_meaning(&self, socket: &InetSocket) -> String {
        let port = socket
            .remote
            .and_then(|remote| self.catalog().port_name(remote.port()));
        let service = port.map_or_else(|| "an unnamed port".to_owned(), |name| format!("usually {name}"));
        match listeners::inet_peer(self.court(), socket) {
            Some(peer) => format!(
                "{service}; the other end is {} on this host",
                self.court().call(peer)
            ),
            None => format!("{service}; what is allowed over it is not known here"),
        }
    }

    fn listener_meaning(&self, process: &Process) -> String {
        let listening = listeners::of(self.court(), std::iter::once(process));
        if listening.peers.is_empty() {
            "anybody who reaches the address can call it; nobody is connected now".to_owned()
        } else {
            format!("connected now: {}", listening.peers.join(", "))
        }
    }

    fn unix(&mut self, process: &Process, one: &Descriptor, inode: u64, socket: &UnixSocket) {
        let peer = socket.peer.filter(|peer| *peer != 0);
        let peer_socket = peer.and_then(|peer| self.case.court.sample.sockets.value()?.unix.get(&peer));
        let path = peer_socket
            .and_then(|peer| peer.path.as_ref())
            .or(socket.path.as_ref());
        let Some(path) = path else { return };
        let holder = peer.and_then(|peer| self.court().sample.holders.get(&peer)?.first().copied());
        if holder.is_some_and(|holder| self.case.members.contains(&holder.process)) {
            // Between a server and its own helpers: nothing is reached.
            return;
        }
        let agent = holder
            .and_then(|holder| self.court().get(holder.process))
            .is_some_and(|other| other.comm.as_bytes() == b"ssh-agent");
        let place = if agent { SSH_AGENT } else { path.as_bytes() };
        let known = self.catalog().socket_meaning(place);
        let master = holder
            .and_then(|holder| self.court().get(holder.process))
            .and_then(|other| ssh::parse(other.args()));
        let known = known.or_else(|| {
            let control = ssh::control_path(path);
            Some(SocketMeaning {
                meaning: format!("control path {control} of an ssh master: anybody who may use it can act"),
                advice: Some(master?.usual(&control)),
            })
        });
        let holder = holder.map(|holder| format!("; the other end is {}", self.court().call(holder.process)));
        let unknown = "a unix socket with a name; what is served there is not known here".to_owned();
        let (meaning, advice) = known.map_or((unknown, None), |known| (known.meaning, known.advice));
        if socket.listening && ssh::parse(process.args()).is_some() {
            // Its control path: the lead of the connection names it.
            return;
        }
        let kind = if socket.listening {
            LeadKind::Listener
        } else {
            LeadKind::UnixSocket
        };
        let state = if socket.listening { "LISTEN" } else { "connected" };
        let lead = Lead {
            kind,
            target: path.clone(),
            state: Some(state.to_owned()),
            advice,
            ..lead(
                process,
                Some(one.fd),
                format!("{meaning}{}", holder.unwrap_or_default()),
            )
        };
        self.add(&inode.to_ne_bytes(), lead);
    }

    fn files(&mut self, process: &Process) {
        for one in wire::descriptors(process) {
            let Target::File { path, .. } = &one.target else {
                continue;
            };
            if let Some(what) = self.catalog().credential_file(path.as_bytes()) {
                let meaning = format!("{what}: open now; whether it was used is not known");
                let lead = Lead {
                    kind: LeadKind::CredentialFile,
                    target: path.clone(),
                    ..lead(process, Some(one.fd), meaning)
                };
                self.add(path.as_bytes(), lead);
            } else if one.access.value().is_some_and(|access| access.writes()) && is_database(path.as_bytes())
            {
                let meaning = "an open database or journal: KILL may leave it in need of recovery".to_owned();
                let lead = Lead {
                    kind: LeadKind::File,
                    target: path.clone(),
                    ..lead(process, Some(one.fd), meaning)
                };
                self.add(path.as_bytes(), lead);
            }
        }
        for lock in &process.locks {
            let target = lock
                .path
                .clone()
                .unwrap_or_else(|| format!("inode {}", lock.inode).into());
            let meaning = format!(
                "holds a {} {} lock: others wait for it, or are kept out",
                lock.kind, lock.mode
            );
            let lead = Lead {
                kind: LeadKind::File,
                target: target.clone(),
                ..lead(process, None, meaning)
            };
            self.add(&[target.as_bytes(), b"#lock"].concat(), lead);
        }
    }

    fn environment(&mut self, process: &Process) {
        let Reading::Value(environment) = &process.environment else {
            return;
        };
        for name in &environment.names {
            let Some(service) = self.catalog().credential_name(name.as_bytes()) else {
                continue;
            };
            let meaning = format!("{service}, by the variable's name; its value was not read");
            let lead = Lead {
                kind: LeadKind::CredentialName,
                target: name.clone(),
                ..lead(process, None, meaning)
            };
            self.add(name.as_bytes(), lead);
        }
    }

    /// A launcher has the secrets of its server in its own command line.
    fn arguments(&mut self, process: &Process) {
        for place in arguments::secrets(process.args()) {
            let meaning = "a secret in the command line, which everybody on this host may read".to_owned();
            let lead = Lead {
                kind: LeadKind::CredentialArgument,
                target: place.clone(),
                ..lead(process, None, meaning)
            };
            self.add(place.as_bytes(), lead);
        }
    }

    /// `why` is added to what the connection means.
    fn ssh(&mut self, process: &Process, why: &str) {
        let Some(call) = ssh::parse(process.args()) else {
            return;
        };
        // What it listens on is the path itself; argv may have tokens in it (`%r@%h:%p`).
        let control = self.control_socket(process).or_else(|| call.control_path.clone());
        let meaning = match &control {
            Some(path) => {
                format!("an ssh connection with the control path {path}: anybody who may use it can act")
            }
            None => "an ssh connection; no control path is in its argv".to_owned(),
        };
        let advice = control.as_ref().map(|path| call.usual(path));
        let lead = Lead {
            kind: LeadKind::Ssh,
            target: call.target.clone().into(),
            state: Some(
                if control.is_some() {
                    "control path"
                } else {
                    "connected"
                }
                .to_owned(),
            ),
            advice,
            ..lead(process, None, meaning + why)
        };
        self.add(format!("{}{}", process.key, call.target).as_bytes(), lead);
    }

    /// Masters that have left the instance.
    fn masters(&mut self, members: &[&Process]) {
        let court = self.case.court;
        for master in &court.ssh_masters {
            if court.draft_of(master.key).is_some() {
                continue;
            }
            let why = members
                .iter()
                .find_map(|member| masters::why_of(court.sample, master, member));
            if let Some(why) = why {
                self.ssh(master, &format!("; {why}"));
            }
        }
    }

    /// A multiplexing master listens on its control path, whatever its argv says.
    fn control_socket(&self, process: &Process) -> Option<String> {
        let sockets = self.case.court.sample.sockets.value()?;
        wire::descriptors(process).iter().find_map(|one| {
            let socket = sockets.unix.get(&one.target.inode()?)?;
            let path = socket.path.as_ref().filter(|_| socket.listening)?;
            Some(ssh::control_path(path))
        })
    }

    /// Live helpers: what goes on when the server is ended.
    fn children(&mut self, members: &[&Process]) {
        let of_ssh = |key: ProcessKey, leads: &[Lead]| {
            leads
                .iter()
                .any(|lead| lead.kind == LeadKind::Ssh && lead.pid == key.pid)
        };
        for process in members {
            let helper = self.case.draft.helpers.contains(&process.key);
            if !helper || process.is_zombie() || of_ssh(process.key, &self.leads) {
                continue;
            }
            let argv = process
                .args()
                .first()
                .map_or_else(|| process.comm.clone(), Clone::clone);
            let meaning = "started by the server; may outlive it and act on its own".to_owned();
            let lead = Lead {
                kind: LeadKind::Child,
                target: argv,
                ..lead(process, None, meaning)
            };
            self.add(process.key.to_string().as_bytes(), lead);
        }
    }
}

fn lead(process: &Process, fd: Option<u32>, meaning: String) -> Lead {
    Lead {
        letter: String::new(),
        kind: LeadKind::Child,
        target: OsBytes::default(),
        state: None,
        pid: process.key.pid,
        fd,
        meaning,
        advice: None,
        last_sent_ms: None,
        last_received_ms: None,
    }
}

fn is_database(path: &[u8]) -> bool {
    [
        &b".db"[..],
        b".sqlite",
        b".sqlite3",
        b".db-wal",
        b".db-journal",
        b"-wal",
        b"-journal",
        b".mdb",
        b".ldb",
    ]
    .iter()
    .any(|ending| path.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_go_on_after_z() {
        let cases = [
            (0, "a"),
            (25, "z"),
            (26, "aa"),
            (27, "ab"),
            (51, "az"),
            (52, "ba"),
            (701, "zz"),
            (702, "aaa"),
        ];
        for (index, word) in cases {
            assert_eq!(letter(index), word);
        }
    }
}
