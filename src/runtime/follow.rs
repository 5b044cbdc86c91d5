//! Worlds that were saved, for the screen: a snapshot is shown once, an incident is followed while
//! colleagues write to it. Nothing is written.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::Opened;
use crate::journal::{Entry, Line};
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
    /// Number of the last entry that was read.
    seen: u64,
}

impl Follower {
    /// Returns one that has shown nothing yet.
    pub(super) fn new(saved: Saved) -> Self {
        Self {
            saved,
            world: None,
            seen: 0,
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
        if let Err(error) = incident.read(&mut |line| lines.push(line.clone())) {
            return Some(Update::Problem(error.to_string()));
        }
        let newest = lines.last().map_or(0, |line| line.seq);
        if newest == self.seen && self.world.is_some() {
            return None;
        }
        let is_snapshot = |line: &&Line| matches!(line.entry, Ok(Entry::Snapshot { .. }));
        let newer = lines.iter().filter(is_snapshot).any(|line| line.seq > self.seen);
        if newer || self.world.is_none() {
            match incident.newest_snapshot() {
                Ok(snapshot) => self.world = Some(Arc::clone(snapshot.world())),
                Err(error) => return Some(Update::Problem(error.to_string())),
            }
        }
        self.seen = newest;
        let opened = Opened {
            title: title(&lines),
            path: incident.path().display().to_string(),
            lines,
            shown: Vec::new(),
            problem: None,
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
