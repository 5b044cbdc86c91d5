//! Signals: from the key to the outcome. The dialog owns its plan and every key; a run sends to one
//! target after the other, each only after the outcome of the one before.

mod confirm;
mod dialog;
mod lookout;
mod missing;
mod open;
mod run;
#[cfg(test)]
pub(crate) mod testkit;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::App;
use super::effect::JobId;
use crate::journal::TargetRef;
use crate::model::act::{Signal, Target, Watched, Way};
use crate::model::identity::ProcessKey;
use crate::model::plan::Plan;
use crate::model::time::UnixMillis;
use crate::model::world::World;

pub use confirm::Code;
pub use missing::Missing;

pub(super) use dialog::{key, looked, paste};
pub(super) use open::{begin, open};
pub(super) use run::{opened, reasons, saved, saves, signalled, watched, withdraw, world, writes, written};

/// What is known of signals.
#[derive(Debug, Default)]
pub struct Act {
    /// The signals that are under way, or were the last.
    pub(super) run: Option<Run>,
    /// The order that saves the sample after the second look.
    pub(super) saving: Option<JobId>,
    /// Servers that have exited, and may come back.
    lookout: lookout::Lookout,
}

impl Act {
    /// Returns the run that is under way, or was the last.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Returns the run that is under way.
    pub fn under_way(&self) -> Option<&Run> {
        self.run.as_ref().filter(|run| run.is_under_way())
    }
}

/// What is to be signalled, as it was when the key was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The world that was shown: what the operator saw.
    pub(super) world: Arc<World>,
    /// Whom it means.
    pub(super) plan: Plan,
    /// The signal; `None`: to be chosen.
    pub(super) signal: Option<Signal>,
    /// Marked rows that could not be seen.
    pub(super) hidden: Vec<String>,
    /// The selected row, where it is not among the marked ones.
    pub(super) not_meant: Option<String>,
}

/// The dialog.
#[derive(Debug)]
pub struct Dialog {
    /// What is to be signalled.
    pub(super) intent: Intent,
    /// The same world with the targets as they were read again.
    pub(super) now: Arc<World>,
    /// The order to look again, until it is answered.
    pub(super) looking: Option<JobId>,
    /// When they were read again.
    pub(super) read_at: Option<UnixMillis>,
    /// The weakest way in which a target can be reached.
    pub(super) way: Option<Way>,
    /// Processes that cannot be ticked since they were read again, and why.
    pub(super) lost: BTreeMap<ProcessKey, String>,
    /// The chosen line.
    pub(super) at: usize,
    /// What was typed: digits.
    pub(super) input: String,
    /// The missing steps that are passed over on purpose, as they were then.
    pub(super) passed_over: Vec<Missing>,
    /// Whether stopped targets get CONT with the TERM.
    pub(super) continues: bool,
    /// Whether it was confirmed once, and a live client asks a second time.
    pub(super) asks_again: bool,
    /// Lines scrolled so far, up and down summed.
    pub(super) scrolled: i64,
}

impl Dialog {
    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.intent.plan
    }

    /// Returns the signal; `None`: it is to be chosen.
    pub fn signal(&self) -> Option<Signal> {
        self.intent.signal
    }

    /// Returns the world with the targets as they were read again.
    pub fn now(&self) -> &World {
        &self.now
    }

    /// Returns when the operator's world was taken.
    pub fn seen_at(&self) -> UnixMillis {
        self.intent.world.sample.taken_at
    }

    /// Returns when the targets were read again; `None`: that is under way.
    pub fn read_at(&self) -> Option<UnixMillis> {
        self.read_at
    }

    /// Returns what is not certain about the way to the targets; `None`: a signal reaches what was seen.
    pub fn window(&self) -> Option<&'static str> {
        match self.way? {
            Way::KeptPidfd => None,
            Way::NewPidfd => Some(
                "pidfd opened now: a process that took over the pid before, alike in start and argv, would not be told apart",
            ),
            Way::Kill => Some("no pidfd: the pid can change hands between the last check and kill(2)"),
        }
    }

    /// Returns why a process cannot be ticked any more.
    pub fn lost(&self, key: ProcessKey) -> Option<&str> {
        self.lost.get(&key).map(String::as_str)
    }

    /// Returns the place of the chosen line.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns what was typed.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// Returns whether stopped targets get CONT with the TERM.
    pub fn continues(&self) -> bool {
        self.continues
    }

    /// Returns whether it was confirmed once, and a live client asks a second time.
    pub fn asks_again(&self) -> bool {
        self.asks_again
    }

    /// Returns the sum of all lines scrolled so far.
    pub fn scrolled(&self) -> i64 {
        self.scrolled
    }

    /// Returns marked rows that could not be seen when the key was pressed.
    pub fn hidden(&self) -> &[String] {
        &self.intent.hidden
    }

    /// Returns the selected row, where it is not among the marked ones.
    pub fn not_meant(&self) -> Option<&str> {
        self.intent.not_meant.as_deref()
    }

    /// Returns the processes that are ticked, in their order.
    pub fn ticked(&self) -> Vec<ProcessKey> {
        let items = self.plan().items.iter();
        items
            .filter(|item| item.ticked)
            .map(|item| item.target.key)
            .collect()
    }

    /// Returns the targets that are ticked, in their order.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        let items = self.plan().items.iter();
        items.filter(|item| item.ticked).map(|item| &item.target)
    }

    /// Returns the ticked processes that are stopped, as they were read again.
    pub fn stopped(&self) -> Vec<ProcessKey> {
        let stopped = |key: &ProcessKey| {
            let process = self.now.sample.get(*key);
            process.is_some_and(crate::model::process::Process::is_stopped)
        };
        self.ticked().into_iter().filter(stopped).collect()
    }
}

/// Signals to one or more targets, as they were confirmed.
#[derive(Debug)]
pub struct Run {
    /// What the operator saw.
    pub(super) seen: Arc<World>,
    pub(super) signal: Signal,
    pub(super) shots: Vec<Shot>,
    /// The target that is dealt with.
    pub(super) at: usize,
    pub(super) stage: Stage,
    /// Steps that are passed over, to be journalled before the first signal.
    pub(super) overrides: Vec<Missing>,
    /// Why the targets that have no signal yet get none: the operator has withdrawn them, or one that had
    /// exited came back.
    pub(super) withdrawn: Option<String>,
}

/// One target of a run.
#[derive(Debug)]
pub struct Shot {
    pub(super) target: Target,
    pub(super) named: TargetRef,
    pub(super) name: String,
    pub(super) then_continue: bool,
    pub(super) state: ShotState,
}

/// What became of one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShotState {
    /// Nothing was sent yet.
    Waiting,
    /// The desk has the order.
    Sending,
    /// It was sent; the second look is due then.
    Sent {
        /// When.
        due: UnixMillis,
    },
    /// It has an outcome, in words.
    Ended {
        /// What.
        said: String,
        /// Whether that is no surprise: it has exited.
        well: bool,
    },
}

/// How far a run is.
#[derive(Debug)]
pub(super) enum Stage {
    /// The incident is being opened.
    Opening,
    /// The evidence is on its way to the disk.
    Saving(JobId),
    /// What is passed over is on its way into the journal.
    Overriding(JobId),
    /// A signal is with the desk.
    Signalling {
        job: JobId,
        /// The newest world when the order was given.
        baseline: Arc<World>,
    },
    /// A signal was sent, and its outcome is waited for.
    Watching {
        job: JobId,
        baseline: Arc<World>,
        /// From when on a world is the second look.
        due: UnixMillis,
        watched: Option<Watched>,
        /// The entry that announced it.
        announced: Option<u64>,
    },
    /// It is over; where it stopped early, why.
    Ended(Option<String>),
}

impl Run {
    /// Returns whether something is still to happen.
    pub fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Ended(_))
    }

    /// Returns the signal.
    pub fn signal(&self) -> Signal {
        self.signal
    }

    /// Returns how many targets have no signal yet.
    pub fn waiting(&self) -> usize {
        let shots = self.shots.iter();
        shots.filter(|shot| shot.state == ShotState::Waiting).count()
    }

    /// Returns whether targets wait that can still be withdrawn.
    pub fn can_withdraw(&self) -> bool {
        self.is_under_way() && self.withdrawn.is_none() && self.waiting() > 0
    }

    /// Returns the targets, in their order.
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }

    /// Returns why it stopped early.
    pub fn stopped(&self) -> Option<&str> {
        match &self.stage {
            Stage::Ended(why) => why.as_deref(),
            _ => None,
        }
    }

    /// Returns what is being done now, in words.
    pub fn doing(&self, now: UnixMillis) -> String {
        let word = self.signal.word();
        let whom = self.shots.get(self.at).map_or("", |shot| shot.name.as_str());
        match &self.stage {
            Stage::Opening => format!("{word} to {whom}: the incident is being opened"),
            Stage::Saving(_) => format!("{word} to {whom}: the evidence is being saved"),
            Stage::Overriding(_) => format!("{word} to {whom}: what is passed over is being journalled"),
            Stage::Signalling { .. } => format!("{word} to {whom}: being journalled and sent"),
            Stage::Watching { due, .. } => {
                let left = (due.0 - now.0 + 999).max(0) / 1000;
                if left > 0 {
                    format!("{word} to {whom} was sent: second look in {left} s")
                } else {
                    format!("{word} to {whom} was sent: looking again")
                }
            }
            Stage::Ended(Some(why)) => format!("stopped: {why}"),
            Stage::Ended(None) => "done".to_owned(),
        }
    }
}

impl Shot {
    /// Returns how the target is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what became of it.
    pub fn state(&self) -> &ShotState {
        &self.state
    }
}

impl App {
    /// Returns what is known of signals.
    pub fn act(&self) -> &Act {
        &self.act
    }
}
