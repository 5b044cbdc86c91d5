//! What a signal is planned for: the processes that were chosen, what is offered beside them, who is
//! refused and why. Made once, from what was seen; nothing that happens later changes it.

use super::act::{Signal, Target};
use super::identity::{InstanceId, Pid, ProcessKey};
use super::instance::Role;

/// More targets than this are not signalled at once.
pub const MOST_TARGETS: usize = 20;

/// A row that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chosen {
    /// An instance: its server is meant.
    Instance(InstanceId),
    /// A process: that process is meant.
    Process(ProcessKey),
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The processes, each instance's server before its launchers and helpers.
    pub items: Vec<Item>,
    /// Processes of the same groups that are no member of what was chosen: they are not offered.
    pub beside: Vec<Beside>,
}

/// A process of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The process as it was seen.
    pub target: Target,
    /// Its short name.
    pub name: String,
    /// Whether it is to be signalled.
    pub ticked: bool,
    /// Why it never is.
    pub refused: Option<Refusal>,
}

impl Item {
    /// Returns what it is to its instance.
    pub fn role(&self) -> Option<Role> {
        self.target.member.map(|(_, role)| role)
    }

    /// Returns its pid.
    pub fn pid(&self) -> Pid {
        self.target.key.pid
    }
}

/// A process that is only named, because a signal to the group would hit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The process.
    pub pid: Pid,
    /// What it is, in words; names in it are other processes' text.
    pub text: String,
}

/// Why a process is never signalled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is pid 1.
    FirstProcess,
    /// It is a thread of the kernel.
    KernelThread,
    /// It is this program.
    Own,
    /// It is an ancestor of this program: its shell, its terminal, its ssh session.
    Ancestor,
    /// It has exited and waits for its parent.
    Exited {
        /// The parent, where known.
        parent: Option<Pid>,
    },
}

impl Refusal {
    /// Returns the reason in words.
    pub fn words(&self) -> String {
        match self {
            Self::FirstProcess => "pid 1 is never signalled".to_owned(),
            Self::KernelThread => "a thread of the kernel is never signalled".to_owned(),
            Self::Own => "it is this program".to_owned(),
            Self::Ancestor => "it is an ancestor of this program: this session would end with it".to_owned(),
            Self::Exited { parent: Some(parent) } => {
                format!("has exited: TERM does nothing, its parent {parent} must wait for it")
            }
            Self::Exited { parent: None } => {
                "has exited: TERM does nothing, its parent must wait for it".to_owned()
            }
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlan {
    /// None of the chosen is in the sample.
    Gone,
    /// More than [`MOST_TARGETS`] were chosen: how many.
    TooMany(usize),
    /// Each of the chosen is refused.
    Refused(Vec<(Pid, Refusal)>),
}

impl NoPlan {
    /// Returns the reason in words.
    pub fn words(&self) -> String {
        match self {
            Self::Gone => "what was chosen is gone".to_owned(),
            Self::TooMany(count) => {
                format!("{count} are chosen: at most {MOST_TARGETS} are signalled at once")
            }
            Self::Refused(all) => all
                .iter()
                .map(|(pid, why)| format!("{pid}: {}", why.words()))
                .collect::<Vec<_>>()
                .join("; "),
        }
    }
}

/// What a consequence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Which live client loses its server.
    Loses,
    /// Who would start it again.
    Restart,
    /// What the target does with the signal.
    Handling,
    /// Members that live on.
    Survives,
    /// Open databases and locks.
    Holds,
    /// Sessions elsewhere that live on.
    Remote,
    /// Group and session.
    Group,
}

/// What a signal would bring with it, in one sentence; names in it are other processes' text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consequence {
    /// What it is about.
    pub topic: Topic,
    /// The sentence.
    pub text: String,
}

/// What became of a signalled process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has exited.
    Exited,
    /// It is still there.
    StillThere,
    /// It has exited, and a process with the same argv runs again under another pid.
    CameBack,
}

/// What the second look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aftermath {
    /// What became of the process.
    pub ending: Ending,
    /// Milliseconds from the signal to the exit, or to the look where it is still there.
    pub after_ms: Option<u64>,
    /// What it is doing, its new pid; empty where there is nothing to say.
    pub own: String,
    /// What is left of its instance: begins with [`LEFT`], or is [`NOTHING_LEFT`]; empty where it is
    /// still there, or came back with nothing beside.
    pub left: String,
    /// The processes as which it came back.
    pub back: Vec<ProcessKey>,
}

/// Begins what is left of an instance.
pub const LEFT: &str = "left: ";

/// Nothing is left of an instance.
pub const NOTHING_LEFT: &str = "nothing left";

impl Aftermath {
    /// Returns what is not said by the ending itself, for the journal: what is left stands last.
    pub fn detail(&self) -> String {
        let parts = [self.own.as_str(), self.left.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    }
}

/// Returns whether the whole pid has to be typed for a target: for KILL, for what is no member of an
/// instance, and for pids below 100.
pub fn wants_whole_pid(signal: Signal, target: &Target) -> bool {
    signal == Signal::Kill || target.member.is_none() || target.key.pid.get() < 100
}
