//! The state of the tree.

use std::collections::HashMap;

use super::ghost::Ghost;
use crate::model::identity::{InstanceId, ProcessKey};
use crate::table::{Node, Plan, RowId, Tree};

/// State of the tree.
#[derive(Debug, Default)]
pub struct Nav {
    /// How the tree is built.
    pub(in crate::app) plan: Plan,
    pub(super) tree: Tree,
    /// The rows that are shown, from the top down, as places in the tree.
    pub(super) rows: Vec<usize>,
    /// What was folded and unfolded by hand.
    pub(super) folds: HashMap<RowId, bool>,
    pub(super) selected: Option<RowId>,
    /// Place of the selected row among `rows`.
    pub(super) at: usize,
    /// The row that comes back when the filter, or another width, that hid it goes.
    pub(super) parked: Option<RowId>,
    pub(super) memory: Memory,
    /// The row of what is gone, while it is selected.
    pub(super) ghost: Option<Ghost>,
    /// Whether the selected row is kept in the middle.
    pub(in crate::app) follow: bool,
}

/// What is remembered of the selected row, for when it is gone.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// How it was called.
    pub(super) label: String,
    /// Its instance.
    pub(super) instance: Option<InstanceId>,
    /// The members of that instance, or the process.
    pub(super) members: Vec<ProcessKey>,
}

impl Nav {
    /// Returns the tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the rows that are shown, as places in the tree.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the selected row.
    pub fn selected(&self) -> Option<&RowId> {
        self.selected.as_ref()
    }

    /// Returns the node of the selected row.
    pub fn node(&self) -> Option<&Node> {
        self.tree.node(*self.rows.get(self.at)?)
    }

    /// Returns the place of the selected row among those that are shown.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns how the tree is built.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns whether the selected row is kept in the middle.
    pub fn follows(&self) -> bool {
        self.follow
    }

    /// Returns whether the children of a row are shown, as far as nobody filters.
    pub fn is_open(&self, node: &Node) -> bool {
        self.folds.get(&node.id).copied().unwrap_or(node.open)
    }
}
