//! The machines that the tests of the screen look at.

use super::{DAY, HOUR, Scene, descriptor, fact, lead, pid, stdin};
use crate::model::descriptor::{Access, Target};
use crate::model::finding::{EndKind, Finding, Lead, LeadKind, PeerState, Relation, Weight};
use crate::model::instance::{LookedAt, OwnerKey};
use crate::model::reading::Reading;
use crate::model::socket::{InetSocket, Sockets};
use crate::model::testkit::{configured, holder, stream, tcp};

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
    git_processes(scene);
    git_connections(scene);
    let helper = scene.key(48_290);
    let instance = scene.instance("git", 48_271, OwnerKey::Adopter(init), Finding::Severed);
    instance.helpers = vec![helper];
    instance.identified_by = configured("equals the entry element by element", "/root/.claude.json");
    instance.stdio = Some(stdin(48_271, EndKind::Socket, 88_121, PeerState::None, &[]));
    let stat = "/proc/48271/stat";
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
            stat,
            Weight::Supporting,
        ),
        fact(
            "running",
            "it has used the CPU since the last sample",
            stat,
            Weight::Supporting,
        ),
    ];
    instance.acts_now = vec![
        fact("cpu", "98 % CPU, state R", stat, Weight::Context),
        fact(
            "sent",
            "10.2.0.4:443 last sent 2s ago, 14K out",
            "sock_diag",
            Weight::Context,
        ),
    ];
    instance.reach = Some(git_leads());
}

fn git_leads() -> Vec<Lead> {
    let open = "an open connection; what it is allowed to do is not known";
    let mut tcp = lead("a", LeadKind::Tcp, "10.2.0.4:443", 48_271, open);
    tcp.fd = Some(9);
    tcp.state = Some("ESTAB".to_owned());
    tcp.last_sent_ms = Some(2_000);
    let master = "a control master: sessions can be opened through it without a key";
    let mut ssh = lead("b", LeadKind::Ssh, "deploy@10.2.0.4", 48_290, master);
    ssh.advice = Some("ssh -O exit -S PATH deploy@10.2.0.4".to_owned());
    let name = "usually a credential; the name only was read";
    vec![
        tcp,
        ssh,
        lead("c", LeadKind::CredentialName, "GITHUB_TOKEN", 48_271, name),
    ]
}

fn git_processes(scene: &mut Scene) {
    let argv = ["python", "-m", "mcp_server_git", "--repository", "/srv/app"];
    let git = scene.process(48_271, 1, "root", 3 * DAY + 4 * HOUR + 729, &argv);
    git.state = 'R';
    git.stat = "Rl".to_owned();
    git.cpu_permille = Some(980);
    git.rss_bytes = 57 << 20;
    let log = Target::File {
        path: "/var/log/git.log".into(),
        deleted: false,
    };
    git.descriptors = Reading::Value(vec![
        descriptor(0, Target::Socket { inode: 88_121 }, Access::Both),
        descriptor(1, Target::Socket { inode: 88_122 }, Access::Both),
        descriptor(2, log, Access::Write),
        descriptor(7, Target::Pipe { inode: 90_001 }, Access::Write),
        descriptor(9, Target::Socket { inode: 88_200 }, Access::Both),
    ]);
    let argv = ["ssh", "-N", "-o", "ControlMaster=yes", "deploy@10.2.0.4"];
    let ssh = scene.process(48_290, 48_271, "root", 3 * DAY + 4 * HOUR + 700, &argv);
    ssh.sid = Some(pid(48_271));
    ssh.stat = "S".to_owned();
}

fn git_connections(scene: &mut Scene) {
    let closed = stream(Some(0));
    let tcp = InetSocket {
        last_received_ms: Some(4_000),
        bytes_sent: Some(14 << 10),
        bytes_received: Some(3 << 10),
        ..tcp("10.0.0.5:40112", Some("10.2.0.4:443"))
    };
    scene.sample.sockets = Reading::Value(Sockets {
        unix: [(88_121, closed.clone()), (88_122, closed)].into(),
        inet: [(88_200, tcp)].into(),
    });
    let reader = holder(scene.key(48_290), 3, Access::Read);
    let writer = holder(scene.key(48_271), 7, Access::Write);
    scene.sample.holders.insert(90_001, vec![reader, writer]);
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
