//! Signals that are not sent: whatever is not the exact confirmation, or no longer what was seen.

use std::path::Path;

use super::desk::{State, code};
use super::kit::{Nature, Stage};
use crate::support::public::{NOBODY, Public};

#[test]
fn one_that_has_become_another_program_gets_nothing() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    server.becomes_another();
    desk.confirms(&code(server.pid));
    desk.sees("still there; nothing was sent: its argument vector is not the one");
    let pid = server.pid;
    desk.journals_signals(&[
        format!("about_to_signal TERM {pid}"),
        format!("outcome TERM {pid} still_there"),
    ]);
    assert!(server.lives());
    desk.quits();
    kept.verifies();
}

#[test]
fn one_that_became_another_before_the_dialog_closes_it() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.key("Z");
    desk.sees("FROZEN");
    server.becomes_another();
    desk.key("T");
    desk.titles();
    desk.sees("closed, nothing was sent");
    desk.sees("is not what was seen: its command line changed");
    assert!(server.lives());
    assert_eq!(kept.signals(), Vec::<String>::new());
    desk.quits();
}

#[test]
fn one_that_ended_since_the_view_was_frozen_gets_nothing() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.key("Z");
    desk.sees("FROZEN");
    server.signal(rustix::process::Signal::KILL);
    // Until it was waited for, its pid is a zombie's: told in other words.
    super::kit::until(|| !std::path::Path::new(&format!("/proc/{}", server.pid)).exists());
    desk.key("T");
    desk.titles();
    desk.sees(&format!("closed, nothing was sent: {} is gone", server.pid));
    assert_eq!(kept.signals(), Vec::<String>::new());
    desk.quits();
}

#[test]
fn pasted_digits_never_count() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    let digits = code(server.pid);
    desk.types(&format!("\x1b[200~{digits}\x1b[201~"));
    desk.sees("pasted text never counts");
    desk.key("\r");
    desk.sees("Enter alone sends nothing");
    // With the end of line pasted along.
    desk.types(&format!("\x1b[200~{digits}\r\x1b[201~"));
    desk.sees("pasted text never counts");
    // One typed, the others pasted.
    let (first, rest) = digits.split_at(1);
    desk.types(&format!("{first}\x1b[200~{rest}\x1b[201~"));
    desk.key("\r");
    desk.sees("Enter alone sends nothing");
    assert!(server.lives());
    assert_eq!(kept.signals(), Vec::<String>::new());
    // Pasted by a terminal that does not say so.
    desk.types(&format!("{digits}\r"));
    desk.sees("digits and Enter came at once");
    assert!(server.lives());
    // The same digits, typed.
    desk.confirms(&digits);
    desk.sees(&format!("TERM git {}: exited after ", server.pid));
    server.ends();
    desk.quits();
}

#[test]
fn under_read_only_the_key_says_why_not() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.started(kept.program(&["--read-only"]));
    desk.selects(server.pid, "SEVERED");
    for key in ["T", "K", "\x1b[20~"] {
        desk.key(key);
        desk.sees("read-only: nothing is signalled");
        desk.leaves("read-only: nothing is signalled");
    }
    assert!(server.lives());
    assert!(!kept.path().join("mcpwake").exists());
    desk.quits();
}

#[test]
fn another_users_server_is_refused_by_the_system_and_that_is_on_record() {
    let another = match Public::copy(Path::new(env!("CARGO_BIN_EXE_mcpwake")), "--version") {
        Ok(another) => another,
        Err(why) => {
            println!("not tried: {why}");
            return;
        }
    };
    let (mut stage, kept) = (Stage::new(), State::new());
    std::os::unix::fs::chown(kept.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let server = stage.severed(Nature::Plain);
    let (user, program) = (NOBODY.to_string(), another.program().display().to_string());
    let words = [
        "setpriv",
        "--reuid",
        &user,
        "--regid",
        &user,
        "--clear-groups",
        &program,
    ];
    // A configuration that it may not read could ask for read-only.
    let own = another.own().display().to_string();
    let start = kept
        .command(&words)
        .with("HOME", &own)
        .with("XDG_CONFIG_HOME", &own);
    let mut desk = kept.started(start);
    desk.selects(server.pid, "unknown");
    desk.asks_to_end(server.pid);
    desk.confirms(&code(server.pid));
    desk.sees(&format!("TERM git {}: not permitted", server.pid));
    desk.sees("EPERM");
    let pid = server.pid;
    desk.journals_signals(&[
        format!("about_to_signal TERM {pid}"),
        format!("sent TERM {pid} refused"),
        format!("outcome TERM {pid} not_permitted"),
    ]);
    assert!(server.lives());
    desk.quits();
    kept.verifies();
}
