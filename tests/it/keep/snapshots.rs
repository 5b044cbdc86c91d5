//! The file of a snapshot: same on every machine and in every later version, quick, and never believed
//! where it is damaged.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcpwake::catalog::Catalog;
use mcpwake::model::world::World;
use mcpwake::platform::{self, Ability, System};
use mcpwake::report::{Selection, inventory};
use mcpwake::runtime::collector::Collector;
use mcpwake::store::{Snapshot, StoreError};
use proptest::prelude::*;

use super::kit;

const ARGV: [&str; 3] = ["python", "-m", "mcp_server_git"];

fn written(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    snapshot.write(&mut bytes).unwrap();
    bytes
}

/// Returns how long this thread has worked.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

fn read(bytes: &[u8]) -> Result<Snapshot, StoreError> {
    Snapshot::read(&mut &*bytes, "test")
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/keep/golden")
        .join(name)
}

/// The files under `golden` were written by the first version and are never written again: what a later
/// version cannot read has to be made readable.
#[test]
fn the_first_versions_snapshot_opens() {
    let path = golden("snapshot-1.json");
    if std::env::var_os("MCPWAKE_GOLDEN").is_some() && !path.exists() {
        kit::snapshot(&kit::severed(&ARGV)).save_as(&path).unwrap();
    }
    let snapshot = Snapshot::load(&path).unwrap();
    assert_eq!(**snapshot.world(), kit::severed(&ARGV));
    assert_eq!((snapshot.rules(), snapshot.saved_at()), ("builtin", kit::NOW));
    assert_eq!(snapshot.program(), "mcpwake 0.1.0");
}

fn live() -> Arc<World> {
    let System { source, os, .. } = platform::system(Ability::Looks).unwrap();
    let catalog = Arc::new(Catalog::builtin().unwrap());
    Collector::at_once(source, catalog, os).next(None).unwrap()
}

#[test]
fn the_inventory_of_a_saved_world_is_that_of_the_live_one() {
    let world = live();
    let saved = read(&written(&kit::snapshot(&world))).unwrap();
    let selection = Selection {
        all: true,
        findings: Vec::new(),
        session: None,
    };
    let text = |world: &World| {
        serde_json::to_string_pretty(&inventory(world, &selection, &kit::redactor())).unwrap()
    };
    assert_eq!(text(saved.world()), text(&world));
}

/// The bound is for an optimised build; one that is not gets ten times as long. Counted is the time that the
/// work itself took: what else the machine does must not matter.
#[test]
fn five_thousand_processes_are_written_and_opened_in_under_a_second() {
    let bound = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
    let world = kit::world(5000);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.json");
    let begun = worked();
    kit::snapshot(&world).save_as(&path).unwrap();
    let saved = worked();
    let opened = Snapshot::load(&path).unwrap();
    let (wrote, read) = (saved.saturating_sub(begun), worked().saturating_sub(saved));
    assert_eq!(opened.world().sample.processes.len(), 5000);
    println!("written in {wrote:?}, opened in {read:?}");
    assert!(
        wrote < bound && read < bound,
        "written in {wrote:?}, opened in {read:?}"
    );
}

#[test]
fn another_schema_is_named_with_the_program_that_wrote_it() {
    let text = String::from_utf8(written(&kit::snapshot(&kit::world(1)))).unwrap();
    let newer = text
        .replace("mcpwake.snapshot/1", "mcpwake.snapshot/9")
        .replace("mcpwake 0.1.0", "mcpwake 7.0.0");
    let error = read(newer.as_bytes()).unwrap_err().to_string();
    for part in ["mcpwake.snapshot/9", "mcpwake.snapshot/1", "mcpwake 7.0.0"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_a_later_version_adds_is_passed_over() {
    let text = String::from_utf8(written(&kit::snapshot(&kit::world(1)))).unwrap();
    let newer = text.replace("\"rules\":", "\"weather\":{\"wind\":3},\"rules\":");
    assert_ne!(newer, text);
    assert_eq!(read(newer.as_bytes()).unwrap(), kit::snapshot(&kit::world(1)));
}

#[test]
fn a_file_is_replaced_whole_and_a_device_stays_a_device() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.json");
    fs::write(&path, "old").unwrap();
    let snapshot = kit::snapshot(&kit::world(1));
    snapshot.save_as(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), written(&snapshot));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    let missing = directory.path().join("none/a.json");
    assert!(snapshot.save_as(&missing).is_err());
    snapshot.save_as("/dev/null".as_ref()).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

proptest! {
    #[test]
    fn no_bytes_stop_the_reader(bytes in any::<Vec<u8>>()) {
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn a_cut_or_falsified_file_is_refused_or_read(at in any::<prop::sample::Index>(), flip in 1..=255_u8, cut in any::<bool>()) {
        let mut bytes = written(&kit::snapshot(&kit::severed(&ARGV)));
        let place = at.index(bytes.len() - 2);
        if cut {
            bytes.truncate(place);
            prop_assert!(read(&bytes).is_err());
        } else {
            bytes[place] ^= flip;
            // Whether it is the same is the digest's question.
            let _ = read(&bytes);
        }
    }
}
