//! Whole screens, drawn on a terminal that is a buffer.

mod acting;
mod frozen;
mod kept;

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::{Scroll, draw};
use crate::app::testkit::{Scene, all_well, app, app_with, chain, hostile, live, options, pid, press};
use crate::app::{App, Colour, Event, update};
use crate::model::finding::{Finding, Lead, LeadKind};
use crate::model::host::{Os, Visibility};
use crate::model::instance::{LookedAt, OwnerKey};
use crate::model::reading::{Absence, Reading};
use crate::model::sample::{Problem, Unsearched};
use crate::model::world::World;

fn drawn(app: &App, scroll: &mut Scroll) -> Buffer {
    let (width, height) = app.size();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, app, scroll)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(crate::text::width::columns(symbol)).unwrap().max(1);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn screen(app: &App) -> String {
    text(&drawn(app, &mut Scroll::default()))
}

/// The live world, where the selected server has a long command line.
fn long_command() -> Arc<World> {
    let mut scene = live();
    let argv = std::iter::once("/opt/tools/python3".to_owned())
        .chain((0..12).map(|at| format!("--directory-{at}=/srv/repositories/number-{at}")));
    scene.edit(48_271).argv = Reading::Value(argv.map(|one| one.into_bytes().into()).collect());
    scene.world()
}

/// The live world, where the catalogue does not know the client of pid 2211.
fn unknown_client() -> Arc<World> {
    let mut scene = live();
    let client = scene.edit(2211);
    client.argv = Reading::Value(["node", "/srv/tools/driver.mjs"].map(Into::into).to_vec());
    let key = client.key;
    scene.judged.clients.remove(&key);
    scene.world()
}

/// Draws after each key, as the program does, and returns the last screen.
fn after(world: Arc<World>, size: (u16, u16), script: &str) -> String {
    let mut app = app(world, size.0, size.1);
    let mut scroll = Scroll::default();
    drawn(&app, &mut scroll);
    for word in script.split_whitespace() {
        press(&mut app, word);
        drawn(&app, &mut scroll);
    }
    text(&drawn(&app, &mut scroll))
}

const SMALL: (u16, u16) = (40, 10);
const USUAL: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (120, 40);

macro_rules! screens {
    ($($name:ident: $world:expr, $size:expr, $script:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(after($world, $size, $script));
            }
        )*
    };
}

screens! {
    live_80: live().world(), USUAL, "";
    live_120: live().world(), WIDE, "";
    live_40: live().world(), SMALL, "";
    unfolded_80: live().world(), (80, 40), "<down> <down> <down> + <down> +";
    pane_evidence_120: live().world(), WIDE, "1";
    pane_descriptors_80: live().world(), USUAL, "2";
    pane_descriptors_full_120: live().world(), WIDE, "2 <enter> <enter>";
    pane_sockets_80: live().world(), USUAL, "3";
    pane_group_80: live().world(), USUAL, "4";
    pane_group_strangers_120: live().world(), WIDE, "/ pid:10000 <enter> <down> <down> 4";
    pane_elapsed_80: live().world(), USUAL, "5";
    pane_elapsed_120: live().world(), WIDE, "5";
    pane_evidence_full_80: live().world(), USUAL, "<enter> <enter>";
    pane_alone_40: live().world(), SMALL, "<enter>";
    filter_typing_80: live().world(), USUAL, "/ finding:sev";
    filter_kept_80: live().world(), USUAL, "/ playwright <enter>";
    filter_nothing_80: live().world(), USUAL, "/ nosuchthing <enter>";
    search_80: live().world(), USUAL, "<f3> wedge <enter>";
    help_80: live().world(), USUAL, "?";
    help_end_120: live().world(), WIDE, "? G";
    palette_80: live().world(), USUAL, ": so";
    palette_40: live().world(), SMALL, ": filter";
    many_leads_80: many_leads(), USUAL, "";
    many_leads_full_120: many_leads(), WIDE, "<enter> <enter>";
    client_row_80: live().world(), USUAL, "<end>";
    explain_80: live().world(), USUAL, "e";
    counts_80: live().world(), USUAL, "c";
    problems_80: with_problems(), USUAL, "!";
    everything_80: all_well().world(), USUAL, "a";
    ancestors_120: launched(), WIDE, "t";
    flat_sorted_80: live().world(), USUAL, "t t > > > > > > >";
    nothing_left_80: all_well().world(), USUAL, "0";
    no_server_80: nobody().world(), USUAL, "";
    no_server_everything_80: nobody().world(), USUAL, "a";
    not_root_80: not_root(), USUAL, "0";
    macos_80: macos(), USUAL, "0";
    owner_selected_80: live().world(), USUAL, "<home>";
    hostile_120: hostile().world(), WIDE, "";
    hostile_counts_80: hostile().world(), USUAL, "c";
    pane_without_room_40: live().world(), SMALL, "2";
    low_80: live().world(), (80, 12), "";
    head_of_a_long_command_80: long_command(), USUAL, "4";
    head_of_a_long_command_full_80: long_command(), USUAL, "4 <enter> <enter>";
    unknown_client_80: unknown_client(), USUAL, "g <down> <down> <down> <down>";
    filter_wrong_80: live().world(), USUAL, "/ finding:sevred";
    later_key_80: live().world(), USUAL, "7";
}

/// The live world, where the selected server has more leads than fit above its facts, and a helper whose
/// first argument is a whole command line.
fn many_leads() -> Arc<World> {
    let mut scene = live();
    let long = "/usr/lib/chromium/chromium --type=renderer --enable-features=A,B,C --lang=en-US --num-raster-threads=4";
    let server = scene.key(48_271);
    let instance = scene
        .judged
        .instances
        .iter_mut()
        .find(|one| one.server == Some(server))
        .unwrap();
    let leads = instance.reach.as_mut().unwrap();
    for (letter, kind, target) in [
        (
            "d",
            LeadKind::File,
            "/var/lib/a/very/long/way/down/to/the/place/of/a/database/called/DIPS-wal",
        ),
        ("e", LeadKind::File, "/srv/app/state.db"),
        ("f", LeadKind::Child, long),
    ] {
        leads.push(Lead {
            letter: letter.to_owned(),
            kind,
            target: target.into(),
            ..leads[0].clone()
        });
    }
    scene.world()
}

/// A client with a chain of launchers, unfolded in every way.
fn launched() -> Arc<World> {
    let mut scene = Scene::new();
    chain(&mut scene);
    scene.world()
}

fn nobody() -> Scene {
    let mut scene = Scene::new();
    for number in 2..60 {
        scene.process(number, 1, "root", 1000, &["/usr/sbin/daemon", "--foreground"]);
    }
    scene.judged.looked_at = LookedAt {
        files: 3,
        entries: 14,
        running: 0,
    };
    scene.judged.problems.push(Problem {
        pid: None,
        what: "/home/b/.claude.json".to_owned(),
        kind: Absence::Denied,
        detail: "run as its user, or as root".to_owned(),
    });
    scene
}

fn with_problems() -> Arc<World> {
    let mut scene = live();
    scene.sample.problems.push(Problem {
        pid: Some(pid(70_001)),
        what: "/proc/70001/fd".to_owned(),
        kind: Absence::Denied,
        detail: "root may read it".to_owned(),
    });
    scene.judged.problems.push(Problem {
        pid: None,
        what: "/home/b/.claude.json".to_owned(),
        kind: Absence::Failed,
        detail: "line 3: a comma is missing".to_owned(),
    });
    let process = scene.key(70_001);
    scene.sample.unsearched.push(Unsearched {
        process,
        why: Absence::Denied,
    });
    scene.world()
}

fn not_root() -> Arc<World> {
    let mut scene = nobody();
    scene.judged.problems.clear();
    for (number, user) in [(101, "deploy"), (102, "root")] {
        scene
            .process(number, 1, user, 1000, &["node", "/opt/x/mcp-server.js"])
            .descriptors = Reading::Denied;
        let uid = *scene.edit(number).uid.value().unwrap();
        scene
            .instance("x", number, OwnerKey::User(uid), Finding::Unknown)
            .reach = None;
    }
    scene.sample.visibility = Visibility::Own;
    scene.sample.readable = 35;
    scene.sample.observer.uid = 1000;
    scene.sample.observer.user = "u".into();
    scene.sample.hidden = Some(12);
    scene.world()
}

fn macos() -> Arc<World> {
    let mut scene = nobody();
    scene.sample.host.os = Os::Macos;
    scene.sample.observer.uid = 501;
    scene.sample.visibility = Visibility::Own;
    scene.sample.readable = 41;
    scene.world()
}

#[test]
fn before_the_first_sample_it_says_so() {
    insta::assert_snapshot!(screen(&App::new(options())));
}

#[test]
fn a_terminal_too_small_says_what_it_needs() {
    let app = app(live().world(), 32, 8);
    insta::assert_snapshot!(screen(&app));
}

#[test]
fn a_server_without_leads_has_nothing_to_revoke_and_read_only_offers_no_signal() {
    let mut scene = live();
    let server = scene.key(48_271);
    for instance in &mut scene.judged.instances {
        if instance.server == Some(server) {
            instance.reach = Some(Vec::new());
        }
    }
    let world = scene.world();
    let step = |app: &App| {
        let screen = screen(app);
        let lines: Vec<&str> = screen.lines().collect();
        lines[lines.len() - 2].trim().to_owned()
    };
    let mut live = app(Arc::clone(&world), 120, 40);
    let said = step(&live);
    assert!(said.contains("no authority seen: nothing to revoke"), "{said}");
    assert!(!said.contains("0/0") && said.contains("[ ]TERM"), "{said}");
    press(&mut live, "6 <enter> <enter>");
    let record = screen(&live);
    let authority = record
        .lines()
        .find(|line| line.trim_start().starts_with("authority"));
    assert!(
        authority.is_some_and(|line| line.contains("nothing to revoke")),
        "{record}"
    );
    let mut still = options();
    still.read_only = true;
    let said = step(&app_with(still, Arc::clone(&world), 120, 40));
    assert!(!said.contains("TERM"), "{said}");
    let mut saved = options();
    saved.origin = Some("one.json".to_owned());
    let said = step(&app_with(saved, world, 120, 40));
    assert!(!said.contains("TERM"), "{said}");
}

#[test]
fn every_next_step_fits_a_usual_screen() {
    for finding in Finding::ALL {
        let mut scene = live();
        let server = scene.key(48_271);
        for instance in &mut scene.judged.instances {
            if instance.server == Some(server) {
                instance.finding = finding;
                instance.older_twin = true;
            }
        }
        let mut app = app(scene.world(), 80, 24);
        press(&mut app, "/ pid:48271 <enter>");
        press(&mut app, "0");
        let screen = screen(&app);
        let lines: Vec<&str> = screen.lines().collect();
        let step = lines[lines.len() - 2];
        assert!(
            step.contains("next: ") && !step.contains('…'),
            "{finding:?}: {step}"
        );
    }
}

#[test]
fn ascii_draws_nothing_else() {
    let mut plain = options();
    plain.ascii = true;
    for (world, script) in [
        (live().world(), ""),
        (hostile().world(), ""),
        (live().world(), "5"),
        (live().world(), "?"),
        (live().world(), ":"),
        (hostile().world(), "2"),
    ] {
        let mut app = app_with(plain.clone(), world, 80, 24);
        press(&mut app, script);
        let screen = screen(&app);
        assert!(screen.is_ascii(), "{screen}");
    }
    // Nobody else's text is in this world: what is escaped there would be a sign of our own.
    for script in ["1", "2", "3", "4", "5", "6", "?", ":", "!", "c", "e", "a"] {
        let mut app = app_with(plain.clone(), live().world(), 120, 40);
        press(&mut app, script);
        let screen = screen(&app);
        assert!(!screen.contains("\\u{"), "{script}: {screen}");
    }
    let app = app_with(plain, live().world(), 80, 24);
    insta::assert_snapshot!("ascii_80", screen(&app));
}

#[test]
fn without_colour_no_cell_has_one_and_the_text_is_the_same() {
    let mut plain = options();
    plain.colour = Colour::None;
    let grey = app_with(plain, live().world(), 80, 24);
    let buffer = drawn(&grey, &mut Scroll::default());
    for cell in buffer.content() {
        assert_eq!(cell.fg, ratatui::style::Color::Reset);
        assert_eq!(cell.bg, ratatui::style::Color::Reset);
    }
    assert_eq!(text(&buffer), screen(&app(live().world(), 80, 24)));
}

#[test]
fn sixteen_colours_use_no_other() {
    let mut few = options();
    few.colour = Colour::Sixteen;
    let app = app_with(few, live().world(), 120, 40);
    for cell in drawn(&app, &mut Scroll::default()).content() {
        assert!(!matches!(
            cell.fg,
            ratatui::style::Color::Indexed(_) | ratatui::style::Color::Rgb(..)
        ));
    }
}

#[test]
fn no_cell_of_a_hostile_world_has_a_control_character() {
    let scripts = [
        "",
        "2",
        "3",
        "4",
        "5",
        "e",
        "c",
        "!",
        "a",
        "t",
        "t t",
        "/ \u{1b}x",
        "?",
        ": x",
        "<home> 1",
    ];
    for size in [SMALL, USUAL, WIDE] {
        for script in scripts {
            let mut app = app(hostile().world(), size.0, size.1);
            press(&mut app, script);
            update(&mut app, Event::Problem("bad \u{1b}[1m path\n".to_owned()));
            for cell in drawn(&app, &mut Scroll::default()).content() {
                for c in cell.symbol().chars() {
                    let bidi = matches!(u32::from(c), 0x200b..=0x200f | 0x202a..=0x202e | 0x2066..=0x2069);
                    assert!(!c.is_control() && !bidi, "{:?} after {script:?}", cell.symbol());
                }
            }
        }
    }
}

#[test]
fn every_size_is_drawn() {
    let world = all_well().world();
    for width in [1, 2, 39, 40, 41, 57, 79, 80, 119, 160] {
        for height in [1, 2, 9, 10, 11, 17, 18, 24, 49] {
            for script in ["", "<enter>", "<enter> <enter>", "?", ": a"] {
                let mut app = app(Arc::clone(&world), width, height);
                press(&mut app, script);
                let buffer = drawn(&app, &mut Scroll::default());
                assert_eq!((buffer.area.width, buffer.area.height), (width, height));
            }
        }
    }
}

#[test]
fn a_scrolled_pane_stays_within_its_text_and_starts_anew_for_another_row() {
    let mut app = app(live().world(), 80, 24);
    let mut scroll = Scroll::default();
    drawn(&app, &mut scroll);
    press(&mut app, "<enter> G j j j");
    let end = text(&drawn(&app, &mut scroll));
    press(&mut app, "k");
    assert_ne!(
        text(&drawn(&app, &mut scroll)),
        end,
        "one line up from the end shows another line"
    );
    press(&mut app, "<esc> <down>");
    drawn(&app, &mut scroll);
    press(&mut app, "<up>");
    assert!(
        text(&drawn(&app, &mut scroll)).contains("python -m mcp_server_git"),
        "the head is in sight again"
    );
}
