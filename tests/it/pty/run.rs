//! A configured command, from the record's form to the attachment.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::harness::{Start, Terminal};
use crate::support::{DEADLINE, Home};

/// A server whose wire nobody holds, with the name of a credential in its environment.
struct Server(Child);

impl Server {
    fn start(home: &Home) -> Self {
        let script = home.path().join("mcp-server-fake.py");
        fs::write(&script, "import os, time\nos.setsid()\ntime.sleep(120)\n").unwrap();
        // Of a socket the kernel says that nobody is at its other end; of a pipe only who may look into every
        // process can.
        let (_, stdin) = UnixStream::pair().unwrap();
        let child = Command::new("python3")
            .arg(&script)
            .env("GITHUB_TOKEN", "x")
            .stdin(OwnedFd::from(stdin))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const CONFIG: &str = r#"
[[commands]]
name = "introspect"
argv = ["/bin/sh", "-c", "printf 'asked for %s\\n' \"$1\"; exit 4", "sh", "{target}"]
kinds = ["credential-name"]
"#;

/// The record of the server, with its credential chosen.
fn record(home: &Home, server: &Server, config_mode: u32) -> Terminal {
    let folder = home.path().join("config/mcpwake");
    fs::create_dir_all(&folder).unwrap();
    let config = folder.join("config.toml");
    fs::write(&config, CONFIG).unwrap();
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&folder, 0o700);
    mode(&config, config_mode);
    let below = |name: &str| home.path().join(name).display().to_string();
    let mut terminal = Start::program()
        .with("XDG_CONFIG_HOME", &below("config"))
        .with("XDG_STATE_HOME", &below("state"))
        .sized(120, 40)
        .start();
    terminal.has_started();
    // Keys do nothing to rows before the first sample.
    terminal.sees("LIVE");
    let pid = server.0.id().to_string();
    terminal.press(&format!("/pid:{pid}\r"));
    // Others like it may be there before it: each test here starts one.
    let is_row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.contains(&pid.as_str()) && words.contains(&"SEVERED")
    };
    let shown = terminal.wait_for("the row of the server", DEADLINE, |seen| {
        seen.text().lines().any(is_row)
    });
    shown.unwrap_or_else(|why| panic!("{why}"));
    terminal.press("G");
    terminal.sees("GITHUB_TOKEN (name only)");
    terminal.press("rOPS-1412\r");
    terminal.sees("credential-name GITHUB_TOKEN");
    // What is said later would take the place of what the next key is answered.
    terminal.sees("is open in");
    terminal.press("G");
    terminal
}

#[test]
fn a_command_is_shown_confirmed_run_and_its_output_attached() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut terminal = record(&home, &server, 0o600);
    terminal.press("x");
    terminal.sees("1 of 1: introspect, 30 s at most");
    terminal.sees("sh GITHUB_TOKEN");
    terminal.press("\x1b[200~yes\x1b[201~\r");
    terminal.sees("not run: only yes runs it");
    terminal.press("xyes\r");
    terminal.sees("introspect exited with 4; its output");
    terminal.press("q");
    terminal.press("q");
    terminal.press("y");
    assert!(terminal.ends().success());
    let incident = fs::read_dir(home.path().join("state/mcpwake/incidents"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let attached: Vec<Vec<u8>> = fs::read_dir(incident.join("attachments"))
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(attached, [b"asked for GITHUB_TOKEN\n"]);
    let journal = fs::read_to_string(incident.join("journal.jsonl")).unwrap();
    assert!(journal.contains(r#""status":"exited with 4""#), "{journal}");
    let verified = Command::new(env!("CARGO_BIN_EXE_mcpwake"))
        .arg("verify")
        .arg(&incident)
        .env_clear()
        .envs(home.variables())
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn commands_of_a_file_that_others_can_write_are_not_offered() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut terminal = record(&home, &server, 0o666);
    terminal.press("x");
    terminal.sees("no configured command is for a lead of the kind credential-name");
    terminal.signal(rustix::process::Signal::TERM);
    terminal.ends();
}
