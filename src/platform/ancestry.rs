//! The parents of a process, up to the first.

use crate::model::identity::Pid;

/// Returns the parents of a process, nearest first. A process can be seen twice only through a reused pid.
pub(super) fn ancestors(pid: Pid, mut parent_of: impl FnMut(Pid) -> Option<Pid>) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut next = parent_of(pid);
    while let Some(parent) = next.filter(|parent| *parent != pid && !found.contains(parent)) {
        found.push(parent);
        next = parent_of(parent);
    }
    found
}
