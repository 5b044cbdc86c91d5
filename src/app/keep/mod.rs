//! The incident that is open: its journal as far as it is known here, what is on its way to the
//! disk, and what did not get there.

mod close;
pub mod command;
mod form;
mod lasts;
mod listed;
mod others;
mod past;
mod record;
mod stated;
mod tally;
#[cfg(test)]
pub(crate) mod testkit;
#[cfg(test)]
mod tests;
mod update;

use std::collections::{BTreeMap, BTreeSet};

use super::effect::{JobId, Offer, Order};
use crate::journal::{Head, Kept, Line, Past, Story};
use crate::model::identity::InstanceId;
use crate::model::time::UnixMillis;

pub use command::{Configured, Placeholder};
pub use form::{Form, Typing};
pub use listed::{Listed, Standing};
pub use record::Progress;

pub(super) use close::{ask_close, close, look_again};
pub(super) use command::ran;
pub(super) use form::{key as form_key, paste as form_paste};
pub(super) use lasts::saved;
pub(super) use listed::open_listed;
pub(super) use others::{elsewhere, find_open, followed, found, tick};
pub(super) use past::{gone, look_back};
pub(super) use record::of as record_of;
pub(super) use tally::{count, tally};
pub(super) use update::{
    Then, add, append, ask, called, follow, interrupt, leave, look_at_clock, note, open, opened, quit,
    record, refused, take_note, titled, toggle_about, written,
};

/// What is kept.
#[derive(Debug, Default)]
pub struct Keep {
    /// The incident.
    pub(super) incident: Option<Incident>,
    /// The order that opens one, and the title that was given.
    pub(super) opening: Option<(JobId, Option<String>)>,
    /// Whether the entry that closes it is on its way.
    closing: bool,
    /// The newest open one of this operator, which an empty title goes on with.
    pub(super) offer: Offered,
    /// The order that looks for it, until it is answered.
    looking: Option<JobId>,
    /// When that was ordered last.
    looked_at: Option<UnixMillis>,
    /// The order that reads what others have added to the journal, until it is answered.
    following: Option<JobId>,
    /// Entries that the desk has not answered yet.
    pub(super) waiting: BTreeMap<JobId, Waiting>,
    /// Entries that could not be written: they are tried again with the next one.
    pub(super) unsaved: Vec<Waiting>,
    /// Commands that run, by name.
    pub(super) running: BTreeMap<JobId, String>,
    /// Instances that a saved snapshot shows, each with the newest that does.
    pub(super) saved: BTreeMap<InstanceId, Kept>,
    /// The last samples that showed what newer ones do not show.
    lasts: lasts::Lasts,
    /// What earlier samples of this run showed.
    pub(super) pasts: BTreeMap<InstanceId, Past>,
    /// Servers whose client is ordered to be journalled as gone.
    gone: BTreeSet<InstanceId>,
    /// What servers do since their first revocation.
    tallies: tally::Tallies,
    /// The wall clock less the time since boot, as it was first; `None`: no sample yet.
    pub(super) clock_offset_ms: Option<i64>,
}

/// Whether there is an incident to go on with.
#[derive(Debug, Default)]
pub(super) enum Offered {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    /// There is none.
    Nothing,
    /// This one.
    One(Offer),
}

impl From<Option<Offer>> for Offered {
    fn from(found: Option<Offer>) -> Self {
        found.map_or(Self::Nothing, Self::One)
    }
}

/// An entry on its way to the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The order.
    pub(super) order: Order,
    /// How the operator would call it: `the note on git 48271`.
    pub(super) what: String,
}

/// An open incident.
#[derive(Debug)]
pub struct Incident {
    /// Its directory.
    pub(super) path: String,
    /// What the journal tells, everybody's entries, as of the last append.
    pub(super) story: Story,
    /// What is not as it was written, as it was found on opening.
    pub(super) faults: Vec<String>,
}

impl Incident {
    /// Returns the title.
    pub fn title(&self) -> &str {
        &self.story.title
    }

    /// Returns the directory.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns what the journal tells.
    pub fn story(&self) -> &Story {
        &self.story
    }

    /// Returns what is not as it was written: what the journal says behind a fault is not told.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Returns the last entry.
    pub fn head(&self) -> Option<Head> {
        self.story.head
    }

    /// Adds lines that the desk has read; what is known already is not added twice. From the first one on,
    /// they are all that the journal tells now.
    pub(super) fn add(&mut self, lines: &[Line]) {
        if lines.first().is_some_and(|line| line.seq == 1) {
            self.story = Story::default();
        }
        for line in lines {
            if self.story.head.is_none_or(|head| head.seq < line.seq) {
                self.story.add(line);
            }
        }
    }
}

impl Keep {
    /// Returns the incident that is open.
    pub fn incident(&self) -> Option<&Incident> {
        self.incident.as_ref()
    }

    /// Returns what is not as it was written in the incident that is open.
    pub fn faults(&self) -> &[String] {
        self.incident.as_ref().map_or(&[], Incident::faults)
    }

    /// Returns the incident of this operator that could be gone on with, where none is open here.
    pub fn offer(&self) -> Option<&Offer> {
        match &self.offer {
            Offered::One(offer) if !self.is_open() => Some(offer),
            _ => None,
        }
    }

    /// Returns the title of the incident that is being opened; empty: the newest open one's.
    pub fn opening(&self) -> Option<&str> {
        self.opening
            .as_ref()
            .map(|(_, title)| title.as_deref().unwrap_or(""))
    }

    /// Returns whether an incident is open, or on its way.
    pub fn is_open(&self) -> bool {
        self.incident.is_some() || self.opening.is_some()
    }

    /// Returns whether a saved snapshot shows an instance.
    pub fn is_saved(&self, instance: InstanceId) -> bool {
        self.saved.contains_key(&instance)
    }

    /// Returns how what is not on the disk would be called.
    pub fn not_on_disk(&self) -> Vec<&str> {
        let all = self.unsaved.iter().chain(self.waiting.values());
        all.map(|one| one.what.as_str()).collect()
    }
}
