//! Keeps the selection on the same thing when the rows change, and says so when it cannot.

use super::state::{Memory, Nav};
use crate::model::instance::{Instance, OwnerKey};
use crate::table::{Node, Query, RowId, Shown, cells};

/// Why the rows have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Change {
    /// A new sample.
    World,
    /// A key: another order, width, filter or fold.
    View,
}

impl Nav {
    /// Lays out the rows anew and puts the selection on the row it was on. Answers with a sentence
    /// where that row is gone.
    pub(in crate::app) fn settle(
        &mut self,
        shown: Shown<'_>,
        query: &Query,
        change: Change,
    ) -> Option<String> {
        self.layout(shown, query);
        let said = self.reselect(shown, query, change);
        self.remember(shown);
        said
    }

    fn layout(&mut self, shown: Shown<'_>, query: &Query) {
        let ghost = self.ghost_places();
        if query.is_empty() {
            self.rows = self.tree.walk(
                |_| true,
                |at| ghost.contains(&at) || self.tree.node(at).is_some_and(|node| self.is_open(node)),
            );
            return;
        }
        let mut kept = self.tree.matching(|node| query.matches(shown, node));
        for at in &ghost {
            kept[*at] = true;
        }
        let open = |at: usize| {
            let Some(node) = self.tree.node(at) else {
                return false;
            };
            let found =
                matches!(node.id, RowId::Instance(_)) && node.role.is_none() && query.matches(shown, node);
            if found && !ghost.contains(&at) {
                self.is_open(node)
            } else {
                true
            }
        };
        self.rows = self.tree.walk(|at| kept[at], open);
    }

    fn reselect(&mut self, shown: Shown<'_>, query: &Query, change: Change) -> Option<String> {
        if let Some(parked) = self.parked.clone()
            && self.select_shown(&parked)
        {
            self.parked = None;
            return None;
        }
        let Some(wanted) = self.selected.clone() else {
            // Before the first row, or after a filter that matched none.
            let first = self.first_match(shown, query);
            self.select_at(first.unwrap_or_else(|| self.first_choice()));
            return None;
        };
        if self.select_shown(&wanted) {
            return None;
        }
        if let Some(place) = self.tree.find(&wanted) {
            self.select_above(shown, query, place, wanted);
            return None;
        }
        let stands_in = self.stand_in(shown, &wanted, change);
        if change == Change::View {
            self.parked.get_or_insert(wanted);
            if !stands_in {
                self.select_at(self.at);
            }
            return None;
        }
        Some(self.say_gone(shown, stands_in))
    }

    /// The row exists, but is not shown. Folded away: the nearest row above it that is. Filtered
    /// out: the first match, until the row comes back.
    fn select_above(&mut self, shown: Shown<'_>, query: &Query, place: usize, wanted: RowId) {
        let above = self.shown_above(place);
        if query.is_empty() {
            self.select_at(above.unwrap_or(self.at));
            return;
        }
        self.parked.get_or_insert(wanted);
        let first = self.first_match(shown, query);
        self.select_at(first.or(above).unwrap_or(self.at));
    }

    /// The first row that a filter looks for; `None` where there is no filter.
    fn first_match(&self, shown: Shown<'_>, query: &Query) -> Option<usize> {
        let matches = |at: &usize| self.tree.node(*at).is_some_and(|node| query.matches(shown, node));
        let mut rows = self.rows.iter();
        (!query.is_empty()).then(|| rows.position(matches)).flatten()
    }

    /// The nearest row above a row of the tree that is shown.
    fn shown_above(&self, place: usize) -> Option<usize> {
        let mut above = self.tree.ancestors(place);
        above.find_map(|at| self.rows.iter().position(|row| *row == at))
    }

    /// The row is not in the tree: what remains of the same instance, or the row that stands for
    /// the same thing at this width.
    fn stand_in(&mut self, shown: Shown<'_>, wanted: &RowId, change: Change) -> bool {
        let mut choices: Vec<RowId> = Vec::new();
        let instance = self.memory.instance;
        if let Some(id) = instance {
            choices.push(RowId::Instance(id));
        }
        for key in self.memory.members.clone() {
            choices.push(RowId::Process(key));
            choices.extend(shown.world.judged.instance_of(key).map(RowId::Instance));
        }
        if let RowId::Owner(owner) | RowId::Kind(owner, _) = wanted
            && change == Change::View
        {
            if let OwnerKey::Adopter(key) | OwnerKey::Process(key) = owner {
                choices.push(RowId::Process(*key));
            }
            choices.extend(first_of(shown, owner).map(|instance| RowId::Instance(instance.id)));
        }
        choices
            .iter()
            .any(|choice| self.select_shown(choice) || self.select_over(choice))
    }

    /// Selects the nearest row above one that is folded away.
    fn select_over(&mut self, id: &RowId) -> bool {
        let Some(at) = self.tree.find(id).and_then(|place| self.shown_above(place)) else {
            return false;
        };
        self.select_at(at);
        true
    }

    fn say_gone(&mut self, shown: Shown<'_>, stands_in: bool) -> String {
        if !stands_in {
            self.select_at(self.at);
            self.follow = false;
        }
        let gone = &self.memory.label;
        match self.node() {
            Some(node) => format!("{gone} is gone; selected now: {}", cells::label(shown, node)),
            None => format!("{gone} is gone; no row is left"),
        }
    }

    /// Selects a row if it is shown.
    pub(super) fn select_shown(&mut self, id: &RowId) -> bool {
        let Some(place) = self.tree.find(id) else {
            return false;
        };
        let Some(at) = self.rows.iter().position(|row| *row == place) else {
            return false;
        };
        self.at = at;
        self.selected = Some(id.clone());
        true
    }

    /// Selects the row at a place, or the last one.
    pub(super) fn select_at(&mut self, at: usize) {
        self.at = at.min(self.rows.len().saturating_sub(1));
        self.selected = self.node().map(|node| node.id.clone());
    }

    /// The first row in trouble, else the first row.
    fn first_choice(&self) -> usize {
        let trouble = |at: &usize| self.tree.node(*at).is_some_and(Node::is_trouble);
        self.rows.iter().position(trouble).unwrap_or(0)
    }

    /// Remembers what the selected row stands for.
    pub(in crate::app) fn remember(&mut self, shown: Shown<'_>) {
        if self.ghost().is_some() {
            return;
        }
        let Some(node) = self.node() else {
            return;
        };
        let instance = node.instance.and_then(|id| shown.instance(id));
        let mut members: Vec<_> = instance.map_or_else(Vec::new, members_in_order);
        if let RowId::Process(key) = &node.id
            && members.is_empty()
        {
            members.push(*key);
        }
        self.memory = Memory {
            label: cells::label(shown, node).into_string(),
            instance: node.instance,
            members,
        };
    }
}

/// The server first, then helpers, then launchers: what is left of an instance is looked for in
/// that order.
fn members_in_order(instance: &Instance) -> Vec<crate::model::identity::ProcessKey> {
    instance
        .server
        .into_iter()
        .chain(instance.helpers.iter().copied())
        .chain(instance.launchers.iter().copied())
        .collect()
}

fn first_of<'a>(shown: Shown<'a>, owner: &OwnerKey) -> Option<&'a Instance> {
    shown
        .world
        .judged
        .instances
        .iter()
        .find(|instance| instance.owner == *owner)
}
