//! Headers, unfinished work, and what tests must not do.

use super::{Source, assert_none, sources};

fn no_header(file: &Source) -> Vec<String> {
    let first = file.text.lines().next().unwrap_or_default();
    if first.starts_with("//! ") {
        Vec::new()
    } else {
        vec![format!("{}: no `//!` line at its head", file.path)]
    }
}

fn unfinished(file: &Source) -> Vec<String> {
    // Put together here, so that this file does not complain of itself.
    let words = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["dbg", "!("].concat(),
        ["todo", "!("].concat(),
        ["unimplemented", "!("].concat(),
        ["#[ig", "nore"].concat(),
        ["#[should_", "panic"].concat(),
        ["#[al", "low("].concat(),
        ["thread::", "sleep"].concat(),
        ["time::", "sleep("].concat(),
    ];
    let mut complaints = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for word in &words {
            if line.contains(word.as_str()) {
                complaints.push(format!("{}:{}: {word}", file.path, index + 1));
            }
        }
    }
    complaints
}

#[test]
fn every_file_says_what_it_is_for_and_is_finished() {
    let files = sources(&["src", "tests", "benches"]);
    let complaints = files
        .iter()
        .flat_map(|file| [no_header(file), unfinished(file)].concat());
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn planted_words_are_found() {
    let planted = |text: &str| Source::planted("src/app/x.rs", text);
    assert_eq!(no_header(&planted("use std::fmt;\n")).len(), 1);
    assert_eq!(no_header(&planted("//! It does a thing.\n")).len(), 0);
    for word in [
        ["// TO", "DO: later"].concat(),
        ["std::thread::", "sleep(x);"].concat(),
        ["#[ig", "nore]"].concat(),
    ] {
        assert_eq!(unfinished(&planted(&word)).len(), 1, "{word}");
    }
}
