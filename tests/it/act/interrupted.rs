//! Signals that are under way when the program ends: killed between entry and signal, or asked to quit.

use rustix::process::Signal;

use super::desk::{State, code};
use super::kit::{Nature, Stage};

#[test]
fn killed_between_entry_and_signal_the_next_run_shows_it_as_unresolved() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Plain);
    let mut desk = kept.started(kept.program(&[]).with("MCPWAKE_TEST_HALT", "announced"));
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    desk.confirms(&code(server.pid));
    desk.journals_signals(&[format!("about_to_signal TERM {}", server.pid)]);
    desk.terminal.signal(Signal::KILL);
    assert!(!desk.terminal.ends().success());
    assert!(server.lives());
    kept.verifies();

    let mut desk = kept.start();
    desk.selects(server.pid, "SEVERED");
    desk.key("i");
    desk.sees("title (empty: OPS-1412):");
    desk.key("\r");
    desk.sees("is open in");
    desk.leaves("is open in");
    desk.sees(&format!(
        "unresolved: TERM to {} (git): no outcome is journalled, look again",
        server.pid
    ));
    desk.key("q");
    desk.sees("quit?");
    desk.sees(&format!("git {}: 1 signal without an outcome", server.pid));
    desk.key("y");
    assert!(desk.terminal.ends().success());
    assert!(server.lives());
    kept.verifies();
}

#[test]
fn to_quit_while_a_signal_is_under_way_asks_first() {
    let (mut stage, kept) = (Stage::new(), State::new());
    let server = stage.severed(Nature::Deaf);
    // Long enough for the question to be asked meanwhile, however loaded the machine is.
    std::fs::write(kept.path().join("config.toml"), "second_look_ms = 60000\n").unwrap();
    let config = kept.path().join("config.toml").display().to_string();
    let mut desk = kept.started(kept.program(&["--config", &config]));
    desk.selects(server.pid, "SEVERED");
    desk.asks_to_end(server.pid);
    desk.confirms(&code(server.pid));
    desk.sees(&format!("TERM git {}: sent; second look at ", server.pid));
    desk.leaves("Esc hides this");
    desk.key("q");
    desk.sees("quit?");
    desk.sees(&format!("TERM to git {} was sent: second look in ", server.pid));
    desk.leaves("quit?");
    desk.key("q");
    desk.sees("quit?");
    desk.key("y");
    assert!(desk.terminal.ends().success());
    let pid = server.pid;
    assert_eq!(
        kept.signals(),
        [format!("about_to_signal TERM {pid}"), format!("sent TERM {pid}")]
    );
    kept.verifies();
}
