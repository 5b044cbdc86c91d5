//! The thread that reads configuration files beside the rest of the program.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::file::Trouble;
use super::{Intake, Problems, Wanted};
use crate::model::bytes::OsBytes;
use crate::model::known::Configured;

/// Least time between two looks at the files' metadata.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A look may take this part of the time at most: where looking is slow, it becomes rarer.
const LOOK_SHARE: u32 = 20;

/// Reads files on a thread of its own; ends it when dropped, without waiting for it.
#[derive(Debug)]
pub struct IntakeThread {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wanted: Arc<Wanted>,
    ended: bool,
    latest: Arc<Configured>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IntakeThread {
    /// Starts the thread. Where that is not possible, `latest` says so.
    pub fn spawn(intake: Intake) -> Self {
        Self::spawn_every(intake, LOOK_EVERY)
    }

    fn spawn_every(intake: Intake, every: Duration) -> Self {
        let shared = Arc::new(Shared::default());
        let end = End(Arc::clone(&shared));
        let spawned = Builder::new()
            .name("intake".to_owned())
            .spawn(move || work(intake, &end, every));
        if let Err(error) = spawned {
            report(
                &shared,
                format!("no thread could be started to read them: {error}"),
            );
        }
        Self { shared }
    }

    /// Sets what is wanted; what was wanted before is forgotten. Never waits for a file.
    pub fn want(&self, wanted: Wanted) {
        let mut state = self.shared.lock();
        if *state.wanted != wanted {
            state.wanted = Arc::new(wanted);
            self.shared.changed.notify_all();
        }
    }

    /// Returns what was read last; the same `Arc` while that is the same.
    pub fn latest(&self) -> Arc<Configured> {
        Arc::clone(&self.shared.lock().latest)
    }
}

impl Drop for IntakeThread {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
    }
}

/// Says so when the thread ends before it is told to: what it read grows old.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        if std::thread::panicking() {
            report(
                &self.0,
                "the thread that reads them failed: changes are not seen any more".to_owned(),
            );
        }
    }
}

fn report(shared: &Shared, detail: String) {
    let mut problems = Problems::default();
    problems.add(&OsBytes::from("configuration files"), Trouble::failed(detail));
    let mut state = shared.lock();
    let mut configured = Configured::clone(&state.latest);
    configured.problems.extend(problems.into_rows());
    state.latest = Arc::new(configured);
}

fn work(mut intake: Intake, end: &End, every: Duration) {
    let shared = &end.0;
    let mut done = Arc::new(Wanted::default());
    let mut pause = every;
    while let Some(wanted) = next(shared, &done, pause) {
        let begun = Instant::now();
        let read = intake.read(&wanted);
        pause = every.max(begun.elapsed() * LOOK_SHARE);
        done = wanted;
        let mut state = shared.lock();
        state.latest = read;
        shared.changed.notify_all();
    }
}

/// Waits until something else is wanted than `done`, or until `pause` is over; `None`: the end.
fn next(shared: &Shared, done: &Arc<Wanted>, pause: Duration) -> Option<Arc<Wanted>> {
    let mut state = shared.lock();
    let begun = Instant::now();
    loop {
        if state.ended {
            return None;
        }
        let left = pause.saturating_sub(begun.elapsed());
        if !Arc::ptr_eq(&state.wanted, done) && *state.wanted != **done || left.is_zero() && !done.is_empty()
        {
            return Some(Arc::clone(&state.wanted));
        }
        state = if done.is_empty() {
            shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
        } else {
            shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    use tempfile::TempDir;

    use super::*;
    use crate::catalog::Catalog;
    use crate::model::host::Os;

    /// Waits until the thread has said something that fits.
    fn wait(shared: &Shared, what: &str, mut fits: impl FnMut(&State) -> bool) {
        let time = Duration::from_secs(10);
        let waited = shared
            .changed
            .wait_timeout_while(shared.lock(), time, |state| !fits(state));
        assert!(!waited.unwrap().1.timed_out(), "waited in vain until {what}");
    }

    fn spawn(home: &TempDir) -> (IntakeThread, Wanted) {
        let intake = Intake::new(Arc::new(Catalog::builtin().unwrap()), Os::Linux);
        let path = home.path().as_os_str().as_bytes().into();
        let wanted = Wanted {
            homes: BTreeSet::from([(1000, path)]),
            ..Wanted::default()
        };
        (
            IntakeThread::spawn_every(intake, Duration::from_millis(5)),
            wanted,
        )
    }

    fn write(home: &TempDir, command: &str) {
        fs::create_dir_all(home.path().join(".cursor")).unwrap();
        let text = format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{command}\"}}}}}}");
        fs::write(home.path().join(".cursor/mcp.json"), text).unwrap();
    }

    #[test]
    fn it_reads_what_is_wanted_and_what_changes() {
        let home = TempDir::new().unwrap();
        write(&home, "first");
        let (thread, wanted) = spawn(&home);
        assert_eq!(*thread.latest(), Configured::default());
        thread.want(wanted);
        let has = |state: &State, command: &str| {
            state
                .latest
                .servers
                .iter()
                .any(|server| server.command == command)
        };
        wait(&thread.shared, "it is read", |state| has(state, "first"));
        assert!(Arc::ptr_eq(&thread.latest(), &thread.latest()));
        write(&home, "second");
        wait(&thread.shared, "the change is read", |state| has(state, "second"));
        thread.want(Wanted::default());
        wait(&thread.shared, "nothing is wanted", |state| {
            state.latest.servers.is_empty()
        });
    }

    #[test]
    fn it_ends_when_it_is_dropped() {
        let home = TempDir::new().unwrap();
        let (thread, wanted) = spawn(&home);
        let shared = Arc::downgrade(&thread.shared);
        thread.want(wanted);
        drop(thread);
        let begun = Instant::now();
        while shared.strong_count() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "the thread goes on");
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_thread_that_fails_is_said() {
        let shared = Arc::new(Shared::default());
        let end = End(Arc::clone(&shared));
        let failed = std::thread::spawn(move || {
            let _end = end;
            // Without the message of the panic hook.
            std::panic::resume_unwind(Box::new("a failure"));
        });
        assert!(failed.join().is_err());
        assert_eq!(shared.lock().latest.problems.len(), 1);
    }
}
