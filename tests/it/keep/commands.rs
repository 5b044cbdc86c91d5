//! The commands from outside: what they print, where they write, how they exit.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::kit;
use crate::cli::check;
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
        (&["verify", "/nonexistent/none"], 1, "/nonexistent/none"),
        (&["verify", "/dev/null"], 1, "regular file"),
        (&["verify", "x", "--expect-head", "5"], 2, "SEQ:HASH"),
        (&["incident", "note", "x"], 1, "no incident"),
        (&["incident", "export", "--incident", "nothing"], 1, "nothing"),
        (&["incident", "export", "--format", "pdf"], 2, "markdown"),
        (&["list", "--from", "/nonexistent/none"], 1, "/nonexistent/none"),
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

/// Runs a command with this on its stdin.
fn fed(program: &Program, args: &[&str], text: &str) -> Output {
    let mut child = program
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_note_comes_from_stdin_with_its_lines() {
    let program = Program::new();
    let path = program.ok(&["incident", "new", "OPS-1412"]);
    for args in [&["incident", "note"][..], &["incident", "note", "-"]] {
        let output = fed(&program, args, "first\n  second | *x*\n\n");
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let journal = fs::read_to_string(Path::new(&path).join("journal.jsonl")).unwrap();
    assert_eq!(
        journal.matches(r#""text":"first\n  second | *x*""#).count(),
        2,
        "{journal}"
    );
    let markdown = program.ok(&["incident", "export"]);
    assert!(
        markdown.contains("  ```text\n  first\n    second | *x*\n  ```"),
        "{markdown}"
    );
    let empty = fed(&program, &["incident", "note"], " \n");
    assert_eq!(empty.status.code(), Some(1));
    assert!(stderr(&empty).contains("empty"));
    let long = fed(&program, &["incident", "note"], &"x".repeat(70_000));
    assert_eq!(long.status.code(), Some(1));
    assert!(stderr(&long).contains("65536"), "{}", stderr(&long));
}

#[test]
fn what_is_printed_as_json_keeps_to_its_schema() {
    let program = Program::new();
    program.ok(&["incident", "new", "OPS-1412"]);
    program.ok(&["incident", "note", "x"]);
    let snapshot = program.ok(&["snapshot"]);
    let record: Value =
        serde_json::from_str(&program.ok(&["incident", "export", "--format", "json"])).unwrap();
    assert_eq!(check(&record, "record-1.schema.json"), Vec::<String>::new());
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (earlier, later) = (place("a"), place("b"));
    let (before, after) = (
        kit::world(3),
        kit::severed(&["node", "--token", TOKEN, "server.js"]),
    );
    kit::snapshot(&before).save_as(Path::new(&earlier)).unwrap();
    kit::snapshot(&after).save_as(Path::new(&later)).unwrap();
    let diff: Value = serde_json::from_str(&program.ok(&["diff", &earlier, &later, "--json"])).unwrap();
    assert_eq!(check(&diff, "diff-1.schema.json"), Vec::<String>::new());
    assert_eq!(diff["schema"], "mcpwake.diff/1");
    assert_eq!(
        diff["appeared"].as_array().map(Vec::len),
        Some(after.judged.instances.len())
    );
    assert_eq!(diff["appeared"][0]["finding"], "severed", "{diff:#}");
    let same: Value = serde_json::from_str(&program.ok(&["diff", &snapshot, &snapshot, "--json"])).unwrap();
    assert_eq!(
        (&same["same_boot"], &same["processes_gone"]),
        (&Value::Bool(true), &0.into())
    );
}

/// Made for this test; the shape is that of a GitHub token.
const TOKEN: &str = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
/// No shape at all: only where it stands tells that it is a secret.
const PASSWORD: &str = "Tr0ub4dor-und-drei-9fK2";

/// Files below a directory whose bytes or names hold one of these, in any case.
fn holding(directory: &Path, secrets: &[&str], found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
        let bytes = if path.is_dir() {
            holding(&path, secrets, found);
            Vec::new()
        } else {
            fs::read(&path).unwrap().to_ascii_lowercase()
        };
        for secret in secrets {
            let secret = secret.to_lowercase();
            let inside = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            if inside || name.contains(&secret) {
                found.push(format!("{} in {}", secret, path.display()));
            }
        }
    }
}

#[test]
fn no_secret_of_a_running_process_or_of_an_operator_reaches_a_byte_of_the_state_or_an_output() {
    let program = Program::new();
    let url = format!("https://deploy:{PASSWORD}@example.org/mcp?access_token={TOKEN}");
    // Looks like a server that nobody holds: it is an instance, with everything that is kept of one.
    let mut server = Command::new("/bin/sh")
        .args([
            "-c",
            "read line",
            "mcp-server-git",
            "--token",
            TOKEN,
            "--password",
            PASSWORD,
            &url,
        ])
        .env("GITHUB_TOKEN", TOKEN)
        .env("DATABASE_URL", &url)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let loose = program.ok(&["snapshot"]);
    let title = format!("leak of {TOKEN}");
    let mut outputs = vec![program.ok(&["incident", "new", &title])];
    outputs.push(program.ok(&["incident", "note", &format!("curl {url}")]));
    let lines = format!("seen:\n  --token {TOKEN}\n  PASSWORD={PASSWORD}\n{url}\n");
    let output = fed(&program, &["incident", "note"], &lines);
    assert!(output.status.success(), "{}", stderr(&output));
    outputs.push(program.ok(&["snapshot"]));
    let pid = server.id().to_string();
    for args in [
        &["incident", "list"][..],
        &["incident", "export"],
        &["incident", "export", "--format", "json"],
        &["list", "--all", "--json", "--redact", "off"],
        &["show", &pid],
        &["show", &pid, "--json"],
        &["diff", &loose, &loose, "--json"],
    ] {
        outputs.push(program.ok(args));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let seen = outputs.iter().any(|output| output.contains("mcp-server-git"));
    assert!(seen, "the process is in no output: the test looks at nothing");
    for output in &outputs {
        for secret in [TOKEN, PASSWORD] {
            assert!(
                !output.to_lowercase().contains(&secret.to_lowercase()),
                "{output}"
            );
        }
    }
    let mut found = Vec::new();
    holding(&program.state(), &[TOKEN, PASSWORD], &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn an_incident_is_named_by_its_title_closed_and_not_opened_without_one() {
    let program = Program::new();
    for title in ["", "  "] {
        let output = program.run(&["incident", "new", title]);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("the title is empty"),
            "{}",
            stderr(&output)
        );
    }
    let first = program.ok(&["incident", "new", "OPS-1"]);
    let second = program.ok(&["incident", "new", "OPS-2"]);
    assert_eq!(program.ok(&["incident", "path", "--incident", "OPS-1"]), first);
    assert_eq!(program.ok(&["incident", "path"]), second);
    let head = program.ok(&["incident", "close", "look at the remote"]);
    assert!(head.starts_with("2:") && head.len() == 66, "{head}");
    assert_eq!(
        program.ok(&["incident", "path"]),
        first,
        "a closed one is not the default"
    );
    let again = program.run(&["incident", "close", "--incident", "OPS-2"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("closed already"));
    let listed = program.ok(&["incident", "list"]);
    let state = |title: &str| {
        let line = listed.lines().find(|line| line.contains(&format!("  {title}  ")));
        let words: Vec<&str> = line.unwrap().split("  ").collect();
        words[2].to_owned()
    };
    assert_eq!(
        (state("OPS-1"), state("OPS-2")),
        ("open".to_owned(), "closed".to_owned())
    );
    let markdown = program.ok(&["incident", "export", "--incident", "OPS-2"]);
    assert!(
        markdown.contains("closed; left: look at the remote"),
        "{markdown}"
    );
    program.ok(&["incident", "close"]);
    let none = program.run(&["incident", "export"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0));
    let said = stderr(&none);
    assert!(
        said.contains("no incident that is open and of this operator in ")
            && said.contains(": the newest closed one is OPS-2, opened ")
            && said.contains(": name it with `--incident OPS-2`"),
        "{said}"
    );
    program.ok(&["incident", "new", "OPS-1"]);
    let several = stderr(&program.run(&["incident", "path", "--incident", "OPS-1"]));
    assert!(
        several.contains("no incident OPS-1 alone in ")
            && several.contains(": 2 are called so, or begin like that; name one by its id: ")
            && several.matches("(OPS-1, opened ").count() == 2
            && several.contains(", closed)")
            && several.contains(", open)"),
        "{several}"
    );
    // The title of the newest closed one is another one's too: its id names it.
    program.ok(&["incident", "close"]);
    let said = stderr(&program.run(&["incident", "export"]));
    let (_, named) = said.split_once("name it with `--incident ").unwrap();
    let id = named.split('`').next().unwrap();
    assert!(
        id.len() == 32 && program.ok(&["incident", "list"]).starts_with(id),
        "{said}"
    );
}

#[test]
fn what_a_closed_incident_leaves_open_is_counted_first_and_then_named() {
    use mcpwake::journal::entry::SnapshotReason;
    let program = Program::new();
    let path = program.ok(&["incident", "new", "OPS-1"]);
    let closed = program.run(&["incident", "close"]);
    assert_eq!(stderr(&closed), "mcpwake: nothing is known to be left open\n");
    let mut world = kit::severed(&["python", "-m", "mcp_server_git"]);
    for pid in 100..106 {
        world.judged.instances.push(kit::instance(pid));
    }
    let store = kit::store_at(program.state(), mcpwake::store::Access::ReadWrite);
    let incident = store.find(Some("OPS-1"), &kit::operator()).unwrap();
    assert_eq!(incident.path(), Path::new(&path));
    incident
        .save(&kit::snapshot(&world), SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    let on = mcpwake::journal::InstanceRef::of(&kit::instance(9));
    let note = mcpwake::journal::Entry::Note {
        on: Some(mcpwake::journal::Subject::Instance(on)),
        text: "looked at".to_owned(),
    };
    incident.append(note, &kit::operator(), kit::NOW).unwrap();
    let closed = program.run(&["incident", "close", "--incident", "OPS-1"]);
    assert!(closed.status.success(), "{}", stderr(&closed));
    let said: Vec<String> = stderr(&closed).lines().map(str::to_owned).collect();
    assert_eq!(
        said,
        [
            "mcpwake: LEFT OPEN: 2 leads not shown to be denied; 6 servers (severed 6) seen at 2026-12-01T01:08:02.123Z and not handled",
            "mcpwake:   git (9): a tcp 10.2.0.4:443: not revoked",
            "mcpwake:   git (9): b ssh /run/user/1000/ssh|control: not revoked",
            "mcpwake:   git (100): severed, can act: ssh, tcp",
            "mcpwake:   git (101): severed, can act: ssh, tcp",
            "mcpwake:   git (102): severed, can act: ssh, tcp",
            "mcpwake:   git (103): severed, can act: ssh, tcp",
            "mcpwake:   git (104): severed, can act: ssh, tcp",
            "mcpwake:   and 1 more: `mcpwake incident export` has them",
        ]
    );
}

#[test]
fn the_beginning_of_a_title_names_an_incident_where_only_one_begins_so() {
    let program = Program::new();
    let first = program.ok(&["incident", "new", "OPS-14 leftover of git"]);
    let second = program.ok(&["incident", "new", "OPS-15"]);
    let third = program.ok(&["incident", "new", "OPS-15 again"]);
    for (wanted, path) in [
        ("OPS-14", &first),
        ("OPS-14 left", &first),
        ("OPS-15", &second),
        ("OPS-15 ", &third),
    ] {
        assert_eq!(
            program.ok(&["incident", "path", "--incident", wanted]),
            *path,
            "{wanted}"
        );
    }
    for (wanted, count) in [("OPS", 3), ("OPS-1", 3)] {
        let output = program.run(&["incident", "path", "--incident", wanted]);
        let said = stderr(&output);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(said.contains(&format!("{wanted} alone in ")), "{said}");
        assert_eq!(said.matches(", opened ").count(), count, "{said}");
    }
    let said = stderr(&program.run(&["incident", "path", "--incident", "again"]));
    assert!(
        said.contains("no incident again in ") && said.contains("`mcpwake incident list`"),
        "{said}"
    );
}

#[test]
fn a_file_that_is_there_is_overwritten_by_force_alone() {
    let program = Program::new();
    let file = program.state().with_extension("json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "mine").unwrap();
    let path = file.to_str().unwrap();
    let output = program.run(&["snapshot", "-o", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("--force overwrites it"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    program.ok(&["snapshot", "-o", path, "--force"]);
    program.ok(&["list", "--from", path]);
}

#[test]
fn a_process_is_shown_from_the_newest_snapshot_that_has_it_and_a_fault_is_said() {
    let program = Program::new();
    let path = program.ok(&["incident", "new", "x"]);
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    program.ok(&["snapshot"]);
    child.kill().unwrap();
    child.wait().unwrap();
    program.ok(&["snapshot"]);
    let pid = child.id().to_string();
    let output = program.run(&["show", &pid, "--from", &path]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("sleep"), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(
        said.contains("shown as of ") && said.contains(&format!("do not have process {pid}")),
        "{said}"
    );
    let output = program.run(&["show", "4194303", "--from", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("in none of its snapshots"),
        "{}",
        stderr(&output)
    );
    let journal = Path::new(&path).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let line = text.lines().nth(2).unwrap();
    fs::write(
        &journal,
        text.replace(line, &line.replace("snapshots/", "snapshotz/")),
    )
    .unwrap();
    for command in [&["list", "--from", &path][..], &["show", &pid, "--from", &path]] {
        let said = stderr(&program.run(command));
        assert!(
            said.contains("journal line 3: edited, nothing after entry 2 is shown"),
            "{said}"
        );
    }
}

#[test]
fn the_reason_of_the_system_is_said_once() {
    let program = Program::new();
    let said = stderr(&program.run(&["verify", "/nonexistent/none"]));
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
}
