//! Every kind of entry: read as it was written, and still read when a later version reads it.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use mcpwake::journal::entry::{
    AttachedFrom, FieldName, FieldSource, OutcomeKind, SinceRevoked, SnapshotReason,
};
use mcpwake::journal::{Digest, Entry, Head, InstanceRef, LeadRef, Subject, TargetRef};
use mcpwake::store::check::Outcome;
use mcpwake::store::{Attachment, Incident, check};

use super::kit::{self, State};

const ARGV: [&str; 3] = ["python", "-m", "mcp_server_git"];

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/keep/golden")
}

/// What operators tell, one entry a kind.
fn told() -> Vec<Entry> {
    let instance = kit::instance(9);
    let on = InstanceRef::of(&instance);
    let lead = LeadRef::of(&instance.reach.unwrap()[0]);
    vec![
        Entry::Note {
            on: Some(Subject::Process {
                key: kit::key(3),
                comm: "sh".to_owned(),
            }),
            text: "a note \u{1f41d} with \"quotes\" and\na second line".to_owned(),
        },
        Entry::Field {
            on: on.clone(),
            field: FieldName::Session,
            value: kit::SESSION.to_owned(),
            source: FieldSource::Observed,
        },
        Entry::Revoked {
            on: on.clone(),
            lead: lead.clone(),
            revoked_at: kit::later(1),
            by: Some("ana".to_owned()),
            how: None,
            done_by: None,
            done_at: None,
        },
        Entry::Denied {
            on: on.clone(),
            lead,
            denied_at: kit::later(2),
            how: Some("401".to_owned()),
            done_by: None,
            done_at: None,
        },
        Entry::JobCancelled {
            on: on.clone(),
            job: "job-17".to_owned(),
            cancelled_at: kit::later(3),
            by: None,
        },
        Entry::ClientUnavailable {
            on: on.clone(),
            after: Some(kit::NOW),
            before: None,
            basis: "last record".to_owned(),
            source: FieldSource::Entered,
        },
        Entry::SinceRevoked {
            on: on.clone(),
            counts: SinceRevoked {
                connections_opened: Some(1),
                bytes_sent: Some(u64::MAX),
                calls_attempted: None,
                calls_denied: Some(0),
                since: None,
            },
        },
        Entry::Override {
            on: Some(on),
            missing: vec!["denial of b".to_owned()],
        },
    ]
}

/// What the program does, one entry a kind.
fn done() -> Vec<Entry> {
    let target = TargetRef {
        key: kit::key(9),
        pidfd_inode: Some(7009),
        argv: ARGV.map(str::to_owned).into(),
        instance: Some(InstanceRef::of(&kit::instance(9))),
    };
    let signal = || "TERM".to_owned();
    vec![
        Entry::AboutToSignal {
            signal: signal(),
            targets: vec![target.clone()],
            way: "pidfd".to_owned(),
        },
        Entry::Sent {
            signal: signal(),
            target: target.clone(),
            way: "pidfd".to_owned(),
            refused: None,
            announced: None,
        },
        Entry::Outcome {
            signal: signal(),
            target,
            outcome: OutcomeKind::Exited,
            after_ms: Some(212),
            detail: None,
            announced: None,
        },
        Entry::ClockChanged {
            from: kit::NOW,
            to: kit::later(9),
        },
        Entry::TornTailMoved {
            to: "journal.jsonl.torn".to_owned(),
            bytes: 20,
            sha256: Digest::of(b"torn"),
        },
        Entry::TerminalLost {},
        Entry::Closed {
            remaining: Some("look for the push".to_owned()),
        },
    ]
}

/// One entry of each kind that is not made by the store itself.
fn plain_entries() -> Vec<Entry> {
    [told(), done()].concat()
}

/// Writes an entry of each kind; returns the head.
fn write_all(incident: &Incident) -> Head {
    let operator = kit::operator();
    let snapshot = kit::snapshot(&kit::severed(&ARGV));
    incident
        .save(&snapshot, SnapshotReason::Freeze, &operator)
        .unwrap();
    let attachment = Attachment {
        label: "introspection".to_owned(),
        on: None,
        lead: None,
        from: AttachedFrom::Command {
            argv: vec!["introspect".to_owned(), "b".to_owned()],
            started_at: kit::NOW,
            ended_at: kit::later(1),
            status: "exited with 0".to_owned(),
        },
    };
    let mut output = Cursor::new(b"active: false\n");
    incident
        .attach(&mut output, attachment, &operator, kit::NOW)
        .unwrap();
    let mut last = None;
    for (entry, at) in plain_entries().into_iter().zip(1..) {
        last = Some(incident.append(entry, &operator, kit::later(at)).unwrap().head());
    }
    last.unwrap()
}

fn read(incident: &Incident) -> Vec<Entry> {
    let mut entries = Vec::new();
    incident
        .read(&mut |line| entries.push(line.entry.clone().unwrap()))
        .unwrap();
    entries
}

#[test]
fn every_kind_is_read_as_it_was_written() {
    let state = State::new();
    let incident = state.incident();
    write_all(&incident);
    let entries = read(&incident);
    assert_eq!(entries[3..], plain_entries());
    assert!(matches!(entries[0], Entry::Opened { .. }));
    assert!(matches!(entries[1], Entry::Snapshot { .. }));
    assert!(matches!(entries[2], Entry::Attached { .. }));
}

#[test]
fn a_kind_of_a_later_version_does_not_stop_a_reader() {
    let state = State::new();
    let incident = state.incident();
    write_all(&incident);
    let text = fs::read_to_string(incident.journal()).unwrap();
    let newer = text.replace("\"kind\":\"terminal_lost\"", "\"kind\":\"weather\",\"wind\":3");
    assert_ne!(newer, text);
    fs::write(incident.journal(), super::tamper::forged_anew(&newer)).unwrap();
    let export = incident.tell().unwrap().export(&kit::redactor());
    assert!(export.problems[0].contains("weather"), "{:?}", export.problems);
    assert_eq!(export.records.len(), 1);
}

/// The files under `golden` were written by the first version and are never written again.
#[test]
fn the_first_versions_incident_is_sound() {
    let directory = golden().join("incident-1");
    let head_file = golden().join("incident-1.head");
    if std::env::var_os("MCPWAKE_GOLDEN").is_some() && !directory.exists() {
        let state = State::new();
        let incident = state.incident();
        let head = write_all(&incident);
        copy(incident.path(), &directory);
        fs::write(&head_file, format!("{head}\n")).unwrap();
    }
    let head: Head = fs::read_to_string(head_file).unwrap().trim().parse().unwrap();
    let checked = check(&directory, Some(head)).unwrap();
    assert_eq!(checked.outcome(), Outcome::Sound, "{checked:?}");
    assert_eq!((checked.verified.entries, checked.sound_files), (18, 2));
    let incident = Incident::for_reading(directory);
    assert_eq!(read(&incident)[3..], plain_entries());
    let export = incident.tell().unwrap().export(&kit::redactor());
    assert_eq!((export.records.len(), export.problems.len()), (1, 0));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &there);
        } else {
            fs::copy(&path, there).unwrap();
        }
    }
}
