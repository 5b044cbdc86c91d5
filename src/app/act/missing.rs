//! Steps of the procedure that are not done before a signal: said, and passed over only on purpose.

use super::Dialog;
use crate::app::App;
use crate::app::keep;
use crate::journal::{InstanceRef, Subject};
use crate::model::act::Signal;
use crate::model::identity::InstanceId;

/// What is not done with one instance, or with a process that is no member of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The instance.
    pub on: Option<InstanceRef>,
    /// The steps, in words.
    pub steps: Vec<String>,
}

impl Dialog {
    /// Returns the steps that are not done and that the program cannot do itself: authorities that
    /// are not revoked, or not shown to be denied; a TERM before a KILL.
    pub fn missing(&self, app: &App) -> Vec<Missing> {
        let mut out: Vec<Missing> = Vec::new();
        for target in self.targets() {
            let on = target
                .member
                .and_then(|(id, _)| self.intent.world.judged.instance(id))
                .map(InstanceRef::of);
            let at = out.iter().position(|one| one.on == on && on.is_some());
            let at = at.unwrap_or_else(|| {
                let steps = on.as_ref().map_or_else(Vec::new, |on| self.open_leads(app, on));
                out.push(Missing { on, steps });
                out.len() - 1
            });
            if self.signal() == Some(Signal::Kill) && !was_asked(app, target) {
                out[at]
                    .steps
                    .push(format!("TERM {} and a second look", target.key.pid));
            }
        }
        out.retain(|one| !one.steps.is_empty());
        out
    }

    fn open_leads(&self, app: &App, on: &InstanceRef) -> Vec<String> {
        let record = keep::record_of(app, on, &self.intent.world);
        let letters = |word: &str, is: fn(&crate::journal::record::LeadLine) -> bool| {
            let letters: Vec<&str> = record
                .leads
                .iter()
                .filter(|line| is(line))
                .map(|line| line.lead.letter.as_str())
                .collect();
            (!letters.is_empty()).then(|| format!("{word} {}", letters.join(" ")))
        };
        let revoke = letters("revoke", |line| line.revoked.is_none() && line.denied.is_none());
        let verify = letters("verify", |line| !line.is_verified());
        revoke.into_iter().chain(verify).collect()
    }

    /// Returns whether the missing steps, as they are now, are passed over.
    pub fn passes_over(&self, missing: &[Missing]) -> bool {
        self.passed_over == missing
    }

    /// Returns whether a snapshot of what was seen is in the incident.
    pub fn is_kept(&self, app: &App) -> bool {
        is_kept(app, &self.intent.world)
    }
}

/// Returns whether a TERM to this target was sent and looked at.
fn was_asked(app: &App, target: &crate::model::act::Target) -> bool {
    let Some(incident) = app.keep.incident() else {
        return false;
    };
    let id = target.member.map_or(InstanceId(target.key), |(id, _)| id);
    let thread = incident.story().threads.get(&id);
    thread.is_some_and(|thread| {
        thread.signals.iter().any(|state| {
            state.signal == Signal::Term.word()
                && state.target.key == target.key
                && state.was_sent()
                && state.outcome.is_some()
        })
    })
}

/// Returns whether a snapshot of this world is in the incident.
pub(super) fn is_kept(app: &App, world: &crate::model::world::World) -> bool {
    app.keep.incident().is_some_and(|incident| {
        let mut snapshots = incident.story().snapshots.iter();
        snapshots.any(|taken| taken.taken_at == world.sample.taken_at)
    })
}

/// Joins missing steps for a line; where they differ between instances, says whose they are.
pub(super) fn words(missing: &[Missing]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for one in missing {
        let steps = one.steps.join("   ");
        let name = one
            .on
            .as_ref()
            .map_or_else(String::new, |on| keep::called(&Subject::Instance(on.clone())));
        match groups.iter_mut().find(|(known, _)| *known == steps) {
            Some((_, names)) => names.push(name),
            None => groups.push((steps, vec![name])),
        }
    }
    let several = missing.len() > 1;
    let parts: Vec<String> = groups
        .into_iter()
        .map(|(steps, names)| match &names[..] {
            [one] if several && !one.is_empty() => format!("{one}: {steps}"),
            [_] => steps,
            many => format!("each of {}: {steps}", many.len()),
        })
        .collect();
    parts.join("; ")
}

impl Dialog {
    /// Returns the missing steps as one line; empty where there is none.
    pub fn missing_words(&self, app: &App) -> String {
        words(&self.missing(app))
    }
}
