//! The fields of a record, as entries and evidence fill them.

use std::collections::BTreeMap;

use super::entry::{FieldName, FieldSource};
use super::leads::Other;
use super::observe;
use super::record::{Added, Evidence, Field, LeadLine, Piece, moment, typed, unavailable};
use super::story::{Act, SignalState, Thread, open_signals};
use super::termination;
use crate::model::instance::Instance;
use crate::model::time::UnixMillis;
use crate::text::Safe;
use crate::text::redact::Redactor;

/// What the fields of one instance are filled from.
pub(super) struct Maker<'a> {
    /// What the journal tells.
    pub(super) thread: &'a Thread,
    /// The sample that shows the instance.
    pub(super) seen: Option<(&'a Evidence, &'a Instance)>,
    /// Its authorities, with what was done about them.
    pub(super) leads: &'a [LeadLine],
    /// What else it was seen to act through.
    pub(super) others: &'a [Other],
    /// Removes secrets from what a sample shows.
    pub(super) redactor: &'a Redactor,
}

impl Maker<'_> {
    /// Returns the fields, in their order.
    pub(super) fn fields(&self) -> Vec<Field> {
        FieldName::ALL.map(|name| self.field(name)).into()
    }

    fn field(&self, name: FieldName) -> Field {
        let mut field = self.assembled(name);
        let Some(typed) = typed(self.thread, name) else {
            return field;
        };
        // What an operator types stands beside what the program puts together, which goes on changing.
        if field.value.is_empty() || typed.source == FieldSource::Observed {
            let mut value = vec![Piece::Words(typed.value.clone())];
            if name == FieldName::Client && !field.value.is_empty() {
                value.extend(self.unavailable().into_iter().flatten());
            }
            return Field {
                value,
                source: Some(typed.source),
                operator: Some(typed.operator.clone()),
                at: Some(typed.at),
                ..field
            };
        }
        field.added = Some(Added {
            value: typed.value.clone(),
            operator: typed.operator.clone(),
            at: typed.at,
        });
        field
    }

    /// What the program puts together of entries and evidence.
    fn assembled(&self, name: FieldName) -> Field {
        let mut value = self.observed(name).unwrap_or_default();
        if value.first() == Some(&Piece::Between) {
            value.remove(0);
        }
        let mut field = Field {
            name,
            value,
            source: None,
            operator: None,
            at: None,
            added: None,
        };
        if field.value.is_empty() {
            return field;
        }
        if let Some(act) = self.entered(name) {
            field.source = Some(FieldSource::Entered);
            field.operator = Some(act.operator.clone());
            field.at = Some(act.at);
        } else if name == FieldName::Authorization && !self.leads.is_empty() {
            // It adds up entries, of which there is none yet.
            field.source = Some(FieldSource::Entered);
        } else if !self.says_not_observed(name) {
            field.source = Some(FieldSource::Observed);
            field.at = self.seen.map(|(evidence, _)| evidence.world.sample.taken_at);
        }
        field
    }

    /// Whether a field says no more than that nothing was observed.
    fn says_not_observed(&self, name: FieldName) -> bool {
        name == FieldName::Client
            && self.seen.is_some_and(|(_, instance)| {
                instance.client.is_none() && observe::is_client_unseen(self.thread)
            })
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
            None => pieces.push(Piece::Words(kept(evidence))),
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
                Some(act) => format!("{}{}", act.told(), act.means()),
                None => "revocation not recorded".to_owned(),
            };
            let denied = match &line.denied {
                Some(act) if line.is_claimed() => format!("denied {}, check not named", act.time()),
                Some(act) => format!("denied {}{}", act.time(), act.means()),
                None => "not verified".to_owned(),
            };
            pieces.push(Piece::Words(format!("{revoked}, {denied}")));
        }
        pieces.extend(self.since().into_iter().flatten());
        (!pieces.is_empty()).then_some(pieces)
    }

    fn since(&self) -> Option<[Piece; 2]> {
        let revoked = self.thread.revoked_between().map(|(first, _)| first);
        let Some(since) = self.thread.since.as_ref() else {
            let unknown = "seen since then: nothing was counted, what it did is not known";
            return revoked.map(|_| [Piece::Between, Piece::Words(unknown.to_owned())]);
        };
        // No sample of the time before is counted.
        let counted = match (since.since, revoked) {
            (Some(counted), Some(revoked)) if counted > revoked => {
                format!("counted only since {}", moment(counted))
            }
            _ => "seen since then".to_owned(),
        };
        let words = format!("{counted}: {}", since.words());
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
            pieces.push(Piece::Words(format!("cancelled {}", act.told())));
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

/// Which snapshot holds the instance, where the sample itself is in no file of the incident.
fn kept(evidence: &Evidence) -> String {
    let Some(kept) = evidence.kept else {
        return "not saved".to_owned();
    };
    let digest = kept.sha256.map_or_else(
        || "digest not known here".to_owned(),
        |digest| format!("sha256 {digest}"),
    );
    if kept.taken_at == evidence.world.sample.taken_at {
        digest
    } else {
        format!("not saved; kept as of {}, {digest}", moment(kept.taken_at))
    }
}
