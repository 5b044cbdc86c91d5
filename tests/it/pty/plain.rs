//! Terminals that can do less, and none at all.

use std::process::{Command, Output, Stdio};

use super::harness::Start;
use crate::support::Home;

fn refused(prepare: impl FnOnce(&mut Command) -> &mut Command) -> Output {
    let home = Home::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcpwake"));
    command
        .env_clear()
        .envs(home.variables())
        .env("TERM", "xterm")
        .stdin(Stdio::null());
    prepare(&mut command).output().unwrap()
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    let output = refused(|command| command);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("mcpwake list"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_terminal_without_a_screen_is_refused() {
    for start in [
        Start::program().with("TERM", "dumb"),
        Start::program().without("TERM"),
    ] {
        let mut terminal = start.start();
        assert_eq!(terminal.ends().exit_code(), 1);
        terminal.is_restored();
        terminal.with_seen(|seen| {
            assert!(
                seen.text().replace('\n', "").contains("mcpwake list"),
                "{}",
                seen.text()
            );
            assert!(!seen.raw.contains(&0x1b), "no sequence at all");
        });
    }
}

#[test]
fn without_a_utf8_locale_only_ascii_is_drawn() {
    for start in [
        Start::program().without("LANG"),
        Start::program().with("LC_ALL", "C"),
    ] {
        let mut terminal = start.live();
        terminal.helps();
        terminal.press("q");
        terminal.ends();
        terminal.with_seen(|seen| {
            let other: Vec<u8> = seen.raw.iter().copied().filter(|byte| !byte.is_ascii()).collect();
            assert!(other.is_empty(), "{}", String::from_utf8_lossy(&other));
        });
    }
}

/// The parameters of every SGR sequence (`ESC [ … m`), as numbers.
fn graphics(raw: &[u8]) -> Vec<Vec<u32>> {
    let pattern = regex::bytes::Regex::new(r"\x1b\[([0-9;:]*)m").unwrap();
    pattern
        .captures_iter(raw)
        .map(|found| {
            let parameters = String::from_utf8_lossy(&found[1]).into_owned();
            parameters
                .split([';', ':'])
                .map(|number| number.parse().unwrap_or(0))
                .collect()
        })
        .collect()
}

/// Whether a sequence sets a colour; 39 and 49 take it away.
fn colours(parameters: &[u32]) -> bool {
    parameters
        .iter()
        .any(|number| matches!(number, 30..=38 | 40..=48 | 90..=97 | 100..=107))
}

#[test]
fn no_color_and_a_vt100_have_no_colours() {
    for start in [
        Start::program().with("NO_COLOR", "1"),
        Start::program().with("TERM", "vt100"),
    ] {
        let mut terminal = start.live();
        terminal.press("q");
        terminal.ends();
        terminal.with_seen(|seen| {
            let coloured: Vec<_> = graphics(&seen.raw)
                .into_iter()
                .filter(|one| colours(one))
                .collect();
            assert!(coloured.is_empty(), "{coloured:?}");
        });
    }
}

#[test]
fn with_colours_there_are_some() {
    let mut terminal = Start::program().live();
    let coloured = terminal.wait_for("a colour", crate::support::DEADLINE, |seen| {
        graphics(&seen.raw).iter().any(|one| colours(one))
    });
    coloured.unwrap();
    terminal.press("q");
    terminal.ends();
}

#[test]
fn a_vt100_is_sent_nothing_that_it_does_not_know() {
    let mut terminal = Start::program().with("TERM", "vt100").live();
    terminal.press("q");
    terminal.ends();
    terminal.with_seen(|seen| {
        assert!(seen.raw.is_ascii());
        assert!(
            !String::from_utf8_lossy(&seen.raw).contains("[?2004"),
            "no bracketed paste"
        );
    });
}
