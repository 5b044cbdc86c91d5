//! Names and home directories of users: asked of the user database once for each user.

use std::collections::BTreeMap;

use super::kernel::Kernel;
use crate::model::bytes::OsBytes;

/// The users that were asked for.
#[derive(Default)]
pub(super) struct Users {
    by_uid: BTreeMap<u32, Option<(OsBytes, OsBytes)>>,
}

impl Users {
    /// Returns the login name; the number as text where there is none.
    pub(super) fn name(&mut self, kernel: &mut dyn Kernel, uid: u32) -> OsBytes {
        self.entry(kernel, uid)
            .map_or_else(|| uid.to_string().into(), |(name, _)| name.clone())
    }

    /// Returns the home directory; `None` where there is none.
    pub(super) fn home(&mut self, kernel: &mut dyn Kernel, uid: u32) -> Option<OsBytes> {
        let home = self.entry(kernel, uid).map(|(_, home)| home.clone());
        home.filter(|home| !home.is_empty())
    }

    fn entry(&mut self, kernel: &mut dyn Kernel, uid: u32) -> Option<&(OsBytes, OsBytes)> {
        self.by_uid
            .entry(uid)
            .or_insert_with(|| kernel.user(uid))
            .as_ref()
    }
}
