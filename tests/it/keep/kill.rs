//! A writer that is killed at any moment: the journal verifies up to its last complete line, and what
//! was confirmed is there.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use mcpwake::journal::Head;
use mcpwake::journal::entry::SnapshotReason;
use mcpwake::store::{Access, Incident, check};

use super::kit::{self, State};

/// Names the state directory for the child that writes.
const WRITER: &str = "MCPWAKE_TEST_WRITER";
const CONFIRMED: &str = "confirmed ";

/// Writes notes and snapshots until it is killed, and says which entries were confirmed. Does nothing
/// but in a child of `a_killed_writer_loses_nothing_that_was_confirmed`.
#[test]
fn writer() {
    let Some(root) = std::env::var_os(WRITER) else {
        return;
    };
    let store = kit::store_at(root.into(), Access::ReadWrite);
    let incident = store.find(None, &kit::operator()).unwrap();
    let mut out = std::io::stdout();
    for number in 0_u64.. {
        let at = kit::NOW;
        let receipt = if number % 4 == 3 {
            let world = kit::world(1 + u32::try_from(number % 50).unwrap());
            let saved = incident.save(&kit::snapshot(&world), SnapshotReason::Command, &kit::operator());
            saved.unwrap().1
        } else {
            let text = "a note ".repeat(1 + usize::try_from(number % 300).unwrap());
            incident.append(kit::note(&text), &kit::operator(), at).unwrap()
        };
        writeln!(out, "{CONFIRMED}{}", receipt.head()).unwrap();
        out.flush().unwrap();
    }
}

fn spawn(state: &State) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["keep::kill::writer", "--exact", "--nocapture"])
        .env(WRITER, state.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills the writer after so many confirmations and so many turns; returns all that it confirmed.
fn write_and_kill(state: &State, confirmations: u64, turns: u64) -> Vec<Head> {
    let mut child = spawn(state);
    let mut heads = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let confirmed = |line: String| -> Option<Head> {
        // The test harness writes its own words in front.
        let at = line.find(CONFIRMED)?;
        Some(line[at + CONFIRMED.len()..].parse().unwrap())
    };
    while (heads.len() as u64) < confirmations {
        let line = lines.next().expect("the writer goes on").unwrap();
        heads.extend(confirmed(line));
    }
    for turn in 0..turns {
        std::hint::black_box(turn);
    }
    child.kill().unwrap();
    // The last line may have been cut in the pipe as well: then it was not said.
    for line in lines.map_while(Result::ok) {
        let whole = line
            .find(CONFIRMED)
            .map(|at| line[at + CONFIRMED.len()..].to_owned());
        heads.extend(whole.and_then(|head| head.parse::<Head>().ok()));
    }
    child.wait().unwrap();
    heads
}

fn journalled(incident: &Incident) -> BTreeMap<u64, Head> {
    let mut found = BTreeMap::new();
    incident
        .read(&mut |line| {
            found.insert(line.seq, line.head());
        })
        .unwrap();
    found
}

#[test]
fn a_killed_writer_loses_nothing_that_was_confirmed() {
    let rounds: u64 = std::env::var("MCPWAKE_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(200);
    let mut mixed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = State::new();
    let mut incident = state.incident();
    let mut confirmed = Vec::new();
    let mut torn = 0;
    for round in 0..rounds {
        if round % 20 == 0 {
            // A journal that grew makes each check longer, and says nothing new.
            state = State::new();
            incident = state.incident();
            confirmed.clear();
        }
        mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        confirmed.extend(write_and_kill(&state, mixed >> 62, (mixed >> 40) % 300_000));
        let checked = check(incident.path(), None).unwrap();
        assert_eq!(checked.verified.fault, None, "round {round}");
        assert_eq!(checked.faults, [], "round {round}");
        torn += u64::from(checked.verified.torn.is_some());
        let found = journalled(&incident);
        for head in &confirmed {
            assert_eq!(found.get(&head.seq), Some(head), "round {round}");
        }
    }
    println!("{rounds} rounds, {torn} of them left a torn line");
}

/// Control: the test above would find a writer that confirms before it writes.
#[test]
fn a_confirmation_without_an_entry_would_be_found() {
    let state = State::new();
    let incident = state.incident();
    let head = incident
        .append(kit::note("x"), &kit::operator(), kit::NOW)
        .unwrap()
        .head();
    let bytes = std::fs::read(incident.journal()).unwrap();
    std::fs::write(incident.journal(), &bytes[..bytes.len() - 1]).unwrap();
    let checked = check(incident.path(), None).unwrap();
    assert_eq!(checked.verified.fault, None);
    assert_eq!(journalled(&incident).get(&head.seq), None);
}
