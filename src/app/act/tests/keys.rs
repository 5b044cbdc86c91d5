//! What opens and closes the dialog, and what it takes for a confirmation.

use super::super::testkit::Bench;
use crate::app::popup::{Content, Popup};
use crate::app::testkit::{NOW, Scene, app_with, chain, live, options, pid, press, selected};
use crate::app::{Event, Key, update};
use crate::journal::Entry;
use crate::model::act::{Difference, Signal, Standing, Way};
use crate::model::finding::Finding;
use crate::model::instance::OwnerKey;

/// The dialog for git 48271, with the incident open.
fn dialog(keys: &str) -> Bench {
    let mut bench = Bench::new(live());
    bench.press(keys);
    bench
}

fn is_open(bench: &Bench) -> bool {
    matches!(bench.app.popup().map(Popup::content), Some(Content::Act(_)))
}

#[test]
fn a_title_is_asked_first_and_the_dialog_follows_with_what_was_seen() {
    let mut bench = dialog("T");
    assert!(bench.app.prompt().is_some() && !is_open(&bench));
    // While the title is typed the selection moves on: the row at the key counts.
    bench.later(1000, Scene::new());
    bench.press("OPS-1412");
    bench.machine = live().world();
    bench.press("<enter>");
    assert!(is_open(&bench), "{}", bench.said());
    assert!(matches!(&bench.written[..], [Entry::Opened { title, .. }] if title == "OPS-1412"));
    bench.press("o 271 <enter>");
    assert_eq!(bench.pids(), [48_271]);
}

#[test]
fn no_title_no_dialog() {
    let mut bench = dialog("T OPS <esc>");
    assert!(!is_open(&bench));
    assert_eq!(bench.said(), "no incident opened");
    bench.press("271 <enter>");
    assert!(bench.pids().is_empty());
}

#[test]
fn the_exact_confirmation_sends_and_nothing_else_does() {
    for wrong in [
        "<enter>",
        "<enter> <enter> <enter>",
        "27 <enter>",
        "48271 <enter>",
        "2711 <enter>",
        "2 7 1 1 <enter>",
        "290 <enter>",
        "2222222222222222222222 <enter>",
        "27l <enter>",
        "T <enter>",
        "271 <backspace> <enter>",
        "271 <esc> <enter>",
        "271 T <enter>",
        "271 o o <enter>",
        "271 <space> <space> <enter>",
        "271 <c-u> <enter>",
        "y <enter>",
    ] {
        let mut bench = dialog("T OPS <enter> o");
        bench.press(wrong);
        assert!(bench.pids().is_empty(), "{wrong}");
        assert!(is_open(&bench) || wrong.contains("<esc>"), "{wrong}");
    }
    for right in [
        "271 <enter>",
        "9 <backspace> 271 <enter>",
        "9 <enter> 271 <enter>",
        "<up> 271 <pgdn> <enter>",
        "x 271 <enter>",
    ] {
        let mut bench = dialog("T OPS <enter> o");
        bench.press(right);
        assert_eq!(bench.pids(), [48_271], "{right}");
        let [signal] = &bench.signals[..] else {
            panic!("{right}")
        };
        assert_eq!(
            (signal.signal, signal.then_continue, signal.wait_ms),
            (Signal::Term, false, 2000)
        );
    }
}

#[test]
fn wrong_input_is_cleared_and_said() {
    let mut bench = dialog("T OPS <enter> o 48 <enter>");
    assert_eq!(bench.said(), "not sent: 48 is not the last 3 digits of 48271");
    bench.press("<enter>");
    assert_eq!(
        bench.said(),
        "Enter alone sends nothing: type the last 3 digits of 48271"
    );
    bench.press("2 7 O");
    assert_eq!(bench.said(), "'O' is no digit: type anew");
    bench.press("1 <enter>");
    assert!(bench.pids().is_empty());
}

#[test]
fn pasted_text_never_counts_and_takes_what_was_typed_with_it() {
    let mut bench = dialog("T OPS <enter> o 27");
    bench.event(Event::Paste("1\n".to_owned()));
    assert_eq!(bench.said(), "pasted text never counts: type the digits");
    bench.press("1 <enter>");
    bench.event(Event::Paste("271\n".to_owned()));
    bench.press("<enter>");
    assert!(bench.pids().is_empty());
    bench.press("271 <enter>");
    assert_eq!(bench.pids(), [48_271]);
}

#[test]
fn a_whole_confirmation_in_one_read_of_the_terminal_is_taken_for_pasted_text() {
    let together = |bench: &mut Bench, keys: &str| {
        bench.event(Event::Together(keys.split_whitespace().count()));
        bench.press(keys);
    };
    let mut bench = dialog("T OPS <enter> o");
    for keys in ["2 7 1 <enter>", "x 2 7 1 <enter>", "2 7 1 <enter> 2 7 1 <enter>"] {
        together(&mut bench, keys);
        assert!(bench.pids().is_empty() && is_open(&bench), "{keys}");
        assert_eq!(
            bench.said(),
            "not sent: digits and Enter came at once, as pasted text does: type them anew"
        );
    }
    // A slow line held some of them back.
    bench.press("2");
    together(&mut bench, "7 1 <enter>");
    assert_eq!(bench.pids(), [48_271]);
    let mut bench = dialog("T OPS <enter> o");
    together(&mut bench, "2 7 1");
    bench.press("<enter>");
    assert_eq!(
        bench.pids(),
        [48_271],
        "what came singly behind it is no part of it"
    );
}

#[test]
fn nothing_is_confirmed_on_a_terminal_that_cannot_show_it() {
    let mut bench = dialog("T OPS <enter> o");
    let (width, height) = (30, 5);
    bench.event(Event::Resized { width, height });
    bench.press("271 <enter>");
    assert!(bench.pids().is_empty() && is_open(&bench));
    assert_eq!(
        bench.said(),
        "not sent: the terminal is too small to show what would be"
    );
    let (width, height) = (40, 10);
    bench.event(Event::Resized { width, height });
    bench.press("271 <enter>");
    assert_eq!(bench.pids(), [48_271]);
}

#[test]
fn what_is_typed_before_the_targets_were_read_again_does_not_count() {
    let mut bench = dialog("i OPS <enter>");
    bench.slow = true;
    bench.press("T o 271 <enter>");
    assert!(bench.pids().is_empty() && is_open(&bench));
    assert!(bench.said().contains("being read again"));
}

#[test]
fn missing_steps_stand_in_the_way_until_they_are_passed_over() {
    let mut bench = dialog("T OPS <enter> 271 <enter>");
    assert_eq!(
        bench.said(),
        "not sent: revoke a b c   verify a b c not done; o goes on without"
    );
    bench.press("o o 271 <enter>");
    assert!(bench.pids().is_empty(), "passed over, and not any more");
    bench.press("o 271 <enter>");
    assert_eq!(bench.pids(), [48_271]);
    let kinds: Vec<&str> = bench.written.iter().map(kind).collect();
    assert_eq!(kinds, ["opened", "snapshot", "override", "about", "sent"]);
    let Some(Entry::Override {
        on: Some(on),
        missing,
    }) = bench
        .written
        .iter()
        .find(|entry| matches!(entry, Entry::Override { .. }))
    else {
        panic!("no override");
    };
    assert_eq!(on.name, "git");
    assert_eq!(missing, &["revoke a b c", "verify a b c"]);
}

fn kind(entry: &Entry) -> &'static str {
    match entry {
        Entry::Opened { .. } => "opened",
        Entry::Snapshot { .. } => "snapshot",
        Entry::Override { .. } => "override",
        Entry::AboutToSignal { .. } => "about",
        Entry::Sent { .. } => "sent",
        _ => "other",
    }
}

#[test]
fn another_tick_is_another_confirmation_and_other_missing_steps() {
    let mut bench = dialog("T OPS <enter> o <down> <space> 271 <enter>");
    assert!(bench.pids().is_empty());
    assert_eq!(
        bench.said(),
        "not sent: 271 is not 2 (targets), then the last 3 digits of 48290,"
    );
    bench.press("2290 <enter>");
    assert_eq!(
        bench.pids(),
        [48_271],
        "the second waits for the outcome of the first"
    );
    let mut bench = dialog("T OPS <enter> o <space> 271 <enter>");
    assert_eq!(bench.said(), "not sent: no target is ticked");
    bench.press("<down> <space> 290 <enter>");
    assert_eq!(bench.pids(), [48_290]);
}

#[test]
fn kill_wants_the_whole_pid_and_a_term_before() {
    let mut bench = dialog("K OPS <enter> 271 <enter>");
    assert_eq!(bench.said(), "not sent: 271 is not the whole pid 48271");
    bench.press("48271 <enter>");
    assert!(
        bench.said().contains("TERM 48271 and a second look"),
        "{}",
        bench.said()
    );
    bench.press("o 48271 <enter>");
    assert_eq!(bench.signals[0].signal, Signal::Kill);
}

#[test]
fn f9_asks_which_signal() {
    let mut bench = dialog("<f9> OPS <enter> o 271 <enter>");
    assert!(bench.pids().is_empty() && is_open(&bench));
    bench.press("T o 271 <enter>");
    assert_eq!(bench.signals[0].signal, Signal::Term);
    let mut bench = dialog("<f9> OPS <enter> K o 48271 <enter>");
    assert_eq!(bench.signals[0].signal, Signal::Kill);
    bench = dialog("<f9> OPS <enter> <esc>");
    assert!(!is_open(&bench));
}

#[test]
fn whoever_is_no_member_of_an_instance_wants_the_whole_pid() {
    let mut bench = dialog("a / pid:50120 <enter> <end>");
    assert_eq!(selected(&bench.app), "sh 50120");
    bench.press("T OPS <enter> 120 <enter>");
    assert_eq!(bench.said(), "not sent: 120 is not the whole pid 50120");
    bench.press("50120 <enter>");
    assert_eq!(bench.pids(), [50_120]);
}

#[test]
fn pids_below_a_hundred_and_with_zeroes_are_typed_as_they_are() {
    for (number, code) in [(42, "42"), (1_007, "007"), (700, "700")] {
        let mut scene = Scene::new();
        scene.process(number, 1, "root", 100, &["mcp"]);
        let init = scene.key(1);
        scene.instance("git", number, OwnerKey::Adopter(init), Finding::Severed);
        let mut bench = Bench::new(scene);
        bench.press(&format!("T OPS <enter> {code} <enter>"));
        assert_eq!(bench.pids(), [number]);
    }
}

#[test]
fn a_live_client_asks_a_second_time() {
    let mut bench = dialog("a / pid:2211 <enter> <home>");
    while selected(&bench.app) != "claude 2211"
        || bench
            .app
            .nav()
            .node()
            .is_none_or(|node| !matches!(node.id, crate::table::RowId::Process(_)))
    {
        let before = bench.app.nav().at();
        bench.press("<down>");
        if bench.app.nav().at() == before {
            break;
        }
    }
    bench.press("T OPS <enter> 2211 <enter>");
    assert!(bench.pids().is_empty());
    assert!(bench.said().contains("second time"), "{}", bench.said());
    bench.press("<enter> 211 <enter>");
    assert!(bench.pids().is_empty());
    bench.press("<esc> 2211 <enter> 2211 <enter>");
    assert_eq!(bench.pids(), [2_211]);
    assert!(bench.written.iter().any(|entry| matches!(
        entry,
        Entry::Override { on: None, missing } if missing == &["2211 is a live client of 6 servers"]
    )));
}

#[test]
fn whoever_is_not_what_was_seen_closes_it() {
    let same = |change: fn(&mut crate::model::process::Process)| {
        let world = live().world();
        let mut process = world.sample.process(pid(48_271)).unwrap().clone();
        change(&mut process);
        Box::new(process)
    };
    for (standing, said) in [
        (Standing::Gone, "48271 is gone"),
        (
            Standing::Replaced,
            "48271 was replaced: its pid is another process's now",
        ),
        (
            Standing::Changed(same(|_| {}), vec![Difference::Argv, Difference::Program]),
            "48271 is not what was seen: its command line and its program changed",
        ),
        (
            Standing::Unread("open /proc/48271/stat: EMFILE".to_owned()),
            "48271 could not be read again: open /proc/48271/stat: EMFILE",
        ),
        (
            Standing::Same(same(|process| process.state = 'Z')),
            "48271 has exited: TERM does nothing, its parent 1 must wait for it",
        ),
        (
            Standing::Same(same(|process| process.key.start.0 += 1)),
            "48271 could not be read again",
        ),
    ] {
        let mut bench = dialog("i OPS <enter>");
        bench.looks.insert(48_271, standing);
        bench.press("T");
        assert!(!is_open(&bench));
        assert_eq!(bench.said(), format!("closed, nothing was sent: {said}"));
        bench.press("o 271 <enter>");
        assert!(bench.pids().is_empty());
    }
}

#[test]
fn a_helper_that_is_gone_cannot_be_ticked_and_the_server_still_can() {
    let mut bench = dialog("i OPS <enter>");
    bench.looks.insert(48_290, Standing::Gone);
    bench.press("T <down> <space>");
    assert_eq!(bench.said(), "48290: is gone");
    bench.press("o 271 <enter>");
    assert_eq!(bench.pids(), [48_271]);
}

#[test]
fn a_look_without_an_answer_for_each_closes_it() {
    let mut bench = dialog("i OPS <enter>");
    let effects = press(&mut bench.app, "T");
    let job = effects.iter().find_map(|effect| match effect {
        crate::app::Effect::Desk(job, _) => Some(*job),
        _ => None,
    });
    update(
        &mut bench.app,
        Event::Done(job.unwrap(), crate::app::Outcome::Looked(Vec::new())),
    );
    assert!(!is_open(&bench));
}

#[test]
fn a_stopped_target_is_offered_cont_with_the_term() {
    let mut bench = dialog("i OPS <enter>");
    let mut process = bench.machine.sample.process(pid(48_271)).unwrap().clone();
    process.state = 'T';
    bench.looks.insert(48_271, Standing::Same(Box::new(process)));
    bench.press("T c o 271 <enter>");
    assert!(bench.signals[0].then_continue);
    let mut bench = dialog("T OPS <enter> c");
    assert!(bench.said().contains("none is ticked"));
    bench.press("o 271 <enter>");
    assert!(!bench.signals[0].then_continue);
}

#[test]
fn new_worlds_move_nothing_beneath_it() {
    let mut bench = dialog("T OPS <enter> o 2");
    let mut scene = live();
    scene.sample.processes.remove(&pid(48_271));
    scene
        .judged
        .instances
        .retain(|one| one.lead_process().pid != pid(48_271));
    scene.process(48_271, 1, "root", 5, &["stranger"]);
    bench.later(1000, scene);
    bench.later(2000, Scene::new());
    assert!(is_open(&bench));
    bench.press("71 <enter>");
    // The signaller withholds it; the order names whom the operator saw.
    let [signal] = &bench.signals[..] else { panic!() };
    let seen = live().key(48_271);
    assert_eq!(signal.target.key, seen);
    let argv = signal.target.argv.value().unwrap();
    assert_eq!(argv[0].lossy(), "python");
}

#[test]
fn from_a_frozen_view_the_frozen_rows_are_meant() {
    let mut bench = dialog("i OPS <enter> Z");
    assert!(!bench.app.feed().is_live());
    bench.later(60_000, Scene::new());
    bench.press("T o 271 <enter>");
    assert_eq!(bench.signals[0].target.key, live().key(48_271));
    let taken: Vec<i64> = bench
        .written
        .iter()
        .filter_map(|entry| match entry {
            Entry::Snapshot { taken_at, .. } => Some(taken_at.0),
            _ => None,
        })
        .collect();
    assert_eq!(taken, [NOW], "what was frozen is in the incident already");
    let mut bench = dialog("i OPS <enter> Z");
    bench.machine = Scene::new().world();
    bench.press("T");
    assert_eq!(bench.said(), "closed, nothing was sent: 48271 is gone");
}

#[test]
fn marked_rows_are_meant_wherever_the_selection_is() {
    // git and scrape are marked, then the selection moves and a filter hides both.
    let mut bench = dialog("<space> <down> <space> / wedge <enter> T OPS <enter>");
    let Some(Content::Act(open)) = bench.app.popup().map(Popup::content) else {
        panic!("{}", bench.said());
    };
    assert_eq!(open.hidden(), ["git 48271", "scrape 50113"]);
    assert_eq!(open.not_meant(), Some("claude 2211"));
    bench.press("o 2113 <enter>");
    assert_eq!(bench.pids(), [48_271]);
    bench.watched(Some(10));
    let mut scene = live();
    scene.sample.processes.remove(&pid(48_271));
    bench.later(3000, scene);
    assert_eq!(bench.pids(), [48_271, 50_113], "never the selected row");
}

#[test]
fn rows_of_several_act_on_marked_rows_only() {
    let mut bench = dialog("<home> T");
    assert!(bench.app.prompt().is_none());
    assert!(bench.said().contains("this row counts several"));
    bench.press("<down> <space> <home> T OPS <enter> o 271 <enter>");
    assert_eq!(bench.pids(), [48_271]);
}

#[test]
fn what_is_refused_says_why() {
    let mut scene = live();
    scene.process(2, 0, "root", 1000, &[]).kernel_thread = true;
    scene.process(60_000, 1, "root", 10, &["mcpwake"]);
    scene.process(59_000, 1, "root", 10, &["bash"]);
    scene.sample.observer.ancestors = vec![pid(59_000), pid(1)];
    scene.edit(50_120).state = 'Z';
    for (number, said) in [
        (1, "pid 1 is never signalled"),
        (2, "a thread of the kernel is never signalled"),
        (60_000, "it is this program"),
        (59_000, "it is an ancestor of this program"),
        (
            50_120,
            "has exited: TERM does nothing, its parent 1 must wait for it",
        ),
    ] {
        let mut again = live();
        again.sample = scene.sample.clone();
        again.judged = scene.judged.clone();
        let mut bench = Bench::new(again);
        bench.press("a t t * <home>");
        for _ in 0..500 {
            let node = bench.app.nav().node().expect("a row");
            if matches!(node.id, crate::table::RowId::Process(key) if key.pid == pid(number)) {
                break;
            }
            bench.press("<down>");
        }
        bench.press("T");
        assert!(bench.said().contains(said), "{number}: {}", bench.said());
        assert!(bench.app.prompt().is_none());
    }
}

#[test]
fn more_than_twenty_are_refused() {
    let mut bench = dialog("/ playwright <enter>");
    for _ in 0..25 {
        bench.press("<down> <space> <up>");
    }
    assert!(bench.app.marks().len() > 20, "{}", bench.app.marks().len());
    bench.press("T");
    assert!(bench.said().contains("at most 20"), "{}", bench.said());
}

#[test]
fn read_only_and_saved_samples_signal_nothing() {
    let mut read_only = options();
    read_only.read_only = true;
    let mut saved = options();
    saved.origin = Some("one.json".to_owned());
    saved.read_only = true;
    for (options, said) in [
        (read_only, "term: read-only: nothing is signalled"),
        (
            saved,
            "term: a saved sample: its processes are not signalled from here",
        ),
    ] {
        let mut app = app_with(options, live().world(), 80, 24);
        for key in [Key::Char('T'), Key::Char('K'), Key::F(9)] {
            let effects = update(&mut app, Event::Key(key));
            assert!(effects.is_empty() && app.popup().is_none() && app.prompt().is_none());
        }
        press(&mut app, "T");
        assert_eq!(app.status(), Some(said));
    }
}

#[test]
fn a_launcher_row_means_the_launcher() {
    let mut scene = Scene::new();
    chain(&mut scene);
    let mut bench = Bench::new(scene);
    bench.press("* <f3> npm <enter> T OPS <enter> 010 <enter>");
    if bench.pids().is_empty() {
        bench.press("<esc> <down> T 010 <enter>");
    }
    assert_eq!(bench.pids(), [3_010]);
}

#[test]
fn the_way_that_leaves_a_window_is_named() {
    for (way, named) in [(Way::KeptPidfd, false), (Way::NewPidfd, true), (Way::Kill, true)] {
        let mut bench = dialog("i OPS <enter>");
        bench.way = way;
        bench.press("T");
        let Some(Content::Act(open)) = bench.app.popup().map(Popup::content) else {
            panic!("{}", bench.said());
        };
        assert_eq!(open.window().is_some(), named);
    }
}
