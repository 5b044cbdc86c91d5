//! The first page of a hand-over: what the next shift has to know and to do before it reads on.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::export::named;
use super::record::{Evidence, LeadLine, Record, signal_line};
use super::story::{Event, Story, open_signals};
use super::unhandled::Unhandled;
use crate::text::redact::Redactor;
use crate::text::width::{Glyphs, truncate};

/// What the next shift reads first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FirstPage {
    /// What was done, oldest first.
    pub done: Vec<Event>,
    /// Authorities that no named check shows to be denied.
    pub open_leads: Vec<String>,
    /// Authorities that were seen or dealt with, in all.
    pub authorities: usize,
    /// Leads that nobody can revoke (files, locks, children, listeners) and that did not go with their process.
    pub other_leads: Vec<String>,
    /// Leads that went with their processes, one line a server.
    pub gone_leads: Vec<String>,
    /// Signals without an outcome, or with one that is no end.
    pub unresolved_signals: Vec<String>,
    /// What the newest snapshot shows and the journal tells nothing of; `null`: there is no snapshot.
    pub not_handled: Option<Unhandled>,
    /// What operators say of servers that is left to be done, or why one stays.
    pub follow_ups: Vec<String>,
    /// What the procedure wants next.
    pub next_step: String,
}

impl FirstPage {
    /// Puts the page together. `evidence` holds the snapshots, newest first.
    pub(super) fn new(story: &Story, evidence: &[Evidence], records: &[Record], redactor: &Redactor) -> Self {
        let mut page = Self {
            done: story.events.clone(),
            open_leads: Vec::new(),
            authorities: records.iter().map(|record| record.leads.len()).sum(),
            other_leads: Vec::new(),
            gone_leads: Vec::new(),
            unresolved_signals: Vec::new(),
            not_handled: evidence
                .first()
                .map(|newest| Unhandled::new(story, newest, redactor)),
            follow_ups: Vec::new(),
            next_step: String::new(),
        };
        for record in records {
            page.add(record);
        }
        page.next_step = next_step(story, records, page.not_handled.as_ref());
        page
    }

    fn add(&mut self, record: &Record) {
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
            self.open_leads
                .push(format!("{name}: {}: {state}{denied}", line.lead.brief()));
        }
        self.follow_ups
            .extend(record.said_left.iter().map(|left| format!("{name}: {left}")));
        for other in record.others.iter().filter(|other| other.gone.is_none()) {
            let meaning = truncate(&other.meaning, MEANING, Glyphs::Unicode);
            self.other_leads
                .push(format!("{name}: {}: {meaning}", other.lead.brief()));
        }
        self.gone_leads
            .extend(gone(record).into_iter().map(|line| format!("{name}: {line}")));
        for signal in open_signals(&record.signals) {
            self.unresolved_signals
                .push(format!("{name}: {}", signal_line(signal)));
        }
    }
}

/// Columns of what a lead may mean; the record has the whole of it.
const MEANING: usize = 120;

/// So many leads that are gone are named; the rest is counted.
const NAMED: usize = 6;

/// Returns the leads of a record that went with their processes: those of one end together.
fn gone(record: &Record) -> Option<String> {
    let authorities = record.leads.iter().filter(|line| !line.is_verified());
    let authorities = authorities.map(|line| (&line.lead, line.gone.as_ref()));
    let others = record
        .others
        .iter()
        .map(|other| (&other.lead, other.gone.as_ref()));
    let mut ends: Vec<(String, Vec<String>)> = Vec::new();
    let mut over = false;
    for (lead, gone) in authorities.chain(others) {
        let Some(gone) = gone else { continue };
        over |= lead.kind.is_authority();
        let words = gone.words();
        match ends.iter_mut().find(|(known, _)| *known == words) {
            Some((_, leads)) => leads.push(lead.brief()),
            None => ends.push((words, vec![lead.brief()])),
        }
    }
    let shown = ends.iter().take(NAMED).map(|(words, leads)| {
        let named = leads.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        match leads.len().saturating_sub(NAMED) {
            0 => format!("{words}: {named}"),
            more => format!("{words}: {named} and {more} more"),
        }
    });
    let mut text = shown.collect::<Vec<_>>().join("; ");
    let more: usize = ends.iter().skip(NAMED).map(|(_, leads)| leads.len()).sum();
    if more > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, "; and {more} more");
    }
    if over {
        text.push_str("; what was begun elsewhere over a connection is not known");
    }
    (!ends.is_empty()).then_some(text)
}

/// Returns what the procedure wants next: keep, revoke, verify, end, look again; then
/// the servers that nobody has handled.
fn next_step(story: &Story, records: &[Record], unhandled: Option<&Unhandled>) -> String {
    // Whoever closed it has said what is left.
    if let Some(left) = story.closed.as_ref().and_then(|act| act.how.clone()) {
        return left;
    }
    if story.snapshots.is_empty() {
        return "save a snapshot: nothing is kept yet".to_owned();
    }
    for record in records {
        let name = named(&record.instance);
        let untouched = |line: &&LeadLine| line.revoked.is_none() && line.denied.is_none();
        if let Some(line) = record.open_leads().find(untouched) {
            return format!("revoke {} of {name}", line.lead.brief());
        }
        if let Some(line) = record.open_leads().find(|line| line.is_claimed()) {
            return format!(
                "name the check that showed that {} of {name} is denied",
                line.lead.brief()
            );
        }
        if let Some(line) = record.open_leads().next() {
            return format!("verify that {} of {name} is denied", line.lead.brief());
        }
    }
    for record in records {
        let name = named(&record.instance);
        if let Some(signal) = open_signals(&record.signals).next() {
            return format!("look again at {name}: {}", signal_line(signal));
        }
        if record.signals.is_empty() && record.ended.is_none() && record.said_left.is_none() {
            return format!("end {name} with TERM, or say in its follow-up why it stays");
        }
    }
    let left = unhandled.filter(|left| !left.servers.is_empty());
    match (&story.closed, left) {
        (Some(_), Some(left)) => format!(
            "nothing is asked for: the incident was closed with {} seen and not handled",
            left.counted()
        ),
        (Some(_), None) => "nothing: the incident is closed".to_owned(),
        (None, Some(left)) => left.next_step(),
        (None, None) => "close the incident: mcpwake incident close, or Alt-i".to_owned(),
    }
}
