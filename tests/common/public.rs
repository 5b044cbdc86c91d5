//! A copy of a program where another user may run it, wherever the tests themselves are.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// `nobody` on every Linux.
pub(crate) const NOBODY: u32 = 65_534;

/// The copy. Removed when dropped.
pub(crate) struct Public {
    folder: TempDir,
}

impl Public {
    /// Copies a program to the first place from which `nobody` can run it, which is tried with an argument that
    /// makes it succeed at once; else says why it cannot be done: only root may become another user, a file
    /// system may forbid to run anything, a directory above may be closed.
    pub(crate) fn copy(program: &Path, argument: &str) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can become another user".to_owned());
        }
        let places = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        let mut why = Vec::new();
        for place in std::iter::once(std::env::temp_dir()).chain(places) {
            match Self::at(&place, program, argument) {
                Ok(copy) => return Ok(copy),
                Err(error) => why.push(format!("{}: {error}", place.display())),
            }
        }
        Err(why.join("; "))
    }

    fn at(place: &Path, program: &Path, argument: &str) -> std::io::Result<Self> {
        let copy = Self {
            folder: tempfile::tempdir_in(place)?,
        };
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(copy.folder.path(), open.clone())?;
        std::fs::copy(program, copy.program())?;
        std::fs::set_permissions(copy.program(), open)?;
        std::fs::create_dir(copy.own())?;
        chown(copy.own(), Some(NOBODY), Some(NOBODY))?;
        let mut tried = copy.command();
        tried.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
        let status = tried.status()?;
        if status.success() {
            return Ok(copy);
        }
        Err(std::io::Error::other(format!("{argument}: {status}")))
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// A directory of that user's.
    pub(crate) fn own(&self) -> PathBuf {
        self.folder.path().join("own")
    }

    /// Returns the program as that user's.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command
            .uid(NOBODY)
            .gid(NOBODY)
            .env("TMPDIR", self.own())
            .current_dir("/")
            .stdin(Stdio::null());
        command
    }
}
