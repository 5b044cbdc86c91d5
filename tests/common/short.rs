//! A directory for sockets, wherever temporary files are to be: a path of 108 bytes is too long for an address.

use std::path::PathBuf;

use tempfile::TempDir;

/// Length up to which there is room for the name of a socket, of 107 bytes.
const LONGEST: usize = 80;

/// Returns a new directory with a short path.
pub(crate) fn directory() -> TempDir {
    let places = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    std::iter::once(std::env::temp_dir())
        .chain(places)
        .filter_map(|place| tempfile::tempdir_in(place).ok())
        .find(|directory| directory.path().as_os_str().len() <= LONGEST)
        .unwrap()
}
