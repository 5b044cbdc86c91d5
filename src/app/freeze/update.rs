//! Freezing, thawing, and what a new sample does to a held one.

use std::sync::Arc;

use super::{Feed, Freezing, Frozen, Saved, SavedFile, Stage};
use crate::app::App;
use crate::app::effect::{Effect, JobId, Order};
use crate::app::keep;
use crate::app::marks;
use crate::app::nav::Change;
use crate::journal::Line;
use crate::journal::entry::SnapshotReason;
use crate::model::identity::ProcessKey;
use crate::model::reading::Reading;
use crate::model::world::World;
use crate::table::Since;

/// Freezes the live view, or thaws a held one.
pub(in crate::app) fn toggle(app: &mut App) -> Vec<Effect> {
    match std::mem::replace(&mut app.feed, Feed::Waiting) {
        Feed::Waiting => Vec::new(),
        Feed::Live(world) => freeze(app, world),
        Feed::Freezing(Freezing { live, .. }) | Feed::Frozen(Frozen { live, .. }) => {
            thaw(app, live);
            Vec::new()
        }
        Feed::Saved(world) => {
            app.feed = Feed::Saved(world);
            app.say("a saved sample is held as it is".to_owned());
            Vec::new()
        }
    }
}

fn freeze(app: &mut App, world: Arc<World>) -> Vec<Effect> {
    let awaits = awaits_closer_look(&world, app.demanded);
    let mut freezing = Freezing {
        live: Arc::clone(&world),
        shown: world,
        stage: Stage::Completing,
    };
    if awaits {
        app.feed = Feed::Freezing(freezing);
        return Vec::new();
    }
    let effects = save(app, &mut freezing);
    settle(app, freezing);
    effects
}

fn thaw(app: &mut App, live: Arc<World>) {
    show(app, &live);
    app.feed = Feed::Live(live);
    app.rebuild(Change::World);
    if app.status.is_none() {
        app.say("thawed: the newest sample is shown".to_owned());
    }
}

/// The closer look at the selected process comes with the sample after the selection: a world that
/// is held before it would show less than the live one was about to.
fn awaits_closer_look(world: &World, selected: Option<ProcessKey>) -> bool {
    let process = selected.and_then(|key| world.sample.get(key));
    !world.complete || process.is_some_and(|process| process.descriptors == Reading::Unread)
}

/// Orders the snapshot; under read-only there is none.
fn save(app: &mut App, freezing: &mut Freezing) -> Vec<Effect> {
    if app.options.read_only {
        return Vec::new();
    }
    let job = app.next_job();
    freezing.stage = Stage::Saving(job);
    vec![Effect::Desk(
        job,
        Order::Save {
            world: Arc::clone(&freezing.shown),
            why: SnapshotReason::Freeze,
        },
    )]
}

/// Goes on with a freeze: it waits for the desk, or is done where nothing is written.
fn settle(app: &mut App, freezing: Freezing) {
    app.feed = match freezing.stage {
        Stage::Saving(_) => Feed::Freezing(freezing),
        Stage::Completing => Feed::Frozen(Frozen {
            since: Since::between(&freezing.shown, &freezing.live),
            held: freezing.shown,
            saved: Saved::ReadOnly,
            live: freezing.live,
        }),
    };
}

/// Takes a new sample: shows it, or keeps it behind the held one.
pub(in crate::app) fn take(app: &mut App, world: Arc<World>) -> Vec<Effect> {
    match std::mem::replace(&mut app.feed, Feed::Waiting) {
        Feed::Saved(shown) if Arc::ptr_eq(&shown, &world) => {
            app.feed = Feed::Saved(shown);
            Vec::new()
        }
        Feed::Waiting | Feed::Live(_) | Feed::Saved(_) if app.options.origin.is_some() => {
            show(app, &world);
            keep::saved(app, &world, None);
            app.feed = Feed::Saved(world);
            app.rebuild(Change::World);
            Vec::new()
        }
        Feed::Waiting | Feed::Live(_) | Feed::Saved(_) => {
            show(app, &world);
            app.feed = Feed::Live(world);
            app.rebuild(Change::World);
            Vec::new()
        }
        Feed::Freezing(mut freezing) => {
            freezing.live = Arc::clone(&world);
            if let Stage::Saving(_) = freezing.stage {
                app.feed = Feed::Freezing(freezing);
                return Vec::new();
            }
            if holds_at_least(&freezing.shown, &world) {
                show(app, &world);
                freezing.shown = world;
            }
            let effects = save(app, &mut freezing);
            settle(app, freezing);
            app.rebuild(Change::World);
            effects
        }
        Feed::Frozen(mut frozen) => {
            frozen.since = Since::between(&frozen.held, &world);
            frozen.live = world;
            app.feed = Feed::Frozen(frozen);
            Vec::new()
        }
    }
}

/// No newer sample comes: what is shown has to do.
pub(in crate::app) fn stalled(app: &mut App) -> Vec<Effect> {
    match std::mem::replace(&mut app.feed, Feed::Waiting) {
        Feed::Freezing(mut freezing) if freezing.stage == Stage::Completing => {
            let effects = save(app, &mut freezing);
            settle(app, freezing);
            effects
        }
        other => {
            app.feed = other;
            Vec::new()
        }
    }
}

fn show(app: &mut App, world: &World) {
    app.index.renew(world);
    marks::renew(app, world);
}

/// Returns whether every server of the shown world is still in the next one: a server that ended
/// in between would be lost from the frozen view.
fn holds_at_least(shown: &World, next: &World) -> bool {
    Since::between(shown, next).gone.is_empty()
}

/// Takes the desk's answer to the order to save.
pub(in crate::app) fn done(app: &mut App, job: JobId, result: Result<(SavedFile, Vec<Line>), String>) {
    let saved = match result {
        Ok((file, lines)) => {
            keep::add(app, &lines);
            app.say_place("saved ", &file.path);
            Saved::File(file)
        }
        Err(why) => {
            app.say("not saved: held in memory only".to_owned());
            Saved::Failed(why)
        }
    };
    match std::mem::replace(&mut app.feed, Feed::Waiting) {
        Feed::Freezing(freezing) if freezing.stage == Stage::Saving(job) => {
            if let Saved::File(file) = &saved {
                keep::saved(app, &freezing.shown, Some(file.sha256));
            }
            app.feed = Feed::Frozen(Frozen {
                since: Since::between(&freezing.shown, &freezing.live),
                held: freezing.shown,
                saved,
                live: freezing.live,
            });
        }
        other => app.feed = other,
    }
}
