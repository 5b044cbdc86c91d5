//! What a signal would bring with it, in sentences: who loses a server, who starts it again, what the
//! target does with it, who and what lives on.

use std::collections::BTreeSet;

use super::launcher::{Forwarding, forwarding};
use super::{call, name};
use crate::analysis::names::some;
use crate::analysis::tree::Tree;
use crate::model::act::Signal;
use crate::model::finding::{Finding, LeadKind, Lineage};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::instance::{Instance, Role};
use crate::model::plan::{Consequence, Plan, Topic};
use crate::model::process::Process;
use crate::model::world::World;

/// Bit of SIGTERM in a signal mask.
const TERM: u64 = 1 << 14;

/// What is said where no live client loses a server.
pub const LOSES_NOBODY: &str = "Loses its server: nobody.";

/// Returns what a signal to the ticked processes of a plan would bring with it, by topic. What becomes of
/// the others that are listed says [`fate`].
pub fn consequences(world: &World, plan: &Plan, signal: Signal) -> Vec<Consequence> {
    let case = Case::new(world, plan, signal);
    let mut out = vec![case.loses(), case.restart()];
    out.extend(case.handling());
    out.extend(case.survives());
    out.extend(case.holds());
    out.extend(case.remote());
    out.extend(case.group());
    out.sort_by_key(|one| one.topic);
    out
}

/// Returns what becomes of a process that is listed but not to be signalled.
pub fn fate(world: &World, plan: &Plan, key: ProcessKey, signal: Signal) -> String {
    Case::new(world, plan, signal).fate(key)
}

/// Returns the servers that a live client would take along; `None` where the process is no client.
pub fn takes_along(world: &World, key: ProcessKey) -> Option<Vec<String>> {
    let process = world.sample.get(key)?;
    let served: Vec<String> = clients_of(world, key).map(called).collect();
    let is_client = world.judged.clients.contains_key(&key) || !served.is_empty();
    (is_client && !process.is_zombie()).then_some(served)
}

/// The instances whose wire, or ancestry, leads to this client.
fn clients_of(world: &World, key: ProcessKey) -> impl Iterator<Item = &Instance> {
    let instances = world.judged.instances.iter();
    instances.filter(move |one| one.client.as_ref().is_some_and(|client| client.process == key))
}

fn called(instance: &Instance) -> String {
    format!("{} {}", instance.name.lossy(), instance.lead_process().pid)
}

struct Case<'a> {
    world: &'a World,
    listed: BTreeSet<ProcessKey>,
    ticked: Vec<ProcessKey>,
    signal: Signal,
}

impl<'a> Case<'a> {
    fn new(world: &'a World, plan: &Plan, signal: Signal) -> Self {
        let ticked = plan.items.iter().filter(|item| item.ticked);
        Self {
            world,
            listed: plan.items.iter().map(|item| item.target.key).collect(),
            ticked: ticked.map(|item| item.target.key).collect(),
            signal,
        }
    }

    fn hits(&self, key: ProcessKey) -> bool {
        self.ticked.contains(&key)
    }

    fn targets(&self) -> impl Iterator<Item = &'a Process> + '_ {
        self.ticked.iter().filter_map(|key| self.world.sample.get(*key))
    }

    /// The instances that a target is a member of.
    fn instances(&self) -> impl Iterator<Item = &'a Instance> + '_ {
        let instances = self.world.judged.instances.iter();
        instances.filter(|one| one.members().any(|(key, _)| self.hits(key)))
    }

    /// Whether the server of an instance ends: it is a target, or its launcher hands the signal on.
    fn ends(&self, instance: &Instance) -> bool {
        let lead = instance.lead_process();
        let forwards = |key: &ProcessKey| {
            self.hits(*key)
                && self.signal == Signal::Term
                && self
                    .world
                    .sample
                    .get(*key)
                    .is_some_and(|process| forwarding(process) == Forwarding::Yes)
        };
        self.hits(lead) || instance.launchers.iter().any(forwards)
    }

    fn say(topic: Topic, text: String) -> Consequence {
        Consequence { topic, text }
    }

    fn loses(&self) -> Consequence {
        let mut lost: Vec<String> = Vec::new();
        for instance in self.instances() {
            if let Some(network) = instance.network.as_ref().filter(|_| self.ends(instance)) {
                let peers = network.peers.iter();
                lost.extend(peers.map(|peer| format!("{peer} ({})", called(instance))));
            }
            let live = matches!(instance.finding, Finding::Attached | Finding::Wedged);
            let Some(client) = instance.client.as_ref().filter(|client| client.on_wire && live) else {
                continue;
            };
            if self.hits(client.process) {
                continue;
            }
            let client = call(self.world, client.process);
            if self.ends(instance) {
                lost.push(format!("{client} ({})", called(instance)));
            } else if instance.launchers.iter().any(|key| self.hits(*key)) {
                lost.push(format!("{client} sees the launcher of {} end", called(instance)));
            }
        }
        let unknown = self
            .instances()
            .filter(|one| one.finding == Finding::Unknown && self.ends(one));
        lost.extend(unknown.map(|one| format!("not known, as {} is unknown", called(one))));
        if lost.is_empty() {
            return Self::say(Topic::Loses, LOSES_NOBODY.to_owned());
        }
        Self::say(Topic::Loses, format!("Loses its server: {}.", some(&lost)))
    }

    fn restart(&self) -> Consequence {
        let mut by: BTreeSet<String> = BTreeSet::new();
        for instance in self.instances() {
            if let Some(managed) = &instance.managed {
                by.insert(format!(
                    "{} unit {}, unless it says otherwise",
                    managed.by, managed.unit
                ));
            } else {
                by.extend(self.starters(instance));
            }
        }
        let by: Vec<String> = by.into_iter().collect();
        // A loop in a shell, or a timer, starts one again and is not seen to before it does.
        let text = if by.is_empty() {
            "nobody known".to_owned()
        } else {
            some(&by)
        };
        Self::say(Topic::Restart, format!("Restart by: {text}."))
    }

    /// Who may start an instance again: a launcher that lives on and of which nobody knows that it
    /// ends with its server, a supervisor for example; and who started the instance and lives.
    fn starters(&self, instance: &Instance) -> Vec<String> {
        let launchers = instance.launchers.iter();
        let launchers = launchers
            .filter(|key| !self.hits(**key))
            .filter_map(|key| self.world.sample.get(*key))
            .filter(|process| !process.is_zombie() && forwarding(process) == Forwarding::Unknown)
            .map(|process| format!("{} may", call(self.world, process.key)));
        launchers.chain(self.starter(instance)).collect()
    }

    /// The parent of an instance: a client, or another that is no adopter. Where nobody saw whether it
    /// started the instance, that is said.
    fn starter(&self, instance: &Instance) -> Option<String> {
        let top = self.world.sample.get(instance.top)?;
        let parent = self.world.sample.process(top.ppid?)?;
        if parent.key.pid == Pid::INIT || parent.is_zombie() || self.hits(parent.key) {
            return None;
        }
        let parent = call(self.world, parent.key);
        match instance.lineage {
            Lineage::Child => Some(format!("{parent} may")),
            Lineage::Unknown => Some(format!("{parent} may, if it started it")),
            Lineage::Reparented => None,
        }
    }

    fn handling(&self) -> Vec<Consequence> {
        let mut same: Vec<(String, Vec<String>)> = Vec::new();
        for process in self.targets() {
            let how = self.handles(process);
            let pid = process.key.pid.to_string();
            match same.iter_mut().find(|(known, _)| *known == how) {
                Some((_, pids)) => pids.push(pid),
                None => same.push((how, vec![pid])),
            }
        }
        let word = self.signal.word();
        let one = same.len() == 1;
        same.into_iter()
            .map(|(how, pids)| {
                let whom = if one {
                    String::new()
                } else {
                    format!(" {}", some(&pids))
                };
                Self::say(Topic::Handling, format!("{word}{whom}: {how}."))
            })
            .collect()
    }

    fn handles(&self, process: &Process) -> String {
        if self.signal == Signal::Kill {
            return "ends it without a handler: forced containment, clean-up may be incomplete".to_owned();
        }
        let mut how = match process.signals.value() {
            None => "what it does with it could not be read".to_owned(),
            Some(masks) if masks.ignored & TERM != 0 => "IGNORED by it".to_owned(),
            Some(masks) if masks.blocked & TERM != 0 && masks.pending & TERM != 0 => {
                "BLOCKED by it, and one is pending already".to_owned()
            }
            Some(masks) if masks.blocked & TERM != 0 => "BLOCKED by it: it stays pending".to_owned(),
            Some(masks) if masks.pending & TERM != 0 => "one is pending already".to_owned(),
            Some(masks) if masks.caught & TERM != 0 => "handled by it".to_owned(),
            Some(_) if is_first_of_container(process) => {
                "NO EFFECT: it is pid 1 of a container and has no handler".to_owned()
            }
            Some(_) => "ends it, it has no handler".to_owned(),
        };
        if process.is_stopped() {
            how.push_str("; it is STOPPED: TERM stays pending until it goes on");
        } else if process.state == 'D' {
            how.push_str("; it waits in the kernel (D): no signal reaches it before that ends");
        }
        how
    }

    fn fate(&self, key: ProcessKey) -> String {
        let Some(process) = self.world.sample.get(key) else {
            return "gone".to_owned();
        };
        let instance = self.world.judged.instances.iter();
        let Some(instance) = instance
            .into_iter()
            .find(|one| one.members().any(|(member, _)| member == key))
        else {
            return "not signalled".to_owned();
        };
        let role = instance.members().find(|(member, _)| *member == key);
        let ends = self.ends(instance);
        match role.map(|(_, role)| role) {
            Some(Role::Launcher) if ends && forwarding(process) == Forwarding::Unknown => {
                "may end with its server, or start it again".to_owned()
            }
            Some(Role::Launcher) if ends => "usually ends with its server".to_owned(),
            // npm, for one, ends the shell that it started, and ends with it.
            Some(Role::Launcher) if instance.launchers.iter().any(|key| self.hits(*key)) => {
                "may end with the other launcher".to_owned()
            }
            Some(Role::Launcher) => "stays".to_owned(),
            Some(Role::Server) if ends => "gets it from its launcher".to_owned(),
            Some(Role::Helper) if ends => match session_of(instance, process) {
                Some(session) => format!("SURVIVES, {session}"),
                None => "SURVIVES, unless it ends by itself".to_owned(),
            },
            _ => "SURVIVES".to_owned(),
        }
    }

    fn survives(&self) -> Vec<Consequence> {
        let mut out = Vec::new();
        for instance in self.instances() {
            out.extend(self.deaf_launcher(instance));
            let others: Vec<String> = instance
                .members()
                .filter(|(key, role)| *role == Role::Helper && !self.listed.contains(key))
                .filter(|(key, _)| self.world.sample.get(*key).is_some())
                .map(|(key, _)| call(self.world, key))
                .collect();
            if self.ends(instance) && !others.is_empty() {
                let text = format!("Lives on: {}: not signalled.", some(&others));
                out.push(Self::say(Topic::Survives, text));
            }
        }
        out.extend(self.children());
        out
    }

    /// A launcher is a target and its server is not: whether the server hears of it.
    fn deaf_launcher(&self, instance: &Instance) -> Option<Consequence> {
        if self.hits(instance.lead_process()) {
            return None;
        }
        let inner = instance.launchers.iter().rev().find(|key| self.hits(**key))?;
        let process = self.world.sample.get(*inner)?;
        let launcher = format!("{} {}", name(process), process.key.pid);
        let server = called(instance);
        let text = match (self.signal, forwarding(process)) {
            (Signal::Kill, _) => format!("{server} SURVIVES: KILL to {launcher} reaches {launcher} alone."),
            (_, Forwarding::No) => {
                format!("{server} SURVIVES: {launcher} does not forward TERM. Send it to the server instead.")
            }
            (_, Forwarding::Yes) => format!("{launcher} forwards TERM to {server}."),
            (_, Forwarding::Unknown) => {
                format!("{server} may survive: whether {launcher} forwards TERM is not known.")
            }
        };
        Some(Self::say(Topic::Survives, text))
    }

    /// Children of targets that are in no list: nobody signals them.
    fn children(&self) -> Option<Consequence> {
        let tree = Tree::new(&self.world.sample);
        let listed = |key: ProcessKey| {
            self.hits(key)
                || self
                    .instances()
                    .any(|one| one.members().any(|(member, _)| member == key))
        };
        let children: Vec<String> = self
            .targets()
            .flat_map(|process| tree.children(process.key.pid).to_vec())
            .filter_map(|pid| self.world.sample.process(pid))
            .filter(|child| !listed(child.key) && !child.is_zombie())
            .map(|child| call(self.world, child.key))
            .collect();
        (!children.is_empty()).then(|| {
            Self::say(
                Topic::Survives,
                format!("Children that live on, with another parent: {}.", some(&children)),
            )
        })
    }

    fn holds(&self) -> Vec<Consequence> {
        let open: BTreeSet<String> = self
            .instances()
            .flat_map(|instance| instance.reach.iter().flatten())
            .filter(|lead| lead.kind == LeadKind::File)
            .filter(|lead| self.targets().any(|process| process.key.pid == lead.pid))
            .map(|lead| lead.target.lossy().into_owned())
            .chain(
                self.targets()
                    .filter(|one| !one.locks.is_empty())
                    .flat_map(|one| {
                        one.locks
                            .iter()
                            .filter_map(|lock| Some(lock.path.as_ref()?.lossy().into_owned()))
                    }),
            )
            .collect();
        let open: Vec<String> = open.into_iter().collect();
        if open.is_empty() {
            return Vec::new();
        }
        let after = if self.signal == Signal::Kill {
            "KILL may leave it in need of recovery"
        } else {
            "closed as it ends"
        };
        vec![Self::say(
            Topic::Holds,
            format!("Open database or lock: {} ({after}).", some(&open)),
        )]
    }

    /// Sessions of members that are no target: they stay usable.
    fn remote(&self) -> Vec<Consequence> {
        let sessions: Vec<String> = self
            .instances()
            .flat_map(|instance| instance.reach.iter().flatten())
            .filter(|lead| lead.kind == LeadKind::Ssh)
            .filter(|lead| !self.targets().any(|process| process.key.pid == lead.pid))
            .filter(|lead| self.world.sample.process(lead.pid).is_some())
            .map(|lead| format!("{} ({})", lead.target.lossy(), lead.pid))
            .collect();
        if sessions.is_empty() {
            return Vec::new();
        }
        vec![Self::say(
            Topic::Remote,
            format!("Sessions elsewhere live on: ssh {}.", some(&sessions)),
        )]
    }

    /// Other sessions of terminals and groups that are only partly hit.
    fn group(&self) -> Option<Consequence> {
        let groups: BTreeSet<_> = self.targets().filter_map(|process| process.pgid).collect();
        let sessions: BTreeSet<_> = self.targets().filter_map(|process| process.sid).collect();
        let others = self.world.sample.processes.values().filter(|process| {
            !self.listed.contains(&process.key)
                && process.sid.is_some_and(|sid| sessions.contains(&sid))
                && process.pgid.is_none_or(|group| !groups.contains(&group))
        });
        let count = others.count();
        (count > 0).then(|| {
            let verb = if count == 1 { "is" } else { "are" };
            Self::say(
                Topic::Group,
                format!("{count} of the same session {verb} in other groups and not signalled."),
            )
        })
    }
}

fn is_first_of_container(process: &Process) -> bool {
    let inner = process.namespace_pids.value();
    inner.is_some_and(|pids| pids.len() > 1 && pids.last() == Some(&1))
}

/// The ssh session that a helper holds.
fn session_of(instance: &Instance, process: &Process) -> Option<&'static str> {
    let lead = instance
        .reach
        .iter()
        .flatten()
        .find(|lead| lead.kind == LeadKind::Ssh && lead.pid == process.key.pid)?;
    let control = lead.state.as_deref() == Some("control path") || lead.advice.is_some();
    Some(if control {
        "control path open"
    } else {
        "session open"
    })
}
