//! Headers, unfinished work, and what tests must not do.

use super::{Source, all_texts, assert_none, sources};

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

/// Package registries are reached through their clients, by whatever address those are given; what
/// lies beside the project is no part of it.
fn strange_places(file: &Source) -> Vec<String> {
    let hosts = [
        ["npm", "js.org"].concat(),
        ["npm", "js.com"].concat(),
        ["yarn", "pkg.com"].concat(),
        ["py", "pi.org"].concat(),
        ["python", "hosted.org"].concat(),
        ["crates", ".io"].concat(),
    ];
    let beside = ["../", "shared"].concat();
    let mut complaints = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for word in hosts.iter().chain([&beside]) {
            // The only place that may look beside the project, and says so when nothing is there.
            let allowed = *word == beside && file.path == ".ci/run";
            if line.contains(word.as_str()) && !allowed {
                complaints.push(format!("{}:{}: {word}", file.path, index + 1));
            }
        }
    }
    complaints
}

#[test]
fn no_registry_and_nothing_beside_the_project_is_named() {
    let files = all_texts();
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for wanted in [
        "Cargo.toml",
        ".ci/run",
        "tests/servers/package-lock.json",
        "src/lib.rs",
    ] {
        assert!(names.contains(&wanted), "{wanted} was not looked at");
    }
    assert_none(&files.iter().flat_map(strange_places).collect::<Vec<_>>());
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
    let lock = ["\"resolved\": \"https://registry.npm", "js.org/x\""].concat();
    assert_eq!(
        strange_places(&Source::planted("tests/servers/package-lock.json", &lock)).len(),
        1
    );
    let check = ["../", "shared/check"].concat();
    assert_eq!(strange_places(&planted(&check)).len(), 1);
    assert_eq!(strange_places(&Source::planted(".ci/run", &check)).len(), 0);
}
