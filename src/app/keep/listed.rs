//! The records of the incident that is open: whether their servers still run, and what is left open of each.

use std::sync::Arc;

use super::record;
use crate::app::App;
use crate::app::popup::{Content, Popup};
use crate::journal::entry::OutcomeKind;
use crate::journal::story::{SignalState, Thread};
use crate::journal::{InstanceRef, Record};
use crate::model::world::World;

use super::Form;

/// A dead process that nobody has waited for.
const ZOMBIE: char = 'Z';

/// What is known of a server now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The newest sample shows it.
    Running,
    /// A saved sample shows it: whether it still runs is not known.
    InSample,
    /// It has ended, as the journal or the samples say.
    Exited,
    /// The newest sample does not show it, and nobody saw it end.
    NotSeen,
}

impl Standing {
    /// Returns it in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::InSample => "in sample",
            Self::Exited => "exited",
            Self::NotSeen => "not seen",
        }
    }
}

/// One record of the list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Whether its server still runs.
    pub standing: Standing,
    /// The record.
    pub record: Record,
}

impl Listed {
    /// Returns how many authorities are revoked, and how many of how many are shown to be denied.
    pub fn counts(&self) -> (usize, usize, usize) {
        let leads = &self.record.leads;
        let revoked = leads.iter().filter(|line| line.revoked.is_some()).count();
        let denied = leads.iter().filter(|line| line.is_verified()).count();
        (revoked, denied, leads.len())
    }

    /// Returns what came of the last signal; `None`: there was none. Of two signals at once the one that came too
    /// late says less than the one that ended it.
    pub fn outcome(&self) -> Option<String> {
        let signals = &self.record.signals;
        let last = signals.last()?;
        let outcome = |state: &SignalState| state.outcome.as_ref().map(|found| found.outcome);
        let late = outcome(last) == Some(OutcomeKind::AlreadyGone);
        let mut ended = signals.iter().rev().filter(|state| {
            state.target.key == last.target.key
                && outcome(state).is_some_and(|one| one.is_end() && one != OutcomeKind::AlreadyGone)
        });
        let last = ended.next().filter(|_| late).unwrap_or(last);
        Some(match (&last.outcome, &last.refused) {
            (Some(found), _) => {
                let after = found
                    .after_ms
                    .map_or_else(String::new, |ms| format!(" after {ms} ms"));
                format!("{} {}{after}", last.signal, found.outcome.words())
            }
            (None, Some(_)) => format!("{} refused", last.signal),
            (None, None) => format!("{} no outcome", last.signal),
        })
    }
}

impl App {
    /// Returns the records of the incident, those with open work first.
    pub fn listed(&self) -> Vec<Listed> {
        let Some(incident) = self.keep.incident() else {
            return Vec::new();
        };
        let threads = incident.story.threads.values();
        let mut listed: Vec<Listed> = threads
            .filter_map(|thread| {
                Some(Listed {
                    standing: standing(self, thread)?,
                    record: record::of_thread(self, thread)?,
                })
            })
            .collect();
        listed.sort_by_key(|one| one.record.left_open().is_none());
        listed
    }

    /// Returns what is known of the server of a record now.
    pub fn standing(&self, on: &InstanceRef) -> Option<Standing> {
        let thread = self.keep.incident()?.story.threads.get(&on.id);
        match thread {
            Some(thread) => standing(self, thread),
            None => standing(self, &Thread::new(on.clone())),
        }
    }
}

fn standing(app: &App, thread: &Thread) -> Option<Standing> {
    let id = thread.on.id;
    let newest = app.feed.newest()?;
    let ended = |outcome: OutcomeKind| matches!(outcome, OutcomeKind::Exited | OutcomeKind::AlreadyGone);
    let mut outcomes = thread.signals.iter().filter(|state| {
        let member = app.world_of(id).and_then(|world| world.judged.instance(id));
        state.target.key == member.map_or(id.0, crate::model::instance::Instance::lead_process)
    });
    let told = outcomes.any(|state| state.outcome.as_ref().is_some_and(|found| ended(found.outcome)));
    Some(if told {
        Standing::Exited
    } else if shows(app, newest, thread) {
        if app.options.origin.is_some() {
            Standing::InSample
        } else {
            Standing::Running
        }
    } else if app.gone_since(id).is_some() && newest.sample.hidden.is_none_or(|hidden| hidden == 0) {
        Standing::Exited
    } else {
        Standing::NotSeen
    })
}

/// Whether a world shows the instance, or its process, alive.
fn shows(app: &App, world: &World, thread: &Thread) -> bool {
    let boot_id = app
        .keep
        .incident()
        .map(|incident| incident.story.boot_id.as_str());
    if boot_id.is_some_and(|boot_id| boot_id != world.sample.host.boot_id) {
        return false;
    }
    let id = thread.on.id;
    let process = world.sample.get(id.0);
    world.judged.instance(id).is_some() || process.is_some_and(|process| process.state != ZOMBIE)
}

/// Opens the record at a place of the list; Esc leads back to it.
pub(in crate::app) fn open_listed(app: &mut App, at: usize) {
    let Some(one) = app.listed().into_iter().nth(at) else {
        return;
    };
    let on = one.record.instance;
    let world = app.world_of(on.id).or_else(|| app.feed.shown()).map(Arc::clone);
    if let Some(world) = world {
        let form = Form::new(on, world).listed(at);
        app.popup = Some(Popup::new(Content::Record(Box::new(form))));
    }
}

/// The servers of the incident of which something is left open: asked before the program ends and before the
/// incident is closed, and what `incident export` lists.
pub(super) fn left_open(app: &App) -> Vec<String> {
    // Whoever only reads leaves nothing open.
    if app.options.read_only {
        return Vec::new();
    }
    app.listed()
        .into_iter()
        .filter_map(|one| {
            let left = one.record.left_open()?;
            let mut parts = Vec::new();
            if left.leads > 0 {
                parts.push(format!(
                    "{} of {} leads not shown to be denied",
                    left.leads, left.of
                ));
            }
            if left.signals > 0 {
                let noun = if left.signals == 1 { "signal" } else { "signals" };
                parts.push(format!(
                    "{} {noun} without an outcome (Alt-l looks again)",
                    left.signals
                ));
            }
            for pid in &left.returned {
                parts.push(format!("it came back as {pid} (Alt-l looks again)"));
            }
            let on = &one.record.instance;
            let ended = if one.standing == Standing::Exited {
                " (exited)"
            } else {
                ""
            };
            Some(format!("{} {}{ended}: {}", on.name, on.pid(), parts.join(", ")))
        })
        .collect()
}
