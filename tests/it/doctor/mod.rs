//! The self-test of the built program: true answers on this machine, nothing private, nothing left.

#[cfg(target_os = "linux")]
mod places;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{DEADLINE, Home, output_in_time};

/// Returns the program in an environment of its own.
pub(super) fn program(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcpwake"));
    command
        .args(arguments)
        .env_clear()
        .envs(home.variables())
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null());
    command
}

/// So often is a self-test run that the machine leaves no time.
const MOST_RUNS: usize = 10;

/// Runs the self-test; returns its report and its exit code.
pub(super) fn report(command: &mut Command) -> (Value, Option<i32>) {
    let output = answered(command);
    (parsed(&output), output.status.code())
}

/// Runs the self-test until it was not cut short: it gives up by itself after some seconds, which pass on a machine
/// that is busy with something else. Where it always gives up, its last answer is returned.
pub(super) fn answered(command: &mut Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut runs = 0;
    loop {
        let output = output_in_time(command.spawn().unwrap(), DEADLINE);
        runs += 1;
        let cut_short = String::from_utf8_lossy(&output.stdout).contains(": given up");
        if !cut_short || runs == MOST_RUNS {
            return output;
        }
    }
}

pub(super) fn parsed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Returns the answer on one capability, and what was seen.
pub(super) fn answer(report: &Value, id: &str) -> (String, String) {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|one| one["id"] == id);
    let found = found.unwrap_or_else(|| panic!("no {id}: {report:#}"));
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("answer"), text("seen"))
}

pub(super) fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn nothing_private_is_in_it() {
    let home = Home::new();
    let folder = home.path().file_name().unwrap().to_str().unwrap().to_owned();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let configuration = home.path().join("config/mcpwake");
    std::fs::create_dir_all(&configuration).unwrap();
    std::fs::write(configuration.join("config.toml"), "my_private_key = 3\n").unwrap();
    for arguments in [&["doctor"][..], &["doctor", "--json"]] {
        let mut command = program(&home, arguments);
        let output = command
            .env("SSH_CONNECTION", "192.0.2.7 1 192.0.2.8 22")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        for private in [
            &folder,
            "192.0.2",
            "my_private_key",
            "/tmp/",
            "cargo",
            "127.0.0.1",
        ] {
            assert!(!text.contains(private), "{private}: {text}");
        }
        // A host that is called as the system is would be found everywhere.
        let host = host.trim();
        assert!(host.len() < 6 || !text.contains(host), "{host}: {text}");
        assert!(text.contains("line 1 is wrong"), "{text}");
    }
}

#[test]
fn read_only_writes_nothing_and_says_so() {
    let home = Home::new();
    let runs: [(&[&str], Option<&str>); 2] = [
        (&["doctor", "--json", "--read-only"], None),
        (&["doctor", "--json"], Some("1")),
    ];
    for (arguments, variable) in runs {
        let mut command = program(&home, arguments);
        command.envs(variable.map(|value| ("MCPWAKE_READ_ONLY", value)));
        let (answer, seen) = answer(&report(&mut command).0, "state");
        assert_eq!(answer, "denied", "{seen}");
        assert!(seen.contains("read-only holds"), "{seen}");
        assert_eq!(entries(home.path()), 0);
    }
}

#[test]
fn a_terminal_without_a_screen_is_no_fault() {
    let home = Home::new();
    let (report, _) = report(program(&home, &["doctor", "--json"]).env("TERM", "dumb"));
    assert_eq!(answer(&report, "terminal").0, "unsupported");
    assert_eq!(answer(&report, "clipboard").0, "unsupported");
    assert_eq!(answer(&report, "processes.own").0, "works");
}

#[test]
fn the_hidden_command_ends_where_nobody_listens() {
    let home = Home::new();
    for arguments in [&["doctor-part"][..], &["doctor-part", "pipes", "", "x", "token"]] {
        let output = program(&home, arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(output.stdout.is_empty());
    }
}
