//! What the program would use here: terminal, clipboard, open files.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use crate::platform::limits;
use crate::report::doctor::{Answer, Check};
use crate::runtime::caps::Surroundings;
use crate::runtime::clipboard::{self, Way};

/// With fewer open files than this, samples are taken the slow way and nothing much else fits.
const FEW_FILES: u64 = 256;

/// Returns the answers. `over_ssh`: a sample shows a session over SSH.
pub(super) fn checks(over_ssh: bool) -> Vec<Check> {
    let surroundings = Surroundings::of_this_process();
    let screen = surroundings.is_terminal_type();
    vec![
        terminal(
            &surroundings,
            io::stdin().is_terminal() && io::stdout().is_terminal(),
        ),
        way(screen, clipboard::way_from_here(over_ssh), on_path("tmux")),
        open_files(limits::open_files()),
    ]
}

fn terminal(surroundings: &Surroundings, here: bool) -> Check {
    let check = |answer, seen: String| Check::new("terminal", "terminal, colour", answer, seen);
    let term = surroundings.term.as_deref().map_or("not set", word);
    if !surroundings.is_terminal_type() {
        let seen = format!("TERM is {term}: no screen, so the live screen cannot be shown");
        return check(Answer::Unsupported, seen)
            .advised("set TERM to what the terminal is; `mcpwake list` works without");
    }
    let capabilities = surroundings.capabilities(false);
    let mut parts = vec![format!("TERM {term}"), capabilities.colours().to_owned()];
    if surroundings.no_color {
        parts.push("NO_COLOR is set".to_owned());
    }
    parts.push(
        if capabilities.ascii {
            "ASCII: no UTF-8 locale, or a terminal without"
        } else {
            "UTF-8"
        }
        .to_owned(),
    );
    if !here {
        parts.push("input or output is no terminal now".to_owned());
    }
    check(Answer::Works, parts.join("; "))
}

/// Only a name as terminals have it is repeated.
fn word(term: &str) -> &str {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte);
    if term.len() <= 32 && term.bytes().all(plain) {
        term
    } else {
        "an odd value"
    }
}

fn way(screen: bool, way: Way, tmux: bool) -> Check {
    let check = |answer, seen: &str| Check::new("clipboard", "clipboard", answer, seen);
    match way {
        _ if !screen => check(
            Answer::Unsupported,
            "none: the terminal has no screen; nothing was written",
        ),
        Way::Tmux if tmux => check(
            Answer::Works,
            "by tmux, into its buffer and its terminal; nothing was written",
        ),
        Way::Tmux => check(
            Answer::Failed,
            "TMUX is set, and no tmux is on the PATH; it drops OSC 52 by default",
        )
        .advised("put tmux on the PATH, or copy from the plain view"),
        Way::Terminal { screen: true } => check(
            Answer::Works,
            "by OSC 52 through GNU screen; no answer comes; nothing was written",
        ),
        Way::Terminal { screen: false } => check(
            Answer::Works,
            "by OSC 52 to the terminal; no answer comes; nothing was written",
        ),
        Way::Desktop => check(Answer::Works, "the desktop's; nothing was written"),
    }
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::is_file(&folder.join(program)))
}

fn open_files(limit: limits::OpenFiles) -> Check {
    let check = |answer, seen: String| Check::new("open_files", "limit on open files", answer, seen);
    let number = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    let seen = format!("{}, at most {}", number(limit.soft), number(limit.hard));
    match limit.soft {
        Some(soft) if soft < FEW_FILES => {
            check(Answer::Failed, format!("{seen}: too few")).advised("raise it: `ulimit -n 1024`")
        }
        _ => check(Answer::Works, seen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(term: Option<&str>) -> Surroundings {
        Surroundings {
            term: term.map(str::to_owned),
            locale: Some("C.UTF-8".to_owned()),
            ..Surroundings::default()
        }
    }

    #[test]
    fn the_terminal_is_told_as_the_screen_takes_it() {
        let cases = [
            (Some("xterm-256color"), Answer::Works, "256 colours"),
            (Some("vt100"), Answer::Works, "no colour"),
            (Some("dumb"), Answer::Unsupported, "TERM is dumb"),
            (None, Answer::Unsupported, "TERM is not set"),
            (Some("/home/alice"), Answer::Works, "an odd value"),
        ];
        for (term, answer, words) in cases {
            let check = terminal(&surroundings(term), true);
            assert_eq!(check.answer, answer, "{term:?}");
            assert!(check.seen.contains(words), "{}", check.seen);
        }
        assert!(
            terminal(&surroundings(Some("xterm")), false)
                .seen
                .contains("no terminal now")
        );
    }

    #[test]
    fn the_clipboard_is_told_with_what_is_missing() {
        let osc = Way::Terminal { screen: false };
        assert_eq!(way(true, osc, false).answer, Answer::Works);
        assert_eq!(way(false, osc, false).answer, Answer::Unsupported);
        assert_eq!(way(true, Way::Tmux, true).answer, Answer::Works);
        assert_eq!(way(true, Way::Tmux, false).answer, Answer::Failed);
    }

    #[test]
    fn few_open_files_are_said() {
        let of = |soft| open_files(limits::OpenFiles { soft, hard: None }).answer;
        assert_eq!(of(Some(64)), Answer::Failed);
        assert_eq!(of(Some(1024)), Answer::Works);
        assert_eq!(of(None), Answer::Works);
    }
}
