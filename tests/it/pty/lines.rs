//! What other processes wrote reaches the terminal escaped: no sequence of theirs, raw.

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::harness::Start;
use crate::support::Home;

/// A sequence that clears the screen, one that sets the title, a C1 control, a reversal of
/// direction, and a mark at each end.
const HOSTILE: &str = "hostile-\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}-end";
/// The kernel keeps 15 bytes of a program's name, whatever they are.
const NAME: &str = "co\u{1b}[31m\u{7}mm";

#[test]
fn escape_sequences_of_a_process_never_reach_the_terminal() {
    let home = Home::new();
    let (program, folder) = (home.path().join(NAME), home.path().join(HOSTILE));
    symlink("/bin/sh", &program).unwrap();
    std::fs::create_dir(&folder).unwrap();
    // The name of the process comes from the link, its first argument is free.
    let mut child = Command::new(&program)
        .arg0(HOSTILE)
        .args(["-c", "read line", HOSTILE])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut terminal = Start::program().sized(150, 50).live();
    // All processes, of which only this one and its ancestors; the last row is this one.
    terminal.press("a");
    terminal.press(&format!("/pid:{}\r", child.id()));
    terminal.sees(&format!("pid:{}", child.id()));
    terminal.press("G1");
    terminal.sees("hostile-");
    terminal.sees("-end");
    // Every pane, and the explanation.
    terminal.press("2345e");
    terminal.sees("argv");
    terminal.signal(rustix::process::Signal::TERM);
    terminal.ends();
    child.kill().unwrap();
    child.wait().unwrap();
    terminal.with_seen(|seen| {
        let raw = String::from_utf8_lossy(&seen.raw).into_owned();
        for (sequence, what) in [
            ("\u{1b}]0;owned", "a title was set"),
            ("\u{9b}", "a C1 control"),
            ("\u{202e}", "a reversal of direction"),
            ("\u{7}", "a bell"),
            ("hostile-\u{1b}[2J", "an argument as it was"),
            ("co\u{1b}[31m", "a name as it was"),
        ] {
            assert!(!raw.contains(sequence), "{what}");
        }
    });
}
