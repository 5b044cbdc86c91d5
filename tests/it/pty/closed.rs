//! A terminal that closes without a word, as a dropped connection closes it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use super::harness::{Start, Terminal};
use crate::support::{DEADLINE, Watch};

/// Set for the process that holds the terminal in the test below.
const HOLDS: &str = "MCPWAKE_TEST_HOLDS_TERMINAL";

/// The test runs itself again, as the process that holds the terminal: only when that process is
/// gone with all its descriptors is the terminal closed as a dropped SSH connection closes it.
#[test]
fn a_closed_terminal_leaves_no_process() {
    if std::env::var_os(HOLDS).is_some() {
        return hold(&Start::program().start());
    }
    let this = "pty::closed::a_closed_terminal_leaves_no_process";
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", this])
        .env(HOLDS, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let pid = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("HOLDS ").map(|pid| pid.parse::<u32>().unwrap()));
    let pid = pid.expect("the holder names the program");
    let watch = Watch::new(pid);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(watch.is_gone_within(DEADLINE), "{pid} is still there");
}

fn hold(terminal: &Terminal) {
    terminal.has_started();
    // On its own line, whatever the test harness has begun one with.
    let line = format!("\nHOLDS {}\n", terminal.pid());
    std::io::stdout().write_all(line.as_bytes()).unwrap();
    let (_keep, forever) = channel::<()>();
    let _ = forever.recv();
}
