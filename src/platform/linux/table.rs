//! The processes as last read, and the rules by which each part of one is read anew.
//!
//! A single-threaded process whose `schedstat` is unchanged has not run, so it has not changed its own
//! state, name, argv, user or directory. It is skipped, except while young (fork and exec are not over
//! at once), with a terminal (its foreground group changes from outside), after its parent's end, and in
//! every sixteenth sample (nice value, group, resident memory and a replaced executable change without it;
//! the control group is read anew by the closer look). exec keeps pid and start time, so argv is read whenever the process may have run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd as _;
use std::sync::Arc;

use rustix::io::Errno;

use super::entry::{Entry, Fresh, Kept, Units, Visit};
use super::parse::stat::{Stat, schedstat};
use super::reader::{Reader, absence};
use super::users::Users;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::reading::Absence;

/// Every process is read once in so many samples, in turns.
const ROTATION: u64 = 16;

/// All processes.
pub(super) struct Table {
    entries: BTreeMap<Pid, Entry>,
    units: Units,
    /// How many more files may be kept open.
    spare_files: usize,
    pass: u64,
    began_ns: u64,
    passed_ns: u64,
    pids: Vec<Pid>,
}

/// What a pass could not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unseen {
    /// Processes that are listed and closed altogether (`hidepid=1`).
    pub(super) closed: u32,
    /// Processes whose `stat` was not understood.
    pub(super) failed: u32,
}

/// What is known of a process before it is read.
enum Glance {
    /// It has not run and nothing else asks for reading it.
    Unchanged,
    /// It may have changed.
    Read(Visit),
    /// The process that was kept is gone; its pid may be another's now.
    Replaced,
}

/// What one pass works with and finds out.
struct Pass<'a> {
    reader: &'a mut Reader,
    users: &'a Users,
    /// Pids whose process ended or was replaced: their children have another parent now.
    dead: BTreeSet<Pid>,
    unseen: Unseen,
}

impl Table {
    /// An empty table that may keep `spare_files` files open.
    pub(super) fn new(units: Units, spare_files: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            units,
            spare_files,
            pass: 0,
            began_ns: 0,
            passed_ns: 0,
            pids: Vec::new(),
        }
    }

    /// Takes one pass; `now_ns` is the time since boot.
    pub(super) fn refresh(
        &mut self,
        reader: &mut Reader,
        users: &Users,
        now_ns: u64,
    ) -> Result<Unseen, Errno> {
        reader.pids(&mut self.pids)?;
        self.pass += 1;
        self.passed_ns = now_ns.saturating_sub(self.began_ns);
        self.began_ns = now_ns;
        let mut pass = Pass {
            reader,
            users,
            dead: BTreeSet::new(),
            unseen: Unseen::default(),
        };
        let pids = std::mem::take(&mut self.pids);
        for pid in &pids {
            self.visit(&mut pass, *pid);
        }
        self.pids = pids;
        self.drop_gone(&mut pass);
        self.visit_orphans(&mut pass);
        Ok(pass.unseen)
    }

    /// Returns all processes, by pid.
    pub(super) fn processes(&self) -> BTreeMap<Pid, Arc<Process>> {
        self.entries
            .iter()
            .map(|(pid, entry)| (*pid, Arc::clone(&entry.process)))
            .collect()
    }

    /// Returns the process with this pid.
    pub(super) fn get(&self, pid: Pid) -> Option<&Process> {
        self.entries.get(&pid).map(|entry| entry.process.as_ref())
    }

    /// Reads processes that have started since the pass: they may hold what is searched for.
    pub(super) fn read_late(&mut self, reader: &mut Reader, users: &Users) -> Vec<Arc<Process>> {
        let mut pids = std::mem::take(&mut self.pids);
        let mut pass = Pass {
            reader,
            users,
            dead: BTreeSet::new(),
            unseen: Unseen::default(),
        };
        let mut late = Vec::new();
        // Those that cannot be listed any more are not read; the next pass fails and says so.
        if pass.reader.pids(&mut pids).is_ok() {
            for pid in &pids {
                if self.entries.contains_key(pid) {
                    continue;
                }
                let visit = Visit::first(pass.reader, *pid);
                self.read(&mut pass, *pid, visit);
                late.extend(self.entries.get(pid).map(|entry| Arc::clone(&entry.process)));
            }
        }
        self.pids = pids;
        late
    }

    /// Returns the `schedstat` of a process, where one that is the same later proves that it has not run.
    pub(super) fn unmoved(&self, pid: Pid) -> Option<[u64; 3]> {
        let entry = self.entries.get(&pid)?;
        entry
            .schedstat
            .filter(|_| entry.process.threads <= 1 && entry.process.state != 'R')
    }

    fn visit(&mut self, pass: &mut Pass<'_>, pid: Pid) {
        let turn = (self.pass + u64::from(pid.get())).is_multiple_of(ROTATION);
        let mut visit = None;
        if let Some(entry) = self.entries.get_mut(&pid) {
            match glance(entry, pass.reader, turn) {
                Glance::Unchanged => {
                    entry.pass = self.pass;
                    entry.samples_since_exec = entry.samples_since_exec.saturating_add(1);
                    entry.rest();
                    return;
                }
                Glance::Read(seen) => visit = Some(seen),
                Glance::Replaced => {
                    self.remove(pid);
                    pass.dead.insert(pid);
                }
            }
        }
        let visit = visit.unwrap_or_else(|| Visit::first(pass.reader, pid));
        self.read(pass, pid, visit);
    }

    fn read(&mut self, pass: &mut Pass<'_>, pid: Pid, visit: Visit) {
        let line = match self.entries.get(&pid).and_then(|entry| entry.kept.as_ref()) {
            Some(Kept::Stat(file)) => pass.reader.record_again(file.as_fd()),
            _ => pass.reader.record(pid, "stat"),
        };
        let stat = match line.map(Stat::parse) {
            Ok(Some(stat)) => stat,
            Ok(None) => {
                pass.unseen.failed += 1;
                return;
            }
            Err(errno) => {
                pass.unseen.count(absence(errno));
                return;
            }
        };
        let key = ProcessKey {
            pid,
            start: stat.start,
        };
        if self
            .entries
            .get(&pid)
            .is_some_and(|entry| entry.process.key != key)
        {
            self.remove(pid);
            pass.dead.insert(pid);
        }
        let before = self.entries.remove(&pid);
        let was_zombie = before.as_ref().is_some_and(|entry| entry.process.is_zombie());
        let mut fresh = Fresh {
            reader: &mut *pass.reader,
            users: pass.users,
            units: self.units,
            visit,
            passed_ns: self.passed_ns,
        };
        let mut entry = fresh.entry(&stat, before);
        entry.pass = self.pass;
        if entry.process.is_zombie() && !was_zombie {
            pass.dead.insert(pid);
        }
        self.keep_file(pass.reader, &mut entry);
        self.entries.insert(pid, entry);
    }

    /// Keeps a file of a process that is no longer young, as far as there is room.
    fn keep_file(&mut self, reader: &mut Reader, entry: &mut Entry) {
        let wants_stat = entry.process.threads > 1 || entry.schedstat.is_none();
        let right = match &entry.kept {
            Some(Kept::Schedstat(_)) => !wants_stat,
            Some(Kept::Stat(_)) => wants_stat,
            None => false,
        };
        if right || entry.young() || entry.process.is_zombie() {
            return;
        }
        if entry.kept.take().is_some() {
            self.spare_files += 1;
        }
        if self.spare_files == 0 {
            return;
        }
        let pid = entry.process.key.pid;
        let file = reader.keep(pid, if wants_stat { "stat" } else { "schedstat" });
        // Opened by pid: only what still has the start time belongs to this process.
        let same = reader.record(pid, "stat").ok().and_then(Stat::parse);
        if let (Ok(file), true) = (
            file,
            same.is_some_and(|stat| stat.start == entry.process.key.start),
        ) {
            entry.kept = Some(if wants_stat {
                Kept::Stat(file)
            } else {
                Kept::Schedstat(file)
            });
            self.spare_files -= 1;
        }
    }

    fn remove(&mut self, pid: Pid) {
        if self
            .entries
            .remove(&pid)
            .is_some_and(|entry| entry.kept.is_some())
        {
            self.spare_files += 1;
        }
    }

    fn drop_gone(&mut self, pass: &mut Pass<'_>) {
        let gone: Vec<Pid> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.pass != self.pass)
            .map(|(pid, _)| *pid)
            .collect();
        for pid in gone {
            self.remove(pid);
            pass.dead.insert(pid);
        }
    }

    /// Reads the children of those that ended: their parent changed without them running.
    fn visit_orphans(&mut self, pass: &mut Pass<'_>) {
        if pass.dead.is_empty() {
            return;
        }
        let orphans: Vec<Pid> = self
            .entries
            .iter()
            .filter(|(_, entry)| {
                entry
                    .process
                    .ppid
                    .is_some_and(|parent| pass.dead.contains(&parent))
            })
            .map(|(pid, _)| *pid)
            .collect();
        for pid in orphans {
            if let Some(entry) = self.entries.get_mut(&pid) {
                entry.pass = 0;
            }
            let visit = Visit::first(pass.reader, pid);
            self.read(pass, pid, visit);
            // Gone between the pass and here: simply not there.
            if self
                .entries
                .get(&pid)
                .is_some_and(|entry| entry.pass != self.pass)
            {
                self.remove(pid);
            }
        }
    }
}

impl Unseen {
    fn count(&mut self, why: Absence) {
        match why {
            Absence::Denied => self.closed += 1,
            Absence::Gone => {}
            Absence::Unsupported | Absence::Failed => self.failed += 1,
        }
    }
}

/// Decides, from `schedstat` alone, whether a known process must be read.
fn glance(entry: &Entry, reader: &mut Reader, turn: bool) -> Glance {
    let line = match &entry.kept {
        Some(Kept::Stat(_)) => {
            return Glance::Read(Visit {
                schedstat: None,
                ran: true,
                turn,
            });
        }
        Some(Kept::Schedstat(file)) => reader.record_again(file.as_fd()),
        None => reader.record(entry.process.key.pid, "schedstat"),
    };
    let now = match line {
        Ok(line) => schedstat(line),
        Err(errno) if absence(errno) == Absence::Gone => return Glance::Replaced,
        Err(_) => None,
    };
    let ran = now.is_none() || now != entry.schedstat;
    let process = &entry.process;
    let due = ran
        || turn
        || entry.young()
        || entry.has_tty
        || process.threads > 1
        // The figures lag while it is on a processor.
        || process.state == 'R'
        // Without a kept file this may be another process under the same pid.
        || entry.kept.is_none();
    if due {
        Glance::Read(Visit {
            schedstat: now,
            ran,
            turn,
        })
    } else {
        Glance::Unchanged
    }
}
