//! The screen over what was saved.

use std::process::Command;

use super::harness::Start;
use crate::support::Home;

#[test]
fn a_snapshot_opens_read_only_with_its_time() {
    let home = Home::new();
    let file = home.path().join("one.json");
    let program = env!("CARGO_BIN_EXE_mcpwake");
    let taken = Command::new(program)
        .args(["snapshot", "-o"])
        .arg(&file)
        .env_clear()
        .envs(home.variables())
        .output()
        .unwrap();
    assert!(taken.status.success(), "{taken:?}");
    for way in [
        format!("exec '{program}' open '{}'", file.display()),
        format!("cat '{}' | '{program}' open -", file.display()),
    ] {
        let mut terminal = Start::words(&["/bin/sh", "-c", &way]).start();
        terminal.sees("SAVED");
        terminal.sees("READ-ONLY");
        terminal.helps();
        terminal.press("q");
        assert!(terminal.ends().success(), "{way}");
    }
}

#[test]
fn what_is_no_snapshot_is_said_before_the_screen() {
    let home = Home::new();
    let file = home.path().join("torn.json");
    std::fs::write(&file, "{\"schema\":\"mcpwake.snap").unwrap();
    let program = env!("CARGO_BIN_EXE_mcpwake");
    let said = Command::new(program)
        .arg("open")
        .arg(&file)
        .env_clear()
        .envs(home.variables())
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("torn.json"),
        "{said:?}"
    );
}
