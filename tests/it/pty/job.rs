//! Stopped and continued: by Ctrl-Z under a shell, without one, and from outside.

use rustix::process::Signal;

use super::harness::Start;

/// A shell with job control that runs the program, says that it has the terminal back, and
/// continues the job when it is told to.
const SHELL: &str = r#"set -m
"$PROGRAM"
echo "the shell has it: $(stty -a | grep -c -e ' icanon')"
read line
fg >/dev/null
echo "ended with $?""#;

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let mut terminal = Start::in_a_shell(SHELL).live();
    terminal.press("\x1a");
    terminal.sees("the shell has it: 1");
    terminal.with_seen(|seen| assert!(!seen.is_entered(), "{}", seen.text()));
    terminal.press("\n");
    terminal.sees("LIVE");
    terminal.with_seen(|seen| assert!(seen.is_entered()));
    terminal.helps();
    terminal.quits_to_the_shell();
}

#[test]
fn without_a_shell_ctrl_z_stops_nothing() {
    let mut terminal = Start::program().start();
    terminal.has_started();
    terminal.press("\x1a");
    terminal.helps();
    terminal.quits();
}

#[test]
fn continued_from_outside_it_draws_everything_anew() {
    let mut terminal = Start::program().live();
    terminal.signal(Signal::STOP);
    let drawn = terminal.with_seen(|seen| seen.raw.len());
    terminal.signal(Signal::CONT);
    let again = terminal.wait_for("a whole frame", crate::support::DEADLINE, |seen| {
        let since = &seen.raw[drawn..];
        since.windows(8).any(|bytes| bytes == b"\x1b[?1049h")
            && String::from_utf8_lossy(since).contains("LIVE")
    });
    again.unwrap();
    terminal.quits();
}

/// A shell that starts the program in the background, and brings it to the front when told to.
const BACKGROUND: &str = r#"set -m
"$PROGRAM" &
echo "started behind"
read line
fg >/dev/null
echo "ended with $?""#;

#[test]
fn started_in_the_background_it_waits_for_the_terminal() {
    let mut terminal = Start::in_a_shell(BACKGROUND).start();
    terminal.sees("started behind");
    terminal.with_seen(|seen| assert!(!seen.is_entered(), "{}", seen.text()));
    terminal.press("\n");
    terminal.has_started();
    terminal.quits_to_the_shell();
}
