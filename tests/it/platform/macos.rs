//! Snapshots of a Mac under the commands, on whatever system this is: `attached.json` with a client and its server,
//! `severed.json` a minute after the client's end. The library's tests make and compare them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mcpwake::journal::entry::{Entry, SnapshotReason};
use mcpwake::journal::markdown;
use mcpwake::journal::subject::{InstanceRef, Subject};
use mcpwake::store::Snapshot;
use serde_json::Value;

use crate::keep::kit::{self, State};
use crate::support::Home;

const SERVER: &str = "710";

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/platform/macos");
    folder.join(name).display().to_string()
}

/// Runs the program; returns its exit code and stdout.
fn run(args: &[&str]) -> (i32, String) {
    let home = Home::new();
    let output = Command::new(env!("CARGO_BIN_EXE_mcpwake"))
        .args(args)
        .env_clear()
        .envs(home.variables())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), said)
}

#[test]
fn it_is_listed() {
    let (code, table) = run(&["list", "--from", &file("severed.json"), "--fail-on", "severed"]);
    assert_eq!(code, 4);
    assert!(table.contains("SEVERED") && table.contains(SERVER), "{table}");
    let (code, json) = run(&["list", "--json", "--all", "--from", &file("attached.json")]);
    assert_eq!(code, 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["host"]["os"], "macos");
    assert_eq!(json["host"]["hostname"], "ops-mac.local");
    assert_eq!(json["instances"][0]["finding"], "attached");
    assert_eq!(json["instances"][0]["client"]["pid"], 700);
    assert_eq!(json["processes"].as_array().unwrap().len(), 3);
    // Microseconds since the epoch are the start key, and the start.
    assert_eq!(json["processes"][2]["start_key"], 1_790_000_710_000_000_u64);
    assert_eq!(json["processes"][2]["start_time"], "2026-09-21T14:25:10.000Z");
    let problems = json["problems"].as_array().unwrap();
    assert!(problems.iter().any(|problem| problem["what"] == "containers"));
}

#[test]
fn one_process_is_shown() {
    let (code, page) = run(&["show", SERVER, "--from", &file("severed.json")]);
    assert_eq!(code, 0);
    for part in [
        "SEVERED",
        "peer closed",
        "python3",
        "launchd",
        "/Users/op/project",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn two_are_compared() {
    let (code, text) = run(&["diff", &file("attached.json"), &file("severed.json")]);
    assert_eq!(code, 0);
    assert!(text.contains("finding: attached -> severed"), "{text}");
    assert!(text.contains("0 came, 1 went"), "{text}");
}

#[test]
fn it_is_exported_with_its_incident() {
    let snapshot = Snapshot::load(&PathBuf::from(file("severed.json"))).unwrap();
    let instance = &snapshot.world().judged.instances[0];
    let state = State::new();
    let incident = state.incident();
    let operator = kit::operator();
    incident
        .save(&snapshot, SnapshotReason::Command, &operator)
        .unwrap();
    let note = Entry::Note {
        on: Some(Subject::Instance(InstanceRef::of(instance))),
        text: "left by a session that ended".to_owned(),
    };
    incident.append(note, &operator, kit::NOW).unwrap();
    let export = incident.tell().unwrap().export(&kit::redactor());
    assert_eq!((export.records.len(), export.problems.len()), (1, 0));
    let text = markdown::incident(&export);
    for part in [
        "python3 -m mcp_server_git",
        "left by a session that ended",
        "pgid 700",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
