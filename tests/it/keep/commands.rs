//! The commands from outside: what they print, where they write, how they exit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::kit;
use crate::support::Home;

struct Program(Home);

impl Program {
    fn new() -> Self {
        Self(Home::new())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpwake"));
        command
            .args(args)
            .env_clear()
            .envs(self.0.variables())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs what must succeed; returns stdout without its last newline.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output).trim_end_matches('\n').to_owned()
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("state/mcpwake")
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn an_incident_from_opening_to_verified_export() {
    let program = Program::new();
    let path = program.ok(&["incident", "new", "OPS-1412"]);
    assert!(
        Path::new(&path).starts_with(program.state().join("incidents")),
        "{path}"
    );
    let head = program.ok(&["incident", "note", "revoked at the gateway"]);
    assert!(head.starts_with("2:") && head.len() == 66, "{head}");
    assert_eq!(program.ok(&["incident", "path"]), path);
    let listed = program.ok(&["incident", "list"]);
    assert!(listed.contains("OPS-1412") && listed.contains("open") && listed.contains("2 entries"));
    let saved = program.ok(&["snapshot"]);
    assert!(saved.starts_with(&path), "{saved}");
    let verified = program.ok(&["verify", &path, "--expect-head", &head]);
    assert!(
        verified.starts_with("sound: ") && verified.contains("3 entries, 1 files"),
        "{verified}"
    );
    let markdown = program.ok(&["incident", "export"]);
    assert!(
        markdown.contains("revoked at the gateway") && markdown.contains(&path),
        "{markdown}"
    );
    let json: Value = serde_json::from_str(&program.ok(&["incident", "export", "--format", "json"])).unwrap();
    assert_eq!(json["schema"], "mcpwake.record/1");
    assert_eq!(json["head"]["seq"], 3);
}

#[test]
fn a_changed_journal_exits_with_3_and_names_the_line() {
    let program = Program::new();
    let path = program.ok(&["incident", "new", "x"]);
    let head = program.ok(&["incident", "note", "one"]);
    let journal = Path::new(&path).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"one\"", "\"two\"")).unwrap();
    let output = program.run(&["verify", &path]);
    assert_eq!(output.status.code(), Some(3));
    let said = stdout(&output);
    assert!(
        said.contains("NOT SOUND") && said.contains("line 2: edited"),
        "{said}"
    );
    // Cut, which only the head shows.
    fs::write(&journal, text.split_inclusive('\n').next().unwrap()).unwrap();
    assert_eq!(program.run(&["verify", &path]).status.code(), Some(0));
    let output = program.run(&["verify", &path, "--expect-head", &head]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("line 2: truncated"));
    // Torn: a warning, and 3 with the head.
    let torn = format!("{text}{{\"seq\":3");
    fs::write(&journal, torn).unwrap();
    assert_eq!(program.run(&["verify", &path]).status.code(), Some(0));
    let output = program.run(&["verify", &path, "--expect-head", &head]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("line 3: torn"));
}

#[test]
fn what_is_not_there_or_not_understood_is_said() {
    let program = Program::new();
    let cases: [(&[&str], i32, &str); 8] = [
        (&["verify", "/nonexistent"], 1, "/nonexistent"),
        (&["verify", "/dev/null"], 1, "regular file"),
        (&["verify", "x", "--expect-head", "5"], 2, "SEQ:HASH"),
        (&["incident", "note", "x"], 1, "no incident"),
        (&["incident", "export", "--incident", "nothing"], 1, "nothing"),
        (&["incident", "export", "--format", "pdf"], 2, "markdown"),
        (&["list", "--from", "/nonexistent"], 1, "/nonexistent"),
        (&["list", "--from", "/dev/null"], 1, "no snapshot"),
    ];
    for (args, code, part) in cases {
        let output = program.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn read_only_writes_nothing() {
    let program = Program::new();
    for args in [
        &["incident", "new", "x"][..],
        &["snapshot"],
        &["snapshot", "-o", "a.json"],
    ] {
        let output = program.run(&[&["--read-only"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains("read-only"), "{}", stderr(&output));
    }
    assert!(!program.state().exists());
    let output = program.run(&["--read-only", "snapshot", "-o", "-"]);
    assert!(output.status.success() && output.stdout.starts_with(b"{\"schema\":\"mcpwake.snapshot/1\""));
}

#[test]
fn a_snapshot_without_an_incident_goes_into_the_next_one() {
    let program = Program::new();
    let saved = program.ok(&["snapshot"]);
    assert!(saved.starts_with(program.state().join("snapshots").to_str().unwrap()));
    let path = program.ok(&["incident", "new", "x"]);
    let name = Path::new(&saved).file_name().unwrap();
    let copy = Path::new(&path).join("snapshots").join(name);
    assert_eq!(fs::read(copy).unwrap(), fs::read(&saved).unwrap());
    assert!(program.ok(&["verify", &path]).contains("2 entries, 1 files"));
    // Not into two.
    let other = program.ok(&["incident", "new", "y"]);
    assert!(program.ok(&["verify", &other]).contains("1 entries, 0 files"));
}

#[test]
fn a_saved_world_is_listed_shown_and_compared() {
    let program = Program::new();
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let (before, after) = (file("before.json"), file("after.json"));
    kit::snapshot(&kit::world(3)).save_as(before.as_ref()).unwrap();
    let severed = kit::severed(&["python", "-m", "mcp_server_git"]);
    kit::snapshot(&severed).save_as(after.as_ref()).unwrap();
    let json: Value = serde_json::from_str(&program.ok(&["list", "--json", "--from", &after])).unwrap();
    assert_eq!(json["instances"][0]["id"], "9-900");
    assert_eq!(json["instances"][0]["finding"], "severed");
    let piped = program
        .command(&["list", "--json", "--from", "-"])
        .stdin(fs::File::open(&after).unwrap())
        .output()
        .unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&piped.stdout).unwrap(), json);
    assert_eq!(
        program
            .run(&["list", "--from", &after, "--fail-on", "severed"])
            .status
            .code(),
        Some(4)
    );
    let shown = program.ok(&["show", "9", "--from", &after]);
    assert!(shown.contains("mcp_server_git"), "{shown}");
    assert_eq!(
        program.run(&["show", "9", "--from", &before]).status.code(),
        Some(1)
    );
    let told = program.ok(&["diff", &before, &after]);
    assert!(
        told.contains("+ git 9-900 severed") && told.contains("1 came, 0 went"),
        "{told}"
    );
    let told = program.ok(&["diff", &after, &before]);
    assert!(told.contains("- git 9-900 severed"), "{told}");
}

#[test]
fn verification_needs_no_valid_configuration() {
    let program = Program::new();
    let path = program.ok(&["incident", "new", "x"]);
    let folder = program.0.path().join("config/mcpwake");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "not TOML").unwrap();
    assert_eq!(program.run(&["incident", "list"]).status.code(), Some(2));
    assert!(program.ok(&["verify", &path]).starts_with("sound"));
}
