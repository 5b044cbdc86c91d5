//! Finds the files that a path with `*` and `**` means, within bounds.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::file::{self, Stamp, Trouble};
use super::hands::Errand;

/// Levels that `**` goes down.
const MAX_DEPTH: usize = 6;
/// Directory entries that one path may cost.
const MAX_ENTRIES: usize = 2000;
/// Directories that `**` does not enter: large, and no client keeps configuration there.
const NEVER_ENTERED: [&[u8]; 2] = [b"node_modules", b".git"];

/// What was found: a file with its stamp, or a file or directory with what is wrong with it.
pub(super) type Found = Vec<(PathBuf, Result<Stamp, Trouble>)>;

/// Finds the files of one path below one directory.
#[derive(Clone, Debug)]
pub(super) struct Look {
    base: PathBuf,
    pattern: String,
    /// `base` and the part of the pattern before the first `*`.
    path: PathBuf,
}

impl Look {
    /// Returns the errand for a pattern relative to `base`.
    pub(super) fn new(base: &Path, pattern: &str) -> Self {
        let literal = pattern.split('/').take_while(|part| !part.contains('*'));
        Self {
            base: base.to_owned(),
            pattern: pattern.to_owned(),
            path: literal
                .filter(|part| !part.is_empty())
                .fold(base.to_owned(), |path, part| path.join(part)),
        }
    }

    /// Returns the file, or the directory where the search begins.
    pub(super) fn place(&self) -> &Path {
        &self.path
    }
}

impl Errand for Look {
    type Answer = Found;

    fn path(&self) -> &Path {
        &self.path
    }

    fn run(&self) -> Found {
        let mut walk = Walk {
            left: MAX_ENTRIES,
            troubles: Vec::new(),
        };
        let mut paths = vec![self.base.clone()];
        for part in self.pattern.split('/').filter(|part| !part.is_empty()) {
            paths = match part {
                "**" => paths.iter().flat_map(|path| walk.deep(path)).collect(),
                part if part.contains('*') => {
                    paths.iter().flat_map(|path| walk.matching(path, part)).collect()
                }
                part => paths.into_iter().map(|path| path.join(part)).collect(),
            };
        }
        if walk.left == 0 {
            let detail = format!("more than {MAX_ENTRIES} entries below it: the rest was not looked at");
            walk.troubles.push((self.path.clone(), Trouble::failed(detail)));
        }
        let files = paths
            .into_iter()
            .filter_map(|path| file::look(&path).map(|seen| (path, seen)));
        files
            .chain(
                walk.troubles
                    .into_iter()
                    .map(|(path, trouble)| (path, Err(trouble))),
            )
            .collect()
    }
}

/// What a search may still cost, and what went wrong in it.
struct Walk {
    left: usize,
    troubles: Vec<(PathBuf, Trouble)>,
}

impl Walk {
    /// Returns the entries of a directory in the order of their names: path, and whether it is a
    /// directory itself, not a link to one.
    fn list(&mut self, directory: &Path) -> Vec<(PathBuf, bool)> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => {
                if !file::is_absent(&error) {
                    self.troubles
                        .push((directory.to_owned(), Trouble::from_io("list", &error)));
                }
                return found;
            }
        };
        for entry in entries {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            match entry {
                Ok(entry) => {
                    let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                    found.push((entry.path(), is_directory));
                }
                Err(error) => {
                    self.troubles
                        .push((directory.to_owned(), Trouble::from_io("list", &error)));
                    break;
                }
            }
        }
        found.sort();
        found
    }

    /// Entries whose name matches.
    fn matching(&mut self, directory: &Path, pattern: &str) -> Vec<PathBuf> {
        let entries = self.list(directory).into_iter().map(|(path, _)| path);
        entries
            .filter(|path| path.file_name().is_some_and(|name| matches(pattern, name)))
            .collect()
    }

    /// A directory and those below it, the nearer first. Links are not followed: there is no loop,
    /// and nothing outside is reached.
    fn deep(&mut self, top: &Path) -> Vec<PathBuf> {
        let mut all = vec![top.to_owned()];
        let mut level = vec![top.to_owned()];
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for directory in level {
                let entries = self
                    .list(&directory)
                    .into_iter()
                    .filter(|(_, is_directory)| *is_directory);
                let wanted = |path: &PathBuf| {
                    let name = path.file_name().map(OsStr::as_bytes);
                    name.is_some_and(|name| !NEVER_ENTERED.contains(&name))
                };
                next.extend(entries.map(|(path, _)| path).filter(wanted));
            }
            all.extend_from_slice(&next);
            level = next;
        }
        all
    }
}

/// Whether a name matches a pattern in which `*` is any run of characters.
fn matches(pattern: &str, name: &OsStr) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern.as_bytes() == name.as_bytes();
    };
    let Some(mut name) = name.as_bytes().strip_prefix(first.as_bytes()) else {
        return false;
    };
    let mut parts: Vec<&[u8]> = rest.split('*').map(str::as_bytes).collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        match name.windows(part.len()).position(|window| window == part) {
            Some(at) => name = name.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn names(home: &TempDir, pattern: &str) -> Vec<String> {
        let found = Look::new(home.path(), pattern).run();
        let shown = |(path, seen): (PathBuf, Result<Stamp, Trouble>)| {
            let name = path.strip_prefix(home.path()).unwrap().display().to_string();
            seen.map_or_else(|trouble| format!("{name}: {}", trouble.detail), |_| name.clone())
        };
        found.into_iter().map(shown).collect()
    }

    fn file(home: &TempDir, path: &str) {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }

    #[test]
    fn a_star_is_any_run_of_characters_in_one_name() {
        for (pattern, name, is) in [
            ("*", "a", true),
            ("*.json", "a.json", true),
            ("*.json", "a.jsonc", false),
            ("a*b*c", "abbc", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, OsStr::new(name)), is, "{pattern} {name}");
        }
    }

    #[test]
    fn stars_find_files_and_stay_inside() {
        let home = TempDir::new().unwrap();
        for path in [
            "p/mcp.json",
            "p/a/b/mcp.json",
            "p/node_modules/x/mcp.json",
            "p/c/other.json",
        ] {
            file(&home, path);
        }
        file(&home, "1/2/3/4/5/6/mcp.json");
        file(&home, "1/2/3/4/5/6/7/8/mcp.json");
        symlink(home.path().join("p"), home.path().join("p/a/loop")).unwrap();
        symlink(home.path().join("1"), home.path().join("link")).unwrap();
        assert_eq!(names(&home, "p/**/mcp.json"), ["p/mcp.json", "p/a/b/mcp.json"]);
        assert_eq!(names(&home, "1/**/mcp.json"), ["1/2/3/4/5/6/mcp.json"]);
        assert_eq!(names(&home, "**/6/mcp.json"), ["1/2/3/4/5/6/mcp.json"]);
        assert_eq!(names(&home, "p/*/*.json"), ["p/c/other.json"]);
        assert_eq!(names(&home, "none/*/x.json"), Vec::<String>::new());
        assert_eq!(names(&home, "p/mcp.json/*/x.json"), Vec::<String>::new());
        file(&home, "p/real.json");
        symlink("real.json", home.path().join("p/linked.json")).unwrap();
        assert_eq!(names(&home, "p/linked.json"), ["p/linked.json"]);
    }

    #[test]
    fn a_directory_with_too_many_entries_is_cut_and_reported() {
        let home = TempDir::new().unwrap();
        for n in 0..MAX_ENTRIES + 5 {
            file(&home, &format!("d/{n}"));
        }
        assert_eq!(
            names(&home, "d/**/mcp.json"),
            [format!(
                "d: more than {MAX_ENTRIES} entries below it: the rest was not looked at"
            )]
        );
    }
}
