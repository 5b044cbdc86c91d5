//! What freezing holds, saves and says.

use std::sync::Arc;

use super::{Feed, Saved, SavedFile, Stage};
use crate::app::effect::{Effect, JobId, Order, Outcome};
use crate::app::testkit::{Scene, app, app_with, live, options, pid, press, rows, selected};
use crate::app::{App, Event, update};
use crate::journal::Digest;
use crate::model::finding::Finding;
use crate::model::reading::Reading;
use crate::model::world::World;

fn live_app() -> App {
    app(live().world(), 80, 24)
}

/// The live world without `git`, with another finding of `wedge` and a new helper: the next sample.
fn changed() -> Arc<World> {
    let mut scene = live();
    scene.seq = 3;
    scene.sample.processes.remove(&pid(48_271));
    scene
        .judged
        .instances
        .retain(|one| one.lead_process().pid != pid(48_271));
    scene.process(70_000, 2305, "user", 3, &["ssh", "host"]);
    let helper = scene.key(70_000);
    let wedge = scene
        .judged
        .instances
        .iter_mut()
        .find(|one| one.finding == Finding::Wedged)
        .expect("a wedged instance");
    wedge.finding = Finding::Severed;
    wedge.helpers.push(helper);
    scene.world()
}

fn order(effects: &[Effect]) -> Option<(JobId, Arc<World>)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Desk(job, Order::Save { world, .. }) => Some((*job, Arc::clone(world))),
        _ => None,
    })
}

fn file() -> SavedFile {
    SavedFile {
        path: "/var/lib/mcpwake/snapshots/one.json".to_owned(),
        sha256: Digest::of(b"abc"),
    }
}

fn saved(app: &mut App, job: JobId) {
    update(app, Event::Done(job, Outcome::Saved(Ok((file(), Vec::new())))));
}

fn pids(keys: &[crate::model::identity::ProcessKey]) -> Vec<u32> {
    keys.iter().map(|key| key.pid.get()).collect()
}

#[test]
fn freezing_saves_exactly_what_is_shown() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let effects = press(&mut app, "Z");
    let (job, ordered) = order(&effects).expect("an order to save");
    assert!(Arc::ptr_eq(&ordered, &world));
    assert!(matches!(app.feed(), Feed::Freezing(one) if one.stage() == Stage::Saving(job)));
    saved(&mut app, job);
    let frozen = app.feed().frozen().expect("a frozen view");
    assert_eq!(frozen.saved(), &Saved::File(file()));
    assert!(frozen.since().is_empty());
}

#[test]
fn a_held_view_stays_while_sampling_goes_on_and_says_what_changed() {
    let mut app = live_app();
    let before = rows(&app);
    let effects = press(&mut app, "f");
    let (job, _) = order(&effects).expect("an order to save");
    update(&mut app, Event::World(changed()));
    assert_eq!(rows(&app), before, "while it is being saved");
    saved(&mut app, job);
    assert_eq!(rows(&app), before);
    let since = app.feed().frozen().expect("a frozen view").since();
    assert_eq!(pids(&since.gone), [48_271]);
    assert_eq!(pids(&since.new), [70_000]);
    assert_eq!(since.changed.len(), 1);
    assert_eq!(
        (since.changed[0].from, since.changed[0].to),
        (Finding::Wedged, Finding::Severed)
    );
    press(&mut app, "<home> ] 2 <tab>");
    assert_eq!(rows(&app), before);
    assert_eq!(app.world().map(|world| world.seq), Some(2));
}

#[test]
fn thawing_shows_the_newest_sample() {
    let mut app = live_app();
    let effects = press(&mut app, "Z");
    let (job, _) = order(&effects).expect("an order to save");
    saved(&mut app, job);
    update(&mut app, Event::World(changed()));
    press(&mut app, "Z");
    assert!(app.feed().is_live());
    assert_eq!(app.world().map(|world| world.seq), Some(3));
    assert_eq!(selected(&app), "git 48271", "its row stays while it is selected");
    let said = app.status().expect("that it is gone");
    assert!(said.starts_with("git 48271 is gone, last seen "), "{said}");
    press(&mut app, "<down>");
    assert!(!rows(&app).contains(&"  git 48271".to_owned()));
}

#[test]
fn read_only_holds_in_memory() {
    let mut options = options();
    options.read_only = true;
    let mut app = app_with(options, live().world(), 80, 24);
    assert!(order(&press(&mut app, "Z")).is_none());
    assert_eq!(
        app.feed().frozen().map(super::Frozen::saved),
        Some(&Saved::ReadOnly)
    );
}

#[test]
fn what_could_not_be_saved_is_held_and_says_why() {
    let mut app = live_app();
    let effects = press(&mut app, "Z");
    let (job, _) = order(&effects).expect("an order to save");
    let why = "write /x: no space left on the device";
    update(&mut app, Event::Done(job, Outcome::Saved(Err(why.to_owned()))));
    assert_eq!(
        app.feed().frozen().map(super::Frozen::saved),
        Some(&Saved::Failed(why.to_owned()))
    );
    assert_eq!(app.feed().not_saved(), Some(why));
    assert!(app.has_mode(), "it stands above the tree until it is thawed");
}

#[test]
fn a_late_answer_does_not_freeze_again() {
    let mut app = live_app();
    let effects = press(&mut app, "Z");
    let (job, _) = order(&effects).expect("an order to save");
    press(&mut app, "Z");
    saved(&mut app, job);
    assert!(app.feed().is_live());
    let effects = press(&mut app, "Z");
    let (next, _) = order(&effects).expect("another order");
    assert_ne!(next, job);
    saved(&mut app, job);
    assert!(app.feed().frozen().is_none(), "the answer to the first order");
}

/// The world in which the selected process was not looked at closely yet.
fn unread() -> Scene {
    let mut scene = live();
    scene.edit(48_271).descriptors = Reading::Unread;
    scene
}

#[test]
fn the_closer_look_at_the_selected_process_is_waited_for() {
    let mut app = app(unread().world(), 80, 24);
    assert!(order(&press(&mut app, "Z")).is_none());
    assert!(matches!(app.feed(), Feed::Freezing(one) if one.stage() == Stage::Completing));
    let full = live().world();
    let effects = update(&mut app, Event::World(Arc::clone(&full)));
    let (_, ordered) = order(&effects).expect("an order to save");
    assert!(Arc::ptr_eq(&ordered, &full));
}

#[test]
fn what_ends_while_the_sample_is_completed_stays_in_the_frozen_view() {
    let mut app = app(unread().world(), 80, 24);
    let before = rows(&app);
    press(&mut app, "Z");
    let effects = update(&mut app, Event::World(changed()));
    assert!(order(&effects).is_some());
    assert_eq!(rows(&app), before);
}

#[test]
fn a_collector_that_fails_does_not_keep_the_freeze_waiting() {
    let mut app = app(unread().world(), 80, 24);
    press(&mut app, "Z");
    let effects = update(
        &mut app,
        Event::Problem("read /proc: too many open files".to_owned()),
    );
    assert!(order(&effects).is_some());
}

#[test]
fn a_saved_sample_is_shown_as_one_and_stays() {
    let mut options = options();
    options.origin = Some("/home/user/one.json by mcpwake 0.1.0".to_owned());
    options.read_only = true;
    let world = live().world();
    let mut app = app_with(options, Arc::clone(&world), 120, 40);
    assert!(matches!(app.feed(), Feed::Saved(_)));
    let before = rows(&app);
    assert!(order(&press(&mut app, "Z")).is_none());
    assert!(matches!(app.feed(), Feed::Saved(_)));
    update(&mut app, Event::World(world));
    assert_eq!(rows(&app), before);
}
