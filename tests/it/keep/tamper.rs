//! Files of an incident changed behind its back: the check names entry, file and kind.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use mcpwake::journal::entry::{AttachedFrom, SnapshotReason};
use mcpwake::journal::{FaultKind, Head};
use mcpwake::store::check::Outcome;
use mcpwake::store::{Attachment, Checked, FileFaultKind, Incident, check};

use super::kit::{self, State};

struct Scene {
    _state: State,
    incident: Incident,
    snapshot: PathBuf,
    attachment: PathBuf,
    head: Head,
}

/// opened, snapshot, attached, note: four lines.
fn scene() -> Scene {
    let state = State::new();
    let incident = state.incident();
    let operator = kit::operator();
    let (snapshot, _) = incident
        .save(&kit::snapshot(&kit::world(3)), SnapshotReason::Freeze, &operator)
        .unwrap();
    let attachment = Attachment {
        label: "gateway".to_owned(),
        on: None,
        lead: None,
        from: AttachedFrom::Pasted,
    };
    let (attached, _) = incident
        .attach(
            &mut Cursor::new(b"active: false\n"),
            attachment,
            &operator,
            kit::later(5),
        )
        .unwrap();
    let receipt = incident
        .append(kit::note("revoked at the gateway"), &operator, kit::later(10))
        .unwrap();
    Scene {
        _state: state,
        incident,
        snapshot: snapshot.path,
        attachment: attached.path,
        head: receipt.head(),
    }
}

impl Scene {
    fn check(&self, expect: Option<Head>) -> Checked {
        check(self.incident.path(), expect).unwrap()
    }

    fn the_fault(&self) -> (u64, FileFaultKind) {
        let checked = self.check(None);
        assert_eq!(checked.outcome(), Outcome::Failed);
        assert_eq!(checked.verified.fault, None);
        let [fault] = <[_; 1]>::try_from(checked.faults).unwrap();
        (fault.line, fault.kind)
    }
}

fn change_one_byte(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_nobody_touched_is_sound() {
    let scene = scene();
    let checked = scene.check(Some(scene.head));
    assert_eq!(checked.outcome(), Outcome::Sound, "{checked:?}");
    assert_eq!((checked.verified.entries, checked.sound_files), (4, 2));
    assert_eq!(
        check(&scene.incident.journal(), None).unwrap().outcome(),
        Outcome::Sound
    );
}

#[test]
fn a_changed_or_missing_file_is_named_with_the_line_of_its_entry() {
    for (line, pick) in [(2, 0), (3, 1)] {
        let scene = scene();
        let path = [&scene.snapshot, &scene.attachment][pick];
        change_one_byte(path);
        let (at, kind) = scene.the_fault();
        assert_eq!(at, line);
        assert!(matches!(kind, FileFaultKind::Changed { .. }));
        fs::remove_file(path).unwrap();
        assert_eq!(scene.the_fault(), (line, FileFaultKind::Missing));
    }
}

#[test]
fn a_link_or_a_pipe_in_place_of_a_file_is_not_followed() {
    let scene = scene();
    let elsewhere = scene.incident.path().join("elsewhere");
    fs::rename(&scene.snapshot, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &scene.snapshot).unwrap();
    assert_eq!(scene.the_fault(), (2, FileFaultKind::NoFile));
    fs::remove_file(&scene.snapshot).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(&scene.snapshot)
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(scene.the_fault(), (2, FileFaultKind::NoFile));
}

#[test]
fn a_file_that_no_entry_names_is_a_warning() {
    let scene = scene();
    fs::write(scene.incident.path().join("snapshots/.unfinished-1"), b"{").unwrap();
    let checked = scene.check(Some(scene.head));
    assert_eq!(checked.outcome(), Outcome::Warning);
    assert_eq!(checked.unnamed, ["snapshots/.unfinished-1"]);
}

#[test]
fn an_edited_entry_is_named() {
    let scene = scene();
    let journal = scene.incident.journal();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("at the gateway", "at the getaway")).unwrap();
    let checked = scene.check(None);
    let fault = checked.verified.fault.as_ref().unwrap();
    assert_eq!((fault.line, fault.kind), (4, FaultKind::Edited));
    assert_eq!(checked.outcome(), Outcome::Failed);
}

#[test]
fn a_cut_journal_needs_the_head_to_be_found() {
    let scene = scene();
    let journal = scene.incident.journal();
    let text = fs::read_to_string(&journal).unwrap();
    let three: String = text.split_inclusive('\n').take(3).collect();
    fs::write(&journal, three).unwrap();
    assert_eq!(scene.check(None).outcome(), Outcome::Sound);
    let fault = scene.check(Some(scene.head)).verified.fault.unwrap();
    assert_eq!((fault.line, fault.kind), (4, FaultKind::Truncated));
}

#[test]
fn a_torn_tail_is_a_warning_and_a_failure_where_a_head_is_expected() {
    let scene = scene();
    let journal = scene.incident.journal();
    let mut bytes = fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"{\"seq\":5,\"prev\":\"");
    fs::write(&journal, &bytes).unwrap();
    assert_eq!(scene.check(None).outcome(), Outcome::Warning);
    assert_eq!(scene.check(Some(scene.head)).outcome(), Outcome::Failed);
}

#[test]
fn a_path_that_leads_out_is_not_opened() {
    let scene = scene();
    let journal = scene.incident.journal();
    let name = scene.snapshot.file_name().unwrap().to_str().unwrap();
    for path in [
        "../../../../etc/passwd",
        "snapshots/../journal.jsonl",
        "/etc/passwd",
        "snapshots/",
    ] {
        // A forger can write a journal that is whole: with one line in it that names the path.
        let text = fs::read_to_string(&journal).unwrap();
        let forged = text.replace(&format!("snapshots/{name}"), path);
        fs::write(&journal, forged_anew(&forged)).unwrap();
        assert_eq!(scene.the_fault(), (2, FileFaultKind::NoFile), "{path}");
        fs::write(&journal, text).unwrap();
    }
}

/// Computes every `prev` and `hash` again, as anybody can.
pub(super) fn forged_anew(text: &str) -> String {
    use mcpwake::journal::Digest;
    let mut prev = Digest::ZERO;
    let mut out = String::new();
    for line in text.lines() {
        let body = &line[..line.rfind(",\"hash\":").unwrap()];
        let at = body.find("\"prev\":\"").unwrap() + 8;
        let body = format!("{}{prev}{}", &body[..at], &body[at + 64..]);
        let hash = Digest::of(format!("{prev}{body}").as_bytes());
        let line = format!("{body},\"hash\":\"{hash}\"}}\n");
        prev = Digest::of(line.as_bytes());
        out.push_str(&line);
    }
    out
}

#[test]
fn what_is_opened_says_what_was_changed_and_shows_the_newest_snapshot_that_is_sound() {
    let state = State::new();
    let incident = state.incident();
    let mut world = kit::world(3);
    let save = |world: &mcpwake::model::world::World| {
        let snapshot = kit::snapshot(world);
        let why = mcpwake::journal::entry::SnapshotReason::Command;
        incident.save(&snapshot, why, &kit::operator()).unwrap().0.path
    };
    save(&world);
    world.sample.taken_at = kit::later(1000);
    let second = save(&world);
    assert_eq!(incident.problems().unwrap(), Vec::<String>::new());
    fs::write(&second, "{}").unwrap();
    let shown = incident.newest_snapshot().unwrap();
    assert_eq!(shown.world().sample.taken_at, kit::NOW);
    let [changed] = &incident.problems().unwrap()[..] else {
        panic!()
    };
    assert!(changed.contains("changed"), "{changed}");
    let text = fs::read_to_string(incident.journal()).unwrap();
    fs::write(
        incident.journal(),
        text.replacen("\"processes\":3", "\"processes\":4", 1),
    )
    .unwrap();
    let [edited] = &incident.problems().unwrap()[..] else {
        panic!()
    };
    assert!(
        edited.starts_with("journal line 2: edited, nothing after entry 1 is shown: "),
        "{edited}"
    );
}
