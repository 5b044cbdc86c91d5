//! House rules as a test: layers, sizes, headers, words. Every rule has a planted violation that it
//! must find.

mod layers;
mod places;
mod sizes;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One file.
pub(crate) struct Source {
    /// Path from the project's root, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
    /// Whether the whole file is test code: in `tests`, or a module that is compiled for tests
    /// only.
    test: bool,
}

impl Source {
    /// A file that a control plants.
    pub(crate) fn planted(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            test: path.starts_with("tests/"),
        }
    }

    /// Returns the lines with their numbers, up to the tests at the file's end; a file of tests
    /// has none.
    pub(crate) fn production(&self) -> Vec<(usize, &str)> {
        if self.test {
            return Vec::new();
        }
        let end = self
            .text
            .find("#[cfg(test)]\nmod tests {")
            .unwrap_or(self.text.len());
        self.text[..end]
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .collect()
    }

    /// Returns whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.test
    }

    /// Returns the layer of a file in `src`.
    pub(crate) fn layer(&self) -> Option<&str> {
        let inner = self.path.strip_prefix("src/")?;
        Some(inner.split_once('/').map_or(inner, |(layer, _)| layer))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every Rust file of these folders.
pub(crate) fn sources(folders: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    for folder in folders {
        collect(&root().join(folder), &mut found);
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    read(&found)
}

/// Returns every text file of the project; what git ignores, and the lock file of cargo, left out.
pub(crate) fn all_texts() -> Vec<Source> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root()).unwrap().flatten() {
        let name = entry.file_name();
        if ["target", ".git", "Cargo.lock"]
            .iter()
            .any(|left_out| name == *left_out)
        {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &mut found);
        } else {
            found.push(entry.path());
        }
    }
    read(&found)
}

/// Reads files; those that are no text are left out.
fn read(paths: &[PathBuf]) -> Vec<Source> {
    let mut files: Vec<Source> = paths
        .iter()
        .filter_map(|path| {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            Some(Source::planted(&name, &std::fs::read_to_string(path).ok()?))
        })
        .collect();
    let tests: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
    for file in &mut files {
        let module = file.path.trim_end_matches(".rs");
        let inside = |test: &String| module == test || module.starts_with(&format!("{test}/"));
        file.test |= tests.iter().any(inside);
    }
    files
}

/// Returns the paths, without their ending, of the modules that this file declares for tests only.
fn test_modules(file: &Source) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let declared = lines.windows(2).filter(|pair| pair[0].trim() == "#[cfg(test)]");
    declared
        .filter_map(|pair| places::declared(pair[1]))
        .map(|name| format!("{}/{name}", places::children(&file.path)))
        .collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Fails with every complaint.
pub(crate) fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
