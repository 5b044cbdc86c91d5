//! The built program from outside: exit codes, usage, pipes that close early, generated texts, JSON.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The program in an environment of its own: no configuration but the test's.
struct Program {
    home: tempfile::TempDir,
}

impl Program {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpwake"));
        command
            .args(args)
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .env_remove("MCPWAKE_READ_ONLY")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn configure(&self, text: impl AsRef<[u8]>) -> PathBuf {
        let folder = self.home.path().join("config/mcpwake");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("config.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn with_input(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        // The program may end before it has read everything.
        let _ = writer.join().unwrap();
        output
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn wrong_arguments_exit_with_2_and_say_what_would_be_right() {
    let program = Program::new();
    let cases: [(&[&str], &str); 10] = [
        (&["lst"], "list"),
        (&["list", "--jsn"], "--json"),
        (&["list", "--finding", "dead"], "severed"),
        (&["list", "--fail-on", "severed,dead"], "attached"),
        (&["show"], "PID"),
        (&["show", "0"], "between 1 and"),
        (&["show", "99999999999"], "between 1 and"),
        (&["show", "node"], "whole number"),
        (&["explain"], "PID"),
        (&["--refresh", "1"], "100"),
    ];
    for (args, wanted) in cases {
        let output = program.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(stderr(&output).contains(wanted), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn commands_of_no_version_are_not_listed() {
    let help = stdout(&Program::new().run(&["--help"]));
    for wanted in [
        "list",
        "show",
        "explain",
        "completions",
        "man",
        "--read-only",
        "--redact",
    ] {
        assert!(help.contains(wanted), "{wanted}");
    }
    for absent in ["snapshot", "incident", "verify", "doctor", "drill", "--from"] {
        assert!(!help.contains(absent), "{absent}");
    }
}

#[test]
fn completions_exist_for_each_shell() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "elvish"] {
        let output = program.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            stdout(&output).contains("--fail-on") || stdout(&output).contains("fail-on"),
            "{shell}"
        );
    }
    assert_eq!(program.run(&["completions", "tcl"]).status.code(), Some(2));
}

#[test]
fn the_manual_has_its_sections() {
    let man = stdout(&Program::new().run(&["man"]));
    for section in [
        "NAME",
        "OPTIONS",
        "COMMANDS",
        "FINDINGS",
        "FILES",
        "ENVIRONMENT",
        "SECURITY",
    ] {
        assert!(man.contains(&format!(".SH {section}")), "{section}");
    }
    assert!(man.contains(".SH \"EXIT CODES\""));
}

#[test]
fn a_wrong_configuration_names_file_line_and_key() {
    let program = Program::new();
    let file = program.configure("ascii = true\ncolour = 3\n");
    for args in [&["list"][..], &["show", "1"], &["explain", "--", "npx"]] {
        let output = program.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
        let said = stderr(&output);
        assert!(
            said.contains(&format!("{}:2: colour: ", file.display())),
            "{said}"
        );
    }
    // What needs no configuration still works, so that a broken file can be looked up and mended.
    assert_eq!(program.run(&["man"]).status.code(), Some(0));
    assert_eq!(program.run(&["--help"]).status.code(), Some(0));
}

#[test]
fn a_named_configuration_must_be_there() {
    let output = Program::new().run(&["--config", "/nowhere/c.toml", "list"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/nowhere/c.toml"));
}

#[test]
fn a_pipe_that_closes_early_is_no_error() {
    let program = Program::new();
    for args in [
        &["man"][..],
        &["completions", "bash"],
        &["list", "--json", "--all", "--once"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = program
            .command(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        assert_eq!(stderr(&output), "", "{args:?}");
    }
}

#[test]
fn the_first_line_can_be_taken_alone() {
    let program = Program::new();
    let mut child = program
        .command(&["man"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}
