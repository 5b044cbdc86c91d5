//! Carries out file operations on threads of their own, each with a deadline: a mount that hangs
//! costs one thread, never the caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Threads that may hang at the same time; after that nothing else is tried until one returns.
const MAX_HUNG: usize = 8;

/// Why an operation has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// It took longer than the deadline.
    Deadline,
    /// An earlier operation on the same path has not returned yet; no other was started.
    Hanging,
    /// Too many operations hang; this one was not started.
    TooMany,
    /// The thread could not be started, or it ended without an answer.
    NoThread(String),
}

impl Late {
    /// Returns the sentence for an operation that may take `deadline`.
    pub(super) fn sentence(&self, deadline: Duration) -> String {
        match self {
            Self::Deadline => format!(
                "no answer within {} ms: given up; is it on a mount whose server does not answer?",
                deadline.as_millis()
            ),
            Self::Hanging => {
                "an earlier look at it has not returned: it is not tried again until it does".to_owned()
            }
            Self::TooMany => format!("not looked at: {MAX_HUNG} other looks have not returned"),
            Self::NoThread(why) => format!("not looked at: {why}"),
        }
    }
}

/// Something to do at a path.
pub(super) trait Errand: Send + 'static {
    /// What it finds out.
    type Answer: Send + 'static;

    /// The path; while an errand there hangs, no other is started.
    fn path(&self) -> &Path;

    /// Does it; may take any time.
    fn run(&self) -> Self::Answer;
}

/// Runs errands, remembers those that hang.
#[derive(Debug)]
pub(super) struct Hands {
    deadline: Duration,
    hung: BTreeMap<PathBuf, JoinHandle<()>>,
}

/// How far the thread is, and whether it was given up.
#[derive(Debug, Default)]
struct Progress {
    at: usize,
    given_up: bool,
}

impl Hands {
    /// Returns hands that give each errand this time.
    pub(super) fn new(deadline: Duration) -> Self {
        Self {
            deadline,
            hung: BTreeMap::new(),
        }
    }

    /// Runs all errands one after another; answers in their order.
    pub(super) fn run<E: Errand + Sync>(&mut self, errands: &Arc<[E]>) -> Vec<Result<E::Answer, Late>> {
        let mut answers = Vec::with_capacity(errands.len());
        while let Some(next) = errands.get(answers.len()) {
            self.hung.retain(|_, thread| !thread.is_finished());
            match self.refusal(next.path()) {
                Some(late) => answers.push(Err(late)),
                None => self.batch(errands, &mut answers),
            }
        }
        answers
    }

    fn refusal(&self, path: &Path) -> Option<Late> {
        if self.hung.contains_key(path) {
            return Some(Late::Hanging);
        }
        (self.hung.len() >= MAX_HUNG).then_some(Late::TooMany)
    }

    /// Runs the errands from `answers.len()` on up to the first that hangs or must not be started;
    /// adds one answer at least.
    fn batch<E: Errand + Sync>(&mut self, errands: &Arc<[E]>, answers: &mut Vec<Result<E::Answer, Late>>) {
        let first = answers.len();
        let allowed = |errand: &&E| self.refusal(errand.path()).is_none();
        let end = first + errands.iter().skip(first).take_while(allowed).count();
        let progress = Arc::new(Mutex::new(Progress {
            at: first,
            given_up: false,
        }));
        let (sender, receiver) = channel();
        let thread = {
            let (errands, progress) = (Arc::clone(errands), Arc::clone(&progress));
            let work = move || {
                let errands = errands.get(first..end).unwrap_or_default();
                work(errands, first, &progress, &sender);
            };
            Builder::new().name("intake-file".to_owned()).spawn(work)
        };
        let thread = match thread {
            Ok(thread) => thread,
            Err(error) => {
                answers.push(Err(Late::NoThread(format!(
                    "no thread could be started: {error}"
                ))));
                return;
            }
        };
        if let Some(late) = self.receive(&receiver, &progress, answers, end) {
            if let (Late::Deadline, Some(errand)) = (&late, errands.get(answers.len())) {
                self.hung.insert(errand.path().to_owned(), thread);
            }
            answers.push(Err(late));
        }
    }

    /// Takes answers up to `end`; returns why there is none for the next errand.
    fn receive<T>(
        &self,
        receiver: &Receiver<T>,
        progress: &Mutex<Progress>,
        answers: &mut Vec<Result<T, Late>>,
        end: usize,
    ) -> Option<Late> {
        while answers.len() < end {
            match receiver.recv_timeout(self.deadline) {
                Ok(answer) => answers.push(Ok(answer)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Some(Late::NoThread("the thread that looked ended early".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let mut progress = lock(progress);
                    // It may have answered just now and gone on: then the answer is in the channel.
                    if progress.at <= answers.len() {
                        progress.given_up = true;
                        return Some(Late::Deadline);
                    }
                }
            }
        }
        None
    }
}

fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs errands until one was given up.
fn work<E: Errand>(errands: &[E], first: usize, progress: &Mutex<Progress>, answers: &Sender<E::Answer>) {
    for (index, errand) in errands.iter().enumerate() {
        {
            let mut progress = lock(progress);
            if progress.given_up {
                return;
            }
            progress.at = first + index;
        }
        if answers.send(errand.run()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::sync_channel;

    use super::*;

    /// Hangs until its sender is gone.
    struct Errands {
        path: PathBuf,
        hang: Option<Arc<Mutex<Receiver<()>>>>,
        runs: Arc<AtomicUsize>,
    }

    impl Errand for Errands {
        type Answer = PathBuf;

        fn path(&self) -> &Path {
            &self.path
        }

        fn run(&self) -> PathBuf {
            self.runs.fetch_add(1, Ordering::SeqCst);
            if let Some(hang) = &self.hang {
                let _ = hang.lock().unwrap().recv();
            }
            self.path.clone()
        }
    }

    fn errand(path: &str, hang: Option<&Arc<Mutex<Receiver<()>>>>, runs: &Arc<AtomicUsize>) -> Errands {
        Errands {
            path: path.into(),
            hang: hang.cloned(),
            runs: Arc::clone(runs),
        }
    }

    #[test]
    fn an_errand_that_hangs_costs_only_its_own_answer_and_is_not_started_twice() {
        let (release, hang) = sync_channel::<()>(0);
        let hang = Arc::new(Mutex::new(hang));
        let (slow, quick) = (Arc::default(), Arc::default());
        let errands: Arc<[Errands]> = [
            errand("/a", None, &quick),
            errand("/b", Some(&hang), &slow),
            errand("/c", None, &quick),
        ]
        .into();
        let mut hands = Hands::new(Duration::from_millis(100));

        let answers = hands.run(&errands);
        assert_eq!(answers, [Ok("/a".into()), Err(Late::Deadline), Ok("/c".into())]);
        let answers = hands.run(&errands);
        assert_eq!(answers, [Ok("/a".into()), Err(Late::Hanging), Ok("/c".into())]);
        assert_eq!(slow.load(Ordering::SeqCst), 1);
        assert_eq!(quick.load(Ordering::SeqCst), 4);

        drop(release);
        hands.hung.remove(Path::new("/b")).unwrap().join().unwrap();
        let answers = hands.run(&errands);
        assert_eq!(answers, [Ok("/a".into()), Ok("/b".into()), Ok("/c".into())]);
    }

    #[test]
    fn so_many_may_hang_and_no_more() {
        let (release, hang) = sync_channel::<()>(0);
        let hang = Arc::new(Mutex::new(hang));
        let runs = Arc::default();
        let errands: Arc<[Errands]> = (0..MAX_HUNG + 2)
            .map(|n| errand(&format!("/{n}"), Some(&hang), &runs))
            .collect();
        let answers = Hands::new(Duration::from_millis(20)).run(&errands);
        assert_eq!(
            answers
                .iter()
                .filter(|answer| **answer == Err(Late::Deadline))
                .count(),
            MAX_HUNG
        );
        assert_eq!(answers.last(), Some(&Err(Late::TooMany)));
        drop(release);
    }
}
