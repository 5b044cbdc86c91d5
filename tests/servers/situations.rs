//! The situations, as data: who starts what, what happens, and what has to be said of it.

use std::sync::mpsc::TryRecvError;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::common::inventory::{Complaints, instances, number, numbers};
use crate::install::Kit;
use crate::session::{Session, Work};

/// What happens after the client is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Lives,
    Killed,
    Stopped,
}

/// One row of the table.
struct Situation {
    name: &'static str,
    client: Kit,
    server: Kit,
    /// Words of the server's command; `@` at the head of one: a path in the server's kit.
    command: &'static [&'static str],
    /// A call that keeps the server busy: an idle one leaves when its client does.
    call: Option<&'static str>,
    then: Client,
    /// Processes between client and server.
    launchers: usize,
    server_name: &'static str,
    finding: &'static str,
}

const BUSY: Option<&str> =
    Some(r#"{"name":"trigger-long-running-operation","arguments":{"duration":86400,"steps":1}}"#);
const EVERYTHING: &[&str] = &[
    "node",
    "@node_modules/@modelcontextprotocol/server-everything/dist/index.js",
];
const FILESYSTEM: &[&str] = &[
    "node",
    "@node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
    "/tmp",
];
/// Found in the folder that the client runs in: nothing is fetched.
const NPX: &[&str] = &[
    "npx",
    "--offline",
    "-y",
    "@modelcontextprotocol/server-everything",
];

const ATTACHED: Situation = Situation {
    name: "attached_node_to_node_by_socket_pairs",
    client: Kit::Node,
    server: Kit::Node,
    command: FILESYSTEM,
    call: None,
    then: Client::Lives,
    launchers: 0,
    server_name: "filesystem",
    finding: "attached",
};

const SITUATIONS: [Situation; 8] = [
    ATTACHED,
    Situation {
        name: "attached_through_npx",
        command: NPX,
        launchers: 2,
        server_name: "everything",
        ..ATTACHED
    },
    Situation {
        name: "attached_python_1_by_pipes",
        client: Kit::Python1,
        server: Kit::Python1,
        command: &["@bin/mcp-server-time"],
        server_name: "time",
        ..ATTACHED
    },
    Situation {
        name: "attached_python_2_on_private_descriptors",
        client: Kit::Python2,
        server: Kit::Python2,
        command: &["@bin/mcp-server-git"],
        server_name: "git",
        ..ATTACHED
    },
    Situation {
        name: "attached_node_to_python_2",
        server: Kit::Python2,
        command: &["@bin/mcp-server-time"],
        server_name: "time",
        ..ATTACHED
    },
    Situation {
        name: "severed_busy_node",
        command: EVERYTHING,
        call: BUSY,
        then: Client::Killed,
        server_name: "everything",
        finding: "severed",
        ..ATTACHED
    },
    Situation {
        name: "severed_busy_through_npx",
        command: NPX,
        call: BUSY,
        then: Client::Killed,
        launchers: 2,
        server_name: "everything",
        finding: "severed",
        ..ATTACHED
    },
    Situation {
        name: "wedged_by_a_stopped_client",
        then: Client::Stopped,
        finding: "wedged",
        ..ATTACHED
    },
];

/// Returns a busy server behind npx, whose client has gone.
pub(crate) fn severed_through_npx() -> Result<Session, String> {
    let row = SITUATIONS
        .iter()
        .find(|row| row.name == "severed_busy_through_npx");
    let session = up(row.unwrap())?;
    session.client.kill();
    Ok(session)
}

/// Returns a trial for each row, and the controls.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = SITUATIONS
        .iter()
        .map(|situation| Trial::test(situation.name, move || judged_as_wanted(situation)))
        .collect();
    trials.push(Trial::test(
        "a_watched_server_answers_every_request",
        watched_while_it_works,
    ));
    trials.push(Trial::test("control_a_wrong_row_fails", a_wrong_row_fails));
    trials.push(Trial::test(
        "control_a_server_that_is_nowhere_names_itself",
        a_server_that_is_nowhere_fails,
    ));
    trials
}

/// The observer leaves no trace: a server on socket pairs answers while it is looked at, again and
/// again, without a pause.
fn watched_while_it_works() -> Result<(), Failed> {
    const REQUESTS: u32 = 1_000;
    let session = up_with(&ATTACHED, Work::Requests(REQUESTS))?;
    let chain = session.pids();
    let mut looks = 0;
    let said = loop {
        looks += instances(session.home(), &chain).len();
        match session.lines.try_recv() {
            Ok(line) => break line,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Err("the client has ended".into()),
        }
    };
    if said != format!("ANSWERED {REQUESTS}") || looks == 0 {
        return Err(format!("{said} of {REQUESTS} requests while looked at {looks} times").into());
    }
    Ok(())
}

fn up(situation: &Situation) -> Result<Session, String> {
    up_with(situation, situation.call.map_or(Work::None, Work::Call))
}

fn up_with(situation: &Situation, work: Work) -> Result<Session, String> {
    let (client, server) = (situation.client.installed()?, situation.server.installed()?);
    let mut command = match situation.client {
        Kit::Node => vec!["node".to_owned(), client.join("client.mjs").display().to_string()],
        Kit::Python1 | Kit::Python2 => {
            let python = client.join("bin/python").display().to_string();
            vec![python, client.join("client.py").display().to_string()]
        }
    };
    command.extend(situation.command.iter().map(|word| match word.strip_prefix('@') {
        // A scope's own `@` has no file in the kit.
        Some(path) if server.join(path).exists() => server.join(path).display().to_string(),
        _ => (*word).to_owned(),
    }));
    Session::up(&command, &client, work)
}

fn judged_as_wanted(situation: &Situation) -> Result<(), Failed> {
    let session = up(situation)?;
    let chain = session.pids();
    match situation.then {
        Client::Lives => {}
        Client::Killed => session.client.kill(),
        Client::Stopped => session.client.stop(),
    }
    let found = instances(session.home(), &chain);
    let [instance] = &found[..] else {
        return Err(format!("{} instances of {chain:?}: {found:#?}", found.len()).into());
    };
    compare(situation, &session, &chain, instance).verdict(instance)
}

fn compare(situation: &Situation, session: &Session, chain: &[u32], instance: &Value) -> Complaints {
    let launchers = chain.len().saturating_sub(1);
    let client = (situation.then != Client::Killed).then(|| session.client.pid());
    let mut complaints = Complaints::default();
    complaints.check("processes between", &situation.launchers, &launchers);
    complaints.check(
        "launchers",
        &chain[..launchers].to_vec(),
        &numbers(&instance["launcher_pids"]),
    );
    complaints.check("server", &chain.last().copied(), &number(&instance["server_pid"]));
    complaints.check("helpers", &Vec::<u32>::new(), &numbers(&instance["helper_pids"]));
    complaints.check("client", &client, &number(&instance["client"]["pid"]));
    let word = |value: &Value| value.as_str().unwrap_or("nothing").to_owned();
    complaints.check("name", &situation.server_name, &word(&instance["name"]));
    complaints.check(
        "confidence",
        &"known",
        &word(&instance["identified_by"]["confidence"]),
    );
    complaints.check("transport", &"stdio", &word(&instance["transport"]));
    complaints.check("finding", &situation.finding, &word(&instance["finding"]));
    complaints
}

fn a_wrong_row_fails() -> Result<(), Failed> {
    let situation = Situation {
        finding: "severed",
        server_name: "git",
        ..ATTACHED
    };
    let why = judged_as_wanted(&situation)
        .err()
        .and_then(|why| why.message().map(str::to_owned));
    match why {
        Some(why) if why.contains("finding: wanted") && why.contains("name: wanted") => Ok(()),
        why => Err(format!("a wrong row gave {why:?}").into()),
    }
}

fn a_server_that_is_nowhere_fails() -> Result<(), Failed> {
    let situation = Situation {
        command: &["node", "/nowhere/mcp-server-none.js"],
        ..ATTACHED
    };
    match up(&situation) {
        Err(why) if why.contains("Cannot find module '/nowhere/mcp-server-none.js'") => Ok(()),
        Err(why) => Err(format!("the command is not named: {why}").into()),
        Ok(_) => Err("a server that is nowhere was started".into()),
    }
}
