//! Worlds made by hand, for the tests of this layer.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Target};
use crate::model::finding::{
    Container, EndHolder, EndKind, Fact, Finding, Lead, LeadKind, Lineage, Managed, Network, PeerState,
    Relation, Stdio, Via, Weight,
};
use crate::model::host::{Host, Observer, Visibility};
use crate::model::identity::{InstanceId, ProcessKey};
use crate::model::instance::{ClientRef, Instance, Judged, OwnerKey, Transport};
use crate::model::process::{Environment, Process, SignalMasks};
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::socket::{InetSocket, Sockets, UnixSocket};
use crate::model::testkit::{self, configured, descriptor, end, holder};
use crate::model::time::UnixMillis;
use crate::model::world::World;

pub(super) use crate::model::testkit::pid;

/// A name with an escape sequence, a bidi override, a line break and a byte that is not UTF-8.
pub(super) const HOSTILE: &[u8] = b"a\x1b[31m\xe2\x80\xae\nb\xff";

pub(super) fn key(number: u32) -> ProcessKey {
    testkit::key(number, u64::from(number) * 100)
}

/// A readable process that started `number` seconds after boot.
pub(super) fn process(number: u32, parent: u32, argv: &[&[u8]]) -> Process {
    let argv = argv.iter().map(|element| OsBytes::from(*element)).collect();
    Process {
        exe: Reading::Value("/usr/bin/python3".into()),
        swap_bytes: Reading::Unread,
        cpu_ms: 10,
        cpu_permille: Some(985),
        net_namespace: Reading::Unread,
        environment: Reading::Unread,
        descriptors: Reading::Unread,
        ..testkit::process(key(number), parent, argv)
    }
}

/// An instance of which nothing but its server is known.
pub(super) fn bare_instance(server: u32, finding: Finding) -> Instance {
    Instance {
        transport: Transport::Unknown,
        lineage: Lineage::Unknown,
        reach: None,
        ..testkit::instance(key(server), OwnerKey::Process(key(1)), finding)
    }
}

fn noted(code: &str, weight: Weight) -> Fact {
    testkit::fact(code, &format!("{code} \u{1b}]0;x\u{7}"), "/proc/48271/fd", weight)
}

/// An instance with every field filled.
pub(super) fn full_instance() -> Instance {
    let socket_end = |fd, inode, peer, holders| end((48_271, fd), EndKind::Socket, inode, peer, holders);
    let client = EndHolder {
        pid: pid(900),
        fd: 21,
        access: Access::Both,
        relation: Relation::Client,
    };
    Instance {
        name: HOSTILE.into(),
        launchers: vec![key(48_270)],
        helpers: vec![key(48_290)],
        client: Some(ClientRef {
            process: key(900),
            id: Some("claude-code".to_owned()),
            name: "Claude Code".into(),
            state: 'S',
            on_wire: true,
        }),
        identified_by: configured("equals the entry git", "/root/.claude.json"),
        transport: Transport::Stdio,
        lineage: Lineage::Reparented,
        adopter: Some(testkit::init("systemd", "pid 1")),
        managed: Some(Managed {
            by: "systemd".to_owned(),
            unit: "git.service".to_owned(),
        }),
        container: Some(Container {
            engine: "docker".to_owned(),
            id: "f00".to_owned(),
        }),
        via: Some(Via {
            instance: InstanceId(key(900)),
            finding: Finding::Attached,
        }),
        network: Some(Network {
            listens: vec!["127.0.0.1:8080".to_owned()],
            peers: vec!["127.0.0.1:50000".to_owned()],
        }),
        stdio: Some(Stdio {
            stdin: Some(socket_end(0, 88_121, PeerState::Held, vec![client])),
            stdout: Some(socket_end(1, 88_123, PeerState::None, Vec::new())),
            stderr: Some(socket_end(2, 88_125, PeerState::Own, Vec::new())),
        }),
        reach: Some(vec![Lead {
            target: HOSTILE.into(),
            state: Some("ESTAB".to_owned()),
            fd: Some(7),
            advice: Some("ss -tp".to_owned()),
            last_sent_ms: Some(2000),
            last_received_ms: Some(3000),
            ..testkit::lead("a", LeadKind::Tcp, "", 48_271, "an established connection")
        }]),
        acts_now: vec![noted("cpu", Weight::Context)],
        twins: vec![pid(48_300)],
        older_twin: true,
        facts: vec![
            noted("stdin_no_writer", Weight::Strong),
            noted("reparented", Weight::Supporting),
        ],
        ..bare_instance(48_271, Finding::Severed)
    }
}

/// A world of these processes and instances; members get their roles.
pub(super) fn world(processes: Vec<Process>, instances: Vec<Instance>) -> World {
    let taken_at = UnixMillis(1_700_000_000_000 + 100_000_500);
    let machine = testkit::sample(taken_at, 100_000_500);
    let sample = Sample {
        cost_us: 1,
        host: Host {
            boot_id: "b".to_owned(),
            load_centi: [0; 3],
            memory_bytes: 1 << 30,
            ..machine.host
        },
        observer: Observer {
            pid: pid(7),
            uid: 1000,
            user: "deploy".into(),
            net_namespace: None,
            ..machine.observer
        },
        visibility: Visibility::Partial,
        readable: 3,
        processes: processes
            .into_iter()
            .map(|process| (process.key.pid, Arc::new(process)))
            .collect(),
        sockets: Reading::Value(sockets()),
        holders: BTreeMap::from([
            (88_122, vec![holder(key(900), 21, Access::Both)]),
            (
                555,
                vec![
                    holder(key(48_271), 9, Access::Read),
                    holder(key(48_290), 1, Access::Write),
                ],
            ),
        ]),
        terminal_masters: BTreeMap::from([(3, vec![holder(key(900), 4, Access::Both)])]),
        ..machine
    };
    let judged = Judged {
        roles: testkit::roles(&instances),
        instances,
        ..Judged::default()
    };
    testkit::world(1, sample, judged)
}

fn sockets() -> Sockets {
    let unix = |peer| UnixSocket {
        unread: Some(12),
        ..testkit::stream(peer)
    };
    let tcp = InetSocket {
        last_received_ms: None,
        bytes_sent: Some(14_000),
        bytes_received: None,
        ..testkit::tcp("10.2.0.9:50000", Some("10.2.0.4:443"))
    };
    Sockets {
        unix: BTreeMap::from([(88_121, unix(Some(88_122))), (88_123, unix(Some(0)))]),
        inet: BTreeMap::from([(999, tcp)]),
    }
}

/// The world of the screens: a severed server with launcher and helper, a client, an adopter, a
/// neighbour in the server's group, and a stranger.
pub(super) fn full_world() -> World {
    let server = Process {
        comm: HOSTILE.into(),
        descriptors: Reading::Value(vec![
            descriptor(0, Target::Socket { inode: 88_121 }, Access::Both),
            descriptor(1, Target::Socket { inode: 88_123 }, Access::Both),
            descriptor(
                5,
                Target::File {
                    path: HOSTILE.into(),
                    deleted: true,
                },
                Access::Read,
            ),
            descriptor(7, Target::Socket { inode: 999 }, Access::Both),
            descriptor(
                8,
                Target::Terminal {
                    path: "/dev/pts/3".into(),
                    hung_up: false,
                },
                Access::Both,
            ),
            descriptor(9, Target::Pipe { inode: 555 }, Access::Read),
        ]),
        signals: Reading::Value(SignalMasks {
            pending: 0,
            blocked: 0,
            ignored: 1 << 12,
            caught: 1 << 14 | 1 << 40,
        }),
        environment: Reading::Value(Environment {
            names: vec!["CLAUDE_SESSION_ID".into(), "CLAUDE_PID".into()],
            identifiers: BTreeMap::from([
                ("CLAUDE_SESSION_ID".to_owned(), "0c5e-11".into()),
                ("CLAUDE_PID".to_owned(), "4242".into()),
            ]),
        }),
        ..process(
            48_271,
            48_270,
            &[b"python", b"-m", b"mcp_server_git", b"x y", HOSTILE],
        )
    };
    let neighbour = Process {
        pgid: Some(pid(48_271)),
        ..process(60_000, 1, &[b"sleep", b"9"])
    };
    let denied = Process {
        exe: Reading::Denied,
        cwd: Reading::Denied,
        argv: Reading::Failed("read /proc/48290/cmdline: EIO".to_owned()),
        uid: Reading::Value(0),
        ..process(48_290, 48_271, &[b"ssh"])
    };
    world(
        vec![
            Process {
                ppid: None,
                ..process(1, 0, &[b"systemd"])
            },
            process(900, 1, &[b"claude"]),
            process(48_270, 1, &[b"npx", b"-y"]),
            server,
            denied,
            neighbour,
            process(70_000, 1, &[b"stranger"]),
        ],
        vec![full_instance()],
    )
}
