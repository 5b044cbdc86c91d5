//! The record of an instance as journal and evidence tell it.

use std::sync::Arc;

use super::tally;
use crate::app::App;
use crate::journal::record::{DOT, plain as value_of};
use crate::journal::story::{Act, Thread};
use crate::journal::{Evidence, InstanceRef, Record};
use crate::model::identity::InstanceId;
use crate::model::world::World;

/// Returns the record of an instance, with the evidence of a world.
pub(in crate::app) fn of(app: &App, on: &InstanceRef, world: &Arc<World>) -> Record {
    let story = app.keep.incident.as_ref().map(|incident| &incident.story);
    let mut thread = story
        .and_then(|story| story.threads.get(&on.id))
        .cloned()
        .unwrap_or_else(|| Thread::new(on.clone()));
    if let Some(counts) = tally::figures(app, on.id) {
        thread.since = Some(thread.since.unwrap_or_default().or_more(counts));
    }
    let taken_at = world.sample.taken_at;
    let file = story
        .into_iter()
        .flat_map(|story| &story.snapshots)
        .rfind(|taken| taken.taken_at == taken_at)
        .map(|taken| taken.file.clone());
    if let Some(past) = app.keep.pasts.get(&on.id) {
        thread.past.clone_from(past);
    }
    let evidence = Evidence {
        file,
        kept: app.keep.saved.get(&on.id).copied(),
        program: format!("mcpwake {}", env!("CARGO_PKG_VERSION")),
        world: Arc::clone(world),
    };
    Record::new(&thread, Some(&evidence), &app.options.keep_redactor)
}

/// Returns the record that a thread of the incident tells of, with what was seen last of its instance.
pub(super) fn of_thread(app: &App, thread: &Thread) -> Option<Record> {
    let on = &thread.on;
    let world = app.world_of(on.id).or_else(|| app.feed.shown())?;
    Some(of(app, on, world))
}

/// Returns a record as text without a border.
pub(super) fn plain(app: &App, record: &Record) -> String {
    let mut lines = vec![
        format!("{} {}", record.instance.name, record.instance.id),
        String::new(),
    ];
    for field in &record.fields {
        let mut value = if field.value.is_empty() {
            "not recorded".to_owned()
        } else {
            value_of(&field.value)
        };
        if let Some(added) = &field.added {
            value = format!("{value} {DOT} {}", added.value);
        }
        lines.push(format!("{}: {value}", field.name.title()));
    }
    for line in &record.leads {
        let at = |act: &Option<Act>| act.as_ref().map_or_else(|| "no".to_owned(), Act::time);
        let (revoked, denied) = (at(&line.revoked), at(&line.denied));
        let claimed = if line.is_claimed() {
            ", check not named"
        } else {
            ""
        };
        lines.push(format!(
            "{}: revoked {revoked}, denied {denied}{claimed}",
            line.lead
        ));
    }
    for note in &record.notes {
        lines.push(format!("{} {}: {}", note.at.rfc3339(), note.operator, note.text));
    }
    if let Some(head) = app.keep.incident.as_ref().and_then(super::Incident::head) {
        lines.push(format!("journal {head}"));
    }
    lines.join("\n")
}

/// How far the procedure has come with an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether a saved snapshot shows it.
    pub kept: bool,
    /// Authorities in all.
    pub leads: usize,
    /// Of these revoked.
    pub revoked: usize,
    /// Of these shown to be denied, by a check that was named.
    pub denied: usize,
    /// Whether a TERM was sent and its outcome is known.
    pub terminated: bool,
}

impl App {
    /// Returns the record of an instance, as the world on the screen shows it, else the last that did.
    pub fn record(&self, id: InstanceId) -> Option<Record> {
        let world = self.world_of(id)?;
        let instance = world.judged.instance(id)?;
        Some(of(self, &InstanceRef::of(instance), world))
    }

    /// Returns how far the procedure has come with an instance.
    pub fn progress(&self, id: InstanceId) -> Progress {
        let Some(record) = self.record(id) else {
            return Progress::default();
        };
        let count = |done: fn(&crate::journal::record::LeadLine) -> bool| {
            record.leads.iter().filter(|line| done(line)).count()
        };
        Progress {
            kept: self.keep.is_saved(id),
            leads: record.leads.len(),
            revoked: count(|line| line.revoked.is_some()),
            denied: count(crate::journal::record::LeadLine::is_verified),
            terminated: record
                .signals
                .iter()
                .any(|state| state.signal == "TERM" && state.outcome.is_some()),
        }
    }
}
