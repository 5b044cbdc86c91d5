//! An incident in a directory of the test's own, and worlds made by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use mcpwake::journal::{Entry, Operator};
use mcpwake::model::bytes::OsBytes;
use mcpwake::model::finding::{Finding, Lead, LeadKind};
use mcpwake::model::host::{Host, Observer};
use mcpwake::model::identity::ProcessKey;
use mcpwake::model::instance::{Instance, Judged, OwnerKey};
use mcpwake::model::process::{Environment, Process};
use mcpwake::model::reading::Reading;
use mcpwake::model::sample::Sample;
use mcpwake::model::time::UnixMillis;
use mcpwake::model::world::World;
use mcpwake::store::{Access, Incident, Opening, Snapshot, Store};
use mcpwake::text::redact::Redactor;
use tempfile::TempDir;

use crate::support::model::testkit;

pub(crate) use crate::support::model::testkit::pid;

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

pub(crate) fn key(number: u32) -> ProcessKey {
    testkit::key(number, u64::from(number) * 100)
}

/// A process of `init` with this command line.
pub(crate) fn process(number: u32, argv: &[&str]) -> Process {
    let argv = argv.iter().map(|element| OsBytes::from(*element)).collect();
    Process {
        pidfd_inode: Some(u64::from(number) + 7000),
        exe: Reading::Value("/usr/bin/python3".into()),
        swap_bytes: Reading::Unread,
        cpu_ms: 10,
        schedstat: Reading::Denied,
        signals: Reading::Gone,
        pid_namespace: Reading::Value(4_026_531_836),
        namespace_pids: Reading::Value(vec![number]),
        environment: Reading::Value(Environment {
            names: vec!["GITHUB_TOKEN".into(), "PATH".into()],
            identifiers: BTreeMap::new(),
        }),
        descriptors: Reading::Failed("readdir /proc/1/fd: no memory".to_owned()),
        ..testkit::process(key(number), 1, argv)
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
    let machine = testkit::sample(NOW, 90_000_000);
    let sample = Sample {
        cost_us: 1000,
        host: Host {
            boot_id: "2f1c5f9e-0000-4000-8000-000000000001".to_owned(),
            load_centi: [1, 2, 3],
            memory_bytes: 1 << 33,
            ..machine.host
        },
        observer: Observer {
            pid: pid(1),
            uid: 1000,
            user: "deploy".into(),
            login_uid: Some(1000),
            net_namespace: None,
            ..machine.observer
        },
        readable: count,
        processes: processes.collect(),
        holders: BTreeMap::from([(77, Vec::new())]),
        ..machine
    };
    testkit::world(1, sample, Judged::default())
}

/// A severed instance of `server`, adopted by init, with two leads.
pub(crate) fn instance(server: u32) -> Instance {
    Instance {
        identified_by: testkit::configured("equals the entry `git`", "/home/deploy/.claude.json"),
        adopter: Some(testkit::init("init", "its parent is pid 1")),
        reach: Some(vec![
            lead("a", LeadKind::Tcp, "10.2.0.4:443", server),
            lead("b", LeadKind::Ssh, "/run/user/1000/ssh|control", server),
        ]),
        ..testkit::instance(key(server), OwnerKey::Adopter(key(1)), Finding::Severed)
    }
}

fn lead(letter: &str, kind: LeadKind, target: &str, server: u32) -> Lead {
    Lead {
        state: Some("ESTAB".to_owned()),
        fd: Some(7),
        last_sent_ms: Some(5),
        ..testkit::lead(letter, kind, target, server, "a connection")
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
    world.judged.roles = testkit::roles(&world.judged.instances);
    world
}

/// A session id.
pub(crate) const SESSION: &str = "5f0e1c2a-94b7-4d3e-8a61-0c9d7e5b3f12";
