//! Signals that are sent: from the row to the outcome, on the screen and on the record.

use super::case::Case;
use super::desk::State;
use super::kit::{Nature, Stage};

/// Returns the line of the record that tells of signals.
fn termination(kept: &State) -> String {
    let record = kept.markdown();
    let line = record.lines().find(|line| line.starts_with("| Termination"));
    line.unwrap_or_else(|| panic!("{record}")).to_owned()
}

#[test]
fn the_right_digits_end_a_server_and_the_record_tells_it() {
    let case = Case::severed(Nature::Plain);
    let mut desk = case.asked();
    desk.key("\r");
    desk.sees("Enter alone sends nothing");
    let wrong = if case.code() == "123" { "124" } else { "123" };
    desk.confirms(wrong);
    desk.sees(&format!("not sent: {wrong} is not"));
    assert!(case.server.lives());
    case.nothing_is_announced();
    desk.confirms(&case.code());
    case.exits_of(&desk, "TERM");
    desk.sees("Done: each outcome is journalled.");
    desk.journals_signals(&case.entries("TERM", "exited"));
    case.closes(desk);
    let told = termination(&case.kept);
    let (time, rest) = told
        .split_once("TERM ")
        .and_then(|(_, rest)| rest.split_once(", exited after "))
        .unwrap_or_else(|| panic!("{told}"));
    assert!(time.ends_with('Z'), "{told}");
    let (milliseconds, rest) = rest.split_once(" ms").unwrap_or_else(|| panic!("{told}"));
    assert!(milliseconds.parse::<u64>().is_ok(), "{told}");
    assert!(rest.contains("nothing left"), "{told}");
}

#[test]
fn one_that_ignores_term_is_killed_only_by_its_whole_pid() {
    let case = Case::severed(Nature::Deaf);
    let mut desk = case.asked();
    desk.sees("IGNORED");
    desk.confirms(&case.code());
    desk.sees(&format!("TERM git {}: still there", case.pid()));
    desk.sees("K offers forced containment (KILL)");
    desk.journals_signals(&case.entries("TERM", "still_there"));
    assert!(case.server.lives());
    desk.leaves("Stopped. TERM");
    desk.key("K");
    desk.is_asked("KILL", case.pid(), true);
    if case.pid() >= 1000 {
        desk.confirms(&case.code());
        desk.sees(&format!("not sent: {} is not the whole pid", case.code()));
        assert!(case.server.lives());
    }
    desk.confirms(&case.pid().to_string());
    case.exits_of(&desk, "KILL");
    let all = [
        case.entries("TERM", "still_there"),
        case.entries("KILL", "exited"),
    ]
    .concat();
    desk.journals_signals(&all);
    case.closes(desk);
    let told = termination(&case.kept);
    assert!(told.contains("still there") && told.contains("KILL "), "{told}");
}

#[test]
fn one_that_is_started_again_came_back_and_the_new_one_is_named() {
    let case = Case::of(Stage::supervised);
    let mut desk = case.asked();
    desk.confirms(&case.code());
    case.server.ends();
    let again = case.stage.started();
    desk.sees(&format!("TERM git {}: came back", case.pid()));
    desk.sees(&format!("as {}, child of", again.pid));
    desk.sees("Stopped.");
    desk.journals_signals(&case.entries("TERM", "came_back"));
    assert!(again.lives());
    case.closes(desk);
    let told = termination(&case.kept);
    assert!(told.contains(&format!("as {}", again.pid)), "{told}");
}

#[test]
fn a_stopped_one_is_continued_with_the_term() {
    let case = Case::severed(Nature::Plain);
    case.server.stop();
    let mut desk = case.asked();
    desk.sees("[ ] CONT with it");
    desk.key("c");
    desk.sees("[x] CONT with it");
    desk.confirms(&case.code());
    case.exits_of(&desk, "TERM");
    let pid = case.pid();
    desk.journals_signals(&[
        format!("about_to_signal TERM {pid}"),
        format!("sent TERM {pid}"),
        format!("about_to_signal CONT {pid}"),
        format!("sent CONT {pid}"),
        format!("outcome TERM {pid} exited"),
    ]);
    case.closes(desk);
}

#[test]
fn from_a_frozen_view_the_frozen_row_is_meant() {
    let case = Case::severed(Nature::Plain);
    let mut desk = case.on_its_frozen_row();
    // A younger one of the same name, which the held view does not know.
    let younger = case.stage.severed(Nature::Deaf);
    desk.asks_to_end(case.pid());
    desk.confirms(&case.code());
    case.exits_of(&desk, "TERM");
    assert!(younger.lives());
    desk.journals_signals(&case.entries("TERM", "exited"));
    case.closes(desk);
}

#[test]
fn a_mark_that_a_filter_hides_is_named_and_nothing_else_is_hit() {
    let case = Case::severed(Nature::Plain);
    let other = case.stage.severed(Nature::Plain);
    let mut desk = case.on_its_row();
    desk.key(" ");
    desk.selects(other.pid, "SEVERED");
    desk.asks_to_end(case.pid());
    desk.sees("Marked, but not visible now: ");
    desk.sees(&format!("git {} is selected and is not one of them", other.pid));
    desk.confirms(&case.code());
    case.exits_of(&desk, "TERM");
    assert!(other.lives());
    desk.journals_signals(&case.entries("TERM", "exited"));
    case.closes(desk);
}
