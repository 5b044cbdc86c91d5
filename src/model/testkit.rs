//! Builds the parts of a world for tests: what a test does not name is the same in all of them.
//!
//! The tests of every layer use it, and those in `tests` take this file in as a module of their own:
//! it names nothing but what stands beside it.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::OsBytes;
use super::descriptor::{Access, Descriptor, Holder, Target};
use super::finding::{
    Adopter, AdopterKind, End, EndHolder, EndKind, Fact, Finding, Lead, LeadKind, Lineage, PeerState, Weight,
};
use super::host::{Host, Observer, Os, Visibility};
use super::identity::{InstanceId, Pid, ProcessKey, StartKey};
use super::instance::{Confidence, Identification, Instance, Judged, OwnerKey, Role, RoleOf, Transport};
use super::process::{Environment, Process};
use super::reading::Reading;
use super::sample::Sample;
use super::socket::{InetSocket, Protocol, Sockets, UnixKind, UnixSocket};
use super::time::UnixMillis;
use super::world::World;

/// The network namespace that everything is in.
const NET_NAMESPACE: u64 = 4_026_531_840;

pub(crate) fn pid(raw: u32) -> Pid {
    Pid::new(i64::from(raw)).expect("a positive pid")
}

pub(crate) fn key(number: u32, start: u64) -> ProcessKey {
    ProcessKey {
        pid: pid(number),
        start: StartKey(start),
    }
}

/// A process that could be read and has nothing open, leader of its own group and session. Its
/// `comm` is what the kernel makes of the first word.
pub(crate) fn process(key: ProcessKey, parent: u32, argv: Vec<OsBytes>) -> Process {
    let program = argv.first().map_or(&b"none"[..], OsBytes::basename);
    Process {
        key,
        pidfd_inode: None,
        ppid: Pid::new(i64::from(parent)),
        pgid: Some(key.pid),
        sid: Some(key.pid),
        tty: None,
        state: 'S',
        stat: "Ss".to_owned(),
        kernel_thread: false,
        uid: Reading::Value(1000),
        user: Reading::Value("deploy".into()),
        home: Some("/home/deploy".into()),
        comm: program[..program.len().min(15)].into(),
        argv: Reading::Value(argv),
        argv_kept: false,
        image: None,
        exe: Reading::Unread,
        cwd: Reading::Value("/srv/app".into()),
        cgroup: Reading::Unread,
        threads: 1,
        rss_bytes: 4096,
        swap_bytes: Reading::Value(0),
        cpu_ms: 0,
        cpu_permille: None,
        schedstat: Reading::Unread,
        signals: Reading::Unread,
        pid_namespace: Reading::Unread,
        net_namespace: Reading::Value(NET_NAMESPACE),
        namespace_pids: Reading::Unread,
        environment: Reading::Value(Environment::default()),
        descriptors: Reading::Value(Vec::new()),
        locks: Vec::new(),
    }
}

/// A sample of a machine without processes, seen by root.
pub(crate) fn sample(taken_at: UnixMillis, since_boot_ms: u64) -> Sample {
    let since_boot = i64::try_from(since_boot_ms).expect("a time since boot");
    Sample {
        taken_at,
        since_boot_ms,
        cost_us: 3_000,
        host: Host {
            hostname: "devbox-7".into(),
            os: Os::Linux,
            kernel: "6.18.0".to_owned(),
            boot_id: "2c1b9c5e-0000-4000-8000-000000000000".to_owned(),
            booted_at: UnixMillis(taken_at.0 - since_boot),
            start_units_per_second: 100,
            cpus: 2,
            load_centi: [42, 51, 60],
            memory_bytes: 1 << 34,
        },
        observer: Observer {
            pid: pid(4_000_000),
            ancestors: Vec::new(),
            uid: 0,
            user: "root".into(),
            login_uid: None,
            ssh_from: None,
            program: "mcpwake".into(),
            pid_namespace: None,
            net_namespace: Some(NET_NAMESPACE),
        },
        visibility: Visibility::All,
        readable: 0,
        hidden: None,
        processes: BTreeMap::new(),
        sockets: Reading::Value(Sockets::default()),
        holders: BTreeMap::new(),
        pipe_ends: BTreeMap::new(),
        adopted: BTreeSet::new(),
        terminal_masters: BTreeMap::new(),
        units: Vec::new(),
        unsearched: Vec::new(),
        unlisted: Vec::new(),
        problems: Vec::new(),
    }
}

/// An instance of which nothing but its server, owner and finding is known: no lead, no fact.
pub(crate) fn instance(server: ProcessKey, owner: OwnerKey, finding: Finding) -> Instance {
    Instance {
        id: InstanceId(server),
        name: "git".into(),
        top: server,
        server: Some(server),
        launchers: Vec::new(),
        helpers: Vec::new(),
        owner,
        client: None,
        identified_by: known("python-module", "module mcp_server_git"),
        transport: Transport::Stdio,
        finding,
        lineage: Lineage::Reparented,
        adopter: None,
        managed: None,
        container: None,
        via: None,
        network: None,
        stdio: None,
        reach: Some(Vec::new()),
        acts_now: Vec::new(),
        twins: Vec::new(),
        older_twin: false,
        generation: 1,
        facts: Vec::new(),
    }
}

/// Identified by a rule.
pub(crate) fn known(rule: &str, because: &str) -> Identification {
    Identification {
        confidence: Confidence::Known,
        rule: rule.to_owned(),
        because: because.to_owned(),
        client: None,
        file: None,
        server_name: None,
    }
}

/// Identified as the entry `git` of a file of Claude Code.
pub(crate) fn configured(because: &str, file: &str) -> Identification {
    Identification {
        confidence: Confidence::Configured,
        client: Some("Claude Code".to_owned()),
        file: Some(file.into()),
        server_name: Some("git".into()),
        ..known("configured-exact", because)
    }
}

/// The process 1 that adopts what has lost its parent.
pub(crate) fn init(name: &str, because: &str) -> Adopter {
    Adopter {
        pid: Pid::INIT,
        kind: AdopterKind::Init,
        name: name.into(),
        because: because.to_owned(),
    }
}

pub(crate) fn fact(code: &str, text: &str, source: &str, weight: Weight) -> Fact {
    Fact {
        code: code.to_owned(),
        text: text.to_owned(),
        source: source.to_owned(),
        weight,
    }
}

pub(crate) fn lead(letter: &str, kind: LeadKind, target: &str, owner: u32, meaning: &str) -> Lead {
    Lead {
        letter: letter.to_owned(),
        kind,
        target: target.into(),
        state: None,
        pid: pid(owner),
        fd: None,
        meaning: meaning.to_owned(),
        advice: None,
        last_sent_ms: None,
        last_received_ms: None,
    }
}

/// One end of a wire at this descriptor, and who holds the other.
pub(crate) fn end(
    at: (u32, u32),
    kind: EndKind,
    inode: u64,
    peer: PeerState,
    holders: Vec<EndHolder>,
) -> End {
    let (owner, fd) = at;
    End {
        fd: Some(fd),
        pid: pid(owner),
        kind,
        inode: Some(inode),
        access: Some(Access::Both),
        peer,
        holder_count: u32::try_from(holders.len()).expect("a few holders"),
        holders,
    }
}

pub(crate) fn descriptor(fd: u32, target: Target, access: Access) -> Descriptor {
    Descriptor {
        fd,
        target,
        access: Reading::Value(access),
    }
}

pub(crate) fn holder(process: ProcessKey, fd: u32, access: Access) -> Holder {
    Holder { process, fd, access }
}

/// A stream socket without a path; `peer` is the inode of its other end.
pub(crate) fn stream(peer: Option<u64>) -> UnixSocket {
    UnixSocket {
        peer,
        path: None,
        kind: UnixKind::Stream,
        listening: false,
        unread: Some(0),
    }
}

/// A TCP socket over which data went; without `remote` it listens.
pub(crate) fn tcp(local: &str, remote: Option<&str>) -> InetSocket {
    InetSocket {
        protocol: Protocol::Tcp,
        local: local.parse().expect("an address"),
        remote: remote.map(|remote| remote.parse().expect("an address")),
        state: if remote.is_some() { "ESTAB" } else { "LISTEN" }.to_owned(),
        last_sent_ms: Some(2_000),
        last_received_ms: Some(3_000),
        bytes_sent: Some(10),
        bytes_received: Some(20),
    }
}

/// Returns the roles that follow from instances: of their members, and of their clients.
pub(crate) fn roles(instances: &[Instance]) -> BTreeMap<ProcessKey, Vec<RoleOf>> {
    let mut roles: BTreeMap<ProcessKey, Vec<RoleOf>> = BTreeMap::new();
    for instance in instances {
        let client = instance.client.iter();
        let client = client.map(|client| (client.process, Role::Client));
        for (member, role) in instance.members().chain(client) {
            let instance = instance.id;
            roles.entry(member).or_default().push(RoleOf { instance, role });
        }
    }
    roles
}

/// A whole sample, and what was judged from it.
pub(crate) fn world(seq: u64, sample: Sample, judged: Judged) -> World {
    World {
        seq,
        sample,
        judged,
        complete: true,
    }
}
