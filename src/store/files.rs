//! Private files and directories, and files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use crate::journal::{Digest, Digester};

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Makes a directory, with those above it, that only its owner may use; one that is there must be
/// that already.
pub(super) fn private_directory(path: &Path, uid: u32) -> Result<(), StoreError> {
    let made = DirBuilder::new()
        .mode(DIRECTORY_MODE)
        .recursive(true)
        .create(path);
    made.map_err(StoreError::io("create", path))?;
    demand_private(path, uid)
}

/// Makes a directory that must not be there yet.
pub(super) fn new_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(DIRECTORY_MODE).create(path)
}

/// Demands that a directory is one, is the user's own, and private.
pub(super) fn demand_private(path: &Path, uid: u32) -> Result<(), StoreError> {
    let metadata = fs::metadata(path).map_err(StoreError::io("look at", path))?;
    if !metadata.is_dir() {
        return Err(StoreError::WrongKind {
            path: path.to_path_buf(),
            expected: "directory",
        });
    }
    demand_own(path, &metadata, uid)
}

/// Demands that an open file is a regular one, the user's own, and private.
pub(super) fn demand_private_file(path: &Path, file: &File, uid: u32) -> Result<(), StoreError> {
    let metadata = file.metadata().map_err(StoreError::io("look at", path))?;
    if !metadata.is_file() {
        return Err(StoreError::WrongKind {
            path: path.to_path_buf(),
            expected: "regular file",
        });
    }
    demand_own(path, &metadata, uid)
}

fn demand_own(path: &Path, metadata: &Metadata, uid: u32) -> Result<(), StoreError> {
    if metadata.uid() != uid {
        return Err(StoreError::NotOwn {
            path: path.to_path_buf(),
            owner: metadata.uid(),
            uid,
        });
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(StoreError::NotPrivate {
            path: path.to_path_buf(),
            mode,
            directory: metadata.is_dir(),
        });
    }
    Ok(())
}

/// Opens a file for appending that must not be there yet.
pub(super) fn create_new(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
        .map_err(StoreError::io("create", path))
}

/// Opens a file for appending, and makes it where it is not there.
pub(super) fn append_to(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(FILE_MODE)
        .open(path)
        .map_err(StoreError::io("open", path))
}

/// Puts the names in a directory on disk.
pub(super) fn sync_directory(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(StoreError::io("sync", path))
}

/// Returns 128 random bits, as 32 hexadecimal digits.
pub(super) fn random_id() -> Result<String, StoreError> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    File::open(path)
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(StoreError::io("read", path))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// A file that is on disk, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where.
    pub path: PathBuf,
    /// Size.
    pub bytes: u64,
    /// Digest of its bytes.
    pub sha256: Digest,
}

/// Writes a file under a temporary name, puts it on disk, and gives it the name that `name` makes of
/// its digest. Nothing is left where it fails.
pub(super) fn write_whole(
    directory: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    name: &dyn Fn(Digest) -> OsString,
) -> Result<Kept, StoreError> {
    let temporary = directory.join(format!(".unfinished-{}", random_id()?));
    let file = create_new(&temporary)?;
    let kept = finish(file, &temporary, directory, write, name);
    if kept.is_err() {
        // The first failure is the one to tell; what is left is named as unfinished.
        let _ = fs::remove_file(&temporary);
    }
    kept
}

fn finish(
    file: File,
    temporary: &Path,
    directory: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    name: &dyn Fn(Digest) -> OsString,
) -> Result<Kept, StoreError> {
    let mut writer = Counting {
        inner: BufWriter::with_capacity(1 << 16, file),
        digester: Digester::default(),
        bytes: 0,
    };
    write(&mut writer)
        .and_then(|()| writer.flush())
        .and_then(|()| writer.inner.get_ref().sync_all())
        .map_err(StoreError::io("write", temporary))?;
    let sha256 = writer.digester.finish();
    let path = directory.join(name(sha256));
    fs::rename(temporary, &path).map_err(StoreError::io("name", &path))?;
    sync_directory(directory)?;
    Ok(Kept {
        path,
        bytes: writer.bytes,
        sha256,
    })
}

struct Counting {
    inner: BufWriter<File>,
    digester: Digester,
    bytes: u64,
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.digester.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
