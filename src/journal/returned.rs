//! A process that was signalled and had exited, and runs again: seen after the second look, told once.

use std::fmt;
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;

use super::entry::{Entry, rfc3339};
use super::line::Line;
use super::operator::Operator;
use super::story::{Found, SignalState};
use super::subject::{ParentRef, TargetRef};
use crate::model::identity::ProcessKey;
use crate::model::time::UnixMillis;
use crate::text::format;

/// Up to this long a time is told in tenths of a second.
const SHORT_MS: u64 = 60_000;

/// A process that is the same server again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Return {
    /// The process that runs now.
    pub successor: TargetRef,
    /// Whose child it was when it was seen; `None`: not known.
    pub parent: Option<ParentRef>,
    /// When it had started.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub started_at: UnixMillis,
    /// Milliseconds from the signal to that start; `None`: not known, as where the clock was set.
    pub after_ms: Option<u64>,
    /// When the sample was taken that showed it.
    #[serde(with = "rfc3339")]
    #[schemars(with = "String")]
    pub seen_at: UnixMillis,
    /// Who saw it.
    pub operator: Operator,
    /// When it was journalled that it has ended; `None`: somebody has to look at it.
    #[serde(with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub ended_at: Option<UnixMillis>,
}

impl Return {
    /// Returns it in words, without when: `came back as 50211, 5.2 s after TERM, child of sh 4711`.
    pub fn words(&self, signal: &str) -> String {
        let ended = self.ended_at.map_or("", |_| ", has ended since");
        let successor = self.successor.key.pid;
        let told = words(successor, self.after_ms, signal, self.parent.as_ref());
        format!("{told}{ended}")
    }
}

/// Returns under which pid or key a process came back, how long after its signal, and whose child.
pub fn words(
    successor: impl fmt::Display,
    after_ms: Option<u64>,
    signal: &str,
    parent: Option<&ParentRef>,
) -> String {
    let after = match after_ms {
        Some(ms) if ms < SHORT_MS => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        Some(ms) => format::elapsed(ms),
        None => "some time".to_owned(),
    };
    let parent = parent.map_or_else(String::new, |parent| {
        format!(", child of {} {}", parent.comm, parent.key.pid)
    });
    format!("came back as {successor}, {after} after {signal}{parent}")
}

impl SignalState {
    /// Returns the processes as which the target came back, and of which nobody knows that they have ended.
    pub fn open_returns(&self) -> impl Iterator<Item = &Return> {
        self.came_back.iter().filter(|one| one.ended_at.is_none())
    }

    /// Takes what a look found. One that came back keeps how it had ended: a later look is a look at
    /// whoever it came back as. An outcome that could not be written at once may stand behind the return.
    pub(super) fn look(&mut self, found: Found, at: UnixMillis) {
        if self.outcome.is_none() || self.open_returns().next().is_none() {
            self.outcome = Some(found);
        } else if found.outcome.is_resolved() {
            for one in &mut self.came_back {
                one.ended_at.get_or_insert(at);
            }
        }
    }

    /// Adds a process as which the target came back; two operators may both have seen it.
    pub(super) fn came_back_as(&mut self, one: Return) {
        let key = one.successor.key;
        if !self.came_back.iter().any(|known| known.successor.key == key) {
            self.came_back.push(one);
        }
    }

    /// Notes that a process has ended, where the target came back as it.
    pub(super) fn successor_ended(&mut self, key: ProcessKey, at: UnixMillis) {
        let of = |one: &&mut Return| one.successor.key == key;
        for one in self.came_back.iter_mut().filter(of) {
            one.ended_at.get_or_insert(at);
        }
    }
}

/// Why an entry has no place in a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// Somebody has told of the same return.
    Told,
    /// The incident is closed.
    Closed,
    /// The journal does not hold the signal that it names: it is another incident's.
    Foreign,
}

/// Finds out whether an entry on a return has its place in a journal, whose lines it is shown from the newest
/// back.
#[derive(Debug)]
pub struct Place {
    signal: String,
    target: ProcessKey,
    successor: ProcessKey,
    announced: u64,
    /// Whether a line was shown.
    has_seen: bool,
    /// What was found.
    found: Option<Result<(), Misplaced>>,
}

impl Place {
    /// Returns it for an entry; `None` where that tells of no return.
    pub fn of(entry: &Entry) -> Option<Self> {
        let Entry::CameBack {
            signal,
            target,
            successor,
            announced,
            ..
        } = entry
        else {
            return None;
        };
        Some(Self {
            signal: signal.clone(),
            target: target.key,
            successor: successor.key,
            announced: *announced,
            has_seen: false,
            found: None,
        })
    }

    /// Is shown the next line; breaks, once it is known, with whether the entry has its place there.
    pub fn see(&mut self, line: &Line) -> ControlFlow<bool> {
        let newest = !std::mem::replace(&mut self.has_seen, true);
        self.found = match &line.entry {
            Ok(Entry::Closed { .. }) if newest => Some(Err(Misplaced::Closed)),
            Ok(Entry::CameBack {
                target, successor, ..
            }) if target.key == self.target && successor.key == self.successor => Some(Err(Misplaced::Told)),
            Ok(Entry::AboutToSignal { signal, targets, .. })
                if line.seq == self.announced
                    && *signal == self.signal
                    && targets.iter().any(|target| target.key == self.target) =>
            {
                Some(Ok(()))
            }
            _ if line.seq <= self.announced => Some(Err(Misplaced::Foreign)),
            _ => None,
        };
        match self.found {
            Some(found) => ControlFlow::Break(found.is_ok()),
            None => ControlFlow::Continue(()),
        }
    }

    /// Returns why the entry has no place in the journal; `None`: it has one. A journal that ends before the
    /// signal is another incident's.
    pub fn misplaced(&self) -> Option<Misplaced> {
        match self.found {
            Some(found) => found.err(),
            None => Some(Misplaced::Foreign),
        }
    }
}

#[cfg(test)]
mod tests;
