//! Opening, finding and continuing incidents; modes, owners, clocks, torn tails, two writers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use mcpwake::journal::entry::SnapshotReason;
use mcpwake::journal::{Entry, Operator};
use mcpwake::store::check::Outcome;
use mcpwake::store::{Access, Incident, Snapshot, Store, StoreError, check};

use super::kit::{self, State};

fn entries(incident: &Incident) -> Vec<Entry> {
    let mut entries = Vec::new();
    let verified = incident
        .read(&mut |line| entries.push(line.entry.clone().unwrap()))
        .unwrap();
    assert_eq!(verified.fault, None);
    entries
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn everything_is_private_whatever_the_umask() {
    let state = State::new();
    let incident = state.incident();
    incident
        .save(
            &kit::snapshot(&kit::world(1)),
            SnapshotReason::Freeze,
            &kit::operator(),
        )
        .unwrap();
    let mut waiting = vec![state.root()];
    let mut files = 0;
    while let Some(directory) = waiting.pop() {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                files += 1;
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
        }
    }
    assert_eq!(files, 2);
}

#[test]
fn what_others_may_use_is_refused_with_the_command_that_helps() {
    let state = State::new();
    let incident = state.incident();
    let append = || incident.append(kit::note("x"), &kit::operator(), kit::NOW);
    set_mode(&incident.journal(), 0o644);
    let error = append().unwrap_err();
    assert!(
        matches!(error, StoreError::NotPrivate { mode: 0o644, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("chmod 600"), "{error}");
    set_mode(&incident.journal(), 0o600);
    append().unwrap();
    set_mode(&state.root(), 0o755);
    let error = state
        .store()
        .create(&kit::opening("x"), &kit::operator(), kit::NOW)
        .unwrap_err();
    assert!(error.to_string().contains("chmod 700"), "{error}");
}

#[test]
fn what_belongs_to_somebody_else_is_refused() {
    let state = State::new();
    state.incident();
    let other = Store::new(state.root(), kit::uid() + 1, Access::ReadWrite, kit::redactor());
    let error = other
        .create(&kit::opening("x"), &kit::operator(), kit::NOW)
        .unwrap_err();
    assert!(matches!(error, StoreError::NotOwn { .. }), "{error}");
    let found = other.find(None, &kit::operator()).unwrap();
    let error = found
        .append(kit::note("x"), &kit::operator(), kit::NOW)
        .unwrap_err();
    assert!(matches!(error, StoreError::NotOwn { .. }), "{error}");
}

#[test]
fn a_read_only_store_writes_nothing_and_reads_everything() {
    let state = State::new();
    let incident = state.incident();
    let head = incident
        .append(kit::note("kept"), &kit::operator(), kit::NOW)
        .unwrap()
        .head();
    let store = kit::store_at(state.root(), Access::ReadOnly);
    let snapshot = kit::snapshot(&kit::world(1));
    let before = fs::read(incident.journal()).unwrap();
    let incident = store.find(None, &kit::operator()).unwrap();
    let refused = [
        store
            .create(&kit::opening("x"), &kit::operator(), kit::NOW)
            .map(|_| ()),
        store.save_loose(&snapshot).map(|_| ()),
        incident
            .append(kit::note("x"), &kit::operator(), kit::NOW)
            .map(|_| ()),
        incident
            .save(&snapshot, SnapshotReason::Freeze, &kit::operator())
            .map(|_| ()),
    ];
    for result in refused {
        assert!(matches!(result, Err(StoreError::ReadOnly { .. })), "{result:?}");
    }
    assert_eq!(fs::read(incident.journal()).unwrap(), before);
    assert_eq!(entries(&incident).len(), 2);
    assert_eq!(
        check(incident.path(), Some(head)).unwrap().outcome(),
        Outcome::Sound
    );
}

#[test]
fn a_vanished_directory_is_said() {
    let state = State::new();
    let incident = state.incident();
    fs::remove_dir_all(incident.path()).unwrap();
    let error = incident
        .append(kit::note("x"), &kit::operator(), kit::NOW)
        .unwrap_err();
    assert!(matches!(error, StoreError::Vanished { .. }), "{error}");
    let error = incident
        .save(
            &kit::snapshot(&kit::world(1)),
            SnapshotReason::Freeze,
            &kit::operator(),
        )
        .unwrap_err();
    let path = incident.path().display().to_string();
    assert!(error.to_string().contains(&path), "{error}");
    assert!(!incident.path().exists());
}

#[test]
fn a_torn_tail_is_moved_and_said_never_lost() {
    let state = State::new();
    let incident = state.incident();
    let torn = b"{\"seq\":2,\"prev\":\"00\xff";
    let mut bytes = fs::read(incident.journal()).unwrap();
    bytes.extend_from_slice(torn);
    fs::write(incident.journal(), bytes).unwrap();
    let receipt = incident
        .append(kit::note("after"), &kit::operator(), kit::later(1))
        .unwrap();
    assert_eq!(receipt.head().seq, 3);
    let entries = entries(&incident);
    assert!(
        matches!(&entries[1], Entry::TornTailMoved { bytes: 20, to, .. } if to == "journal.jsonl.torn"),
        "{entries:?}"
    );
    let kept = fs::read(incident.path().join("journal.jsonl.torn")).unwrap();
    assert_eq!(kept, [&torn[..], b"\n"].concat());
    assert_eq!(
        check(incident.path(), Some(receipt.head())).unwrap().outcome(),
        Outcome::Sound
    );
}

#[test]
fn a_clock_that_went_back_is_noted() {
    let state = State::new();
    let incident = state.incident();
    incident
        .append(kit::note("x"), &kit::operator(), kit::later(-60_000))
        .unwrap();
    assert_eq!(
        entries(&incident)[1],
        Entry::ClockChanged {
            from: kit::NOW,
            to: kit::later(-60_000)
        }
    );
}

#[test]
fn a_damaged_last_line_is_not_continued() {
    let state = State::new();
    let incident = state.incident();
    for bytes in [&b""[..], b"{}\n", b"torn"] {
        fs::write(incident.journal(), bytes).unwrap();
        let error = incident
            .append(kit::note("x"), &kit::operator(), kit::NOW)
            .unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert_eq!(fs::read(incident.journal()).unwrap(), bytes);
    }
}

#[test]
fn a_note_that_is_too_long_is_refused_and_costs_nothing() {
    let state = State::new();
    let incident = state.incident();
    let long = "long words ".repeat(200_000);
    let error = incident
        .append(kit::note(&long), &kit::operator(), kit::NOW)
        .unwrap_err();
    assert!(error.to_string().contains("attach"), "{error}");
    incident
        .append(kit::note("short"), &kit::operator(), kit::NOW)
        .unwrap();
    assert_eq!(entries(&incident).len(), 2);
}

#[test]
fn the_newest_open_incident_of_this_operator_is_meant() {
    let state = State::new();
    let store = state.store();
    let create = |title: &str, at| {
        store
            .create(&kit::opening(title), &kit::operator(), kit::later(at))
            .unwrap()
    };
    let first = create("first", 0);
    let second = create("second", 1000);
    let second_again = create("second", 1000);
    assert_ne!(second.path(), second_again.path());
    let close = Entry::Closed { remaining: None };
    let newest = store.find(None, &kit::operator()).unwrap();
    assert!(newest.path().to_str().unwrap().contains("-devbox-7-second"));
    for incident in [&second, &second_again] {
        incident
            .append(close.clone(), &kit::operator(), kit::later(2000))
            .unwrap();
    }
    assert_eq!(store.find(None, &kit::operator()).unwrap().path(), first.path());
    let colleague = Operator {
        login_uid: Some(1001),
        ..kit::operator()
    };
    assert!(matches!(
        store.find(None, &colleague),
        Err(StoreError::NoIncident { .. })
    ));
    let summaries = store.incidents().unwrap();
    assert_eq!(summaries.len(), 3);
    let id = &summaries[2].opened.as_ref().unwrap().incident;
    for wanted in [
        id.as_str(),
        &id[..8],
        first.path().file_name().unwrap().to_str().unwrap(),
    ] {
        assert_eq!(store.find(Some(wanted), &colleague).unwrap().path(), first.path());
    }
    assert!(store.find(Some(""), &colleague).is_err());
    assert!(store.find(Some("nothing"), &colleague).is_err());
}

#[test]
fn two_writers_at_once_lose_nothing() {
    const EACH: usize = 100;
    let state = State::new();
    let incident = state.incident();
    let write = |name: &'static str| {
        let incident = incident.clone();
        move || {
            (0..EACH)
                .map(|number| {
                    let entry = kit::note(&format!("{name} {number}"));
                    incident.append(entry, &kit::operator(), kit::NOW).unwrap().head()
                })
                .collect::<Vec<_>>()
        }
    };
    let (one, other) = (
        std::thread::spawn(write("one")),
        std::thread::spawn(write("other")),
    );
    let mut confirmed = [one.join().unwrap(), other.join().unwrap()].concat();
    confirmed.sort_by_key(|head| head.seq);
    let mut found = Vec::new();
    incident.read(&mut |line| found.push(line.head())).unwrap();
    assert_eq!(found[1..], confirmed);
    assert_eq!(confirmed.len(), 2 * EACH);
}

#[test]
fn a_snapshot_comes_back_as_it_was() {
    let state = State::new();
    let incident = state.incident();
    let snapshot = kit::snapshot(&kit::world(20));
    let (kept, _) = incident
        .save(&snapshot, SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    assert_eq!(Snapshot::load(&kept.path).unwrap(), snapshot);
    assert_eq!(**snapshot.world(), kit::world(20));
    let loose = state.store().save_loose(&snapshot).unwrap();
    assert_eq!(loose.sha256, kept.sha256);
}
