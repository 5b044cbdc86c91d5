//! Names and home directories of users, from passwd(5), read anew when the file has changed.
//!
//! Other name services (LDAP, sssd) are not asked: a lookup there can hang. A user known only to them is
//! shown by number.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use rustix::fs::{Stat, stat};

use super::parse::system::passwd;
use crate::model::bytes::OsBytes;

/// The users of one passwd file.
pub(super) struct Users {
    path: PathBuf,
    version: Option<Version>,
    by_uid: BTreeMap<u32, (OsBytes, OsBytes)>,
}

/// What changes when the file is replaced or written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Version {
    inode: u64,
    bytes: i64,
    changed: (i64, i64),
}

impl Version {
    fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            bytes: stat.st_size,
            changed: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        }
    }
}

impl Users {
    /// Reads the file; a missing one has no users.
    pub(super) fn new(path: &Path) -> Self {
        let mut users = Self {
            path: path.to_owned(),
            version: None,
            by_uid: BTreeMap::new(),
        };
        users.refresh();
        users
    }

    /// Reads the file anew where it has changed. Returns whether it has.
    pub(super) fn refresh(&mut self) -> bool {
        let version = stat(&self.path).ok().as_ref().map(Version::of);
        if version == self.version {
            return false;
        }
        self.version = version;
        self.by_uid.clear();
        if let Ok(text) = std::fs::read(&self.path) {
            for entry in passwd(&text) {
                // The first of several names of one number is the one that getpwuid(3) gives.
                self.by_uid.entry(entry.uid).or_insert((entry.name, entry.home));
            }
        }
        true
    }

    /// Returns the login name; the number as text where there is none.
    pub(super) fn name(&self, uid: u32) -> OsBytes {
        self.by_uid
            .get(&uid)
            .map_or_else(|| uid.to_string().into(), |(name, _)| name.clone())
    }

    /// Returns the home directory; `None` where there is none.
    pub(super) fn home(&self, uid: u32) -> Option<OsBytes> {
        self.by_uid
            .get(&uid)
            .map(|(_, home)| home.clone())
            .filter(|home| !home.is_empty())
    }
}

/// Returns the home directory of a user, from `/etc/passwd`; `None` where it has no line there.
pub fn home_of(uid: u32) -> Option<OsBytes> {
    static USERS: OnceLock<Mutex<Users>> = OnceLock::new();
    let users = USERS.get_or_init(|| Mutex::new(Users::new(Path::new("/etc/passwd"))));
    // A map stays whole when another thread panicked while it held the lock.
    let mut users = users.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    users.refresh();
    users.home(uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_read_anew() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("passwd");
        std::fs::write(&path, "op:x:1000:1000::/home/op:/bin/sh\nalias:x:1000:1:::\n").unwrap();
        let mut users = Users::new(&path);
        assert_eq!(users.name(1000), OsBytes::from("op"));
        assert_eq!(users.home(1000), Some(OsBytes::from("/home/op")));
        assert_eq!(users.name(1001), OsBytes::from("1001"));
        assert!(!users.refresh());
        std::fs::write(&path, "op:x:1000:1000::/home/op:/bin/sh\nnext:x:1001:1:::\n").unwrap();
        assert!(users.refresh());
        assert_eq!(users.name(1001), OsBytes::from("next"));
        assert_eq!(users.home(1001), None);
    }

    #[test]
    fn a_missing_file_has_no_users() {
        let users = Users::new(Path::new("/nonexistent/passwd"));
        assert_eq!(users.name(0), OsBytes::from("0"));
    }
}
