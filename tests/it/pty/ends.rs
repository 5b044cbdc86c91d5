//! Every way in which the screen ends, and what it leaves behind.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use rustix::process::Signal;

use super::harness::{Start, Terminal};
use crate::support::DEADLINE;

#[test]
fn keys_that_quit() {
    for key in ["q", "\x03", "\x1b[21~"] {
        let mut terminal = Start::program().start();
        terminal.has_started();
        assert!(!terminal.has_first_modes(), "raw mode is on");
        terminal.press(key);
        assert!(terminal.ends().success(), "{key:?}");
        terminal.is_restored();
    }
}

#[test]
fn signals_that_end_it_restore_the_terminal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut terminal = Start::program().start();
        terminal.has_started();
        terminal.signal(signal);
        assert!(terminal.ends().success(), "{signal:?}");
        terminal.is_restored();
    }
}

#[test]
fn a_panic_leaves_a_terminal_and_a_message() {
    for place in ["screen", "collector"] {
        let mut terminal = Start::program().with("MCPWAKE_TEST_PANIC", place).start();
        let status = terminal.ends();
        assert!(
            !status.success() && status.signal().is_none(),
            "{place}: {status:?}"
        );
        terminal.is_restored();
        let wanted = format!("asked for by MCPWAKE_TEST_PANIC={place}");
        terminal.with_seen(|seen| assert!(seen.text().contains(&wanted), "{place}: {}", seen.text()));
    }
}

/// Fills the terminal's buffer, which nobody reads, and becomes the program: its first frame does
/// not arrive.
const STALLED: &str = r#"dd if=/dev/zero of=/dev/tty bs=512 oflag=nonblock 2>/dev/null; exec "$PROGRAM""#;

#[test]
fn a_stalled_line_keeps_neither_keys_nor_signals() {
    for signal in [None, Some(Signal::TERM)] {
        let mut terminal = Start::words(&["/bin/sh", "-c", STALLED])
            .with("PROGRAM", env!("CARGO_BIN_EXE_mcpwake"))
            .unread()
            .start();
        terminal.enters_raw_mode();
        match signal {
            Some(signal) => terminal.signal(signal),
            None => terminal.press("q"),
        }
        assert!(terminal.ends().success(), "{signal:?}");
        assert!(terminal.has_first_modes());
    }
}

/// Set for the process that holds the terminal in the test below.
const HOLDS: &str = "MCPWAKE_TEST_HOLDS_TERMINAL";

#[cfg(target_os = "linux")]
/// The test runs itself again, as the process that holds the terminal: only when that process is
/// gone with all its descriptors is the terminal closed as a dropped SSH connection closes it.
#[test]
fn a_closed_terminal_leaves_no_process() {
    if std::env::var_os(HOLDS).is_some() {
        return hold(&Start::program().start());
    }
    let this = "pty::ends::a_closed_terminal_leaves_no_process";
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
    let watch = crate::support::Watch::new(pid);
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
