//! House rules as a test: layers, sizes, headers, words. Every rule has a planted violation that it
//! must find.

mod layers;
mod sizes;
mod words;

use std::path::{Path, PathBuf};

/// One source file.
pub(crate) struct Source {
    /// Path from the project's root, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

impl Source {
    /// A file that a control plants.
    pub(crate) fn planted(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// Returns the lines with their numbers, up to the tests at the file's end; a file of tests
    /// has none.
    pub(crate) fn production(&self) -> Vec<(usize, &str)> {
        if self.is_test() {
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
        let name = self.path.rsplit('/').next().unwrap_or_default();
        self.path.starts_with("tests/")
            || matches!(
                name,
                "tests.rs" | "fixture.rs" | "testkit.rs" | "situations.rs" | "worlds.rs"
            )
            || self.path.contains("/tests/")
    }

    /// Returns the layer of a file in `src`.
    pub(crate) fn layer(&self) -> Option<&str> {
        let inner = self.path.strip_prefix("src/")?;
        inner.split_once('/').map(|(layer, _)| layer)
    }
}

/// Returns every Rust file of these folders.
pub(crate) fn sources(folders: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in folders {
        collect(&root.join(folder), &mut found);
    }
    let text = |path: &PathBuf| std::fs::read_to_string(path).expect("a readable source file");
    let name = |path: &Path| {
        path.strip_prefix(root)
            .expect("a path below the root")
            .display()
            .to_string()
    };
    found
        .iter()
        .map(|path| Source {
            path: name(path),
            text: text(path),
        })
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
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Fails with every complaint.
pub(crate) fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_test_file_belongs_to_a_binary() {
    for binary in ["tests/it", "tests/servers"] {
        let files = sources(&[binary]);
        let all: String = files.iter().map(|file| file.text.as_str()).collect();
        let forgotten: Vec<String> = files
            .iter()
            .filter_map(|file| {
                let inner = file.path.strip_prefix(binary)?.strip_prefix('/')?;
                let module = inner
                    .strip_suffix("/mod.rs")
                    .or_else(|| inner.strip_suffix(".rs"))?;
                let name = module.rsplit('/').next()?;
                let named = all.lines().any(|line| {
                    line.trim()
                        .trim_start_matches("pub ")
                        .trim_start_matches("pub(crate) ")
                        == format!("mod {name};")
                });
                (name != "main" && !named).then(|| format!("{}: no `mod {name};` names it", file.path))
            })
            .collect();
        assert_none(&forgotten);
    }
}
