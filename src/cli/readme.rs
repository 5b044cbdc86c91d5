//! Keeps the tables of README.md equal to the tables of the program.

use std::path::Path;

use super::exit::Exit;
use super::man;
use crate::app::command::commands;
use crate::app::key::Key;
use crate::model::finding::Finding;

/// Returns the parts of the README that are made, by the name in their markers.
fn parts() -> Vec<(&'static str, String)> {
    vec![
        ("keys", keys()),
        ("exit codes", exit_codes()),
        ("findings", findings()),
    ]
}

fn keys() -> String {
    let cell = |key: &Key| match key.label().as_str() {
        // A bar ends a cell, and a backslash escapes.
        "|" => "`\\|`".to_owned(),
        label => format!("`{label}`"),
    };
    let rows: Vec<[String; 2]> = commands()
        .iter()
        .map(|spec| {
            [
                spec.keys.iter().map(cell).collect::<Vec<_>>().join(" "),
                spec.doc.to_owned(),
            ]
        })
        .collect();
    table(["key", "does"], &rows)
}

fn exit_codes() -> String {
    let rows = Exit::DOCUMENTED.map(|(exit, what)| [exit.code().to_string(), what.to_owned()]);
    table(["code", "meaning"], &rows)
}

fn findings() -> String {
    let rows =
        Finding::ALL.map(|finding| [format!("`{}`", finding.word()), man::meaning(finding).to_owned()]);
    table(["finding", "meaning"], &rows)
}

fn table(heads: [&str; 2], rows: &[[String; 2]]) -> String {
    let rows = rows.iter().map(|row| format!("| {} |\n", row.join(" | ")));
    format!(
        "| {} |\n| --- | --- |\n{}",
        heads.join(" | "),
        rows.collect::<String>()
    )
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
