//! A server that its supervisor starts again when the second look is over.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::desk::{State, code};

/// Starts the server anew whenever it has ended, once it is told to: reading a pipe that nobody writes to
/// waits longer than any second look, without a clock. The server's wire is a pipe whose writer has gone.
const SUPERVISOR: &str = r#"
while true; do
    : | python3 "$0/mcp-server-git" plain
    read -r go < "$0/go" || exit
done
"#;

/// What the server does: it says its pid, and stays until its parent ends.
const SERVER: &str = r#"
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
with open(os.path.join(os.path.dirname(sys.argv[0]), "started"), "w") as started:
    print(os.getpid(), file=started, flush=True)
while True:
    signal.pause()
"#;

/// A shell that supervises a server.
struct Supervisor {
    home: TempDir,
    shell: Child,
    started: BufReader<fs::File>,
}

impl Supervisor {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("mcp-server-git"), SERVER).unwrap();
        for pipe in ["go", "started"] {
            let path = home.path().join(pipe);
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        let shell = Command::new("sh")
            .args(["-c", SUPERVISOR])
            .arg(home.path())
            .current_dir(home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = open(&home.path().join("started"));
        Self {
            started: BufReader::new(started),
            home,
            shell,
        }
    }

    /// Waits for the next server, and returns its pid.
    fn server(&mut self) -> u32 {
        let mut line = String::new();
        while line.is_empty() {
            self.started.read_line(&mut line).unwrap();
        }
        line.trim().parse().unwrap()
    }

    /// Lets it start the server again.
    fn goes_on(&self) {
        fs::write(self.home.path().join("go"), "\n").unwrap();
    }
}

/// Opens a named pipe for reading and keeps it open: it has a writer here, so that it never ends.
fn open(path: &Path) -> fs::File {
    fs::OpenOptions::new().read(true).write(true).open(path).unwrap()
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The server ends with its parent.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

fn entries<'a>(journal: &'a [Value], kind: &str) -> Vec<&'a Value> {
    journal.iter().filter(|entry| entry["kind"] == kind).collect()
}

#[test]
fn one_that_is_started_again_later_is_told_and_journalled_once() {
    let (mut supervisor, kept) = (Supervisor::new(), State::new());
    let server = supervisor.server();
    let mut desk = kept.start();
    desk.selects(server, "SEVERED");
    desk.asks_to_end(server);
    desk.confirms(&code(server));
    desk.sees(&format!("TERM git {server}: exited after "));
    desk.sees("Done: each outcome is journalled.");
    assert!(entries(&kept.journal(), "came_back").is_empty());
    desk.leaves("Done: each outcome");
    supervisor.goes_on();
    let again = supervisor.server();
    assert_ne!(again, server);
    desk.sees(&format!("git {server} came back as {again}, "));
    desk.journals("the return", |state| {
        !entries(&state.journal(), "came_back").is_empty()
    });
    desk.quits();
    kept.verifies();
    let journal = kept.journal();
    let told = entries(&journal, "came_back");
    let [entry] = &told[..] else { panic!("{told:#?}") };
    let about = entries(&journal, "about_to_signal")[0];
    assert_eq!(entry["announced"], about["seq"]);
    assert_eq!(entry["target"]["key"], about["targets"][0]["key"]);
    let key = entry["successor"]["key"].as_str().unwrap();
    assert!(key.starts_with(&format!("{again}-")), "{key}");
    assert_eq!(entry["successor"]["argv"], entry["target"]["argv"]);
    assert_eq!(entry["parent"]["comm"], "sh", "{entry}");
    let record = kept.markdown();
    let line = |title: &str| {
        let line = record.lines().find(|line| line.starts_with(title));
        line.unwrap_or_else(|| panic!("{record}")).to_owned()
    };
    assert!(
        line("| Termination").contains(&format!("{server} came back as {again}, ")),
        "{record}"
    );
    assert!(
        line("| Follow-up").contains(&format!("look at {again}: {server} came back as it")),
        "{record}"
    );
    let path = kept.incident().display().to_string();
    let export = kept.told(&["incident", "export", "--format", "json", "--incident", &path]);
    let export: Value = serde_json::from_str(&export).unwrap();
    let signal = &export["records"][0]["signals"][0];
    assert_eq!(signal["outcome"]["outcome"], "exited", "{export:#}");
    assert_eq!(signal["came_back"][0]["successor"]["key"], key, "{export:#}");
}
