//! Signals that are sent: from the row to the outcome, on the screen and on the kept.

use super::desk::{State, code};
use super::kit::{Nature, Stage};

fn term(pid: u32, outcome: &str) -> Vec<String> {
    vec![
        format!("about_to_signal TERM {pid}"),
        format!("sent TERM {pid}"),
        format!("outcome TERM {pid} {outcome}"),
    ]
}

fn kill(pid: u32, outcome: &str) -> Vec<String> {
    term(pid, outcome)
        .into_iter()
        .map(|line| line.replace("TERM", "KILL"))
        .collect()
}

/// Returns the line of the record that tells of signals.
fn termination(kept: &State) -> String {
    let record = kept.markdown();
    let line = record.lines().find(|line| line.starts_with("| Termination"));
    line.unwrap_or_else(|| panic!("{record}")).to_owned()
}

#[test]
fn the_right_digits_end_a_server_and_the_record_tells_it() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    desk.key("\r");
    desk.sees("Enter alone sends nothing");
    let wrong = if code(server.pid) == "123" { "124" } else { "123" };
    desk.confirms(wrong);
    desk.sees(&format!("not sent: {wrong} is not"));
    assert!(server.lives());
    assert_eq!(kept.signals(), Vec::<String>::new());
    desk.confirms(&code(server.pid));
    desk.sees(&format!("TERM git {}: exited after ", server.pid));
    desk.sees("Done: each outcome is journalled.");
    server.ends();
    desk.journals_signals(&term(server.pid, "exited"));
    desk.quits();
    kept.verifies();
    let told = termination(&kept);
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
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Deaf);
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    desk.sees("IGNORED");
    desk.confirms(&code(server.pid));
    desk.sees(&format!("TERM git {}: still there", server.pid));
    desk.sees("K offers forced containment (KILL)");
    desk.journals_signals(&term(server.pid, "still_there"));
    assert!(server.lives());
    desk.leaves("Stopped. TERM");
    desk.key("K");
    desk.is_asked("KILL", server.pid, true);
    if server.pid >= 1000 {
        desk.confirms(&code(server.pid));
        desk.sees(&format!("not sent: {} is not the whole pid", code(server.pid)));
        assert!(server.lives());
    }
    desk.confirms(&server.pid.to_string());
    desk.sees(&format!("KILL git {}: exited after ", server.pid));
    server.ends();
    let all = [term(server.pid, "still_there"), kill(server.pid, "exited")].concat();
    desk.journals_signals(&all);
    desk.quits();
    kept.verifies();
    let told = termination(&kept);
    assert!(told.contains("still there") && told.contains("KILL "), "{told}");
}

#[test]
fn one_that_is_started_again_came_back_and_the_new_one_is_named() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.supervised();
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    desk.confirms(&code(server.pid));
    server.ends();
    let again = stage.started();
    desk.sees(&format!("TERM git {}: came back", server.pid));
    desk.sees(&format!("as {}, child of", again.pid));
    desk.sees("Stopped.");
    desk.journals_signals(&term(server.pid, "came_back"));
    assert!(again.lives());
    desk.quits();
    kept.verifies();
    let told = termination(&kept);
    assert!(told.contains(&format!("as {}", again.pid)), "{told}");
}

#[test]
fn a_stopped_one_is_continued_with_the_term() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    server.stop();
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    desk.sees("[ ] CONT with it");
    desk.key("c");
    desk.sees("[x] CONT with it");
    desk.confirms(&code(server.pid));
    desk.sees(&format!("TERM git {}: exited after ", server.pid));
    server.ends();
    let pid = server.pid;
    desk.journals_signals(&[
        format!("about_to_signal TERM {pid}"),
        format!("sent TERM {pid}"),
        format!("about_to_signal CONT {pid}"),
        format!("sent CONT {pid}"),
        format!("outcome TERM {pid} exited"),
    ]);
    desk.quits();
    kept.verifies();
}

#[test]
fn from_a_frozen_view_the_frozen_row_is_meant() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.key("Z");
    desk.sees("FROZEN");
    // A younger one of the same name, which the held view does not know.
    let younger = stage.severed(Nature::Deaf);
    desk.asks_to_end(server.pid);
    desk.confirms(&code(server.pid));
    desk.sees(&format!("TERM git {}: exited after ", server.pid));
    server.ends();
    assert!(younger.lives());
    desk.journals_signals(&term(server.pid, "exited"));
    desk.quits();
    kept.verifies();
}

#[test]
fn a_mark_that_a_filter_hides_is_named_and_nothing_else_is_hit() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let (marked, other) = (stage.severed(Nature::Plain), stage.severed(Nature::Plain));
    let mut desk = kept.start();
    desk.selects(marked.pid, "SEVERED");
    desk.key(" ");
    desk.selects(other.pid, "SEVERED");
    desk.asks_to_end(marked.pid);
    desk.sees("Marked, but not visible now: ");
    desk.sees(&format!("git {} is selected and is not one of them", other.pid));
    desk.confirms(&code(marked.pid));
    desk.sees(&format!("TERM git {}: exited after ", marked.pid));
    marked.ends();
    assert!(other.lives());
    desk.journals_signals(&term(marked.pid, "exited"));
    desk.quits();
    kept.verifies();
}
