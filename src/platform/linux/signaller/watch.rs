//! Waits for the end of one process.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::model::identity::ProcessKey;
use crate::model::reading::Absence;
use crate::platform::Watch;
use crate::platform::linux::parse::stat::Stat;
use crate::platform::linux::pidfd::{has_exited, pause};
use crate::platform::linux::reader::{Reader, absence};

/// Time between two looks where no pidfd tells of the end.
const STEP: Duration = Duration::from_millis(20);

/// By its pidfd, which tells at once.
pub(super) struct ByPidfd(pub(super) Arc<OwnedFd>);

impl Watch for ByPidfd {
    fn exited(&self, patience: Duration) -> bool {
        // What cannot be waited for has not been seen to exit.
        has_exited(&self.0, patience).unwrap_or(false)
    }
}

/// By its start time, again and again: for a kernel without pidfds.
pub(super) struct ByStat {
    pub(super) proc_root: PathBuf,
    pub(super) key: ProcessKey,
}

impl Watch for ByStat {
    fn exited(&self, patience: Duration) -> bool {
        let Ok(mut reader) = Reader::open(&self.proc_root) else {
            return false;
        };
        let begun = Instant::now();
        loop {
            if has_ended(&mut reader, self.key) {
                return true;
            }
            let rest = patience.saturating_sub(begun.elapsed());
            if rest.is_zero() {
                return false;
            }
            pause(rest.min(STEP));
        }
    }
}

fn has_ended(reader: &mut Reader, key: ProcessKey) -> bool {
    match reader.record(key.pid, "stat").map(Stat::parse) {
        Ok(Some(stat)) => stat.start != key.start || stat.has_exited(),
        Ok(None) => false,
        Err(errno) => absence(errno) == Absence::Gone,
    }
}
