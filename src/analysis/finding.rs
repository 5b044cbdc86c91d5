//! The decision list: does an instance still belong to a live client connection?
//!
//! Each step is a function that answers or passes on; their order is the contract.

use std::collections::BTreeSet;

use crate::model::descriptor::{Holder, Target};
use crate::model::finding::{Fact, Finding, Network, Stdio};
use crate::model::identity::ProcessKey;
use crate::model::instance::Transport;
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};

use super::court::{Court, strong, supporting};
use super::ends;
use super::group::Draft;
use super::listeners::{self, Listening};
use super::wire::{self, OtherEnd, Place, Wire, WireEnd};

/// A zombie that is seen this long apart is one that nobody waits for.
const ZOMBIE_PERSISTS_MS: u64 = 2_000;
/// The judgement of one instance, before twins, reach and the finding behind a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// The finding.
    pub(crate) finding: Finding,
    /// The holder of the other end that can talk on it, or the one connected to a listener.
    pub(crate) client: Option<ProcessKey>,
    /// What carries the protocol.
    pub(crate) transport: Transport,
    /// The wire.
    pub(crate) stdio: Option<Stdio>,
    /// What a network instance is reached by.
    pub(crate) network: Option<Network>,
    /// What decided.
    pub(crate) facts: Vec<Fact>,
    /// Whether a second look can change the finding.
    pub(crate) needs_second: bool,
}

/// One instance before the court.
pub(crate) struct Case<'c, 'a> {
    pub(crate) court: &'c Court<'a>,
    pub(crate) draft: &'c Draft,
    /// Members in the sense of the decision list.
    pub(crate) members: BTreeSet<ProcessKey>,
    /// The server, then launchers upwards.
    pub(crate) chain: Vec<&'a Process>,
    /// The wire.
    pub(crate) wire: Option<Wire>,
}

/// Judges one instance.
pub(crate) fn judge(case: &Case<'_, '_>) -> Judgement {
    let mut judgement = case.decide();
    judgement.stdio = ends::stdio(case, judgement.client);
    judgement
}

impl<'c, 'a> Case<'c, 'a> {
    /// Collects members and finds the wire.
    pub(crate) fn new(court: &'c Court<'a>, draft: &'c Draft) -> Self {
        let chain: Vec<&Process> = draft.chain().filter_map(|key| court.get(key)).collect();
        let below = court.tree.descendants(draft.top().pid);
        let wire = wire::find(court.sample, &chain, &|key| {
            key == draft.top() || below.contains(&key.pid)
        });
        Self {
            court,
            draft,
            members: draft.members().collect(),
            chain,
            wire,
        }
    }

    fn decide(&self) -> Judgement {
        let zombie = self.zombie();
        if let Some(Ok(defunct)) = zombie {
            return defunct;
        }
        let mut judgement = match self.wire {
            None => self.without_wire(),
            Some(wire) => self.on_wire(wire),
        };
        if let Some(Err(waiting)) = zombie {
            if judgement.finding == Finding::Unknown
                && let Some(before) = self.as_before()
            {
                judgement = before;
            }
            judgement.facts.insert(0, waiting);
            judgement.needs_second = true;
        }
        judgement
    }

    /// What was found in the sample before, where its client lives: nothing of an exited server can be read,
    /// and most are waited for at once.
    fn as_before(&self) -> Option<Judgement> {
        let previous = self.court.previous?;
        let before = previous
            .judged
            .instance(self.draft.id)
            .filter(|before| before.finding != Finding::Unknown)?;
        let client = before.client.as_ref().filter(|client| client.on_wire);
        if client.is_some_and(|client| self.court.get(client.process).is_none()) {
            return None;
        }
        let text = format!("{} is what was found in the sample before", before.finding.word());
        Some(Judgement {
            transport: before.transport,
            network: before.network.clone(),
            ..self.found(
                before.finding,
                client.map(|client| client.process),
                vec![strong("found_before", text, "the sample before")],
            )
        })
    }

    /// Step 1: the server has exited. `Err`: it has, but only once seen so far.
    fn zombie(&self) -> Option<Result<Judgement, Fact>> {
        let server = self.court.get(self.draft.server?)?;
        if !server.is_zombie() {
            return None;
        }
        let parent = server.ppid.and_then(|pid| self.court.by_pid(pid));
        let parent = parent.map_or_else(|| "its parent".to_owned(), |parent| self.court.call(parent.key));
        let source = format!("/proc/{}/stat", server.key.pid);
        let since = self.court.zombies.get(&server.key).copied();
        let seen_ms = since.map_or(0, |since| self.court.sample.since_boot_ms.saturating_sub(since));
        if seen_ms < ZOMBIE_PERSISTS_MS {
            let text = format!(
                "the server has exited; whether {parent} waits for it shows within {} s",
                ZOMBIE_PERSISTS_MS / 1000
            );
            return Some(Err(strong("zombie_once", text, source)));
        }
        let text = format!(
            "the server has exited and {parent} has not waited for it for {} s",
            seen_ms / 1000
        );
        Some(Ok(self.found(
            Finding::Defunct,
            None,
            vec![strong("zombie", text, source)],
        )))
    }

    /// Step 3: nothing that could be a wire.
    fn without_wire(&self) -> Judgement {
        let listening = listeners::of(self.court, self.chain.iter().copied());
        if !listening.listens.is_empty() {
            return self.network(listening, Vec::new());
        }
        let Some(server) = self.chain.first() else {
            return self.unknown("gone", "the process vanished while it was being judged", "/proc");
        };
        if let Some((fd, Target::Terminal { path, hung_up })) = wire::terminal(server) {
            return self.terminal(server, fd, &path.lossy(), *hung_up);
        }
        let source = format!("/proc/{}/fd", server.key.pid);
        match server.descriptors.absence() {
            Some(Absence::Denied) => self.unknown(
                "descriptors_denied",
                match self.court.sample.observer.uid {
                    0 => {
                        let rights = self.court.right_to_look();
                        format!("its descriptors may not be read: with {rights} they can")
                    }
                    _ => "its descriptors may not be read: the program needs the rights of its user, or root"
                        .to_owned(),
                },
                source,
            ),
            Some(Absence::Gone) => self.unknown(
                "descriptors_gone",
                "its descriptors are gone: it is exiting, or has exited",
                source,
            ),
            Some(_) => self.unknown(
                "descriptors_unreadable",
                "its descriptors could not be read",
                source,
            ),
            None if matches!(server.descriptors, Reading::Unread) => {
                self.unknown("not_judged", "not judged yet", source)
            }
            None => self.no_wire(server, source),
        }
    }

    /// Says what a socket that is not in the dump means: another network namespace is said, not
    /// guessed.
    fn no_wire(&self, server: &Process, source: String) -> Judgement {
        if let Some(found) = self.connection(server) {
            return found;
        }
        let own = self.court.sample.observer.net_namespace;
        let other_namespace = server
            .net_namespace
            .value()
            .is_some_and(|theirs| Some(*theirs) != own);
        let on_socket = matches!(
            wire::descriptor(server, 0).map(|one| &one.target),
            Some(Target::Socket { .. })
        );
        if on_socket && self.court.sample.sockets.value().is_none() {
            return self.unknown(
                "no_socket_diagnostics",
                "its stdin is a socket, and the kernel's socket diagnostics could not be read",
                "sock_diag",
            );
        }
        if on_socket && other_namespace {
            return self.unknown(
                "other_network_namespace",
                "its stdin is a socket of another network namespace, which cannot be looked into from here",
                format!("/proc/{}/ns/net", server.key.pid),
            );
        }
        self.unknown(
            "no_wire",
            "no descriptor of it looks like a wire, and it does not listen",
            source,
        )
    }

    /// Its stdin is a connection of another kind than a client makes for a server that it starts: inetd(8)
    /// and socket activation hand over such ones.
    fn connection(&self, server: &Process) -> Option<Judgement> {
        let Some(Target::Socket { inode }) = wire::descriptor(server, 0).map(|one| &one.target) else {
            return None;
        };
        let what = listeners::connection(self.court, *inode)?;
        let text = format!("its stdin is {what}: no wire between a server and the client that started it");
        Some(self.unknown("stdin_is_connection", text, "sock_diag"))
    }

    fn terminal(&self, server: &Process, fd: u32, path: &str, hung_up: bool) -> Judgement {
        let source = format!("/proc/{}/fd/{fd}", server.key.pid);
        if hung_up {
            let fact = strong(
                "terminal_hung_up",
                format!("stdin is the terminal {path}, which was closed"),
                source,
            );
            return self.found(Finding::Severed, None, vec![fact]);
        }
        let index = wire::terminal_number(path);
        let masters = index.and_then(|index| self.court.sample.terminal_masters.get(&index));
        if let Some(found) = self.through_terminal(masters.map_or(&[][..], Vec::as_slice), path) {
            return found;
        }
        let master = masters.and_then(|holders| holders.first());
        match (index, master) {
            (Some(_), None) => self.unknown(
                "terminal_master_unseen",
                format!("stdin is the terminal {path}, whose other end no readable process holds"),
                source,
            ),
            (_, master) => {
                let who = master.map_or_else(
                    || "a terminal of this machine".to_owned(),
                    |holder| format!("held by {}", self.court.call(holder.process)),
                );
                let fact = strong("terminal", format!("stdin is the terminal {path}, {who}"), source);
                let mut judgement =
                    self.found(Finding::Attached, master.map(|holder| holder.process), vec![fact]);
                judgement.transport = Transport::Stdio;
                judgement
            }
        }
    }

    /// Steps 4 to 8: there is a wire.
    pub(super) fn on_wire(&self, wire: Wire) -> Judgement {
        let other = wire::other_end(self.court.sample, wire.stdin);
        match &other {
            OtherEnd::Holders(holders) => self.held(wire, holders),
            OtherEnd::Hidden { peer } => self.hidden(wire, *peer),
            OtherEnd::Unread(why) => self.unknown(
                "other_end_unread",
                format!("the other end of stdin cannot be told: {why}"),
                "sock_diag",
            ),
            OtherEnd::Closed | OtherEnd::NoHolder => self.nobody(wire, &other),
        }
    }

    /// Step 4 with an end that is open, and nobody who has a descriptor on it.
    fn hidden(&self, wire: Wire, peer: u64) -> Judgement {
        let (kind, source) = if wire.stdin.socket {
            ("socket", "sock_diag")
        } else {
            ("pipe", "/proc/*/fd")
        };
        let unlisted = self.unlisted_holder(wire.stdin);
        let who = unlisted.map_or_else(String::new, |unlisted| format!("; {}", unlisted.who));
        let text = format!(
            "the other end of stdin ({kind} {peer}) exists, but no process that may be read holds it{who}"
        );
        self.unknown("hidden_holder", text, source)
    }

    /// Step 4 with no holder.
    fn nobody(&self, wire: Wire, other: &OtherEnd) -> Judgement {
        let members = self.members.iter().filter_map(|key| self.court.get(*key));
        let listening = listeners::of(self.court, members);
        let unseen = self.unfound_holder(wire.stdin);
        if listening.has_outside_peer(&self.members) {
            let nobody = if unseen.is_none() {
                "nobody holds the other end of its stdin any more"
            } else {
                "nobody that can be seen holds the other end of its stdin"
            };
            let text = format!("{nobody}; it is reached over the network");
            let lost = strong("stdio_lost", text, end_source(wire.stdin));
            return self.network(listening, vec![lost]);
        }
        if *other == OtherEnd::Closed {
            let text = format!("stdin {}: peer closed", end_name(wire.stdin));
            let source = if wire.stdin.socket {
                "sock_diag UNIX_DIAG_PEER".to_owned()
            } else {
                end_source(wire.stdin)
            };
            return self.severed("stdin_peer_closed", text, source);
        }
        if let Some(unseen) = unseen {
            let text = format!(
                "no visible process has the pipe {} open for writing, but {}",
                wire.stdin.inode, unseen.who
            );
            return Judgement {
                needs_second: unseen.passes,
                ..self.unknown(unseen.code, text, unseen.source)
            };
        }
        let text = format!(
            "stdin {}: no process has it open for writing{}",
            end_name(wire.stdin),
            self.unread()
        );
        self.severed("stdin_no_writer", text, "/proc/*/fd, fdinfo".to_owned())
    }

    fn severed(&self, code: &str, text: String, source: String) -> Judgement {
        self.stdio_found(Finding::Severed, None, vec![strong(code, text, source)])
    }

    /// Steps 5 to 8: somebody holds the other end.
    fn held(&self, wire: Wire, holders: &[Holder]) -> Judgement {
        let keys = wire::processes(holders);
        if let Some((client, because)) = self.client_among(&keys, wire) {
            return self.with_client(client, because, wire);
        }
        if let Some(relayed) = self.relayed(&keys, wire) {
            return relayed;
        }
        let named: Vec<String> = keys.iter().take(8).map(|key| self.court.call(*key)).collect();
        let rest = keys.len().saturating_sub(named.len());
        let rest = if rest == 0 {
            String::new()
        } else {
            format!(" and {rest} more")
        };
        let unseen = self.unseen_holder(wire.stdin);
        let whose = match (keys.iter().all(|key| self.members.contains(key)), &unseen) {
            (true, None) => "only members of the instance itself hold it",
            (true, Some(_)) => "of those that can be seen, only members of the instance itself hold it",
            (false, None) => "no holder is a client",
            (false, Some(_)) => "no holder that can be seen is a client",
        };
        let text = format!(
            "the other end of stdin ({}) is held by {}{rest}: {whose}",
            end_name(wire.stdin),
            named.join(", ")
        );
        let mut facts = vec![strong("stdin_held", text, end_source(wire.stdin))];
        facts.extend(unseen.map(|unseen| {
            let text = format!("a client may hold it unseen: {}", unseen.who);
            supporting("holders_unseen", text, unseen.source)
        }));
        self.stdio_found(Finding::Held, None, facts)
    }

    /// Step 5.
    pub(super) fn client_among(
        &self,
        holders: &[ProcessKey],
        wire: Wire,
    ) -> Option<(ProcessKey, &'static str)> {
        let outside: Vec<ProcessKey> = holders
            .iter()
            .filter(|key| !self.members.contains(key))
            .copied()
            .collect();
        let ancestor = self
            .court
            .tree
            .ancestors(self.draft.top().pid)
            .map(|process| process.key)
            .find(|key| outside.contains(key));
        if let Some(ancestor) = ancestor {
            return Some((ancestor, "an ancestor"));
        }
        if let Some(known) = outside.iter().find(|key| self.court.is_client(**key)) {
            return Some((*known, "a known client"));
        }
        let stdout = wire.stdout.map(|end| wire::other_end(self.court.sample, end));
        let reads_stdout = |key: &ProcessKey| {
            stdout
                .as_ref()
                .is_some_and(|other| other.holders().iter().any(|holder| holder.process == *key))
        };
        let oldest = self.members.iter().map(|key| (key.start, key.pid)).min()?;
        let older = outside
            .into_iter()
            .find(|key| (key.start, key.pid) < oldest && reads_stdout(key))?;
        Some((older, "older than the server, and holds both its ends"))
    }

    /// Steps 7 and 8.
    pub(super) fn with_client(&self, client: ProcessKey, because: &str, wire: Wire) -> Judgement {
        let called = self.court.call(client);
        let (place, source) = match self.by_thread(client, wire.stdin) {
            Some((thread, fd)) => (
                format!(" on fd {fd} of its thread {thread}, which has descriptors of its own"),
                format!("/proc/{}/task/{thread}/fd", client.pid),
            ),
            None => (String::new(), end_source(wire.stdin)),
        };
        let end = end_name(wire.stdin);
        let text = format!("{called} holds the other end of stdin ({end}){place}: {because}");
        let holds = strong("client_holds", text, source);
        let Some(process) = self.court.get(client) else {
            return self.stdio_found(Finding::Attached, Some(client), vec![holds]);
        };
        let source = format!("/proc/{}/stat", client.pid);
        let mut judgement = match self.wedged(process) {
            Some(how) => {
                let fact = strong("client_wedged", format!("the client {called} is {how}"), source);
                self.stdio_found(Finding::Wedged, Some(client), vec![fact, holds])
            }
            None => self.stdio_found(Finding::Attached, Some(client), vec![holds]),
        };
        judgement.needs_second = process.state == 'D' && self.court.previous.is_none();
        judgement
    }

    /// Returns why a process cannot act.
    pub(super) fn wedged(&self, process: &Process) -> Option<&'static str> {
        let unmoved = self.court.before(process.key).is_some_and(|before| {
            before.state == 'D' && before.schedstat.value().is_some() && before.schedstat == process.schedstat
        });
        match process.state {
            'T' => Some("stopped"),
            't' => Some("held by a tracer"),
            'D' if unmoved => Some("stuck in the kernel (state D, has not run since the sample before)"),
            _ => None,
        }
    }

    fn network(&self, listening: Listening, mut facts: Vec<Fact>) -> Judgement {
        let on = listening.listens.join(", ");
        facts.push(strong("listens", format!("it listens on {on}"), "sock_diag"));
        let client = listening
            .local_peers
            .iter()
            .find(|key| !self.members.contains(key))
            .copied();
        let mut judgement = self.found(Finding::Network, client, facts);
        judgement.transport = Transport::Network;
        judgement.network = Some(Network {
            listens: listening.listens,
            peers: listening.peers,
        });
        judgement
    }

    fn unknown(&self, code: &str, text: impl Into<String>, source: impl Into<String>) -> Judgement {
        self.found(Finding::Unknown, None, vec![strong(code, text, source)])
    }

    fn stdio_found(&self, finding: Finding, client: Option<ProcessKey>, facts: Vec<Fact>) -> Judgement {
        Judgement {
            transport: Transport::Stdio,
            ..self.found(finding, client, facts)
        }
    }

    fn found(&self, finding: Finding, client: Option<ProcessKey>, facts: Vec<Fact>) -> Judgement {
        let transport = if self.wire.is_some() {
            Transport::Stdio
        } else {
            Transport::Unknown
        };
        Judgement {
            finding,
            client,
            transport,
            stdio: None,
            network: None,
            facts,
            needs_second: false,
        }
    }
}

/// Returns `socket 88121` or `pipe 16929`, with the descriptor where it is not the standard one.
pub(super) fn end_name(end: WireEnd) -> String {
    let kind = if end.socket { "socket" } else { "pipe" };
    if end.fd == 0 {
        format!("{kind} {}", end.inode)
    } else {
        format!("{kind} {} on fd {}", end.inode, end.fd)
    }
}

pub(super) fn end_source(end: WireEnd) -> String {
    if end.socket {
        "sock_diag UNIX_DIAG_PEER, /proc/*/fd".to_owned()
    } else {
        "/proc/*/fd, fdinfo".to_owned()
    }
}

impl Place {
    /// Returns where the wire was found, for the facts.
    pub(crate) fn sentence(self) -> Option<&'static str> {
        match self {
            Self::Standard => None,
            Self::PrivateByLauncher => {
                Some("its wire is on private descriptors: those that its launcher has on 0 and 1")
            }
            Self::PrivatePair => Some("its wire is on private descriptors: a pair with a common other side"),
            Self::Launcher => Some("its wire was read at its launcher"),
        }
    }
}
