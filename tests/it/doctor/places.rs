//! The self-test on Linux as others run it: killed in the middle, as another user, under hidepid, in
//! namespaces. Those that need root say so where they are not run.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::{answer, answered, entries, parsed, program, report};
use crate::cli::check;
use crate::support::public::Public;
use crate::support::{DEADLINE, Home};

/// The user 65534's name on every Linux.
const USER: &str = "nobody";

/// What every user on every machine has of his own processes.
const OWN: [&str; 9] = [
    "processes.own",
    "processes.argv",
    "processes.exe",
    "processes.cwd",
    "processes.environment",
    "processes.descriptors",
    "peers.pipes",
    "peers.sockets",
    "findings.defunct",
];

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < DEADLINE, "{what}");
        std::thread::yield_now();
    }
}

/// Returns the states of the processes in a group.
fn members(group: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let group = group.to_string();
    let of_group = |line: String| {
        let mut fields = line.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.to_owned();
        (fields.nth(1) == Some(group.as_str())).then_some(state)
    };
    lines.filter_map(of_group).collect()
}

#[test]
fn here_it_works_and_says_so_by_its_schema() {
    let home = Home::new();
    let (report, code) = report(&mut program(&home, &["doctor", "--json"]));
    assert_eq!(check(&report, "doctor-1.schema.json"), Vec::<String>::new());
    for id in OWN
        .iter()
        .chain(&["state", "terminal", "clipboard", "open_files", "clients"])
    {
        let (answer, seen) = answer(&report, id);
        assert_eq!(answer, "works", "{id}: {seen}");
    }
    let amiss = |id: &str| matches!(answer(&report, id).0.as_str(), "wrong" | "failed");
    let ids = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap());
    let troubles: Vec<&str> = ids.filter(|id| amiss(id)).collect();
    assert_eq!(code, Some(i32::from(!troubles.is_empty())), "{troubles:?}");
    assert!(!troubles.iter().any(|id| *id != "state.room"), "{report:#}");
    assert_eq!(entries(&home.path().join("state")), 0, "the probe was removed");
}

#[test]
fn no_child_is_left_however_it_ends() {
    for killed in [false, true] {
        let home = Home::new();
        let mut command = program(&home, &["doctor"]);
        let mut child = command.process_group(0).stdout(Stdio::null()).spawn().unwrap();
        let group = child.id();
        // Itself, and six children; five where there is no loopback.
        until("its children run", || members(group).len() >= 6);
        if killed {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        assert_eq!(status.code().is_none(), killed, "{status}");
        // Those that have ended may still wait for whoever adopted them: pid 1 of a container need not ask.
        until("every child has ended", || {
            members(group)
                .iter()
                .all(|state| matches!(state.as_str(), "Z" | "X"))
        });
    }
}

/// Says why a test was not run.
#[expect(clippy::print_stderr, reason = "a test that is not run must say so")]
fn not_run(test: &str, why: &str) {
    eprintln!("{test}: not run: {why}");
}

/// Runs a script as root with `$0` as the program; `None`, and why, where that is not possible.
fn as_root(test: &str, script: &str, home: &Home) -> Option<Value> {
    let program = match Public::copy(Path::new(env!("CARGO_BIN_EXE_mcpwake")), "--version") {
        Ok(program) => program,
        Err(why) => {
            not_run(test, &why);
            return None;
        }
    };
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(program.program())
        .env_clear()
        .envs(home.variables())
        .env("TERM", "xterm");
    let output = answered(&mut command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.stdout.is_empty() && (said.contains("unshare") || said.contains("mount")) {
        not_run(test, &format!("no namespace can be made here: {said}"));
        return None;
    }
    Some(parsed(&output))
}

fn works(report: &Value, ids: &[&str]) {
    for id in ids {
        let (answer, seen) = answer(report, id);
        assert_eq!(answer, "works", "{id}: {seen}");
    }
    assert_eq!(report["answers"]["wrong"], 0, "{report:#}");
}

/// Checks that a report does not name the user it was made for: `USER`.
fn unnamed(report: &Value) {
    let text = report.to_string();
    let at = text.find(USER);
    assert_eq!(
        at,
        None,
        "{:?}",
        at.and_then(|at| text.get(at.saturating_sub(60)..))
    );
}

#[test]
fn another_user_is_told_what_root_would_see() {
    let script = "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" doctor --json";
    let home = Home::new();
    let Some(report) = as_root("another user", script, &home) else {
        return;
    };
    works(&report, &OWN);
    assert_eq!(report["root"], false);
    let (denied, seen) = answer(&report, "processes.others");
    assert_eq!(denied, "denied", "{seen}");
    assert!(seen.starts_with("0 of "), "{seen}");
    // The home is root's: nothing can be kept there, which is said as what it is.
    let (failed, seen) = answer(&report, "state");
    assert_eq!(failed, "failed", "{seen}");
    assert!(seen.contains("permission denied"), "{seen}");
    unnamed(&report);
}

/// Where the user sees each process that could hold the other end, a lost wire is said to be lost.
#[test]
fn another_user_without_processes_he_may_not_read_is_told_what_is_severed() {
    let script = "exec unshare -pf --mount-proc setpriv --reuid 65534 --regid 65534 --clear-groups \
                  setsid -w \"$0\" doctor --json";
    let home = Home::new();
    let Some(report) = as_root("another user, alone", script, &home) else {
        return;
    };
    works(&report, &OWN);
    unnamed(&report);
}

#[test]
fn hidden_processes_are_said_to_be_hidden() {
    let script = "exec unshare -m --propagation private sh -c 'mount -t proc -o hidepid=2 proc /proc && \
                  exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" doctor --json' \"$0\"";
    let home = Home::new();
    let Some(report) = as_root("hidepid", script, &home) else {
        return;
    };
    works(&report, &OWN);
    let (denied, seen) = answer(&report, "processes.others");
    assert_eq!(denied, "denied", "{seen}");
    assert!(seen.contains("hidepid"), "{seen}");
    // The adopter is hidden: that is no "child".
    assert_eq!(answer(&report, "lineage").0, "denied");
    assert_eq!(answer(&report, "findings.severed").0, "denied");
}

#[test]
fn inside_a_container_it_says_that_there_is_an_outside() {
    let home = Home::new();
    let script = "exec unshare -pfm --mount-proc sh -c '\"$0\" doctor --json; exit' \"$0\"";
    let Some(report) = as_root("container", script, &home) else {
        return;
    };
    works(&report, &OWN);
    works(&report, &["lineage"]);
    assert_eq!(answer(&report, "namespace.pid").0, "denied");
    let script = "exec unshare -pfm --mount-proc \"$0\" doctor --json";
    let report = as_root("container", script, &home).unwrap();
    works(&report, &OWN);
    assert_eq!(answer(&report, "lineage").0, "unsupported", "it is pid 1 itself");
    let script = "exec unshare -pf \"$0\" doctor --json";
    let report = as_root("container", script, &home).unwrap();
    works(&report, &OWN);
    assert!(
        answer(&report, "namespace.pid")
            .1
            .contains("another pid namespace")
    );
}

#[test]
fn without_loopback_tcp_is_not_judged() {
    let home = Home::new();
    let Some(report) = as_root("network", "exec unshare -n \"$0\" doctor --json", &home) else {
        return;
    };
    works(&report, &OWN);
    assert_eq!(answer(&report, "peers.tcp").0, "unsupported");
}
