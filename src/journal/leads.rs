//! What a record says of the leads of an instance: which there are, and which went with their processes.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::entry::rfc3339;
use super::record::{Evidence, LeadLine, moment};
use super::story::{SignalState, Thread};
use super::subject::LeadRef;
use crate::model::descriptor::Target;
use crate::model::finding::{Lead, LeadKind};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::instance::Instance;
use crate::model::plan::NOTHING_LEFT;
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::model::time::UnixMillis;
use crate::text::redact::Redactor;
use crate::text::width::{Glyphs, truncate_middle};

/// A lead that is no authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Other {
    /// The lead.
    #[serde(flatten)]
    pub lead: LeadRef,
    /// What it may mean.
    pub meaning: String,
    /// How it went with its process; `null`: nothing says that it did.
    pub gone: Option<Gone>,
}

/// The end of a process, and with it of what only it held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gone {
    /// The process.
    #[schemars(with = "u32")]
    pub pid: Pid,
    /// When it ended; `null`: nobody saw it.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub at: Option<UnixMillis>,
    /// The first snapshot without it, where no signal says that it ended.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub missing_at: Option<UnixMillis>,
}

impl Gone {
    /// Returns which of two tells when: a signal that came too late knows less than the one before it.
    fn or_told(self, other: Self) -> Self {
        if self.at.is_some() { self } else { other }
    }

    /// Returns `gone with process 3883 at 2026-12-01 08:20:01Z`.
    pub fn words(&self) -> String {
        let pid = self.pid;
        match (self.at, self.missing_at) {
            (Some(at), _) => format!("gone with process {pid} at {}", moment(at)),
            (None, Some(at)) => format!("gone with process {pid}: not there at {}", moment(at)),
            (None, None) => format!("gone with process {pid}; when it ended was not seen"),
        }
    }
}

/// Columns of a target where it is named in passing; the record below has the whole of it.
const BRIEF: usize = 100;

/// Columns of a command line there.
const BRIEF_COMMAND: usize = 60;

impl LeadRef {
    /// Returns letter, kind and target, in few enough columns for a line among others.
    pub fn brief(&self) -> String {
        let columns = match self.kind {
            LeadKind::Child => BRIEF_COMMAND,
            _ => BRIEF,
        };
        let target = truncate_middle(&self.target, columns, Glyphs::Unicode);
        format!("{} {} {target}", self.letter, self.kind.word())
    }
}

/// Returns whether a lead ends with the process that has it. What was begun elsewhere (a session over ssh), and
/// what others may hold too (a credential), does not.
fn ends_with_process(kind: LeadKind) -> bool {
    match kind {
        LeadKind::Tcp
        | LeadKind::Udp
        | LeadKind::Listener
        | LeadKind::UnixSocket
        | LeadKind::File
        | LeadKind::Child => true,
        LeadKind::Ssh
        | LeadKind::CredentialFile
        | LeadKind::CredentialName
        | LeadKind::CredentialArgument => false,
    }
}

/// The processes of one instance that have ended, as far as journal and later snapshots say.
#[derive(Debug, Default)]
pub(super) struct Departed<'a> {
    ends: BTreeMap<ProcessKey, Gone>,
    seen: Option<(&'a Sample, &'a Instance)>,
    /// The end of all of it.
    all: Option<Gone>,
}

impl<'a> Departed<'a> {
    /// Returns what has ended of an instance that a sample shows; `later` holds the samples after that.
    pub(super) fn new(
        thread: &Thread,
        seen: Option<(&'a Evidence, &'a Instance)>,
        later: &[Evidence],
    ) -> Self {
        let mut departed = Self {
            seen: seen.map(|(evidence, instance)| (&evidence.world.sample, instance)),
            ..Self::default()
        };
        for state in &thread.signals {
            departed.signalled(state);
        }
        if let Some((evidence, instance)) = seen {
            departed.missing(&evidence.world.sample, instance, later);
        }
        let whole = departed.seen.map(|(_, instance)| {
            let members = instance.members().map(|(key, _)| departed.ends.get(&key));
            members.collect::<Option<Vec<&Gone>>>()
        });
        if let Some(Some(ends)) = whole {
            departed.all = ends.last().map(|gone| **gone).or(departed.all);
        }
        departed
    }

    fn signalled(&mut self, state: &SignalState) {
        let Some(found) = state.outcome.as_ref().filter(|found| found.outcome.is_end()) else {
            return;
        };
        let after = found.after_ms.and_then(|ms| i64::try_from(ms).ok());
        let at = state.sent_at.zip(after);
        let gone = Gone {
            pid: state.target.key.pid,
            at: at.map(|(sent, after)| UnixMillis(sent.0.saturating_add(after))),
            missing_at: None,
        };
        self.ends
            .entry(state.target.key)
            .and_modify(|known| *known = known.or_told(gone))
            .or_insert(gone);
        // What is left stands last.
        let last = found.detail.as_deref().and_then(|text| text.rsplit("; ").next());
        if last == Some(NOTHING_LEFT) {
            self.all = Some(gone);
            let members = self.seen.iter().flat_map(|(_, instance)| instance.members());
            for (key, _) in members {
                self.ends.entry(key).or_insert(gone);
            }
        }
    }

    /// Adds whoever the later samples do not show any more.
    fn missing(&mut self, sample: &Sample, instance: &Instance, later: &[Evidence]) {
        let members = instance.members().map(|(key, _)| key);
        let others = instance.reach.iter().flatten();
        let others = others.filter_map(|lead| Some(sample.process(lead.pid)?.key));
        let keys: BTreeSet<ProcessKey> = members.chain(others).collect();
        let mut later: Vec<&Sample> = later
            .iter()
            .map(|evidence| &evidence.world.sample)
            .filter(|later| tells_of_ends(sample, later))
            .collect();
        later.sort_by_key(|sample| sample.taken_at);
        for key in keys {
            let first = later
                .iter()
                .find(|sample| sample.get(key).is_none_or(Process::is_zombie));
            if let Some(first) = first {
                self.ends.entry(key).or_insert(Gone {
                    pid: key.pid,
                    at: None,
                    missing_at: Some(first.taken_at),
                });
            }
        }
    }

    /// Returns the end of the server; where it was not seen, that of the process with its key.
    pub(super) fn server(&self, key: ProcessKey) -> Option<Gone> {
        let key = self.seen.map_or(key, |(_, instance)| instance.lead_process());
        self.ends.get(&key).copied()
    }

    /// Returns how a lead of the sample went with its process.
    pub(super) fn of(&self, lead: &Lead) -> Option<Gone> {
        let (sample, instance) = self.seen.filter(|_| ends_with_process(lead.kind))?;
        let holder = sample.process(lead.pid)?.key;
        let gone = self.ends.get(&holder)?;
        let shared = sharers(sample, instance, lead, holder);
        let held = shared.iter().any(|key| !self.ends.contains_key(key));
        (!held).then_some(*gone)
    }

    /// Returns how a lead went that no sample shows: with the whole instance.
    fn of_unseen(&self, lead: &LeadRef) -> Option<Gone> {
        self.all.filter(|_| ends_with_process(lead.kind))
    }
}

/// Returns whether a process that a sample has and a later one does not has ended.
fn tells_of_ends(sample: &Sample, later: &Sample) -> bool {
    let hides = later.hidden.is_some_and(|hidden| hidden > 0);
    later.taken_at > sample.taken_at && later.host.boot_id == sample.host.boot_id && !hides
}

/// The other processes that have what a lead is about: of a socket anybody, of a file the members.
fn sharers(sample: &Sample, instance: &Instance, lead: &Lead, holder: ProcessKey) -> Vec<ProcessKey> {
    let open = |key: ProcessKey| {
        let descriptors = sample.get(key).and_then(|process| process.descriptors.value());
        descriptors.into_iter().flatten()
    };
    let Some(own) = lead.fd.and_then(|fd| open(holder).find(|one| one.fd == fd)) else {
        return Vec::new();
    };
    let keys: Vec<ProcessKey> = match own.target {
        Target::Socket { .. } => sample.processes.values().map(|one| one.key).collect(),
        _ => instance.members().map(|(key, _)| key).collect(),
    };
    keys.into_iter()
        .filter(|key| *key != holder && open(*key).any(|one| one.target == own.target))
        .collect()
}

/// Returns the leads of a sample that are no authority.
pub(super) fn others(
    instance: Option<&Instance>,
    departed: &Departed<'_>,
    redactor: &Redactor,
) -> Vec<Other> {
    let leads = instance.into_iter().flat_map(|one| one.reach.iter().flatten());
    leads
        .filter(|lead| !lead.kind.is_authority())
        .map(|lead| Other {
            gone: departed.of(lead),
            meaning: redactor.line(&lead.meaning),
            lead: redacted(lead, redactor),
        })
        .collect()
}

/// Returns what a sample shows and what was dealt with, without the same authority twice.
pub(super) fn authorities(
    thread: &Thread,
    instance: Option<&Instance>,
    departed: &Departed<'_>,
    redactor: &Redactor,
) -> Vec<LeadLine> {
    let seen = instance
        .into_iter()
        .flat_map(|instance| instance.reach.iter().flatten())
        .filter(|lead| lead.kind.is_authority());
    let mut lines: Vec<LeadLine> = seen
        .map(|lead| LeadLine {
            gone: departed.of(lead),
            lead: redacted(lead, redactor),
            revoked: None,
            denied: None,
        })
        .collect();
    for state in &thread.leads {
        // Two leads of one sample can mean one authority: both get what was done about it.
        let mut known = false;
        for same in lines.iter_mut().filter(|line| line.lead.same(&state.lead)) {
            same.revoked.clone_from(&state.revoked);
            same.denied.clone_from(&state.denied);
            known = true;
        }
        if !known {
            lines.push(LeadLine {
                lead: state.lead.clone(),
                revoked: state.revoked.clone(),
                denied: state.denied.clone(),
                gone: departed.of_unseen(&state.lead),
            });
        }
    }
    lines
}

fn redacted(lead: &Lead, redactor: &Redactor) -> LeadRef {
    let mut lead = LeadRef::of(lead);
    lead.target = redactor.line(&lead.target);
    lead
}
