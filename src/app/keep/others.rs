//! What others do meanwhile: colleagues who write to the incident that is open here, and incidents of this
//! operator that another screen has opened.

use std::sync::Arc;

use super::tally::Tallies;
use super::update::{add, ask_again, ask_title};
use super::{Offered, Then};
use crate::app::App;
use crate::app::act;
use crate::app::effect::{Effect, Followed, JobId, Offer, Order};
use crate::app::popup::{Content, Popup};
use crate::app::prompt::Purpose;
use crate::journal::story::SignalState;
use crate::journal::{Entry, Line};
use crate::model::identity::ProcessKey;

/// Where no incident is open here, another screen's is looked for as often as this.
const LOOKED_FOR_MS: i64 = 5_000;

/// Follows the journal of the open incident; without one, looks for what another screen has opened. Nothing
/// is ordered while the answer to the last order is due.
pub(in crate::app) fn tick(app: &mut App) -> Vec<Effect> {
    if app.keep.incident.is_some() {
        if app.options.origin.is_some() || app.keep.following.is_some() {
            return Vec::new();
        }
        let job = app.next_job();
        app.keep.following = Some(job);
        return vec![Effect::Desk(job, Order::Follow)];
    }
    let due = app
        .keep
        .looked_at
        .is_none_or(|at| app.now.0.saturating_sub(at.0) >= LOOKED_FOR_MS);
    if !due || app.keep.looking.is_some() || app.keep.opening.is_some() {
        return Vec::new();
    }
    find_open(app)
}

/// Has the desk look which incident of this operator is open.
pub(in crate::app) fn find_open(app: &mut App) -> Vec<Effect> {
    let world = app.feed.newest().map(Arc::clone);
    let Some(world) = world.filter(|_| !app.options.read_only && app.options.origin.is_none()) else {
        return Vec::new();
    };
    let job = app.next_job();
    app.keep.looking = Some(job);
    app.keep.looked_at = Some(app.now);
    vec![Effect::Desk(job, Order::FindOpen(world))]
}

/// Takes the answer: what an empty title goes on with. A title that is asked for already, and not begun, is
/// asked for anew.
pub(in crate::app) fn found(app: &mut App, job: JobId, offer: Option<Offer>) {
    if app.keep.looking == Some(job) {
        app.keep.looking = None;
    }
    app.keep.offer = offer.into();
    if let Some(prompt) = &app.prompt
        && let Purpose::Title {
            then, doubted: None, ..
        } = &prompt.purpose
        && prompt.text().is_empty()
    {
        let then = then.clone();
        ask_title(app, then);
    }
}

/// Takes the desk's answer that another incident of this operator is open: which one is meant is asked.
pub(in crate::app) fn elsewhere(app: &mut App, job: JobId, offer: Offer) {
    let opening = app.keep.opening.take_if(|(opening, _)| *opening == job);
    let title = opening.and_then(|(_, title)| title).unwrap_or_default();
    let said = format!("{title} is NOT opened: {} is open already", offer.title);
    let doubt = format!(
        "{} is open. Ctrl-U Enter: go on with it; Enter: open {title} too; Esc: back",
        offer.title
    );
    app.keep.offer = Offered::One(offer);
    let Some(then) = interrupted(app) else {
        return app.say(format!("{said}: i asks which"));
    };
    app.popup = None;
    app.say(said);
    ask_again(app, then, &title, doubt);
}

/// What was begun behind the title, so that it can be gone on with; `None`: something is being typed.
fn interrupted(app: &App) -> Option<Then> {
    if let Some(prompt) = &app.prompt {
        return match &prompt.purpose {
            Purpose::Note { on, .. } if prompt.text().is_empty() => Some(Then::Note(on.clone())),
            _ => None,
        };
    }
    Some(match app.popup.as_ref().map(Popup::content) {
        Some(Content::Record(form)) if form.typing().is_some() => return None,
        Some(Content::Record(form)) => Then::Record(form.on().clone()),
        Some(Content::Act(dialog)) => Then::Signal(Box::new(dialog.intent.clone())),
        _ => Then::Nothing,
    })
}

/// Takes what others have added.
pub(in crate::app) fn followed(app: &mut App, job: JobId, result: Result<Followed, String>) -> Vec<Effect> {
    if app.keep.following == Some(job) {
        app.keep.following = None;
    }
    let Some(incident) = &mut app.keep.incident else {
        return Vec::new();
    };
    let followed = match result {
        Ok(followed) => followed,
        Err(why) => {
            incident.faults = vec![format!("the journal cannot be followed: {why}")];
            return Vec::new();
        }
    };
    if let Some(faults) = followed.faults {
        incident.faults = faults;
    }
    let known = incident.story.head.map_or(0, |head| head.seq);
    let is_new = |line: &&Line| line.seq > known;
    let new: Vec<Line> = followed.lines.iter().filter(is_new).cloned().collect();
    add(app, &followed.lines);
    app.keep.saved.extend(followed.shown);
    disturb(app, &new);
    left(app)
}

/// A confirmation that was begun before a colleague signalled the same process does not count; where the signal
/// has ended it, there is nothing left to confirm.
fn disturb(app: &mut App, new: &[Line]) {
    let Some(Content::Act(dialog)) = app.popup.as_mut().map(|popup| &mut popup.content) else {
        return;
    };
    let ticked = dialog.ticked();
    let mut said = None;
    let mut ended = false;
    for line in new {
        if let Ok(Entry::AboutToSignal { signal, targets, .. }) = &line.entry
            && let Some(target) = targets.iter().find(|target| ticked.contains(&target.key))
        {
            let (pid, operator) = (target.key.pid, &line.operator);
            said = Some(format!(
                "{operator} signals {pid} now ({signal}): look, and type anew"
            ));
        }
    }
    for line in new {
        if let Ok(Entry::Outcome {
            target,
            signal,
            outcome,
            ..
        }) = &line.entry
            && outcome.is_end()
            && ticked.contains(&target.key)
        {
            let (pid, operator) = (target.key.pid, &line.operator);
            said = Some(format!("{signal} to {pid} by {operator}: {}", outcome.words()));
            ended = true;
        }
    }
    if let Some(said) = said {
        dialog.input.clear();
        app.say(said);
    }
    if ended {
        app.popup = None;
    }
}

/// Leaves an incident that somebody else has closed, once nothing of this screen is on its way into it.
fn left(app: &mut App) -> Vec<Effect> {
    let Some(closed) = app
        .keep
        .incident
        .as_ref()
        .and_then(|one| one.story.closed.clone())
    else {
        return Vec::new();
    };
    let busy = app.keep.closing
        || !app.keep.not_on_disk().is_empty()
        || !app.keep.running.is_empty()
        || !act::reasons(app).is_empty();
    let Some(world) = app.feed.newest().map(Arc::clone).filter(|_| !busy) else {
        return Vec::new();
    };
    let title = app.keep.incident.take().map(|one| one.story.title);
    app.keep.tallies = Tallies::default();
    app.keep.saved.clear();
    app.keep.gone.clear();
    if matches!(
        app.popup.as_ref().map(Popup::content),
        Some(Content::Incident { .. })
    ) {
        app.popup = None;
    }
    app.say(format!(
        "incident {} was closed by {} at {}",
        title.unwrap_or_default(),
        closed.operator,
        closed.at.clock()
    ));
    let job = app.next_job();
    app.keep.looking = Some(job);
    vec![Effect::Desk(job, Order::Leave(world))]
}

impl App {
    /// Returns the signals to a process that the journal tells of and this screen did not send, oldest
    /// first.
    pub fn signals_of_others(&self, key: ProcessKey) -> Vec<&SignalState> {
        let Some(incident) = self.keep.incident() else {
            return Vec::new();
        };
        let own = |state: &SignalState| {
            let run = self.act.run();
            run.is_some_and(|run| {
                let mut shots = run.shots().iter();
                run.signal().word() == state.signal && shots.any(|shot| shot.target.key == state.target.key)
            })
        };
        let threads = incident.story().threads.values();
        threads
            .flat_map(|thread| &thread.signals)
            .filter(|state| state.target.key == key && !own(state))
            .collect()
    }

    /// Returns whether a colleague's signal was announced so lately that its second look is still due.
    pub fn is_under_way_elsewhere(&self, state: &SignalState) -> bool {
        let due = i64::try_from(self.options.second_look_ms).unwrap_or(i64::MAX);
        let since = self.now.0.saturating_sub(state.announced_at.0);
        state.outcome.is_none() && since <= due.saturating_add(GRACE_MS)
    }
}

/// An outcome is journalled, and read here, so long behind the second look.
const GRACE_MS: i64 = 3_000;
