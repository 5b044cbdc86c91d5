//! Pidfds of the processes of interest: opened when one is first looked at, kept while it lives.
//!
//! A pidfd names one process for good. The one that is kept here is the one that a signal goes through.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};

use super::parse::stat::Stat;
use super::reader::Reader;
use crate::model::identity::ProcessKey;

/// Most pidfds that are kept; beyond it processes of interest have none until others end.
const MOST_KEPT: usize = 256;
/// `PID_FS_MAGIC`: where pidfds have an inode of their own (Linux 6.9).
const PIDFS: i64 = 0x5049_4446;

/// The kept pidfds, shared with whoever signals.
#[derive(Clone, Debug, Default)]
pub struct Pidfds {
    kept: Arc<Mutex<BTreeMap<ProcessKey, Kept>>>,
}

#[derive(Clone, Debug)]
struct Kept {
    file: Arc<OwnedFd>,
    inode: Option<u64>,
}

impl Pidfds {
    /// Returns the pidfd that was opened when the process was first looked at.
    pub fn get(&self, key: ProcessKey) -> Option<Arc<OwnedFd>> {
        self.lock().get(&key).map(|kept| Arc::clone(&kept.file))
    }

    /// Opens those that are missing, forgets those that ended or are of no interest.
    pub(super) fn follow(&self, reader: &mut Reader, wanted: &BTreeSet<ProcessKey>) {
        let mut kept = self.lock();
        kept.retain(|key, _| wanted.contains(key));
        drop_ended(&mut kept);
        for key in wanted {
            if kept.len() >= MOST_KEPT {
                break;
            }
            if !kept.contains_key(key)
                && let Some(opened) = open(reader, *key)
            {
                kept.insert(*key, opened);
            }
        }
    }

    /// Returns the inode of the kept pidfd of a process.
    pub(super) fn inode(&self, key: ProcessKey) -> Option<u64> {
        self.lock().get(&key).and_then(|kept| kept.inode)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ProcessKey, Kept>> {
        // The map is whole between any two statements.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opened by pid, so the start time is compared afterwards; the pidfd must still be of a living process
/// then, else pid and start time may be another's.
fn open(reader: &mut Reader, key: ProcessKey) -> Option<Kept> {
    let raw = i32::try_from(key.pid.get())
        .ok()
        .and_then(rustix::process::Pid::from_raw)?;
    let file = pidfd_open(raw, PidfdFlags::empty()).ok()?;
    let stat = Stat::parse(reader.record(key.pid, "stat").ok()?)?;
    if stat.start != key.start || *ended(&[&file]).first()? {
        return None;
    }
    let on_pidfs = rustix::fs::fstatfs(&file).is_ok_and(|found| found.f_type == PIDFS);
    let inode = on_pidfs
        .then(|| rustix::fs::fstat(&file).ok().map(|stat| stat.st_ino))
        .flatten();
    Some(Kept {
        file: Arc::new(file),
        inode,
    })
}

fn drop_ended(kept: &mut BTreeMap<ProcessKey, Kept>) {
    let ended = ended(&kept.values().map(|kept| kept.file.as_ref()).collect::<Vec<_>>());
    let mut ended = ended.into_iter();
    kept.retain(|_, _| !ended.next().unwrap_or(false));
}

/// Returns for each pidfd whether its process has ended: it becomes readable then.
fn ended(files: &[&OwnedFd]) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> = files
        .iter()
        .map(|file| PollFd::new(*file, PollFlags::IN))
        .collect();
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // An error tells of none that it has ended.
    if poll(&mut polled, Some(&at_once)).is_err() {
        return vec![false; files.len()];
    }
    polled
        .iter()
        .map(|file| file.revents().contains(PollFlags::IN))
        .collect()
}
