//! The row of what is gone: it stays where it was while it is selected, so that no key acts on a row that
//! nobody chose.

use std::sync::Arc;

use super::settle::Change;
use super::state::Nav;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::table::{Figures, Index, Node, RowId, Shown, Tree, cells};
use crate::text::redact::Redactor;

/// A row of what is gone, as it was seen last.
#[derive(Debug)]
pub struct Ghost {
    node: Node,
    /// The last world that shows it.
    world: Arc<World>,
    index: Index,
    /// Where it stood: the row that it hung from and its place there, nearest first; `None`: at the top.
    path: Vec<(Option<RowId>, usize)>,
    /// The first sample without it.
    gone: UnixMillis,
}

impl Ghost {
    /// Returns the row.
    pub fn id(&self) -> &RowId {
        &self.node.id
    }

    /// Returns the world that shows it, with its index.
    pub fn shown(&self) -> Shown<'_> {
        Shown {
            world: &self.world,
            index: &self.index,
        }
    }

    /// Returns when it was seen last.
    pub fn last_seen(&self) -> UnixMillis {
        self.world.sample.taken_at
    }

    /// Returns when the first sample without it was taken.
    pub fn gone(&self) -> UnixMillis {
        self.gone
    }

    fn sentence(&self) -> String {
        format!(
            "{} is gone, last seen {}; its row stays until you move",
            cells::label(self.shown(), &self.node),
            self.last_seen().clock()
        )
    }
}

/// What was shown before.
pub(in crate::app) struct Before {
    /// The world.
    pub(in crate::app) world: Arc<World>,
    /// Removes secrets from command lines.
    pub(in crate::app) redactor: Arc<Redactor>,
    /// The first sample without what is selected, where one behind a held sample showed it.
    pub(in crate::app) gone: Option<UnixMillis>,
}

impl Nav {
    /// Builds the tree anew. What was selected and is gone keeps its row; answers with a sentence when that
    /// begins.
    pub(in crate::app) fn rebuild(
        &mut self,
        shown: Shown<'_>,
        change: Change,
        before: Option<Before>,
    ) -> Option<String> {
        let old = std::mem::take(&mut self.tree);
        self.tree = Tree::build(shown, &self.plan);
        let selected = self.selected.clone()?;
        if self.tree.find(&selected).is_some() {
            self.ghost = None;
            return None;
        }
        if self.ghost.as_ref().is_some_and(|ghost| *ghost.id() == selected) {
            self.place_ghost();
            return None;
        }
        self.ghost = None;
        let before = before.filter(|_| change == Change::World)?;
        let ghost = ghost(&old, &selected, shown, before)?;
        let said = ghost.sentence();
        self.ghost = Some(ghost);
        self.place_ghost();
        self.follow = false;
        Some(said)
    }

    fn place_ghost(&mut self) {
        let Some(ghost) = &self.ghost else { return };
        for (parent, at) in &ghost.path {
            let place = match parent {
                None => None,
                Some(parent) => match self.tree.find(parent) {
                    Some(place) => Some(place),
                    None => continue,
                },
            };
            self.tree.insert(place, *at, ghost.node.clone());
            return;
        }
    }

    /// Returns the row of what is gone, while it is selected.
    pub fn ghost(&self) -> Option<&Ghost> {
        let ghost = self.ghost.as_ref()?;
        (self.selected.as_ref() == Some(ghost.id())).then_some(ghost)
    }

    /// Forgets the row of what is gone once another is selected; answers whether the tree has to be built
    /// anew.
    pub(in crate::app) fn lay_ghost(&mut self) -> bool {
        let left = self.ghost.is_some() && self.ghost().is_none();
        if left {
            self.ghost = None;
        }
        left
    }

    /// The places of the row of what is gone and of the rows that it hangs from: they stay in sight.
    pub(super) fn ghost_places(&self) -> Vec<usize> {
        let place = self.ghost().and_then(|ghost| self.tree.find(ghost.id()));
        place
            .into_iter()
            .flat_map(|place| std::iter::once(place).chain(self.tree.ancestors(place)))
            .collect()
    }
}

/// Returns the row as it was, where what it stands for is there no more; `None` where it has another row now.
fn ghost(old: &Tree, id: &RowId, shown: Shown<'_>, before: Before) -> Option<Ghost> {
    let place = old.find(id)?;
    let node = old.node(place)?;
    let sample = &shown.world.sample;
    let same_boot = before.world.sample.host.boot_id == sample.host.boot_id;
    let process = match id {
        RowId::Process(key) => Some(*key),
        RowId::Instance(id) => {
            let instance = before.world.judged.instance(*id);
            instance.map(crate::model::instance::Instance::lead_process)
        }
        RowId::Owner(_) | RowId::Kind(..) => None,
    };
    if same_boot && process.is_some_and(|key| sample.get(key).is_some()) {
        return None;
    }
    let mut path = Vec::new();
    let mut at = place;
    loop {
        let parent = old.node(at)?.parent;
        path.push((
            parent
                .and_then(|parent| old.node(parent))
                .map(|node| node.id.clone()),
            old.rank(at),
        ));
        match parent {
            Some(parent) => at = parent,
            None => break,
        }
    }
    let mut node = node.clone();
    node.children.clear();
    node.gone = true;
    if let RowId::Instance(id) = &node.id
        && let Some(instance) = before.world.judged.instance(*id)
    {
        node.figures = Figures::of_instance(&before.world, instance);
    }
    let mut index = Index::empty(before.redactor);
    index.renew(&before.world);
    Some(Ghost {
        node,
        index,
        path,
        gone: before.gone.unwrap_or(sample.taken_at),
        world: before.world,
    })
}
