//! What the samples of this run showed of each server, sample by sample; a client that was seen to go is
//! journalled for the servers that the incident tells of.

use super::update::append;
use crate::app::App;
use crate::app::effect::Effect;
use crate::journal::{Entry, InstanceRef, Past};
use crate::model::world::World;

/// Adds what a new sample shows; journals that a client has gone, where the incident tells of its server.
pub(in crate::app) fn look_back(app: &mut App, world: &World) -> Vec<Effect> {
    super::lasts::keep(app, world);
    for instance in &world.judged.instances {
        app.keep
            .pasts
            .entry(instance.id)
            .or_default()
            .add(world, instance);
    }
    let threads = app.keep.incident.as_ref().map(|incident| &incident.story.threads);
    app.keep.pasts.retain(|id, _| {
        world.judged.instance(*id).is_some() || threads.is_some_and(|threads| threads.contains_key(id))
    });
    gone(app)
}

/// Has the journal say between which samples clients have gone that it does not tell of yet.
pub(in crate::app) fn gone(app: &mut App) -> Vec<Effect> {
    let writes = !app.options.read_only && !app.keep.closing;
    let Some(incident) = app.keep.incident.as_ref().filter(|_| writes) else {
        return Vec::new();
    };
    let mut entries = Vec::new();
    for thread in incident.story.threads.values() {
        let seen = app.keep.pasts.get(&thread.on.id).and_then(Past::unavailable);
        if let Some(seen) = seen.filter(|_| thread.unavailable.is_none())
            && app.keep.gone.insert(thread.on.id)
        {
            entries.push((thread.on.clone(), seen));
        }
    }
    let mut effects = Vec::new();
    for (on, seen) in entries {
        let what = called(&on);
        let entry = Entry::ClientUnavailable {
            on,
            after: seen.after,
            before: seen.before,
            basis: seen.basis,
            source: seen.source,
        };
        effects.extend(append(app, entry, what));
    }
    effects
}

fn called(on: &InstanceRef) -> String {
    format!("since when the client of {} {} is unavailable", on.name, on.pid())
}
