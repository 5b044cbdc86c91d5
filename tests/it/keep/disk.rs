//! A disk without room: said, nothing lost, and it goes on once there is room.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use mcpwake::journal::entry::SnapshotReason;
use mcpwake::store::check::Outcome;
use mcpwake::store::{Access, StoreError, check};

use super::kit;

/// Names the small file system for the child that fills it.
const SMALL: &str = "MCPWAKE_TEST_SMALL_DISK";
const DONE: &str = "the disk was full and it was said";

/// Fills a small disk. Does nothing but in a child of `a_full_disk_is_said_and_nothing_is_lost`.
#[test]
fn filler() {
    let Some(small) = std::env::var_os(SMALL) else {
        return;
    };
    let small = Path::new(&small);
    let store = kit::store_at(small.join("mcpwake"), Access::ReadWrite);
    let incident = kit::open(&store, "full");
    let ballast = small.join("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    drop(file);
    let text = "a note that needs room ".repeat(20);
    let mut last = None;
    let error = loop {
        match incident.append(kit::note(&text), &kit::operator(), kit::NOW) {
            Ok(receipt) => last = Some(receipt.head()),
            Err(error) => break error,
        }
    };
    assert!(error.is_full(), "{error}");
    let said = error.to_string();
    assert!(
        said.contains("journal.jsonl") && said.contains("make room"),
        "{said}"
    );
    let large = kit::snapshot(&kit::world(500));
    let error = incident
        .save(&large, SnapshotReason::Freeze, &kit::operator())
        .unwrap_err();
    assert!(error.is_full(), "{error}");
    let checked = check(incident.path(), last).unwrap();
    assert_eq!(checked.outcome(), Outcome::Sound, "{checked:?}");
    std::fs::remove_file(ballast).unwrap();
    incident
        .append(kit::note(&text), &kit::operator(), kit::NOW)
        .unwrap();
    let (_, receipt) = incident
        .save(&large, SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    let checked = check(incident.path(), Some(receipt.head())).unwrap();
    assert_eq!(checked.outcome(), Outcome::Sound, "{checked:?}");
    println!("{DONE}");
}

/// The child gets a file system of its own, in a mount namespace that nobody else sees.
#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=2m,mode=0700 none "$1" || exit 77; exec "$2" keep::disk::filler --exact --nocapture"#;
    let unshare = |extra: &[&str]| {
        Command::new("unshare")
            .args(extra)
            .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
            .arg(place.path())
            .arg(std::env::current_exe().unwrap())
            .env(SMALL, place.path())
            .stdin(Stdio::null())
            .output()
    };
    let as_user = ["--user", "--map-root-user"];
    let output = match unshare(&[]) {
        Ok(output) if output.status.success() => Ok(output),
        _ => unshare(&as_user),
    };
    let Ok(output) = output else {
        println!("not tried: no unshare(1) here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let refused = String::from_utf8_lossy(&output.stderr);
    if !said.contains("running") {
        println!("not tried: no mount namespace here: {refused}");
        return;
    }
    assert!(output.status.success(), "{said}{refused}");
    assert!(said.contains(DONE), "{said}");
}

/// What helps against a full disk does not help against a refusal.
#[test]
fn a_disk_that_is_full_is_told_from_other_failures() {
    let full = StoreError::Io {
        operation: "append to",
        path: "/x/journal.jsonl".into(),
        reason: std::io::Error::from(std::io::ErrorKind::StorageFull),
    };
    let denied = StoreError::Io {
        operation: "append to",
        path: "/x/journal.jsonl".into(),
        reason: std::io::Error::from(std::io::ErrorKind::PermissionDenied),
    };
    assert!(full.is_full() && full.to_string().contains("make room"));
    assert!(!denied.is_full() && denied.to_string().contains("run as the owner"));
}
