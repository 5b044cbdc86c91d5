//! The clocks that a sample is dated by.

use rustix::time::{ClockId, clock_gettime};

use crate::model::time::UnixMillis;

/// Returns the wall time.
pub(super) fn wall() -> UnixMillis {
    let now = clock_gettime(ClockId::Realtime);
    UnixMillis(
        now.tv_sec
            .saturating_mul(1000)
            .saturating_add(now.tv_nsec / 1_000_000),
    )
}

/// Returns the time since boot, sleep included, nanoseconds.
pub(super) fn since_boot_ns() -> u64 {
    nanoseconds(ClockId::Boottime)
}

/// Returns the CPU time that this thread has used, microseconds: all of a sample is taken on one thread.
pub(super) fn own_cpu_us() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime) / 1000
}

fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}
