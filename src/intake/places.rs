//! Finds the directories that are looked into: homes, and projects up to the root of their
//! repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::Trouble;
use super::hands::Errand;

/// Directories from a working directory upwards.
const MAX_LEVELS: usize = 12;

/// Looks whether a home or a project can be looked into.
#[derive(Clone, Debug)]
pub(super) enum Survey {
    /// A home directory.
    Home(PathBuf),
    /// A working directory, and all names of the homes.
    Project(PathBuf, Arc<[PathBuf]>),
}

impl Errand for Survey {
    type Answer = Result<Vec<PathBuf>, Trouble>;

    fn path(&self) -> &Path {
        match self {
            Self::Home(path) | Self::Project(path, _) => path,
        }
    }

    /// Returns the names of a home, or the directories of a project.
    fn run(&self) -> Self::Answer {
        match self {
            Self::Home(home) => {
                enter(home)?;
                let resolved = home.canonicalize().ok().filter(|resolved| resolved != home);
                Ok([home.clone()].into_iter().chain(resolved).collect())
            }
            Self::Project(cwd, homes) => levels(cwd, homes),
        }
    }
}

fn enter(directory: &Path) -> Result<(), Trouble> {
    // The dot asks for the permission to search the directory, not only for its existence.
    let entered = directory.join(".").metadata();
    entered
        .map(drop)
        .map_err(|error| Trouble::from_io("enter", &error))
}

/// Directories from `cwd` upwards to the one with `.git` or to a home: never above a home, never
/// the root. A directory that was deleted is passed over.
fn levels(cwd: &Path, homes: &[PathBuf]) -> Result<Vec<PathBuf>, Trouble> {
    let mut found = Vec::new();
    for directory in cwd.ancestors().take(MAX_LEVELS) {
        let above_home = homes
            .iter()
            .any(|home| home != directory && home.starts_with(directory));
        if above_home || directory.parent().is_none() {
            break;
        }
        match directory.join(".").metadata() {
            Ok(_) => found.push(directory.to_owned()),
            Err(error) if super::file::is_absent(&error) => {}
            Err(error) if found.is_empty() => return Err(Trouble::from_io("enter", &error)),
            Err(_) => break,
        }
        if homes.iter().any(|home| home == directory) || directory.join(".git").symlink_metadata().is_ok() {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_project_reaches_up_to_its_repository_or_to_the_home_and_no_further() {
        let root = TempDir::new().unwrap();
        let at = |path: &str| root.path().join(path);
        for path in [
            "home/a/repo/.git",
            "home/a/repo/x/y",
            "home/a/plain/z",
            "d/1/2/3/4/5/6/7/8/9/10/11/12/13",
        ] {
            fs::create_dir_all(at(path)).unwrap();
        }
        let homes = [at("home/a")];
        let of = |path: &str| levels(&at(path), &homes).unwrap();
        assert_eq!(
            of("home/a/repo/x/y"),
            [at("home/a/repo/x/y"), at("home/a/repo/x"), at("home/a/repo")]
        );
        assert_eq!(
            of("home/a/plain/z"),
            [at("home/a/plain/z"), at("home/a/plain"), at("home/a")]
        );
        assert_eq!(of("home/a/repo/gone"), [at("home/a/repo")]);
        assert_eq!(of("home"), Vec::<PathBuf>::new());
        assert_eq!(of("d/1/2/3/4/5/6/7/8/9/10/11/12/13").len(), MAX_LEVELS);
        assert_eq!(levels(Path::new("/"), &homes).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(
            levels(Path::new("/dev"), &homes).unwrap(),
            [PathBuf::from("/dev")]
        );
    }

    #[test]
    fn a_home_that_is_not_there_is_trouble() {
        let root = TempDir::new().unwrap();
        let gone = Survey::Home(root.path().join("none")).run().unwrap_err();
        assert_eq!(gone.kind, crate::model::reading::Absence::Gone);
    }
}
