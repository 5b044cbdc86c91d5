//! Signals: announced on the disk, sent, and told as they came out. The wait behind one is another
//! thread's, so that the desk goes on meanwhile.

pub(super) mod returned;

use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::Answer;
use super::work::Open;
use crate::app::{JobId, Outcome, Signalling};
use crate::journal::entry::OutcomeKind;
use crate::journal::{Entry, Line};
use crate::model::act::{Difference, Sent, Signal, Standing, Watched, Way};
use crate::platform::{Signaller, Watch, wall_clock};
use crate::runtime::fault;
use crate::store::StoreError;

/// Nobody waits longer for a second look.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// Carries out one order.
pub(super) struct Hand<'a> {
    pub(super) signaller: &'a mut dyn Signaller,
    pub(super) journal: &'a mut Open,
    pub(super) order: &'a Signalling,
}

/// What came of an order; and the wait that has begun where something was sent.
pub(super) type Signalled = (Result<(Sent, Vec<Line>), String>, Option<Wait>);

/// By which way a signal went out, and which entry announced it.
#[derive(Clone, Copy)]
struct Out {
    way: Way,
    announced: u64,
}

/// A wait that has begun, whose outcome is not told before the signal's own.
pub(super) struct Wait {
    /// Takes whom to tell; `None`: no thread could be started.
    thread: Option<Sender<(JobId, UnboundedSender<Answer>)>>,
}

impl Hand<'_> {
    /// Announces the signal, sends it, and journals what became of it. Whatever stands in the way of the
    /// announcement is in the way of the signal.
    pub(super) fn signal(mut self) -> Signalled {
        let (named, target) = (self.order.named.key, self.order.target.key);
        if named != target {
            let why = format!("nothing was sent: the journal would name {named}, the signal is for {target}");
            return (Err(why), None);
        }
        let signal = self.order.signal;
        let (sent, out) = match self.send(signal) {
            Ok(sent) => sent,
            Err(error) => return (Err(format!("nothing was sent: {error}")), None),
        };
        let wait = (sent == Sent::Accepted).then(|| self.wait());
        self.note(signal, &sent, out);
        if sent == Sent::Accepted && self.order.then_continue {
            // Unannounced it is not sent: the process stays stopped, which the second look tells.
            if let Ok((continued, out)) = self.send(Signal::Cont) {
                self.note(Signal::Cont, &continued, out);
            }
        }
        // Lines that cannot be read now come with the next ones.
        let lines = self.journal.new_lines().unwrap_or_default();
        (Ok((sent, lines)), wait)
    }

    fn send(&mut self, signal: Signal) -> Result<(Sent, Out), StoreError> {
        let way = self.signaller.look(&self.order.target).way;
        let receipt = self.journal.write(Entry::AboutToSignal {
            signal: signal.word().to_owned(),
            targets: vec![self.order.named.clone()],
            way: announced(way).to_owned(),
        })?;
        let out = Out {
            way,
            announced: receipt.head().seq,
        };
        fault::point("announced");
        let sent = self.signaller.send(&self.order.target, signal, receipt);
        fault::point("sent");
        Ok((sent, out))
    }

    fn wait(&self) -> Wait {
        let patience = Duration::from_millis(self.order.wait_ms).min(LONGEST_WAIT);
        Wait::begin(self.signaller.watch(&self.order.target), patience, self.order)
    }

    /// Journals what became of a signal. What cannot be written now is owed: the signal is out.
    fn note(&mut self, signal: Signal, sent: &Sent, out: Out) {
        let word = || signal.word().to_owned();
        let target = || self.order.named.clone();
        let handed_over = |refused| Entry::Sent {
            signal: word(),
            target: target(),
            way: out.way.word().to_owned(),
            refused,
            announced: Some(out.announced),
        };
        let outcome = |outcome, detail| Entry::Outcome {
            signal: word(),
            target: target(),
            outcome,
            after_ms: None,
            detail,
            announced: Some(out.announced),
        };
        let entries = match sent {
            Sent::Accepted => vec![handed_over(None)],
            Sent::Refused(why) => vec![
                handed_over(Some(why.clone())),
                outcome(OutcomeKind::NotPermitted, Some(why.clone())),
            ],
            Sent::Withheld(standing) => {
                let (kind, detail) = withheld(standing);
                vec![outcome(kind, detail)]
            }
        };
        for entry in entries {
            if self.journal.write(entry.clone()).is_err() {
                self.journal.owe(entry);
            }
        }
    }
}

impl Wait {
    fn begin(watch: Box<dyn Watch>, patience: Duration, order: &Signalling) -> Self {
        let begun = Instant::now();
        let (thread, told) = mpsc::channel::<(JobId, UnboundedSender<Answer>)>();
        let started = std::thread::Builder::new()
            .name(format!("watch-{}", order.target.key.pid))
            .spawn(move || {
                let exited = watch.exited(patience);
                let after = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                let found = watched(exited.then_some(after));
                // The desk ended before it told: nobody is there for this either.
                if let Ok((job, answers)) = told.recv() {
                    answer(job, found, &answers);
                }
            });
        Self {
            thread: started.is_ok().then_some(thread),
        }
    }

    /// Has what the wait finds told, when it is over.
    pub(super) fn tell(self, job: JobId, answers: &UnboundedSender<Answer>) {
        match self.thread {
            Some(thread) => {
                // It waits for this before it ends.
                let _ = thread.send((job, answers.clone()));
            }
            None => answer(job, watched(None), answers),
        }
    }
}

fn watched(exited_after_ms: Option<u64>) -> Watched {
    Watched {
        exited_after_ms,
        at: wall_clock(),
    }
}

fn answer(job: JobId, found: Watched, answers: &UnboundedSender<Answer>) {
    // Nobody listens any more when the screen has ended.
    let _ = answers.send(Answer {
        job,
        outcome: Outcome::Watched(found),
        terminal: None,
    });
}

/// Returns the way in the words of an announcement: one that leaves a window open names it.
fn announced(way: Way) -> &'static str {
    match way {
        Way::KeptPidfd | Way::NewPidfd => way.word(),
        Way::Kill => {
            "kill, for this kernel has no pidfd: between the last check and the signal the pid can become another's"
        }
    }
}

/// Returns what the record says of a target that got no signal.
fn withheld(standing: &Standing) -> (OutcomeKind, Option<String>) {
    let nothing = |why: &str| Some(format!("nothing was sent: {why}"));
    match standing {
        Standing::Gone => (OutcomeKind::AlreadyGone, None),
        Standing::Same(process) if process.is_zombie() => (
            OutcomeKind::AlreadyGone,
            nothing("it has exited and waits for its parent (a zombie)"),
        ),
        Standing::Same(_) => (OutcomeKind::StillThere, nothing("it was held back")),
        Standing::Changed(_, differences) => {
            let found: Vec<&str> = differences.iter().map(|one| change(*one)).collect();
            (OutcomeKind::StillThere, nothing(&found.join(", ")))
        }
        Standing::Replaced => (OutcomeKind::Replaced, None),
        Standing::Unread(why) => (OutcomeKind::NotPermitted, nothing(why)),
    }
}

fn change(difference: Difference) -> &'static str {
    match difference {
        Difference::Argv => "its argument vector is not the one that was seen",
        Difference::Program => "it runs another program than was seen",
    }
}

#[cfg(test)]
mod tests;
