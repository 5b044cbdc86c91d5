//! What stands between a client and a server and passes on what it reads, and what only seems to.

use super::super::testkit::{Machine, codes, instance, once, pid};
use super::{CLIENT, PYTHON_SERVER, SERVER, on_pipes};
use crate::model::descriptor::{Access, Holder, Target};
use crate::model::finding::Finding;

/// `tee log | server` in a shell, under a live client.
fn pipeline(script: &str) -> Machine {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "python client.py");
    machine.add_argv(150, CLIENT, vec!["sh".into(), "-c".into(), script.into()]);
    machine.add(160, 150, "tee log");
    machine.add(SERVER, 150, PYTHON_SERVER);
    for number in [150, 160] {
        machine.pipe(number, 0, 900, Access::Read);
    }
    machine.pipe(CLIENT, 10, 900, Access::Write);
    machine.pipe(160, 1, 910, Access::Write);
    machine.pipe(SERVER, 0, 910, Access::Read);
    for number in [150, SERVER] {
        machine.pipe(number, 1, 901, Access::Write);
    }
    machine.pipe(CLIENT, 11, 901, Access::Read);
    machine
}

#[test]
fn a_relay_passes_on_its_own_finding() {
    let mut machine = pipeline("pipeline");
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    assert!(codes(server).contains(&"relay"));
    machine.process(CLIENT).state = 'T';
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Wedged);
}

#[test]
fn a_relay_beside_the_server_in_a_wrapper_is_followed_too() {
    let mut machine = pipeline("tee log | mcp-server-git");
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(
        server.launchers.len(),
        1,
        "the shell is a launcher, the tee a helper"
    );
    assert_eq!(server.finding, Finding::Attached);
    assert_eq!(
        server.client.as_ref().map(|client| client.process.pid),
        Some(pid(CLIENT))
    );
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Held, "by the tee");
}

#[test]
fn a_stopped_relay_wedges_and_is_named() {
    for script in ["pipeline", "tee log | mcp-server-git"] {
        let mut machine = pipeline(script);
        machine.process(160).state = 'T';
        let judged = once(&machine);
        let server = instance(&judged, SERVER);
        assert_eq!(server.finding, Finding::Wedged);
        assert_eq!(server.facts[0].code, "relay_wedged");
        assert!(
            server.facts[0].text.contains("160 tee"),
            "{}",
            server.facts[0].text
        );
    }
}

#[test]
fn a_sibling_that_inherited_the_end_passes_nothing_on() {
    let mut machine = on_pipes();
    // It serves on its own wire, and has the first one's writing end on another descriptor.
    machine.add(210, CLIENT, "python other.py");
    machine.wire_pipes(CLIENT, 210, 920);
    machine.pipe(210, 7, 900, Access::Write);
    machine.process(CLIENT).descriptors = machine.process(CLIENT).descriptors.clone().map(|list| {
        list.into_iter()
            .filter(|one| one.target.inode() != Some(900))
            .collect()
    });
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Held);
}

#[test]
fn a_launcher_with_a_wire_of_its_own_is_a_relay_on_any_descriptor() {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "python client.py");
    machine.add_argv(
        150,
        CLIENT,
        vec!["npm exec @modelcontextprotocol/server-everything".into()],
    );
    machine.add(
        SERVER,
        150,
        "node /lib/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    );
    machine.wire_pipes(CLIENT, 150, 900);
    machine.wire_pipes(150, SERVER, 920);
    let judged = once(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Attached);
    machine.end(CLIENT, 1);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Held);
}

#[test]
fn what_the_server_started_is_behind_its_wire() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    machine.add(CLIENT, 50, "python client.py");
    machine.add(300, SERVER, "cat");
    machine.pipe(300, 1, 900, Access::Write);
    machine.pipe(300, 0, 940, Access::Read);
    machine.pipe(CLIENT, 12, 940, Access::Write);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Held);
}

/// A program that nobody knows gives the server a terminal of its own, under a client on pipes.
fn on_a_terminal_of_its_own() -> Machine {
    let mut machine = Machine::new();
    machine.add(CLIENT, 50, "python client.py");
    machine.add(150, CLIENT, "ptywrap 7");
    machine.add(SERVER, 150, PYTHON_SERVER);
    machine.wire_pipes(CLIENT, 150, 900);
    terminal(&mut machine, SERVER, 0);
    let master = Holder {
        process: machine.process(150).key,
        fd: 5,
        access: Access::Both,
    };
    machine.masters.insert(3, vec![master]);
    machine
}

fn terminal(machine: &mut Machine, number: u32, fd: u32) {
    let target = Target::Terminal {
        path: "/dev/pts/3".into(),
        hung_up: false,
    };
    machine.open(number, fd, target, Access::Both);
}

#[test]
fn what_gives_the_server_a_terminal_and_feeds_it_is_a_relay() {
    let mut machine = on_a_terminal_of_its_own();
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    assert!(codes(server).contains(&"terminal_relay"));
    let client = server.client.as_ref().map(|client| client.process.pid);
    assert_eq!(client, Some(pid(CLIENT)), "not the one that made the terminal");
    machine.process(150).state = 'T';
    let judged = once(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Wedged);
    assert_eq!(instance(&judged, SERVER).facts[0].code, "relay_wedged");
    machine.process(150).state = 'S';
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Severed);
}

#[test]
fn a_terminal_whose_maker_has_no_wire_is_that_of_a_person() {
    let mut machine = on_a_terminal_of_its_own();
    for fd in [0, 1] {
        machine.open(150, fd, Target::Null, Access::Both);
    }
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    assert_eq!(server.facts[0].code, "terminal");
    machine.end(CLIENT, 1);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Attached);
}

#[test]
fn script_is_a_launcher_whose_stdin_counts() {
    let mut machine = on_a_terminal_of_its_own();
    let argv = ["script", "-qec", "mcp-server-git", "/dev/null"];
    machine.process(150).argv = crate::model::reading::Reading::Value(argv.map(Into::into).to_vec());
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!((server.finding, server.launchers.len()), (Finding::Attached, 1));
    machine.end(CLIENT, 1);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
}

#[test]
fn a_terminal_that_was_moved_to_a_private_descriptor_is_found() {
    let mut machine = on_a_terminal_of_its_own();
    machine.open(SERVER, 0, Target::Null, Access::Read);
    terminal(&mut machine, SERVER, 6);
    let judged = once(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Attached);
    machine.open(
        SERVER,
        0,
        Target::Other {
            link: "/dev/zero".into(),
        },
        Access::Read,
    );
    let judged = once(&machine);
    assert_eq!(
        instance(&judged, SERVER).facts[0].code,
        "no_wire",
        "it opened one for itself"
    );
}
