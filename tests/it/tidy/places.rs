//! No file is forgotten: each belongs to the library, the program, a test binary or a bench.

use std::collections::BTreeSet;

use super::{Source, assert_none, sources};

/// Returns the name in a line that declares a module in a file of its own.
pub(super) fn declared(line: &str) -> Option<&str> {
    let code = line.trim().strip_suffix(';')?;
    let (before, name) = code.split_once("mod ").filter(|(before, _)| {
        before.is_empty()
            || before.trim_end() == "pub"
            || (before.starts_with("pub(") && before.ends_with(") "))
    })?;
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    // The part before says only how visible it is.
    (!before.contains("//") && name.chars().all(word)).then_some(name)
}

/// Returns the folder where a file's modules lie.
pub(super) fn children(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if matches!(name, "mod.rs" | "lib.rs" | "main.rs") {
        folder
    } else {
        path.trim_end_matches(".rs")
    }
}

/// Returns the path that `../` leads to.
fn joined(folder: &str, path: &str) -> String {
    match (path.strip_prefix("../"), folder) {
        (Some(rest), _) => joined(folder.rsplit_once('/').map_or("", |(above, _)| above), rest),
        (None, "") => path.to_owned(),
        (None, _) => format!("{folder}/{path}"),
    }
}

fn forgotten(files: &[Source], roots: &[&str]) -> Vec<String> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&Source> = files
        .iter()
        .filter(|file| roots.contains(&file.path.as_str()))
        .collect();
    while let Some(file) = open.pop() {
        if !reached.insert(&file.path) {
            continue;
        }
        let mut elsewhere = None;
        for line in file.text.lines() {
            if let Some(path) = line
                .trim()
                .strip_prefix("#[path = \"")
                .and_then(|rest| rest.strip_suffix("\"]"))
            {
                elsewhere = Some(joined(children(&file.path), path));
                continue;
            }
            let Some(name) = declared(line) else { continue };
            let folder = children(&file.path);
            let places = elsewhere.take().map_or_else(
                || vec![format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")],
                |path| vec![path],
            );
            open.extend(files.iter().filter(|file| places.contains(&file.path)));
        }
    }
    files
        .iter()
        .filter(|file| !reached.contains(file.path.as_str()))
        .map(|file| format!("{}: no `mod` leads to it", file.path))
        .collect()
}

#[test]
fn no_file_is_forgotten() {
    let files = sources(&["src", "tests", "benches"]);
    let is_root = |path: &&str| {
        matches!(*path, "src/lib.rs" | "src/main.rs")
            || (path.starts_with("tests/") && path.ends_with("/main.rs") && path.matches('/').count() == 2)
            || (path.starts_with("benches/") && path.matches('/').count() == 1)
    };
    let roots: Vec<&str> = files
        .iter()
        .map(|file| file.path.as_str())
        .filter(is_root)
        .collect();
    assert!(roots.len() >= 4, "{roots:?}");
    assert_none(&forgotten(&files, &roots));
}

#[test]
fn every_test_binary_is_declared() {
    let manifest = std::fs::read_to_string(super::root().join("Cargo.toml")).unwrap();
    for file in sources(&["tests"])
        .iter()
        .filter(|file| file.path.ends_with("/main.rs"))
    {
        assert!(
            manifest.contains(&format!("path = \"{}\"", file.path)),
            "{} is not in Cargo.toml",
            file.path
        );
    }
}

#[test]
fn planted_forgotten_files_are_found() {
    let files = [
        Source::planted(
            "src/lib.rs",
            "pub mod a;\n#[path = \"../b/mod.rs\"]\nmod b;\n// mod c;\n",
        ),
        Source::planted("src/a.rs", "pub(crate) mod inner;\nmod tests {\n}\n"),
        Source::planted("src/a/inner.rs", ""),
        Source::planted("b/mod.rs", ""),
        Source::planted("src/c.rs", ""),
        Source::planted("src/a/other.rs", ""),
    ];
    let found = forgotten(&files, &["src/lib.rs"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("src/c.rs") && found[1].starts_with("src/a/other.rs"));
}

#[test]
fn planted_test_modules_are_no_production() {
    let parent = Source::planted(
        "src/app/mod.rs",
        "#[cfg(test)]\npub(crate) mod testkit;\nmod nav;\n",
    );
    assert_eq!(super::test_modules(&parent), ["src/app/testkit"]);
    let child = Source::planted("src/app/nav.rs", "#[cfg(test)]\nmod tests;\n");
    assert_eq!(super::test_modules(&child), ["src/app/nav/tests"]);
}
