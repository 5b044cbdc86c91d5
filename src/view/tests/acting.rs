//! The dialog before a signal, the signals that are under way, the step line.

use super::{SMALL, USUAL, WIDE, screen};
use crate::app::Event;
use crate::app::act::testkit::Bench;
use crate::app::effect::{Followed, JobId, Outcome};
use crate::app::testkit::{DAY, Scene, chain, hostile, live, options, pid};
use crate::journal::{Entry, InstanceRef, TargetRef};
use crate::model::act::{Standing, Way};
use crate::model::finding::{Finding, LeadKind, Managed};
use crate::model::instance::OwnerKey;
use crate::model::process::{Lock, SignalMasks};
use crate::model::reading::Reading;

fn shown(scene: Scene, size: (u16, u16), keys: &str) -> String {
    let mut bench = Bench::with(options(), scene, size);
    bench.press(keys);
    screen(&bench.app)
}

macro_rules! dialogs {
    ($($name:ident: $scene:expr, $size:expr, $keys:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(shown($scene, $size, $keys));
            }
        )*
    };
}

const OPEN: &str = "T OPS-1412 <enter>";

/// Seven are marked, another is selected.
const MANY: &str = "/ playwright <enter> <home> <down> <down> <space> <space> <space> <space> <space> <space> <space> / <c-u> wedge <enter> T OPS <enter>";

dialogs! {
    term_80: live(), USUAL, OPEN;
    term_120: live(), WIDE, OPEN;
    term_40: live(), SMALL, OPEN;
    term_40_scrolled: live(), SMALL, "T OPS-1412 <enter> <pgdn>";
    passed_over_80: live(), USUAL, "T OPS-1412 <enter> o 27";
    both_80: live(), USUAL, "T OPS-1412 <enter> <down> <space> 2";
    kill_80: live(), USUAL, "K OPS-1412 <enter>";
    choose_80: live(), USUAL, "<f9> OPS-1412 <enter>";
    hostile_80: hostile_long(), USUAL, OPEN;
    hostile_40: hostile_long(), SMALL, OPEN;
    hostile_120: hostile_long(), WIDE, OPEN;
    launcher_80: launched(), USUAL, "* / pid:3010 <enter> <end> <up> <up> <up> T OPS <enter>";
    attached_80: live(), USUAL, "/ pid:10003 <enter> <end> T OPS <enter>";
    troubled_120: troubled(), WIDE, OPEN;
    troubled_80: troubled(), USUAL, OPEN;
    many_80: live(), USUAL, MANY;
    many_40: live(), SMALL, MANY;
    client_80: live(), USUAL, "a / pid:2211 <enter> <home> <down> T OPS <enter> 2211 <enter>";
    wrong_80: live(), USUAL, "T OPS <enter> o 48 <enter>";
    under_way_80: live(), USUAL, "T OPS <enter> <down> <space> o 2290 <enter>";
    under_way_40: live(), SMALL, "T OPS <enter> o 271 <enter>";
    hidden_80: live(), USUAL, "T OPS <enter> o 271 <enter> <esc>";
}

fn launched() -> Scene {
    let mut scene = Scene::new();
    chain(&mut scene);
    scene
}

/// Argv of megabytes and many helpers, all hostile.
fn hostile_long() -> Scene {
    let mut scene = hostile();
    let long = "\u{1b}[31m".repeat(400);
    let helpers: Vec<_> = (800..812)
        .map(|number| {
            scene.process(number, 666, "root", 100, &["sh\u{202e}", &long]);
            scene.key(number)
        })
        .collect();
    let argv = ["node\u{1b}[2J", &long, "[x] 1 server", "--token=abcdefghijklmnop"];
    scene.edit(666).argv = Reading::Value(argv.iter().map(|one| (*one).into()).collect());
    scene.judged.instances[0].helpers = helpers;
    scene
}

/// Managed, stopped, with a lock and strangers in its group.
fn troubled() -> Scene {
    let mut scene = Scene::new();
    scene.process(2_000, 1, "user", DAY, &["claude"]);
    scene.client(2_000, "claude-code", "claude");
    for number in [2_100, 2_200, 2_300] {
        let process = scene.process(
            number,
            2_000,
            "user",
            DAY,
            &["mcp-server", "db", "--file", "/srv/x.db"],
        );
        process.pgid = Some(pid(2_000));
        process.sid = Some(pid(2_000));
    }
    let server = scene.edit(2_100);
    server.state = 'T';
    server.stat = "Tl".to_owned();
    server.signals = Reading::Value(SignalMasks {
        pending: 0,
        blocked: 1 << 14,
        ignored: 0,
        caught: 0,
    });
    server.locks = vec![Lock {
        kind: "POSIX".to_owned(),
        mode: "WRITE".to_owned(),
        inode: 5,
        path: Some("/srv/x.db".into()),
    }];
    let owner = OwnerKey::Process(scene.key(2_000));
    let leads = vec![
        crate::app::testkit::lead("a", LeadKind::File, "/srv/x.db-wal", 2_100, "an open database"),
        crate::app::testkit::lead("b", LeadKind::Ssh, "deploy@10.2.0.4", 2_200, "a session"),
    ];
    let helper = scene.key(2_200);
    let instance = scene.instance("db", 2_100, owner.clone(), Finding::Wedged);
    instance.helpers = vec![helper];
    instance.reach = Some(leads);
    instance.managed = Some(Managed {
        by: "systemd --user".to_owned(),
        unit: "db.service".to_owned(),
    });
    scene.instance("other", 2_300, owner, Finding::Attached);
    scene
}

#[test]
fn a_way_that_leaves_a_window_and_targets_that_are_not_read_yet_are_said() {
    let mut bench = Bench::new(live());
    bench.press("i OPS <enter>");
    bench.way = Way::Kill;
    bench.looks.insert(48_290, Standing::Gone);
    bench.press("T");
    insta::assert_snapshot!("window_80", screen(&bench.app));
    let mut bench = Bench::new(live());
    bench.press("i OPS <enter>");
    bench.slow = true;
    bench.press("T 27");
    insta::assert_snapshot!("reading_80", screen(&bench.app));
}

#[test]
fn an_outcome_is_shown_and_one_without_an_end_stays_in_the_step_line() {
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> <down> <space> o 2290 <enter>");
    bench.watched(None);
    bench.later(3000, live());
    insta::assert_snapshot!("still_there_80", screen(&bench.app));
    bench.press("<esc> <down>");
    insta::assert_snapshot!("unresolved_80", screen(&bench.app));
    bench.press("<down>");
    insta::assert_snapshot!("unresolved_elsewhere_80", screen(&bench.app));
}

/// git 48271 has exited, and 50211 is started as it, 5 s later.
#[test]
fn one_that_comes_back_is_said_and_stays_in_the_step_line() {
    let without = || {
        let mut scene = live();
        for number in [48_271, 48_290] {
            scene.sample.processes.remove(&pid(number));
        }
        let git = pid(48_271);
        scene.judged.instances.retain(|one| one.lead_process().pid != git);
        scene
    };
    let mut bench = Bench::new(live());
    bench.press("T OPS-1412 <enter> o 271 <enter>");
    bench.watched(Some(212));
    bench.later(3000, without());
    let mut scene = without();
    let server = live().sample.process(pid(48_271)).expect("git").clone();
    let instance = live()
        .judged
        .instances
        .into_iter()
        .find(|one| one.id.0 == server.key);
    let (mut server, mut instance) = (server, instance.expect("git"));
    server.key.pid = pid(50_211);
    server.key.start.0 = (scene.sample.since_boot_ms + 8000) / 10;
    instance.id.0 = server.key;
    instance.top = server.key;
    instance.server = Some(server.key);
    instance.helpers.clear();
    scene
        .sample
        .processes
        .insert(pid(50_211), std::sync::Arc::new(server));
    scene.judged.instances.push(instance);
    bench.later(9000, scene);
    insta::assert_snapshot!("came_back_80", screen(&bench.app));
    bench.press("<esc> / pid:50211 <enter> <end> <up> <down>");
    insta::assert_snapshot!("came_back_selected_80", screen(&bench.app));
}

#[test]
fn exited_and_nothing_left() {
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> o 271 <enter>");
    bench.watched(Some(212));
    let mut scene = live();
    for number in [48_271, 48_290] {
        scene.sample.processes.remove(&pid(number));
    }
    scene
        .judged
        .instances
        .retain(|one| one.lead_process().pid != pid(48_271));
    bench.later(3000, scene);
    insta::assert_snapshot!("exited_80", screen(&bench.app));
}

#[test]
fn what_is_not_on_the_disk_is_not_called_journalled() {
    let mut bench = Bench::new(live());
    bench.press("T OPS <enter> o 271 <enter>");
    bench.disk_full = Some("no room".to_owned());
    bench.watched(Some(212));
    let mut after = live();
    after.sample.processes.remove(&pid(48_271));
    bench.later(3000, after);
    let text = screen(&bench.app);
    assert!(
        text.contains("exited after 212 ms") && text.contains("NOT EVERYTHING IS ON DISK"),
        "{text}"
    );
    assert!(!text.contains("each outcome is journalled"), "{text}");
}

#[test]
fn no_cell_of_a_hostile_dialog_has_a_control_character_at_any_size() {
    for size in [SMALL, USUAL, WIDE, (41, 11), (60, 14)] {
        let mut bench = Bench::with(options(), hostile_long(), size);
        for key in [
            "T", "OPS", "<enter>", "<down>", "<pgdn>", "<pgdn>", "o", "666", "<enter>",
        ] {
            bench.press(key);
            let screen = screen(&bench.app);
            assert!(screen.chars().all(|c| c == '\n' || !c.is_control()), "{screen}");
        }
    }
}

#[test]
fn in_ascii_only_ascii_is_drawn() {
    let mut plain = options();
    plain.ascii = true;
    for scene in [live(), hostile_long(), troubled()] {
        let mut bench = Bench::with(plain.clone(), scene, USUAL);
        bench.press(OPEN);
        let screen = screen(&bench.app);
        assert!(screen.is_ascii(), "{screen}");
    }
}

#[test]
fn a_signal_of_another_screen_is_told_in_the_step_line_and_in_the_dialog() {
    let mut bench = Bench::with(options(), live(), USUAL);
    bench.press("i OPS-1412 <enter>");
    let world = live().world();
    let git = &world
        .judged
        .instances
        .iter()
        .find(|one| one.name.lossy() == "git")
        .unwrap();
    let entry = Entry::AboutToSignal {
        signal: "TERM".to_owned(),
        targets: vec![TargetRef {
            key: git.lead_process(),
            pidfd_inode: None,
            argv: Vec::new(),
            instance: Some(InstanceRef::of(git)),
        }],
        way: "pidfd".to_owned(),
    };
    let lines = vec![bench.journal.add(&entry)];
    let followed = Followed {
        lines,
        ..Followed::default()
    };
    bench.event(Event::Done(JobId(0), Outcome::Followed(Ok(followed))));
    bench.press("<up> <down>");
    let shown = screen(&bench.app);
    assert!(shown.contains("under way: TERM to 48271 (git) by"), "{shown}");
    bench.press("T");
    let shown = screen(&bench.app);
    assert!(
        shown.contains("TERM to 48271 by") && shown.contains("no outcome yet"),
        "{shown}"
    );
}
