//! An incident for those who take over: a first page, then the records. Published as
//! `mcpwake.record/1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::digest::Head;
use super::page::FirstPage;
use super::record::{Evidence, Record, shows_alive};
use super::story::{Act, Note, Story, Taken, Thread};
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
                let shows = |one: &Evidence| one.world.judged.instance(id).is_some();
                // Of a dead one nothing is seen any more that it held open.
                let alive = evidence.iter().position(|one| shows_alive(&one.world, id));
                let at = alive.or_else(|| evidence.iter().position(shows));
                let (later, seen) = evidence.split_at(at.unwrap_or(0));
                let seen = seen.first().filter(|_| at.is_some());
                Record::followed(thread, seen, later, redactor)
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
            first_page: FirstPage::new(story, evidence, &records, redactor),
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

/// Returns `git (48271)`.
pub(super) fn named(instance: &InstanceRef) -> String {
    format!("{} ({})", instance.name, instance.pid())
}
