//! What the entries of a journal add up to: per instance, and for the incident.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::digest::Head;
use super::entry::{Entry, FieldName, FieldSource, FileRef, OutcomeKind, SinceRevoked, rfc3339};
use super::line::Line;
use super::operator::Operator;
use super::past::Past;
use super::returned::Return;
use super::sentence::sentence;
use super::subject::{InstanceRef, LeadRef, Subject, TargetRef};
use crate::model::act::Signal;
use crate::model::identity::{InstanceId, ProcessKey};
use crate::model::time::UnixMillis;

/// A whole incident as its journal tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// Random id.
    pub incident: String,
    /// Title.
    pub title: String,
    /// Host.
    pub host: String,
    /// Boot id of the host.
    pub boot_id: String,
    /// When it was opened, by whom.
    pub opened: Option<Act>,
    /// The last entry.
    pub head: Option<Head>,
    /// What is left to do, where the last entry closed it.
    pub closed: Option<Act>,
    /// Snapshots, oldest first.
    pub snapshots: Vec<Taken>,
    /// What was done, oldest first, one sentence each.
    pub events: Vec<Event>,
    /// Notes on the incident as a whole, or on no instance.
    pub notes: Vec<Note>,
    /// What is told of each instance.
    pub threads: BTreeMap<InstanceId, Thread>,
    /// Kinds of entries that this version does not know, with their numbers.
    pub unknown: Vec<(u64, String)>,
}

/// Something that somebody did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Act {
    /// When.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub at: UnixMillis,
    /// Who journalled it.
    pub operator: Operator,
    /// Who did it, where that was somebody else.
    pub by: Option<String>,
    /// How, or what is left.
    pub how: Option<String>,
    /// Who did it, as the operator says who typed it later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_by: Option<String>,
    /// When it was done, as the operator says who typed it later.
    #[serde(skip_serializing_if = "Option::is_none", with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub done_at: Option<UnixMillis>,
}

/// One event for the first page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Event {
    /// Number of the entry.
    pub seq: u64,
    /// When it was journalled.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub at: UnixMillis,
    /// By whom.
    pub operator: Operator,
    /// One sentence.
    pub what: String,
}

/// A note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    /// When.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub at: UnixMillis,
    /// By whom.
    pub operator: Operator,
    /// The text.
    pub text: String,
}

/// A snapshot that was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Taken {
    /// Its file.
    pub file: FileRef,
    /// When its sample was taken.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub taken_at: UnixMillis,
}

/// A field as it was filled last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Filled {
    /// The value.
    pub value: String,
    /// Where it comes from.
    pub source: FieldSource,
    /// Who journalled it.
    pub operator: Operator,
    /// When.
    #[serde(with = "rfc3339")]
    pub at: UnixMillis,
}

/// What is told of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The instance.
    pub on: InstanceRef,
    /// Fields, each as it was filled last.
    pub fields: BTreeMap<FieldName, Filled>,
    /// Leads that something was done about.
    pub leads: Vec<LeadState>,
    /// Cancelled remote jobs: id and act.
    pub jobs: Vec<(String, Act)>,
    /// When the client became unavailable.
    pub unavailable: Option<Unavailable>,
    /// What it did since the first revocation.
    pub since: Option<SinceRevoked>,
    /// Signals.
    pub signals: Vec<SignalState>,
    /// Notes.
    pub notes: Vec<Note>,
    /// What earlier samples showed: no entry says it.
    pub past: Past,
}

/// An authority, with what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadState {
    /// The authority.
    pub lead: LeadRef,
    /// Its revocation.
    pub revoked: Option<Act>,
    /// The check that showed the denial.
    pub denied: Option<Act>,
}

/// Between which times a client became unavailable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unavailable {
    /// When it was last known to be there.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub after: Option<UnixMillis>,
    /// When it was first seen to be gone.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub before: Option<UnixMillis>,
    /// What these times were taken from.
    pub basis: String,
    /// Seen or entered.
    pub source: FieldSource,
}

/// A signal, from its announcement to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SignalState {
    /// Number of the entry that announced it.
    #[serde(skip)]
    pub announced: u64,
    /// `TERM`, `KILL`, `CONT`.
    pub signal: String,
    /// The process.
    pub target: TargetRef,
    /// When it was announced.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub announced_at: UnixMillis,
    /// By whom.
    pub operator: Operator,
    /// When it was handed to the system.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub sent_at: Option<UnixMillis>,
    /// The system's reason for refusing it.
    pub refused: Option<String>,
    /// What the second look found.
    pub outcome: Option<Found>,
    /// As whom it came back after that, oldest first.
    pub came_back: Vec<Return>,
}

/// What the second look found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Found {
    /// What became of the process.
    pub outcome: OutcomeKind,
    /// Milliseconds since the signal.
    pub after_ms: Option<u64>,
    /// The rest.
    pub detail: Option<String>,
}

impl SignalState {
    /// Returns whether somebody has to look at it: no outcome, one that is no end, or one whose process came
    /// back. CONT ends nothing: once it is out, what is left to look at is what the signal before it does.
    pub fn is_unresolved(&self) -> bool {
        if self.open_returns().next().is_some() {
            return true;
        }
        if self.signal == Signal::Cont.word() && self.was_sent() {
            return false;
        }
        !self
            .outcome
            .as_ref()
            .is_some_and(|found| found.outcome.is_resolved())
    }

    /// Returns whether the system has accepted it.
    pub fn was_sent(&self) -> bool {
        self.sent_at.is_some() && self.refused.is_none()
    }
}

/// Returns the signals that somebody has to look at: a later one to the same process with an outcome
/// takes the place of an earlier one, but for what came back after it.
pub fn open_signals(signals: &[SignalState]) -> impl Iterator<Item = &SignalState> {
    let open = signals.iter().enumerate().filter(|(at, state)| {
        let mut later = signals[at + 1..].iter();
        let taken_over = later.any(|one| one.target.key == state.target.key && one.outcome.is_some());
        state.is_unresolved() && (!taken_over || state.open_returns().next().is_some())
    });
    open.map(|(_, state)| state)
}

impl Thread {
    /// Returns the thread of an instance that nothing is told of.
    pub fn new(on: InstanceRef) -> Self {
        Self {
            on,
            fields: BTreeMap::new(),
            leads: Vec::new(),
            jobs: Vec::new(),
            unavailable: None,
            since: None,
            signals: Vec::new(),
            notes: Vec::new(),
            past: Past::default(),
        }
    }

    fn lead(&mut self, lead: &LeadRef) -> &mut LeadState {
        let at = self.leads.iter().position(|known| known.lead.same(lead));
        let at = at.unwrap_or_else(|| {
            self.leads.push(LeadState {
                lead: lead.clone(),
                revoked: None,
                denied: None,
            });
            self.leads.len() - 1
        });
        &mut self.leads[at]
    }

    /// Returns the newest signal of that kind to that process that `open` still waits for.
    fn signal(
        &mut self,
        signal: &str,
        target: &TargetRef,
        open: impl Fn(&SignalState) -> bool,
    ) -> Option<&mut SignalState> {
        self.signals
            .iter_mut()
            .rev()
            .find(|state| state.signal == signal && state.target.key == target.key && open(state))
    }

    /// Returns the first and the last time at which an authority was revoked.
    pub fn revoked_between(&self) -> Option<(UnixMillis, UnixMillis)> {
        let times = || {
            self.leads
                .iter()
                .filter_map(|lead| lead.revoked.as_ref().map(Act::when))
        };
        Some((times().min()?, times().max()?))
    }
}

impl Story {
    /// Adds the next line.
    pub fn add(&mut self, line: &Line) {
        self.head = Some(line.head());
        self.closed = None;
        match &line.entry {
            Ok(entry) => {
                self.entry(line, entry);
                if let Some(what) = sentence(entry) {
                    self.events.push(Event {
                        seq: line.seq,
                        at: line.at,
                        operator: line.operator.clone(),
                        what,
                    });
                }
            }
            Err(kind) => self.unknown.push((line.seq, kind.clone())),
        }
    }

    fn entry(&mut self, line: &Line, entry: &Entry) {
        match entry {
            Entry::Opened {
                incident,
                title,
                host,
                boot_id,
                ..
            } => {
                boot_id.clone_into(&mut self.boot_id);
                incident.clone_into(&mut self.incident);
                title.clone_into(&mut self.title);
                host.clone_into(&mut self.host);
                self.opened = Some(act(line, line.at, None, None));
            }
            Entry::Closed { remaining } => self.closed = Some(act(line, line.at, None, remaining.clone())),
            Entry::Snapshot { file, taken_at, .. } => self.snapshots.push(Taken {
                file: file.clone(),
                taken_at: *taken_at,
            }),
            Entry::Note { on, text } => self.note(line, on.as_ref(), text),
            Entry::AboutToSignal { signal, targets, .. } => {
                for target in targets {
                    self.announced(line, signal, target);
                }
            }
            Entry::Sent {
                signal,
                target,
                refused,
                announced,
                ..
            } => self.sent(line, signal, target, refused.clone(), *announced),
            Entry::Outcome {
                signal,
                target,
                outcome,
                after_ms,
                detail,
                announced,
            } => {
                let found = Found {
                    outcome: *outcome,
                    after_ms: *after_ms,
                    detail: detail.clone(),
                };
                let of = |state: &SignalState| is_of(state, *announced);
                if let Some(state) = self.thread_of(target).signal(signal, target, of) {
                    state.look(found, line.at);
                }
                if outcome.is_resolved() {
                    self.ended(target.key, line.at);
                }
            }
            Entry::CameBack { .. } => self.came_back(line, entry),
            _ => self.on_instance(line, entry),
        }
    }

    /// Entries that name one instance.
    fn on_instance(&mut self, line: &Line, entry: &Entry) {
        match entry {
            Entry::Field {
                on,
                field,
                value,
                source,
            } => {
                let filled = Filled {
                    value: value.clone(),
                    source: *source,
                    operator: line.operator.clone(),
                    at: line.at,
                };
                self.thread(on).fields.insert(*field, filled);
            }
            Entry::Revoked {
                on,
                lead,
                revoked_at,
                by,
                how,
                done_by,
                done_at,
            } => {
                let done = Act {
                    done_by: done_by.clone(),
                    done_at: *done_at,
                    ..act(line, *revoked_at, by.clone(), how.clone())
                };
                self.thread(on).lead(lead).revoked = Some(done);
            }
            Entry::Denied {
                on,
                lead,
                denied_at,
                how,
                done_by,
                done_at,
            } => {
                let done = Act {
                    done_by: done_by.clone(),
                    done_at: *done_at,
                    ..act(line, *denied_at, None, how.clone())
                };
                self.thread(on).lead(lead).denied = Some(done);
            }
            Entry::JobCancelled {
                on,
                job,
                cancelled_at,
                by,
            } => {
                let done = act(line, *cancelled_at, by.clone(), None);
                self.thread(on).jobs.push((job.clone(), done));
            }
            Entry::ClientUnavailable {
                on,
                after,
                before,
                basis,
                source,
            } => {
                self.thread(on).unavailable = Some(Unavailable {
                    after: *after,
                    before: *before,
                    basis: basis.clone(),
                    source: *source,
                });
            }
            Entry::SinceRevoked { on, counts } => {
                let thread = self.thread(on);
                thread.since = Some(thread.since.unwrap_or_default().or_more(*counts));
            }
            // Told by its sentence alone.
            _ => {}
        }
    }

    fn note(&mut self, line: &Line, on: Option<&Subject>, text: &str) {
        let note = Note {
            at: line.at,
            operator: line.operator.clone(),
            text: text.to_owned(),
        };
        match on {
            Some(Subject::Instance(on)) => self.thread(on).notes.push(note),
            Some(Subject::Process { .. } | Subject::Other(_)) | None => self.notes.push(note),
        }
    }

    fn announced(&mut self, line: &Line, signal: &str, target: &TargetRef) {
        self.thread_of(target).signals.push(SignalState {
            announced: line.seq,
            signal: signal.to_owned(),
            target: target.clone(),
            announced_at: line.at,
            operator: line.operator.clone(),
            sent_at: None,
            refused: None,
            outcome: None,
            came_back: Vec::new(),
        });
    }

    fn sent(
        &mut self,
        line: &Line,
        signal: &str,
        target: &TargetRef,
        refused: Option<String>,
        announced: Option<u64>,
    ) {
        let waiting = |state: &SignalState| state.sent_at.is_none() && is_of(state, announced);
        if let Some(state) = self.thread_of(target).signal(signal, target, waiting) {
            state.sent_at = Some(line.at);
            state.refused = refused;
        }
    }

    fn came_back(&mut self, line: &Line, entry: &Entry) {
        let Entry::CameBack {
            signal,
            target,
            successor,
            parent,
            started_at,
            after_ms,
            seen_at,
            announced,
        } = entry
        else {
            return;
        };
        let one = Return {
            successor: successor.clone(),
            parent: parent.clone(),
            started_at: *started_at,
            after_ms: *after_ms,
            seen_at: *seen_at,
            operator: line.operator.clone(),
            ended_at: None,
        };
        let of = |state: &SignalState| is_of(state, Some(*announced));
        if let Some(state) = self.thread_of(target).signal(signal, target, of) {
            state.came_back_as(one);
        }
    }

    /// A process has ended: whoever came back as it is no more.
    fn ended(&mut self, key: ProcessKey, at: UnixMillis) {
        let threads = self.threads.values_mut();
        for state in threads.flat_map(|thread| &mut thread.signals) {
            state.successor_ended(key, at);
        }
    }

    fn thread(&mut self, on: &InstanceRef) -> &mut Thread {
        self.threads
            .entry(on.id)
            .or_insert_with(|| Thread::new(on.clone()))
    }

    /// A process that belongs to no instance is told of as if it were one.
    fn thread_of(&mut self, target: &TargetRef) -> &mut Thread {
        let on = target.instance.clone().unwrap_or_else(|| InstanceRef {
            id: InstanceId(target.key),
            name: target
                .argv
                .first()
                .cloned()
                .unwrap_or_else(|| "process".to_owned()),
        });
        self.thread(&on)
    }
}

/// Returns whether an entry is of this signal: two operators can signal the same process at once. Where
/// it does not say, it may be.
fn is_of(state: &SignalState, announced: Option<u64>) -> bool {
    announced.is_none_or(|announced| announced == state.announced)
}

fn act(line: &Line, at: UnixMillis, by: Option<String>, how: Option<String>) -> Act {
    Act {
        at,
        operator: line.operator.clone(),
        by,
        how,
        done_by: None,
        done_at: None,
    }
}
