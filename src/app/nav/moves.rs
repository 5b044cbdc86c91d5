//! Moving, folding, and jumping between rows.

use super::state::Nav;
use crate::table::{Node, Query, RowId, Shown};

/// Where a move leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Step {
    /// So many rows down; up where negative.
    By(isize),
    /// The first row.
    First,
    /// The last row.
    Last,
}

impl Nav {
    /// Moves the selection among the rows that are shown.
    pub(in crate::app) fn step(&mut self, step: Step) {
        self.parked = None;
        let last = self.rows.len().saturating_sub(1);
        let at = match step {
            Step::By(rows) => self.at.saturating_add_signed(rows).min(last),
            Step::First => 0,
            Step::Last => last,
        };
        self.select_at(at);
    }

    /// Folds the selected row; where it has nothing to fold, moves to the row it hangs from.
    /// Returns whether the rows have to be laid out anew.
    pub(in crate::app) fn fold(&mut self) -> bool {
        self.parked = None;
        let Some(node) = self.node() else { return false };
        if !node.children.is_empty() && self.is_open(node) {
            let id = node.id.clone();
            self.folds.insert(id, false);
            return true;
        }
        if let Some(above) = node
            .parent
            .and_then(|parent| self.rows.iter().position(|row| *row == parent))
        {
            self.select_at(above);
        }
        false
    }

    /// Unfolds the selected row; where it is unfolded, moves to its first child. Returns whether
    /// the rows have to be laid out anew.
    pub(in crate::app) fn unfold(&mut self) -> bool {
        self.parked = None;
        let Some(node) = self.node() else { return false };
        let first = node.children.first().copied();
        let Some(first) = first else { return false };
        if self.is_open(node) {
            if let Some(at) = self.rows.iter().position(|row| *row == first) {
                self.select_at(at);
            }
            return false;
        }
        let id = node.id.clone();
        self.folds.insert(id, true);
        true
    }

    /// Unfolds everything; where everything is unfolded, folds everything.
    pub(in crate::app) fn fold_all(&mut self) {
        let folded = |node: &Node| !node.children.is_empty() && !self.is_open(node);
        let any_folded = (0..self.tree.len())
            .filter_map(|at| self.tree.node(at))
            .any(folded);
        let ids: Vec<RowId> = (0..self.tree.len())
            .filter_map(|at| self.tree.node(at))
            .filter(|node| !node.children.is_empty())
            .map(|node| node.id.clone())
            .collect();
        self.folds.extend(ids.into_iter().map(|id| (id, any_folded)));
    }

    /// Moves to the next row, in the order of the tree, for which `wanted` holds and which is not
    /// filtered out; unfolds what hides it. Behind the last row the first one follows.
    pub(in crate::app) fn jump(
        &mut self,
        shown: Shown<'_>,
        query: &Query,
        forward: bool,
        wanted: impl Fn(&Node) -> bool,
    ) -> Jump {
        let kept = if query.is_empty() {
            vec![true; self.tree.len()]
        } else {
            self.tree.matching(|node| query.matches(shown, node))
        };
        let order = self.tree.walk(|at| kept[at], |_| true);
        let here = self
            .rows
            .get(self.at)
            .and_then(|row| order.iter().position(|at| at == row));
        let len = order.len();
        let start = here.unwrap_or(if forward { len.saturating_sub(1) } else { 0 });
        for distance in 1..=len {
            let (at, wrapped) = if forward {
                ((start + distance) % len, start + distance >= len)
            } else {
                ((start + len - distance) % len, distance > start)
            };
            let place = order[at];
            let Some(node) = self.tree.node(place) else {
                continue;
            };
            if !wanted(node) {
                continue;
            }
            if distance == len {
                return Jump::Only;
            }
            let id = node.id.clone();
            self.reveal(place);
            self.selected = Some(id);
            self.parked = None;
            return if wrapped { Jump::Wrapped } else { Jump::Moved };
        }
        Jump::Nothing
    }

    /// Puts the selection back on a row, if it is shown.
    pub(in crate::app) fn return_to(&mut self, id: &RowId) {
        self.select_shown(id);
    }

    /// Stays on the selected row also when the one comes back that a filter hid.
    pub(in crate::app) fn stay(&mut self) {
        self.parked = None;
    }

    /// Unfolds what the selected row hangs from: a filter shows what is folded, and the row stays when the
    /// filter is gone.
    pub(in crate::app) fn keep_in_sight(&mut self) {
        self.stay();
        if let Some(place) = self.selected.as_ref().and_then(|id| self.tree.find(id)) {
            self.reveal(place);
        }
    }

    /// Unfolds what a row hangs from.
    fn reveal(&mut self, place: usize) {
        let above: Vec<RowId> = self
            .tree
            .ancestors(place)
            .filter_map(|at| self.tree.node(at))
            .map(|node| node.id.clone())
            .collect();
        self.folds.extend(above.into_iter().map(|id| (id, true)));
    }
}

/// How a jump ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Jump {
    /// On another row.
    Moved,
    /// On another row, past the end of the tree.
    Wrapped,
    /// The row it is on is the only one.
    Only,
    /// There is no such row.
    Nothing,
}
