//! An incident for those who take over: a first page, then the records. Published as
//! `mcpwake.record/1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::digest::Head;
use super::record::{Evidence, Record, shows_alive, signal_line};
use super::story::{Act, Event, Note, Story, Taken, Thread, open_signals};
use super::subject::InstanceRef;
use crate::text::redact::Redactor;

/// Schema of the JSON.
pub const SCHEMA: &str = "mcpwake.record/1";

/// A whole incident, ready to be handed over.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "mcpwake.record/1")]
pub struct Export {
    /// Always [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Random id of the incident.
    pub incident: String,
    /// Title.
    pub title: String,
    /// Host.
    pub host: String,
    /// When it was opened, by whom.
    pub opened: Option<Act>,
    /// When it was closed, by whom, and what is left.
    pub closed: Option<Act>,
    /// The directory, for `mcpwake verify`.
    pub path: String,
    /// The last entry: what to check it against.
    pub head: Option<Head>,
    /// What the journal does not hold as it should; empty where it does.
    pub problems: Vec<String>,
    /// For the next shift.
    pub first_page: FirstPage,
    /// One record an instance.
    pub records: Vec<Record>,
    /// Notes on no instance.
    pub notes: Vec<Note>,
    /// Snapshots, oldest first.
    pub snapshots: Vec<Taken>,
}

/// What the next shift reads first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FirstPage {
    /// What was done, oldest first.
    pub done: Vec<Event>,
    /// Authorities that no named check shows to be denied.
    pub open_leads: Vec<String>,
    /// Authorities that were seen or dealt with, in all.
    pub authorities: usize,
    /// Leads that nobody can revoke: files, locks, children, listeners.
    pub other_leads: Vec<String>,
    /// Signals without an outcome, or with one that is no end.
    pub unresolved_signals: Vec<String>,
    /// What the procedure wants next.
    pub next_step: String,
}

impl Export {
    /// Puts an incident together. `evidence` holds the snapshots, newest first; each instance is shown
    /// as the newest saw it that has it alive.
    pub fn new(
        story: &Story,
        evidence: &[Evidence],
        path: &str,
        problems: Vec<String>,
        redactor: &Redactor,
    ) -> Self {
        let records: Vec<Record> = threads(story, evidence)
            .iter_mut()
            .map(|thread| {
                // The newest comes first.
                for evidence in evidence.iter().rev() {
                    if let Some(instance) = evidence.world.judged.instance(thread.on.id) {
                        thread.past.add(&evidence.world, instance);
                    }
                }
                let id = thread.on.id;
                let mut all = evidence.iter();
                // Of a dead one nothing is seen any more that it held open.
                let alive = all.find(|evidence| shows_alive(&evidence.world, id));
                let seen = alive.or_else(|| {
                    let mut all = evidence.iter();
                    all.find(|evidence| evidence.world.judged.instance(id).is_some())
                });
                Record::new(thread, seen, redactor)
            })
            .collect();
        Self {
            schema: SCHEMA,
            incident: story.incident.clone(),
            title: story.title.clone(),
            host: story.host.clone(),
            opened: story.opened.clone(),
            closed: story.closed.clone(),
            path: path.to_owned(),
            head: story.head,
            problems,
            first_page: first_page(story, &records),
            records,
            notes: story.notes.clone(),
            snapshots: story.snapshots.clone(),
        }
    }
}

/// Returns the instances that something is told of; where there is none, those in trouble in the newest
/// snapshot.
fn threads(story: &Story, evidence: &[Evidence]) -> Vec<Thread> {
    if !story.threads.is_empty() {
        return story.threads.values().cloned().collect();
    }
    let newest = evidence.first().map(|evidence| &evidence.world.judged.instances);
    newest
        .into_iter()
        .flatten()
        .filter(|instance| instance.finding.is_trouble())
        .map(|instance| Thread::new(InstanceRef::of(instance)))
        .collect()
}

fn first_page(story: &Story, records: &[Record]) -> FirstPage {
    let mut open_leads = Vec::new();
    let mut other_leads = Vec::new();
    let mut unresolved_signals = Vec::new();
    for record in records {
        let name = named(&record.instance);
        for line in record.open_leads() {
            let state = match &line.revoked {
                Some(act) => format!("revoked {}", act.time()),
                None => "not revoked".to_owned(),
            };
            let denied = match &line.denied {
                Some(act) => format!(", denied {}, check not named", act.time()),
                None if line.revoked.is_some() => ", denial not verified".to_owned(),
                None => String::new(),
            };
            open_leads.push(format!("{name}: {}: {state}{denied}", line.lead));
        }
        for other in &record.others {
            other_leads.push(format!("{name}: {}: {}", other.lead, other.meaning));
        }
        for signal in open_signals(&record.signals) {
            unresolved_signals.push(format!("{name}: {}", signal_line(signal)));
        }
    }
    FirstPage {
        done: story.events.clone(),
        next_step: next_step(story, records),
        authorities: records.iter().map(|record| record.leads.len()).sum(),
        open_leads,
        other_leads,
        unresolved_signals,
    }
}

pub(super) fn named(instance: &InstanceRef) -> String {
    format!("{} ({})", instance.name, instance.pid())
}

/// Returns what the procedure wants next: keep, revoke, verify, end, look again.
fn next_step(story: &Story, records: &[Record]) -> String {
    // Whoever closed it has said what is left.
    if let Some(left) = story.closed.as_ref().and_then(|act| act.how.clone()) {
        return left;
    }
    if story.snapshots.is_empty() {
        return "save a snapshot: nothing is kept yet".to_owned();
    }
    for record in records {
        let name = named(&record.instance);
        if let Some(line) = record
            .leads
            .iter()
            .find(|line| line.revoked.is_none() && line.denied.is_none())
        {
            return format!("revoke {} of {name}", line.lead);
        }
        if let Some(line) = record.leads.iter().find(|line| line.is_claimed()) {
            return format!(
                "name the check that showed that {} of {name} is denied",
                line.lead
            );
        }
        if let Some(line) = record.open_leads().next() {
            return format!("verify that {} of {name} is denied", line.lead);
        }
    }
    for record in records {
        let name = named(&record.instance);
        if let Some(signal) = open_signals(&record.signals).next() {
            return format!("look again at {name}: {}", signal_line(signal));
        }
        if record.signals.is_empty() {
            return format!("end {name} with TERM, or note why it stays");
        }
    }
    match &story.closed {
        Some(_) => "nothing: the incident is closed".to_owned(),
        None => "close the incident: mcpwake incident close, or Alt-i".to_owned(),
    }
}
