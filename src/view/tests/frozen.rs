//! Frozen screens: being saved, saved, held in memory only, and what changed behind them.

use std::sync::Arc;

use super::{SMALL, USUAL, WIDE, screen};
use crate::app::freeze::SavedFile;
use crate::app::testkit::{NOW, app_with, live, options, pid, press};
use crate::app::{App, Effect, Event, Outcome, update};
use crate::journal::Digest;
use crate::model::finding::Finding;
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// Without `memory`, with a younger `time`, and with another finding of `fs`.
fn later() -> Arc<World> {
    let mut scene = live();
    scene.seq = 3;
    scene.sample.taken_at = UnixMillis(NOW + 151_000);
    scene.sample.since_boot_ms += 151_000;
    scene.sample.processes.remove(&pid(2301));
    scene
        .judged
        .instances
        .retain(|one| one.lead_process().pid != pid(2301));
    scene.process(70_000, 2303, "user", 3, &["node", "helper.js"]);
    let helper = scene.key(70_000);
    for instance in &mut scene.judged.instances {
        match instance.lead_process().pid.get() {
            2300 => instance.finding = Finding::Severed,
            2303 => instance.helpers.push(helper),
            _ => {}
        }
    }
    scene.world()
}

fn frozen(
    size: (u16, u16),
    read_only: bool,
    result: Option<Result<(), &str>>,
    world: Option<Arc<World>>,
) -> App {
    let mut options = options();
    options.read_only = read_only;
    let mut app = app_with(options, live().world(), size.0, size.1);
    let effects = press(&mut app, "Z");
    let job = effects.iter().find_map(|effect| match effect {
        Effect::Desk(job, _) => Some(*job),
        _ => None,
    });
    if let (Some(job), Some(result)) = (job, result) {
        let file = SavedFile {
            path: "/root/.local/state/mcpwake/snapshots/20261201T010712.000Z.json".to_owned(),
            sha256: Digest::of(b"abc"),
        };
        let saved = result.map_err(str::to_owned).map(|()| (file, Vec::new()));
        update(&mut app, Event::Done(job, Outcome::Saved(saved)));
    }
    if let Some(world) = world {
        update(&mut app, Event::World(world));
    }
    app
}

macro_rules! frozen {
    ($($name:ident: $size:expr, $read_only:expr, $result:expr, $world:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(screen(&frozen($size, $read_only, $result, $world)));
            }
        )*
    };
}

frozen! {
    saving_80: USUAL, false, None, None;
    saved_40: SMALL, false, Some(Ok(())), Some(later());
    saved_80: USUAL, false, Some(Ok(())), Some(later());
    saved_120: WIDE, false, Some(Ok(())), Some(later());
    unchanged_120: WIDE, false, Some(Ok(())), None;
    read_only_80: USUAL, true, None, Some(later());
    not_saved_80: USUAL, false, Some(Err("write /root/.local/state/mcpwake/snapshots: no space left on the device; free some, then Z twice")), None;
}

/// A saved sample does not say that this program was not running: whoever saved it was.
#[test]
fn a_saved_sample_says_since_when_whoever_saved_it_had_looked() {
    let told = |seq, own: bool, origin: Option<&str>| {
        let mut scene = live();
        scene.seq = seq;
        if own {
            scene.process(60_000, 1, "root", 130, &["mcpwake"]);
        }
        let mut options = options();
        options.origin = origin.map(str::to_owned);
        let screen = screen(&app_with(options, scene.world(), 120, 40));
        let line = screen.lines().find(|line| line.contains("sessions in memory"));
        let (_, told) = line.expect("what is not known").split_once("anything ").unwrap();
        told.trim_end_matches([' ', '│', '|']).to_owned()
    };
    let snapshot = "before the snapshot, taken 1 Dec 01:07:12Z";
    for (seq, own, origin, expected) in [
        (9, true, None, "before 01:07:12Z (mcpwake was not running)"),
        (
            9,
            true,
            Some("one.json"),
            "before 1 Dec 01:05:02Z, when the mcpwake that saved this was started",
        ),
        (9, false, Some("one.json"), snapshot),
        (1, true, Some("one.json"), snapshot),
    ] {
        assert_eq!(told(seq, own, origin), expected, "{seq} {own} {origin:?}");
    }
}
