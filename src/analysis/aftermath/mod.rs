//! The second look after a signal: what became of the target, and what is left of its instance.

mod returned;

use crate::model::act::{Signal, Target, Watched};
use crate::model::identity::ProcessKey;
use crate::model::instance::Instance;
use crate::model::plan::{Aftermath, Ending, LEFT, NOTHING_LEFT};
use crate::model::process::Process;
use crate::model::world::World;

use super::names::some;
use returned::Likeness;

pub use returned::{Departed, Successor, returned};

/// How far apart the clocks of starts (ticks since boot) and of signals (wall time) may read one moment.
const CLOCKS_MS: i64 = 50;

/// Bit of SIGTERM in a signal mask.
const TERM: u64 = 1 << 14;

/// Compares the world before a signal with one taken after the wait.
pub fn aftermath(
    before: &World,
    after: &World,
    target: &Target,
    signal: Signal,
    wait_ms: u64,
    watched: &Watched,
) -> Aftermath {
    let sent_at = watched
        .exited_after_ms
        .map(|ms| watched.at.0.saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX)));
    let case = Case {
        before,
        after,
        target,
        sent_at,
    };
    let now = case.now();
    let exited = watched.exited_after_ms.is_some() || now.is_none_or(Process::is_zombie);
    if let Some(now) = now.filter(|_| !exited) {
        return Aftermath {
            ending: Ending::StillThere,
            after_ms: Some(wait_ms),
            own: doing(now, signal),
            left: String::new(),
            back: Vec::new(),
        };
    }
    let back = case.came_back();
    let mut own: Vec<String> = Vec::new();
    own.extend(case.as_new(&back));
    own.extend(now.filter(|now| now.is_zombie()).map(|now| unreaped(after, now)));
    own.extend(case.ended_with_it());
    Aftermath {
        ending: if back.is_empty() {
            Ending::Exited
        } else {
            Ending::CameBack
        },
        after_ms: watched.exited_after_ms,
        own: own.join("; "),
        left: case.left(&back),
        back: back.iter().map(|one| one.key).collect(),
    }
}

/// What a process that has not ended is doing.
fn doing(process: &Process, signal: Signal) -> String {
    let mut parts = vec![format!("state {}", process.stat)];
    if let Some(cpu) = process.cpu_permille {
        parts.push(format!("CPU {} %", cpu / 10));
    }
    match process.signals.value() {
        Some(masks) if signal == Signal::Term && masks.ignored & TERM != 0 => {
            parts.push("TERM ignored".to_owned());
        }
        Some(masks) if signal == Signal::Term && masks.pending & TERM != 0 => {
            parts.push("TERM pending".to_owned());
        }
        Some(masks) if signal == Signal::Term && masks.caught & TERM != 0 => {
            parts.push("TERM handled, and it goes on".to_owned());
        }
        _ => {}
    }
    if process.is_stopped() {
        parts.push("stopped".to_owned());
    }
    parts.join(", ")
}

fn unreaped(world: &World, process: &Process) -> String {
    let parent = process.ppid.and_then(|pid| world.sample.process(pid));
    match parent {
        Some(parent) => format!(
            "its parent {} {} has not waited for it yet",
            parent.comm.lossy(),
            parent.key.pid
        ),
        None => "its parent has not waited for it yet".to_owned(),
    }
}

struct Case<'a> {
    before: &'a World,
    after: &'a World,
    target: &'a Target,
    /// When the signal was sent, milliseconds since the epoch; `None`: it has not ended the target.
    sent_at: Option<i64>,
}

impl<'a> Case<'a> {
    /// The target in the second look: not whoever has its pid now.
    fn now(&self) -> Option<&'a Process> {
        let now = self.after.sample.get(self.target.key)?;
        let same = match (self.target.pidfd_inode, now.pidfd_inode) {
            (Some(seen), Some(now)) => seen == now,
            _ => true,
        };
        same.then_some(now)
    }

    fn instance(&self) -> Option<&'a Instance> {
        self.before.judged.instance(self.target.member?.0)
    }

    /// The processes that began since and are the same server.
    fn came_back(&self) -> Vec<&'a Process> {
        let Some(was) = self.before.sample.get(self.target.key) else {
            return Vec::new();
        };
        let Some(like) = Likeness::of(self.target, was) else {
            return Vec::new();
        };
        let candidates = self.after.sample.processes.values().map(AsRef::as_ref);
        let began = candidates.filter(|one| {
            one.key != self.target.key
                && one.key.start >= was.key.start
                && self.before.sample.get(one.key).is_none()
                && like.is_of(one)
                && self
                    .sent_at
                    .is_none_or(|sent| self.after.sample.started_at(one).0 + CLOCKS_MS >= sent)
        });
        began.collect()
    }

    /// Returns the new pids, and whose child the first is now: who started it is not seen, for whatever
    /// a process forks before it ends has an adopter for its parent.
    fn as_new(&self, back: &[&Process]) -> Option<String> {
        let first = back.first()?;
        let pids: Vec<String> = back.iter().map(|one| one.key.pid.to_string()).collect();
        let pids = some(&pids);
        let parent = first.ppid.and_then(|pid| self.after.sample.process(pid));
        Some(match parent {
            Some(parent) => format!("as {pids}, child of {} {}", parent.comm.lossy(), parent.key.pid),
            None => format!("as {pids}"),
        })
    }

    /// The other members of its instance, as they were before.
    fn others(&self) -> impl Iterator<Item = (ProcessKey, String)> + '_ {
        let members = self.instance().into_iter().flat_map(Instance::members);
        members
            .filter(|(key, _)| *key != self.target.key)
            .filter_map(|(key, role)| {
                let process = self.before.sample.get(key)?;
                Some((
                    key,
                    format!("{} {} {}", role.word(), process.comm.lossy(), key.pid),
                ))
            })
    }

    fn lives(&self, key: ProcessKey) -> bool {
        self.after
            .sample
            .get(key)
            .is_some_and(|process| !process.is_zombie())
    }

    fn ended_with_it(&self) -> Option<String> {
        let ended: Vec<String> = self
            .others()
            .filter(|(key, _)| !self.lives(*key))
            .map(|(_, text)| text)
            .collect();
        (!ended.is_empty()).then(|| format!("with it {}", some(&ended)))
    }

    /// Members, children that were in no list, and who else holds the wire. Whoever came back is told
    /// before, and is nothing that is left.
    fn left(&self, back: &[&Process]) -> String {
        let mut left: Vec<String> = self
            .others()
            .filter(|(key, _)| self.lives(*key))
            .map(|(key, text)| match self.after.sample.get(key) {
                Some(process) => format!("{text} ({})", process.stat),
                None => text,
            })
            .collect();
        left.extend(self.children());
        left.extend(self.group(back));
        left.extend(self.wire());
        if left.is_empty() && !back.is_empty() {
            String::new()
        } else if left.is_empty() {
            NOTHING_LEFT.to_owned()
        } else {
            format!("{LEFT}{}", some(&left))
        }
    }

    fn is_other(&self, key: ProcessKey) -> bool {
        self.others().any(|(member, _)| member == key)
    }

    fn children(&self) -> Vec<String> {
        let children = self.before.sample.processes.values().filter(|one| {
            one.ppid == Some(self.target.key.pid) && !self.is_other(one.key) && self.lives(one.key)
        });
        children
            .map(|one| format!("child {} {}", one.comm.lossy(), one.key.pid))
            .collect()
    }

    /// Processes of the group that the target led.
    fn group(&self, back: &[&Process]) -> Option<String> {
        let group = self.before.sample.get(self.target.key)?.pgid?;
        if group != self.target.key.pid {
            return None;
        }
        let count = self
            .after
            .sample
            .processes
            .values()
            .filter(|one| {
                one.pgid == Some(group)
                    && one.key != self.target.key
                    && !one.is_zombie()
                    && !back.iter().any(|new| new.key == one.key)
                    && !self.is_other(one.key)
                    && one.ppid != Some(self.target.key.pid)
                    && !self.was_child(one.key)
            })
            .count();
        (count > 0).then(|| format!("{count} more in its process group"))
    }

    fn was_child(&self, key: ProcessKey) -> bool {
        let was = self.before.sample.get(key);
        was.is_some_and(|one| one.ppid == Some(self.target.key.pid))
    }

    /// Whoever still holds the end that the server read from.
    fn wire(&self) -> Option<String> {
        let end = self.instance()?.stdio.as_ref()?.stdin.as_ref()?;
        let holders = self.after.sample.holders.get(&end.inode?)?;
        let readers: Vec<String> = holders
            .iter()
            .filter(|holder| {
                let process = holder.process;
                holder.access.reads()
                    && process != self.target.key
                    && !end.holders.iter().any(|other| other.pid == process.pid)
                    && !self.is_other(process)
            })
            .map(|holder| holder.process.pid.to_string())
            .collect();
        (!readers.is_empty()).then(|| format!("its wire is held by {}", some(&readers)))
    }
}

#[cfg(test)]
mod tests;
