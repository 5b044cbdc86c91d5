//! The last samples that showed servers which newer ones do not show: a record is filled from what was seen
//! last, also when its server has ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::app::App;
use crate::app::popup::Content;
use crate::journal::Kept;
use crate::journal::record::shows_alive;
use crate::model::identity::InstanceId;
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// The last sample that shows an instance.
#[derive(Clone, Debug)]
pub(super) struct Last {
    /// Sample and judgement.
    world: Arc<World>,
    /// The first sample of this run without it; `None`: nobody saw it go.
    gone: Option<UnixMillis>,
}

/// By instance.
pub(super) type Lasts = BTreeMap<InstanceId, Last>;

/// Keeps the sample before this one for what this one does not show alive any more, as long as somebody may
/// ask.
pub(super) fn keep(app: &mut App, world: &World) {
    let before = app.feed.newest().map(Arc::clone);
    for instance in before.iter().flat_map(|before| &before.judged.instances) {
        let Some(before) = before.as_ref().filter(|_| !shows_alive(world, instance.id)) else {
            continue;
        };
        let last = app.keep.lasts.entry(instance.id).or_insert_with(|| Last {
            world: Arc::clone(before),
            gone: None,
        });
        if shows_alive(before, instance.id) {
            last.world = Arc::clone(before);
        }
        if world.judged.instance(instance.id).is_none() {
            last.gone.get_or_insert(world.sample.taken_at);
        }
    }
    let mut wanted: Vec<InstanceId> = app
        .nav
        .node()
        .and_then(|node| node.instance)
        .into_iter()
        .collect();
    if let Some(Content::Record(form)) = app.popup.as_ref().map(|popup| &popup.content) {
        wanted.push(form.on().id);
    }
    // What a held sample shows can be selected, and followed after the thaw.
    if !app.feed.is_live() {
        let held = app.feed.shown().into_iter();
        wanted.extend(held.flat_map(|held| held.judged.instances.iter().map(|one| one.id)));
    }
    let threads = app.keep.incident.as_ref().map(|incident| &incident.story.threads);
    app.keep.lasts.retain(|id, _| {
        !shows_alive(world, *id)
            && (wanted.contains(id) || threads.is_some_and(|threads| threads.contains_key(id)))
    });
}

/// Takes what the snapshots of an incident show, the newest first; of the dead, what an older one shows alive.
pub(super) fn read(app: &mut App, evidence: &[Arc<World>]) {
    for alive in [true, false] {
        for world in evidence {
            for instance in &world.judged.instances {
                if shows_alive(world, instance.id) != alive {
                    continue;
                }
                let last = app.keep.lasts.entry(instance.id).or_insert_with(|| Last {
                    world: Arc::clone(world),
                    gone: None,
                });
                let older = last.world.sample.taken_at < world.sample.taken_at;
                if alive && (older || !shows_alive(&last.world, instance.id)) {
                    last.world = Arc::clone(world);
                }
            }
        }
    }
}

impl App {
    /// Returns the world that shows an instance alive: the one on the screen, else the newest, else the last
    /// that did; where none does, one that shows it dead.
    pub fn world_of(&self, id: InstanceId) -> Option<&Arc<World>> {
        let last = self.keep.lasts.get(&id).map(|last| &last.world);
        let worlds = || {
            [self.feed.shown(), self.feed.newest(), last]
                .into_iter()
                .flatten()
        };
        worlds()
            .find(|world| shows_alive(world, id))
            .or_else(|| worlds().find(|world| world.judged.instance(id).is_some()))
    }

    /// Returns the first sample of this run that does not show an instance any more.
    pub fn gone_since(&self, id: InstanceId) -> Option<UnixMillis> {
        self.keep.lasts.get(&id)?.gone
    }
}

/// Remembers that a saved sample shows these.
pub(in crate::app) fn saved(app: &mut App, world: &World, sha256: Option<crate::journal::Digest>) {
    let kept = Kept {
        taken_at: world.sample.taken_at,
        sha256,
    };
    let instances = world.judged.instances.iter();
    app.keep
        .saved
        .extend(instances.map(|instance| (instance.id, kept)));
}
