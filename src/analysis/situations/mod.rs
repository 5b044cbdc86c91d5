//! Whole situations: what was seen on real machines, and the finding that is right.

mod lineage;
mod other_ends;
mod relays;
mod titles;
mod unseen;

use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Holder, Target};
use crate::model::finding::{AdopterKind, Finding, LeadKind, Lineage, PeerState};
use crate::model::identity::Pid;
use crate::model::instance::{Role, Transport};
use crate::model::reading::Reading;
use crate::model::sample::Unit;

use super::testkit::{Machine, Run, codes, instance, once, pid};

const CLIENT: u32 = 100;
const SERVER: u32 = 200;
const PYTHON_SERVER: &str = "/venv/bin/python /venv/bin/mcp-server-git";
const NODE_SERVER: &str = "node /lib/node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// A client that the catalogue does not know, with a server on pipes.
fn on_pipes() -> Machine {
    let mut machine = Machine::new();
    machine.add(CLIENT, 50, "python client.py");
    machine.add(SERVER, CLIENT, PYTHON_SERVER);
    machine.wire_pipes(CLIENT, SERVER, 900);
    machine
}

/// The same with a node client on socketpairs, through npx.
fn through_npx() -> Machine {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "node client.mjs");
    machine.add_argv(
        190,
        CLIENT,
        vec!["npm exec @modelcontextprotocol/server-everything".into()],
    );
    machine.add_argv(
        195,
        190,
        vec!["sh".into(), "-c".into(), "mcp-server-everything".into()],
    );
    machine.add(
        SERVER,
        195,
        "node /h/.npm/_npx/a705c79b42eea4c8/node_modules/.bin/mcp-server-everything",
    );
    machine.wire_sockets(CLIENT, SERVER, 900);
    machine.inherit(SERVER, 190);
    machine.inherit(SERVER, 195);
    machine
}

#[test]
fn a_client_on_pipes_is_attached() {
    let judged = once(&on_pipes());
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    assert_eq!(
        server.client.as_ref().map(|client| client.process.pid),
        Some(pid(CLIENT))
    );
    assert_eq!(server.transport, Transport::Stdio);
    let stdin = server
        .stdio
        .as_ref()
        .and_then(|stdio| stdio.stdin.as_ref())
        .expect("stdin");
    assert_eq!(
        (stdin.peer, stdin.holder_count, stdin.holders[0].pid),
        (PeerState::Held, 1, pid(CLIENT))
    );
}

#[test]
fn the_end_of_the_client_severs_and_names_the_adopter() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Severed);
    assert_eq!(server.lineage, Lineage::Reparented);
    let adopter = server.adopter.as_ref().expect("an adopter");
    assert_eq!((adopter.pid, adopter.kind), (Pid::INIT, AdopterKind::Init));
    assert!(codes(server).contains(&"stdin_no_writer"));
}

#[test]
fn an_npx_chain_is_one_instance_with_two_launchers() {
    let judged = once(&through_npx());
    assert_eq!(judged.instances.len(), 1);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    let launchers: Vec<u32> = server.launchers.iter().map(|key| key.pid.get()).collect();
    assert_eq!(launchers, [190, 195]);
    assert_eq!(server.name.as_str(), Some("everything"));
    let roles = |number: u32| {
        let process = judged.roles.iter().find(|(key, _)| key.pid == pid(number));
        process.map(|(_, roles)| roles.iter().map(|role| role.role).collect::<Vec<_>>())
    };
    assert_eq!(roles(CLIENT), Some(vec![Role::Client]));
    assert_eq!(roles(190), Some(vec![Role::Launcher]));
}

#[test]
fn an_npx_chain_without_its_client_is_severed_and_traced_from_its_top() {
    let mut machine = through_npx();
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(
        (server.finding, server.lineage),
        (Finding::Severed, Lineage::Reparented)
    );
    assert!(codes(server).contains(&"stdin_peer_closed"));
    assert!(codes(server).contains(&"session_leader_gone"));
}

#[test]
fn a_launcher_that_died_does_not_sever() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    machine.add(CLIENT, 50, "python client.py");
    machine.wire_pipes(CLIENT, SERVER, 900);
    machine.process(SERVER).ppid = Some(Pid::INIT);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(
        (server.finding, server.lineage),
        (Finding::Attached, Lineage::Reparented)
    );
}

#[test]
fn the_finding_of_a_closed_session_is_severed_and_half_open() {
    let mut machine = through_npx();
    for gone in [190, 195] {
        machine.end(gone, 1);
    }
    machine.process(SERVER).ppid = Some(Pid::INIT);
    machine.sockets.unix.get_mut(&900).expect("stdin").peer = Some(0);
    if let Reading::Value(list) = &mut machine.process(CLIENT).descriptors {
        list.retain(|one| one.fd != 10);
    }
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Severed);
    assert!(codes(server).contains(&"half_open"));
}

#[test]
fn a_stopped_client_wedges_and_a_continued_one_attaches_again() {
    let mut machine = on_pipes();
    let mut run = Run::new();
    machine.process(CLIENT).state = 'T';
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Wedged);
    machine.process(CLIENT).state = 'S';
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Attached);
}

#[test]
fn a_client_in_the_kernel_is_wedged_only_after_two_looks() {
    let mut machine = on_pipes();
    let mut run = Run::new();
    machine.process(CLIENT).state = 'D';
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Attached);
    assert!(run.needs_second());
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Wedged);
    machine.process(CLIENT).schedstat = Reading::Value((5, 5));
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Attached);
}

#[test]
fn a_younger_stranger_with_the_write_end_holds() {
    let mut machine = on_pipes();
    machine.add(300, 1, "python client.py");
    machine.pipe(300, 10, 900, Access::Write);
    machine.pipe(300, 11, 901, Access::Read);
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Held);
    assert!(
        server.facts[0].text.contains("300 python"),
        "{}",
        server.facts[0].text
    );
}

#[test]
fn a_helper_that_holds_the_write_end_holds() {
    let mut machine = on_pipes();
    machine.add(300, SERVER, "tail -f /dev/null");
    machine.pipe(300, 5, 900, Access::Write);
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Held);
    assert_eq!(server.helpers.len(), 1);
    let stdin = server
        .stdio
        .as_ref()
        .and_then(|stdio| stdio.stdin.as_ref())
        .expect("stdin");
    assert_eq!(stdin.peer, PeerState::Own);
}

#[test]
fn private_descriptors_are_found_by_their_common_holder() {
    let mut machine = on_pipes();
    let null = || Target::Null;
    machine.open(SERVER, 0, null(), Access::Read);
    machine.open(SERVER, 1, null(), Access::Write);
    machine.pipe(SERVER, 6, 900, Access::Read);
    machine.pipe(SERVER, 7, 901, Access::Write);
    // A self-pipe, as asyncio keeps one.
    machine.pipe(SERVER, 3, 950, Access::Read);
    machine.pipe(SERVER, 4, 950, Access::Write);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    let stdio = server.stdio.as_ref().expect("a wire");
    assert_eq!(stdio.stdin.as_ref().and_then(|end| end.fd), Some(6));
    assert_eq!(stdio.stdout.as_ref().and_then(|end| end.fd), Some(7));
    assert!(codes(server).contains(&"private_wire"));
    machine.end(CLIENT, 1);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
}

#[test]
fn a_server_with_no_descriptor_to_talk_on_is_unknown() {
    let mut machine = on_pipes();
    machine.open(SERVER, 0, Target::Null, Access::Read);
    machine.open(SERVER, 1, Target::Null, Access::Write);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Unknown);
}

#[test]
fn a_zombie_is_defunct_after_two_looks() {
    let mut machine = through_npx();
    let mut run = Run::new();
    assert_eq!(instance(&run.judge(&machine), SERVER).finding, Finding::Attached);
    let server = machine.process(SERVER);
    server.state = 'Z';
    server.argv_kept = true;
    server.descriptors = Reading::Gone;
    let first = run.judge(&machine);
    assert_ne!(instance(&first, SERVER).finding, Finding::Defunct);
    assert!(run.needs_second());
    machine.since_boot_ms += 2_100;
    let judged = run.judge(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Defunct);
    assert!(
        server.facts[0].text.contains("195 sh"),
        "{}",
        server.facts[0].text
    );
}

#[test]
fn a_network_server_needs_no_wire() {
    let mut machine = Machine::new();
    machine.add(SERVER, 1, &format!("{NODE_SERVER} streamableHttp"));
    machine.open(SERVER, 0, Target::Null, Access::Read);
    machine.tcp(SERVER, 20, 950, "127.0.0.1:3001", None);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(
        (server.finding, server.transport),
        (Finding::Network, Transport::Network)
    );
    assert_eq!(
        server.network.as_ref().map(|network| network.peers.len()),
        Some(0)
    );
    machine.add(CLIENT, 1, "node client.mjs");
    machine.tcp(CLIENT, 9, 960, "127.0.0.1:40000", Some("127.0.0.1:3001"));
    machine.tcp(
        SERVER,
        21,
        961,
        "[::ffff:127.0.0.1]:3001",
        Some("[::ffff:127.0.0.1]:40000"),
    );
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(
        server.client.as_ref().map(|client| client.process.pid),
        Some(pid(CLIENT))
    );
}

#[test]
fn a_lost_wire_with_a_network_peer_is_network() {
    let mut machine = on_pipes();
    machine.tcp(SERVER, 20, 950, "127.0.0.1:3001", None);
    machine.tcp(SERVER, 21, 961, "127.0.0.1:3001", Some("10.0.0.9:40000"));
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Attached);
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Network);
    assert!(codes(server).contains(&"stdio_lost"));
}

#[test]
fn a_caller_that_waits_to_be_accepted_is_connected() {
    let mut machine = on_pipes();
    machine.tcp(SERVER, 20, 950, "0.0.0.0:3001", None);
    machine.end(CLIENT, 1);
    machine.add(300, 1, "curl http://127.0.0.1:3001/mcp");
    machine.tcp(300, 5, 960, "127.0.0.1:40000", Some("10.0.0.9:3001"));
    assert_eq!(
        instance(&once(&machine), SERVER).finding,
        Finding::Severed,
        "the same port of another host"
    );
    machine.tcp(300, 5, 960, "127.0.0.1:40000", Some("127.0.0.1:3001"));
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Network);
    let peers = server.network.as_ref().map(|network| network.peers.clone());
    assert_eq!(
        peers,
        Some(vec![
            "tcp 127.0.0.1:40000 (300 curl), not accepted yet".to_owned()
        ])
    );
}

#[test]
fn a_peer_on_a_unix_listener_is_connected() {
    let mut machine = on_pipes();
    machine.socket(SERVER, 20, 950, 0);
    machine.add(300, 1, "python caller.py");
    machine.socket(SERVER, 21, 961, 962);
    machine.socket(300, 5, 962, 961);
    for (inode, listening) in [(950, true), (961, false)] {
        let socket = machine
            .sockets
            .unix
            .get_mut(&inode)
            .expect("a socket of the server");
        socket.path = Some("/run/mcp.sock".into());
        socket.listening = listening;
    }
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Attached);
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Network);
    let peers = server.network.as_ref().map(|network| network.peers.clone());
    assert_eq!(peers, Some(vec!["unix /run/mcp.sock (300 python)".to_owned()]));
}

#[test]
fn a_fork_that_talks_in_place_of_its_parent_is_the_server() {
    let mut machine = on_pipes();
    for number in [210, 220] {
        machine.add(number, SERVER, PYTHON_SERVER);
    }
    machine.inherit(SERVER, 220);
    machine.open(SERVER, 0, Target::Null, Access::Read);
    machine.open(SERVER, 1, Target::Null, Access::Write);
    let judged = once(&machine);
    assert_eq!(judged.instances.len(), 1);
    let found = &judged.instances[0];
    assert_eq!(found.server.map(|key| key.pid), Some(pid(220)));
    assert_eq!(
        (found.finding, found.launchers.len(), found.helpers.len()),
        (Finding::Attached, 1, 1)
    );
    // The other way round: what the fork reads comes from the parent.
    machine.pipe(220, 0, 990, Access::Read);
    machine.pipe(SERVER, 9, 990, Access::Write);
    let judged = once(&machine);
    assert_eq!(judged.instances[0].server.map(|key| key.pid), Some(pid(SERVER)));
}

#[test]
fn a_terminal_is_attached_until_it_hangs_up() {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "python terminal.py");
    let mut by_hand: Vec<_> = ["sh", "-c", "\"$@\"; exit $?", "sh"].map(Into::into).to_vec();
    by_hand.extend(NODE_SERVER.split(' ').map(Into::into));
    machine.add_argv(150, CLIENT, by_hand);
    machine.add(SERVER, 150, NODE_SERVER);
    let terminal = |hung_up| Target::Terminal {
        path: "/dev/pts/3".into(),
        hung_up,
    };
    for number in [150, SERVER] {
        machine.open(number, 0, terminal(false), Access::Both);
    }
    let holder = Holder {
        process: machine.process(CLIENT).key,
        fd: 5,
        access: Access::Both,
    };
    machine.masters.insert(3, vec![holder]);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    assert!(
        server.launchers.is_empty(),
        "a shell on the same terminal is no launcher"
    );
    machine.open(SERVER, 0, terminal(true), Access::Both);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
}

#[test]
fn a_proxy_is_two_instances_and_the_inner_one_says_via() {
    let mut machine = on_pipes();
    machine.add(250, SERVER, NODE_SERVER);
    machine.wire_pipes(SERVER, 250, 940);
    machine.end(CLIENT, 1);
    let judged = once(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Severed);
    let inner = instance(&judged, 250);
    assert_eq!(inner.finding, Finding::Attached);
    assert_eq!(inner.via.as_ref().map(|via| via.finding), Some(Finding::Severed));
}

#[test]
fn the_main_process_of_a_unit_is_managed_and_no_orphan() {
    let mut machine = Machine::new();
    machine.add(SERVER, 1, &format!("{NODE_SERVER} streamableHttp"));
    machine.tcp(SERVER, 20, 950, "127.0.0.1:3001", None);
    machine.units = vec![Unit {
        manager: "systemd".into(),
        name: "mcp.service".into(),
        main_pid: Some(pid(SERVER)),
    }];
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(
        server.managed.as_ref().map(|managed| managed.unit.as_str()),
        Some("mcp.service")
    );
    assert_eq!(server.lineage, Lineage::Child);
}

/// A launcher passes the secret on: one authority, told once.
#[test]
fn a_secret_in_the_command_line_is_a_lead() {
    let mut machine = on_pipes();
    let line = [
        "python",
        "-m",
        "mcp_server_git",
        "--token",
        "s3cr3t-7f-0123456789",
    ];
    let argv: Vec<OsBytes> = line.iter().map(|element| (*element).into()).collect();
    machine.process(SERVER).argv = Reading::Value(argv);
    let judged = once(&machine);
    let reach = instance(&judged, SERVER).reach.clone().expect("reach");
    let told: Vec<(LeadKind, Vec<u8>)> = reach
        .iter()
        .map(|lead| (lead.kind, lead.target.as_bytes().to_vec()))
        .collect();
    assert_eq!(told, [(LeadKind::CredentialArgument, b"--token".to_vec())]);
    assert!(
        !format!("{judged:?}").contains("s3cr3t"),
        "the secret itself is no part of a judgement"
    );
}

#[test]
fn reach_names_connections_credentials_and_ssh() {
    let mut machine = on_pipes();
    machine.tcp(SERVER, 20, 950, "10.0.0.1:40000", Some("10.2.0.4:443"));
    machine.add(300, SERVER, "ssh -N -o ControlPath=/tmp/%r@%h deploy@10.2.0.4");
    machine.socket(300, 4, 960, 0);
    let control = machine.sockets.unix.get_mut(&960).expect("control");
    (control.path, control.listening) = (Some("/tmp/ctl.fUxnQhUIwZ7O4dfY".into()), true);
    if let Reading::Value(environment) = &mut machine.process(SERVER).environment {
        environment.names = vec!["GITHUB_TOKEN".into(), "PATH".into()];
    }
    let judged = once(&machine);
    let reach = instance(&judged, SERVER).reach.clone().expect("reach");
    let kinds: Vec<(&str, LeadKind)> = reach
        .iter()
        .map(|lead| (lead.letter.as_str(), lead.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("a", LeadKind::Tcp),
            ("b", LeadKind::Ssh),
            ("c", LeadKind::CredentialName)
        ]
    );
    assert!(
        reach[1]
            .advice
            .as_ref()
            .is_some_and(|advice| advice.contains("ssh -O exit -S /tmp/ctl"))
    );
}

#[test]
fn a_connection_to_the_control_path_of_an_ssh_master_is_a_lead() {
    let mut machine = on_pipes();
    machine.add_argv(400, 1, vec!["ssh: /tmp/ctl [mux]".into()]);
    machine.socket(SERVER, 20, 970, 971);
    machine.socket(400, 5, 971, 970);
    machine.sockets.unix.get_mut(&971).expect("accepted").path = Some("/tmp/ctl.fUxnQhUIwZ7O4dfY".into());
    let judged = once(&machine);
    let reach = instance(&judged, SERVER).reach.clone().expect("reach");
    assert_eq!(reach[0].kind, LeadKind::UnixSocket);
    assert!(
        reach[0]
            .meaning
            .starts_with("control path /tmp/ctl of an ssh master")
    );
    assert!(
        reach[0]
            .advice
            .as_ref()
            .is_some_and(|advice| advice.contains("ssh -O exit -S /tmp/ctl any"))
    );
}

#[test]
fn older_twins_are_told_by_their_start() {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "claude");
    for (number, start) in [(200, 1_000), (201, 1_100), (300, 9_000)] {
        machine.add(number, CLIENT, PYTHON_SERVER).key.start = crate::model::identity::StartKey(start);
        machine.wire_pipes(CLIENT, number, u64::from(number) * 10);
    }
    let judged = once(&machine);
    let of = |number| {
        let one = instance(&judged, number);
        (one.generation, one.older_twin, one.twins.len())
    };
    assert_eq!(
        (of(200), of(201), of(300)),
        ((1, true, 2), (1, true, 2), (2, false, 2))
    );
}

#[test]
fn ids_stay_when_a_launcher_dies() {
    let mut machine = through_npx();
    let mut run = Run::new();
    let before = instance(&run.judge(&machine), SERVER).id;
    machine.end(190, 1);
    machine.end(195, 1);
    let judged = run.judge(&machine);
    assert_eq!(judged.instances.len(), 1);
    assert_eq!(instance(&judged, SERVER).id, before);
}

#[test]
fn a_weak_name_needs_a_wire_to_a_client_or_to_nobody() {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, "python client.py");
    machine.add(SERVER, CLIENT, "python /srv/server_mcp1.py");
    machine.wire_pipes(CLIENT, SERVER, 900);
    assert!(
        once(&machine).instances.is_empty(),
        "its client is not a known one"
    );
    let mut run = Run::new();
    let known = machine.process(CLIENT);
    known.argv = Reading::Value(vec!["claude".into()]);
    assert_eq!(instance(&run.judge(&machine), SERVER).identified_by.rule, "shape");
    machine.end(CLIENT, 1);
    let judged = run.judge(&machine);
    assert_eq!(instance(&judged, SERVER).finding, Finding::Severed);
}
