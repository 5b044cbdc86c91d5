//! A text that the operator writes with an editor of their own: in a private directory that goes with it,
//! with whatever the editor leaves beside it.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files;

/// A draft on disk. Dropping it removes it, unless it was told to stay.
#[derive(Debug)]
pub struct Draft {
    directory: PathBuf,
    path: PathBuf,
    stays: bool,
}

impl Draft {
    /// Makes the file with a text, below a directory such as `/tmp`.
    pub fn new(below: &Path, text: &str) -> Result<Self, StoreError> {
        let directory = below.join(format!("mcpwake-{}", files::random_id()?));
        files::new_directory(&directory).map_err(StoreError::io("create", &directory))?;
        let path = directory.join("note.md");
        let draft = Self {
            path: path.clone(),
            directory,
            stays: false,
        };
        let mut file = files::create_new(&path)?;
        let line_end = if text.is_empty() { "" } else { "\n" };
        file.write_all(format!("{text}{line_end}").as_bytes())
            .map_err(StoreError::io("write", &path))?;
        Ok(draft)
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what is in it now; more than `most` bytes are an error.
    pub fn read(&self, most: u64) -> Result<String, StoreError> {
        let named = StoreError::io("read", &self.path);
        let mut bytes = Vec::new();
        // An editor may have put another file in its place.
        let read = File::open(&self.path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
        read.map_err(named)?;
        if bytes.len() as u64 > most {
            return Err(StoreError::io("read", &self.path)(std::io::Error::other(
                format!("it has more than {most} bytes: attach it as a file instead"),
            )));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Leaves the file where it is.
    pub fn stay(&mut self) {
        self.stays = true;
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.stays {
            // Nothing of it is needed any more, and nobody could be told.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_draft_is_private_and_goes_with_what_lies_beside_it() {
        let below = tempfile::tempdir().unwrap();
        let draft = Draft::new(below.path(), "typed").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(draft.path()), 0o600);
        assert_eq!(mode(draft.path().parent().unwrap()), 0o700);
        assert_eq!(draft.read(100).unwrap(), "typed\n");
        fs::write(draft.path().with_extension("swp"), "typed").unwrap();
        assert!(
            draft
                .read(3)
                .unwrap_err()
                .to_string()
                .contains("more than 3 bytes")
        );
        drop(draft);
        assert_eq!(fs::read_dir(below.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_draft_that_stays_is_there() {
        let below = tempfile::tempdir().unwrap();
        let mut draft = Draft::new(below.path(), "").unwrap();
        draft.stay();
        let path = draft.path().to_path_buf();
        drop(draft);
        assert_eq!(fs::read(path).unwrap(), b"");
    }
}
