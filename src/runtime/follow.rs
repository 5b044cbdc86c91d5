//! Worlds that were saved, for the screen: a snapshot is shown once, an incident is followed while
//! colleagues write to it. Nothing is written.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::Opened;
use crate::journal::{Entry, Line, Story, Verified};
use crate::model::identity::InstanceId;
use crate::model::world::World;
use crate::store::Incident;

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
    /// Number of the last entry that was read, and how the journal went on behind it.
    seen: Verified,
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
            seen: Verified::default(),
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
        let mut lines: Vec<Line> = Vec::new();
        let found = match incident.read(&mut |line| lines.push(line.clone())) {
            Ok(found) => found,
            Err(error) => return Some(Update::Problem(error.to_string())),
        };
        if found == self.seen && self.world.is_some() {
            return None;
        }
        let seen = self.seen.head.map_or(0, |head| head.seq);
        let is_snapshot = |line: &&Line| matches!(line.entry, Ok(Entry::Snapshot { .. }));
        let newer = lines.iter().filter(is_snapshot).any(|line| line.seq > seen);
        if newer || self.world.is_none() {
            match incident.newest_snapshot() {
                Ok(snapshot) => self.world = Some(Arc::clone(snapshot.world())),
                Err(error) => return Some(Update::Problem(error.to_string())),
            }
        }
        // An entry may be the first on a server that only an older snapshot shows.
        let mut story = Story::default();
        for line in &lines {
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
        self.seen = found;
        let opened = Opened {
            title: title(&lines),
            path: incident.path().display().to_string(),
            lines,
            shown: std::collections::BTreeMap::new(),
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
