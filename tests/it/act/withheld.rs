//! Signals that are not sent: whatever is not the exact confirmation, or no longer what was seen.

use std::path::Path;

use super::case::Case;
use super::kit::Nature;
use crate::support::public::{NOBODY, Public};

#[test]
fn one_that_has_become_another_program_gets_nothing() {
    let case = Case::severed(Nature::Plain);
    let mut desk = case.asked();
    case.server.becomes_another();
    desk.confirms(&case.code());
    desk.sees("still there; nothing was sent: its argument vector is not the one");
    let pid = case.pid();
    desk.journals_signals(&[
        format!("about_to_signal TERM {pid}"),
        format!("outcome TERM {pid} still_there"),
    ]);
    assert!(case.server.lives());
    case.closes(desk);
}

#[test]
fn one_that_became_another_before_the_dialog_closes_it() {
    let case = Case::severed(Nature::Plain);
    let mut desk = case.on_its_frozen_row();
    case.server.becomes_another();
    desk.key("T");
    desk.titles();
    desk.sees("closed, nothing was sent");
    desk.sees("is not what was seen: its command line changed");
    assert!(case.server.lives());
    case.nothing_is_announced();
    desk.quits();
}

#[test]
fn one_that_ended_since_the_view_was_frozen_gets_nothing() {
    let case = Case::severed(Nature::Plain);
    let mut desk = case.on_its_frozen_row();
    case.server.signal(rustix::process::Signal::KILL);
    // Until it was waited for, its pid is a zombie's: told in other words.
    super::kit::until(|| !std::path::Path::new(&format!("/proc/{}", case.pid())).exists());
    desk.key("T");
    desk.titles();
    desk.sees(&format!("closed, nothing was sent: {} is gone", case.pid()));
    case.nothing_is_announced();
    desk.quits();
}

#[test]
fn pasted_digits_never_count() {
    let case = Case::severed(Nature::Plain);
    let mut desk = case.asked();
    let digits = case.code();
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
    assert!(case.server.lives());
    case.nothing_is_announced();
    // Pasted by a terminal that does not say so.
    desk.types(&format!("{digits}\r"));
    desk.sees("digits and Enter came at once");
    assert!(case.server.lives());
    // The same digits, typed.
    desk.confirms(&digits);
    case.exits_of(&desk, "TERM");
    desk.quits();
}

#[test]
fn under_read_only_the_key_says_why_not() {
    let case = Case::severed(Nature::Plain);
    let mut desk = case.on_its_row_in(case.kept.program(&["--read-only"]));
    for key in ["T", "K", "\x1b[20~"] {
        desk.key(key);
        desk.sees("read-only: nothing is signalled");
        desk.leaves("read-only: nothing is signalled");
    }
    assert!(case.server.lives());
    assert!(!case.kept.path().join("mcpwake").exists());
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
    let case = Case::severed(Nature::Plain);
    std::os::unix::fs::chown(case.kept.path(), Some(NOBODY), Some(NOBODY)).unwrap();
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
    let start = case
        .kept
        .command(&words)
        .with("HOME", &own)
        .with("XDG_CONFIG_HOME", &own);
    let mut desk = case.kept.started(start);
    desk.selects(case.pid(), "unknown");
    desk.asks_to_end(case.pid());
    desk.confirms(&case.code());
    desk.sees(&format!("TERM git {}: not permitted", case.pid()));
    desk.sees("EPERM");
    let pid = case.pid();
    desk.journals_signals(&[
        format!("about_to_signal TERM {pid}"),
        format!("sent TERM {pid} refused"),
        format!("outcome TERM {pid} not_permitted"),
    ]);
    assert!(case.server.lives());
    case.closes(desk);
}
