//! Servers and launchers that overwrite their command line after they were identified.

use super::super::testkit::{Machine, Run, codes, instance, pid};
use super::{CLIENT, SERVER, on_pipes, through_npx};
use crate::model::bytes::OsBytes;
use crate::model::finding::Finding;
use crate::model::instance::Confidence;
use crate::model::reading::Reading;

fn retitle(machine: &mut Machine, number: u32, title: &str) {
    machine.process(number).argv = Reading::Value(vec![title.into()]);
}

/// A server that may be read: program file and memory image are known.
fn readable() -> Machine {
    let mut machine = on_pipes();
    let server = machine.process(SERVER);
    server.exe = Reading::Value("/usr/bin/python3.11".into());
    server.image = Some((4_194_304, 140_000_000));
    machine
}

#[test]
fn a_server_stays_one_under_another_title() {
    let mut machine = readable();
    let mut run = Run::new();
    let before = run.judge(&machine);
    let before = instance(&before, SERVER);
    assert!(!codes(before).contains(&"title_overwritten"));
    retitle(&mut machine, SERVER, "worker: idle");
    // Its program file may be replaced meanwhile: an upgrade of the package.
    machine.process(SERVER).exe = Reading::Value("/usr/bin/python3.11 (deleted)".into());
    for _ in 0..3 {
        let judged = run.judge(&machine);
        let server = instance(&judged, SERVER);
        assert_eq!((server.id, server.finding), (before.id, Finding::Attached));
        assert_eq!(server.identified_by, before.identified_by);
        assert_eq!(server.name, before.name);
        assert!(codes(server).contains(&"title_overwritten"));
    }
    machine.end(CLIENT, 1);
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Severed);
}

#[test]
fn an_empty_title_is_a_title() {
    let mut machine = readable();
    let mut run = Run::new();
    run.judge(&machine);
    machine.process(SERVER).argv = Reading::Value(Vec::new());
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Attached);
}

#[test]
fn another_program_is_no_server_any_more() {
    let other_file = |machine: &mut Machine| {
        machine.process(SERVER).exe = Reading::Value("/usr/bin/sleep".into());
    };
    let same_file_run_again = |machine: &mut Machine| {
        machine.process(SERVER).image = Some((4_194_304, 150_000_000));
    };
    let nobody_may_read = |machine: &mut Machine| {
        machine.process(SERVER).exe = Reading::Denied;
    };
    for change in [
        &other_file as &dyn Fn(&mut Machine),
        &same_file_run_again,
        &nobody_may_read,
    ] {
        let mut machine = readable();
        let mut run = Run::new();
        assert_eq!(run.judge(&machine).instances.len(), 1);
        retitle(&mut machine, SERVER, "sleep 600");
        change(&mut machine);
        assert!(run.judge(&machine).instances.is_empty());
    }
}

#[test]
fn who_sees_only_the_new_title_does_not_know() {
    let mut machine = readable();
    retitle(&mut machine, SERVER, "worker: idle");
    assert!(Run::new().judge(&machine).instances.is_empty());
}

#[test]
fn a_launcher_stays_one_too_and_a_title_that_says_less_takes_nothing_away() {
    let mut machine = through_npx();
    for number in [190, SERVER] {
        machine.process(number).exe = Reading::Value("/usr/bin/node".into());
    }
    let mut run = Run::new();
    let before = run.judge(&machine);
    retitle(&mut machine, 190, "busy");
    retitle(&mut machine, SERVER, "some-mcp-thing");
    let judged = run.judge(&machine);
    let server = instance(&judged, SERVER);
    let launchers: Vec<u32> = server.launchers.iter().map(|key| key.pid.get()).collect();
    assert_eq!(launchers, [190, 195]);
    assert_eq!(server.identified_by.confidence, Confidence::Known);
    assert_eq!(server.name, instance(&before, SERVER).name);
}

#[test]
fn what_is_started_under_the_new_title_is_its_helper() {
    let mut machine = readable();
    let mut run = Run::new();
    run.judge(&machine);
    retitle(&mut machine, SERVER, "worker: idle");
    machine.add(300, SERVER, "git cat-file --batch");
    let judged = run.judge(&machine);
    let helpers: Vec<_> = instance(&judged, SERVER)
        .helpers
        .iter()
        .map(|key| key.pid)
        .collect();
    assert_eq!(helpers, [pid(300)]);
}

#[test]
fn a_client_stays_one_too() {
    let mut machine = on_pipes();
    retitle(&mut machine, CLIENT, "claude");
    machine.process(CLIENT).exe = Reading::Value("/usr/bin/node".into());
    let mut run = Run::new();
    assert_eq!(run.judge(&machine).clients.len(), 1);
    machine.process(CLIENT).argv = Reading::Value(vec![OsBytes::from("working")]);
    assert_eq!(run.judge(&machine).clients.len(), 1);
}

#[test]
fn a_program_under_another_name_is_known_by_its_file() {
    let named = |argv: &[&str], file: &str| {
        let mut machine = on_pipes();
        let server = machine.process(SERVER);
        server.argv = Reading::Value(argv.iter().map(|word| OsBytes::from(*word)).collect());
        server.exe = Reading::Value(file.into());
        let judged = super::super::testkit::once(&machine);
        judged
            .instances
            .into_iter()
            .map(|one| one.identified_by.because)
            .next()
    };
    for argv in [&[""][..], &[], &["worker"], &["worker", "--stdio"]] {
        let because = named(argv, "/usr/bin/mcp-server-git (deleted)");
        assert!(
            because.is_some_and(|text| text.contains("by its program file")),
            "{argv:?}"
        );
    }
    let script = named(&["", "/venv/bin/mcp-server-git"], "/usr/bin/python3.11");
    assert!(script.is_some_and(|text| text.contains("empty")));
    // A program of many names is none of them by its file, and one that searches has its argument from elsewhere.
    assert_eq!(named(&["grep", "mcp"], "/usr/bin/busybox"), None);
    assert_eq!(
        named(&["tail", "-f", "mcp-server.log"], "/usr/bin/coreutils"),
        None
    );
}
