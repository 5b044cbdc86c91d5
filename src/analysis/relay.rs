//! Relays: processes between a client and a server that pass on what they read (`tee log | server`, and what gave
//! the server a terminal of its own).

use std::collections::BTreeSet;

use crate::model::descriptor::Holder;
use crate::model::finding::Finding;
use crate::model::identity::ProcessKey;
use crate::model::process::Process;

use super::court::strong;
use super::finding::{Case, Judgement, end_source};
use super::wire::{self, Place, Wire, WireEnd};

/// How many relays are followed.
pub(crate) const RELAY_DEPTH: u8 = 3;

impl Case<'_, '_> {
    /// Step 6: the finding of the client that a relay among the holders reads from.
    ///
    /// Launchers and helpers beside the server are followed, the server and what it has started are not:
    /// they are behind the wire.
    pub(super) fn relayed(&self, holders: &[ProcessKey], wire: Wire) -> Option<Judgement> {
        let server = self.chain.first()?;
        let below = self.court.tree.descendants(server.key.pid);
        let mut seen: BTreeSet<ProcessKey> = below
            .into_iter()
            .filter_map(|pid| self.court.by_pid(pid))
            .map(|process| process.key)
            .collect();
        seen.insert(server.key);
        self.through_relay(holders, wire, RELAY_DEPTH, &mut seen)
    }

    fn through_relay(
        &self,
        holders: &[ProcessKey],
        wire: Wire,
        depth: u8,
        seen: &mut BTreeSet<ProcessKey>,
    ) -> Option<Judgement> {
        let depth = depth.checked_sub(1)?;
        for key in holders {
            if !seen.insert(*key) {
                continue;
            }
            let Some(process) = self.court.get(*key) else {
                continue;
            };
            let Some(through) = self.passes_on(process, wire) else {
                continue;
            };
            let beyond = wire::processes(wire::other_end(self.court.sample, through.stdin).holders());
            let found = match self.client_among(&beyond, through) {
                Some((client, because)) => Some(self.with_client(client, because, through)),
                None => self.through_relay(&beyond, through, depth, seen),
            };
            if let Some(judgement) = found {
                return Some(self.behind(process, judgement, wire.stdin));
            }
        }
        None
    }

    /// The finding behind a terminal that a program above the server made for it and feeds from its own
    /// wire (`script`, `unbuffer`). A terminal emulator, a multiplexer and a login have no wire themselves: at
    /// theirs sits a person.
    pub(super) fn through_terminal(&self, masters: &[Holder], terminal: &str) -> Option<Judgement> {
        let server = self.chain.first()?;
        let above = |key| {
            self.court
                .tree
                .ancestors(server.key.pid)
                .any(|one| one.key == key)
        };
        let relay = masters.iter().map(|holder| holder.process);
        let relay = relay
            .filter(|key| above(*key) && !self.court.is_client(*key))
            .find_map(|key| self.court.get(key))?;
        let through = wire::standard(self.court.sample, relay, Place::Launcher)?;
        through.stdout?;
        let mut judgement = self.on_wire(through);
        let called = self.court.call(relay.key);
        if judgement.finding == Finding::Attached
            && let Some(how) = self.wedged(relay)
        {
            judgement.finding = Finding::Wedged;
            let text = format!("{called}, which passes on what the client sends, is {how}");
            let source = format!("/proc/{}/stat", relay.key.pid);
            judgement.facts.insert(0, strong("relay_wedged", text, source));
        }
        let text =
            format!("{called} made the terminal {terminal} and feeds it from its own stdin: that is judged");
        judgement
            .facts
            .push(strong("terminal_relay", text, end_source(through.stdin)));
        Some(judgement)
    }

    /// Returns the wire as it goes on beyond a relay: what its descriptor 0 reads from.
    ///
    /// A pipeline's member writes to the server on its descriptor 1; a launcher with a wire of its own may
    /// do so on any. One that merely inherited the end on another descriptor passes nothing on.
    fn passes_on(&self, process: &Process, wire: Wire) -> Option<Wire> {
        let far = wire::far_inode(self.court.sample, wire.stdin)?;
        let writes = wire::descriptor(process, 1).is_some_and(|one| one.target.inode() == Some(far));
        let server = self.chain.first()?;
        let beside = process.ppid.is_some() && self.chain.iter().any(|one| one.ppid == process.ppid)
            || process.pgid.is_some() && process.pgid == server.pgid;
        let launcher = self.draft.launchers.contains(&process.key);
        if !(writes && beside || launcher) {
            return None;
        }
        let stdin = wire::stdin(self.court.sample, process).filter(|end| end.inode != wire.stdin.inode)?;
        Some(Wire { stdin, ..wire })
    }

    /// Adds what the relay itself does to the finding of what is beyond it.
    fn behind(&self, relay: &Process, mut judgement: Judgement, stdin: WireEnd) -> Judgement {
        let called = self.court.call(relay.key);
        if let Some(how) = self.wedged(relay) {
            judgement.finding = Finding::Wedged;
            let text = format!("{called}, which passes on what the client sends, is {how}");
            let source = format!("/proc/{}/stat", relay.key.pid);
            judgement.facts.insert(0, strong("relay_wedged", text, source));
        }
        judgement.needs_second |= relay.state == 'D' && self.court.previous.is_none();
        let text = format!("{called} passes on what the client sends");
        judgement.facts.push(strong("relay", text, end_source(stdin)));
        judgement
    }
}
