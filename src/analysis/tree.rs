//! Parents and children of one sample.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::identity::Pid;
use crate::model::process::Process;
use crate::model::sample::Sample;

/// How far up an ancestry is followed: longer ones do not occur, loops must not hang.
const MAX_DEPTH: usize = 64;

/// The family of every process, by current parent.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    sample: &'a Sample,
    children: BTreeMap<Pid, Vec<Pid>>,
}

impl<'a> Tree<'a> {
    /// Builds the index; children are ordered by start, then pid.
    pub(crate) fn new(sample: &'a Sample) -> Self {
        let mut children: BTreeMap<Pid, Vec<Pid>> = BTreeMap::new();
        for process in sample.processes.values() {
            if let Some(parent) = process.ppid {
                children.entry(parent).or_default().push(process.key.pid);
            }
        }
        for list in children.values_mut() {
            list.sort_by_key(|pid| {
                sample
                    .process(*pid)
                    .map(|process| (process.key.start, process.key.pid))
            });
        }
        Self { sample, children }
    }

    /// Returns the children of a process, oldest first.
    pub(crate) fn children(&self, pid: Pid) -> &[Pid] {
        self.children.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Returns the parent.
    pub(crate) fn parent(&self, pid: Pid) -> Option<&'a Process> {
        self.sample.process(self.sample.process(pid)?.ppid?)
    }

    /// Returns the ancestors, nearest first.
    pub(crate) fn ancestors(&self, pid: Pid) -> impl Iterator<Item = &'a Process> + '_ {
        let mut current = pid;
        std::iter::from_fn(move || {
            let parent = self.parent(current)?;
            current = parent.key.pid;
            Some(parent)
        })
        .take(MAX_DEPTH)
    }

    /// Returns the descendants, parents before their children, without the process itself.
    pub(crate) fn descendants(&self, pid: Pid) -> Vec<Pid> {
        let mut found = Vec::new();
        let mut queue: Vec<Pid> = self.children(pid).iter().rev().copied().collect();
        while let Some(next) = queue.pop() {
            if found.len() > self.sample.processes.len() {
                break;
            }
            found.push(next);
            queue.extend(self.children(next).iter().rev());
        }
        found
    }

    /// Returns a process and its descendants.
    pub(crate) fn family(&self, pid: Pid) -> BTreeSet<Pid> {
        self.descendants(pid).into_iter().chain([pid]).collect()
    }

    /// Returns every process, parents before their children; siblings by start.
    pub(crate) fn in_order(&self) -> Vec<Pid> {
        let mut roots: Vec<&Process> = self
            .sample
            .processes
            .values()
            .map(AsRef::as_ref)
            .filter(|process| {
                process
                    .ppid
                    .is_none_or(|parent| self.sample.process(parent).is_none())
            })
            .collect();
        roots.sort_by_key(|process| (process.key.start, process.key.pid));
        let mut order = Vec::with_capacity(self.sample.processes.len());
        for root in roots {
            order.push(root.key.pid);
            order.extend(self.descendants(root.key.pid));
        }
        order
    }
}
