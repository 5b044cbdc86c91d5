//! Incidents, notes, marks and the question before quitting.

use std::sync::Arc;

use super::{SMALL, USUAL, WIDE, screen};
use crate::app::keep::Configured;
use crate::app::keep::testkit::{Journal, serve, served};
use crate::app::testkit::{app, app_with, live, options, pid, press};
use crate::app::{Effect, Event, JobId, Offer, Options, Order, Outcome, update};
use crate::model::time::UnixMillis;

/// The screen after keys, with a desk that answers; `unanswered` keys are pressed without one.
fn kept(size: (u16, u16), keys: &str, unanswered: &str) -> String {
    let world = live().world();
    let mut journal = Journal::of(&world);
    let mut app = app(world, size.0, size.1);
    for key in keys.split(" | ") {
        let effects = press(&mut app, key);
        serve(&mut app, &mut journal, effects);
    }
    press(&mut app, unanswered);
    screen(&app)
}

macro_rules! kept {
    ($($name:ident: $size:expr, $keys:expr, $unanswered:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(kept($size, $keys, $unanswered));
            }
        )*
    };
}

kept! {
    title_80: USUAL, "", "m OPS-1412";
    title_40: SMALL, "", "m OPS-1412";
    note_80: USUAL, "m OPS-1412 <enter>", "seen writing to the repository";
    note_on_incident_80: USUAL, "m OPS-1412 <enter>", "<tab> handed over";
    noted_120: WIDE, "m OPS-1412 <enter> seen <enter>", "";
    incident_80: USUAL, "m OPS-1412 <enter> seen <enter>", "i";
    incident_120: WIDE, "m OPS-1412 <enter> seen <enter>", "i";
    marked_80: USUAL, "", "<space> <space> <up>";
    record_80: USUAL, "r OPS-1412 <enter>", "";
    record_leads_80: USUAL, "r OPS-1412 <enter> | G v gateway <enter> | d <enter> <enter>", "";
    record_typing_80: USUAL, "r OPS-1412 <enter>", "<end> k k k <enter> look for the push on the remote";
    record_typing_40: SMALL, "r OPS-1412 <enter>", "G v gateway";
    record_120: WIDE, "r OPS-1412 <enter> | G v gateway <enter> | d <enter> <enter>", "k";
    record_stated_80: USUAL, "r OPS-1412 <enter> | G v by <space> anna <space> at <space> 01:07 <enter> <enter>", "";
    record_stated_40: SMALL, "r OPS-1412 <enter>", "G v";
    record_doubted_80: USUAL, "r OPS-1412 <enter> | G v gateway <enter>", "d <enter>";
    record_added_80: USUAL, "r OPS-1412 <enter> | G v gateway <enter> | k k k k k <enter> ticket <enter>", "";
    incident_records_80: USUAL, "r OPS-1412 <enter> | G v gateway <enter> | m seen <enter> | <esc>", "i";
    incident_records_120: WIDE, "r OPS-1412 <enter> | G v gateway <enter> | m seen <enter> | <esc>", "i";
    incident_records_40: SMALL, "r OPS-1412 <enter> | G v gateway <enter> | m seen <enter> | <esc>", "i";
    record_pane_80: USUAL, "", "6";
    record_pane_120: WIDE, "m OPS-1412 <enter> seen <enter> | r G v <enter> <esc>", "6";
    quit_80: USUAL, "i OPS-1412 <enter>", "m lost? <enter> q";
    quit_40: SMALL, "i OPS-1412 <enter>", "m lost? <enter> q";
}

#[test]
fn read_only_dims_what_writes_and_says_why() {
    let mut options = options();
    options.read_only = true;
    let mut app = app_with(options, live().world(), 80, 24);
    let mut journal = Journal::of(&live().world());
    served(&mut app, &mut journal, ": note");
    insta::assert_snapshot!(screen(&app));
}

#[test]
fn a_copy_is_said_to_be_sent_where_nobody_answers() {
    let mut app = app(live().world(), 80, 24);
    let effects = press(&mut app, "<space> <space> y");
    let job = effects.iter().find_map(|effect| match effect {
        Effect::Desk(job, Order::Copy(_)) => Some(*job),
        _ => None,
    });
    let said = "2 rows: sent to the terminal; file copies/20261201T010712.000Z.md".to_owned();
    update(&mut app, Event::Done(job.unwrap(), Outcome::Copied(said)));
    insta::assert_snapshot!(screen(&app));
}

fn asking(size: (u16, u16), keys: &str) -> String {
    let command = Configured {
        name: "introspect \u{1b}[31m".to_owned(),
        argv: vec![
            "/usr/local/libexec/introspect".to_owned(),
            "--endpoint=https://tokens.example.org/introspect".to_owned(),
            "--name".to_owned(),
            "{target}".to_owned(),
            "a b\u{7}".to_owned(),
        ],
        kinds: Vec::new(),
        timeout_s: 30,
    };
    let second = Configured {
        name: "second".to_owned(),
        ..command.clone()
    };
    let world = live().world();
    let mut journal = Journal::of(&world);
    let options = Options {
        commands: vec![command, second].into(),
        ..options()
    };
    let mut app = app_with(options, world, size.0, size.1);
    served(&mut app, &mut journal, "r OPS-1412 <enter> G");
    press(&mut app, keys);
    screen(&app)
}

#[test]
fn a_command_is_asked_for_in_full() {
    insta::assert_snapshot!("command_80", asking(USUAL, "x ye"));
    insta::assert_snapshot!("command_40", asking(SMALL, "x <down>"));
    insta::assert_snapshot!("command_offered_80", asking(USUAL, ""));
}

#[test]
fn a_note_of_several_lines_stands_line_by_line() {
    let world = live().world();
    let mut journal = Journal::of(&world);
    let mut app = app(world, 80, 24);
    served(&mut app, &mut journal, "m OPS-1412 <enter> seen");
    update(&mut app, Event::Edited(Ok("seen\n".to_owned())));
    insta::assert_snapshot!("note_unchanged_80", screen(&app));
    let effects = update(
        &mut app,
        Event::Edited(Ok("seen\n\n  at 10:00\u{1b}[2J\nand gone".to_owned())),
    );
    serve(&mut app, &mut journal, effects);
    press(&mut app, "i");
    insta::assert_snapshot!("note_of_lines_80", screen(&app));
}

#[test]
fn an_incident_that_is_not_as_it_was_written_is_said_wherever_it_is_read() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 40);
    let mut journal = Journal::of(&world);
    let (_, mut opened) = crate::app::keep::testkit::opened(&mut journal, None, &world);
    let fault = "journal line 5: edited, nothing after entry 4 is shown: its hash is not that of its bytes";
    opened.faults = vec![fault.to_owned(), "snapshots/1.json missing".to_owned()];
    update(&mut app, Event::Incident(opened));
    let header = "NOT AS WRITTEN (2, !): journal line 5: edited, nothing after entry 4 is shown";
    assert!(screen(&app).contains(header), "{}", screen(&app));
    for keys in ["6 <enter> <enter>", "<esc> <esc> !", "<esc> i"] {
        press(&mut app, keys);
        let shown = screen(&app);
        for part in [
            "journal line 5: edited",
            "nothing after entry 4",
            "snapshots/1.json missing",
        ] {
            assert!(shown.contains(part), "{keys}: {part}\n{shown}");
        }
    }
}

/// What is wrong, and what to do, stands at the end of a message.
#[test]
fn a_message_that_one_line_has_no_room_for_takes_the_line_of_the_keys() {
    let world = live().world();
    let mut journal = Journal::of(&world);
    let mut app = app(world, 80, 24);
    for key in ["m T <enter>", "seen <enter>"] {
        let effects = press(&mut app, key);
        serve(&mut app, &mut journal, effects);
    }
    let effects = press(&mut app, "m once-more <enter>");
    let job = effects.iter().find_map(|effect| match effect {
        Effect::Desk(job, Order::Append(_)) => Some(*job),
        _ => None,
    });
    let why =
        "append to /var/lib/mcpwake/incidents/20261201T010712.118Z-devbox-7-t/journal.jsonl: no space left";
    let outcome = Outcome::Written(Err(why.to_owned()));
    let _ = update(&mut app, Event::Done(job.expect("an order"), outcome));
    let screen = screen(&app);
    let lines: Vec<&str> = screen.lines().collect();
    let [.., step, keys] = &lines[..] else {
        panic!("{screen}");
    };
    assert!(
        step.starts_with(" NOT WRITTEN: the note on git 48271: append to"),
        "{screen}"
    );
    assert!(keys.contains("no space left"), "{screen}");
    let _ = press(&mut app, "j");
    assert!(!self::screen(&app).contains("no space left"), "the keys are back");
}

#[test]
fn an_incident_that_is_open_on_another_screen_is_named_in_the_header() {
    for (size, wanted) in [
        (
            USUAL,
            "incident OPS-7 is open, not on this screen: i goes on with it",
        ),
        (SMALL, "OPS-7 is open: i goes on"),
    ] {
        let mut app = app(live().world(), size.0, size.1);
        let offer = Offer {
            title: "OPS-7".to_owned(),
            at: UnixMillis(0),
            path: "/incidents/one".to_owned(),
        };
        update(&mut app, Event::Done(JobId(1), Outcome::Found(Some(offer))));
        assert!(screen(&app).contains(wanted), "{}", screen(&app));
        let mut journal = Journal::of(&live().world());
        let effects = press(&mut app, "i <enter>");
        serve(&mut app, &mut journal, effects);
        assert!(!screen(&app).contains(wanted), "{}", screen(&app));
    }
}

#[test]
fn the_row_of_what_is_gone_says_so_and_its_record_is_reached() {
    for (name, (width, height)) in [("80", USUAL), ("40", SMALL)] {
        let world = live().world();
        let mut journal = Journal::of(&world);
        let mut app = app(Arc::clone(&world), width, height);
        served(
            &mut app,
            &mut journal,
            "r OPS-1412 <enter> G v gateway <enter> <esc>",
        );
        let mut scene = live();
        scene.seq += 1;
        scene.sample.taken_at = crate::model::time::UnixMillis(scene.sample.taken_at.0 + 1000);
        scene.sample.processes.remove(&pid(48_271));
        let instances = &mut scene.judged.instances;
        instances.retain(|one| one.lead_process().pid != pid(48_271));
        update(&mut app, Event::World(scene.world()));
        insta::assert_snapshot!(format!("gone_said_{name}"), screen(&app));
        press(&mut app, "z");
        insta::assert_snapshot!(format!("gone_{name}"), screen(&app));
        press(&mut app, "<down> i");
        insta::assert_snapshot!(format!("gone_listed_{name}"), screen(&app));
        press(&mut app, "<enter> G");
        insta::assert_snapshot!(format!("gone_record_{name}"), screen(&app));
    }
}
