//! The program on its screen, who sits before it, and what it has journalled.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::pty::harness::{Start, Terminal};
use crate::support::{DEADLINE, Home};

/// Returns the digits that confirm a TERM to a server.
pub(crate) fn code(pid: u32) -> String {
    let digits = pid.to_string();
    let from = if pid < 100 {
        0
    } else {
        digits.len().saturating_sub(3)
    };
    digits[from..].to_owned()
}

/// Where the program keeps its incidents: several runs of it share one.
pub(crate) struct State(TempDir);

impl State {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns how the program is started with it: on a screen on which a dialog hides nothing.
    pub(crate) fn program(&self, words: &[&str]) -> Start {
        let mut all = vec![env!("CARGO_BIN_EXE_mcpwake")];
        all.extend(words);
        self.command(&all)
    }

    /// Returns how a command is started that runs the program.
    pub(crate) fn command(&self, words: &[&str]) -> Start {
        Start::words(words)
            .sized(120, 40)
            .with("XDG_STATE_HOME", &self.0.path().display().to_string())
    }

    pub(crate) fn start(&self) -> Desk<'_> {
        self.started(self.program(&[]))
    }

    pub(crate) fn started(&self, start: Start) -> Desk<'_> {
        Desk {
            terminal: start.live(),
            state: self,
            presses: 0,
        }
    }

    /// Returns the directory of the only incident.
    pub(crate) fn incident(&self) -> PathBuf {
        let all = std::fs::read_dir(self.0.path().join("mcpwake/incidents")).unwrap();
        let all: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
        let [one] = &all[..] else { panic!("{all:?}") };
        one.clone()
    }

    /// Returns the entries of its journal so far, as far as they are complete.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let entries = std::fs::read_dir(self.0.path().join("mcpwake/incidents"));
        let journals = entries.into_iter().flatten();
        let journals = journals.map(|entry| entry.unwrap().path().join("journal.jsonl"));
        let texts = journals.filter_map(|path| std::fs::read_to_string(path).ok());
        let lines = |text: String| -> Vec<Value> {
            let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            lines.map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        texts.flat_map(lines).collect()
    }

    /// Returns the entries that tell of signals, briefly: kind, signal, pid, outcome or refusal.
    pub(crate) fn signals(&self) -> Vec<String> {
        let journal = self.journal();
        journal.iter().filter_map(brief).collect()
    }

    /// Runs the program without a screen, and returns what it prints; it has to succeed.
    pub(crate) fn told(&self, words: &[&str]) -> String {
        let home = Home::new();
        let output = Command::new(env!("CARGO_BIN_EXE_mcpwake"))
            .args(words)
            .env_clear()
            .envs(home.variables())
            .env("XDG_STATE_HOME", self.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Checks the record.
    pub(crate) fn verifies(&self) {
        let told = self.told(&["verify", &self.incident().display().to_string()]);
        assert!(told.starts_with("sound: "), "{told}");
    }

    /// Returns the record as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let path = self.incident().display().to_string();
        self.told(&["incident", "export", "--format", "markdown", "--incident", &path])
    }
}

fn brief(entry: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = text(&entry["kind"])?;
    let (target, end) = match kind.as_str() {
        "about_to_signal" => {
            let targets = entry["targets"].as_array()?;
            assert_eq!(targets.len(), 1, "{entry}");
            (&targets[0], None)
        }
        "sent" => (&entry["target"], entry["refused"].as_str().map(|_| "refused")),
        "outcome" => (&entry["target"], entry["outcome"].as_str()),
        _ => return None,
    };
    let pid = target["key"].as_str()?.split_once('-')?.0.to_owned();
    let end = end.map_or_else(String::new, |end| format!(" {end}"));
    Some(format!("{kind} {} {pid}{end}", text(&entry["signal"])?))
}

/// The program on its screen, and who sits before it.
pub(crate) struct Desk<'a> {
    pub(crate) terminal: Terminal,
    state: &'a State,
    /// Keys pressed so far, without text that was typed.
    pub(crate) presses: usize,
}

impl Desk<'_> {
    /// Presses one key.
    pub(crate) fn key(&mut self, key: &str) {
        self.presses += 1;
        self.terminal.press(key);
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.terminal.press(text);
    }

    pub(crate) fn sees(&self, text: &str) {
        self.terminal.sees(text);
    }

    /// Waits until the journal holds as wanted; fails with the screen as it is then.
    pub(crate) fn journals(&self, what: &str, wanted: impl Fn(&State) -> bool) {
        // The clock on the screen has it looked at again each second.
        let found = self.terminal.wait_for(what, DEADLINE, |_| wanted(self.state));
        if let Err(why) = found {
            panic!("{why}\n{:#?}", self.state.journal());
        }
    }

    /// Waits until the journal has exactly these entries on signals.
    pub(crate) fn journals_signals(&self, wanted: &[String]) {
        self.journals(&format!("{wanted:?} in the journal"), |state| {
            state.signals() == wanted
        });
    }

    /// Has one server shown, and selects it.
    pub(crate) fn selects(&mut self, pid: u32, finding: &str) {
        self.key("/");
        self.key("\x15");
        self.types(&format!("pid:{pid}"));
        self.key("\r");
        self.shows(pid, finding);
        self.key("G");
    }

    /// Waits for the row of a server.
    pub(crate) fn shows(&self, pid: u32, finding: &str) {
        let pid = pid.to_string();
        let is_row = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.contains(&pid.as_str()) && words.contains(&finding)
        };
        let shown = self
            .terminal
            .wait_for(&format!("{pid} {finding}"), DEADLINE, |seen| {
                seen.text().lines().any(is_row)
            });
        if let Err(why) = shown {
            panic!("{why}");
        }
    }

    /// Opens an incident that is asked for.
    pub(crate) fn titles(&mut self) {
        self.sees("title of a new incident:");
        self.types("OPS-1412");
        self.key("\r");
    }

    /// Waits for the dialog, once its targets were read again.
    pub(crate) fn is_asked(&self, signal: &str, pid: u32, whole: bool) {
        let what = if whole || pid < 100 {
            format!("Type the whole pid {pid} and Enter to send {signal}:")
        } else {
            format!("Type the last 3 digits of {pid} and Enter to send {signal}:")
        };
        self.sees(&what);
        self.sees(&format!("[x] {pid} server"));
    }

    /// Opens an incident and the dialog for the selected row.
    pub(crate) fn asks_to_end(&mut self, pid: u32) {
        self.key("T");
        self.titles();
        self.is_asked("TERM", pid, false);
    }

    /// Leaves what shows this text. A key that followed at once would be one with the Esc.
    pub(crate) fn leaves(&mut self, text: &str) {
        self.key("\x1b");
        self.terminal.sees_no(text);
    }

    /// Types the digits, and sends. An Enter that came with them would be pasted text.
    pub(crate) fn confirms(&mut self, digits: &str) {
        self.types(digits);
        self.sees(&format!("[{digits}"));
        self.key("\r");
    }

    /// Ends the program, whatever is open.
    pub(crate) fn quits(mut self) {
        self.terminal.signal(Signal::TERM);
        assert!(self.terminal.ends().success());
    }
}
