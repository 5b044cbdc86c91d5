//! Compares what was seen with what is true. Pure: it is tested with worlds that lie.

mod ends;
mod fate;
mod others;
mod own;
#[cfg(test)]
mod tests;

use super::observe::Seen;
use super::part::Kind;
use super::truth::{Part, Truth};
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::report::doctor::{Answer, Check};

/// Returns the answers on processes, their ends and their fates.
pub(super) fn all(truth: &Truth, seen: &Seen) -> Vec<Check> {
    let mut checks = own::checks(truth, &seen.alive.sample);
    checks.push(others::users(&seen.alive.sample));
    checks.push(ends::pipes(truth, &seen.alive));
    checks.push(ends::sockets(truth, &seen.alive));
    checks.push(ends::connections(truth, &seen.alive));
    checks.push(fate::lineage(truth, &seen.alive));
    checks.push(fate::severed(truth, &seen.alive));
    checks.push(fate::zombie(truth, &seen.after));
    checks.push(others::processes_outside(truth, seen));
    checks.push(others::sockets_outside(seen));
    checks
}

/// What was found of one thing: whether it is there, and the words for it.
type Found = (Answer, String);

fn works(seen: impl Into<String>) -> Found {
    (Answer::Works, seen.into())
}

fn wrong(seen: impl Into<String>) -> Found {
    (Answer::Wrong, seen.into())
}

/// Returns the answer that a missing value is. What vanished while this program held it cannot have.
fn absent<T>(reading: &Reading<T>) -> Found {
    match reading {
        Reading::Failed(why) => (Answer::Failed, why.clone()),
        Reading::Unread => wrong("it was not looked at"),
        _ => match reading.absence() {
            Some(Absence::Denied) => (Answer::Denied, "the system refuses it".to_owned()),
            Some(Absence::Unsupported) => (Answer::Unsupported, "this system has no such thing".to_owned()),
            Some(Absence::Gone | Absence::Failed) | None => {
                wrong("it was taken for gone, while it was there")
            }
        },
    }
}

/// Returns the process of the only part of a kind; else what stands in the way.
fn only<'a>(
    truth: &'a Truth,
    sample: &'a crate::model::sample::Sample,
    kind: Kind,
) -> Result<(&'a Part, &'a Process), Found> {
    let part = truth
        .part(kind)
        .map_err(|why| (Answer::Failed, format!("no child could be made for it: {why}")))?;
    let process = truth
        .find(sample, part)
        .ok_or_else(|| wrong("the child runs, and is not among the processes"))?;
    Ok((part, process))
}

fn check(id: &'static str, title: &'static str, found: Found) -> Check {
    Check::new(id, title, found.0, found.1)
}
