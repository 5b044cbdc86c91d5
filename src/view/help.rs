//! The help: keys, columns, words; made from the tables that the program works by.

use super::paint::{Para, Piece, lit, say};
use super::pane::meaning;
use super::theme::Tone;
use crate::app::command::{Section, commands};
use crate::model::finding::Finding;
use crate::table::{COLUMNS, cells};

/// Words of the REACH and WIRE columns, and marks for what was not read.
const WORDS: [(&str, &str); 9] = [
    (
        "REACH",
        "tcp udp connections, ssh child, lsn listener with peers, unix socket with a meaning, tok credential (name or file), file lock or database, chld live child; ? not looked at",
    ),
    (
        "WIRE",
        "descriptor and kind: p pipe, s socket, t terminal, f file, n /dev/null, x closed, o other; then who holds the other end",
    ),
    (
        "own",
        "in the first line: the CPU time that taking a sample costs this program",
    ),
    (
        "closed (!)",
        "processes that this user may not look into; ! says which, and what they could hide",
    ),
    (
        "not known",
        "of a client: it started the servers, and is none of those that the catalogue knows",
    ),
    ("?", "not looked at, or not known before the second sample"),
    (
        "denied",
        "the system refused: root, or the process's own user, may read it",
    ),
    ("gone", "it ended before it could be read"),
    ("n/a", "this system has no such thing"),
];

/// Text of the help.
pub(super) fn paragraphs() -> Vec<Para> {
    let mut out = Vec::new();
    for section in Section::ALL {
        heading(&mut out, section.title());
        for spec in commands().iter().filter(|spec| spec.section == section) {
            out.push(entry(
                say(&spec.keys_label(), Tone::Key),
                say(spec.doc, Tone::Plain),
            ));
        }
    }
    heading(
        &mut out,
        "Findings: does it still belong to a live client connection?",
    );
    for finding in Finding::ALL {
        let word = cells::finding_word(finding);
        out.push(entry(
            lit(word, Tone::of(finding)),
            lit(meaning(finding), Tone::Plain),
        ));
    }
    heading(&mut out, "Columns");
    for column in &COLUMNS {
        out.push(entry(
            lit(column.title, Tone::Strong),
            lit(column.help, Tone::Plain),
        ));
    }
    heading(&mut out, "Words");
    for (word, text) in WORDS {
        out.push(entry(lit(word, Tone::Strong), lit(text, Tone::Plain)));
    }
    out
}

fn heading(out: &mut Vec<Para>, title: &'static str) {
    if !out.is_empty() {
        out.push(Para::blank());
    }
    out.push(Para::bare(lit(title, Tone::Bar)));
}

fn entry(label: Piece, text: Piece) -> Para {
    Para {
        gutter: 15,
        ..Para::labelled(label, text)
    }
}
