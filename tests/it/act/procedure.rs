//! The whole procedure, from the row to the record in the clipboard, and how many keys it takes.

use base64::Engine as _;

use super::case::Case;
use super::desk::Desk;
use super::kit::Stage;

/// Keys that the procedure may take beside text that is typed.
const MOST_KEYS: usize = 40;

/// Returns what the terminal was given for its clipboard last.
fn clipboard(desk: &Desk<'_>) -> Option<String> {
    desk.terminal.with_seen(|seen| {
        let raw = String::from_utf8_lossy(&seen.raw).into_owned();
        let (_, copied) = raw.rsplit_once("\x1b]52;c;")?;
        let payload = copied.split(['\x07', '\x1b']).next()?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(payload).ok()?;
        String::from_utf8(bytes).ok()
    })
}

#[test]
fn the_procedure_takes_few_keys_and_fills_the_record() {
    let case = Case::of(Stage::severed_with_token);
    // Identify.
    let mut desk = case.on_its_row();
    desk.sees("GITHUB_TOKEN");
    // Keep.
    desk.key("Z");
    desk.sees("saved sha256");
    desk.key("i");
    desk.titles();
    desk.sees("is open in");
    // Revoke, verify: the form stands on the first authority behind the fields.
    desk.key("r");
    desk.sees(&format!("record: git {}", case.pid()));
    desk.key("G");
    desk.key("v");
    desk.sees("a revoked, how:");
    desk.types("token deleted in the console");
    desk.key("\r");
    desk.sees("[x] revoked");
    desk.key("d");
    desk.sees("a denied, by check:");
    desk.types("401 from the API");
    desk.key("\r");
    desk.sees("[x] denied");
    desk.leaves(&format!("record: git {}", case.pid()));
    // End, and look again.
    desk.key("T");
    desk.is_asked("TERM", case.pid(), false);
    desk.terminal
        .with_seen(|seen| assert!(!seen.text().contains("NOT DONE"), "{}", seen.text()));
    desk.confirms(&case.code());
    case.exits_of(&desk, "TERM");
    desk.journals("the sample of the second look", |kept| {
        let journal = kept.journal();
        journal
            .iter()
            .any(|entry| entry["kind"] == "snapshot" && entry["why"] == "after_signal")
    });
    desk.leaves("Done: each outcome is journalled.");
    // Hand over.
    desk.key("Y");
    desk.sees("the record of git");
    let presses = desk.presses;
    assert!(presses <= MOST_KEYS, "{presses} keys");
    println!("{presses} keys");
    let copied = clipboard(&desk).expect("the record was copied");
    case.closes(desk);
    assert_eq!(case.kept.markdown().matches("| Termination signal").count(), 1);
    let exported = case.kept.markdown();
    for line in copied.lines().filter(|line| line.starts_with('|')) {
        assert!(exported.contains(line), "{line}\n{exported}");
    }
    for wanted in [
        format!("## Leftover MCP server: git ({})", case.pid()),
        "revoked 1 of 1, denial verified 1 of 1".to_owned(),
        "GITHUB".to_owned(),
        ", exited after ".to_owned(),
    ] {
        assert!(copied.contains(&wanted), "{wanted}\n{copied}");
    }
}
