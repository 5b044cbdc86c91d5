//! Waits for the end of a process: the kernel tells it through a kqueue (`NOTE_EXIT`), at once.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent_timespec, kqueue};
use rustix::io::Errno;

use super::calls::SystemCalls;
use super::signaller::Told;
use super::table;
use crate::model::identity::ProcessKey;
use crate::platform::Watch;

/// Returns what waits for the end of a process; `unique` is its unique id, where it was seen.
pub(super) fn watch(key: ProcessKey, unique: Option<u64>) -> Box<dyn Watch> {
    match ExitWatch::begin(key, unique) {
        Ok(watch) => Box::new(watch),
        // It has ended, or whoever has its pid is another.
        Err(Errno::SRCH) => Box::new(Told(true)),
        // What cannot be waited for has not been seen to exit.
        Err(_) => Box::new(Told(false)),
    }
}

/// Waits for the end of one process by a kqueue.
struct ExitWatch {
    queue: OwnedFd,
    /// The kernel tells it once.
    ended: AtomicBool,
}

impl ExitWatch {
    /// Begins to watch a process. `ESRCH`: it has ended, or its pid is another's.
    fn begin(key: ProcessKey, unique: Option<u64>) -> Result<Self, Errno> {
        let queue = kqueue()?;
        let raw = i32::try_from(key.pid.get()).map_err(|_| Errno::SRCH)?;
        let filter = EventFilter::Proc {
            pid: rustix::process::Pid::from_raw(raw).ok_or(Errno::SRCH)?,
            flags: ProcessEvents::EXIT,
        };
        let watch = Event::new(filter, EventFlags::ADD, ptr::null_mut());
        // SAFETY: the event names no descriptor and carries no pointer.
        unsafe { kevent_timespec(&queue, &[watch], &mut [] as &mut [Event; 0], None)? };
        // Watched by pid, so it is compared afterwards: from here on it is this process's end.
        let now = table::read_unique(&mut SystemCalls::default(), key.pid)?;
        if unique.is_some_and(|unique| unique != now.id) {
            return Err(Errno::SRCH);
        }
        Ok(Self {
            queue,
            ended: AtomicBool::new(false),
        })
    }

    /// Waits at most so long; returns whether the process has ended.
    fn wait(&self, patience: Duration) -> Result<bool, Errno> {
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

impl Watch for ExitWatch {
    fn exited(&self, patience: Duration) -> bool {
        self.wait(patience).unwrap_or(false)
    }
}
