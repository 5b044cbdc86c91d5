//! The record of one instance: thirteen fields, each observed or entered, by whom and when. Times of
//! three kinds stay apart: client unavailable, last action started, authority revoked.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::digest::Digest;
use super::entry::{FieldName, FieldSource, FileRef, SinceRevoked, rfc3339};
use super::fill::Maker;
use super::leads::{self, Departed, Gone, Other};
use super::operator::Operator;
use super::seen::Seen;
use super::story::{Act, Filled, Note, SignalState, Thread, Unavailable, open_signals};
use super::subject::{InstanceRef, LeadRef};
use crate::model::identity::{InstanceId, Pid};
use crate::model::reading::Reading;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::text::Safe;
use crate::text::redact::Redactor;

/// A sample that shows the instance.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The file it is saved in; `None`: it was not saved.
    pub file: Option<FileRef>,
    /// Where it was not saved: the newest sample that shows the instance and was.
    pub kept: Option<Kept>,
    /// Program and version that took it.
    pub program: String,
    /// Sample and judgement.
    pub world: Arc<World>,
}

/// A dead process that nobody has waited for, and one that is just going.
const DEAD: [char; 2] = ['Z', 'X'];

/// Returns whether a world shows an instance alive: of a dead one nothing is seen that it held open, and what it
/// held was not taken away by its end.
pub fn shows_alive(world: &World, id: InstanceId) -> bool {
    let instance = world.judged.instance(id);
    let lead = instance.and_then(|instance| world.sample.get(instance.lead_process()));
    lead.is_some_and(|process| !DEAD.contains(&process.state) && process.descriptors != Reading::Gone)
}

/// A saved sample that shows an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// When it was taken.
    pub taken_at: UnixMillis,
    /// Digest of its file, where that is known here.
    pub sha256: Option<Digest>,
}

/// What stands between two values of one field.
pub const DOT: &str = "·";

/// Part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Words(String),
    /// What is to be read letter by letter: a command line, an id, a digest. Escaped already.
    Code(Safe),
    /// What stands between two values of one field: a dot, or what a screen without it has instead.
    Between,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Field {
    /// Which.
    pub name: FieldName,
    /// Its value; empty: not recorded.
    #[serde(serialize_with = "joined")]
    #[schemars(with = "Option<String>")]
    pub value: Vec<Piece>,
    /// Seen or entered; `None`: not recorded, or said to be not observed.
    pub source: Option<FieldSource>,
    /// Who entered it; of what adds up entries, the last of them.
    pub operator: Option<Operator>,
    /// When it was seen or entered.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub at: Option<UnixMillis>,
    /// What an operator entered beside what the program puts together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
}

/// Text that stands beside what the program puts together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Added {
    /// The text.
    pub value: String,
    /// Who entered it.
    pub operator: Operator,
    /// When.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub at: UnixMillis,
}

/// Returns what stands in a field by an entry of its own; an empty one withdraws it.
pub fn typed(thread: &Thread, name: FieldName) -> Option<&Filled> {
    thread.fields.get(&name).filter(|filled| !filled.value.is_empty())
}

/// An authority and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeadLine {
    /// The authority.
    #[serde(flatten)]
    pub lead: LeadRef,
    /// Its revocation.
    pub revoked: Option<Act>,
    /// The check that showed the denial.
    pub denied: Option<Act>,
    /// How it went with its process; `null`: nothing says that it did.
    pub gone: Option<Gone>,
}

impl LeadLine {
    /// Returns whether a check that somebody named showed the denial: without its name it is a claim.
    pub fn is_verified(&self) -> bool {
        self.denied.as_ref().is_some_and(names_check)
    }

    /// Returns whether somebody says that it is denied, and not by which check.
    pub fn is_claimed(&self) -> bool {
        self.denied.is_some() && !self.is_verified()
    }
}

fn names_check(denied: &Act) -> bool {
    denied.how.as_ref().is_some_and(|how| !how.trim().is_empty())
}

/// The three times, apart from one another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Times {
    /// Client unavailable: an interval, where nobody saw it happen.
    pub client_unavailable: Option<Unavailable>,
    /// Last known action started, as recorded.
    pub last_action_started: Option<String>,
    /// First revocation.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub authority_revoked_first: Option<UnixMillis>,
    /// Last revocation.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub authority_revoked_last: Option<UnixMillis>,
}

/// The record of one instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Record {
    /// The instance.
    pub instance: InstanceRef,
    /// The fields, in their order.
    pub fields: Vec<Field>,
    /// The three times.
    pub times: Times,
    /// What the snapshot that it names shows of it; `null`: no snapshot shows it.
    pub evidence: Option<Seen>,
    /// Every authority that was seen or dealt with.
    pub leads: Vec<LeadLine>,
    /// What else was seen that it acts through, and nobody can revoke: files, locks, children, listeners.
    pub others: Vec<Other>,
    /// The end of its server, as journal and snapshots tell it; `null`: they do not.
    pub ended: Option<Gone>,
    /// Cancelled remote jobs.
    pub jobs: Vec<Job>,
    /// What an operator entered as what is left to be done; it stands among the fields too.
    #[serde(skip)]
    pub said_left: Option<String>,
    /// What it did since the first revocation.
    pub since_revoked: Option<SinceRevoked>,
    /// Signals.
    pub signals: Vec<SignalState>,
    /// Notes.
    pub notes: Vec<Note>,
}

impl Record {
    /// Returns whether it is about an instance: a process that is part of none was signalled, and nothing
    /// else is told of it.
    pub fn is_of_an_instance(&self) -> bool {
        let named = |state: &SignalState| state.target.instance.is_some();
        self.signals.is_empty() || self.signals.iter().any(named) || !self.leads.is_empty()
    }
}

/// A cancelled remote job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Job {
    /// Its id.
    pub job: String,
    /// The cancellation.
    #[serde(flatten)]
    pub cancelled: Act,
}

impl Record {
    /// Puts together what was journalled and what a sample shows; text of the sample is redacted.
    pub fn new(thread: &Thread, evidence: Option<&Evidence>, redactor: &Redactor) -> Self {
        Self::followed(thread, evidence, &[], redactor)
    }

    /// The same, where `later` holds samples after that: who is not in them any more has ended.
    pub fn followed(
        thread: &Thread,
        evidence: Option<&Evidence>,
        later: &[Evidence],
        redactor: &Redactor,
    ) -> Self {
        let seen = evidence.and_then(|evidence| {
            let instance = evidence.world.judged.instance(thread.on.id)?;
            Some((evidence, instance))
        });
        let departed = Departed::new(thread, seen, later);
        let instance = seen.map(|(_, instance)| instance);
        let leads = leads::authorities(thread, instance, &departed, redactor);
        let others = leads::others(instance, &departed, redactor);
        let fields = Maker {
            thread,
            seen,
            leads: &leads,
            others: &others,
            redactor,
        }
        .fields();
        let revoked = thread.revoked_between();
        Self {
            instance: thread.on.clone(),
            fields,
            times: Times {
                client_unavailable: unavailable(thread, redactor),
                last_action_started: typed(thread, FieldName::LastAttempt).map(|filled| filled.value.clone()),
                authority_revoked_first: revoked.map(|(first, _)| first),
                authority_revoked_last: revoked.map(|(_, last)| last),
            },
            jobs: thread
                .jobs
                .iter()
                .map(|(job, act)| Job {
                    job: job.clone(),
                    cancelled: act.clone(),
                })
                .collect(),
            since_revoked: thread.since,
            said_left: typed(thread, FieldName::FollowUp).map(|filled| filled.value.clone()),
            signals: thread.signals.clone(),
            notes: thread.notes.clone(),
            evidence: seen.map(|(evidence, instance)| Seen::new(evidence, instance, &departed, redactor)),
            ended: departed.server(thread.on.id.0),
            others,
            leads,
        }
    }

    /// Returns what is left open of the instance; `None`: nothing is known to be.
    pub fn left_open(&self) -> Option<LeftOpen> {
        let mut left = LeftOpen {
            leads: self.open_leads().count(),
            of: self.leads.len(),
            signals: 0,
            returned: Vec::new(),
        };
        for signal in open_signals(&self.signals) {
            let before = left.returned.len();
            let returns = signal.open_returns();
            left.returned.extend(returns.map(|one| one.successor.key.pid));
            left.signals += usize::from(left.returned.len() == before);
        }
        (left.leads > 0 || left.signals > 0 || !left.returned.is_empty()).then_some(left)
    }

    /// Returns the authorities that no named check shows to be denied, and that did not go with their process.
    pub fn open_leads(&self) -> impl Iterator<Item = &LeadLine> {
        let open = |lead: &&LeadLine| !lead.is_verified() && lead.gone.is_none();
        self.leads.iter().filter(open)
    }
}

/// What is left open of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOpen {
    /// Authorities that no named check shows to be denied.
    pub leads: usize,
    /// Authorities in all.
    pub of: usize,
    /// Signals without an outcome, or with one that is no end.
    pub signals: usize,
    /// Processes that a server came back as, and that somebody has to look at.
    pub returned: Vec<Pid>,
}

/// What was journalled, else what was seen.
pub(super) fn unavailable(thread: &Thread, redactor: &Redactor) -> Option<Unavailable> {
    let seen = || {
        let seen = thread.past.unavailable()?;
        let basis = redactor.line(&seen.basis);
        Some(Unavailable { basis, ..seen })
    };
    thread.unavailable.clone().or_else(seen)
}

/// Returns `2026-12-01 01:08:02Z`.
pub(super) fn moment(at: UnixMillis) -> String {
    let text = at.rfc3339();
    match text.split_once('T') {
        Some((day, clock)) => format!("{day} {}Z", clock.split(['.', 'Z']).next().unwrap_or(clock)),
        None => text,
    }
}

/// Returns a signal and what came of it.
pub(super) fn signal_line(state: &SignalState) -> String {
    let pid = state.target.key.pid;
    let signal = &state.signal;
    let sent = match (&state.sent_at, &state.refused) {
        (Some(at), Some(why)) => format!("refused {}: {why}", moment(*at)),
        (Some(at), None) => moment(*at),
        (None, _) if state.outcome.is_some() => {
            format!("announced {}, not sent", moment(state.announced_at))
        }
        (None, _) => format!("announced {}, sending not recorded", moment(state.announced_at)),
    };
    let outcome = match &state.outcome {
        Some(found) => {
            let after = found
                .after_ms
                .map_or_else(String::new, |ms| format!(" after {ms} ms"));
            // The reason of a refusal stands before it.
            let detail = found
                .detail
                .as_ref()
                .filter(|why| state.refused.as_ref() != Some(why));
            let detail = detail.map_or_else(String::new, |detail| format!(" ({detail})"));
            format!("{}{after}{detail}", found.outcome.words())
        }
        None => "outcome not recorded".to_owned(),
    };
    let returns = state
        .came_back
        .iter()
        .map(|one| format!("; {}", one.words(signal)));
    let returns: String = returns.collect();
    format!("{signal} to {pid} {sent}, {outcome}{returns}")
}

/// Returns a value as one line.
pub fn plain(value: &[Piece]) -> String {
    plain_between(value, DOT)
}

/// Returns a value as plain text, with a sign of one's own between its parts.
pub fn plain_between(value: &[Piece], between: &str) -> String {
    let parts: Vec<&str> = value
        .iter()
        .map(|piece| match piece {
            Piece::Words(text) => text.as_str(),
            Piece::Code(text) => text.as_str(),
            Piece::Between => between,
        })
        .collect();
    parts.join(" ")
}

fn joined<S: Serializer>(value: &[Piece], serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_empty() {
        return serializer.serialize_none();
    }
    serializer.serialize_str(&plain(value))
}
