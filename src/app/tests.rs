//! What keys do: scripts on worlds made by hand.

mod filters;

use std::collections::HashSet;
use std::sync::Arc;

use super::command::{self, Availability, FOOTER, LATER, commands};
use super::panes::{Focus, Pane};
use super::testkit::{DAY, Scene, all_well, app, chain, live, pid, press, rows, selected};
use super::{App, Demand, Effect, Event, JobId, Key, Order, update};
use crate::model::finding::Finding;
use crate::model::instance::OwnerKey;
use crate::model::world::World;
use crate::table::tree::{Breadth, Scope};

fn live_app() -> App {
    app(live().world(), 80, 24)
}

/// The live world with changes, as the next sample.
fn next(change: impl FnOnce(&mut Scene)) -> Event {
    let mut scene = live();
    change(&mut scene);
    scene.seq = 3;
    Event::World(scene.world())
}

fn end(scene: &mut Scene, number: u32) {
    scene.sample.processes.remove(&pid(number));
    scene
        .judged
        .instances
        .retain(|one| one.lead_process().pid != pid(number));
    for instance in &mut scene.judged.instances {
        instance.helpers.retain(|key| key.pid != pid(number));
    }
}

#[test]
fn the_first_row_in_trouble_is_selected_and_asked_for() {
    let mut app = App::new(super::testkit::options());
    let world: Arc<World> = live().world();
    let key = world.sample.process(pid(48_271)).unwrap().key;
    let effects = update(&mut app, Event::World(Arc::clone(&world)));
    assert_eq!(selected(&app), "git 48271");
    let asked = Effect::Desk(JobId(1), Order::FindOpen(Arc::clone(&world)));
    assert_eq!(effects, [asked, Effect::Demand(Demand { selected: Some(key) })]);
}

#[test]
fn trouble_is_unfolded_and_the_rest_is_folded() {
    let app = live_app();
    assert_eq!(
        rows(&app),
        [
            "init 1",
            "  git 48271",
            "    ssh 48290",
            "  scrape 50113",
            "claude 2211",
            "  wedge 2305",
            "  fs 2300",
            "  memory 2301",
            "  fetch 2302",
            "  time 2303",
            "  search 2304",
            "codex 4821",
            "unknown, of user guest",
        ]
    );
}

#[test]
fn the_demand_follows_the_selection_once() {
    let mut app = live_app();
    let effects = press(&mut app, "<down>");
    assert!(
        matches!(&effects[..], [Effect::Demand(Demand { selected: Some(key) })] if key.pid == pid(48_290))
    );
    assert_eq!(press(&mut app, "w"), []);
}

#[test]
fn folding_goes_up_and_unfolding_goes_down() {
    let mut app = live_app();
    press(&mut app, "<down>");
    assert_eq!(selected(&app), "ssh 48290");
    press(&mut app, "<left>");
    assert_eq!(selected(&app), "git 48271");
    press(&mut app, "h");
    assert!(!rows(&app).contains(&"    ssh 48290".to_owned()));
    press(&mut app, "- -");
    assert_eq!(selected(&app), "init 1");
    assert!(!rows(&app).contains(&"  git 48271".to_owned()));
    press(&mut app, "<right> l");
    assert_eq!(selected(&app), "git 48271");
    press(&mut app, "+ +");
    assert_eq!(selected(&app), "ssh 48290");
}

#[test]
fn everything_unfolds_and_folds_again() {
    let mut app = live_app();
    press(&mut app, "*");
    assert_eq!(rows(&app).len(), app.nav().tree().len());
    press(&mut app, "*");
    assert_eq!(
        rows(&app),
        ["init 1", "claude 2211", "codex 4821", "unknown, of user guest"]
    );
    assert_eq!(
        selected(&app),
        "init 1",
        "the selection goes to what is left of it"
    );
}

#[test]
fn brackets_visit_each_row_in_trouble_and_come_round() {
    let mut app = live_app();
    let mut seen = Vec::new();
    for _ in 0..3 {
        press(&mut app, "]");
        seen.push(selected(&app));
    }
    assert_eq!(seen, ["scrape 50113", "wedge 2305", "git 48271"]);
    assert!(app.status().is_some_and(|said| said.contains("past the end")));
    press(&mut app, "[");
    assert_eq!(selected(&app), "wedge 2305");
    let mut well = app_of(all_well());
    press(&mut well, "]");
    assert_eq!(well.status(), Some("next-problem: no row is in trouble"));
}

fn app_of(scene: Scene) -> App {
    app(scene.world(), 80, 24)
}

#[test]
fn trouble_that_is_folded_away_is_unfolded_by_a_jump() {
    let mut app = live_app();
    press(&mut app, "* * ]");
    assert_eq!(selected(&app), "git 48271");
    assert!(rows(&app).contains(&"  git 48271".to_owned()));
}

#[test]
fn the_selection_survives_a_refresh_a_sort_and_another_width() {
    let mut app = live_app();
    press(&mut app, "]");
    assert_eq!(selected(&app), "scrape 50113");
    update(
        &mut app,
        next(|scene| {
            scene.process(40, 1, "root", 9 * DAY, &["node", "early.js"]);
            let init = scene.key(1);
            scene.instance("early", 40, OwnerKey::Adopter(init), Finding::Severed);
        }),
    );
    assert_eq!(selected(&app), "scrape 50113");
    for keys in [">", ">", "I", "t", "t", "a", "a", "t", "<"] {
        press(&mut app, keys);
        assert_eq!(selected(&app), "scrape 50113", "after {keys}");
        assert_eq!(app.status(), None);
    }
}

#[test]
fn a_row_that_has_no_place_at_a_width_comes_back_with_the_old_one() {
    let mut app = live_app();
    press(&mut app, "<f3> playwright <enter>");
    assert_eq!(selected(&app), "playwright x50");
    press(&mut app, "t");
    assert_ne!(selected(&app), "playwright x50");
    press(&mut app, "t t");
    assert_eq!(selected(&app), "playwright x50");
}

#[test]
fn the_row_of_a_launcher_that_ends_stays_until_another_is_chosen() {
    let mut scene = Scene::new();
    chain(&mut scene);
    let mut app = app_of(scene);
    press(&mut app, "* <f3> npm <enter>");
    press(&mut app, "<down>");
    assert_eq!(selected(&app), "npm 3010");
    let mut scene = Scene::new();
    chain(&mut scene);
    scene.sample.processes.remove(&pid(3_010));
    let sh = scene.key(3_020);
    let instance = &mut scene.judged.instances[0];
    instance.launchers = vec![sh];
    instance.top = sh;
    update(&mut app, Event::World(scene.world()));
    assert_eq!(selected(&app), "npm 3010");
    let said = app.status().expect("a message");
    assert!(
        said.starts_with("npm 3010 is gone, last seen ") && said.ends_with("its row stays until you move"),
        "{said}"
    );
    press(&mut app, "<up>");
    assert!(!rows(&app).iter().any(|row| row.contains("npm 3010")));
}

#[test]
fn the_row_of_a_server_that_ends_stays_where_it_was_in_every_order() {
    let mut app = live_app();
    let before = rows(&app);
    update(&mut app, next(|scene| end(scene, 48_271)));
    let git = before.iter().position(|row| row == "  git 48271");
    assert_eq!(rows(&app).iter().position(|row| row == "  git 48271"), git);
    for keys in ["a", "t", ">", "a", "t", "t", "<", "/ scrape <enter>", "<esc>"] {
        press(&mut app, keys);
        assert_eq!(selected(&app), "git 48271", "after {keys}");
        update(&mut app, next(|scene| end(scene, 48_271)));
        assert_eq!(selected(&app), "git 48271", "after {keys} and a sample");
    }
    update(&mut app, next(|_| {}));
    assert!(app.nav().ghost().is_none(), "it is there again");
    assert_eq!(selected(&app), "git 48271");
}

#[test]
fn a_row_of_what_is_gone_gives_way_when_another_is_chosen() {
    let mut app = live_app();
    press(&mut app, "]");
    update(&mut app, next(|scene| end(scene, 50_113)));
    assert_eq!(selected(&app), "scrape 50113");
    press(&mut app, "<down>");
    assert_eq!(selected(&app), "claude 2211");
    assert!(!rows(&app).iter().any(|row| row.contains("scrape")));
    assert_eq!(app.status(), None);
}

#[test]
fn a_reused_pid_is_somebody_else() {
    let mut app = live_app();
    press(&mut app, "a ]");
    assert_eq!(selected(&app), "scrape 50113");
    update(
        &mut app,
        next(|scene| {
            end(scene, 50_113);
            scene.process(50_113, 1, "root", 5, &["stranger"]);
        }),
    );
    assert!(
        app.status()
            .is_some_and(|said| said.starts_with("scrape 50113 is gone"))
    );
}

#[test]
fn the_tree_widens_and_all_processes_are_one_key_away() {
    let mut app = live_app();
    press(&mut app, "t");
    assert_eq!(app.nav().plan().breadth, Breadth::Ancestors);
    assert_eq!(rows(&app)[0], "init 1");
    press(&mut app, "<f5>");
    assert_eq!(
        rows(&app).len(),
        160 + 1,
        "every instance, and the helper of the one in trouble"
    );
    press(&mut app, "t a");
    assert_eq!(app.nav().plan().scope, Scope::Everything);
    assert_eq!(rows(&app).len(), 412);
}

#[test]
fn launchers_have_rows_of_their_own_when_unfolded() {
    let mut scene = Scene::new();
    chain(&mut scene);
    let mut app = app_of(scene);
    press(&mut app, "*");
    assert_eq!(
        rows(&app),
        [
            "Cursor 3000",
            "  playwright 3030",
            "    npm 3010",
            "      sh 3020",
            "        node 3030",
            "          chrome 3040",
        ]
    );
}

#[test]
fn users_are_gone_through_and_all_come_back() {
    let mut app = live_app();
    let mut users = Vec::new();
    for _ in 0..5 {
        press(&mut app, "u");
        users.push(app.nav().plan().user.clone());
    }
    let users: Vec<Option<&str>> = users.iter().map(Option::as_deref).collect();
    assert_eq!(
        users,
        [Some("deploy"), Some("guest"), Some("root"), Some("user"), None]
    );
}

#[test]
fn sorting_by_a_column_and_inverting_it() {
    let mut app = live_app();
    while app.nav().plan().sort.column != Some(crate::table::ColumnId::Mem) {
        press(&mut app, ">");
    }
    let owners = |app: &App| -> Vec<String> {
        rows(app)
            .into_iter()
            .filter(|row| !row.starts_with(' '))
            .collect()
    };
    assert_eq!(
        owners(&app),
        ["codex 4821", "init 1", "claude 2211", "unknown, of user guest"]
    );
    press(&mut app, "I");
    assert_eq!(
        owners(&app),
        ["unknown, of user guest", "claude 2211", "init 1", "codex 4821"]
    );
    press(&mut app, "< > > >");
    assert_eq!(app.nav().plan().sort, crate::table::Sort::default());
}

#[test]
fn panes_turn_hide_and_take_the_keys() {
    let mut app = live_app();
    press(&mut app, "<tab>");
    assert_eq!(app.panes().shown(), Some(Pane::Descriptors));
    press(&mut app, "<backtab> <backtab>");
    assert_eq!(app.panes().shown(), Some(Pane::Record));
    press(&mut app, "3 0");
    assert_eq!(app.panes().shown(), None);
    press(&mut app, "<enter>");
    assert_eq!(
        (app.panes().shown(), app.panes().focus()),
        (Some(Pane::Sockets), Focus::Pane)
    );
    let row = selected(&app);
    press(&mut app, "j j");
    assert_eq!((selected(&app), app.panes().scrolled()), (row, 2));
    press(&mut app, "<enter>");
    assert_eq!(app.panes().focus(), Focus::FullPane);
    press(&mut app, "<esc> <esc>");
    assert_eq!(app.panes().focus(), Focus::Tree);
}

#[test]
fn the_palette_runs_every_command_by_its_name() {
    for spec in commands() {
        let mut app = live_app();
        press(&mut app, ":");
        let Some(popup) = app.popup() else {
            panic!("no palette")
        };
        assert!(matches!(popup.content(), super::popup::Content::Palette(_)));
        press(&mut app, spec.name);
        let found = match app.popup().map(super::popup::Popup::content) {
            Some(super::popup::Content::Palette(palette)) => palette.matches(&app),
            _ => Vec::new(),
        };
        assert_eq!(found.first().map(|(first, _)| first.name), Some(spec.name));
    }
}

#[test]
fn the_palette_says_why_a_command_does_nothing() {
    let mut app = app_of(all_well());
    press(&mut app, ": next-problem <enter>");
    assert!(app.popup().is_none());
    assert_eq!(app.status(), Some("next-problem: no row is in trouble"));
    press(&mut app, ": flow <enter>");
    assert!(app.nav().follows());
}

#[test]
fn popups_take_every_key_and_are_closed_by_their_own() {
    for (keys, again) in [
        ("?", "?"),
        ("<f1>", "q"),
        ("e", "e"),
        ("c", "<esc>"),
        ("!", "<enter>"),
    ] {
        let mut app = live_app();
        press(&mut app, keys);
        let row = selected(&app);
        assert_eq!(press(&mut app, "j j G g T"), [], "{keys}");
        assert_eq!(selected(&app), row);
        assert!(app.popup().is_some());
        assert_eq!(press(&mut app, again), []);
        assert!(app.popup().is_none(), "{again} closes {keys}");
    }
}

#[test]
fn quitting_redrawing_and_suspending_are_orders_to_the_runtime() {
    for (keys, effect) in [
        ("q", Effect::Quit),
        ("<f10>", Effect::Quit),
        ("<c-c>", Effect::Quit),
        ("? <c-c>", Effect::Quit),
        ("/ q <c-c>", Effect::Quit),
        ("<c-l>", Effect::Redraw),
        ("<c-z>", Effect::Suspend),
    ] {
        assert_eq!(press(&mut live_app(), keys).last(), Some(&effect), "{keys}");
    }
    assert_eq!(update(&mut live_app(), Event::Resumed), [Effect::Redraw]);
}

#[test]
fn keys_of_later_versions_say_so_and_are_not_listed() {
    for (key, _) in LATER {
        assert!(command::of_key(*key).is_none(), "{key:?}");
        let mut app = live_app();
        let row = selected(&app);
        assert_eq!(update(&mut app, Event::Key(*key)), []);
        assert!(
            app.status()
                .is_some_and(|said| said.ends_with("not in this version")),
            "{key:?}"
        );
        assert_eq!(selected(&app), row);
    }
}

#[test]
fn pasted_text_is_typed_into_prompts_only() {
    let mut app = live_app();
    assert_eq!(update(&mut app, Event::Paste("q\nT".to_owned())), []);
    assert!(app.status().is_some());
    press(&mut app, "/");
    update(&mut app, Event::Paste("finding:\u{1b}held\n".to_owned()));
    assert_eq!(app.filter().text(), "finding: held ");
}

#[test]
fn following_ends_when_the_row_is_gone() {
    let mut app = live_app();
    press(&mut app, "] F");
    assert!(app.nav().follows());
    update(&mut app, next(|scene| end(scene, 50_113)));
    assert!(!app.nav().follows());
}

#[test]
fn a_problem_of_the_collector_is_kept_until_the_next_sample() {
    let mut app = live_app();
    update(&mut app, Event::Problem("open /proc: no such file".to_owned()));
    press(&mut app, "<down>");
    assert_eq!(app.problem(), Some("open /proc: no such file"));
    update(&mut app, next(|_| {}));
    assert_eq!(app.problem(), None);
}

#[test]
fn a_machine_without_a_row_takes_every_key() {
    let mut app = app_of(Scene::new());
    for spec in commands() {
        for key in spec.keys {
            update(&mut app, Event::Key(*key));
            update(&mut app, Event::Key(Key::Esc));
        }
    }
    assert!(app.nav().rows().is_empty() || app.nav().plan().scope == Scope::Everything);
}

#[test]
fn no_key_and_no_name_is_given_twice() {
    let mut keys = HashSet::new();
    let mut names = HashSet::new();
    let mut listed = HashSet::new();
    for spec in commands() {
        assert!(names.insert(spec.name), "{}", spec.name);
        assert!(listed.insert(spec.command), "{:?}", spec.command);
        for key in spec.keys {
            assert!(keys.insert(*key), "{key:?}");
        }
    }
    for (key, _) in LATER {
        assert!(keys.insert(*key), "{key:?}");
    }
}

#[test]
fn names_and_docs_fit_where_they_are_shown() {
    for spec in commands() {
        assert!(spec.name.len() <= 16 && spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        assert!((3..=80).contains(&spec.doc.len()), "{}", spec.name);
        assert!(
            !spec.doc.ends_with('.') && spec.doc.starts_with(|c: char| c.is_lowercase()),
            "{}",
            spec.doc
        );
        assert!(spec.keys_label().len() <= 14, "{}", spec.keys_label());
        assert!(!spec.keys.is_empty(), "{}", spec.name);
    }
    let app = live_app();
    let width: usize = FOOTER
        .iter()
        .filter_map(|(command, _)| command::of(*command))
        .map(|spec| spec.keys[0].label().len() + spec.footer.unwrap_or_default().len() + 3)
        .sum();
    assert!(width <= 80, "the footer needs {width} columns");
    for (command, _) in FOOTER {
        let spec = command::of(command).unwrap();
        assert!(spec.footer.is_some());
        assert_eq!((spec.available)(&app), Availability::Yes);
    }
}

#[test]
fn instances_that_started_first_stand_first() {
    let mut app = live_app();
    press(&mut app, "/ playwright <enter>");
    let names = rows(&app);
    assert_eq!(
        &names[..4],
        [
            "codex 4821",
            "  playwright x50",
            "    playwright 10000",
            "    playwright 10001"
        ]
    );
}

/// Five thousand processes, 150 servers under one client.
#[test]
fn command_lines_are_made_for_the_rows_in_sight_and_kept() {
    let big = || {
        let mut scene = Scene::new();
        scene.process(2_000, 1, "user", DAY, &["codex"]);
        let owner = OwnerKey::Process(scene.key(2_000));
        for number in 3_000..8_000 {
            let parent = if number < 3_150 { 2_000 } else { 1 };
            scene.process(
                number,
                parent,
                "user",
                DAY,
                &["node", "server.js", &number.to_string()],
            );
            if number < 3_150 {
                scene.instance("git", number, owner.clone(), Finding::Severed);
            }
        }
        scene.world()
    };
    let mut app = app(big(), 120, 40);
    press(&mut app, "a");
    assert_eq!(app.nav().rows().len(), 5_002);
    let draw = |app: &App| {
        let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(120, 40)).unwrap();
        let mut scroll = crate::view::Scroll::default();
        terminal
            .draw(|frame| crate::view::draw(frame, app, &mut scroll))
            .unwrap();
    };
    draw(&app);
    let made = app.index.lines_made();
    assert!(
        (10..60).contains(&made),
        "{made} command lines for a screen of 40 lines"
    );
    update(&mut app, Event::World(big()));
    assert_eq!(
        app.index.lines_made(),
        made,
        "the next sample takes over what did not change"
    );
    press(&mut app, "/ server.js");
    assert_eq!(app.index.lines_made(), 5_002, "a filter looks at all of them");
}
