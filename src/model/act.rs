//! A signal to one process: whom it is meant for, what a look at him found, what was sent, how it ended.

use super::bytes::OsBytes;
use super::identity::{InstanceId, ProcessKey};
use super::instance::Role;
use super::process::{Argv, Process};
use super::reading::Reading;
use super::sample::Sample;
use super::time::UnixMillis;

/// The signals that the program sends (`signal`(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// Asks to end.
    Term,
    /// Ends without asking: forced containment.
    Kill,
    /// Lets a stopped process go on, so that it can take the TERM that is pending.
    Cont,
}

impl Signal {
    /// Returns the name without `SIG`, as journal and screen say it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Term => "TERM",
            Self::Kill => "KILL",
            Self::Cont => "CONT",
        }
    }
}

/// A process exactly as the operator saw it when he chose it. Whoever differs from it is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Pid and start time.
    pub key: ProcessKey,
    /// Inode of the pidfd that is kept of it; on macOS its unique id.
    pub pidfd_inode: Option<u64>,
    /// Argument vector as it was seen.
    pub argv: Reading<Argv>,
    /// Program file as it was seen.
    pub exe: Reading<OsBytes>,
    /// The instance that it is a member of, and as what.
    pub member: Option<(InstanceId, Role)>,
}

impl Target {
    /// Returns the target that a process of a sample is; `None` where the sample has no such process.
    pub fn of(sample: &Sample, key: ProcessKey, member: Option<(InstanceId, Role)>) -> Option<Self> {
        let process = sample.get(key)?;
        Some(Self {
            key,
            pidfd_inode: process.pidfd_inode,
            argv: process.argv.clone(),
            exe: process.exe.clone(),
            member,
        })
    }
}

/// What a look at a target found.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// When.
    pub at: UnixMillis,
    /// What it found.
    pub standing: Standing,
    /// How a signal would reach it.
    pub way: Way,
}

/// Whether a target is still what was seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The same process, with the same argv and program; as it is now. Its state says whether it is
    /// stopped, or has exited and waits for its parent.
    Same(Box<Process>),
    /// The same process, but it is another program, or calls itself otherwise, now.
    Changed(Box<Process>, Vec<Difference>),
    /// Its pid is another process's now.
    Replaced,
    /// It has ended.
    Gone,
    /// It could not be told: call, reason, and what to do.
    Unread(String),
}

/// What differs from what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The argument vector.
    Argv,
    /// The program file: it has called `execve`(2).
    Program,
}

/// How a signal reaches its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `pidfd_send_signal`(2) through the pidfd that was opened when the process was first looked at.
    KeptPidfd,
    /// The same through a pidfd that was opened for the dialog: another process with the same pid,
    /// start time and argv could have taken its place before.
    NewPidfd,
    /// `kill`(2) after reading the identity once more: between the two the pid can change hands.
    Kill,
}

impl Way {
    /// Returns the word of the journal.
    pub fn word(self) -> &'static str {
        match self {
            Self::KeptPidfd => "pidfd",
            Self::NewPidfd => "pidfd opened for the dialog",
            Self::Kill => "kill",
        }
    }
}

/// What became of the attempt to send one signal.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// The system accepted it.
    Accepted,
    /// The system refused it: its reason (`EPERM`).
    Refused(String),
    /// Nothing was sent: the target is not what was seen any more.
    Withheld(Standing),
}

/// What the wait behind a signal found.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// Milliseconds from the signal to the exit; `None`: it had not exited when the wait ended.
    pub exited_after_ms: Option<u64>,
    /// When this was found.
    pub at: UnixMillis,
}
