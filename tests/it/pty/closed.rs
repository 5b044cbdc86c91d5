//! A terminal that is closed, as a dropped SSH connection closes it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use super::harness::{Controls, Start, Terminal};
use crate::support::{DEADLINE, Watch};

/// Set for the process that holds the terminal, which is this test again: only when a process is
/// gone with all its descriptors is its terminal closed.
const HOLDS: &str = "MCPWAKE_TEST_HOLDS_TERMINAL";

#[test]
fn a_closed_terminal_hangs_up() {
    leaves_no_process("a_closed_terminal_hangs_up", Controls::Yes);
}

#[test]
fn a_closed_terminal_is_noticed_without_a_signal() {
    leaves_no_process("a_closed_terminal_is_noticed_without_a_signal", Controls::No);
}

fn leaves_no_process(test: &str, controls: Controls) {
    if std::env::var_os(HOLDS).is_some() {
        return hold(&Start::program().controlled(controls).start());
    }
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", &format!("pty::closed::{test}")])
        .env(HOLDS, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let pid = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("HOLDS ").map(|pid| pid.parse::<u32>().unwrap()));
    let watch = Watch::new(pid.unwrap());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(watch.is_gone_within(DEADLINE), "{pid:?} is still there");
}

fn hold(terminal: &Terminal) {
    terminal.has_started();
    // On its own line, whatever the test harness has begun one with.
    let line = format!("\nHOLDS {}\n", terminal.pid());
    std::io::stdout().write_all(line.as_bytes()).unwrap();
    let (_keep, forever) = channel::<()>();
    let _ = forever.recv();
}
