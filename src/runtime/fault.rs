//! Faults of the program itself: what a panic does to the screen, and panics that tests ask for.

use std::sync::OnceLock;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::terminal;

/// Where the panic hook sends the message of a thread that is not the screen's.
static FAULTS: OnceLock<UnboundedSender<String>> = OnceLock::new();

/// Sets the panic hook. A panic of the screen's own thread restores the terminal before it is
/// printed. One of another thread is handed to the loop, which restores and reports: two threads
/// never write to the terminal at once.
pub(super) fn catch() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    let screen = std::thread::current().id();
    let _ = FAULTS.set(sender);
    let printing = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let other = std::thread::current().id() != screen;
        if other
            && FAULTS
                .get()
                .is_some_and(|faults| faults.send(info.to_string()).is_ok())
        {
            return;
        }
        terminal::restore();
        printing(info);
    }));
    receiver
}

/// Panics where a test asks for it by `MCPWAKE_TEST_PANIC=screen` or `=collector`; goes no further, for
/// ever, where it asks for that by `MCPWAKE_TEST_HALT=announced`: the program can be killed there. In
/// debug builds only, a release build does not read the variables.
#[cfg(debug_assertions)]
pub(super) fn point(place: &str) {
    let asked = |variable| std::env::var(variable).is_ok_and(|wanted| wanted == place);
    assert!(
        !asked("MCPWAKE_TEST_PANIC"),
        "asked for by MCPWAKE_TEST_PANIC={place}"
    );
    while asked("MCPWAKE_TEST_HALT") {
        std::thread::park();
    }
}

/// Does nothing: faults are injected in debug builds only.
#[cfg(not(debug_assertions))]
pub(super) fn point(_place: &str) {}
