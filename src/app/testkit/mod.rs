//! Worlds made by hand and keys typed from a script, for the tests of the screen.

mod worlds;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{App, Colour, Effect, Event, Explainer, Key, Options, update};
use crate::analysis::Explanation;
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Descriptor, Target};
use crate::model::finding::{
    Adopter, AdopterKind, End, EndHolder, EndKind, Fact, Finding, Lead, LeadKind, Lineage, PeerState,
    Relation, Stdio, Weight,
};
use crate::model::host::{Host, Observer, Os, Visibility};
use crate::model::identity::{InstanceId, Pid, ProcessKey, StartKey};
use crate::model::instance::{
    ClientRef, Confidence, Identification, Instance, Judged, KnownClient, OwnerKey, Role, RoleOf, Transport,
};
use crate::model::process::{Environment, Process};
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::socket::Sockets;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::text::redact::Redactor;

pub(crate) use worlds::{all_well, chain, hostile, live};

/// 2026-12-01T01:07:12Z.
pub(crate) const NOW: i64 = 1_796_087_232_000;

/// 12 days and 3 hours.
const SINCE_BOOT_MS: u64 = 12 * 86_400_000 + 3 * 3_600_000;

pub(crate) const HOUR: u64 = 3600;
pub(crate) const DAY: u64 = 24 * HOUR;

pub(crate) fn pid(raw: u32) -> Pid {
    Pid::new(i64::from(raw)).expect("a positive pid")
}

/// A world in the making.
pub(crate) struct Scene {
    pub(crate) sample: Sample,
    pub(crate) judged: Judged,
    pub(crate) seq: u64,
}

impl Scene {
    /// A machine with init alone, seen by root.
    pub(crate) fn new() -> Self {
        let sample = Sample {
            taken_at: UnixMillis(NOW),
            since_boot_ms: SINCE_BOOT_MS,
            cost_us: 3_100,
            host: Host {
                hostname: "devbox-7".into(),
                os: Os::Linux,
                kernel: "6.18.0".to_owned(),
                boot_id: "2c1b9c5e-0000-4000-8000-000000000000".to_owned(),
                booted_at: UnixMillis(NOW - i64::try_from(SINCE_BOOT_MS).unwrap()),
                start_units_per_second: 100,
                cpus: 4,
                load_centi: [42, 51, 60],
                memory_bytes: 32 << 30,
            },
            observer: Observer {
                pid: pid(60_000),
                ancestors: vec![pid(1)],
                uid: 0,
                user: "root".into(),
                login_uid: Some(1000),
                ssh_from: Some("10.4.0.9".to_owned()),
                program: "/home/u/bin/mcpwake".into(),
                pid_namespace: Some(4_026_531_836),
                net_namespace: Some(4_026_531_840),
            },
            visibility: Visibility::All,
            readable: 0,
            hidden: None,
            processes: BTreeMap::new(),
            sockets: Reading::Value(Sockets::default()),
            holders: BTreeMap::new(),
            pipe_ends: std::collections::BTreeMap::new(),
            adopted: std::collections::BTreeSet::new(),
            terminal_masters: BTreeMap::new(),
            units: Vec::new(),
            unsearched: Vec::new(),
            problems: Vec::new(),
        };
        let mut scene = Self {
            sample,
            judged: Judged::default(),
            seq: 2,
        };
        scene.process(1, 0, "root", 12 * DAY, &["/sbin/init"]);
        scene
    }

    /// Adds a process that started so many seconds ago, leader of its own group and session.
    pub(crate) fn process(
        &mut self,
        number: u32,
        parent: u32,
        user: &str,
        seconds: u64,
        argv: &[&str],
    ) -> &mut Process {
        let comm = argv
            .first()
            .and_then(|first| first.rsplit('/').next())
            .unwrap_or("process");
        let comm: String = comm.chars().take(15).collect();
        let uid = match user {
            "root" => 0,
            "deploy" => 1500,
            "guest" => 1002,
            _ => 1001,
        };
        let process = Process {
            key: ProcessKey {
                pid: pid(number),
                start: StartKey((SINCE_BOOT_MS - seconds * 1000) / 10),
            },
            pidfd_inode: None,
            ppid: Pid::new(i64::from(parent)),
            pgid: Some(pid(number)),
            sid: Some(pid(number)),
            tty: None,
            state: 'S',
            stat: "Ss".to_owned(),
            kernel_thread: false,
            uid: Reading::Value(uid),
            user: Reading::Value(user.into()),
            home: None,
            comm: comm.into(),
            argv: Reading::Value(argv.iter().map(|one| OsBytes::from(*one)).collect()),
            argv_kept: false,
            image: None,
            exe: Reading::Unread,
            cwd: Reading::Value("/srv/app".into()),
            cgroup: Reading::Unread,
            threads: 1,
            rss_bytes: 4 << 20,
            swap_bytes: Reading::Value(0),
            cpu_ms: 100,
            cpu_permille: Some(0),
            schedstat: Reading::Unread,
            signals: Reading::Unread,
            pid_namespace: Reading::Unread,
            net_namespace: Reading::Value(4_026_531_840),
            namespace_pids: Reading::Unread,
            environment: Reading::Value(Environment::default()),
            descriptors: Reading::Value(Vec::new()),
            locks: Vec::new(),
        };
        self.sample.processes.insert(pid(number), Arc::new(process));
        self.edit(number)
    }

    /// Lends a process for changing.
    pub(crate) fn edit(&mut self, number: u32) -> &mut Process {
        Arc::make_mut(
            self.sample
                .processes
                .get_mut(&pid(number))
                .expect("a process of the scene"),
        )
    }

    pub(crate) fn key(&self, number: u32) -> ProcessKey {
        self.sample
            .process(pid(number))
            .expect("a process of the scene")
            .key
    }

    /// Adds an instance of this server, with a finding, under an owner.
    pub(crate) fn instance(
        &mut self,
        name: &str,
        server: u32,
        owner: OwnerKey,
        finding: Finding,
    ) -> &mut Instance {
        let key = self.key(server);
        let client = match &owner {
            OwnerKey::Process(client) if finding != Finding::Held => Some(ClientRef {
                process: *client,
                id: None,
                name: "client".into(),
                state: 'S',
                on_wire: true,
            }),
            _ => None,
        };
        let orphan = matches!(owner, OwnerKey::Adopter(_));
        let adopter = match &owner {
            OwnerKey::Adopter(init) => Some(Adopter {
                pid: init.pid,
                kind: AdopterKind::Init,
                name: "init".into(),
                because: "ppid is 1 and its session leader is not init".to_owned(),
            }),
            _ => None,
        };
        let instance = Instance {
            id: InstanceId(key),
            name: name.into(),
            top: key,
            server: Some(key),
            launchers: Vec::new(),
            helpers: Vec::new(),
            owner,
            client,
            identified_by: Identification {
                confidence: Confidence::Known,
                rule: format!("known-{name}"),
                because: "the module is an MCP server".to_owned(),
                client: None,
                file: None,
                server_name: None,
            },
            transport: Transport::Stdio,
            finding,
            lineage: if orphan {
                Lineage::Reparented
            } else {
                Lineage::Child
            },
            adopter,
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
        };
        self.judged.instances.push(instance);
        self.judged.instances.last_mut().expect("just pushed")
    }

    pub(crate) fn client(&mut self, number: u32, id: &str, name: &str) {
        let key = self.key(number);
        let client = KnownClient {
            id: id.to_owned(),
            name: name.to_owned(),
            because: "its program is that client's".to_owned(),
        };
        self.judged.clients.insert(key, client);
    }

    /// Finishes the world: roles follow from the instances, counts from the processes.
    pub(crate) fn world(mut self) -> Arc<World> {
        for instance in &self.judged.instances {
            for (key, role) in instance.members() {
                self.judged.roles.entry(key).or_default().push(RoleOf {
                    instance: instance.id,
                    role,
                });
            }
            if let Some(client) = &instance.client {
                let role = RoleOf {
                    instance: instance.id,
                    role: Role::Client,
                };
                self.judged.roles.entry(client.process).or_default().push(role);
            }
        }
        if self.sample.readable == 0 {
            self.sample.readable = u32::try_from(self.sample.processes.len()).unwrap();
        }
        Arc::new(World {
            seq: self.seq,
            sample: self.sample,
            judged: self.judged,
            complete: true,
        })
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

pub(crate) fn descriptor(fd: u32, target: Target, access: Access) -> Descriptor {
    Descriptor {
        fd,
        target,
        access: Reading::Value(access),
    }
}

/// One end of a wire on fd 0.
pub(crate) fn stdin(
    owner: u32,
    kind: EndKind,
    inode: u64,
    peer: PeerState,
    holders: &[(u32, Relation)],
) -> Stdio {
    Stdio {
        stdin: Some(End {
            fd: Some(0),
            pid: pid(owner),
            kind,
            inode: Some(inode),
            access: Some(Access::Read),
            peer,
            holders: holders
                .iter()
                .map(|(holder, relation)| EndHolder {
                    pid: pid(*holder),
                    fd: 5,
                    access: Access::Write,
                    relation: *relation,
                })
                .collect(),
            holder_count: u32::try_from(holders.len()).unwrap(),
        }),
        stdout: None,
        stderr: None,
    }
}

/// Compiled once: that takes longer than all else in a test.
static REDACTOR: LazyLock<Arc<Redactor>> =
    LazyLock::new(|| Arc::new(Redactor::builtin().expect("rules that compile")));

pub(crate) fn options() -> Options {
    Options {
        origin: None,
        read_only: false,
        ascii: false,
        colour: Colour::Many,
        refresh_ms: 1000,
        second_look_ms: 2000,
        redactor: Arc::clone(&REDACTOR),
        keep_redactor: Arc::clone(&REDACTOR),
        commands: super::keep::command::none(),
        explainer: Explainer::new(|world, key| Explanation {
            headline: format!("{} is taken for a server", key.pid),
            because: vec![format!("its module is an MCP server (sample {})", world.seq)],
            near_misses: vec!["likely-script: the script's name does not say MCP".to_owned()],
        }),
    }
}

/// A screen of this size that shows a world.
pub(crate) fn app(world: Arc<World>, width: u16, height: u16) -> App {
    app_with(options(), world, width, height)
}

/// The same with options.
pub(crate) fn app_with(options: Options, world: Arc<World>, width: u16, height: u16) -> App {
    let mut app = App::new(options);
    update(&mut app, Event::Resized { width, height });
    update(&mut app, Event::Tick(UnixMillis(NOW)));
    update(&mut app, Event::World(world));
    app
}

/// Types a script: words are typed letter by letter, `<name>` is a key, blanks separate.
pub(crate) fn press(app: &mut App, script: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for word in script.split_whitespace() {
        match named(word) {
            Some(key) => effects.extend(update(app, Event::Key(key))),
            None => {
                for c in word.chars() {
                    effects.extend(update(app, Event::Key(Key::Char(c))));
                }
            }
        }
    }
    effects
}

fn named(word: &str) -> Option<Key> {
    let name = word.strip_prefix('<')?.strip_suffix('>')?;
    Some(match name {
        "enter" => Key::Enter,
        "esc" => Key::Esc,
        "tab" => Key::Tab,
        "backtab" => Key::BackTab,
        "backspace" => Key::Backspace,
        "space" => Key::Char(' '),
        "up" => Key::Up,
        "down" => Key::Down,
        "left" => Key::Left,
        "right" => Key::Right,
        "pgup" => Key::PageUp,
        "pgdn" => Key::PageDown,
        "home" => Key::Home,
        "end" => Key::End,
        _ if name.starts_with("a-") => Key::Alt(name.chars().nth(2).expect("a letter")),
        _ => match (name.strip_prefix('f'), name.strip_prefix("c-")) {
            (Some(number), _) => Key::F(number.parse().expect("a number of a function key")),
            (None, Some(letter)) => Key::Ctrl(letter.chars().next().expect("a letter")),
            (None, None) => panic!("no key is called {name}"),
        },
    })
}

/// Returns how the selected row is called.
pub(crate) fn selected(app: &App) -> String {
    app.label()
}

/// Returns what the rows in the tree are called, indented as they are.
pub(crate) fn rows(app: &App) -> Vec<String> {
    let shown = app.shown().expect("a world");
    app.nav()
        .rows()
        .iter()
        .filter_map(|at| app.nav().tree().node(*at))
        .map(|node| {
            let ghost = app.nav().ghost().filter(|_| node.gone);
            let shown = ghost.map_or(shown, crate::app::nav::Ghost::shown);
            let label = crate::table::cells::label(shown, node);
            format!("{}{label}", "  ".repeat(usize::from(node.depth)))
        })
        .collect()
}
