//! What the selected row stands for.

use crate::model::identity::ProcessKey;
use crate::model::instance::{Instance, Role};
use crate::model::process::Process;
use crate::table::{Node, RowId, Shown, cells};

/// The selected row with what it stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    /// The world.
    pub(super) shown: Shown<'a>,
    /// The row.
    pub(super) node: &'a Node,
    /// Its process.
    pub(super) process: Option<&'a Process>,
    /// The instance that it is, or is a member of.
    pub(super) instance: Option<&'a Instance>,
}

impl<'a> Subject<'a> {
    /// Looks up what a row stands for.
    pub(super) fn new(shown: Shown<'a>, node: &'a Node) -> Self {
        let process = cells::process_of(shown, node).and_then(|key| shown.process(key));
        let instance = node.instance.and_then(|id| shown.instance(id));
        Self {
            shown,
            node,
            process,
            instance,
        }
    }

    /// Returns whether the row stands for a whole instance.
    pub(super) fn is_instance(&self) -> bool {
        matches!(self.node.id, RowId::Instance(_)) && self.instance.is_some()
    }

    /// Returns the processes that the panes look into: of an instance the server first, then
    /// launchers and helpers; else the one process.
    pub(super) fn processes(&self) -> Vec<(&'a Process, Option<Role>)> {
        let Some(instance) = self.instance.filter(|_| self.is_instance()) else {
            return self
                .process
                .map(|process| (process, cells::role_of(self.shown, process.key)))
                .into_iter()
                .collect();
        };
        let lead = instance.lead_process();
        let rest = instance.members().filter(|(key, _)| *key != lead);
        let first = instance.members().find(|(key, _)| *key == lead);
        first
            .into_iter()
            .chain(rest)
            .filter_map(|(key, role)| Some((self.shown.process(key)?, Some(role))))
            .collect()
    }

    /// Returns whether a process is a member of the same instance.
    pub(super) fn has_member(&self, key: ProcessKey) -> bool {
        self.instance
            .is_some_and(|instance| instance.members().any(|(member, _)| member == key))
    }
}
