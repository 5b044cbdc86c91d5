//! An incident in a directory of the test's own, and worlds made by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use mcpwake::journal::{Entry, Operator};
use mcpwake::model::finding::{Adopter, AdopterKind, Finding, Lead, LeadKind, Lineage};
use mcpwake::model::host::{Host, Observer, Os, Visibility};
use mcpwake::model::identity::{InstanceId, Pid, ProcessKey, StartKey};
use mcpwake::model::instance::{
    Confidence, Identification, Instance, Judged, OwnerKey, Role, RoleOf, Transport,
};
use mcpwake::model::process::{Environment, Process};
use mcpwake::model::reading::Reading;
use mcpwake::model::sample::Sample;
use mcpwake::model::socket::Sockets;
use mcpwake::model::time::UnixMillis;
use mcpwake::model::world::World;
use mcpwake::store::{Access, Incident, Opening, Snapshot, Store};
use mcpwake::text::redact::Redactor;
use tempfile::TempDir;

/// 2026-12-01 01:08:02.123Z.
pub(crate) const NOW: UnixMillis = UnixMillis(1_796_087_282_123);

static REDACTOR: LazyLock<Arc<Redactor>> = LazyLock::new(|| Arc::new(Redactor::builtin().unwrap()));

pub(crate) fn redactor() -> Arc<Redactor> {
    Arc::clone(&REDACTOR)
}

pub(crate) fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(crate) fn operator() -> Operator {
    Operator {
        user: "deploy".to_owned(),
        uid: uid(),
        login_uid: Some(1000),
        ssh_from: Some("192.0.2.7".to_owned()),
    }
}

pub(crate) fn note(text: &str) -> Entry {
    Entry::Note {
        on: None,
        text: text.to_owned(),
    }
}

/// Returns a time some milliseconds after `NOW`.
pub(crate) fn later(ms: i64) -> UnixMillis {
    UnixMillis(NOW.0 + ms)
}

/// A state directory of the test's own.
pub(crate) struct State {
    pub(crate) directory: TempDir,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("mcpwake")
    }

    pub(crate) fn store(&self) -> Store {
        store_at(self.root(), Access::ReadWrite)
    }

    pub(crate) fn incident(&self) -> Incident {
        open(&self.store(), "OPS-1412")
    }
}

pub(crate) fn store_at(root: PathBuf, access: Access) -> Store {
    Store::new(root, uid(), access, redactor())
}

pub(crate) fn opening(title: &str) -> Opening {
    Opening::on(&world(1).sample.host, title)
}

pub(crate) fn open(store: &Store, title: &str) -> Incident {
    store.create(&opening(title), &operator(), NOW).unwrap()
}

pub(crate) fn snapshot(world: &World) -> Snapshot {
    Snapshot::new(world, &[], "builtin", NOW, &redactor())
}

pub(crate) fn pid(number: u32) -> Pid {
    Pid::new(number.into()).unwrap()
}

pub(crate) fn key(number: u32) -> ProcessKey {
    ProcessKey {
        pid: pid(number),
        start: StartKey(u64::from(number) * 100),
    }
}

/// A process of `init` with this command line.
pub(crate) fn process(number: u32, argv: &[&str]) -> Process {
    Process {
        key: key(number),
        pidfd_inode: Some(u64::from(number) + 7000),
        ppid: Some(pid(1)),
        pgid: Some(pid(number)),
        sid: Some(pid(number)),
        tty: None,
        state: 'S',
        stat: "Ss".to_owned(),
        kernel_thread: false,
        uid: Reading::Value(1000),
        user: Reading::Value("deploy".into()),
        home: Some("/home/deploy".into()),
        comm: argv.first().copied().unwrap_or("none").into(),
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
        cpu_permille: None,
        schedstat: Reading::Denied,
        signals: Reading::Gone,
        pid_namespace: Reading::Value(4_026_531_836),
        net_namespace: Reading::Value(4_026_531_840),
        namespace_pids: Reading::Value(vec![number]),
        environment: Reading::Value(Environment {
            names: vec!["GITHUB_TOKEN".into(), "PATH".into()],
            identifiers: BTreeMap::new(),
        }),
        descriptors: Reading::Failed("readdir /proc/1/fd: no memory".to_owned()),
        locks: Vec::new(),
    }
}

/// A world of `count` processes and no instance.
pub(crate) fn world(count: u32) -> World {
    let processes = (1..=count).map(|number| {
        let script = format!("/srv/app/worker-{number}.py");
        (
            pid(number),
            Arc::new(process(number, &["python3", &script, "--port", "8080"])),
        )
    });
    World {
        seq: 1,
        sample: Sample {
            taken_at: NOW,
            since_boot_ms: 90_000_000,
            cost_us: 1000,
            host: Host {
                hostname: "devbox-7".into(),
                os: Os::Linux,
                kernel: "6.18.0".to_owned(),
                boot_id: "2f1c5f9e-0000-4000-8000-000000000001".to_owned(),
                booted_at: UnixMillis(NOW.0 - 90_000_000),
                start_units_per_second: 100,
                cpus: 2,
                load_centi: [1, 2, 3],
                memory_bytes: 1 << 33,
            },
            observer: Observer {
                pid: pid(1),
                ancestors: Vec::new(),
                uid: 1000,
                user: "deploy".into(),
                login_uid: Some(1000),
                ssh_from: None,
                program: "mcpwake".into(),
                pid_namespace: None,
                net_namespace: None,
            },
            visibility: Visibility::All,
            readable: count,
            hidden: None,
            processes: processes.collect(),
            sockets: Reading::Value(Sockets::default()),
            holders: BTreeMap::from([(77, Vec::new())]),
            pipe_ends: std::collections::BTreeMap::new(),
            adopted: std::collections::BTreeSet::new(),
            terminal_masters: BTreeMap::new(),
            units: Vec::new(),
            unsearched: Vec::new(),
            unlisted: Vec::new(),
            problems: Vec::new(),
        },
        judged: Judged::default(),
        complete: true,
    }
}

/// A severed instance of `server`, adopted by init, with two leads.
pub(crate) fn instance(server: u32) -> Instance {
    Instance {
        id: InstanceId(key(server)),
        name: "git".into(),
        top: key(server),
        server: Some(key(server)),
        launchers: Vec::new(),
        helpers: Vec::new(),
        owner: OwnerKey::Adopter(key(1)),
        client: None,
        identified_by: Identification {
            confidence: Confidence::Configured,
            rule: "configured-exact".to_owned(),
            because: "equals the entry `git`".to_owned(),
            client: Some("Claude Code".to_owned()),
            file: Some("/home/deploy/.claude.json".into()),
            server_name: Some("git".into()),
        },
        transport: Transport::Stdio,
        finding: Finding::Severed,
        lineage: Lineage::Reparented,
        adopter: Some(Adopter {
            pid: pid(1),
            kind: AdopterKind::Init,
            name: "init".into(),
            because: "its parent is pid 1".to_owned(),
        }),
        managed: None,
        container: None,
        via: None,
        network: None,
        stdio: None,
        reach: Some(vec![
            lead("a", LeadKind::Tcp, "10.2.0.4:443", server),
            lead("b", LeadKind::Ssh, "/run/user/1000/ssh|control", server),
        ]),
        acts_now: Vec::new(),
        twins: Vec::new(),
        older_twin: false,
        generation: 1,
        facts: Vec::new(),
    }
}

fn lead(letter: &str, kind: LeadKind, target: &str, server: u32) -> Lead {
    Lead {
        letter: letter.to_owned(),
        kind,
        target: target.into(),
        state: Some("ESTAB".to_owned()),
        pid: pid(server),
        fd: Some(7),
        meaning: "a connection".to_owned(),
        advice: None,
        last_sent_ms: Some(5),
        last_received_ms: None,
    }
}

/// A world with one severed server, 9, of this command line.
pub(crate) fn severed(argv: &[&str]) -> World {
    let mut world = world(3);
    let mut server = process(9, argv);
    if let Reading::Value(environment) = &mut server.environment {
        let session = "CLAUDE_CODE_SESSION_ID".to_owned();
        environment.identifiers = BTreeMap::from([(session, SESSION.into())]);
    }
    world.sample.processes.insert(pid(9), Arc::new(server));
    world.judged.instances.push(instance(9));
    let role = RoleOf {
        instance: InstanceId(key(9)),
        role: Role::Server,
    };
    world.judged.roles = BTreeMap::from([(key(9), vec![role])]);
    world
}

/// A session id.
pub(crate) const SESSION: &str = "5f0e1c2a-94b7-4d3e-8a61-0c9d7e5b3f12";
