//! The terminal lent to an editor, and left for the plain view: who reads the keys, what is on it, and how
//! it comes back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::harness::{Start, Terminal};
use crate::support::Home;

/// An editor that shows what it was given, and adds every line that is typed until a lone dot.
const EDITOR: &str = r#"#!/bin/sh
file="$2"
echo "editing $1 with $(stty -a | grep -c -e ' icanon') [$(cat "$file")]"
while read -r line; do
    [ "$line" = . ] && exit 0
    [ "$line" = fail ] && exit 3
    printf '%s\n' "$line" >> "$file"
    echo "taken: $line"
done
"#;

struct Desk {
    home: Home,
    editor: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let home = Home::new();
        let editor = home.path().join("ed it");
        fs::write(&editor, EDITOR).unwrap();
        fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
        Self { home, editor }
    }

    fn temporary(&self) -> PathBuf {
        let path = self.home.path().join("tmp");
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// The program at the prompt of a note, with a word typed.
    fn noting(&self, start: Start) -> Terminal {
        let editor = format!("'{}' --flag", self.editor.display());
        let mut terminal = start
            .with("EDITOR", &editor)
            .with("TMPDIR", self.temporary().to_str().unwrap())
            .without("XDG_RUNTIME_DIR")
            .with("XDG_STATE_HOME", self.home.path().join("state").to_str().unwrap())
            .sized(120, 40)
            .live();
        // Every process: there is a row, whatever runs here.
        terminal.press("aG");
        terminal.press("mOPS-1412\r");
        terminal.sees("note on");
        terminal.press("typed");
        terminal.sees("typed");
        terminal
    }

    fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }
}

fn journal(state: &Path) -> String {
    let incidents = fs::read_dir(state.join("mcpwake/incidents")).unwrap();
    let mut text = String::new();
    for incident in incidents {
        text.push_str(&fs::read_to_string(incident.unwrap().path().join("journal.jsonl")).unwrap());
    }
    text
}

#[test]
fn an_editor_has_the_terminal_and_every_key_and_its_text_becomes_the_note() {
    let desk = Desk::new();
    let mut terminal = desk.noting(Start::program());
    terminal.press("\x05");
    terminal.sees("editing --flag with 1 [typed]");
    terminal.with_seen(|seen| assert!(!seen.is_entered()));
    // `q` would end the program, `y` would copy.
    for line in [
        "q",
        "second line y",
        "third ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
    ] {
        terminal.press(&format!("{line}\n"));
        terminal.sees(&format!("taken: {line}"));
    }
    terminal.resize(100, 30);
    terminal.press(".\n");
    terminal.sees("on disk: entry 2");
    terminal.with_seen(|seen| assert!(seen.is_entered()));
    let journal = journal(&desk.state());
    assert!(
        journal.contains(r"typed\nq\nsecond line y\nthird <redacted:"),
        "{journal}"
    );
    assert!(!journal.contains("ghp_A1b2"), "{journal}");
    assert_eq!(
        fs::read_dir(desk.temporary()).unwrap().count(),
        0,
        "the draft is gone"
    );
    terminal.quits();
}

#[test]
fn an_unchanged_text_writes_nothing_and_a_failing_editor_loses_nothing() {
    let desk = Desk::new();
    let mut terminal = desk.noting(Start::program());
    terminal.press("\x05");
    terminal.sees("editing --flag");
    terminal.press(".\n");
    terminal.sees("unchanged");
    terminal.press("\x05");
    terminal.sees("editing --flag");
    terminal.press("kept\n");
    terminal.sees("taken: kept");
    terminal.press("fail\n");
    terminal.sees("NO NOTE WRITTEN");
    terminal.sees("the text is in");
    assert!(!journal(&desk.state()).contains(r#""kind":"note""#));
    let drafts: Vec<PathBuf> = fs::read_dir(desk.temporary())
        .unwrap()
        .map(|entry| entry.unwrap().path().join("note.md"))
        .collect();
    assert_eq!(drafts.len(), 1);
    assert_eq!(fs::read_to_string(&drafts[0]).unwrap(), "typed\nkept\n");
    // The prompt is there as it was.
    terminal.press("\r");
    terminal.sees("on disk: entry 2");
    terminal.quits();
}

/// A shell with job control that continues the job when it is told to.
const SHELL: &str = r#"set -m
"$PROGRAM"
echo "the shell has it"
read line
fg >/dev/null
echo "ended with $?""#;

#[test]
fn an_editor_that_is_stopped_gives_the_shell_the_terminal_and_goes_on_with_it() {
    let desk = Desk::new();
    let mut terminal = desk.noting(Start::in_a_shell(SHELL));
    terminal.press("\x05");
    terminal.sees("editing --flag");
    terminal.press("before\n");
    terminal.sees("taken: before");
    terminal.press("\x1a");
    terminal.sees("the shell has it");
    terminal.press("\n");
    // What is typed while the terminal changes hands may be cut: the line behind it is not.
    terminal.press("cut\n");
    terminal.press("after\n");
    terminal.sees("taken: after");
    terminal.with_seen(|seen| assert!(!seen.is_entered(), "{}", seen.text()));
    // Ctrl-C is for the editor, which dies of it; the program does not.
    terminal.press("\x03");
    terminal.sees("NO NOTE WRITTEN");
    terminal.press("\x1b");
    terminal.sees_no("note on");
    terminal.press("q");
    terminal.sees("ended with 0");
    assert!(terminal.ends().success());
}

#[test]
fn the_plain_view_shows_text_without_a_border_until_a_key_and_survives_size_and_stop() {
    let mut terminal = Start::in_a_shell(SHELL).sized(80, 24).live();
    terminal.press("aG");
    terminal.press("P");
    terminal.sees("[any key returns to the screen]");
    terminal.sees("COMMAND");
    terminal.with_seen(|seen| {
        assert!(!seen.is_entered());
        assert!(!seen.text().contains('\u{2500}'), "{}", seen.text());
    });
    terminal.resize(60, 20);
    // Pasted text is no key, and runs nothing.
    terminal.press("\x1b[200~q\x1b[201~");
    terminal.press("\x1a");
    terminal.sees("the shell has it");
    terminal.press("\n");
    terminal
        .wait_for("the text again", crate::support::DEADLINE, |seen| {
            let text = String::from_utf8_lossy(&seen.raw).into_owned();
            text.matches("[any key returns to the screen]").count() == 2
        })
        .unwrap();
    // The rest of what was typed blind is not taken for commands.
    terminal.press("qq");
    terminal.sees("LIVE");
    terminal.with_seen(|seen| assert!(seen.is_entered()));
    terminal.quits_to_the_shell();
}
