//! Trees of processes: the whole machine, or members of instances with every ancestor.

use std::collections::{BTreeSet, HashSet};

use super::index::Shown;
use super::row::{Figures, Node, RowId};
use super::tree::{Plan, Tree, member};
use crate::model::identity::Pid;
use crate::model::instance::Role;
use crate::model::process::Process;
use crate::model::reading::Reading;

/// Returns whether a process runs as a user, by name or number.
pub fn user_is(process: &Process, user: &str) -> bool {
    process.user.value().is_some_and(|name| name.lossy() == user)
        || process.uid.value().is_some_and(|uid| uid.to_string() == user)
}

/// Returns the name of a process's user as rows show it.
pub fn user(process: &Process) -> Option<String> {
    match (&process.user, &process.uid) {
        (Reading::Value(name), _) => Some(name.lossy().into_owned()),
        (_, Reading::Value(uid)) => Some(uid.to_string()),
        _ => None,
    }
}

fn chosen(plan: &Plan, process: &Process) -> bool {
    plan.user.as_deref().is_none_or(|user| user_is(process, user))
}

/// Every process, by parent.
pub(super) fn all(shown: Shown<'_>, plan: &Plan) -> Tree {
    let mut include: BTreeSet<Pid> = BTreeSet::new();
    for process in shown.world.sample.processes.values() {
        if plan.user.is_none() {
            include.insert(process.key.pid);
        } else if chosen(plan, process) {
            with_parents(shown, process, &mut include);
        }
    }
    by_parent(shown, &include)
}

/// Every process, without a tree.
pub(super) fn flat(shown: Shown<'_>, plan: &Plan) -> Tree {
    let mut tree = Tree::default();
    for process in shown.world.sample.processes.values() {
        if chosen(plan, process) {
            tree.add(None, row(shown, process));
        }
    }
    tree
}

/// Members of instances, their clients, and every ancestor.
pub(super) fn with_ancestors(shown: Shown<'_>, plan: &Plan) -> Tree {
    let mut include = BTreeSet::new();
    for instance in &shown.world.judged.instances {
        let lead = shown.process(instance.lead_process());
        if !lead.is_some_and(|process| chosen(plan, process)) {
            continue;
        }
        let clients = instance.client.iter().map(|client| client.process);
        for key in instance.members().map(|(key, _)| key).chain(clients) {
            if let Some(process) = shown.process(key) {
                with_parents(shown, process, &mut include);
            }
        }
    }
    by_parent(shown, &include)
}

fn with_parents(shown: Shown<'_>, process: &Process, include: &mut BTreeSet<Pid>) {
    let mut next = Some(process.key.pid);
    while let Some(pid) = next {
        if shown.by_pid(pid).is_none() || !include.insert(pid) {
            return;
        }
        next = shown.by_pid(pid).and_then(|process| process.ppid);
    }
}

fn by_parent(shown: Shown<'_>, include: &BTreeSet<Pid>) -> Tree {
    let mut tree = Tree::default();
    let mut done: HashSet<Pid> = HashSet::with_capacity(include.len());
    let is_root = |pid: &Pid| {
        let parent = shown.by_pid(*pid).and_then(|process| process.ppid);
        parent.is_none_or(|parent| !include.contains(&parent))
    };
    let roots: Vec<Pid> = include.iter().copied().filter(is_root).collect();
    // A cycle of parents (a pid reused within the sample) has no root: its lowest pid becomes one.
    for root in roots.into_iter().chain(include.iter().copied()) {
        let mut waiting: Vec<(Option<usize>, Pid)> = vec![(None, root)];
        while let Some((parent, pid)) = waiting.pop() {
            let Some(process) = shown.by_pid(pid) else {
                continue;
            };
            if !done.insert(pid) {
                continue;
            }
            let at = tree.add(parent, row(shown, process));
            let children = shown.index.children(pid).iter().rev();
            waiting.extend(
                children
                    .filter(|child| include.contains(child))
                    .map(|child| (Some(at), *child)),
            );
        }
    }
    tree
}

/// Returns the row of a process: that of its instance where it stands for one.
fn row(shown: Shown<'_>, process: &Process) -> Node {
    let key = process.key;
    if let Some(id) = shown.index.lead_of(key)
        && let Some(instance) = shown.instance(id)
    {
        let mut figures = Figures::of_instance(shown.world, instance);
        // Its members have rows of their own here.
        figures.cpu_permille = process.cpu_permille;
        figures.rss_bytes = Some(process.rss_bytes);
        let mut node = Node::new(RowId::Instance(id), figures);
        node.instance = Some(id);
        node.open = true;
        return node;
    }
    let part = shown
        .world
        .judged
        .roles
        .get(&key)
        .into_iter()
        .flatten()
        .find(|part| part.role != Role::Client);
    if let Some(part) = part
        && let Some(instance) = shown.instance(part.instance)
    {
        return member(shown, instance, key, part.role);
    }
    let mut node = Node::new(RowId::Process(key), Figures::of_process(shown.world, process));
    node.open = !process.kernel_thread;
    node
}
