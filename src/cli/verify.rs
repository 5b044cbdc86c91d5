//! `verify`: the offline check of an incident. Needs no privilege and no configuration.

use std::fmt::Write as _;

use super::args::keep::Verify;
use super::exit::Exit;
use super::output;
use crate::store::check::Outcome;
use crate::store::{Checked, check};
use crate::text::Safe;

/// Runs the command.
pub(super) fn run(args: &Verify) -> anyhow::Result<Exit> {
    let checked = check(&args.path, args.expect_head)?;
    output::print(told(&checked).as_bytes())?;
    Ok(match checked.outcome() {
        Outcome::Sound | Outcome::Warning => Exit::Done,
        Outcome::Failed => Exit::Verification,
    })
}

/// Returns what was found, one thing a line, the verdict first.
fn told(checked: &Checked) -> String {
    let verified = &checked.verified;
    let word = match checked.outcome() {
        Outcome::Sound => "sound",
        Outcome::Warning => "sound, with warnings",
        Outcome::Failed => "NOT SOUND",
    };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{word}: {}: {} entries, {} files as their entries say",
        path(checked),
        verified.entries,
        checked.sound_files
    );
    if let Some(fault) = &verified.fault {
        let _ = writeln!(
            out,
            "line {}: {}: {}",
            fault.line,
            fault.kind.word(),
            Safe::from_text(&fault.what)
        );
    }
    for fault in &checked.faults {
        let _ = writeln!(
            out,
            "line {}: {}: {}",
            fault.line,
            Safe::from_text(&fault.path),
            Safe::from_text(&fault.kind.words())
        );
    }
    if let Some(torn) = &verified.torn {
        let _ = writeln!(
            out,
            "line {}: torn: its writer was ended in the middle of it; {} bytes that are no entry",
            torn.line, torn.bytes
        );
    }
    for unnamed in &checked.unnamed {
        let _ = writeln!(out, "{}: no entry names it", Safe::from_text(unnamed));
    }
    if let Some(head) = verified.head {
        let _ = writeln!(out, "head {head}");
    }
    if checked.expected.is_none() {
        out.push_str(
            "no head was expected: a journal that was cut at its end, or written anew, looks sound\n",
        );
    }
    out
}

fn path(checked: &Checked) -> Safe {
    Safe::from_bytes(checked.journal.as_os_str().as_encoded_bytes())
}
