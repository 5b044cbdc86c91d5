//! What goes out: orders that the runtime carries out.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::freeze::SavedFile;
use crate::journal::entry::{AttachedFrom, SnapshotReason};
use crate::journal::{Digest, Entry, Kept, LeadRef, Line, Subject, TargetRef};
use crate::model::act::{Look, Sent, Signal, Target, Watched};
use crate::model::identity::{InstanceId, ProcessKey};
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// An order to the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// What the collector should look at from now on.
    Demand(Demand),
    /// What the desk should do; it answers with `Event::Done` and the same number.
    Desk(JobId, Order),
    /// Look up text that only the drawing knows; answered by `Event::Excerpt`.
    Excerpt(Excerpt, Use),
    /// Leave the screen and show this text plain, until a key is pressed: any mouse selects it.
    Plain(String),
    /// Lend the terminal to the operator's editor with this text; answered by `Event::Edited`.
    Edit(String),
    /// Draw every cell anew: something else has written to the terminal.
    Redraw,
    /// Leave the screen and stop, until the shell resumes the program.
    Suspend,
    /// Leave the screen and end.
    Quit,
}

/// A part of what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excerpt {
    /// The current line of the pane.
    Line,
    /// The whole pane.
    Pane,
}

/// What an excerpt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is copied.
    Copy,
    /// It is shown plain.
    Plain,
}

/// What the screen needs of the next samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The process of the selected row: it gets a closer look whatever it is.
    pub selected: Option<ProcessKey>,
}

/// Number of an order to the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// An order to the desk, which writes to the disk beside the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Save a snapshot of this world.
    Save {
        /// The world.
        world: Arc<World>,
        /// What for.
        why: SnapshotReason,
    },
    /// Open an incident on the machine of this world; snapshots that belong to it are copied in.
    Open {
        /// Title, usually a ticket number; `None`: go on with one of this operator that is open.
        title: Option<String>,
        /// The directory of the open one that the operator was shown: the one to go on with (`None`: the
        /// newest). Beside another one no new one is opened, and `Outcome::Elsewhere` says so.
        offered: Option<String>,
        /// The world that names machine and operator.
        on: Arc<World>,
    },
    /// Look which incident of the operator whom this world names is the newest open one.
    FindOpen(Arc<World>),
    /// Read what others have added to the journal of the open incident.
    Follow,
    /// Leave the open incident, which somebody else has closed; answered as `FindOpen` is.
    Leave(Arc<World>),
    /// Append an entry to the journal of the open incident.
    Append(Box<Entry>),
    /// Attach output to the open incident.
    Attach(Box<Attach>),
    /// Run a command that was configured and confirmed; answered by `Outcome::Ran` when it has ended.
    Run(Box<Run>),
    /// Put text into a clipboard, and into a file where an incident is open.
    Copy(Box<Copy>),
    /// Look at these processes anew, for the dialog: nothing is sent. Answered by `Outcome::Looked`.
    Look(Vec<Target>),
    /// Journal a signal to one process, send it, and watch what becomes of it. Answered twice: by
    /// `Outcome::Signalled`, and where something was sent by `Outcome::Watched` after the wait.
    Signal(Box<Signalling>),
}

/// One signal to one process, as it was confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signalling {
    /// The process as it was seen.
    pub target: Target,
    /// How the journal names it.
    pub named: TargetRef,
    /// The signal.
    pub signal: Signal,
    /// Whether CONT follows at once, so that a stopped process can take it.
    pub then_continue: bool,
    /// How long to wait before the second look, milliseconds.
    pub wait_ms: u64,
}

/// A command that was configured and confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What its output is called.
    pub label: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// After this long it is ended, seconds.
    pub timeout_s: u64,
    /// What it is about.
    pub on: Option<Subject>,
    /// The authority that it is for.
    pub lead: Option<LeadRef>,
}

/// Text that leaves the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The text.
    pub text: String,
    /// Ending of its file.
    pub ending: &'static str,
    /// How the operator would call it.
    pub what: String,
    /// The world that it is a copy of.
    pub on: Arc<World>,
}

/// Output to attach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attach {
    /// The output, or where it is.
    pub material: Material,
    /// What it is.
    pub label: String,
    /// What it is about.
    pub on: Option<Subject>,
    /// The authority that it speaks of.
    pub lead: Option<LeadRef>,
}

/// Output to attach, or where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Material {
    /// It was pasted.
    Pasted(String),
    /// It is in this file.
    File(String),
    /// A command has written it.
    Output {
        /// The bytes.
        bytes: Vec<u8>,
        /// The command, and how it ended.
        from: AttachedFrom,
    },
}

/// The desk's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The snapshot is on the disk, with the lines of the journal that are new; or why it is not,
    /// and what to do.
    Saved(Result<(SavedFile, Vec<Line>), String>),
    /// The incident is open; or why it is not.
    Opened(Result<Opened, String>),
    /// The entry is on the disk, with the lines of the journal that are new; or why it is not.
    Written(Result<Vec<Line>, String>),
    /// The newest open incident of this operator, which an empty title goes on with.
    Found(Option<Offer>),
    /// No incident was opened: this one of the operator is open, and was not shown before.
    Elsewhere(Offer),
    /// What others have added to the journal; or why it cannot be read.
    Followed(Result<Followed, String>),
    /// Why what was ordered cannot be done; trying it again would not help.
    Refused(String),
    /// What became of a copy, in words.
    Copied(String),
    /// The output of a command, to be attached, and how it ended; or why it was not run.
    Ran(Result<(Box<Attach>, String), String>),
    /// What a look at each target found, in the order of the question.
    Looked(Vec<Look>),
    /// What became of a signal, with the lines of the journal that are new; or why it could not be
    /// journalled, and so was not sent.
    Signalled(Result<(Sent, Vec<Line>), String>),
    /// What the wait behind a signal found.
    Watched(Watched),
}

/// An incident of this operator that is open on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Title.
    pub title: String,
    /// When it was opened.
    pub at: UnixMillis,
    /// Its directory.
    pub path: String,
}

/// What others have added to the journal of the open incident.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Followed {
    /// The lines that are new; from the first one on where the journal is not the one that was read.
    pub lines: Vec<Line>,
    /// Instances of this boot that their snapshots show, each with the newest that does.
    pub shown: BTreeMap<InstanceId, Kept>,
    /// What is not as it was written, where it was looked at again.
    pub faults: Option<Vec<String>>,
}

/// An incident that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Title, as it was journalled.
    pub title: String,
    /// Its directory.
    pub path: String,
    /// Its journal.
    pub lines: Vec<Line>,
    /// Instances of this boot that its snapshots show, each with the newest that does.
    pub shown: BTreeMap<InstanceId, Kept>,
    /// Digests of the snapshots that were saved before and have been copied in.
    pub copied: Vec<Digest>,
    /// What its snapshots show, the newest first, as far as its records need it.
    pub evidence: Vec<Arc<World>>,
    /// What was saved before and could not be copied in, and why.
    pub problem: Option<String>,
    /// What is not as its journal says, or what the journal itself does not hold; empty: all is sound.
    pub faults: Vec<String>,
}
