//! Whether the present parent started an instance or adopted it.

use super::super::testkit::{Machine, Run, codes, instance, once, pid};
use super::{CLIENT, SERVER, on_pipes, through_npx};
use crate::model::descriptor::Access;
use crate::model::finding::{AdopterKind, Finding, Lineage};
use crate::model::identity::Pid;
use crate::model::reading::Reading;

/// Takes a process out of its session, into one of its own.
fn leave_session(machine: &mut Machine, number: u32) {
    let process = machine.process(number);
    (process.sid, process.pgid) = (Some(pid(number)), Some(pid(number)));
}

/// Closes every descriptor of a process but the standard ones.
fn let_go(machine: &mut Machine, number: u32) {
    if let Reading::Value(list) = &mut machine.process(number).descriptors {
        list.retain(|one| one.fd < 3);
    }
}

/// A client with a server, both in the session of a shell that lives.
fn in_a_shell() -> Machine {
    let mut machine = Machine::new();
    machine.add(50, 1, "bash");
    machine.add(CLIENT, 50, "python client.py");
    machine.add(SERVER, CLIENT, super::PYTHON_SERVER);
    machine.wire_pipes(CLIENT, SERVER, 900);
    machine
}

/// Returns the finding of the server, and what became of its parent.
fn found(machine: &Machine) -> (Finding, Lineage) {
    let judged = once(machine);
    let server = instance(&judged, SERVER);
    (server.finding, server.lineage)
}

/// Returns whether it is said that its parent may not have started it.
fn is_doubtful(machine: &Machine) -> bool {
    codes(instance(&once(machine), SERVER)).contains(&"parent_doubtful")
}

/// Returns who adopted the server.
fn adopter(machine: &Machine) -> Option<(Pid, AdopterKind)> {
    let judged = once(machine);
    let adopter = instance(&judged, SERVER).adopter.as_ref()?;
    Some((adopter.pid, adopter.kind))
}

#[test]
fn a_subreaper_is_told_by_the_session_it_was_never_in() {
    let mut machine = through_npx();
    machine.add(80, 1, "python subreaper.py");
    machine.end(CLIENT, 80);
    assert_eq!(adopter(&machine), Some((pid(80), AdopterKind::Subreaper)));
}

#[test]
fn a_client_that_left_the_session_is_still_the_parent() {
    let mut machine = in_a_shell();
    leave_session(&mut machine, CLIENT);
    assert_eq!(found(&machine), (Finding::Attached, Lineage::Child));
    assert_eq!(adopter(&machine), None);
    machine.end(50, 1);
    assert_eq!(
        found(&machine).1,
        Lineage::Child,
        "the shell's end changes nothing"
    );
}

#[test]
fn a_parent_that_left_the_session_and_let_go_is_doubtful() {
    let mut machine = in_a_shell();
    leave_session(&mut machine, CLIENT);
    let_go(&mut machine, CLIENT);
    assert_eq!(found(&machine), (Finding::Severed, Lineage::Unknown));
    assert!(is_doubtful(&machine));
}

#[test]
fn a_parent_that_was_never_in_the_session_adopted_it() {
    let mut machine = in_a_shell();
    // Older than the shell: what it has started cannot be in the shell's session.
    machine.add(40, 1, "python subreaper.py");
    machine.end(CLIENT, 40);
    assert_eq!(found(&machine).1, Lineage::Reparented);
    assert_eq!(adopter(&machine), Some((pid(40), AdopterKind::Subreaper)));
    // One that has never left the session it was started in.
    machine.end(40, 1);
    machine.add(60, 1, "bash");
    machine.add(70, 60, "python subreaper.py");
    machine.process(SERVER).ppid = Some(pid(70));
    assert_eq!(found(&machine).1, Lineage::Reparented);
}

#[test]
fn a_parent_younger_than_its_child_adopted_it() {
    let mut machine = on_pipes();
    machine.add(300, 1, "python subreaper.py");
    machine.end(CLIENT, 300);
    leave_session(&mut machine, SERVER);
    assert_eq!(adopter(&machine), Some((pid(300), AdopterKind::Subreaper)));
}

#[test]
fn a_server_of_its_own_session_under_a_stranger_without_its_wire_is_doubtful() {
    let mut machine = on_pipes();
    leave_session(&mut machine, SERVER);
    assert_eq!(found(&machine).1, Lineage::Child);
    let_go(&mut machine, CLIENT);
    assert_eq!(found(&machine), (Finding::Severed, Lineage::Unknown));
    assert!(is_doubtful(&machine));
    // A known client that closed the session has started it all the same.
    machine.process(CLIENT).argv = Reading::Value(vec!["claude".into()]);
    assert_eq!(found(&machine), (Finding::Severed, Lineage::Child));
}

#[test]
fn a_parent_that_still_reads_the_answers_started_it() {
    let mut machine = on_pipes();
    leave_session(&mut machine, SERVER);
    if let Reading::Value(list) = &mut machine.process(CLIENT).descriptors {
        list.retain(|one| one.fd != 10);
    }
    assert_eq!(found(&machine), (Finding::Severed, Lineage::Child));
}

#[test]
fn what_was_seen_once_is_known_for_the_rest_of_the_run() {
    let mut machine = on_pipes();
    leave_session(&mut machine, SERVER);
    machine.add(80, 1, "python subreaper.py");
    let mut run = Run::new();
    assert_eq!(instance(&run.judge(&machine), SERVER).lineage, Lineage::Child);
    machine.end(CLIENT, 80);
    for _ in 0..3 {
        let judged = run.judge(&machine);
        let server = instance(&judged, SERVER);
        assert_eq!(server.lineage, Lineage::Reparented);
        assert!(codes(server).contains(&"reparented_seen"));
    }
}

#[test]
fn an_unreadable_parent_that_started_it_may_hold_the_wire() {
    // As where `sudo -u` starts a server: the parent is another user's, and no adopter.
    let mut machine = on_pipes();
    machine.hide(CLIENT);
    machine.process(CLIENT).uid = Reading::Value(0);
    leave_session(&mut machine, SERVER);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"unreadable_process"));
    // Who has adopted it holds nothing of it.
    machine.process(CLIENT).key.start = crate::model::identity::StartKey(9_000);
    machine.pipe(SERVER, 0, 900, Access::Read);
    assert_eq!(found(&machine).0, Finding::Severed);
}

#[test]
fn the_first_process_of_a_container_can_be_the_client() {
    let mut machine = Machine::new();
    machine.add_argv(1, 0, vec!["claude".into()]);
    machine.add(SERVER, 1, super::PYTHON_SERVER);
    machine.wire_pipes(1, SERVER, 900);
    assert_eq!(found(&machine), (Finding::Attached, Lineage::Child));
    let_go(&mut machine, 1);
    assert_eq!(found(&machine).1, Lineage::Unknown);
    machine.process(1).argv = Reading::Value(vec!["/sbin/init".into()]);
    assert_eq!(found(&machine).1, Lineage::Reparented);
}
