//! The built program from outside: exit codes, usage, pipes that close early, generated texts, JSON.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by them"
)]

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::support::{DEADLINE, Home, output_in_time};

/// The program in an environment of its own: no configuration but the test's.
struct Program {
    home: Home,
}

impl Program {
    fn new() -> Self {
        Self { home: Home::new() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpwake"));
        command
            .args(args)
            .env_clear()
            .envs(self.home.variables())
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
        "doctor",
        "completions",
        "man",
        "--read-only",
        "--redact",
    ] {
        assert!(help.contains(wanted), "{wanted}");
    }
    for absent in ["doctor-part", "drill", "--from"] {
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
        "KEYS",
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

/// A process that looks like an MCP server, in a session of its own so that a test can ask for it
/// alone. Ended when dropped.
struct Server {
    child: Child,
    /// The client's end of its stdin: dropping it severs the server.
    wire: Option<UnixStream>,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("mcp-server-fake.py");
        std::fs::write(
            &script,
            "import os, time\nos.setsid()\nprint('up', flush=True)\ntime.sleep(120)\n",
        )
        .unwrap();
        // Of a socket the kernel says that nobody is at its other end; of a pipe only who may look into every
        // process can.
        let (wire, stdin) = UnixStream::pair().unwrap();
        let mut child = Command::new("python3")
            .arg(&script)
            .args(arguments)
            .stdin(OwnedFd::from(stdin))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut up = [0; 3];
        child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
        Self {
            child,
            wire: Some(wire),
            _folder: folder,
        }
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parsed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}

#[test]
fn a_server_is_attached_until_its_wire_is_let_go() {
    let program = Program::new();
    let mut server = Server::start(&[]);
    let pid = server.pid();
    let list = |more: &[&str]| program.run(&[&["list", "--session", &pid], more].concat());

    let output = list(&["--json", "--fail-on", "severed,held"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value = parsed(&output);
    assert_eq!(value["instances"][0]["finding"], "attached", "{value:#}");
    assert_eq!(value["instances"][0]["client"]["pid"], std::process::id());

    drop(server.wire.take());
    let output = list(&["--json", "--fail-on", "severed,held"]);
    assert_eq!(output.status.code(), Some(4), "{}", stdout(&output));
    let value = parsed(&output);
    assert_eq!(value["instances"][0]["finding"], "severed", "{value:#}");
    assert_eq!(value["instances"][0]["server_pid"].to_string(), pid);
    assert_eq!(
        list(&["--finding", "attached", "--fail-on", "severed"])
            .status
            .code(),
        Some(0)
    );
    let table = stdout(&list(&["--finding", "severed"]));
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.contains(&pid) && table.contains("SEVERED"), "{table}");
}

#[test]
fn the_inventory_keeps_to_its_schema() {
    let program = Program::new();
    let server = Server::start(&[]);
    let value = parsed(&program.run(&["list", "--json", "--all"]));
    let problems = check(&value, "inventory-1.schema.json");
    assert_eq!(problems, Vec::<String>::new());
    let processes = value["processes"].as_array().unwrap();
    assert!(
        processes
            .iter()
            .any(|one| one["pid"].as_u64() == Some(u64::from(std::process::id())))
    );
    assert!(
        processes
            .iter()
            .any(|one| one["pid"].as_u64() == server.pid().parse().ok())
    );

    let evidence = parsed(&program.run(&["show", &server.pid(), "--json"]));
    assert_eq!(check(&evidence, "evidence-1.schema.json"), Vec::<String>::new());
    assert_eq!(evidence["descriptors"][0]["wire"], "stdin", "{evidence:#}");
    assert_eq!(
        evidence["descriptors"][0]["other_end"][0]["pid"],
        std::process::id()
    );
}

#[test]
fn a_value_that_breaks_the_schema_is_found() {
    let mut value = parsed(&Program::new().run(&["list", "--json", "--once"]));
    value["host"]["visibility"] = "most".into();
    value["host"].as_object_mut().unwrap().remove("uid");
    value["processes"] = 3.into();
    assert_eq!(check(&value, "inventory-1.schema.json").len(), 3);
}

#[test]
fn the_evidence_has_its_sections() {
    let program = Program::new();
    let server = Server::start(&[]);
    let output = program.run(&["show", &server.pid()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for section in ["PROCESS", "IDENTIFICATION", "INSTANCE", "DESCRIPTORS", "GROUP"] {
        assert!(
            text.lines().any(|line| line.starts_with(section)),
            "{section}: {text}"
        );
    }
    assert!(text.contains("stdin of the wire"), "{text}");
}

#[test]
fn a_process_that_does_not_exist_is_said() {
    let program = Program::new();
    for command in ["show", "explain"] {
        let output = program.run(&[command, "4194304"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        assert!(
            stderr(&output).contains("no process 4194304"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn secrets_stay_where_they_are() {
    let program = Program::new();
    let secret = "hunter2-hunter2-hunter2";
    let server = Server::start(&[
        "--password",
        secret,
        "--api-key=sk-ant-0123456789abcdef0123456789abcdef",
    ]);
    for args in [
        &["list", "--all"][..],
        &["list", "--json", "--all"],
        &["list", "--json", "--all", "--redact", "off"],
        &["list", "--all", "--redact", "off"],
        &["show", &server.pid(), "--redact", "off"],
        &["show", &server.pid(), "--json"],
        &["explain", &server.pid()],
        &["explain", "--", "npx", "mcp-server-x", "--password", secret],
        &[
            "explain",
            "--json",
            "--",
            "npx",
            "mcp-server-x",
            "--password",
            secret,
        ],
    ] {
        let output = program.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?} {}", stderr(&output));
        let text = stdout(&output);
        assert!(!text.contains(secret), "{args:?}");
        assert!(!text.contains("sk-ant-0123456789"), "{args:?}");
        assert!(text.contains("<redacted:"), "{args:?}");
    }
}

#[test]
fn lines_get_one_answer_each() {
    let program = Program::new();
    let input = "npx -y @modelcontextprotocol/server-filesystem /srv\nvim mcp-notes.md\n\nnode dist/index.js\n\
                 bad \u{1b}[31m bytes\nlast without an end";
    let output = program.with_input(&["explain", "--lines"], input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.lines().next().unwrap().starts_with("mcp"), "{text}");
    assert!(text.lines().nth(1).unwrap().starts_with("no"), "{text}");
    assert!(!text.contains('\u{1b}'));

    let output = program.with_input(
        &["explain", "--lines", "--json"],
        b"uvx mcp-server-git\nbytes \xff\n",
    );
    let answers: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["line"], "uvx mcp-server-git");
    assert_eq!(answers[0]["mcp"], true);
    for answer in &answers {
        assert_eq!(check(answer, "explain-1.schema.json"), Vec::<String>::new());
        for key in [
            "line",
            "mcp",
            "role",
            "confidence",
            "rule",
            "because",
            "near_misses",
            "undecided",
        ] {
            assert!(answer.get(key).is_some(), "{key}");
        }
    }
}

#[test]
fn answers_that_nobody_reads_are_no_error() {
    let program = Program::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child = program
        .command(&["explain", "--lines"])
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        // Ends with an error when the program has ended, which is the point.
        while stdin.write_all(b"npx -y mcp-server-x\n").is_ok() {}
    });
    drop(reader);
    let output = output_in_time(child, DEADLINE);
    feeder.join().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
fn the_screen_needs_a_terminal() {
    let output = Program::new().run(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(stderr(&output).contains("mcpwake list"), "{}", stderr(&output));
}

/// Compares a value with a schema of `assets/schema`; returns what is wrong. Knows the words that our
/// own schemas use: type, const, enum, required, properties, items, anyOf, $ref.
pub(crate) fn check(value: &Value, name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/schema")
        .join(name);
    let root: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    check_at(value, &root, &root, "", &mut wrong);
    wrong
}

fn check_at(value: &Value, schema: &Value, root: &Value, at: &str, wrong: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).expect(reference);
        check_at(value, target, root, at, wrong);
    }
    if let Some(ways) = schema["anyOf"].as_array() {
        let fits = |way: &Value| {
            let mut wrong = Vec::new();
            check_at(value, way, root, at, &mut wrong);
            wrong.is_empty()
        };
        if !ways.iter().any(fits) {
            wrong.push(format!("{at}: fits none of {} ways", ways.len()));
        }
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("type {other}"),
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        wrong.push(format!("{at}: {value} is no {kinds:?}"));
        return;
    }
    if schema.get("const").is_some_and(|only| only != value) {
        wrong.push(format!("{at}: {value} is not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        wrong.push(format!("{at}: {value} is none of {}", schema["enum"]));
    }
    for key in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if value.get(key).is_none() {
            wrong.push(format!("{at}: no {key}"));
        }
    }
    for (key, part) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(key) {
            Some(schema) => check_at(part, schema, root, &format!("{at}/{key}"), wrong),
            None if schema.get("properties").is_some() => {
                wrong.push(format!("{at}: {key} is not in the schema"));
            }
            None => {}
        }
    }
    if let Some(schema) = schema.get("items") {
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            check_at(item, schema, root, &format!("{at}/{number}"), wrong);
        }
    }
}
