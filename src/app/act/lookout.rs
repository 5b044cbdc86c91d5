//! Servers that have exited after a signal are looked for in every sample, as long as this run lives: one
//! that came back is said, and journalled once in the incident that holds its signal.

use std::collections::{BTreeSet, VecDeque};

use super::{ShotState, Stage};
use crate::analysis::{Departed, Successor, returned};
use crate::app::App;
use crate::app::effect::Effect;
use crate::app::keep;
use crate::journal::returned::words;
use crate::journal::{Entry, InstanceRef, ParentRef, TargetRef};
use crate::model::act::{Signal, Target};
use crate::model::identity::ProcessKey;
use crate::model::instance::Role;
use crate::model::process::Process;
use crate::model::world::World;

/// More than this are not looked for: the one that exited first is dropped, and nothing is said of it.
const MOST: usize = 20;

/// Who is looked for.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    pub(super) gone: VecDeque<Gone>,
    /// Processes of which it was said that they are a server that came back.
    told: BTreeSet<ProcessKey>,
}

/// A server that has exited.
#[derive(Debug)]
pub(super) struct Gone {
    pub(super) departed: Departed,
    pub(super) named: TargetRef,
    pub(super) name: String,
    pub(super) signal: Signal,
    /// The entry that announced the signal.
    pub(super) announced: Option<u64>,
    /// Id of the incident that holds it.
    pub(super) incident: Option<String>,
}

impl Lookout {
    /// Looks for one more.
    pub(super) fn add(&mut self, gone: Gone) {
        self.gone.push_back(gone);
        if self.gone.len() > MOST {
            self.gone.pop_front();
        }
    }

    /// Notes of whom a second look has said it.
    pub(super) fn tell(&mut self, back: impl IntoIterator<Item = ProcessKey>) {
        self.told.extend(back);
    }
}

/// Returns whether a target is looked for: a server, or what starts one. What a server starts for itself, and
/// what is no part of one, has an argv that says too little of who it is.
pub(super) fn is_looked_for(target: &Target) -> bool {
    matches!(target.member, Some((_, Role::Server | Role::Launcher)))
}

/// Looks who of them runs again in a new sample.
pub(super) fn look(app: &mut App, world: &World) -> Vec<Effect> {
    let sample = &world.sample;
    let lookout = &mut app.act.lookout;
    lookout.told.retain(|key| sample.get(*key).is_some());
    if lookout.gone.is_empty() {
        return Vec::new();
    }
    // Whoever is like the target of a signal that is out is left to the second look at that one.
    let busy = app.act.run.as_ref().and_then(|run| match run.stage {
        Stage::Watching { .. } => run.shots.get(run.at)?.target.argv.value(),
        _ => None,
    });
    let told = &app.act.lookout.told;
    let taken =
        |one: &Process| told.contains(&one.key) || busy.is_some_and(|argv| one.argv.value() == Some(argv));
    let departed: Vec<&Departed> = app.act.lookout.gone.iter().map(|gone| &gone.departed).collect();
    let mut found = returned(sample, &departed, &taken);
    // From the last place on, so that the places before stay.
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut effects = Vec::new();
    for (at, successor) in found {
        let Some(gone) = app.act.lookout.gone.remove(at) else {
            continue;
        };
        app.act.lookout.told.insert(successor.key);
        effects.extend(came_back(app, world, gone, &successor));
    }
    effects
}

/// Says that a server came back, and has it journalled where its signal is.
fn came_back(app: &mut App, world: &World, gone: Gone, successor: &Successor) -> Vec<Effect> {
    let signal = gone.signal.word();
    let parent = successor.parent.as_ref().map(|(key, comm)| ParentRef {
        key: *key,
        comm: comm.lossy().into_owned(),
    });
    let told = words(successor.key.pid, successor.after_ms, signal, parent.as_ref());
    let what = format!("{} {told}", gone.name);
    add_to_run(app, gone.departed.key(), &told, &what);
    let incident = app.keep.incident().map(|incident| &incident.story().incident);
    let is_here = gone.incident.is_some() && gone.incident.as_ref() == incident;
    let announced = gone.announced.filter(|_| is_here && !app.options.read_only);
    let said = match announced {
        Some(_) => what.clone(),
        None if app.options.read_only => format!("{what}; not journalled: read-only"),
        None if is_here => format!("{what}; NOT JOURNALLED: the entry of its signal is not known"),
        None => format!("{what}; not journalled: the incident of its signal is not open"),
    };
    // It stays until a key is pressed that acts on the rows: the operator may be typing elsewhere.
    app.moved = Some(said.clone());
    app.say(said);
    let Some(announced) = announced else {
        return Vec::new();
    };
    let entry = Entry::CameBack {
        signal: signal.to_owned(),
        successor: named(world, successor, &gone.named),
        target: gone.named,
        parent,
        started_at: successor.started_at,
        after_ms: successor.after_ms,
        seen_at: world.sample.taken_at,
        announced,
    };
    keep::append(app, entry, what)
}

/// Names the process that runs now: it has the argv of the one before it.
fn named(world: &World, successor: &Successor, before: &TargetRef) -> TargetRef {
    let instances = &world.judged.instances;
    let instance = instances
        .iter()
        .find(|one| one.members().any(|(key, _)| key == successor.key));
    TargetRef {
        key: successor.key,
        pidfd_inode: world.sample.get(successor.key).and_then(|one| one.pidfd_inode),
        argv: before.argv.clone(),
        instance: instance.map(InstanceRef::of),
    }
}

/// Adds it to the outcome in the last run. Where that goes on, it stops: somebody starts again what it ends.
fn add_to_run(app: &mut App, key: ProcessKey, told: &str, what: &str) {
    let Some(run) = &mut app.act.run else {
        return;
    };
    let mut is_of_run = false;
    for shot in &mut run.shots {
        if let ShotState::Ended { said, well } = &mut shot.state
            && shot.target.key == key
        {
            said.push_str("; ");
            said.push_str(told);
            *well = false;
            is_of_run = true;
        }
    }
    if is_of_run && run.is_under_way() && run.waiting() > 0 {
        run.withdrawn.get_or_insert_with(|| what.to_owned());
    }
}
