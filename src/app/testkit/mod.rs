//! Worlds made by hand and keys typed from a script, for the tests of the screen.

mod worlds;

use std::sync::{Arc, LazyLock};

use super::{App, Colour, Effect, Event, Explainer, Key, Options, update};
use crate::analysis::Explanation;
use crate::model::bytes::OsBytes;
use crate::model::descriptor::Access;
use crate::model::finding::{End, EndHolder, EndKind, Finding, Lineage, PeerState, Relation, Stdio};
use crate::model::host::{Host, Observer};
use crate::model::identity::ProcessKey;
use crate::model::instance::{ClientRef, Instance, Judged, KnownClient, OwnerKey};
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::testkit;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::text::redact::Redactor;

pub(crate) use crate::model::testkit::{descriptor, fact, lead, pid};
pub(crate) use worlds::{all_well, chain, hostile, live};

/// 2026-12-01T01:07:12Z.
pub(crate) const NOW: i64 = 1_796_087_232_000;

/// 12 days and 3 hours.
const SINCE_BOOT_MS: u64 = 12 * 86_400_000 + 3 * 3_600_000;

pub(crate) const HOUR: u64 = 3600;
pub(crate) const DAY: u64 = 24 * HOUR;

/// A world in the making.
pub(crate) struct Scene {
    pub(crate) sample: Sample,
    pub(crate) judged: Judged,
    pub(crate) seq: u64,
}

impl Scene {
    /// A machine with init alone, seen by root.
    pub(crate) fn new() -> Self {
        let mut sample = testkit::sample(UnixMillis(NOW), SINCE_BOOT_MS);
        sample.cost_us = 3_100;
        sample.host = Host {
            cpus: 4,
            memory_bytes: 32 << 30,
            ..sample.host
        };
        sample.observer = Observer {
            pid: pid(60_000),
            ancestors: vec![pid(1)],
            login_uid: Some(1000),
            ssh_from: Some("10.4.0.9".to_owned()),
            program: "/home/u/bin/mcpwake".into(),
            pid_namespace: Some(4_026_531_836),
            ..sample.observer
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
        let uid = match user {
            "root" => 0,
            "deploy" => 1500,
            "guest" => 1002,
            _ => 1001,
        };
        let key = testkit::key(number, (SINCE_BOOT_MS - seconds * 1000) / 10);
        let argv = argv.iter().map(|one| OsBytes::from(*one)).collect();
        let process = Process {
            uid: Reading::Value(uid),
            user: Reading::Value(user.into()),
            home: None,
            rss_bytes: 4 << 20,
            cpu_ms: 100,
            cpu_permille: Some(0),
            ..testkit::process(key, parent, argv)
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
        let adopter = match &owner {
            OwnerKey::Adopter(_) => Some(testkit::init(
                "init",
                "ppid is 1 and its session leader is not init",
            )),
            _ => None,
        };
        let lineage = match &adopter {
            Some(_) => Lineage::Reparented,
            None => Lineage::Child,
        };
        let instance = Instance {
            name: name.into(),
            client,
            identified_by: testkit::known(&format!("known-{name}"), "the module is an MCP server"),
            lineage,
            adopter,
            ..testkit::instance(key, owner, finding)
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
        self.judged.roles = testkit::roles(&self.judged.instances);
        if self.sample.readable == 0 {
            self.sample.readable = u32::try_from(self.sample.processes.len()).unwrap();
        }
        Arc::new(testkit::world(self.seq, self.sample, self.judged))
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
    let holders = holders.iter().map(|(holder, relation)| EndHolder {
        pid: pid(*holder),
        fd: 5,
        access: Access::Write,
        relation: *relation,
    });
    Stdio {
        stdin: Some(End {
            access: Some(Access::Read),
            ..testkit::end((owner, 0), kind, inode, peer, holders.collect())
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
