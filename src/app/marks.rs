//! Rows that are marked by hand, for commands that take several.

use std::collections::BTreeSet;

use super::App;
use super::nav::Step;
use crate::model::world::World;
use crate::table::RowId;

/// Marks the selected row, or takes its mark away, and moves on to the next.
pub(super) fn toggle(app: &mut App) {
    let Some(id) = app.nav.selected().cloned() else {
        return;
    };
    if app.nav.ghost().is_some() {
        return app.say(format!("{} is gone: it cannot be marked", app.label()));
    }
    if matches!(id, RowId::Owner(_) | RowId::Kind(..)) {
        return app.say("this row counts several: unfold it (Right) and mark the rows below".to_owned());
    }
    if !app.marks.remove(&id) {
        app.marks.insert(id);
    }
    app.nav.step(Step::By(1));
    app.remember();
}

/// Takes all marks away.
pub(super) fn clear(app: &mut App) {
    let count = app.marks.len();
    app.marks.clear();
    app.say(format!("{count} unmarked"));
}

/// Forgets the marks of what is gone.
pub(super) fn renew(app: &mut App, world: &World) {
    app.marks.retain(|id| match id {
        RowId::Instance(id) => world.judged.instance(*id).is_some(),
        RowId::Process(key) => world.sample.get(*key).is_some(),
        RowId::Owner(_) | RowId::Kind(..) => false,
    });
}

impl App {
    /// Returns whether a command for rows has some: marked ones, or a selected one that does not count
    /// several.
    pub fn means_rows(&self) -> bool {
        let counts = |id: &RowId| matches!(id, RowId::Owner(_) | RowId::Kind(..));
        !self.marks.is_empty() || self.nav.selected().is_some_and(|id| !counts(id))
    }

    /// Returns the marked rows that cannot be seen: filtered out, or folded away.
    pub fn hidden_marks(&self) -> impl Iterator<Item = &RowId> {
        let tree = self.nav.tree();
        let rows = self.nav.rows().iter();
        let visible: BTreeSet<&RowId> = rows
            .filter_map(|at| tree.node(*at))
            .map(|node| &node.id)
            .collect();
        self.marks.iter().filter(move |id| !visible.contains(id))
    }
}
