//! Snapshots of a Mac: written and read here, and the files that the tests of the commands open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::situations::{CLIENT, SERVER, collector, machine};
use crate::analysis::diff::diff;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::report::{Selection, inventory};
use crate::store::Snapshot;
use crate::text::redact::Redactor;

const SAVED: UnixMillis = UnixMillis(1_790_005_000_000);

fn redactor() -> Redactor {
    Redactor::builtin().unwrap()
}

/// Two worlds of one machine: with the client, and after its end.
fn worlds() -> [Arc<World>; 2] {
    let mut machine = machine();
    machine.wire_pipes(CLIENT, SERVER);
    let (mut collector, asked) = collector(machine);
    let attached = collector.next(None).unwrap();
    asked.change(|machine| {
        machine.end(CLIENT);
        machine.since_boot_ns += 60_000_000_000;
    });
    [attached, collector.next(None).unwrap()]
}

fn written(world: &World) -> Vec<u8> {
    let snapshot = Snapshot::new(world, &[], "builtin", SAVED, &redactor());
    let mut bytes = Vec::new();
    snapshot.write(&mut bytes).unwrap();
    bytes
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/platform/macos")
        .join(name)
}

#[test]
fn a_snapshot_of_a_mac_reads_as_it_was_written() {
    for world in worlds() {
        let bytes = written(&world);
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"));
        let read = Snapshot::read(&mut &*bytes, "test").unwrap();
        // Memory images are not kept.
        assert!(written(read.world()) == bytes);
        let text = |world: &World| {
            serde_json::to_string(&inventory(world, &Selection::default(), &redactor())).unwrap()
        };
        assert_eq!(text(read.world()), text(&world));
    }
}

#[test]
fn two_snapshots_of_a_mac_differ_by_what_happened() {
    let [attached, severed] = worlds();
    let difference = diff(&attached, &severed);
    assert!(difference.same_boot);
    assert_eq!((difference.processes_appeared, difference.processes_gone), (0, 1));
    let changes = &difference.changed[0].changes;
    assert!(
        changes
            .iter()
            .any(|change| change.to.as_deref() == Some("severed")),
        "{changes:?}"
    );
}

/// The tests of the commands open these files: made from the decoders' answers as above, and the same still. What
/// was judged then is not compared.
#[test]
fn the_kept_snapshots_are_those_of_the_constructed_machine() {
    for (world, name) in worlds().iter().zip(["attached.json", "severed.json"]) {
        let path = kept(name);
        if std::env::var_os("MCPWAKE_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, written(world)).unwrap();
        }
        let read = Snapshot::load(&path).unwrap();
        let sample = |world: &World| serde_json::to_value(&world.sample).unwrap();
        let same = sample(read.world()) == sample(world);
        assert!(same, "{name} is another: write it anew with MCPWAKE_BLESS=1");
    }
}
