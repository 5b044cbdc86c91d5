//! The incident that is open: its journal as far as it is known here, what is on its way to the
//! disk, and what did not get there.

#[cfg(test)]
mod tests;
mod update;

use std::collections::{BTreeMap, BTreeSet};

use super::effect::JobId;
use crate::journal::{Entry, Head, Line};
use crate::model::identity::InstanceId;

pub(super) use update::{
    Then, add, called, interrupt, note, open, opened, quit, take_note, titled, toggle_about, written,
};

/// What is kept.
#[derive(Debug, Default)]
pub struct Keep {
    /// The incident.
    pub(super) incident: Option<Incident>,
    /// The order that opens one.
    pub(super) opening: Option<JobId>,
    /// Entries that the desk has not answered yet.
    pub(super) waiting: BTreeMap<JobId, Waiting>,
    /// Entries that could not be written: they are tried again with the next one.
    pub(super) unsaved: Vec<Waiting>,
    /// Instances that a saved snapshot shows.
    pub(super) saved: BTreeSet<InstanceId>,
}

/// An entry on its way to the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The entry.
    pub(super) entry: Entry,
    /// How the operator would call it: `the note on git 48271`.
    pub(super) what: String,
}

/// An open incident.
#[derive(Debug)]
pub struct Incident {
    /// Title, as it was journalled.
    pub(super) title: String,
    /// Its directory.
    pub(super) path: String,
    /// The journal, everybody's entries, as of the last append.
    pub(super) lines: Vec<Line>,
}

impl Incident {
    /// Returns the title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the directory.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the journal as it is known here.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the last entry.
    pub fn head(&self) -> Option<Head> {
        self.lines.last().map(Line::head)
    }
}

impl Keep {
    /// Returns the incident that is open.
    pub fn incident(&self) -> Option<&Incident> {
        self.incident.as_ref()
    }

    /// Returns whether an incident is open, or on its way.
    pub fn is_open(&self) -> bool {
        self.incident.is_some() || self.opening.is_some()
    }

    /// Returns whether a saved snapshot shows an instance.
    pub fn is_saved(&self, instance: InstanceId) -> bool {
        self.saved.contains(&instance)
    }

    /// Returns how what is not on the disk would be called.
    pub fn not_on_disk(&self) -> Vec<&str> {
        let all = self.unsaved.iter().chain(self.waiting.values());
        all.map(|one| one.what.as_str()).collect()
    }
}
