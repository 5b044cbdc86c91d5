//! Signals that are under way when the program ends: killed between entry and signal, or asked to quit.

use rustix::process::Signal;

use super::case::Case;
use super::kit::Nature;

#[test]
fn killed_between_entry_and_signal_the_next_run_shows_it_as_unresolved() {
    let case = Case::severed(Nature::Plain);
    let halted = case.kept.program(&[]).with("MCPWAKE_TEST_HALT", "announced");
    let mut desk = case.asked_in(halted);
    desk.confirms(&case.code());
    desk.journals_signals(&[format!("about_to_signal TERM {}", case.pid())]);
    desk.terminal.signal(Signal::KILL);
    assert!(!desk.terminal.ends().success());
    assert!(case.server.lives());
    case.kept.verifies();

    let mut desk = case.on_its_row();
    desk.key("i");
    desk.sees("title (empty: OPS-1412):");
    desk.key("\r");
    desk.sees("is open in");
    desk.leaves("is open in");
    desk.sees(&format!(
        "unresolved: TERM to {} (git): no outcome is journalled, look again",
        case.pid()
    ));
    desk.key("q");
    desk.sees("quit?");
    desk.sees(&format!("git {}: 1 signal without an outcome", case.pid()));
    desk.key("y");
    assert!(desk.terminal.ends().success());
    assert!(case.server.lives());
    case.kept.verifies();
}

#[test]
fn to_quit_while_a_signal_is_under_way_asks_first() {
    let case = Case::severed(Nature::Deaf);
    // Long enough for the question to be asked meanwhile, however loaded the machine is.
    std::fs::write(case.kept.path().join("config.toml"), "second_look_ms = 60000\n").unwrap();
    let config = case.kept.path().join("config.toml").display().to_string();
    let mut desk = case.asked_in(case.kept.program(&["--config", &config]));
    desk.confirms(&case.code());
    desk.sees(&format!("TERM git {}: sent; second look at ", case.pid()));
    desk.leaves("Esc hides this");
    desk.key("q");
    desk.sees("quit?");
    desk.sees(&format!("TERM to git {} was sent: second look in ", case.pid()));
    desk.leaves("quit?");
    desk.key("q");
    desk.sees("quit?");
    desk.key("y");
    assert!(desk.terminal.ends().success());
    let pid = case.pid();
    assert_eq!(
        case.kept.signals(),
        [format!("about_to_signal TERM {pid}"), format!("sent TERM {pid}")]
    );
    case.kept.verifies();
}
