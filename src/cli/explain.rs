//! `explain`: what a process or a command line is taken for.

use std::ffi::OsString;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;

use anyhow::Context as _;

use super::args::Explain;
use super::exit::Exit;
use super::machine::Machine;
use super::output;
use super::show::{find, no_such_process};
use crate::analysis;
use crate::catalog::Verdict;
use crate::model::bytes::OsBytes;
use crate::model::identity::Pid;
use crate::model::instance::{Confidence, Instance, Role};
use crate::model::process::Process;
use crate::model::world::World;
use crate::report::explain::{Explained, Miss};
use crate::report::{Secrets, quoted};

/// Longest line that is read: longer than any argument vector that a kernel accepts by default.
const LONGEST_LINE: u64 = 8 << 20;

/// Runs the command.
pub(super) fn run(explain: Explain, machine: &Machine) -> anyhow::Result<Exit> {
    let secrets = if explain.json {
        Secrets::Removed(machine.redactor())
    } else {
        machine.secrets()
    };
    if explain.lines {
        return lines(explain.json, machine, secrets);
    }
    let answer = match explain.pid {
        Some(pid) => {
            let Some(answer) = of_process(machine, pid, secrets)? else {
                return Ok(no_such_process(pid));
            };
            answer
        }
        None => of_argv(machine, explain.argv, secrets),
    };
    let answer = answer.publish(secrets);
    let text = if explain.json {
        json_line(&answer)?
    } else {
        answer.paragraph(output::columns())
    };
    output::print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Answers line by line, so that a pipe that is still being written gets answers at once.
fn lines(json: bool, machine: &Machine, secrets: Secrets<'_>) -> anyhow::Result<Exit> {
    let mut stdin = io::stdin().lock();
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut stdin, LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .context("read stdin")?;
        if read == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let shown = String::from_utf8_lossy(&line);
        let answer = explained(machine.catalog().verdict_line(&shown), secrets.line(&shown));
        let answer = answer.publish(secrets);
        let text = if json {
            json_line(&answer)?
        } else {
            format!("{}\n", answer.one_line())
        };
        stdout.write_all(text.as_bytes())?;
    }
    stdout.flush()?;
    Ok(Exit::Done)
}

fn json_line(answer: &Explained) -> anyhow::Result<String> {
    Ok(format!(
        "{}\n",
        serde_json::to_string(answer).context("write JSON")?
    ))
}

fn of_argv(machine: &Machine, argv: Vec<OsString>, secrets: Secrets<'_>) -> Explained {
    let argv: Vec<OsBytes> = argv
        .into_iter()
        .map(|element| element.into_vec().into())
        .collect();
    explained(machine.catalog().verdict(&argv), shell_line(&argv, secrets))
}

/// Returns a command line as a shell would read it. Secrets go before the elements are joined: a
/// rule on elements finds more than a rule on a line.
fn shell_line(argv: &[OsBytes], secrets: Secrets<'_>) -> String {
    let shown: Vec<String> = secrets
        .argv(argv)
        .iter()
        .map(|element| String::from_utf8_lossy(element).into_owned())
        .collect();
    quoted(&shown)
}

fn explained(verdict: Verdict, line: String) -> Explained {
    Explained {
        line,
        mcp: verdict.mcp,
        role: verdict.role.word(),
        confidence: verdict.confidence.map(Confidence::word),
        rule: verdict.rule,
        because: verdict.because,
        near_misses: verdict
            .near_misses
            .into_iter()
            .map(|miss| Miss {
                rule: Some(miss.rule),
                why: miss.why,
            })
            .collect(),
        undecided: verdict.undecided,
        pid: None,
        instance: None,
    }
}

/// Explains a process by everything that is known of it; `None`: there is no such process.
fn of_process(machine: &Machine, pid: Pid, secrets: Secrets<'_>) -> anyhow::Result<Option<Explained>> {
    let (world, known) = machine.settled(Some(pid))?;
    let Some(process) = find(&world, pid) else {
        return Ok(None);
    };
    let explanation = analysis::explain(&world, &known, process.key);
    let instance = world
        .judged
        .instance_of(process.key)
        .and_then(|id| world.judged.instance(id));
    let role = role(&world, process);
    let because = std::iter::once(explanation.headline)
        .chain(explanation.because)
        .map(|line| line.trim_end_matches('.').to_owned())
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    let verdict = machine.catalog().verdict(process.args());
    Ok(Some(Explained {
        line: shell_line(process.args(), secrets),
        mcp: matches!(role, Role::Server | Role::Launcher),
        role: role.word(),
        confidence: instance.map(|instance| instance.identified_by.confidence.word()),
        rule: instance.map_or(verdict.rule, |instance: &Instance| {
            Some(instance.identified_by.rule.clone())
        }),
        because,
        near_misses: explanation
            .near_misses
            .into_iter()
            .map(|why| Miss { rule: None, why })
            .collect(),
        undecided: instance.is_none() && verdict.undecided,
        pid: Some(process.key.pid.get()),
        instance: instance.map(|instance| instance.id.to_string()),
    }))
}

/// Returns the part that says most: a process can be a client to one instance and a server itself.
fn role(world: &World, process: &Process) -> Role {
    let roles = world
        .judged
        .roles
        .get(&process.key)
        .into_iter()
        .flatten()
        .map(|role| role.role);
    let order = |role: &Role| match role {
        Role::Server => 0,
        Role::Launcher => 1,
        Role::Helper => 2,
        Role::Client => 3,
        Role::Other => 4,
    };
    let known_client = world
        .judged
        .clients
        .contains_key(&process.key)
        .then_some(Role::Client);
    roles.chain(known_client).min_by_key(order).unwrap_or(Role::Other)
}
