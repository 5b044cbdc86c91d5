//! The clocks that a sample is dated by.

use rustix::time::{ClockId, clock_gettime};

use crate::model::time::UnixMillis;

/// One moment, on two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Wall time.
    pub(super) wall: UnixMillis,
    /// Time since boot, sleep included, nanoseconds.
    pub(super) since_boot_ns: u64,
}

impl Moment {
    /// Reads both clocks.
    pub(super) fn now() -> Self {
        let since_boot_ns = nanoseconds(ClockId::Boottime);
        Self::of(nanoseconds(ClockId::Realtime), since_boot_ns)
    }

    /// The wall time is rounded so that it lies whole milliseconds from the time since boot: what is dated
    /// by the two, such as the start of a process, has the same date in every sample.
    fn of(wall_ns: u64, since_boot_ns: u64) -> Self {
        let apart_ms = signed(wall_ns)
            .saturating_sub(signed(since_boot_ns))
            .div_euclid(1_000_000);
        Self {
            wall: UnixMillis(signed(since_boot_ns / 1_000_000).saturating_add(apart_ms)),
            since_boot_ns,
        }
    }

    /// Returns how far the wall time is ahead.
    pub(super) fn apart_ms(self) -> i64 {
        self.wall.0.saturating_sub(signed(self.since_boot_ns / 1_000_000))
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the wall time.
pub(super) fn wall() -> UnixMillis {
    UnixMillis(signed(nanoseconds(ClockId::Realtime) / 1_000_000))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_are_as_far_apart_whenever_they_are_read() {
        const APART_NS: u64 = 1_700_000_000_123_456_789;
        for since_boot_ns in (0..5_000_000).step_by(77_777) {
            let moment = Moment::of(since_boot_ns + APART_NS, since_boot_ns);
            assert_eq!(moment.apart_ms(), 1_700_000_000_123, "{since_boot_ns}");
            let exact_ms = signed((since_boot_ns + APART_NS) / 1_000_000);
            assert!((exact_ms - moment.wall.0).abs() <= 1, "{since_boot_ns}");
        }
        // A wall clock that was never set may be behind.
        assert_eq!(Moment::of(5_000_000, 9_000_000).apart_ms(), -4);
    }
}
