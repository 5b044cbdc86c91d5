//! Tests of the catalogue as a whole.

use super::*;
use crate::model::instance::Role;

const LINES: &str = include_str!("../../tests/fixtures/cmdlines.tsv");

/// Server names without `mcp` in them that the rules know.
const KNOWN: [&str; 6] = [
    "supergateway",
    "context-mode",
    "contextplus",
    "lean-ctx",
    "gbrain",
    "serena",
];

fn catalog() -> Catalog {
    Catalog::builtin().expect("the built-in rules are valid")
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.lines().skip(1).filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.nth(1)?))
    })
}

fn has_marker(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.contains("mcp")
        || lower.contains("modelcontextprotocol")
        || KNOWN.iter().any(|name| lower.contains(name))
}

#[test]
fn labelled_lines_are_told_apart() {
    let catalog = catalog();
    let (mut marked, mut right, mut wrong) = (0, 0, Vec::new());
    for (label, line) in lines() {
        let verdict = catalog.verdict_line(line);
        match label {
            "server" | "launcher" if has_marker(line) => {
                marked += 1;
                if verdict.mcp && verdict.role.word() == label {
                    right += 1;
                } else {
                    wrong.push(format!("missed   {label} {line}\n    {verdict:?}"));
                }
            }
            "server" | "launcher" => {
                if !verdict.mcp && !verdict.undecided {
                    wrong.push(format!("silent   {label} {line}\n    {verdict:?}"));
                }
            }
            _ if verdict.mcp => wrong.push(format!("ALARM    {label} {line}\n    {verdict:?}")),
            _ => {}
        }
    }
    let alarms = wrong.iter().filter(|line| line.starts_with("ALARM")).count();
    assert!(
        alarms == 0 && right * 100 >= marked * 95,
        "{right} of {marked}\n{}",
        wrong.join("\n")
    );
}

#[test]
#[ignore]
fn probe() {
    let catalog = catalog();
    for line in std::fs::read_to_string("/tmp/probe.txt").unwrap().lines() {
        let v = catalog.verdict_line(line);
        println!(
            "{:5} {:9} {:?} {:?} {:?} u={} | {line}   << {}",
            v.mcp,
            v.role.word(),
            v.confidence,
            v.rule,
            v.name,
            v.undecided,
            v.because
        );
    }
}
