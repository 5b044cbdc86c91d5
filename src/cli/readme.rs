//! Keeps the tables of README.md equal to the tables of the program.

use std::path::Path;

use super::exit::Exit;
use super::man;
use crate::model::finding::Finding;

/// Returns the parts of the README that are made, by the name in their markers.
fn parts() -> Vec<(&'static str, String)> {
    vec![("exit codes", exit_codes()), ("findings", findings())]
}

fn exit_codes() -> String {
    let mut text = String::from("| code | meaning |\n| --- | --- |\n");
    for (exit, what) in Exit::DOCUMENTED {
        text.push_str(&format!("| {} | {what} |\n", exit.code()));
    }
    text
}

fn findings() -> String {
    let mut text = String::from("| finding | meaning |\n| --- | --- |\n");
    for finding in Finding::ALL {
        text.push_str(&format!("| `{}` | {} |\n", finding.word(), man::meaning(finding)));
    }
    text
}

#[test]
fn the_readme_says_what_the_program_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let found = std::fs::read_to_string(&path).unwrap();
    let mut wanted = found.clone();
    for (name, text) in parts() {
        let begin = format!("<!-- {name}: begin -->\n");
        let end = format!("<!-- {name}: end -->");
        let (before, rest) = wanted.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
        let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
        wanted = format!("{before}{begin}{text}{end}{after}");
    }
    if std::env::var_os("MCPWAKE_BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
        return;
    }
    assert!(
        found == wanted,
        "README.md is stale: MCPWAKE_BLESS=1 cargo test --lib readme"
    );
}
