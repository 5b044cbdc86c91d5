//! An incident read back: its journal as a story, its snapshots as evidence, and what is not as it
//! should be.

use std::path::PathBuf;

use super::check::check;
use super::error::StoreError;
use super::incident::Incident;
use super::snapshot::Snapshot;
use crate::journal::export::Export;
use crate::journal::record::shows_alive;
use crate::journal::story::{Taken, Thread};
use crate::journal::{Evidence, Story};
use crate::model::instance::Instance;
use crate::text::redact::Redactor;

/// What an incident tells.
#[derive(Clone, Debug)]
pub struct Telling {
    /// What its entries add up to, as far as the chain holds.
    pub story: Story,
    /// The snapshots that its instances are seen in, newest first.
    pub evidence: Vec<Evidence>,
    /// What is not as it should be.
    pub problems: Vec<String>,
    path: PathBuf,
}

impl Telling {
    /// Puts the incident together for those who take over.
    pub fn export(&self, redactor: &Redactor) -> Export {
        Export::new(
            &self.story,
            &self.evidence,
            &self.path.display().to_string(),
            self.problems.clone(),
            redactor,
        )
    }
}

/// Older snapshots are read for a client that no newer one shows: so many in all, at most.
const MOST_FOR_A_CLIENT: usize = 8;

/// Returns whether no older snapshot is needed.
fn is_enough(story: &Story, evidence: &[Evidence]) -> bool {
    let shows = |id, is: fn(&Instance) -> bool| {
        let mut seen = evidence.iter().filter_map(|one| one.world.judged.instance(id));
        seen.any(is)
    };
    let alive = |id| evidence.iter().any(|one| shows_alive(&one.world, id));
    let covered = story.threads.keys().all(|id| alive(*id));
    let has_client = |thread: &Thread| {
        thread.unavailable.is_some() || shows(thread.on.id, |instance| instance.client.is_some())
    };
    let explained = evidence.len() >= MOST_FOR_A_CLIENT || story.threads.values().all(has_client);
    !evidence.is_empty() && covered && explained
}

impl Incident {
    /// Reads the journal, checks it, and loads the snapshots that are needed: the newest, and those that
    /// show an instance, or its client, which the newer ones do not.
    pub fn tell(&self) -> Result<Telling, StoreError> {
        let mut story = Story::default();
        self.read(&mut |line| story.add(line))?;
        let mut problems = self.problems()?;
        let (evidence, unreadable) = self.evidence(&story);
        // Named by the check already, where one is not as its entry says.
        problems.extend(unreadable);
        for (seq, kind) in &story.unknown {
            problems.push(format!(
                "entry {seq} is of a kind that this version does not know: {kind}"
            ));
        }
        let path = std::path::absolute(self.path()).unwrap_or_else(|_| self.path().to_path_buf());
        Ok(Telling {
            story,
            evidence,
            problems,
            path,
        })
    }

    /// Loads the snapshots that are needed to tell a story, the newest first, and why others could not be.
    pub fn evidence(&self, story: &Story) -> (Vec<Evidence>, Vec<String>) {
        let mut evidence: Vec<Evidence> = Vec::new();
        let mut problems = Vec::new();
        for taken in story.snapshots.iter().rev() {
            if is_enough(story, &evidence) {
                break;
            }
            match self.taken(taken) {
                Ok(snapshot) => evidence.push(Evidence {
                    file: Some(taken.file.clone()),
                    kept: None,
                    program: snapshot.program().to_owned(),
                    world: std::sync::Arc::clone(snapshot.world()),
                }),
                Err(error) => problems.push(error.to_string()),
            }
        }
        (evidence, problems)
    }

    /// Returns the newest snapshot whose file is as its entry says.
    pub fn newest_snapshot(&self) -> Result<Snapshot, StoreError> {
        // One that was changed is among the problems; what is sound is shown.
        let mut first = None;
        for taken in self.snapshots()? {
            match self.taken(&taken) {
                Ok(snapshot) => return Ok(snapshot),
                Err(error) => first = first.or(Some(error)),
            }
        }
        match first {
            Some(error) => Err(error),
            None => Err(StoreError::NoSnapshot {
                path: self.path().display().to_string(),
                what: "no snapshot was saved in this incident".to_owned(),
            }),
        }
    }

    /// Returns what the journal names as snapshots, the newest first.
    pub fn snapshots(&self) -> Result<Vec<Taken>, StoreError> {
        let mut snapshots = Vec::new();
        self.read(&mut |line| {
            if let Ok(crate::journal::Entry::Snapshot { file, taken_at, .. }) = &line.entry {
                snapshots.push(Taken {
                    file: file.clone(),
                    taken_at: *taken_at,
                });
            }
        })?;
        snapshots.reverse();
        Ok(snapshots)
    }

    /// Reads a snapshot whose file is as its entry says.
    pub fn taken(&self, taken: &Taken) -> Result<Snapshot, StoreError> {
        Snapshot::load_exactly(&self.path().join(&taken.file.path), taken.file.sha256)
    }

    /// Returns what is not as it was written: in the chain of the journal, and in the files that it names.
    pub fn problems(&self) -> Result<Vec<String>, StoreError> {
        let checked = check(self.path(), None)?;
        let mut problems = Vec::new();
        if let Some(fault) = &checked.verified.fault {
            let shown = checked.verified.head.map_or(0, |head| head.seq);
            problems.push(format!(
                "journal line {}: {}, nothing after entry {shown} is shown: {}",
                fault.line,
                fault.kind.word(),
                fault.what
            ));
        }
        if let Some(torn) = &checked.verified.torn {
            problems.push(format!("journal line {} was never completed", torn.line));
        }
        for fault in &checked.faults {
            problems.push(format!("{} {}", fault.path, fault.kind.words()));
        }
        Ok(problems)
    }
}
