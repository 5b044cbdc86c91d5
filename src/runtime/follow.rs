//! Worlds that were saved, for the screen: a snapshot is shown once, an incident is followed while
//! colleagues write to it. Nothing is written.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::Opened;
use crate::journal::{Entry, Line, Story};
use crate::model::identity::InstanceId;
use crate::model::world::World;
use crate::store::{Incident, Tail};

use super::feed::Update;

/// What `open` shows.
#[derive(Clone, Debug)]
pub enum Saved {
    /// A snapshot that was read already.
    Snapshot(Arc<World>),
    /// An incident's directory.
    Incident(PathBuf),
}

/// Looks again and again at what was saved.
pub(super) struct Follower {
    saved: Saved,
    /// The newest world, once there is one.
    world: Option<Arc<World>>,
    /// How far the journal was read.
    tail: Tail,
    /// Its entries up to there.
    lines: Vec<Line>,
    /// Whether something of it is not shown yet.
    due: bool,
    /// Whether a snapshot of it is not shown yet.
    newer: bool,
    /// Of which servers it told.
    told: Vec<InstanceId>,
    /// What its snapshots show of them.
    evidence: Vec<Arc<World>>,
}

impl Follower {
    /// Returns one that has shown nothing yet.
    pub(super) fn new(saved: Saved) -> Self {
        Self {
            saved,
            world: None,
            tail: Tail::default(),
            lines: Vec::new(),
            due: false,
            newer: false,
            told: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// Returns what there is, where it is not what the last look gave.
    pub(super) fn look(&mut self) -> Option<Update> {
        match &self.saved {
            Saved::Snapshot(world) => {
                let first = self.world.replace(Arc::clone(world)).is_none();
                first.then(|| Update::Saved(Arc::clone(world), None))
            }
            Saved::Incident(directory) => {
                let incident = Incident::for_reading(directory.clone());
                self.look_at(&incident)
            }
        }
    }

    fn look_at(&mut self, incident: &Incident) -> Option<Update> {
        let added = match self.tail.read(&incident.journal()) {
            Ok(added) => added,
            Err(error) => return Some(Update::Problem(error.to_string())),
        };
        if added.anew {
            self.lines.clear();
        }
        let is_snapshot = |line: &Line| matches!(line.entry, Ok(Entry::Snapshot { .. }));
        self.due |= added.changed;
        self.newer |= added.anew || added.lines.iter().any(is_snapshot);
        self.lines.extend(added.lines);
        if !self.due && self.world.is_some() {
            return None;
        }
        let newer = self.newer || self.world.is_none();
        if newer {
            match incident.newest_snapshot() {
                Ok(snapshot) => {
                    self.world = Some(Arc::clone(snapshot.world()));
                    self.newer = false;
                }
                Err(error) => return Some(Update::Problem(error.to_string())),
            }
        }
        // An entry may be the first on a server that only an older snapshot shows.
        let mut story = Story::default();
        for line in &self.lines {
            story.add(line);
        }
        let told: Vec<InstanceId> = story.threads.keys().copied().collect();
        if newer || told != self.told {
            let (evidence, _) = incident.evidence(&story);
            self.evidence = evidence.into_iter().map(|one| one.world).collect();
            self.told = told;
        }
        let faults = match incident.problems() {
            Ok(faults) => faults,
            Err(error) => return Some(Update::Problem(error.to_string())),
        };
        self.due = false;
        let opened = Opened {
            title: title(&self.lines),
            path: incident.path().display().to_string(),
            lines: self.lines.clone(),
            shown: std::collections::BTreeMap::new(),
            copied: Vec::new(),
            evidence: self.evidence.clone(),
            problem: None,
            faults,
        };
        Some(Update::Saved(self.world.clone()?, Some(opened)))
    }
}

fn title(lines: &[Line]) -> String {
    let title = lines.iter().find_map(|line| match &line.entry {
        Ok(Entry::Opened { title, .. }) => Some(title.clone()),
        _ => None,
    });
    title.unwrap_or_default()
}
