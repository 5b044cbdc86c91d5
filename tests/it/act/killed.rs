//! Killed between the entry and the signal: the record verifies, and shows the signal as one that somebody
//! has to look at.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mcpwake::journal::{Entry, TargetRef};
use mcpwake::model::act::{Signal, Target};
use mcpwake::model::reading::Reading;
use mcpwake::store::Access;
use serde_json::Value;

use crate::keep::kit::{self, State};

/// Names the state directory for the child that announces.
const ANNOUNCER: &str = "MCPWAKE_TEST_ANNOUNCER";
const VICTIM: &str = "MCPWAKE_TEST_VICTIM";
const ANNOUNCED: &str = "it is announced";

/// Announces a signal, and goes no further. Does nothing but in a child of the test below.
#[test]
fn announcer() {
    let (Some(root), Ok(victim)) = (std::env::var_os(ANNOUNCER), std::env::var(VICTIM)) else {
        return;
    };
    let store = kit::store_at(root.into(), Access::ReadWrite);
    let incident = store.find(None, &kit::operator()).unwrap();
    let target = Target {
        key: kit::key(victim.parse().unwrap()),
        pidfd_inode: None,
        argv: Reading::Denied,
        exe: Reading::Denied,
        member: None,
    };
    let entry = Entry::AboutToSignal {
        signal: Signal::Term.word().to_owned(),
        targets: vec![TargetRef {
            key: target.key,
            pidfd_inode: None,
            argv: vec!["cat".to_owned()],
            instance: None,
        }],
        way: "pidfd".to_owned(),
    };
    let receipt = incident.append(entry, &kit::operator(), kit::later(1)).unwrap();
    assert!(receipt.announces(Signal::Term, &target));
    let mut out = std::io::stdout();
    writeln!(out, "{ANNOUNCED}").unwrap();
    out.flush().unwrap();
    // With the receipt in hand, until it is killed.
    let _ = std::io::stdin().read(&mut [0]);
    drop(receipt);
}

fn announce(state: &State, victim: &Child) -> Child {
    let mut announcer = Command::new(std::env::current_exe().unwrap())
        .args(["act::killed::announcer", "--exact", "--nocapture"])
        .env(ANNOUNCER, state.root())
        .env(VICTIM, victim.id().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(announcer.stdout.take().unwrap()).lines();
    let said = lines.any(|line| line.unwrap().contains(ANNOUNCED));
    assert!(said, "it ended before it announced");
    announcer
}

fn program(state: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mcpwake"))
        .args(args)
        .env_clear()
        .env("XDG_STATE_HOME", state)
        .env("XDG_CONFIG_HOME", state)
        .env("HOME", state)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn killed_between_entry_and_signal_the_signal_is_shown_without_an_outcome() {
    let state = State::new();
    let incident = state.incident();
    let mut victim = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let mut announcer = announce(&state, &victim);
    announcer.kill().unwrap();
    announcer.wait().unwrap();
    assert_eq!(victim.try_wait().unwrap(), None);
    let path = incident.path().display().to_string();
    let verified = program(state.directory.path(), &["verify", &path]);
    assert!(
        verified.starts_with("sound: ") && verified.contains("2 entries"),
        "{verified}"
    );
    let export = ["incident", "export", "--format", "json", "--incident", &path];
    let record: Value = serde_json::from_str(&program(state.directory.path(), &export)).unwrap();
    let unresolved = record["first_page"]["unresolved_signals"].as_array().unwrap();
    let key = kit::key(victim.id()).to_string();
    assert!(
        unresolved.len() == 1 && unresolved[0].as_str().unwrap().contains("TERM"),
        "{key}: {unresolved:?}"
    );
    victim.kill().unwrap();
    victim.wait().unwrap();
}
