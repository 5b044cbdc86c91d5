//! Worlds made by hand and keys typed from a script, for the tests of the screen.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{App, Colour, Effect, Event, Explainer, Key, Options, update};
use crate::analysis::Explanation;
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Descriptor, Holder, Target};
use crate::model::finding::{
    Adopter, AdopterKind, End, EndHolder, EndKind, Fact, Finding, Lead, LeadKind, Lineage, PeerState,
    Relation, Stdio, Weight,
};
use crate::model::host::{Host, Observer, Os, Visibility};
use crate::model::identity::{InstanceId, Pid, ProcessKey, StartKey};
use crate::model::instance::{
    ClientRef, Confidence, Identification, Instance, Judged, KnownClient, LookedAt, OwnerKey, Role, RoleOf,
    Transport,
};
use crate::model::process::{Environment, Process};
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::socket::{InetSocket, Protocol, Sockets, UnixKind, UnixSocket};
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::text::redact::Redactor;

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
        let adopted = matches!(owner, OwnerKey::Adopter(_));
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
            lineage: if adopted {
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

/// The machine of the mock-ups: a severed and a held server without a client, 150 of a live client
/// that keeps starting new ones, a wedged one, two that cannot be read.
pub(crate) fn live() -> Scene {
    let mut scene = Scene::new();
    severed_git(&mut scene);
    held_scrape(&mut scene);
    codex(&mut scene);
    claude(&mut scene);
    for number in [70_001, 70_002] {
        let hidden = scene.process(number, 1, "guest", 2 * HOUR, &["node", "/opt/tools/server.js"]);
        hidden.descriptors = Reading::Denied;
        hidden.environment = Reading::Denied;
        hidden.cwd = Reading::Denied;
        let instance = scene.instance("tools", number, OwnerKey::User(1002), Finding::Unknown);
        instance.reach = None;
        instance.facts = vec![fact(
            "denied",
            "its descriptors are denied",
            "/proc/PID/fd",
            Weight::Strong,
        )];
    }
    let mut number = 900;
    while scene.sample.processes.len() < 412 {
        scene.process(number, 1, "root", 12 * DAY, &["/usr/sbin/daemon"]);
        number += 1;
    }
    scene
}

fn severed_git(scene: &mut Scene) {
    let init = scene.key(1);
    let argv = ["python", "-m", "mcp_server_git", "--repository", "/srv/app"];
    let git = scene.process(48_271, 1, "root", 3 * DAY + 4 * HOUR + 729, &argv);
    git.state = 'R';
    git.stat = "Rl".to_owned();
    git.cpu_permille = Some(980);
    git.rss_bytes = 57 << 20;
    git.descriptors = Reading::Value(vec![
        descriptor(0, Target::Socket { inode: 88_121 }, Access::Both),
        descriptor(1, Target::Socket { inode: 88_122 }, Access::Both),
        descriptor(
            2,
            Target::File {
                path: "/var/log/git.log".into(),
                deleted: false,
            },
            Access::Write,
        ),
        descriptor(7, Target::Pipe { inode: 90_001 }, Access::Write),
        descriptor(9, Target::Socket { inode: 88_200 }, Access::Both),
    ]);
    let ssh = scene.process(
        48_290,
        48_271,
        "root",
        3 * DAY + 4 * HOUR + 700,
        &["ssh", "-N", "-o", "ControlMaster=yes", "deploy@10.2.0.4"],
    );
    ssh.sid = Some(pid(48_271));
    ssh.stat = "S".to_owned();
    let unix = UnixSocket {
        peer: Some(0),
        path: None,
        kind: UnixKind::Stream,
        listening: false,
        unread: Some(0),
    };
    let mut sockets = Sockets::default();
    sockets.unix.insert(88_121, unix.clone());
    sockets.unix.insert(88_122, unix);
    sockets.inet.insert(
        88_200,
        InetSocket {
            protocol: Protocol::Tcp,
            local: "10.0.0.5:40112".parse().unwrap(),
            remote: Some("10.2.0.4:443".parse().unwrap()),
            state: "ESTAB".to_owned(),
            last_sent_ms: Some(2_000),
            last_received_ms: Some(4_000),
            bytes_sent: Some(14 << 10),
            bytes_received: Some(3 << 10),
        },
    );
    scene.sample.sockets = Reading::Value(sockets);
    let reader = Holder {
        process: scene.key(48_290),
        fd: 3,
        access: Access::Read,
    };
    let writer = Holder {
        process: scene.key(48_271),
        fd: 7,
        access: Access::Write,
    };
    scene.sample.holders.insert(90_001, vec![reader, writer]);
    let helper = scene.key(48_290);
    let instance = scene.instance("git", 48_271, OwnerKey::Adopter(init), Finding::Severed);
    instance.helpers = vec![helper];
    instance.identified_by = Identification {
        confidence: Confidence::Configured,
        rule: "configured-exact".to_owned(),
        because: "equals the entry element by element".to_owned(),
        client: Some("Claude Code".to_owned()),
        file: Some("/root/.claude.json".into()),
        server_name: Some("git".into()),
    };
    instance.stdio = Some(stdin(48_271, EndKind::Socket, 88_121, PeerState::None, &[]));
    instance.facts = vec![
        fact(
            "stdin_peer_closed",
            "stdin socket 88121: its peer was closed",
            "sock_diag",
            Weight::Strong,
        ),
        fact(
            "reparented",
            "its parent has exited; init is its parent now",
            "/proc/48271/stat",
            Weight::Supporting,
        ),
        fact(
            "running",
            "it has used the CPU since the last sample",
            "/proc/48271/stat",
            Weight::Supporting,
        ),
    ];
    instance.acts_now = vec![
        fact("cpu", "98 % CPU, state R", "/proc/48271/stat", Weight::Context),
        fact(
            "sent",
            "10.2.0.4:443 last sent 2s ago, 14K out",
            "sock_diag",
            Weight::Context,
        ),
    ];
    let mut tcp = lead(
        "a",
        LeadKind::Tcp,
        "10.2.0.4:443",
        48_271,
        "an open connection; what it is allowed to do is not known",
    );
    tcp.fd = Some(9);
    tcp.state = Some("ESTAB".to_owned());
    tcp.last_sent_ms = Some(2_000);
    let mut ssh = lead(
        "b",
        LeadKind::Ssh,
        "deploy@10.2.0.4",
        48_290,
        "a control master: sessions can be opened through it without a key",
    );
    ssh.advice = Some("ssh -O exit -S PATH deploy@10.2.0.4".to_owned());
    let token = lead(
        "c",
        LeadKind::CredentialName,
        "GITHUB_TOKEN",
        48_271,
        "usually a credential; the name only was read",
    );
    instance.reach = Some(vec![tcp, ssh, token]);
}

fn held_scrape(scene: &mut Scene) {
    let init = scene.key(1);
    scene.process(50_120, 1, "root", 5 * HOUR + 3_560, &["sh", "-c", "sleep 100000"]);
    let scrape = scene.process(50_113, 1, "root", 5 * HOUR + 3_570, &["node", "server.js"]);
    scrape.cpu_permille = Some(10);
    scrape.rss_bytes = 120 << 20;
    scrape.stat = "Ssl".to_owned();
    let instance = scene.instance("scrape", 50_113, OwnerKey::Adopter(init), Finding::Held);
    instance.stdio = Some(stdin(
        50_113,
        EndKind::Pipe,
        91_000,
        PeerState::Held,
        &[(50_120, Relation::Other)],
    ));
    instance.facts = vec![fact(
        "held_by_other",
        "the writer of pipe 91000 is sh 50120, no client",
        "/proc/50120/fd/5",
        Weight::Strong,
    )];
    instance.reach = Some(vec![lead(
        "a",
        LeadKind::Tcp,
        "10.9.0.1:80",
        50_113,
        "an open connection",
    )]);
}

fn codex(scene: &mut Scene) {
    scene
        .process(4_821, 1, "deploy", 6 * DAY + 2 * HOUR, &["codex"])
        .tty = Some("pts/1".to_owned());
    scene.client(4_821, "codex", "codex");
    let owner = OwnerKey::Process(scene.key(4_821));
    for (name, count, megabytes, first, argv) in [
        ("playwright", 50_u32, 186_u64, 10_000_u32, "@playwright/mcp"),
        ("git", 100, 21, 20_000, "mcp_server_git"),
    ] {
        for at in 0..count {
            let number = first + at;
            let server = scene.process(
                number,
                4_821,
                "deploy",
                6 * DAY - u64::from(at) * 3_000,
                &["node", argv],
            );
            server.rss_bytes = megabytes << 20;
            server.cpu_permille = Some(1);
            server.pgid = Some(pid(4_821));
            server.sid = Some(pid(4_821));
            let instance = scene.instance(name, number, owner.clone(), Finding::Attached);
            instance.stdio = Some(stdin(
                number,
                EndKind::Socket,
                100_000 + u64::from(number),
                PeerState::Held,
                &[(4_821, Relation::Client)],
            ));
            instance.reach = Some(vec![lead(
                "a",
                LeadKind::Tcp,
                "10.0.0.1:443",
                number,
                "an open connection",
            )]);
            instance.generation = at + 1;
            instance.older_twin = at + 10 < count;
        }
    }
}

fn claude(scene: &mut Scene) {
    scene.process(2_211, 1, "user", 2 * HOUR + 780, &["claude"]);
    scene.client(2_211, "claude-code", "claude");
    let owner = OwnerKey::Process(scene.key(2_211));
    for (at, name) in ["fs", "memory", "fetch", "time", "search", "wedge"]
        .into_iter()
        .enumerate()
    {
        let number = 2_300 + u32::try_from(at).unwrap();
        scene.process(number, 2_211, "user", 2 * HOUR, &["mcp-server", name]);
        let finding = if name == "wedge" {
            Finding::Wedged
        } else {
            Finding::Attached
        };
        let instance = scene.instance(name, number, owner.clone(), finding);
        if finding == Finding::Wedged {
            instance.facts = vec![fact(
                "client_stopped",
                "its client 2211 is stopped",
                "/proc/2211/stat",
                Weight::Strong,
            )];
        }
    }
}

/// A chain with launchers: npm exec, sh, node, and a browser.
pub(crate) fn chain(scene: &mut Scene) {
    scene.process(3_000, 1, "user", DAY, &["cursor"]);
    scene.client(3_000, "cursor", "Cursor");
    let owner = OwnerKey::Process(scene.key(3_000));
    scene.process(
        3_010,
        3_000,
        "user",
        DAY - 5,
        &["npm", "exec", "@playwright/mcp@latest"],
    );
    scene.process(3_020, 3_010, "user", DAY - 6, &["sh", "-c", "playwright-mcp"]);
    scene.process(
        3_030,
        3_020,
        "user",
        DAY - 7,
        &["node", "/home/user/.npm/_npx/x/bin/playwright-mcp"],
    );
    scene.process(3_040, 3_030, "user", HOUR, &["/opt/chrome/chrome", "--headless"]);
    let (npm, sh, chrome) = (scene.key(3_010), scene.key(3_020), scene.key(3_040));
    let instance = scene.instance("playwright", 3_030, owner, Finding::Attached);
    instance.top = npm;
    instance.launchers = vec![npm, sh];
    instance.helpers = vec![chrome];
}

/// Seven attached servers and nothing else.
pub(crate) fn all_well() -> Scene {
    let mut scene = Scene::new();
    chain(&mut scene);
    claude(&mut scene);
    scene
        .judged
        .instances
        .retain(|one| one.finding == Finding::Attached);
    scene.judged.looked_at = LookedAt {
        files: 3,
        entries: 14,
        running: 6,
    };
    scene
}

/// Processes whose every text is hostile.
pub(crate) fn hostile() -> Scene {
    let mut scene = Scene::new();
    let init = scene.key(1);
    let argv = [
        "node\u{1b}[2J\u{1b}]0;owned\u{7}",
        "\u{202e}gpj.exe\u{200b}",
        "line\nbreak\ttab\r",
        "\u{9b}31mred",
        "ok",
    ];
    let evil = scene.process(666, 1, "ro\u{1b}[31mot", HOUR, &argv);
    evil.comm = b"\x1b[31mevil\xff".as_slice().into();
    evil.cwd = Reading::Value("/tmp/\u{202e}dwc\u{7f}".into());
    evil.stat = "S\u{1b}[1m".to_owned();
    evil.descriptors = Reading::Value(vec![
        descriptor(0, Target::Pipe { inode: 5 }, Access::Read),
        descriptor(
            3,
            Target::File {
                path: "/tmp/a\u{1b}[0mb\n".into(),
                deleted: true,
            },
            Access::Both,
        ),
        descriptor(
            4,
            Target::Other {
                link: b"odd:\x9b\xff".as_slice().into(),
            },
            Access::Both,
        ),
    ]);
    let instance = scene.instance(
        "se\u{1b}[7mver\u{202e}",
        666,
        OwnerKey::Adopter(init),
        Finding::Severed,
    );
    instance.facts = vec![fact(
        "x",
        "text \u{1b}[5m with \u{7} bell",
        "/proc/\u{1b}/x",
        Weight::Strong,
    )];
    instance.reach = Some(vec![lead(
        "a",
        LeadKind::UnixSocket,
        "/tmp/s\u{1b}[1m\u{2066}",
        666,
        "means \u{8}\u{8} this",
    )]);
    instance.identified_by.because = "because \u{1b}c".to_owned();
    scene.process(777, 1, "root", HOUR, &["日本語サーバー", "--名前", "ユーザー"]);
    let instance = scene.instance(
        "日本語サーバー名前とても長い",
        777,
        OwnerKey::Adopter(init),
        Finding::Attached,
    );
    instance.facts = vec![fact("w", "広い文字", "/proc", Weight::Strong)];
    scene.client(666, "evil", "Ev\u{1b}[3mil");
    scene
}

pub(crate) fn options() -> Options {
    Options {
        read_only: false,
        ascii: false,
        colour: Colour::Many,
        refresh_ms: 1000,
        redactor: Arc::new(Redactor::builtin().expect("the built-in rules")),
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
            let label = crate::table::cells::label(shown, node);
            format!("{}{label}", "  ".repeat(usize::from(node.depth)))
        })
        .collect()
}
