//! A run: what was confirmed is sent to one target after the other. Evidence and overrides are on the
//! disk before the first signal; each outcome is looked at before the next one; the first surprise
//! ends it.

use std::sync::Arc;

use super::confirm::live_clients;
use super::lookout::{self, Gone};
use super::missing::is_kept;
use super::{Dialog, Run, Shot, ShotState, Stage, dialog};
use crate::analysis::{Departed, aftermath};
use crate::app::App;
use crate::app::effect::{Effect, JobId, Order, Signalling};
use crate::app::freeze::SavedFile;
use crate::app::keep;
use crate::app::popup::{Content, Popup};
use crate::journal::entry::{OutcomeKind, SnapshotReason};
use crate::journal::{Entry, InstanceRef, Line, TargetRef};
use crate::model::act::{Sent, Signal, Standing, Target, Watched};
use crate::model::identity::ProcessKey;
use crate::model::plan::{Aftermath, Ending};
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// Why the rest gets no signal where the operator says so.
const WITHDRAWN: &str = "the rest was withdrawn";

/// A wall clock that is this much behind the signal was set back.
const SET_BACK_MS: i64 = 5000;

/// Begins to send what the dialog holds; shows the progress.
pub(super) fn start(app: &mut App, dialog: &Dialog) -> Vec<Effect> {
    let Some(signal) = dialog.signal() else {
        return Vec::new();
    };
    let stopped = dialog.stopped();
    let mut overrides = dialog.missing(app);
    for (client, servers) in live_clients(dialog) {
        overrides.push(super::Missing {
            on: None,
            steps: vec![format!(
                "{} is a live client of {} servers",
                client.pid,
                servers.len()
            )],
        });
    }
    let world = &dialog.intent.world;
    let shots = dialog
        .plan()
        .items
        .iter()
        .filter(|item| item.ticked)
        .map(|item| Shot {
            named: named(app, world, &item.target),
            name: name(world, &item.target, &item.name),
            then_continue: signal == Signal::Term && dialog.continues && stopped.contains(&item.target.key),
            target: item.target.clone(),
            state: ShotState::Waiting,
        })
        .collect();
    app.act.run = Some(Run {
        seen: Arc::clone(world),
        signal,
        shots,
        at: 0,
        stage: Stage::Opening,
        overrides,
        withdrawn: None,
    });
    app.popup = Some(Popup::new(Content::Acting));
    opened(app)
}

/// How the journal names a target: its command line without secrets.
fn named(app: &App, world: &World, target: &Target) -> TargetRef {
    let argv: Vec<Vec<u8>> = target
        .argv
        .value()
        .into_iter()
        .flatten()
        .map(|element| element.as_bytes().to_vec())
        .collect();
    let argv = app.options.keep_redactor.argv(&argv);
    let instance = target.member.and_then(|(id, _)| world.judged.instance(id));
    TargetRef {
        key: target.key,
        pidfd_inode: target.pidfd_inode,
        argv: argv
            .iter()
            .map(|element| String::from_utf8_lossy(element).into_owned())
            .collect(),
        instance: instance.map(InstanceRef::of),
    }
}

/// Returns `git 48271` for a server, `ssh 48290` for anything else.
fn name(world: &World, target: &Target, process: &str) -> String {
    let instance = target.member.and_then(|(id, _)| world.judged.instance(id));
    let pid = target.key.pid;
    match instance.filter(|one| one.lead_process() == target.key) {
        Some(instance) => format!("{} {pid}", instance.name.lossy()),
        None => format!("{process} {pid}"),
    }
}

/// Goes on once the incident is open: first the evidence.
pub(in crate::app) fn opened(app: &mut App) -> Vec<Effect> {
    let Some(run) = app
        .act
        .run
        .as_ref()
        .filter(|run| matches!(run.stage, Stage::Opening))
    else {
        return Vec::new();
    };
    if app.keep.incident().is_none() {
        if app.keep.opening.is_none() {
            return stop(app, "no incident could be opened: nothing was sent".to_owned());
        }
        return Vec::new();
    }
    let world = Arc::clone(&run.seen);
    if is_kept(app, &world) {
        return pass_over(app);
    }
    let job = app.next_job();
    set(app, Stage::Saving(job));
    let why = SnapshotReason::BeforeSignal;
    vec![Effect::Desk(job, Order::Save { world, why })]
}

fn set(app: &mut App, stage: Stage) {
    if let Some(run) = &mut app.act.run {
        run.stage = stage;
    }
}

/// Ends the run; nothing more is sent.
fn stop(app: &mut App, why: String) -> Vec<Effect> {
    let Some(run) = &mut app.act.run else {
        return Vec::new();
    };
    let unsent: Vec<&str> = run
        .shots
        .iter()
        .filter(|shot| shot.state == ShotState::Waiting)
        .map(Shot::name)
        .collect();
    let why = if unsent.is_empty() || unsent.len() == run.shots.len() {
        why
    } else {
        format!("{why}; NOT SENT to {}", unsent.join(", "))
    };
    run.stage = Stage::Ended(Some(why.clone()));
    app.say(why);
    Vec::new()
}

/// Returns whether an order to save was this run's.
pub(in crate::app) fn saves(app: &App, job: JobId) -> bool {
    let evidence = app
        .act
        .run
        .as_ref()
        .is_some_and(|run| matches!(run.stage, Stage::Saving(ours) if ours == job));
    evidence || app.act.saving == Some(job)
}

/// Takes the answer to an order to save of this run.
pub(in crate::app) fn saved(
    app: &mut App,
    job: JobId,
    result: Result<(SavedFile, Vec<Line>), String>,
) -> Vec<Effect> {
    if app.act.saving == Some(job) {
        app.act.saving = None;
        match result {
            Ok((_, lines)) => keep::add(app, &lines),
            Err(why) => app.say(format!("NOT SAVED: the sample of the second look: {why}")),
        }
        return Vec::new();
    }
    let Some(run) = &app.act.run else {
        return Vec::new();
    };
    let seen = Arc::clone(&run.seen);
    match result {
        Ok((file, lines)) => {
            keep::add(app, &lines);
            keep::saved(app, &seen, Some(file.sha256));
            pass_over(app)
        }
        Err(why) => stop(
            app,
            format!("the evidence could not be saved: {why}: nothing was sent"),
        ),
    }
}

/// Journals the next of the steps that are passed over; behind the last one it sends.
fn pass_over(app: &mut App) -> Vec<Effect> {
    let Some(run) = &mut app.act.run else {
        return Vec::new();
    };
    if run.overrides.is_empty() {
        return send(app);
    }
    let next = run.overrides.remove(0);
    let entry = Entry::Override {
        on: next.on,
        missing: next.steps,
    };
    let job = app.next_job();
    set(app, Stage::Overriding(job));
    vec![Effect::Desk(job, Order::Append(Box::new(entry)))]
}

/// Returns whether an entry was this run's.
pub(in crate::app) fn writes(app: &App, job: JobId) -> bool {
    let run = app.act.run.as_ref();
    run.is_some_and(|run| matches!(run.stage, Stage::Overriding(ours) if ours == job))
}

/// Takes the answer to an entry of this run.
pub(in crate::app) fn written(app: &mut App, result: Result<Vec<Line>, String>) -> Vec<Effect> {
    match result {
        Ok(lines) => {
            keep::add(app, &lines);
            pass_over(app)
        }
        Err(why) => stop(
            app,
            format!("what is passed over could not be journalled: {why}: nothing was sent"),
        ),
    }
}

/// Withdraws the targets that have no signal yet; answers how many. One that was sent is looked at all the
/// same.
pub(in crate::app) fn withdraw(app: &mut App) -> usize {
    let Some(run) = app.act.run.as_mut().filter(|run| run.is_under_way()) else {
        return 0;
    };
    run.withdrawn.get_or_insert_with(|| WITHDRAWN.to_owned());
    run.waiting()
}

/// Orders the signal to the target that is next.
fn send(app: &mut App) -> Vec<Effect> {
    if let Some(why) = app.act.run.as_ref().and_then(|run| run.withdrawn.clone()) {
        return stop(app, why);
    }
    let wait_ms = app.options.second_look_ms;
    let newest = app.feed.newest().cloned();
    let job = app.next_job();
    let Some(run) = &mut app.act.run else {
        return Vec::new();
    };
    let baseline = newest.unwrap_or_else(|| Arc::clone(&run.seen));
    let signal = run.signal;
    let Some(shot) = run.shots.get_mut(run.at) else {
        run.stage = Stage::Ended(None);
        return Vec::new();
    };
    shot.state = ShotState::Sending;
    let order = Signalling {
        target: shot.target.clone(),
        named: shot.named.clone(),
        signal,
        then_continue: shot.then_continue,
        wait_ms,
    };
    run.stage = Stage::Signalling { job, baseline };
    // What it did since its first revocation, until this signal.
    let mut effects = keep::tally(app);
    effects.push(Effect::Desk(job, Order::Signal(Box::new(order))));
    effects
}

/// Takes the answer to a signal: waits for its outcome, or stops.
pub(in crate::app) fn signalled(
    app: &mut App,
    job: JobId,
    result: Result<(Sent, Vec<Line>), String>,
) -> Vec<Effect> {
    let wait_ms = i64::try_from(app.options.second_look_ms).unwrap_or(i64::MAX);
    let now = app.now;
    let Some(run) = &mut app.act.run else {
        return Vec::new();
    };
    let baseline = match &run.stage {
        Stage::Signalling { job: ours, baseline } if *ours == job => Arc::clone(baseline),
        _ => return Vec::new(),
    };
    let signal = run.signal;
    let (sent, lines) = match result {
        Ok(answer) => answer,
        Err(why) => {
            if let Some(shot) = run.shots.get_mut(run.at) {
                shot.state = ShotState::Waiting;
            }
            return stop(app, format!("NOT JOURNALLED, so nothing was sent: {why}"));
        }
    };
    if sent == Sent::Accepted {
        // The line is written behind the signal: it is the later of the two clocks.
        let sent_at = lines.last().map_or(now, |line| line.at);
        let due = UnixMillis(sent_at.0.saturating_add(wait_ms));
        let Some(shot) = run.shots.get_mut(run.at) else {
            return Vec::new();
        };
        shot.state = ShotState::Sent { due };
        let key = shot.target.key;
        run.stage = Stage::Watching {
            job,
            baseline,
            due,
            watched: None,
            announced: announced(&lines, signal, key),
        };
        keep::add(app, &lines);
        return Vec::new();
    }
    keep::add(app, &lines);
    let shot = app.act.run.as_ref().and_then(|run| run.shots.get(run.at));
    let told = shot.and_then(|shot| told(&lines, shot));
    let announced = shot.and_then(|shot| announced(&lines, signal, shot.target.key));
    let is_told = told.is_some();
    let (outcome, detail) = told.unwrap_or_else(|| unsent(&sent));
    let found = Found {
        outcome,
        after_ms: None,
        detail,
        was_sent: false,
        is_told,
        announced,
        departed: None,
    };
    ended(app, found)
}

/// What became of a target.
struct Found {
    outcome: OutcomeKind,
    after_ms: Option<u64>,
    detail: String,
    was_sent: bool,
    /// Whether the journal has it already.
    is_told: bool,
    /// The entry that announced the signal.
    announced: Option<u64>,
    /// How to know it again, where it has exited.
    departed: Option<Departed>,
}

/// Returns the number of the entry that announced a signal, among those that came with its answer: the
/// newest, for another operator may have signalled the same process before.
fn announced(lines: &[Line], signal: Signal, key: ProcessKey) -> Option<u64> {
    let announces = |line: &&Line| {
        matches!(&line.entry, Ok(Entry::AboutToSignal { signal: word, targets, .. })
            if word == signal.word() && targets.iter().any(|target| target.key == key))
    };
    lines.iter().rev().find(announces).map(|line| line.seq)
}

/// Returns the outcome that the desk has journalled itself, for a signal that was not accepted.
fn told(lines: &[Line], shot: &Shot) -> Option<(OutcomeKind, String)> {
    lines.iter().rev().find_map(|line| match &line.entry {
        Ok(Entry::Outcome {
            target,
            outcome,
            detail,
            ..
        }) if target.key == shot.target.key => Some((*outcome, detail.clone().unwrap_or_default())),
        _ => None,
    })
}

/// Returns the outcome of a signal that was not accepted.
fn unsent(sent: &Sent) -> (OutcomeKind, String) {
    let nothing = |standing: &Standing| format!("nothing was sent: it {}", dialog::changed(standing));
    match sent {
        Sent::Refused(why) => (OutcomeKind::NotPermitted, why.clone()),
        Sent::Withheld(Standing::Gone) => (OutcomeKind::AlreadyGone, String::new()),
        Sent::Withheld(Standing::Replaced) => (OutcomeKind::Replaced, String::new()),
        Sent::Withheld(standing @ Standing::Same(process)) if process.is_zombie() => {
            (OutcomeKind::AlreadyGone, nothing(standing))
        }
        Sent::Withheld(standing @ Standing::Unread(_)) => (OutcomeKind::NotPermitted, nothing(standing)),
        Sent::Withheld(standing) => (OutcomeKind::StillThere, nothing(standing)),
        Sent::Accepted => (OutcomeKind::StillThere, String::new()),
    }
}

/// Takes what the wait behind a signal found.
pub(in crate::app) fn watched(app: &mut App, job: JobId, found: Watched) -> Vec<Effect> {
    if let Some(Run {
        stage: Stage::Watching {
            job: ours, watched, ..
        },
        ..
    }) = &mut app.act.run
        && *ours == job
    {
        *watched = Some(found);
    }
    Vec::new()
}

/// Takes a new sample: the second look, where it is due, and whoever came back later.
pub(in crate::app) fn world(app: &mut App, world: &Arc<World>) -> Vec<Effect> {
    let mut effects = second_look(app, world);
    effects.extend(lookout::look(app, world));
    effects
}

fn second_look(app: &mut App, world: &Arc<World>) -> Vec<Effect> {
    let wait_ms = i64::try_from(app.options.second_look_ms).unwrap_or(i64::MAX);
    let wait = app.options.second_look_ms;
    let Some(run) = &mut app.act.run else {
        return Vec::new();
    };
    let signal = run.signal;
    let Stage::Watching {
        baseline,
        due,
        watched,
        announced,
        ..
    } = &mut run.stage
    else {
        return Vec::new();
    };
    let taken_at = world.sample.taken_at;
    if taken_at.0 < due.0.saturating_sub(wait_ms).saturating_sub(SET_BACK_MS) {
        // The clock was set back: the wait begins anew.
        *due = UnixMillis(taken_at.0.saturating_add(wait_ms));
        return Vec::new();
    }
    let Some(watched) = watched.as_ref().filter(|_| taken_at >= *due) else {
        return Vec::new();
    };
    let Some(shot) = run.shots.get(run.at) else {
        return Vec::new();
    };
    let found = aftermath(baseline, world, &shot.target, signal, wait, watched);
    let departed = (found.ending == Ending::Exited && lookout::is_looked_for(&shot.target))
        .then(|| Departed::new(&baseline.sample, &world.sample, &shot.target, watched))
        .flatten();
    app.act.lookout.tell(found.back.iter().copied());
    let found = Found {
        outcome: kind(&found),
        after_ms: found.after_ms,
        detail: found.detail(),
        was_sent: true,
        is_told: false,
        announced: *announced,
        departed,
    };
    ended(app, found)
}

fn kind(found: &Aftermath) -> OutcomeKind {
    match found.ending {
        Ending::Exited => OutcomeKind::Exited,
        Ending::StillThere => OutcomeKind::StillThere,
        Ending::CameBack => OutcomeKind::CameBack,
    }
}

/// Journals the outcome of a target; goes on with the next one, or stops at a surprise. The sample of
/// the second look is saved behind the last.
fn ended(app: &mut App, found: Found) -> Vec<Effect> {
    let incident = app.keep.incident();
    let Some(run) = &mut app.act.run else {
        return Vec::new();
    };
    let signal = run.signal;
    let Some(shot) = run.shots.get_mut(run.at) else {
        return Vec::new();
    };
    let outcome = found.outcome;
    let after = found
        .after_ms
        .map_or_else(String::new, |ms| format!(" after {ms} ms"));
    let detail = if found.detail.is_empty() {
        String::new()
    } else {
        format!("; {}", found.detail)
    };
    // Whoever ended with a target before him is no surprise.
    let well = matches!(outcome, OutcomeKind::Exited | OutcomeKind::AlreadyGone);
    shot.state = ShotState::Ended {
        said: format!("{}{after}{detail}", outcome.words()),
        well,
    };
    let what = format!("{} to {}: {}{after}", signal.word(), shot.name, outcome.words());
    let entry = (!found.is_told).then(|| Entry::Outcome {
        signal: signal.word().to_owned(),
        target: shot.named.clone(),
        outcome,
        after_ms: found.after_ms,
        detail: (!found.detail.is_empty()).then_some(found.detail),
        announced: found.announced,
    });
    let gone = found.departed.map(|departed| Gone {
        departed,
        named: shot.named.clone(),
        name: shot.name.clone(),
        signal,
        announced: found.announced,
        incident: incident.map(|incident| incident.story().incident.clone()),
    });
    if let Some(gone) = gone {
        app.act.lookout.add(gone);
    }
    run.at += 1;
    let goes_on = well && run.at < run.shots.len();
    let withdrawn = run.withdrawn.clone();
    let mut effects = entry.map_or_else(Vec::new, |entry| {
        keep::append(app, entry, format!("the outcome of {what}"))
    });
    if goes_on && withdrawn.is_none() {
        app.say(what);
        effects.extend(send(app));
        return effects;
    }
    effects.extend(save_after(app));
    if let Some(why) = withdrawn.filter(|_| goes_on) {
        effects.extend(stop(app, format!("{what}; {why}")));
    } else if well {
        set(app, Stage::Ended(None));
        app.say(what);
    } else {
        let offers = outcome == OutcomeKind::StillThere && signal == Signal::Term && found.was_sent;
        let next = if offers {
            ": K offers forced containment (KILL)"
        } else {
            ""
        };
        effects.extend(stop(app, format!("{what}{next}")));
    }
    effects
}

/// Saves the newest sample, so that the record has it.
fn save_after(app: &mut App) -> Option<Effect> {
    let world = app.feed.newest().cloned()?;
    let job = app.next_job();
    app.act.saving = Some(job);
    let why = SnapshotReason::AfterSignal;
    Some(Effect::Desk(job, Order::Save { world, why }))
}

/// Returns what stands against quitting.
pub(in crate::app) fn reasons(app: &App) -> Vec<String> {
    let run = app.act.under_way().map(|run| run.doing(app.now));
    let saving = app
        .act
        .saving
        .map(|_| "the sample of the second look is being saved".to_owned());
    run.into_iter().chain(saving).collect()
}
