//! What the screen shows while it runs: header, filter, help, sizes.

use std::time::Duration;

use super::harness::Start;

#[test]
fn waiting_for_what_never_comes_fails_with_the_screen() {
    let mut terminal = Start::words(&["/bin/sh", "-c", "echo here it is; read line"]).start();
    terminal.sees("here it is");
    let missed = terminal.wait_for("a unicorn", Duration::from_millis(300), |seen| {
        seen.text().contains("unicorn")
    });
    let why = missed.expect_err("there is no unicorn");
    assert!(why.contains("a unicorn") && why.contains("here it is"), "{why}");
    terminal.press("\n");
    terminal.ends();
    let after = terminal.wait_for("anything after the end", Duration::from_secs(20), |seen| {
        seen.text().contains("unicorn")
    });
    assert!(after.unwrap_err().contains("the terminal was closed"));
}

#[test]
fn the_screen_starts_filters_helps_and_quits() {
    let mut terminal = Start::program().live();
    terminal.press("/");
    terminal.press("no-such-server-anywhere");
    terminal.sees("no-such-server-anywhere");
    terminal.press("\x1b");
    terminal.sees_no("no-such-server-anywhere");
    terminal.helps();
    terminal.quits();
}

#[test]
fn every_size_is_useful_or_says_that_it_is_not() {
    let mut terminal = Start::program().live();
    terminal.resize(40, 10);
    terminal.sees("LIVE");
    terminal.resize(30, 8);
    terminal.sees("40x10");
    terminal.resize(120, 40);
    terminal.sees("LIVE");
    terminal.quits();
}

#[test]
fn pasted_text_runs_no_command() {
    let mut terminal = Start::program().start();
    terminal.has_started();
    terminal.press("\x1b[200~qqq\x1b[201~");
    terminal.helps();
    terminal.press("q");
    assert!(terminal.ends().success());
}

#[test]
fn a_slow_terminal_is_said_and_spared() {
    let terminal = Start::stalled().sized(120, 40).start();
    terminal.enters_raw_mode();
    // The line stalls for longer than a frame may take.
    let stalled = terminal.wait_for("nothing", Duration::from_millis(400), |_| false);
    assert!(stalled.is_err());
    terminal.reads_on();
    terminal.sees("the terminal took");
    // Fast again: the pace is the one that was asked for.
    terminal.sees_no("the terminal took");
}
