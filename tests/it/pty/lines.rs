//! What other processes wrote reaches the terminal escaped: no sequence of theirs, raw.

use std::process::{Command, Stdio};

use super::harness::Start;

/// A sequence that clears the screen, one that sets the title, a C1 control, a reversal of
/// direction, and a mark to find the row by.
const HOSTILE: &str = "hostile-\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}-end";

#[test]
fn escape_sequences_of_a_process_never_reach_the_terminal() {
    let mut child = Command::new("/bin/sh")
        .args(["-c", "read line", HOSTILE])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut terminal = Start::program().start();
    terminal.has_started();
    terminal.sees("LIVE");
    // All processes, and only this one: its command line has to be drawn.
    terminal.press("a");
    terminal.press("/");
    terminal.press(&format!("pid:{}", child.id()));
    terminal.press("\r");
    let shown = terminal.wait_for("the command line", crate::support::DEADLINE, |seen| {
        seen.text().contains("hostile-")
    });
    // Narrow columns may cut it: then the evidence has all of it.
    if shown.is_err() {
        terminal.press("1");
        terminal.sees("hostile-");
    }
    terminal.press("\x1b");
    terminal.press("q");
    terminal.signal(rustix::process::Signal::TERM);
    terminal.ends();
    child.kill().unwrap();
    child.wait().unwrap();
    terminal.with_seen(|seen| {
        let raw = String::from_utf8_lossy(&seen.raw).into_owned();
        assert!(!raw.contains("\u{1b}]0;owned"), "a title was set");
        assert!(!raw.contains('\u{9b}'), "a C1 control");
        assert!(!raw.contains('\u{202e}'), "a reversal of direction");
        assert!(!raw.contains("hostile-\u{1b}"), "a sequence as it was");
    });
}
