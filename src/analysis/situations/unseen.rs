//! What cannot be seen is never said to be gone.

use super::super::testkit::{codes, instance, once};
use super::{CLIENT, SERVER, on_pipes, through_npx};
use crate::model::finding::Finding;
use crate::model::reading::Reading;

#[test]
fn denied_descriptors_are_unknown_never_severed() {
    let mut machine = on_pipes();
    machine.hide(SERVER);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"descriptors_denied"));
    assert_eq!(server.reach, None);
}

#[test]
fn an_unreadable_process_of_the_same_user_could_hold_the_pipe() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    machine.add(400, 1, "ssh-agent -D");
    machine.hide(400);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"unreadable_process"));
    machine.process(400).uid = Reading::Value(7);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
}

#[test]
fn a_peer_that_nobody_visible_holds_is_unknown() {
    let mut machine = through_npx();
    machine.hide(CLIENT);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"hidden_holder"));
}
