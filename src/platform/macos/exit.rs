//! Which process has a pid now, and waiting for its end.
//!
//! There is no pidfd here: a signal goes to a pid. What is compared just before it (start time, unique id, version)
//! leaves a window of a few microseconds in which the process could end and its pid be given out again; the kernel
//! counts pids up, so that takes nearly a hundred thousand processes started in that time.

use std::mem::{MaybeUninit, size_of};
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent_timespec, kqueue};
use rustix::io::Errno;

use super::calls::SystemCalls;
use super::decode::process;
use super::kernel::Kernel as _;
use super::layout::{BsdInfo, PIDTBSDINFO, PIDUNIQIDENTIFIERINFO, UniqueIdentifier};
use crate::model::identity::{Pid, ProcessKey};

/// What tells a process from every other of this boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Pid and start time.
    pub key: ProcessKey,
    /// Unique process id: what `Process::pidfd_inode` holds here.
    pub unique: u64,
    /// Changes with each exec.
    pub version: i32,
}

/// Reads which process has this pid now. Needs the process's user, or root.
pub fn identity(pid: Pid) -> Result<Identity, Errno> {
    let mut kernel = SystemCalls::default();
    let answer = kernel.process_info(pid, PIDTBSDINFO, 1, size_of::<BsdInfo>())?;
    let bsd = process::bsd(&answer).ok_or(Errno::INVAL)?;
    let answer = kernel.process_info(pid, PIDUNIQIDENTIFIERINFO, 1, size_of::<UniqueIdentifier>())?;
    let unique = process::unique(&answer).ok_or(Errno::INVAL)?;
    Ok(Identity {
        key: ProcessKey {
            pid,
            start: bsd.start,
        },
        unique: unique.id,
        version: unique.version,
    })
}

/// Waits for the end of one process.
#[derive(Debug)]
pub struct ExitWatch {
    queue: OwnedFd,
    /// The kernel tells it once.
    ended: AtomicBool,
}

impl ExitWatch {
    /// Begins to watch a process. `ESRCH`: it has ended, or its pid is another's.
    pub fn begin(wanted: Identity) -> Result<Self, Errno> {
        let queue = kqueue()?;
        let raw = i32::try_from(wanted.key.pid.get()).map_err(|_| Errno::SRCH)?;
        let filter = EventFilter::Proc {
            pid: rustix::process::Pid::from_raw(raw).ok_or(Errno::SRCH)?,
            flags: ProcessEvents::EXIT,
        };
        let watch = Event::new(filter, EventFlags::ADD | EventFlags::ONESHOT, ptr::null_mut());
        // SAFETY: the event names no descriptor and carries no pointer.
        unsafe { kevent_timespec(&queue, &[watch], &mut [] as &mut [Event; 0], None)? };
        // Watched by pid, so the identity is compared afterwards: from here on it is this process's end.
        let now = identity(wanted.key.pid)?;
        if (now.key, now.unique) == (wanted.key, wanted.unique) {
            Ok(Self {
                queue,
                ended: AtomicBool::new(false),
            })
        } else {
            Err(Errno::SRCH)
        }
    }

    /// Waits at most so long; returns whether the process has ended.
    pub fn exited(&self, patience: Duration) -> Result<bool, Errno> {
        if self.ended.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let mut events = [MaybeUninit::<Event>::uninit()];
            // SAFETY: no event is changed.
            let told = unsafe { kevent_timespec(&self.queue, &[], &mut events, Some(&timeout)) };
            match told {
                Err(Errno::INTR) => {}
                told => {
                    let ended = !told?.0.is_empty();
                    self.ended.store(ended, Ordering::Relaxed);
                    return Ok(ended);
                }
            }
        }
    }
}
