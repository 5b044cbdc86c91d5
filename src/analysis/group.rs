//! Puts processes together to instances: launchers, server, helpers.

use std::collections::BTreeMap;

use crate::model::descriptor::Target;
use crate::model::identity::{InstanceId, Pid, ProcessKey};
use crate::model::instance::{Confidence, Judged, Role};
use crate::model::process::Process;
use crate::model::sample::Sample;

use super::Known;
use super::identify::{Identities, Mark};
use super::tree::Tree;
use super::wire::{self, OtherEnd};

/// Programs that a person types into.
const SHELLS: [&[u8]; 7] = [b"sh", b"bash", b"dash", b"zsh", b"ksh", b"fish", b"-bash"];

/// An instance before it is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// Its id.
    pub(crate) id: InstanceId,
    /// Launchers, outermost first.
    pub(crate) launchers: Vec<ProcessKey>,
    /// The server.
    pub(crate) server: Option<ProcessKey>,
    /// Helpers.
    pub(crate) helpers: Vec<ProcessKey>,
}

impl Draft {
    /// Returns the outermost member.
    pub(crate) fn top(&self) -> ProcessKey {
        self.launchers
            .first()
            .copied()
            .or(self.server)
            .unwrap_or(self.id.0)
    }

    /// Returns the server, then the launchers upwards.
    pub(crate) fn chain(&self) -> impl Iterator<Item = ProcessKey> + '_ {
        self.server
            .into_iter()
            .chain(self.launchers.iter().rev().copied())
    }

    /// Returns every member.
    pub(crate) fn members(&self) -> impl Iterator<Item = ProcessKey> + '_ {
        self.chain().chain(self.helpers.iter().copied())
    }
}

/// A process's place in a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    draft: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Starts the server.
    Launcher,
    /// Below a launcher, not known what it is yet.
    Pending,
    /// The server.
    Server,
    /// Below the server.
    Helper,
}

/// Groups the processes of a sample.
pub(crate) fn group(
    sample: &Sample,
    tree: &Tree<'_>,
    identities: &Identities,
    known: &Known,
    previous: Option<&Judged>,
) -> Vec<Draft> {
    let mut grouping = Grouping {
        sample,
        tree,
        identities,
        known,
        previous,
        drafts: Vec::new(),
        places: BTreeMap::new(),
    };
    for pid in tree.in_order() {
        if let Some(process) = sample.process(pid) {
            grouping.place(process);
        }
    }
    for draft in 0..grouping.drafts.len() {
        grouping.choose_server(draft);
        grouping.extend_upwards(draft);
        grouping.leave_terminal_shells(draft);
    }
    grouping.adopt_helpers();
    grouping.finish()
}

struct Grouping<'a> {
    sample: &'a Sample,
    tree: &'a Tree<'a>,
    identities: &'a Identities,
    known: &'a Known,
    previous: Option<&'a Judged>,
    drafts: Vec<Draft>,
    places: BTreeMap<Pid, Place>,
}

impl Grouping<'_> {
    fn place(&mut self, process: &Process) {
        let parent = process.ppid.and_then(|parent| self.places.get(&parent).copied());
        let place = match (self.mark(process), parent) {
            (Some(mark), Some(parent)) => self.join(process, mark, parent),
            (Some(mark), None) => Some(self.found(process, mark.role)),
            (None, Some(parent)) => self.below(process, parent),
            (None, None) => None,
        };
        if let Some(place) = place {
            self.places.insert(process.key.pid, place);
        }
    }

    /// Returns what a process is taken for, with the shape looked at where the name is weak.
    fn mark(&self, process: &Process) -> Option<Mark> {
        let mark = self.identities.get(process.key)?.mark()?;
        let sticks = || {
            let previous = self.previous?.instance_of(process.key)?;
            self.previous?
                .instance(previous)
                .filter(|instance| instance.lead_process() == process.key)
        };
        (mark.confidence > Confidence::Likely || self.has_shape(process) || sticks().is_some())
            .then_some(mark)
    }

    /// Returns whether a process has a wire to a known client or to nobody.
    fn has_shape(&self, process: &Process) -> bool {
        let Some(wire) = self.own_wire(process) else {
            return false;
        };
        match wire::other_end(self.sample, wire.stdin) {
            OtherEnd::Closed | OtherEnd::NoHolder => true,
            OtherEnd::Holders(holders) => holders.iter().any(|holder| self.is_client(holder.process)),
            OtherEnd::Hidden { .. } | OtherEnd::Unread(_) => false,
        }
    }

    /// Returns the wire of one process, seen alone: a pair towards its own descendants is none.
    fn own_wire(&self, process: &Process) -> Option<wire::Wire> {
        let below = self.tree.descendants(process.key.pid);
        wire::find(self.sample, &[process], &|key| {
            key == process.key || below.contains(&key.pid)
        })
    }

    fn is_client(&self, key: ProcessKey) -> bool {
        self.identities
            .get(key)
            .is_some_and(|identity| identity.client.is_some())
    }

    /// Starts an instance.
    fn found(&mut self, process: &Process, role: Role) -> Place {
        let draft = self.drafts.len();
        let server = role == Role::Server;
        self.drafts.push(Draft {
            id: InstanceId(process.key),
            launchers: if server { Vec::new() } else { vec![process.key] },
            server: server.then_some(process.key),
            helpers: Vec::new(),
        });
        Place {
            draft,
            stage: if server { Stage::Server } else { Stage::Launcher },
        }
    }

    /// Places a marked process whose parent is a member.
    fn join(&mut self, process: &Process, mark: Mark, parent: Place) -> Option<Place> {
        let draft = self.drafts.get_mut(parent.draft)?;
        let before_server =
            matches!(parent.stage, Stage::Launcher | Stage::Pending) && draft.server.is_none();
        if before_server {
            let stage = if mark.role == Role::Server {
                draft.server = Some(process.key);
                Stage::Server
            } else {
                draft.launchers.push(process.key);
                Stage::Launcher
            };
            self.promote_pending(process, parent.draft);
            return Some(Place {
                draft: parent.draft,
                stage,
            });
        }
        // A second fork beside the one that talks.
        let above = self.tree.parent(process.key.pid);
        if parent.stage == Stage::Launcher && above.is_some_and(|above| above.args() == process.args()) {
            return Some(Place {
                stage: Stage::Helper,
                ..parent
            });
        }
        if parent.stage == Stage::Server
            && let Some(stage) = self.same_server(process, mark)
        {
            if stage == Stage::Server {
                let draft = self.drafts.get_mut(parent.draft)?;
                if let Some(outer) = draft.server.replace(process.key) {
                    draft.launchers.push(outer);
                    self.places.insert(
                        outer.pid,
                        Place {
                            draft: parent.draft,
                            stage: Stage::Launcher,
                        },
                    );
                }
            }
            return Some(Place {
                draft: parent.draft,
                stage,
            });
        }
        Some(self.found(process, mark.role))
    }

    /// Tells a shim and its program, or a server and its fork, from two servers: both hold the
    /// same end of the wire. A fork has its parent's argv and helps it; a program that a shim
    /// started is the server.
    fn same_server(&self, process: &Process, mark: Mark) -> Option<Stage> {
        let parent = self.tree.parent(process.key.pid)?;
        if parent.args() == process.args() {
            let serves = self.serves_for(parent, process);
            return Some(if serves { Stage::Server } else { Stage::Helper });
        }
        let wire = self.own_wire(parent);
        let same_end = match wire {
            Some(wire) => wire::shares_end(process, wire.stdin),
            // Nobody could look: the names decide.
            None => self.name(parent).is_some() && self.name(parent) == self.name(process),
        };
        (same_end && mark.role == Role::Server).then_some(Stage::Server)
    }

    /// Returns whether a fork talks in place of its parent: that one has let go of the wire, and the fork
    /// still has it. A wire between the two is none.
    fn serves_for(&self, parent: &Process, fork: &Process) -> bool {
        if parent.descriptors.value().is_none() || self.own_wire(parent).is_some() {
            return false;
        }
        let Some(stdin) = wire::stdin(self.sample, fork) else {
            return false;
        };
        let below = self.tree.descendants(parent.key.pid);
        match wire::other_end(self.sample, stdin) {
            OtherEnd::Closed | OtherEnd::NoHolder => true,
            OtherEnd::Holders(holders) => holders
                .iter()
                .any(|holder| holder.process != parent.key && !below.contains(&holder.process.pid)),
            OtherEnd::Hidden { .. } | OtherEnd::Unread(_) => false,
        }
    }

    fn name(&self, process: &Process) -> Option<&str> {
        self.identities.get(process.key)?.name()
    }

    /// Makes launchers of the processes between a launcher and what it started.
    fn promote_pending(&mut self, process: &Process, draft: usize) {
        let mut between = Vec::new();
        for ancestor in self.tree.ancestors(process.key.pid) {
            match self.places.get_mut(&ancestor.key.pid) {
                Some(place) if place.draft == draft && place.stage == Stage::Pending => {
                    place.stage = Stage::Launcher;
                    between.push(ancestor.key);
                }
                _ => break,
            }
        }
        if let Some(draft) = self.drafts.get_mut(draft) {
            let last = draft.launchers.pop_if(|last| *last == process.key);
            draft.launchers.extend(between.into_iter().rev());
            draft.launchers.extend(last);
        }
    }

    /// Places an unmarked process whose parent is a member.
    fn below(&self, process: &Process, parent: Place) -> Option<Place> {
        if self.is_client(process.key) {
            return None;
        }
        let helps = self
            .identities
            .get(process.key)
            .is_some_and(|one| one.verdict.role == Role::Helper);
        let stage = match parent.stage {
            Stage::Launcher | Stage::Pending if !helps => Stage::Pending,
            _ => Stage::Helper,
        };
        Some(Place {
            draft: parent.draft,
            stage,
        })
    }

    /// Chooses the server of an instance that only its launchers identify.
    fn choose_server(&mut self, index: usize) {
        let Some(draft) = self.drafts.get(index).filter(|draft| draft.server.is_none()) else {
            return;
        };
        let Some(last) = draft.launchers.last().copied() else {
            return;
        };
        let pending: Vec<&Process> = self
            .tree
            .descendants(last.pid)
            .into_iter()
            .filter(|pid| {
                self.places.get(pid)
                    == Some(&Place {
                        draft: index,
                        stage: Stage::Pending,
                    })
            })
            .filter_map(|pid| self.sample.process(pid))
            .collect();
        let wire = self
            .sample
            .get(last)
            .and_then(|last| wire::find(self.sample, &[last], &|_| false));
        let on_wire = |process: &&&Process| wire.is_some_and(|wire| wire::shares_end(process, wire.stdin));
        let runs_it = |process: &&&Process| !self.known.catalog.is_transparent(process.args());
        let before = self.previous.and_then(|previous| {
            let id = previous.instance_of(last)?;
            previous.instance(id)?.server
        });
        let server = before
            .and_then(|before| pending.iter().find(|process| process.key == before))
            .or_else(|| pending.iter().filter(on_wire).find(runs_it))
            .or_else(|| pending.iter().rfind(on_wire))
            .or_else(|| pending.iter().find(|process| process.is_zombie()))
            .or_else(|| pending.iter().filter(|_| wire.is_none()).find(runs_it))
            .map(|process| process.key);
        let Some(process) = server.and_then(|server| self.sample.get(server)) else {
            return;
        };
        if let Some(draft) = self.drafts.get_mut(index) {
            draft.server = Some(process.key);
        }
        self.places.insert(
            process.key.pid,
            Place {
                draft: index,
                stage: Stage::Server,
            },
        );
        self.promote_pending(process, index);
    }

    /// Ancestors that hold the same end of the wire are launchers too, whatever they are called;
    /// so are those that were launchers in the sample before.
    fn extend_upwards(&mut self, index: usize) {
        let Some(draft) = self.drafts.get(index) else {
            return;
        };
        let top = draft.top();
        let chain: Vec<&Process> = draft.chain().filter_map(|key| self.sample.get(key)).collect();
        let inside = self.tree.family(top.pid);
        let wire = wire::find(self.sample, &chain, &|key| inside.contains(&key.pid));
        let before = draft.server.and_then(|server| {
            let previous = self.previous?;
            previous.instance(previous.instance_of(server)?)
        });
        let mut outer = Vec::new();
        for ancestor in self.tree.ancestors(top.pid) {
            let shares = wire.is_some_and(|wire| wire::shares_end(ancestor, wire.stdin));
            let was = before.is_some_and(|before| before.launchers.contains(&ancestor.key));
            let free = self
                .places
                .get(&ancestor.key.pid)
                .is_none_or(|place| place.stage == Stage::Pending);
            if ancestor.key.pid == Pid::INIT || !free || !(shares || was) || self.is_client(ancestor.key) {
                break;
            }
            outer.push(ancestor.key);
        }
        for key in &outer {
            self.places.insert(
                key.pid,
                Place {
                    draft: index,
                    stage: Stage::Launcher,
                },
            );
        }
        if let Some(draft) = self.drafts.get_mut(index) {
            outer.reverse();
            outer.append(&mut draft.launchers);
            draft.launchers = outer;
        }
    }

    /// A shell on the same terminal as the server is that of the person who started it by hand: it
    /// stands between no client and the server. Once the terminal has hung up, no person sits there: the
    /// shell is one more process that was left.
    fn leave_terminal_shells(&mut self, index: usize) {
        let terminal = |key: ProcessKey| {
            let process = self.sample.get(key)?;
            match &wire::descriptor(process, 0)?.target {
                Target::Terminal { path, hung_up: false } => Some(path.clone()),
                _ => None,
            }
        };
        let Some(draft) = self.drafts.get(index) else {
            return;
        };
        let Some(own) = draft.server.and_then(terminal) else {
            return;
        };
        let shells = draft
            .launchers
            .iter()
            .take_while(|key| {
                let program = self.sample.get(**key).and_then(|process| process.args().first());
                let is_shell = program.is_some_and(|program| SHELLS.contains(&program.basename()));
                is_shell && terminal(**key).as_ref() == Some(&own)
            })
            .count();
        if let Some(draft) = self.drafts.get_mut(index) {
            for key in draft.launchers.drain(..shells) {
                self.places.remove(&key.pid);
            }
        }
    }

    /// Collects helpers: everything below a server, what was left below a launcher, and what was
    /// re-parented but stayed in the process group that a member leads or led.
    fn adopt_helpers(&mut self) {
        for (pid, place) in &self.places {
            if matches!(place.stage, Stage::Helper | Stage::Pending)
                && let (Some(draft), Some(process)) =
                    (self.drafts.get_mut(place.draft), self.sample.process(*pid))
            {
                draft.helpers.push(process.key);
            }
        }
        let mut by_group: BTreeMap<Pid, usize> = BTreeMap::new();
        for (index, draft) in self.drafts.iter().enumerate() {
            let was = self
                .previous
                .and_then(|previous| previous.instance_of(draft.top()));
            let before = was.and_then(|id| self.previous?.instance(id)).into_iter();
            let led_before = before.flat_map(|instance| instance.launchers.iter().copied());
            for key in draft.chain().chain(led_before) {
                by_group.insert(key.pid, index);
            }
        }
        for process in self.sample.processes.values() {
            let adopted = process.ppid.is_none_or(|parent| {
                !self.places.contains_key(&parent)
                    && process.sid.is_some()
                    && process.pgid != Some(process.key.pid)
            });
            if self.places.contains_key(&process.key.pid) || !adopted || self.is_client(process.key) {
                continue;
            }
            let Some(index) = process.pgid.and_then(|group| by_group.get(&group)).copied() else {
                continue;
            };
            if let Some(draft) = self.drafts.get_mut(index)
                && self
                    .sample
                    .process(draft.top().pid)
                    .is_some_and(|top| top.key.start <= process.key.start)
            {
                draft.helpers.push(process.key);
            }
        }
    }

    /// Gives every draft the id that it had in the sample before.
    fn finish(mut self) -> Vec<Draft> {
        let mut taken = Vec::new();
        for draft in &mut self.drafts {
            draft.id = InstanceId(draft.server.unwrap_or(draft.top()));
            let before = self.previous.and_then(|previous| {
                let of = |key| previous.instance_of(key).filter(|id| !taken.contains(id));
                draft.chain().find_map(of)
            });
            if let Some(before) = before {
                draft.id = before;
            }
            taken.push(draft.id);
            draft.helpers.sort_unstable();
            draft.helpers.dedup();
        }
        self.drafts
    }
}
