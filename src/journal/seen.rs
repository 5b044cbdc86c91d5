//! Why a record is one: what the snapshot that it names shows of the instance.

use schemars::JsonSchema;
use serde::Serialize;

use super::entry::{FileRef, rfc3339};
use super::leads::{Departed, Gone};
use super::record::{Evidence, moment};
use super::subject::LeadRef;
use crate::model::finding::{Lead, Lineage, Weight};
use crate::model::identity::Pid;
use crate::model::instance::Instance;
use crate::model::time::UnixMillis;
use crate::text::format;
use crate::text::redact::Redactor;

/// What a snapshot shows of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Seen {
    /// When its sample was taken.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub taken_at: UnixMillis,
    /// The file it is saved in; `null`: it was not saved.
    pub snapshot: Option<FileRef>,
    /// The finding.
    pub finding: &'static str,
    /// The facts that decide it.
    pub facts: Vec<SeenFact>,
    /// What became of its parent: `child`, `reparented`, `unknown`.
    pub lineage: &'static str,
    /// Who adopted it, and how we know.
    pub adopter: Option<String>,
    /// When its server was started.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub started_at: Option<UnixMillis>,
    /// Whose process its server is; `null`: not read.
    pub user: Option<String>,
    /// User id of its server; `null`: not read.
    pub uid: Option<u32>,
    /// Working directory of its server; `null`: not read.
    pub cwd: Option<String>,
    /// Why it is taken for an MCP server.
    pub identified_by: String,
    /// What it could act through; `null`: nobody looked.
    pub leads: Option<Vec<SeenLead>>,
}

/// A fact that decides a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenFact {
    /// Stable word for scripts.
    pub code: String,
    /// One sentence.
    pub text: String,
    /// Path or call that it was read from.
    pub source: String,
}

/// A lead as it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenLead {
    /// Letter, kind, target.
    #[serde(flatten)]
    pub lead: LeadRef,
    /// State, where it has one.
    pub state: Option<String>,
    /// The process that has it.
    #[schemars(with = "u32")]
    pub pid: Pid,
    /// Its descriptor.
    pub fd: Option<u32>,
    /// What it may mean.
    pub meaning: String,
    /// Milliseconds before `taken_at` at which data was last sent on it: traffic, which need not be an action.
    pub last_sent_ms: Option<u64>,
    /// Milliseconds before `taken_at` at which data was last received on it.
    pub last_received_ms: Option<u64>,
    /// How it went with its process since; `null`: nothing says that it did.
    pub gone: Option<Gone>,
}

impl Seen {
    /// Returns what a sample shows; text of other processes is redacted.
    pub(super) fn new(
        evidence: &Evidence,
        instance: &Instance,
        departed: &Departed<'_>,
        redactor: &Redactor,
    ) -> Self {
        let sample = &evidence.world.sample;
        let process = sample.get(instance.lead_process());
        let facts = instance.facts.iter();
        let strong = facts.filter(|fact| fact.weight == Weight::Strong);
        let leads = instance.reach.as_ref();
        Self {
            taken_at: sample.taken_at,
            snapshot: evidence.file.clone(),
            finding: instance.finding.word(),
            facts: strong
                .map(|fact| SeenFact {
                    code: fact.code.clone(),
                    text: redactor.line(&fact.text),
                    source: redactor.line(&fact.source),
                })
                .collect(),
            lineage: lineage(instance.lineage),
            adopter: instance.adopter.as_ref().map(|adopter| {
                redactor.line(&format!(
                    "{} {} ({}): {}",
                    adopter.name.lossy(),
                    adopter.pid,
                    adopter.kind.word(),
                    adopter.because
                ))
            }),
            started_at: process.map(|process| sample.started_at(process)),
            user: process
                .and_then(|process| process.user.value())
                .map(|user| user.lossy().into_owned()),
            uid: process.and_then(|process| process.uid.value().copied()),
            cwd: process
                .and_then(|process| process.cwd.value())
                .map(|cwd| redactor.line(&cwd.lossy())),
            identified_by: identified_by(instance, redactor),
            leads: leads.map(|leads| {
                let leads = leads.iter();
                leads.map(|lead| SeenLead::of(lead, departed, redactor)).collect()
            }),
        }
    }

    /// Returns lineage and adopter in words.
    pub fn parentage(&self) -> String {
        match (self.lineage, &self.adopter) {
            ("unknown", _) => "it cannot be said what became of its parent".to_owned(),
            (_, Some(adopter)) => format!("re-parented to {adopter}"),
            ("reparented", None) => "re-parented".to_owned(),
            (_, None) => "child of what started it, as far as can be seen".to_owned(),
        }
    }

    /// Returns start and user in words.
    pub fn origin(&self) -> String {
        let started = self.started_at.map_or_else(
            || "its process is not in the sample".to_owned(),
            |at| format!("started {}", moment(at)),
        );
        match (&self.user, self.uid) {
            (Some(user), Some(uid)) => format!("{started} as {user} (uid {uid})"),
            (None, Some(uid)) => format!("{started} as uid {uid}"),
            _ => format!("{started}, user not read"),
        }
    }
}

impl SeenLead {
    fn of(lead: &Lead, departed: &Departed<'_>, redactor: &Redactor) -> Self {
        let mut named = LeadRef::of(lead);
        named.target = redactor.line(&named.target);
        Self {
            lead: named,
            state: lead.state.clone(),
            pid: lead.pid,
            fd: lead.fd,
            meaning: redactor.line(&lead.meaning),
            last_sent_ms: lead.last_sent_ms,
            last_received_ms: lead.last_received_ms,
            gone: departed.of(lead),
        }
    }

    /// Returns what is known of it behind its target: state, who has it, traffic, what it may mean, and its end.
    pub fn rest(&self) -> String {
        let mut parts: Vec<String> = self.state.iter().cloned().collect();
        parts.push(match self.fd {
            Some(fd) => format!("of {} fd {fd}", self.pid),
            None => format!("of {}", self.pid),
        });
        let before = |word: &str, ms: Option<u64>| {
            ms.map(|ms| format!("last {word} {} before the snapshot", format::elapsed(ms)))
        };
        parts.extend(before("sent on it", self.last_sent_ms));
        parts.extend(before("received on it", self.last_received_ms));
        // What it may mean was so when it was seen.
        let gone = self.gone.as_ref().map(Gone::words);
        let gone = gone.map_or_else(String::new, |gone| format!("; since then {gone}"));
        format!("{}: {}{gone}", parts.join(", "), self.meaning)
    }
}

fn lineage(lineage: Lineage) -> &'static str {
    match lineage {
        Lineage::Child => "child",
        Lineage::Reparented => "reparented",
        Lineage::Unknown => "unknown",
    }
}

/// Returns confidence, reason and file: `configured: equals the entry git, in /home/deploy/.claude.json`.
fn identified_by(instance: &Instance, redactor: &Redactor) -> String {
    let by = &instance.identified_by;
    let file = by.file.as_ref().map(|file| file.lossy());
    let file = file.filter(|file| !by.because.contains(&**file));
    let place = file.map_or_else(String::new, |file| format!(", in {file}"));
    redactor.line(&format!("{}: {}{place}", by.confidence.word(), by.because))
}
