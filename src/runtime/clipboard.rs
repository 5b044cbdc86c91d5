//! Ways to a clipboard: through tmux, through the terminal (OSC 52), or the desktop's own. Decides
//! by the environment; says "sent" where no answer comes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;

/// Longest payload that terminals take, in base64: what xterm and its kin accept of one sequence.
const LONGEST: usize = 74_994;

/// GNU screen drops strings of 768 bytes and more: `MAXSTR` in its sources.
const SCREEN_CHUNK: usize = 760;

/// The variables that decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Surroundings {
    within: Within,
    /// Over SSH: `SSH_CONNECTION`, `SSH_TTY`, or an ancestor says so.
    ssh: bool,
    /// A desktop is there: `DISPLAY`, `WAYLAND_DISPLAY`.
    desktop: bool,
    /// The terminal is known to drop OSC 52, or long known to: macOS's own (`TERM_PROGRAM`), those made of
    /// VTE (`VTE_VERSION`), a console or a terminal of the old kind (`TERM`).
    deaf: bool,
}

/// What stands between the program and its terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    /// Nothing that is known.
    #[default]
    Nothing,
    /// tmux, whose socket is known: `TMUX`.
    Tmux,
    /// GNU screen: `STY`.
    Screen,
    /// One of them by `TERM`; sudo has taken its variable away.
    Hidden,
}

/// A way to a clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `tmux load-buffer -w -`: tmux drops OSC 52 of programs, as it is set up by default.
    Tmux,
    /// OSC 52, inside GNU screen's own wrapping where `screen`.
    Terminal {
        /// Whether GNU screen stands between.
        screen: bool,
    },
    /// The desktop's clipboard.
    Desktop,
}

/// Returns the way that a copy would go from here, by the environment and by whether a sample shows a session
/// over SSH. Opens nothing, writes nothing.
pub fn way_from_here(over_ssh: bool) -> Way {
    let mut surroundings = Surroundings::of_this_process();
    surroundings.ssh |= over_ssh;
    surroundings.way()
}

impl Surroundings {
    /// Reads them from this process's environment.
    pub(super) fn of_this_process() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let term = std::env::var("TERM").unwrap_or_default();
        let multiplexed = ["tmux", "screen"].iter().any(|name| term.starts_with(name));
        let within = match (is_set("TMUX"), is_set("STY"), multiplexed) {
            (true, ..) => Within::Tmux,
            (_, true, _) => Within::Screen,
            (.., true) => Within::Hidden,
            (.., false) => Within::Nothing,
        };
        Self {
            within,
            ssh: is_set("SSH_CONNECTION") || is_set("SSH_TTY"),
            desktop: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
            deaf: is_set("VTE_VERSION")
                || std::env::var("TERM_PROGRAM").is_ok_and(|program| program == "Apple_Terminal")
                || ["linux", "vt", "ansi"].iter().any(|kind| term.starts_with(kind)),
        }
    }

    /// Chooses the way.
    fn way(self) -> Way {
        match self.within {
            Within::Tmux => Way::Tmux,
            Within::Screen => Way::Terminal { screen: true },
            Within::Nothing if self.desktop && !self.ssh => Way::Desktop,
            Within::Nothing | Within::Hidden => Way::Terminal { screen: false },
        }
    }
}

/// What became of a copy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// What to tell the operator.
    pub(super) said: String,
    /// Bytes for the terminal.
    pub(super) terminal: Option<Vec<u8>>,
}

/// The ways, and what has to stay open for one of them.
pub(super) struct Clipboard {
    surroundings: Surroundings,
    /// On X11 and Wayland the program itself hands out what it has copied, as long as it runs.
    desktop: Option<arboard::Clipboard>,
}

impl Clipboard {
    /// Returns the clipboard of these surroundings; opens nothing yet.
    pub(super) fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            desktop: None,
        }
    }

    /// Tells what a sample shows of the way here: under sudo the variables are gone.
    pub(super) fn over_ssh(&mut self) {
        self.surroundings.ssh = true;
    }

    /// Puts text into the clipboard, or says what was done towards it.
    pub(super) fn place(&mut self, text: &str) -> Placed {
        let failed = match self.surroundings.way() {
            Way::Tmux => match tmux(text) {
                Ok(said) => return told(said),
                Err(why) => format!("tmux did not take it ({why}); "),
            },
            Way::Desktop => match self.desktop(text) {
                Ok(()) => return told("in the clipboard".to_owned()),
                Err(why) => format!("the desktop's clipboard did not take it ({why}); "),
            },
            Way::Terminal { .. } => String::new(),
        };
        let Some(bytes) = osc52(text, self.surroundings.within == Within::Screen) else {
            let bytes = text.len();
            let most = LONGEST / 4 * 3;
            return told(format!(
                "{failed}not sent: {bytes} bytes, a terminal takes {most}; P shows rows and panes plain"
            ));
        };
        let doubt = if self.surroundings.within == Within::Hidden {
            ", which is a multiplexer and may drop it: P shows it plain"
        } else if self.surroundings.deaf {
            ", which may drop it: P shows it plain"
        } else {
            ""
        };
        Placed {
            said: format!("{failed}sent to the terminal{doubt}"),
            terminal: Some(bytes),
        }
    }

    fn desktop(&mut self, text: &str) -> Result<(), arboard::Error> {
        let clipboard = match &mut self.desktop {
            Some(clipboard) => clipboard,
            none => none.insert(arboard::Clipboard::new()?),
        };
        clipboard.set_text(text)
    }
}

fn told(said: String) -> Placed {
    Placed { said, terminal: None }
}

/// Loads tmux's buffer, and has it sent on to tmux's own terminal.
fn tmux(text: &str) -> Result<String, String> {
    if load_buffer(&["load-buffer", "-w", "-"], text).is_ok() {
        return Ok("in tmux's buffer, and sent to its terminal".to_owned());
    }
    // tmux before 3.2 knows no `-w`.
    load_buffer(&["load-buffer", "-"], text).map(|()| "in tmux's buffer only".to_owned())
}

fn load_buffer(arguments: &[&str], text: &str) -> Result<(), String> {
    let mut child = Command::new("tmux")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // Where tmux does not read to the end, its own message says more.
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// Returns the sequence that puts text into the clipboard of a terminal (xterm's control
/// sequences, OSC 52); `None` where it is more than a terminal takes.
fn osc52(text: &str, in_screen: bool) -> Option<Vec<u8>> {
    let payload = base64::engine::general_purpose::STANDARD.encode(text);
    if payload.len() > LONGEST {
        return None;
    }
    // Ended by BEL: inside a device control string ESC \ would end that string.
    let sequence = format!("\x1b]52;c;{payload}\x07").into_bytes();
    if !in_screen {
        return Some(sequence);
    }
    let wrapped = sequence
        .chunks(SCREEN_CHUNK)
        .flat_map(|chunk| [b"\x1bP", chunk, b"\x1b\\"].concat());
    Some(wrapped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_follows_the_surroundings() {
        let of = |within, ssh, desktop| {
            let surroundings = Surroundings {
                within,
                ssh,
                desktop,
                deaf: false,
            };
            surroundings.way()
        };
        let terminal = Way::Terminal { screen: false };
        assert_eq!(of(Within::Nothing, false, false), terminal, "a console");
        assert_eq!(of(Within::Nothing, false, true), Way::Desktop);
        // A forwarded display is not the operator's clipboard.
        assert_eq!(of(Within::Nothing, true, true), terminal);
        assert_eq!(of(Within::Tmux, true, true), Way::Tmux);
        assert_eq!(of(Within::Screen, false, true), Way::Terminal { screen: true });
        assert_eq!(of(Within::Hidden, false, true), terminal);
    }

    fn decoded(sequence: &[u8]) -> Vec<u8> {
        let payload = sequence
            .strip_prefix(b"\x1b]52;c;")
            .and_then(|rest| rest.strip_suffix(b"\x07"))
            .expect("one OSC 52");
        base64::engine::general_purpose::STANDARD
            .decode(payload)
            .expect("base64")
    }

    #[test]
    fn a_terminal_is_sent_the_exact_bytes() {
        let text = "| a | \u{e9}\u{1f41d} |\n";
        assert_eq!(decoded(&osc52(text, false).expect("short")), text.as_bytes());
    }

    #[test]
    fn screen_is_sent_short_strings_that_add_up() {
        let text = "x".repeat(10_000);
        let bytes = osc52(&text, true).expect("short enough");
        let mut sequence = Vec::new();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            rest = rest.strip_prefix(b"\x1bP").expect("the beginning of a string");
            let end = rest
                .windows(2)
                .position(|pair| pair == b"\x1b\\")
                .expect("the end of a string");
            assert!(end < 768, "{end}");
            sequence.extend_from_slice(&rest[..end]);
            rest = &rest[end + 2..];
        }
        assert_eq!(decoded(&sequence), text.as_bytes());
    }

    #[test]
    fn what_a_terminal_does_not_take_is_not_sent_and_said() {
        let longest = "x".repeat(LONGEST / 4 * 3);
        assert!(osc52(&longest, false).is_some());
        assert_eq!(osc52(&format!("{longest}xxx"), false), None);
        let placed = Clipboard::new(Surroundings::default()).place(&"x".repeat(60_000));
        assert_eq!(placed.terminal, None);
        assert!(
            placed.said.starts_with("not sent: 60000 bytes"),
            "{}",
            placed.said
        );
    }

    #[test]
    fn a_terminal_that_does_not_answer_is_never_said_to_have_copied() {
        let cases = [
            (Within::Nothing, false, false),
            (Within::Hidden, false, true),
            (Within::Nothing, true, true),
        ];
        for (within, deaf, plain) in cases {
            let surroundings = Surroundings {
                within,
                deaf,
                ..Surroundings::default()
            };
            let placed = Clipboard::new(surroundings).place("x");
            assert!(placed.said.starts_with("sent to the terminal"), "{}", placed.said);
            assert!(!placed.said.contains("copied"));
            assert_eq!(placed.said.contains("P shows it plain"), plain, "{}", placed.said);
        }
    }
}
