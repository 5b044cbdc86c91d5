//! Who is the same server again: whoever exited after a signal is looked for in every later sample. Says
//! nothing where it cannot be told apart from one that ran before.

use std::collections::BTreeSet;

use super::CLOCKS_MS;
use crate::model::act::{Target, Watched};
use crate::model::bytes::OsBytes;
use crate::model::identity::ProcessKey;
use crate::model::process::{Argv, Process};
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::model::time::UnixMillis;

/// What the kernel puts behind the path of a program file that was replaced or removed.
const DELETED: &[u8] = b" (deleted)";

/// What makes a process the same server as another: argv, user, and where both could be read program file
/// and directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Likeness {
    argv: Argv,
    uid: Reading<u32>,
    exe: Reading<OsBytes>,
    cwd: Reading<OsBytes>,
}

impl Likeness {
    /// Returns the likeness of a target as it was seen and last read; `None` where its argv is not known.
    pub(super) fn of(target: &Target, was: &Process) -> Option<Self> {
        let argv = target.argv.value().filter(|argv| !argv.is_empty())?;
        Some(Self {
            argv: argv.clone(),
            uid: was.uid.clone(),
            exe: target.exe.clone(),
            cwd: was.cwd.clone(),
        })
    }

    /// Returns whether a process is like it, and lives.
    pub(super) fn is_of(&self, one: &Process) -> bool {
        one.argv.value() == Some(&self.argv)
            && one.uid.value() == self.uid.value()
            && agree(&self.exe, &one.exe, |file| {
                file.strip_suffix(DELETED).unwrap_or(file)
            })
            && agree(&self.cwd, &one.cwd, |path| path)
            && !one.is_zombie()
    }
}

/// Returns whether two paths are the same, where both could be read.
fn agree(was: &Reading<OsBytes>, now: &Reading<OsBytes>, path: fn(&[u8]) -> &[u8]) -> bool {
    match (was.value(), now.value()) {
        (Some(was), Some(now)) => path(was.as_bytes()) == path(now.as_bytes()),
        _ => true,
    }
}

/// A process that has exited after a signal, and how to know it again. Times are counted from boot: the wall
/// clock may be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departed {
    key: ProcessKey,
    like: Likeness,
    parent: Option<ProcessKey>,
    /// When the signal was sent; `None`: the clock was set about then.
    sent_ms: Option<u64>,
    /// Whoever started no later than this may have run before the signal.
    not_after_ms: u64,
    /// Whoever is like it and is known to be another: its twins.
    twins: BTreeSet<ProcessKey>,
}

impl Departed {
    /// Returns what is looked for from the second look on; `None` where its argv or its user is not known:
    /// it could not be known again. `before` was taken before the signal, `after` is the second look.
    pub fn new(before: &Sample, after: &Sample, target: &Target, watched: &Watched) -> Option<Self> {
        let was = before.get(target.key)?;
        was.uid.value()?;
        let like = Likeness::of(target, was)?;
        let sent_ms = sent_ms(before, after, watched);
        let of = |sample: &Sample| -> Vec<ProcessKey> {
            let all = sample.processes.values();
            let alike = all.filter(|one| one.key != target.key && like.is_of(one));
            alike.map(|one| one.key).collect()
        };
        Some(Self {
            key: target.key,
            parent: was
                .ppid
                .and_then(|pid| before.process(pid))
                .map(|parent| parent.key),
            sent_ms,
            not_after_ms: sent_ms.map_or(after.since_boot_ms, |sent| sent.saturating_add_signed(CLOCKS_MS)),
            twins: of(before).into_iter().chain(of(after)).collect(),
            like,
        })
    }

    /// Returns the process that has exited.
    pub fn key(&self) -> ProcessKey {
        self.key
    }

    /// Returns whether a process is the same server, started after the signal. One that a process with the
    /// same argv has forked is part of that one, unless the one that exited was, too.
    fn is_again(&self, sample: &Sample, one: &Process) -> bool {
        let is_part = || {
            let parent = one.ppid.and_then(|pid| sample.process(pid));
            parent.is_some_and(|parent| {
                parent.argv.value() == Some(&self.like.argv) && Some(parent.key) != self.parent
            })
        };
        one.key != self.key
            && self.like.is_of(one)
            && started_ms(sample, one) > self.not_after_ms
            && !self.twins.contains(&one.key)
            && !is_part()
    }
}

/// Returns when the signal was sent, from boot; `None` where the clocks do not agree on it.
fn sent_ms(before: &Sample, after: &Sample, watched: &Watched) -> Option<u64> {
    let offset = |sample: &Sample| {
        let since_boot = i64::try_from(sample.since_boot_ms).unwrap_or(i64::MAX);
        sample.taken_at.0.saturating_sub(since_boot)
    };
    let took = i64::try_from(watched.exited_after_ms?).ok()?;
    if offset(before).saturating_sub(offset(after)).abs() > CLOCKS_MS {
        return None;
    }
    let sent_at = watched.at.0.saturating_sub(took);
    let sent = u64::try_from(sent_at.saturating_sub(offset(after))).ok()?;
    (sent <= after.since_boot_ms).then_some(sent)
}

/// Returns when a process started, from boot.
fn started_ms(sample: &Sample, process: &Process) -> u64 {
    sample.since_boot_ms.saturating_sub(sample.elapsed_ms(process))
}

/// A process that is the same server again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The process.
    pub key: ProcessKey,
    /// When it started.
    pub started_at: UnixMillis,
    /// Milliseconds from the signal to that start; `None`: not known, as where the clock was set.
    pub after_ms: Option<u64>,
    /// Whose child it is: key and short name.
    pub parent: Option<(ProcessKey, OsBytes)>,
}

/// Returns who of those that have exited runs again in a sample, by their places in `departed`. A process is
/// one's successor only: of twins, that of the same parent, else that which was signalled first. `taken`
/// says of whom it was told already.
pub fn returned(
    sample: &Sample,
    departed: &[&Departed],
    taken: &dyn Fn(&Process) -> bool,
) -> Vec<(usize, Successor)> {
    let is_new = |one: &&Process| !taken(one) && departed.iter().any(|gone| gone.is_again(sample, one));
    let mut new: Vec<&Process> = sample
        .processes
        .values()
        .map(AsRef::as_ref)
        .filter(is_new)
        .collect();
    new.sort_by_key(|one| (one.key.start, one.key.pid));
    let mut found: Vec<(usize, Successor)> = Vec::new();
    for one in new {
        let parent = one.ppid.and_then(|pid| sample.process(pid));
        let parent_key = parent.map(|parent| parent.key);
        let mut open: Vec<usize> = (0..departed.len())
            .filter(|at| departed[*at].is_again(sample, one) && !found.iter().any(|(known, _)| known == at))
            .collect();
        open.sort_by_key(|at| departed[*at].parent.is_none() || departed[*at].parent != parent_key);
        let Some(at) = open.first().copied() else {
            continue;
        };
        let sent = departed[at].sent_ms;
        found.push((
            at,
            Successor {
                key: one.key,
                started_at: sample.started_at(one),
                after_ms: sent.map(|sent| started_ms(sample, one).saturating_sub(sent)),
                parent: parent.map(|parent| (parent.key, parent.comm.clone())),
            },
        ));
    }
    found
}

#[cfg(test)]
mod tests;
