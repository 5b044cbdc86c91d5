//! Pidfds of the processes of interest: opened when one is first looked at, kept while it lives.
//!
//! A pidfd names one process for good. The one that is kept here is the one that a signal goes through.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::kernel::{Opens, Running};
use super::parse::stat::Stat;
use super::reader::Reader;
use crate::model::identity::{Pid, ProcessKey, StartKey};

/// Most pidfds that are kept; beyond it processes of interest have none until others end.
const MOST_KEPT: usize = 256;
/// Most processes that are remembered as ended; a pid that has come round again within the tick in which
/// its process began is told long before so many more have ended.
const MOST_ENDED: usize = 1024;

/// The kept pidfds, shared with whoever signals.
#[derive(Clone, Debug)]
pub struct Pidfds {
    opens: Arc<dyn Opens>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    kept: BTreeMap<ProcessKey, Kept>,
    /// Those that ended and had no inode of their own: whoever has the same pid and start time is another,
    /// and nothing but this would tell.
    ended: BTreeSet<(StartKey, Pid)>,
}

/// A pidfd.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) file: Arc<OwnedFd>,
    pub(super) inode: Option<u64>,
}

impl Default for Pidfds {
    fn default() -> Self {
        Self::opened_by(Arc::new(Running))
    }
}

impl Pidfds {
    /// None is kept yet; they will be opened by this kernel.
    pub(super) fn opened_by(opens: Arc<dyn Opens>) -> Self {
        Self {
            opens,
            shared: Arc::default(),
        }
    }

    /// Returns the pidfd that was opened when the process was first looked at.
    pub fn get(&self, key: ProcessKey) -> Option<Arc<OwnedFd>> {
        self.kept(key).map(|kept| kept.file)
    }

    /// Returns the same with its inode.
    pub(super) fn kept(&self, key: ProcessKey) -> Option<Kept> {
        self.lock().kept.get(&key).cloned()
    }

    /// Returns whether a process of this pid and start time has ended, and no inode tells it from another
    /// that has both now.
    pub(super) fn has_ended(&self, key: ProcessKey) -> bool {
        self.lock().ended.contains(&(key.start, key.pid))
    }

    /// Opens a pidfd of whoever has the pid now.
    pub(super) fn open(&self, pid: Pid) -> Result<Kept, Errno> {
        let file = self.opens.open(pid)?;
        let inode = self.opens.inode(&file);
        Ok(Kept {
            file: Arc::new(file),
            inode,
        })
    }

    /// Opens those that are missing, forgets those that ended or are of no interest.
    pub(super) fn follow(&self, reader: &mut Reader, wanted: &BTreeSet<ProcessKey>) {
        let mut shared = self.lock();
        shared.drop_ended();
        shared.kept.retain(|key, _| wanted.contains(key));
        for key in wanted {
            if shared.kept.len() >= MOST_KEPT {
                break;
            }
            if !shared.kept.contains_key(key)
                && !shared.ended.contains(&(key.start, key.pid))
                && let Some(opened) = self.open_of(reader, *key)
            {
                shared.kept.insert(*key, opened);
            }
        }
    }

    /// Returns the inode of the kept pidfd of a process.
    pub(super) fn inode(&self, key: ProcessKey) -> Option<u64> {
        self.kept(key).and_then(|kept| kept.inode)
    }

    /// Opened by pid, so the start time is compared afterwards; the pidfd must still be of a living
    /// process then, else pid and start time may be another's.
    fn open_of(&self, reader: &mut Reader, key: ProcessKey) -> Option<Kept> {
        let opened = self.open(key.pid).ok()?;
        let stat = Stat::parse(reader.record(key.pid, "stat").ok()?)?;
        if stat.start != key.start || ended(&[&opened.file]) != [false] {
            return None;
        }
        Some(opened)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // The maps are whole between any two statements.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn drop_ended(&mut self) {
        let files: Vec<&OwnedFd> = self.kept.values().map(|kept| kept.file.as_ref()).collect();
        let mut ended = ended(&files).into_iter();
        let remembered = &mut self.ended;
        self.kept.retain(|key, kept| {
            let ended = ended.next().unwrap_or(false);
            if ended && kept.inode.is_none() {
                remembered.insert((key.start, key.pid));
            }
            !ended
        });
        while self.ended.len() > MOST_ENDED {
            self.ended.pop_first();
        }
    }
}

/// Returns for each pidfd whether its process has ended: it becomes readable then.
fn ended(files: &[&OwnedFd]) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> = files
        .iter()
        .map(|file| PollFd::new(*file, PollFlags::IN))
        .collect();
    // An error tells of none that it has ended.
    if poll(&mut polled, Some(&timespec(Duration::ZERO))).is_err() {
        return vec![false; files.len()];
    }
    polled
        .iter()
        .map(|file| file.revents().contains(PollFlags::IN))
        .collect()
}

/// Waits until the process of a pidfd has exited, at most so long; returns whether it has.
pub(super) fn has_exited(file: &OwnedFd, patience: Duration) -> Result<bool, Errno> {
    let begun = Instant::now();
    loop {
        let rest = timespec(patience.saturating_sub(begun.elapsed()));
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&rest)) {
            Err(Errno::INTR) => {}
            outcome => return outcome.map(|ready| ready > 0),
        }
    }
}

/// Lets time pass.
pub(super) fn pause(time: Duration) {
    // A signal that ends it early only makes the next look come sooner.
    let _ = poll(&mut [], Some(&timespec(time)));
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
