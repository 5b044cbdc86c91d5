//! Every way in which the screen ends, and what it leaves behind.

use rustix::process::Signal;

use super::harness::{Controls, Start};

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
fn a_terminal_that_controls_nothing_is_one() {
    let mut terminal = Start::program().controlled(Controls::No).start();
    terminal.has_started();
    terminal.quits();
}

#[test]
fn signals_that_end_it_restore_the_terminal() {
    for signal in [
        Signal::TERM,
        Signal::HUP,
        Signal::INT,
        Signal::QUIT,
        Signal::ALARM,
        Signal::USR1,
        Signal::USR2,
    ] {
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

#[test]
fn a_stalled_line_keeps_neither_keys_nor_signals() {
    for signal in [None, Some(Signal::TERM)] {
        let mut terminal = Start::stalled().start();
        terminal.enters_raw_mode();
        match signal {
            Some(signal) => terminal.signal(signal),
            None => terminal.press("q"),
        }
        assert!(terminal.ends().success(), "{signal:?}");
        assert!(terminal.has_first_modes());
    }
}
