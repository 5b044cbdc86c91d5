//! Worlds made by hand, for the tests of this layer.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::descriptor::{Access, Descriptor, Holder, Target};
use crate::model::finding::{
    Adopter, AdopterKind, Container, End, EndHolder, EndKind, Fact, Finding, Lead, LeadKind, Lineage,
    Managed, Network, PeerState, Relation, Stdio, Via, Weight,
};
use crate::model::host::{Host, Observer, Os, Visibility};
use crate::model::identity::{InstanceId, Pid, ProcessKey, StartKey};
use crate::model::instance::{
    ClientRef, Confidence, Identification, Instance, Judged, OwnerKey, Role, RoleOf, Transport,
};
use crate::model::process::{Environment, Process, SignalMasks};
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::socket::{InetSocket, Protocol, Sockets, UnixKind, UnixSocket};
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// A name with an escape sequence, a bidi override, a line break and a byte that is not UTF-8.
pub(super) const HOSTILE: &[u8] = b"a\x1b[31m\xe2\x80\xae\nb\xff";

pub(super) fn pid(number: u32) -> Pid {
    Pid::new(number.into()).unwrap()
}

pub(super) fn key(number: u32) -> ProcessKey {
    ProcessKey {
        pid: pid(number),
        start: StartKey(u64::from(number) * 100),
    }
}

/// A readable process that started `number` seconds after boot.
pub(super) fn process(number: u32, parent: u32, argv: &[&[u8]]) -> Process {
    Process {
        key: key(number),
        pidfd_inode: None,
        ppid: Pid::new(parent.into()),
        pgid: Some(pid(number)),
        sid: Some(pid(number)),
        tty: None,
        state: 'S',
        stat: "Ss".to_owned(),
        kernel_thread: false,
        uid: Reading::Value(1000),
        user: Reading::Value("deploy".into()),
        home: Some("/home/deploy".into()),
        comm: argv.first().map_or(&b"none"[..], |first| first).into(),
        argv: Reading::Value(argv.iter().map(|element| (*element).into()).collect()),
        argv_kept: false,
        image: None,
        exe: Reading::Value("/usr/bin/python3".into()),
        cwd: Reading::Value("/srv/app".into()),
        cgroup: Reading::Unread,
        threads: 1,
        rss_bytes: 4096,
        swap_bytes: Reading::Unread,
        cpu_ms: 10,
        cpu_permille: Some(985),
        schedstat: Reading::Unread,
        signals: Reading::Unread,
        pid_namespace: Reading::Unread,
        net_namespace: Reading::Unread,
        namespace_pids: Reading::Unread,
        environment: Reading::Unread,
        descriptors: Reading::Unread,
        locks: Vec::new(),
    }
}

fn end(number: u32, fd: u32, inode: u64, peer: PeerState, holders: Vec<EndHolder>) -> End {
    End {
        fd: Some(fd),
        pid: pid(number),
        kind: EndKind::Socket,
        inode: Some(inode),
        access: Some(Access::Both),
        peer,
        holder_count: u32::try_from(holders.len()).unwrap(),
        holders,
    }
}

/// An instance of which nothing but its server is known.
pub(super) fn bare_instance(server: u32, finding: Finding) -> Instance {
    Instance {
        id: InstanceId(key(server)),
        name: "git".into(),
        top: key(server),
        server: Some(key(server)),
        launchers: Vec::new(),
        helpers: Vec::new(),
        owner: OwnerKey::Process(key(1)),
        client: None,
        identified_by: Identification {
            confidence: Confidence::Known,
            rule: "python-module".to_owned(),
            because: "module mcp_server_git".to_owned(),
            client: None,
            file: None,
            server_name: None,
        },
        transport: Transport::Unknown,
        finding,
        lineage: Lineage::Unknown,
        adopter: None,
        managed: None,
        container: None,
        via: None,
        network: None,
        stdio: None,
        reach: None,
        acts_now: Vec::new(),
        twins: Vec::new(),
        older_twin: false,
        generation: 1,
        facts: Vec::new(),
    }
}

fn fact(code: &str, weight: Weight) -> Fact {
    Fact {
        code: code.to_owned(),
        text: format!("{code} \u{1b}]0;x\u{7}"),
        source: "/proc/48271/fd".to_owned(),
        weight,
    }
}

/// An instance with every field filled.
pub(super) fn full_instance() -> Instance {
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
        identified_by: Identification {
            confidence: Confidence::Configured,
            rule: "configured-exact".to_owned(),
            because: "equals the entry git".to_owned(),
            client: Some("Claude Code".to_owned()),
            file: Some("/root/.claude.json".into()),
            server_name: Some("git".into()),
        },
        transport: Transport::Stdio,
        lineage: Lineage::Reparented,
        adopter: Some(Adopter {
            pid: pid(1),
            kind: AdopterKind::Init,
            name: "systemd".into(),
            because: "pid 1".to_owned(),
        }),
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
            stdin: Some(end(48_271, 0, 88_121, PeerState::Held, vec![client])),
            stdout: Some(end(48_271, 1, 88_123, PeerState::None, Vec::new())),
            stderr: Some(end(48_271, 2, 88_125, PeerState::Own, Vec::new())),
        }),
        reach: Some(vec![Lead {
            letter: "a".to_owned(),
            kind: LeadKind::Tcp,
            target: HOSTILE.into(),
            state: Some("ESTAB".to_owned()),
            pid: pid(48_271),
            fd: Some(7),
            meaning: "an established connection".to_owned(),
            advice: Some("ss -tp".to_owned()),
            last_sent_ms: Some(2000),
            last_received_ms: Some(3000),
        }]),
        acts_now: vec![fact("cpu", Weight::Context)],
        twins: vec![pid(48_300)],
        older_twin: true,
        facts: vec![
            fact("stdin_no_writer", Weight::Strong),
            fact("reparented", Weight::Supporting),
        ],
        ..bare_instance(48_271, Finding::Severed)
    }
}

fn host() -> Host {
    Host {
        hostname: "devbox-7".into(),
        os: Os::Linux,
        kernel: "6.18.0".to_owned(),
        boot_id: "b".to_owned(),
        booted_at: UnixMillis(1_700_000_000_000),
        start_units_per_second: 100,
        cpus: 2,
        load_centi: [0; 3],
        memory_bytes: 1 << 30,
    }
}

fn observer() -> Observer {
    Observer {
        pid: pid(7),
        ancestors: Vec::new(),
        uid: 1000,
        user: "deploy".into(),
        login_uid: None,
        ssh_from: None,
        program: "mcpwake".into(),
        pid_namespace: None,
        net_namespace: None,
    }
}

/// A world of these processes and instances; members get their roles.
pub(super) fn world(processes: Vec<Process>, instances: Vec<Instance>) -> World {
    let mut roles: BTreeMap<ProcessKey, Vec<RoleOf>> = BTreeMap::new();
    for instance in &instances {
        let client = instance
            .client
            .iter()
            .map(|client| (client.process, Role::Client));
        for (member, role) in instance.members().chain(client) {
            roles.entry(member).or_default().push(RoleOf {
                instance: instance.id,
                role,
            });
        }
    }
    World {
        seq: 1,
        sample: Sample {
            taken_at: UnixMillis(1_700_000_000_000 + 100_000_500),
            since_boot_ms: 100_000_500,
            cost_us: 1,
            host: host(),
            observer: observer(),
            visibility: Visibility::Partial,
            readable: 3,
            hidden: None,
            processes: processes
                .into_iter()
                .map(|process| (process.key.pid, Arc::new(process)))
                .collect(),
            sockets: Reading::Value(sockets()),
            holders: BTreeMap::from([
                (
                    88_122,
                    vec![Holder {
                        process: key(900),
                        fd: 21,
                        access: Access::Both,
                    }],
                ),
                (
                    555,
                    vec![
                        Holder {
                            process: key(48_271),
                            fd: 9,
                            access: Access::Read,
                        },
                        Holder {
                            process: key(48_290),
                            fd: 1,
                            access: Access::Write,
                        },
                    ],
                ),
            ]),
            pipe_ends: std::collections::BTreeMap::new(),
            adopted: std::collections::BTreeSet::new(),
            terminal_masters: BTreeMap::from([(
                3,
                vec![Holder {
                    process: key(900),
                    fd: 4,
                    access: Access::Both,
                }],
            )]),
            units: Vec::new(),
            unsearched: Vec::new(),
            unlisted: Vec::new(),
            problems: Vec::new(),
        },
        judged: Judged {
            instances,
            roles,
            ..Judged::default()
        },
        complete: true,
    }
}

fn sockets() -> Sockets {
    let unix = |peer| UnixSocket {
        peer,
        path: None,
        kind: UnixKind::Stream,
        listening: false,
        unread: Some(12),
    };
    Sockets {
        unix: BTreeMap::from([(88_121, unix(Some(88_122))), (88_123, unix(Some(0)))]),
        inet: BTreeMap::from([(
            999,
            InetSocket {
                protocol: Protocol::Tcp,
                local: "10.2.0.9:50000".parse().unwrap(),
                remote: Some("10.2.0.4:443".parse().unwrap()),
                state: "ESTAB".to_owned(),
                last_sent_ms: Some(2000),
                last_received_ms: None,
                bytes_sent: Some(14_000),
                bytes_received: None,
            },
        )]),
    }
}

/// The world of the screens: a severed server with launcher and helper, a client, an adopter, a
/// neighbour in the server's group, and a stranger.
pub(super) fn full_world() -> World {
    let descriptor = |fd, target, access| Descriptor {
        fd,
        target,
        access: Reading::Value(access),
    };
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
