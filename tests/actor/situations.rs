//! The situations, as data: a scene, what happens to it, and what has to be said of it.

use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use mcpwake::catalog::Catalog;
use mcpwake::model::finding::Finding;
use mcpwake::model::world::World;
use mcpwake::platform::{self, Ability, System};
use mcpwake::runtime::collector::Collector;
use serde_json::Value;

use crate::common::inventory::{Complaints, instances, number, numbers};
use crate::part::{Part, Session, Wire};
use crate::stage::Stage;
use crate::unseen::hides_writers;

/// What happens after everything is up.
#[derive(Clone, Copy, Debug)]
enum Happens {
    /// A process is killed.
    Killed(&'static str),
    /// A process is stopped.
    Stopped(&'static str),
}

/// One row of the table.
struct Situation {
    name: &'static str,
    scene: fn() -> Part,
    happens: &'static [Happens],
    finding: &'static str,
    /// Whether the finding says that a pipe has no writer: it can be said only by who sees all
    /// processes that might be one.
    no_writer: bool,
    lineage: &'static str,
    /// Role of the client that is named; empty: none.
    client: &'static str,
    launchers: &'static [&'static str],
    helpers: &'static [&'static str],
    /// Facts that must be there.
    facts: &'static [&'static str],
}

use Happens::{Killed, Stopped};

/// What the rows start from.
const ATTACHED: Situation = Situation {
    name: "attached_by_pipes",
    scene: || client(vec![server(Wire::Pipes)]),
    happens: &[],
    finding: "attached",
    no_writer: false,
    lineage: "child",
    client: "client",
    launchers: &[],
    helpers: &[],
    facts: &["client_holds"],
};

/// What the rows start from whose client is killed.
const SEVERED: Situation = Situation {
    name: "severed_from_pipes",
    happens: &[Killed("client")],
    finding: "severed",
    no_writer: true,
    lineage: "reparented",
    client: "",
    facts: &[],
    ..ATTACHED
};

const SITUATIONS: [Situation; 21] = [
    ATTACHED,
    Situation {
        name: "attached_by_socket_pairs",
        scene: || client(vec![server(Wire::SocketPairs)]),
        ..ATTACHED
    },
    Situation {
        name: "attached_through_a_launcher",
        scene: || client(vec![launched(Wire::SocketPairs)]),
        launchers: &["launcher"],
        helpers: &["helper"],
        ..ATTACHED
    },
    Situation {
        name: "attached_without_its_killed_launcher",
        scene: || client(vec![launched(Wire::Pipes)]),
        happens: &[Killed("launcher")],
        lineage: "reparented",
        helpers: &["helper"],
        ..ATTACHED
    },
    Situation {
        name: "attached_though_the_server_is_stopped",
        happens: &[Stopped("server")],
        ..ATTACHED
    },
    Situation {
        name: "attached_though_a_sibling_holds_it_too",
        scene: || client(vec![server(Wire::Pipes), leaked_into()]),
        ..ATTACHED
    },
    Situation {
        name: "wedged_by_a_stopped_client",
        happens: &[Stopped("client")],
        finding: "wedged",
        facts: &[],
        ..ATTACHED
    },
    Situation {
        name: "wedged_by_a_stopped_client_behind_a_launcher",
        scene: || client(vec![launched(Wire::SocketPairs)]),
        happens: &[Stopped("client")],
        finding: "wedged",
        launchers: &["launcher"],
        helpers: &["helper"],
        facts: &[],
        ..ATTACHED
    },
    SEVERED,
    Situation {
        name: "severed_from_socket_pairs",
        scene: || client(vec![server(Wire::SocketPairs)]),
        no_writer: false,
        ..SEVERED
    },
    Situation {
        name: "severed_with_its_launcher_and_a_helper",
        scene: || client(vec![launched(Wire::Pipes)]),
        launchers: &["launcher"],
        helpers: &["helper"],
        ..SEVERED
    },
    Situation {
        name: "severed_without_its_launcher",
        scene: || client(vec![launched(Wire::SocketPairs)]),
        happens: &[Killed("launcher"), Killed("client")],
        helpers: &["helper"],
        no_writer: false,
        ..SEVERED
    },
    Situation {
        name: "severed_and_stopped",
        happens: &[Stopped("server"), Killed("client")],
        ..SEVERED
    },
    Situation {
        name: "held_by_a_sibling_of_the_server",
        scene: || client(vec![server(Wire::Pipes), leaked_into()]),
        finding: "held",
        no_writer: false,
        ..SEVERED
    },
    Situation {
        name: "held_by_the_server_itself",
        scene: || {
            client(vec![Part {
                holds_own_stdin: true,
                ..server(Wire::Pipes)
            }])
        },
        finding: "held",
        no_writer: false,
        ..SEVERED
    },
    Situation {
        name: "attached_by_a_client_that_left_the_session",
        scene: || {
            client(vec![Part {
                session: Session::OwnLater,
                role: "starter".to_owned(),
                program: "python3".to_owned(),
                children: vec![server(Wire::Pipes)],
                ..Part::default()
            }])
        },
        client: "starter",
        ..ATTACHED
    },
    Situation {
        name: "severed_under_a_parent_that_left_the_session_and_closed_its_ends",
        scene: || {
            client(vec![Part {
                session: Session::OwnLater,
                lets_go: true,
                role: "starter".to_owned(),
                program: "python3".to_owned(),
                children: vec![server(Wire::Pipes)],
                ..Part::default()
            }])
        },
        happens: &[],
        lineage: "unknown",
        client: "client",
        facts: &["parent_doubtful"],
        ..SEVERED
    },
    Situation {
        name: "attached_through_a_relay_in_a_wrapper",
        scene: || client(vec![pipeline()]),
        launchers: &["launcher"],
        helpers: &["relay"],
        facts: &["client_holds", "relay"],
        ..ATTACHED
    },
    Situation {
        name: "wedged_by_a_stopped_relay",
        scene: || client(vec![pipeline()]),
        happens: &[Stopped("relay")],
        finding: "wedged",
        launchers: &["launcher"],
        helpers: &["relay"],
        facts: &["relay_wedged"],
        ..ATTACHED
    },
    Situation {
        name: "held_by_a_relay_without_a_client",
        scene: || client(vec![pipeline()]),
        finding: "held",
        launchers: &["launcher"],
        helpers: &["relay"],
        no_writer: false,
        ..SEVERED
    },
    Situation {
        name: "network",
        scene: || {
            client(vec![Part {
                listens: true,
                ..server(Wire::Nothing)
            }])
        },
        finding: "network",
        no_writer: false,
        ..SEVERED
    },
];

fn client(children: Vec<Part>) -> Part {
    Part {
        role: "client".to_owned(),
        program: "claude".to_owned(),
        session: Session::Own,
        children,
        ..Part::default()
    }
}

fn server(wire: Wire) -> Part {
    Part {
        role: "server".to_owned(),
        program: "node".to_owned(),
        args: vec!["/opt/app/node_modules/@modelcontextprotocol/server-everything/dist/index.js".to_owned()],
        wire,
        ..Part::default()
    }
}

/// A shell that stays between, a server, and what the server has started.
fn launched(wire: Wire) -> Part {
    let helper = Part {
        role: "helper".to_owned(),
        program: "gopls".to_owned(),
        ..Part::default()
    };
    Part {
        role: "launcher".to_owned(),
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), "mcp-server-everything".to_owned()],
        wire,
        children: vec![Part {
            children: vec![helper],
            ..server(Wire::Same)
        }],
        ..Part::default()
    }
}

/// A shell that starts `tee log | server` and waits.
fn pipeline() -> Part {
    let relay = Part {
        role: "relay".to_owned(),
        program: "tee".to_owned(),
        args: vec!["log".to_owned()],
        wire: Wire::IntoNext,
        ..Part::default()
    };
    Part {
        role: "launcher".to_owned(),
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), "tee log | mcp-server-everything".to_owned()],
        wire: Wire::Pipes,
        children: vec![relay, server(Wire::FromLast)],
        ..Part::default()
    }
}

/// A process of the client that has inherited the writing end of the server's stdin.
fn leaked_into() -> Part {
    Part {
        role: "sibling".to_owned(),
        program: "tail".to_owned(),
        args: vec!["-f".to_owned(), "/dev/null".to_owned()],
        wire: Wire::FirstChildsWriter,
        ..Part::default()
    }
}

/// Returns a trial for each row, and the controls.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = SITUATIONS
        .iter()
        .map(|situation| Trial::test(situation.name, move || judged_as_wanted(situation)))
        .collect();
    trials.push(Trial::test(
        "defunct_for_who_has_seen_it_alive",
        a_zombie_is_defunct,
    ));
    trials.push(Trial::test(
        "control_a_wrong_finding_fails",
        a_wrong_finding_fails,
    ));
    trials.push(Trial::test("control_nothing_is_left_of_a_stage", nothing_is_left));
    trials
}

fn judged_as_wanted(situation: &Situation) -> Result<(), Failed> {
    let stage = Stage::up((situation.scene)());
    for happens in situation.happens {
        match happens {
            Killed(role) => stage.actor(role).kill(),
            Stopped(role) => stage.actor(role).stop(),
        }
    }
    let found = instances(stage.home(), &[stage.pid("server")]);
    let [instance] = &found[..] else {
        return Err(format!("{} instances of this server: {found:#?}", found.len()).into());
    };
    compare(situation, &stage, instance).verdict(instance)
}

fn compare(situation: &Situation, stage: &Stage, instance: &Value) -> Complaints {
    let pids = |roles: &[&str]| roles.iter().map(|role| stage.pid(role)).collect::<Vec<_>>();
    let client = Some(situation.client)
        .filter(|role| !role.is_empty())
        .map(|role| stage.pid(role));
    let word = |field: &str| instance[field].as_str().unwrap_or("nothing");
    let mut complaints = Complaints::default();
    let unseen = situation.no_writer && hides_writers();
    let finding = if unseen { "unknown" } else { situation.finding };
    complaints.check("finding", &finding, &word("finding"));
    complaints.check("lineage", &situation.lineage, &word("lineage"));
    complaints.check(
        "server",
        &Some(stage.pid("server")),
        &number(&instance["server_pid"]),
    );
    complaints.check(
        "launchers",
        &pids(situation.launchers),
        &numbers(&instance["launcher_pids"]),
    );
    complaints.check(
        "helpers",
        &pids(situation.helpers),
        &numbers(&instance["helper_pids"]),
    );
    complaints.check("client", &client, &number(&instance["client"]["pid"]));
    for code in situation.facts {
        let there = instance["facts"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|fact| fact["code"] == *code);
        complaints.check(&format!("fact {code}"), &true, &there);
    }
    complaints
}

fn a_wrong_finding_fails() -> Result<(), Failed> {
    let situation = Situation {
        finding: "severed",
        ..ATTACHED
    };
    match judged_as_wanted(&situation) {
        Err(_) => Ok(()),
        Ok(()) => Err("an attached server passed for a severed one".into()),
    }
}

/// A server that has exited and was not waited for has no arguments any more: who has watched
/// knows it, and says so once two samples have seen it, two seconds apart.
fn a_zombie_is_defunct() -> Result<(), Failed> {
    let catalog = Arc::new(Catalog::builtin().map_err(|error| error.to_string())?);
    let System { source, os, .. } = platform::system(Ability::Looks)?;
    let mut collector = Collector::at_once(source, catalog, os);
    let stage = Stage::up(client(vec![launched(Wire::Pipes)]));
    let server = stage.pid("server");
    let finding = |world: &World| {
        let instances = world.judged.instances.iter();
        let mut ours = instances.filter(|one| one.server.is_some_and(|key| key.pid.get() == server));
        ours.next().map(|instance| instance.finding)
    };
    let before = finding(&*collector.next(None)?);
    // Its launcher does not wait for it.
    stage.actor("server").kill();
    let after = finding(&*collector.settled(None, Duration::from_secs(10))?);
    if (before, after) == (Some(Finding::Attached), Some(Finding::Defunct)) {
        return Ok(());
    }
    Err(format!("before {before:?}, after {after:?}").into())
}

fn nothing_is_left() -> Result<(), Failed> {
    let stage = Stage::up(client(vec![launched(Wire::Pipes)]));
    stage.actor("launcher").kill();
    stage.actor("client").stop();
    let pids: Vec<u32> = ["client", "launcher", "server", "helper"]
        .iter()
        .map(|role| stage.pid(role))
        .collect();
    drop(stage);
    for pid in pids {
        if std::path::Path::new(&format!("/proc/{pid}")).exists() {
            return Err(format!("{pid} is still there").into());
        }
    }
    Ok(())
}
