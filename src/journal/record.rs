//! The record of one instance: thirteen fields, each observed or entered, by whom and when. Times of
//! three kinds stay apart: client unavailable, last action started, authority revoked.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::entry::{FieldName, FieldSource, FileRef, SinceRevoked, rfc3339};
use super::leads::{self, Departed, Gone, Other};
use super::observe;
use super::operator::Operator;
use super::seen::Seen;
use super::story::{Act, Note, SignalState, Thread, Unavailable, open_signals};
use super::subject::{InstanceRef, LeadRef};
use super::termination;
use crate::model::instance::Instance;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::text::Safe;
use crate::text::redact::Redactor;

/// A sample that shows the instance.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The file it is saved in; `None`: it was not saved.
    pub file: Option<FileRef>,
    /// Program and version that took it.
    pub program: String,
    /// Sample and judgement.
    pub world: Arc<World>,
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
    /// Seen or entered; `None`: not recorded.
    pub source: Option<FieldSource>,
    /// Who entered it.
    pub operator: Option<Operator>,
    /// When it was seen or entered.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub at: Option<UnixMillis>,
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
        let maker = Maker {
            thread,
            seen,
            leads: &leads,
            others: &others,
            redactor,
        };
        let fields = FieldName::ALL.map(|name| maker.field(name)).into();
        let revoked = thread.revoked_between();
        Self {
            instance: thread.on.clone(),
            fields,
            times: Times {
                client_unavailable: unavailable(thread, redactor),
                last_action_started: thread
                    .fields
                    .get(&FieldName::LastAttempt)
                    .map(|filled| filled.value.clone()),
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
            signals: thread.signals.clone(),
            notes: thread.notes.clone(),
            evidence: seen.map(|(evidence, instance)| Seen::new(evidence, instance, &departed, redactor)),
            ended: departed.server(thread.on.id.0),
            others,
            leads,
        }
    }

    /// Returns the authorities that no named check shows to be denied, and that did not go with their process.
    pub fn open_leads(&self) -> impl Iterator<Item = &LeadLine> {
        let open = |lead: &&LeadLine| !lead.is_verified() && lead.gone.is_none();
        self.leads.iter().filter(open)
    }
}

/// What was journalled, else what was seen.
fn unavailable(thread: &Thread, redactor: &Redactor) -> Option<Unavailable> {
    let seen = || {
        let seen = thread.past.unavailable()?;
        let basis = redactor.line(&seen.basis);
        Some(Unavailable { basis, ..seen })
    };
    thread.unavailable.clone().or_else(seen)
}

struct Maker<'a> {
    thread: &'a Thread,
    seen: Option<(&'a Evidence, &'a Instance)>,
    leads: &'a [LeadLine],
    others: &'a [Other],
    redactor: &'a Redactor,
}

impl Maker<'_> {
    fn field(&self, name: FieldName) -> Field {
        if let Some(filled) = self.thread.fields.get(&name) {
            let mut value = vec![Piece::Words(filled.value.clone())];
            match name {
                FieldName::Client => value.extend(self.unavailable().into_iter().flatten()),
                FieldName::Revocation => value.extend(self.since().into_iter().flatten()),
                _ => {}
            }
            return Field {
                name,
                value,
                source: Some(filled.source),
                operator: Some(filled.operator.clone()),
                at: Some(filled.at),
            };
        }
        let value = self.observed(name).unwrap_or_default();
        let found = !value.is_empty();
        if let Some(act) = self.entered(name).filter(|_| found) {
            return Field {
                name,
                value,
                source: Some(FieldSource::Entered),
                operator: Some(act.operator.clone()),
                at: Some(act.at),
            };
        }
        Field {
            name,
            value,
            source: found.then_some(FieldSource::Observed),
            operator: None,
            at: self
                .seen
                .filter(|_| found)
                .map(|(evidence, _)| evidence.world.sample.taken_at),
        }
    }

    /// Returns the last act that a field rests on: what was entered was not observed.
    fn entered(&self, name: FieldName) -> Option<&Act> {
        let leads = self.leads.iter();
        let mut on_leads = leads.flat_map(|line| [&line.revoked, &line.denied]).flatten();
        let mut on_jobs = self.thread.jobs.iter().map(|(_, act)| act);
        let acts: &mut dyn Iterator<Item = &Act> = match name {
            FieldName::Authorization | FieldName::Revocation | FieldName::FollowUp => &mut on_leads,
            FieldName::Result => &mut on_jobs,
            _ => return None,
        };
        acts.max_by_key(|act| act.at)
    }

    fn observed(&self, name: FieldName) -> Option<Vec<Piece>> {
        let sample = self
            .seen
            .map(|(evidence, instance)| (&evidence.world.sample, instance));
        match name {
            FieldName::ObservedAt => self.observed_at(),
            FieldName::Client => {
                let mut pieces = sample.map_or_else(Vec::new, |(sample, instance)| {
                    observe::client(sample, instance, self.thread, self.redactor)
                });
                pieces.extend(self.unavailable().into_iter().flatten());
                Some(pieces)
            }
            FieldName::Server => {
                sample.map(|(sample, instance)| observe::server(sample, instance, self.redactor))
            }
            FieldName::Parent => {
                let past = &self.thread.past;
                sample.map(|(sample, instance)| observe::parent(sample, instance, past, self.redactor))
            }
            FieldName::Session => sample.and_then(|(sample, instance)| observe::session(sample, instance)),
            FieldName::Authorization => self.authorization(),
            FieldName::Revocation => self.revocation(),
            FieldName::Termination => self.termination(),
            FieldName::Result => self.jobs(),
            FieldName::FollowUp => self.follow_up(),
            FieldName::LastSuccess | FieldName::LastAttempt | FieldName::Action => None,
        }
    }

    fn observed_at(&self) -> Option<Vec<Piece>> {
        let (evidence, _) = self.seen?;
        let taken_at = moment(evidence.world.sample.taken_at);
        let mut pieces = vec![Piece::Words(format!("{taken_at}, snapshot"))];
        match &evidence.file {
            Some(file) => {
                pieces.push(Piece::Words("sha256".to_owned()));
                pieces.push(code(&file.sha256.to_string()));
            }
            None => pieces.push(Piece::Words("not saved".to_owned())),
        }
        pieces.push(Piece::Words(format!("({})", evidence.program)));
        Some(pieces)
    }

    fn unavailable(&self) -> Option<[Piece; 2]> {
        let unavailable = unavailable(self.thread, self.redactor)?;
        let time = |time: Option<UnixMillis>| time.map_or_else(|| "an unknown time".to_owned(), moment);
        let words = format!(
            "unavailable between {} and {} ({}; {})",
            time(unavailable.after),
            time(unavailable.before),
            unavailable.basis,
            unavailable.source.word()
        );
        Some([Piece::Between, Piece::Words(words)])
    }

    fn authorization(&self) -> Option<Vec<Piece>> {
        let all = self.leads.len();
        if all == 0 {
            let looked = self.seen.is_some_and(|(_, instance)| instance.reach.is_some());
            return looked.then(|| vec![Piece::Words(format!("no authority seen{}", self.others()))]);
        }
        let count = |is: fn(&LeadLine) -> bool| self.leads.iter().filter(|lead| is(lead)).count();
        let revoked = count(|lead| lead.revoked.is_some());
        let denied = count(LeadLine::is_verified);
        let claimed = match count(LeadLine::is_claimed) {
            0 => String::new(),
            claimed => format!(", {claimed} without a named check"),
        };
        let gone = match count(|lead| lead.gone.is_some() && !lead.is_verified()) {
            0 => String::new(),
            gone => format!(", {gone} gone with the process"),
        };
        Some(vec![Piece::Words(format!(
            "revoked {revoked} of {all}, denial verified {denied} of {all}{claimed}{gone}"
        ))])
    }

    /// What else was seen that it acts through, counted.
    fn others(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for other in self.others {
            *counts.entry(other.lead.kind.word()).or_default() += 1;
        }
        let counts: Vec<String> = counts
            .iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        if counts.is_empty() {
            String::new()
        } else {
            format!("; other leads: {}", counts.join(", "))
        }
    }

    fn revocation(&self) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        for line in self
            .leads
            .iter()
            .filter(|line| line.revoked.is_some() || line.denied.is_some())
        {
            if !pieces.is_empty() {
                pieces.push(Piece::Between);
            }
            pieces.push(Piece::Words(line.lead.letter.clone()));
            pieces.push(code(&line.lead.target));
            let revoked = match &line.revoked {
                Some(act) => format!("{} by {}{}", moment(act.at), who(act), how(act)),
                None => "revocation not recorded".to_owned(),
            };
            let denied = match &line.denied {
                Some(act) if line.is_claimed() => format!("denied {}, check not named", moment(act.at)),
                Some(act) => format!("denied {}{}", moment(act.at), how(act)),
                None => "not verified".to_owned(),
            };
            pieces.push(Piece::Words(format!("{revoked}, {denied}")));
        }
        pieces.extend(self.since().into_iter().flatten());
        (!pieces.is_empty()).then_some(pieces)
    }

    fn since(&self) -> Option<[Piece; 2]> {
        let since = self.thread.since.as_ref()?;
        let words = format!("seen since then: {}", since.words());
        Some([Piece::Between, Piece::Words(words)])
    }

    fn termination(&self) -> Option<Vec<Piece>> {
        let members = self.seen.map(|(_, instance)| instance);
        let line = termination::line(&self.thread.on, &self.thread.signals, members);
        (!line.is_empty()).then(|| vec![Piece::Words(line)])
    }

    fn jobs(&self) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        for (job, act) in &self.thread.jobs {
            pieces.push(code(job));
            pieces.push(Piece::Words(format!(
                "cancelled {} by {}",
                moment(act.at),
                who(act)
            )));
        }
        (!pieces.is_empty()).then_some(pieces)
    }

    /// What the record itself leaves open; what else there is only the operator knows.
    fn follow_up(&self) -> Option<Vec<Piece>> {
        let letters = |is: fn(&LeadLine) -> bool| -> Vec<&str> {
            self.leads
                .iter()
                .filter(|lead| is(lead) && lead.gone.is_none())
                .map(|lead| lead.lead.letter.as_str())
                .collect()
        };
        let mut left = Vec::new();
        let not_revoked = letters(|lead| lead.revoked.is_none() && lead.denied.is_none());
        if !not_revoked.is_empty() {
            left.push(format!("revoke {}", not_revoked.join(", ")));
        }
        let not_verified = letters(|lead| lead.revoked.is_some() && lead.denied.is_none());
        if !not_verified.is_empty() {
            left.push(format!("verify {}", not_verified.join(", ")));
        }
        let claimed = letters(LeadLine::is_claimed);
        if !claimed.is_empty() {
            left.push(format!("name the check that denied {}", claimed.join(", ")));
        }
        for signal in open_signals(&self.thread.signals) {
            left.extend(look_at(signal));
        }
        (!left.is_empty()).then(|| vec![Piece::Words(left.join("; "))])
    }
}

/// Returns at whom somebody has to look: at a process that was signalled, or at whoever it came back as.
fn look_at(signal: &SignalState) -> Vec<String> {
    let pid = signal.target.key.pid;
    let returns: Vec<String> = signal
        .open_returns()
        .map(|one| format!("look at {}: {pid} came back as it", one.successor.key.pid))
        .collect();
    if returns.is_empty() {
        vec![format!("look again at {pid} after {}", signal.signal)]
    } else {
        returns
    }
}

fn code(text: &str) -> Piece {
    Piece::Code(Safe::from_text(text))
}

/// Returns `2026-12-01 01:08:02Z`.
pub(super) fn moment(at: UnixMillis) -> String {
    let text = at.rfc3339();
    match text.split_once('T') {
        Some((day, clock)) => format!("{day} {}Z", clock.split(['.', 'Z']).next().unwrap_or(clock)),
        None => text,
    }
}

pub(super) fn who(act: &Act) -> String {
    act.by.clone().unwrap_or_else(|| act.operator.to_string())
}

pub(super) fn how(act: &Act) -> String {
    act.how
        .as_ref()
        .map_or_else(String::new, |how| format!(" ({how})"))
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
