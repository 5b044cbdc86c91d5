//! What the judgement makes of a Mac's samples: the same code as everywhere.

use std::sync::Arc;

use super::asked::Asked;
use super::mac::{Machine, Open, USER};
use crate::catalog::Catalog;
use crate::model::finding::{AdopterKind, Finding, Lineage};
use crate::model::host::Os;
use crate::model::instance::Instance;
use crate::model::world::World;
use crate::platform::macos::MacosSource;
use crate::runtime::collector::Collector;

pub(super) const CLIENT: u32 = 700;
pub(super) const SERVER: u32 = 710;

/// A machine with Claude Code and a server of it, not wired yet.
pub(super) fn machine() -> Machine {
    let mut machine = Machine::new();
    machine.add(CLIENT, 1, USER, "/Users/op/.local/bin/claude", &["claude"]);
    let argv = [
        "python3",
        "-m",
        "mcp_server_git",
        "--repository",
        "/Users/op/project",
    ];
    machine.add(SERVER, CLIENT, USER, "/usr/bin/python3", &argv);
    machine
}

pub(super) fn collector(machine: Machine) -> (Collector, Asked) {
    let asked = Asked::new(machine);
    let source = MacosSource::on(Box::new(asked.clone())).unwrap();
    let catalog = Arc::new(Catalog::builtin().unwrap());
    (Collector::at_once(Box::new(source), catalog, Os::Macos), asked)
}

fn judge(machine: Machine) -> Arc<World> {
    collector(machine).0.next(None).unwrap()
}

fn server(world: &World) -> &Instance {
    let found = world.judged.instances.iter();
    let mut found = found.filter(|one| one.lead_process().pid.get() == SERVER);
    found
        .next()
        .unwrap_or_else(|| panic!("{:#?}", world.judged.instances))
}

fn codes(instance: &Instance) -> Vec<&str> {
    instance.facts.iter().map(|fact| fact.code.as_str()).collect()
}

#[test]
fn attached_by_pipes() {
    let mut machine = machine();
    machine.wire_pipes(CLIENT, SERVER);
    let world = judge(machine);
    let server = server(&world);
    assert_eq!(server.finding, Finding::Attached);
    let client = server.client.as_ref().unwrap();
    assert_eq!((client.process.pid.get(), client.on_wire), (CLIENT, true));
    assert_eq!(
        (server.lineage, codes(server)[0]),
        (Lineage::Child, "client_holds")
    );
}

#[test]
fn attached_by_a_unix_socketpair() {
    let mut machine = machine();
    machine.wire_sockets(CLIENT, SERVER);
    let world = judge(machine);
    assert_eq!(server(&world).finding, Finding::Attached);
    assert_eq!(server(&world).client.as_ref().unwrap().process.pid.get(), CLIENT);
}

#[test]
fn severed_pipes_are_closed_by_the_kernels_word() {
    let mut machine = machine();
    machine.wire_pipes(CLIENT, SERVER);
    machine.end(CLIENT);
    // One that could hide a writer, were it not for the kernel.
    machine.uid = USER;
    machine.add(720, 1, 502, "/bin/cat", &["cat"]);
    let world = judge(machine);
    let server = server(&world);
    assert_eq!(server.finding, Finding::Severed);
    let fact = &server.facts[0];
    assert_eq!(
        (fact.code.as_str(), fact.source.as_str()),
        ("stdin_peer_closed", "proc_pidfdinfo")
    );
}

#[test]
fn severed_sockets() {
    let mut machine = machine();
    machine.wire_sockets(CLIENT, SERVER);
    machine.end(CLIENT);
    let world = judge(machine);
    let server = server(&world);
    assert_eq!(server.finding, Finding::Severed);
    let source = "proc_pidfdinfo PROC_PIDFDSOCKETINFO";
    let fact = &server.facts[0];
    assert_eq!(
        (fact.code.as_str(), fact.source.as_str()),
        ("stdin_peer_closed", source)
    );
}

#[test]
fn an_open_end_that_nobody_is_seen_to_hold_is_unknown() {
    for sockets in [false, true] {
        let mut machine = machine();
        // The writer belongs to another user.
        machine.add(720, 1, 502, "/usr/local/bin/gateway", &["gateway"]);
        if sockets {
            machine.wire_sockets(720, SERVER);
        } else {
            machine.wire_pipes(720, SERVER);
        }
        machine.uid = USER;
        let world = judge(machine);
        let server = server(&world);
        assert_eq!(server.finding, Finding::Unknown, "{:#?}", server.facts);
        assert!(codes(server).contains(&"hidden_holder"), "{:#?}", server.facts);
        let kind = if sockets { "socket" } else { "pipe" };
        assert!(server.facts[0].text.contains(kind), "{:?}", server.facts[0]);
    }
}

#[test]
fn launchd_as_parent_says_nothing_by_itself() {
    let mut machine = machine();
    machine.add(
        SERVER,
        1,
        USER,
        "/usr/bin/python3",
        &["python3", "-m", "mcp_server_git"],
    );
    machine.wire_pipes(CLIENT, SERVER);
    let world = judge(machine);
    let server = server(&world);
    assert_eq!((server.lineage, server.adopter.clone()), (Lineage::Unknown, None));
    assert!(codes(server).contains(&"parent_doubtful"));
    // The client talks to it: that decides.
    assert_eq!(server.finding, Finding::Attached);
    assert_eq!(server.managed, None);
}

#[test]
fn launchd_as_another_parent_than_at_the_start_has_adopted_it() {
    let mut machine = machine();
    machine.wire_pipes(CLIENT, SERVER);
    machine.end(CLIENT);
    let world = judge(machine);
    let server = server(&world);
    assert_eq!(server.lineage, Lineage::Reparented);
    let adopter = server.adopter.as_ref().unwrap();
    assert_eq!((adopter.pid.get(), adopter.kind), (1, AdopterKind::Init));
    assert_eq!(adopter.name, "launchd".into());
    assert!(codes(server).contains(&"reparented"));
}

#[test]
fn an_adoption_between_two_samples_is_seen() {
    let mut machine = machine();
    machine.wire_sockets(CLIENT, SERVER);
    // Without the kernel's word: an exec after the adoption takes it away.
    machine.process(SERVER).born_under = 100_001;
    let (mut collector, asked) = collector(machine);
    collector.next(None).unwrap();
    asked.change(|machine| machine.end(CLIENT));
    let world = collector.next(None).unwrap();
    assert_eq!(server(&world).lineage, Lineage::Reparented);
    assert!(codes(server(&world)).contains(&"reparented_seen"));
}

#[test]
fn what_it_can_still_reach_is_told() {
    let path = "/private/tmp/com.apple.launchd.x1/Listeners";
    // Where the agent's process is another user's, this end alone tells the path.
    for (owner, meaning) in [
        (USER, "SSH agent; the other end is 300 ssh-agent"),
        (502, "SSH agent"),
    ] {
        let mut machine = machine();
        machine.wire_pipes(CLIENT, SERVER);
        machine.add(300, 1, owner, "/usr/bin/ssh-agent", &["/usr/bin/ssh-agent", "-l"]);
        machine.unix((300, 5), (SERVER, 6), Some(path));
        machine.open(
            SERVER,
            7,
            Open::Tcp {
                own: 0x77,
                local: ([10, 0, 0, 2], 50_000),
                remote: ([140, 82, 112, 3], 443),
                state: 4,
            },
        );
        machine.end(CLIENT);
        machine.uid = USER;
        let world = judge(machine);
        let reach = server(&world).reach.as_ref().unwrap();
        let lead = |target: &str| {
            let found = reach.iter().find(|lead| lead.target == target.into());
            found.unwrap_or_else(|| panic!("{target}: {reach:?}"))
        };
        assert_eq!(lead("140.82.112.3:443").state.as_deref(), Some("ESTAB"));
        assert_eq!(lead(path).meaning, meaning);
    }
}

#[test]
fn a_terminal_whose_master_nobody_is_seen_to_hold_is_unknown() {
    let mut machine = machine();
    machine.open(SERVER, 0, Open::terminal(0x1000_0003, "/dev/ttys003"));
    let world = judge(machine.clone());
    assert_eq!(server(&world).finding, Finding::Unknown);
    machine.open(CLIENT, 9, Open::terminal(0x0f00_0003, "/dev/ptmx"));
    let world = judge(machine);
    assert_eq!(server(&world).finding, Finding::Attached);
}

#[test]
fn no_fact_names_a_file_of_linux() {
    let mut machine = machine();
    machine.wire_pipes(CLIENT, SERVER);
    let (mut collector, asked) = collector(machine);
    let first = collector.next(None).unwrap();
    asked.change(|machine| machine.end(CLIENT));
    let second = collector.next(None).unwrap();
    for world in [first, second] {
        let instance = server(&world);
        for fact in instance.facts.iter().chain(&instance.acts_now) {
            assert!(!fact.source.contains("/proc"), "{fact:?}");
            assert!(!fact.source.contains("sock_diag"), "{fact:?}");
        }
    }
}
