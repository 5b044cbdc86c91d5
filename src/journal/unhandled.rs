//! Servers in trouble that the newest snapshot of an incident shows, and that its journal tells nothing of.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::entry::{FileRef, rfc3339};
use super::export::named;
use super::record::{Evidence, moment};
use super::story::Story;
use super::subject::InstanceRef;
use crate::model::finding::{Finding, Lead, LeadKind};
use crate::model::identity::ProcessKey;
use crate::model::instance::Instance;
use crate::model::time::UnixMillis;
use crate::text::redact::Redactor;

/// Servers that were seen and that nobody has handled, as of one snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unhandled {
    /// When the snapshot was taken.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub taken_at: UnixMillis,
    /// Its file; `null`: it was not saved.
    pub snapshot: Option<FileRef>,
    /// How many servers have each finding; those that none has are not named.
    pub findings: BTreeMap<String, usize>,
    /// All of them: those that can still act first, then the worst finding first.
    pub servers: Vec<Server>,
    /// Attached servers beside them of which a younger twin runs under the same client.
    pub older_twins: usize,
    /// Servers beside them of which it could not be said whether a client has them.
    pub unknown: usize,
}

/// A server that nobody has handled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Server {
    /// The instance.
    pub instance: InstanceRef,
    /// Its finding.
    pub finding: &'static str,
    /// How many leads of each kind it can act through; `null`: nobody looked.
    pub reach: Option<BTreeMap<&'static str, usize>>,
}

impl Unhandled {
    /// Returns what the newest snapshot shows and the journal tells nothing of.
    pub fn new(story: &Story, newest: &Evidence, redactor: &Redactor) -> Self {
        let ended = ended(story);
        let judged = &newest.world.judged;
        let rest: Vec<&Instance> = judged
            .instances
            .iter()
            .filter(|one| !story.threads.contains_key(&one.id) && !ended.contains(&one.lead_process()))
            .collect();
        let mut servers: Vec<&Instance> = rest
            .iter()
            .copied()
            .filter(|one| one.finding.is_trouble())
            .collect();
        servers.sort_by_key(|one| (Reverse(power(one)), one.finding, one.id));
        let mut findings = BTreeMap::new();
        for one in &servers {
            *findings.entry(one.finding.word().to_owned()).or_default() += 1;
        }
        let count = |is: fn(&Instance) -> bool| rest.iter().filter(|one| is(one)).count();
        Self {
            taken_at: newest.world.sample.taken_at,
            snapshot: newest.file.clone(),
            findings,
            servers: servers.into_iter().map(|one| Server::of(one, redactor)).collect(),
            older_twins: count(|one| one.older_twin && !one.finding.is_trouble()),
            unknown: count(|one| one.finding == Finding::Unknown),
        }
    }

    /// Returns `11 servers (severed 10, held 1)`.
    pub fn counted(&self) -> String {
        counted(&self.servers)
    }

    /// Returns what else the snapshot shows that may be left over; `None`: nothing.
    pub fn beside(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.older_twins > 0 {
            parts.push(format!(
                "{} attached of which a younger twin runs: their session may have ended",
                self.older_twins
            ));
        }
        if self.unknown > 0 {
            parts.push(format!("{} of which the finding is unknown", self.unknown));
        }
        (!parts.is_empty()).then(|| format!("beside them: {}", parts.join("; ")))
    }

    /// Returns what the procedure wants of them; empty where there is none.
    pub(super) fn next_step(&self) -> String {
        let at = moment(self.taken_at);
        match &self.servers[..] {
            [] => String::new(),
            [first] => format!(
                "look at {}, seen {at} and not handled: {}; or note why it stays",
                named(&first.instance),
                first.words()
            ),
            [first, ..] => format!(
                "look at {}, seen {at} and not handled; first {}: {}; or note why they stay",
                self.counted(),
                named(&first.instance),
                first.words()
            ),
        }
    }
}

/// Returns `11 servers (severed 10, held 1)`.
pub(super) fn counted(servers: &[Server]) -> String {
    let findings: Vec<String> = Finding::ALL
        .iter()
        .map(|finding| finding.word())
        .map(|word| (word, servers.iter().filter(|one| one.finding == word).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(word, count)| format!("{word} {count}"))
        .collect();
    let noun = if servers.len() == 1 { "server" } else { "servers" };
    format!("{} {noun} ({})", servers.len(), findings.join(", "))
}

impl Server {
    fn of(instance: &Instance, redactor: &Redactor) -> Self {
        let on = InstanceRef::of(instance);
        let reach = instance.reach.as_ref().map(|leads| {
            let mut counts = BTreeMap::new();
            for lead in leads {
                *counts.entry(lead.kind.word()).or_default() += 1;
            }
            counts
        });
        Self {
            instance: InstanceRef {
                name: redactor.line(&on.name),
                ..on
            },
            finding: instance.finding.word(),
            reach,
        }
    }

    /// Returns finding and reach: `severed, can act: 2 tcp, ssh`.
    pub fn words(&self) -> String {
        let finding = self.finding;
        let Some(reach) = &self.reach else {
            return format!("{finding}, reach not looked at");
        };
        if reach.is_empty() {
            return format!("{finding}, no lead seen");
        }
        let kinds: Vec<String> = reach
            .iter()
            .map(|(kind, count)| match count {
                1 => (*kind).to_owned(),
                _ => format!("{count} {kind}"),
            })
            .collect();
        format!("{finding}, can act: {}", kinds.join(", "))
    }
}

/// How readily it can act: a connection needs no further step, a credential needs one; a closer look that
/// nobody took may show either.
fn power(instance: &Instance) -> u8 {
    let strength = |lead: &Lead| match lead.kind {
        LeadKind::Tcp | LeadKind::Udp | LeadKind::Ssh | LeadKind::UnixSocket => 4,
        LeadKind::CredentialFile | LeadKind::CredentialName | LeadKind::CredentialArgument => 3,
        LeadKind::Listener | LeadKind::File | LeadKind::Child => 2,
    };
    let leads = instance.reach.as_ref();
    leads.map_or(1, |leads| leads.iter().map(strength).max().unwrap_or(0))
}

/// The processes of which the journal says that they have ended.
fn ended(story: &Story) -> BTreeSet<ProcessKey> {
    let signals = story.threads.values().flat_map(|thread| &thread.signals);
    signals
        .filter(|state| {
            let found = state.outcome.as_ref();
            found.is_some_and(|found| found.outcome.is_resolved())
        })
        .map(|state| state.target.key)
        .collect()
}
