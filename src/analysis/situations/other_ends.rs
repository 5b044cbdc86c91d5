//! What is on descriptor 0 beside pipes and socket pairs, and servers whose descriptors are gone.

use super::super::testkit::{Machine, Run, codes, instance, once, pid};
use super::{CLIENT, NODE_SERVER, SERVER, on_pipes, through_npx};
use crate::model::descriptor::{Access, Holder, Target};
use crate::model::finding::Finding;
use crate::model::instance::Transport;
use crate::model::reading::Reading;
use crate::model::socket::UnixKind;

/// A server with one end of a socket on descriptors 0 and 1; the other end is the client's.
fn on_a_socket() -> Machine {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "python client.py");
    machine.add(SERVER, 50, NODE_SERVER);
    for fd in [0, 1] {
        machine.socket(SERVER, fd, 900, 901);
    }
    machine.socket(CLIENT, 10, 901, 900);
    machine
}

/// Judges with the other end open, then closed; gives the deciding sentences.
fn sentences(machine: &mut Machine) -> [String; 2] {
    [false, true].map(|closed| {
        if closed {
            machine.end(CLIENT, 1);
        }
        let judged = once(machine);
        let server = instance(&judged, SERVER);
        assert_eq!(server.finding, Finding::Unknown);
        assert_eq!(server.transport, Transport::Unknown);
        assert_eq!(server.facts[0].code, "stdin_is_connection");
        server.facts[0].text.clone()
    })
}

#[test]
fn an_accepted_connection_is_no_wire_and_never_severed() {
    let mut machine = on_a_socket();
    machine.sockets.unix.get_mut(&900).expect("own end").path = Some("/run/mcp.sock".into());
    let [open, closed] = sentences(&mut machine);
    assert!(
        open.contains("bound to /run/mcp.sock, other end held by 100 python"),
        "{open}"
    );
    assert!(
        closed.contains("bound to /run/mcp.sock, other end closed"),
        "{closed}"
    );
}

#[test]
fn a_connection_to_a_named_socket_is_no_wire() {
    let mut machine = on_a_socket();
    machine.sockets.unix.get_mut(&901).expect("other end").path = Some("/run/broker".into());
    let judged = once(&machine);
    let text = &instance(&judged, SERVER).facts[0].text;
    assert!(
        text.contains("connected to /run/broker, other end held by 100 python"),
        "{text}"
    );
}

#[test]
fn a_packet_socket_is_no_wire_and_never_severed() {
    let mut machine = on_a_socket();
    for end in [900, 901] {
        machine.sockets.unix.get_mut(&end).expect("an end").kind = UnixKind::Packet;
    }
    let [open, closed] = sentences(&mut machine);
    assert!(
        open.contains("a unix seqpacket socket, other end held by 100 python"),
        "{open}"
    );
    assert!(closed.contains("other end closed"), "{closed}");
}

#[test]
fn a_tcp_connection_is_no_wire() {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "python client.py");
    machine.add(SERVER, 50, NODE_SERVER);
    machine.tcp(SERVER, 0, 900, "127.0.0.1:3001", Some("127.0.0.1:40000"));
    machine.tcp(CLIENT, 9, 901, "127.0.0.1:40000", Some("127.0.0.1:3001"));
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    let text = &server.facts[0].text;
    assert!(
        text.contains("a TCP socket on 127.0.0.1:3001 with 127.0.0.1:40000 (100 python)"),
        "{text}"
    );
}

#[test]
fn a_stream_pair_is_a_wire() {
    let mut machine = on_a_socket();
    let judged = once(&machine);
    assert_eq!(instance(&judged, SERVER).transport, Transport::Stdio);
    machine.end(CLIENT, 1);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
}

#[test]
fn a_wrapper_on_a_terminal_that_hung_up_is_a_launcher() {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "python terminal.py");
    machine.add_argv(
        150,
        CLIENT,
        vec!["bash".into(), "-c".into(), "mcp-server-everything; true".into()],
    );
    machine.add(SERVER, 150, NODE_SERVER);
    let on_terminal = |machine: &mut Machine, hung_up| {
        for number in [150, SERVER] {
            let path = "/dev/pts/3".into();
            machine.open(number, 0, Target::Terminal { path, hung_up }, Access::Both);
        }
    };
    on_terminal(&mut machine, false);
    let holder = Holder {
        process: machine.process(CLIENT).key,
        fd: 5,
        access: Access::Both,
    };
    machine.masters.insert(3, vec![holder]);
    let mut run = Run::new();
    let before = run.judge(&machine);
    assert!(instance(&before, SERVER).launchers.is_empty());
    machine.masters.clear();
    machine.end(CLIENT, 1);
    on_terminal(&mut machine, true);
    let judged = run.judge(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(
        (server.finding, server.id),
        (Finding::Severed, instance(&before, SERVER).id)
    );
    let launchers: Vec<_> = server.launchers.iter().map(|key| key.pid).collect();
    assert_eq!(launchers, [pid(150)]);
}

/// The server has exited, and shows nothing any more.
fn exit(machine: &mut Machine) {
    let server = machine.process(SERVER);
    server.state = 'Z';
    server.argv_kept = true;
    server.descriptors = Reading::Gone;
}

#[test]
fn a_server_that_exits_is_found_as_before_until_nobody_waits_for_it() {
    let mut machine = on_pipes();
    let mut run = Run::new();
    run.judge(&machine);
    exit(&mut machine);
    let judged = run.judge(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    assert_eq!(
        server.client.as_ref().map(|client| client.process.pid),
        Some(pid(CLIENT))
    );
    assert_eq!(
        codes(server)[..2],
        ["zombie_once", "found_before"],
        "what it is said from is said"
    );
    assert!(run.needs_second());
    machine.since_boot_ms += 2_100;
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Defunct);
}

#[test]
fn an_exited_server_is_unknown_where_nothing_was_found_before_or_its_client_is_gone_too() {
    let mut machine = on_pipes();
    let mut run = Run::new();
    run.judge(&machine);
    exit(&mut machine);
    machine.end(CLIENT, 1);
    let judged = run.judge(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Unknown);
    assert_eq!(instance(&judged, SERVER).facts[0].code, "zombie_once");
    let mut machine = through_npx();
    exit(&mut machine);
    let judged = once(&machine);
    assert_eq!(
        instance(&judged, SERVER).finding,
        Finding::Attached,
        "by its launchers"
    );
}
