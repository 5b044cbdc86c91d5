//! An incident read back: its journal as a story, its snapshots as evidence, and what is not as it
//! should be.

use std::path::PathBuf;

use super::check::check;
use super::error::StoreError;
use super::incident::Incident;
use super::snapshot::Snapshot;
use crate::journal::export::Export;
use crate::journal::story::Taken;
use crate::journal::{Evidence, Story};
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

impl Incident {
    /// Reads the journal, checks it, and loads the snapshots that are needed: the newest, and those that
    /// show an instance which the newer ones do not.
    pub fn tell(&self) -> Result<Telling, StoreError> {
        let mut story = Story::default();
        self.read(&mut |line| story.add(line))?;
        let mut problems = self.problems()?;
        let mut evidence: Vec<Evidence> = Vec::new();
        for taken in story.snapshots.iter().rev() {
            let covered = story.threads.keys().all(|id| {
                evidence
                    .iter()
                    .any(|evidence| evidence.world.judged.instance(*id).is_some())
            });
            if covered && !evidence.is_empty() {
                break;
            }
            // Named by the check already, where it is not as its entry says.
            match self.taken(taken) {
                Ok(snapshot) => evidence.push(Evidence {
                    file: Some(taken.file.clone()),
                    program: snapshot.program().to_owned(),
                    world: std::sync::Arc::clone(snapshot.world()),
                }),
                Err(error) => problems.push(error.to_string()),
            }
        }
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

    /// Returns the newest snapshot whose file is as its entry says.
    pub fn newest_snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut snapshots = Vec::new();
        self.read(&mut |line| {
            if let Ok(crate::journal::Entry::Snapshot { file, taken_at, .. }) = &line.entry {
                snapshots.push(Taken {
                    file: file.clone(),
                    taken_at: *taken_at,
                });
            }
        })?;
        match snapshots.last() {
            Some(taken) => self.taken(taken),
            None => Err(StoreError::NoSnapshot {
                path: self.path().display().to_string(),
                what: "no snapshot was saved in this incident".to_owned(),
            }),
        }
    }

    fn taken(&self, taken: &Taken) -> Result<Snapshot, StoreError> {
        Snapshot::load_exactly(&self.path().join(&taken.file.path), taken.file.sha256)
    }

    fn problems(&self) -> Result<Vec<String>, StoreError> {
        let checked = check(self.path(), None)?;
        let mut problems = Vec::new();
        if let Some(fault) = &checked.verified.fault {
            problems.push(format!(
                "journal line {}: {}: {}",
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
