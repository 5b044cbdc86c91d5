//! Several at work on one incident: what a screen sees of what another writes, and whose snapshots go into
//! which incident.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use mcpwake::journal::{Entry, Operator};
use mcpwake::model::time::UnixMillis;
use mcpwake::store::{Snapshot, Tail, Turn};

use super::kit::{self, State};
use crate::pty::harness::{Seen, Start, Terminal};

fn numbers(tail: &mut Tail, journal: &std::path::Path) -> Vec<u64> {
    let added = tail.read(journal).unwrap();
    added.lines.iter().map(|line| line.seq).collect()
}

#[test]
fn a_tail_reads_what_was_added_and_nothing_twice() {
    let state = State::new();
    let incident = state.incident();
    let journal = incident.journal();
    let append = |text: &str| {
        incident
            .append(kit::note(text), &kit::operator(), kit::NOW)
            .unwrap()
    };
    let mut tail = Tail::default();
    assert_eq!(numbers(&mut tail, &journal), [1]);
    assert!(!tail.read(&journal).unwrap().changed);
    append("one");
    append("two");
    assert_eq!(numbers(&mut tail, &journal), [2, 3]);
    // A line without its end is waited for; the next writer moves it away.
    let mut file = OpenOptions::new().append(true).open(&journal).unwrap();
    file.write_all(b"{\"seq\":4").unwrap();
    let added = tail.read(&journal).unwrap();
    assert!(added.changed && added.lines.is_empty() && added.turn.is_none());
    append("three");
    let added = tail.read(&journal).unwrap();
    assert_eq!(added.lines.len(), 2, "the torn line, and the note");
    assert!(!added.anew && added.turn.is_none());
}

#[test]
fn a_tail_says_where_a_journal_does_not_simply_go_on() {
    let state = State::new();
    let incident = state.incident();
    let journal = incident.journal();
    let mut tail = Tail::default();
    incident
        .append(kit::note("one"), &kit::operator(), kit::NOW)
        .unwrap();
    assert_eq!(numbers(&mut tail, &journal), [1, 2]);
    // Another file in its place, with the same bytes.
    let bytes = fs::read(&journal).unwrap();
    incident
        .append(kit::note("two"), &kit::operator(), kit::NOW)
        .unwrap();
    let longer = fs::read(&journal).unwrap();
    fs::remove_file(&journal).unwrap();
    fs::write(&journal, &bytes).unwrap();
    let added = tail.read(&journal).unwrap();
    assert!(added.anew && added.turn.is_none());
    assert_eq!(added.lines.len(), 2);
    // A line that does not join is where it ends, and is said once.
    let mut file = OpenOptions::new().append(true).open(&journal).unwrap();
    file.write_all(&bytes).unwrap();
    let added = tail.read(&journal).unwrap();
    assert!(added.turn == Some(Turn::Breaks) && added.lines.is_empty());
    file.write_all(b"more\n").unwrap();
    let added = tail.read(&journal).unwrap();
    assert!(added.changed && added.turn.is_none() && added.lines.is_empty());
    // What was put right is read on from there.
    fs::write(&journal, &longer).unwrap();
    let added = tail.read(&journal).unwrap();
    assert!(added.turn == Some(Turn::Mended) && !added.anew);
    assert_eq!(added.lines.len(), 1);
    // Shorter than what was read.
    fs::write(&journal, &bytes[..bytes.len() / 2]).unwrap();
    assert!(tail.read(&journal).unwrap().anew);
}

/// A snapshot of this person, saved so long behind the others.
fn saved(state: &State, login_uid: u32, ms: i64) -> PathBuf {
    let mut world = kit::world(2);
    world.sample.observer.login_uid = Some(login_uid);
    world.sample.taken_at = kit::later(ms);
    let snapshot = Snapshot::new(&world, &[], "builtin", kit::later(ms), &kit::redactor());
    state.store().save_loose(&snapshot).unwrap().path
}

#[test]
fn a_new_incident_takes_in_what_its_operator_saved_since_the_last_one() {
    let state = State::new();
    let boot = kit::world(1).sample.host.boot_id;
    let loose = |operator: &Operator| state.store().loose(&boot, operator).unwrap();
    let me = kit::operator();
    let early = saved(&state, 1000, 0);
    saved(&state, 1001, 0);
    assert_eq!(loose(&me), [early], "a colleague's is theirs");
    assert_eq!(
        state.store().loose("another boot", &me).unwrap(),
        [] as [PathBuf; 0]
    );
    let incident = state
        .store()
        .create(&kit::opening("OPS-1"), &me, kit::later(10))
        .unwrap();
    saved(&state, 1000, 20);
    assert_eq!(
        loose(&me),
        [] as [PathBuf; 0],
        "it may belong to the one that is open"
    );
    incident
        .append(Entry::Closed { remaining: None }, &me, kit::later(30))
        .unwrap();
    assert_eq!(loose(&me), [] as [PathBuf; 0], "that was of the last one");
    let late = saved(&state, 1000, 40);
    assert_eq!(loose(&me), std::slice::from_ref(&late));
    let next = state
        .store()
        .create(&kit::opening("OPS-2"), &me, kit::later(50))
        .unwrap();
    next.copy_in(&late, &me, kit::later(50)).unwrap();
    next.append(Entry::Closed { remaining: None }, &me, UnixMillis(0))
        .unwrap();
    assert_eq!(state.store().untaken(&[late]).unwrap(), [] as [PathBuf; 0]);
}

/// A screen on the state directory that the other shares.
fn screen(state: &tempfile::TempDir) -> Terminal {
    let terminal = Start::program()
        .sized(120, 40)
        .with("XDG_STATE_HOME", &state.path().display().to_string())
        .start();
    terminal.has_started();
    terminal.sees("LIVE");
    terminal
}

#[test]
fn two_screens_work_on_one_incident() {
    let state = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (screen(&state), screen(&state));
    one.press("i");
    one.sees("title of a new incident:");
    one.press("OPS-1412\r");
    one.sees("incident OPS-1412 is open");
    // This one ran already: it learns of it, and goes on with it instead of beginning a second one.
    two.sees("incident OPS-1412 is open, not on this screen");
    two.press("Z");
    two.sees("saved sha256 ");
    let header = two.with_seen(Seen::text);
    let digest = header.split("saved sha256 ").nth(1).unwrap()[..6].to_owned();
    two.press("i");
    two.sees("title (empty: OPS-1412):");
    two.press("\r");
    two.sees(&format!(
        "snapshot {digest}… copied in; incident OPS-1412 is open in"
    ));
    one.press("i");
    one.sees(&digest);
    two.press("g");
    two.press("m");
    two.sees("note on the incident:");
    two.press("seen by the other\r");
    two.sees("on disk: entry 3");
    // The list that is open grows with it.
    one.sees("seen by the other");
    let incidents = fs::read_dir(state.path().join("mcpwake/incidents")).unwrap();
    assert_eq!(incidents.count(), 1);
}
