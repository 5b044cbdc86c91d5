//! Work with a deadline: what hangs is given up and said, and the rest of the report is printed.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// It took longer than this.
    Deadline(Duration),
    /// It ended without a result, or was never begun.
    Ended,
}

impl Late {
    /// Returns the sentence.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Deadline(time) => format!("no answer within {} ms: given up", time.as_millis()),
            Self::Ended => {
                "it ended without an answer: a fault of the program, or no thread could be started".into()
            }
        }
    }
}

/// Work that has begun.
pub(super) struct Begun<T> {
    since: Instant,
    time: Duration,
    answer: Receiver<T>,
}

/// Begins work on a thread of its own.
pub(super) fn begin<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Begun<T> {
    let (sender, answer) = sync_channel(1);
    // Where no thread can be started, the sender is dropped, and the answer is `Ended`.
    let _ = Builder::new().name("doctor".to_owned()).spawn(move || {
        // Nobody waits for it any more.
        let _ = sender.send(work());
    });
    Begun {
        since: Instant::now(),
        time,
        answer,
    }
}

impl<T> Begun<T> {
    /// Waits for the result, until its time is over.
    pub(super) fn end(self) -> Result<T, Late> {
        let left = self.time.saturating_sub(self.since.elapsed());
        self.answer.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Late::Deadline(self.time),
            RecvTimeoutError::Disconnected => Late::Ended,
        })
    }
}

/// Waits; nothing can end the wait early.
pub(super) fn pause(time: Duration) {
    let (_sender, receiver) = channel::<()>();
    let _ = receiver.recv_timeout(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_given_up_and_what_dies_is_said() {
        let (release, hang) = channel::<()>();
        let begun = begin(Duration::from_millis(20), move || hang.recv());
        assert_eq!(begun.end(), Err(Late::Deadline(Duration::from_millis(20))));
        drop(release);
        let died = begin(Duration::from_secs(20), || {
            std::panic::resume_unwind(Box::new("it does"));
        });
        assert_eq!(died.end(), Err(Late::Ended));
        assert_eq!(begin(Duration::from_secs(20), || 3).end(), Ok(3));
    }
}
