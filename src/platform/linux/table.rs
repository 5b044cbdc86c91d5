//! The processes as last read, and the rules by which each part of one is read anew.
//!
//! A single-threaded process whose `schedstat` is unchanged has not run, so it has not changed its own
//! state, name, argv, user or directory. It is skipped, except while young (fork and exec are not over
//! at once), with a terminal (its foreground group changes from outside), after its parent's end, and in
//! every sixteenth sample (nice value, group, control group, resident memory, a replaced executable
//! change without it). exec keeps pid and start time, so argv is read whenever the process may have run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::parse::process::{self, Status};
use super::parse::stat::{Stat, schedstat, terminal_name};
use super::reader::{self, Reader, absence, absent};
use super::users::Users;
use crate::model::bytes::OsBytes;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::{Argv, Process};
use crate::model::reading::{Absence, Reading};

/// Samples in which a new process, or one after exec, is read in full: in exec the kernel changes the
/// name before the argument area.
const YOUNG_SAMPLES: u32 = 3;
/// Every process is read in full once in so many samples, in turns.
const ROTATION: u64 = 16;

/// Facts of the machine that the figures are computed with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub(super) page_bytes: u64,
    pub(super) ticks_per_second: u64,
}

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

/// One process as last read.
struct Entry {
    process: Arc<Process>,
    kept: Option<Kept>,
    /// The three numbers, where the kernel keeps them.
    schedstat: Option<[u64; 3]>,
    image: (u64, u64),
    forked_no_exec: bool,
    cpu_ticks: u64,
    pages_locked: bool,
    has_tty: bool,
    samples_since_exec: u32,
    pass: u64,
}

/// A file of a process that stays open: it is bound to that process, not to its pid.
enum Kept {
    /// Of a single-threaded process.
    Schedstat(OwnedFd),
    /// Of one with several threads: another thread's work does not show in `schedstat`.
    Stat(OwnedFd),
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

/// Why a process is read.
#[derive(Clone, Copy)]
struct Visit {
    /// `schedstat` as read before everything else: what happens later shows in the next pass.
    schedstat: Option<[u64; 3]>,
    /// It may have run since the pass before.
    ran: bool,
    /// It is its turn in the rotation.
    turn: bool,
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

    /// Returns the `schedstat` of a process, where one that is the same later proves that it has not run.
    pub(super) fn unmoved(&self, pid: Pid) -> Option<[u64; 3]> {
        let entry = self.entries.get(&pid)?;
        entry
            .schedstat
            .filter(|_| entry.process.threads <= 1 && entry.process.state != 'R')
    }

    fn visit(&mut self, pass: &mut Pass<'_>, pid: Pid) {
        let turn = (self.pass + u64::from(pid.get())) % ROTATION == 0;
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

impl Visit {
    fn first(reader: &mut Reader, pid: Pid) -> Self {
        let schedstat = reader.record(pid, "schedstat").ok().and_then(schedstat);
        Self {
            schedstat,
            ran: true,
            turn: false,
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

impl Entry {
    /// Notes that it has not run since the pass before.
    fn rest(&mut self) {
        if self.process.cpu_permille != Some(0) {
            Arc::make_mut(&mut self.process).cpu_permille = Some(0);
        }
    }

    fn young(&self) -> bool {
        self.samples_since_exec < YOUNG_SAMPLES
    }
}

/// Reads one process.
struct Fresh<'a> {
    reader: &'a mut Reader,
    users: &'a Users,
    units: Units,
    visit: Visit,
    passed_ns: u64,
}

impl Fresh<'_> {
    fn entry(&mut self, stat: &Stat, before: Option<Entry>) -> Entry {
        let exec = before.as_ref().is_none_or(|entry| has_run_exec(entry, stat));
        let young = exec || before.as_ref().is_none_or(Entry::young);
        let whole = young || self.visit.turn;
        let ran = whole || before.as_ref().is_none_or(|entry| self.may_have_run(entry, stat));
        let (uid, pages_locked) = self.status(stat, ran, before.as_ref());
        let old = before.as_ref().map(|entry| entry.process.as_ref());
        let rights_moved = old.is_some_and(|old| old.uid != uid);
        let (argv, argv_kept) = self.argv(stat, ran, old);
        let schedstat = self.visit.schedstat.filter(|_| stat.threads <= 1);
        let process = Process {
            key: ProcessKey {
                pid: stat.pid,
                start: stat.start,
            },
            pidfd_inode: None,
            ppid: stat.ppid,
            pgid: stat.pgid,
            sid: stat.sid,
            tty: terminal_name(stat.tty),
            state: stat.state,
            stat: stat.marks(pages_locked),
            kernel_thread: stat.kernel_thread(),
            user: uid.as_ref().map(|uid| self.users.name(*uid)),
            home: uid.value().and_then(|uid| self.users.home(*uid)),
            uid,
            comm: stat.comm.as_slice().into(),
            argv,
            argv_kept,
            exe: self.link(stat, "exe", whole || rights_moved, old.map(|old| &old.exe)),
            cwd: self.link(stat, "cwd", ran, old.map(|old| &old.cwd)),
            cgroup: self.cgroup(stat.pid, whole, old),
            threads: stat.threads,
            rss_bytes: stat.rss_pages.saturating_mul(self.units.page_bytes),
            swap_bytes: Reading::Unread,
            cpu_ms: stat.cpu_ticks.saturating_mul(1000) / self.units.ticks_per_second.max(1),
            cpu_permille: before
                .as_ref()
                .and_then(|entry| self.cpu_permille(entry, stat, schedstat)),
            schedstat: match schedstat {
                Some([run, wait, _]) => Reading::Value((run, wait)),
                None if stat.threads > 1 => Reading::Unread,
                None => Reading::Unsupported,
            },
            signals: Reading::Unread,
            pid_namespace: Reading::Unread,
            net_namespace: Reading::Unread,
            namespace_pids: Reading::Unread,
            environment: Reading::Unread,
            descriptors: Reading::Unread,
            locks: Vec::new(),
        };
        let samples_since_exec = before
            .as_ref()
            .filter(|_| !exec)
            .map_or(0, |entry| entry.samples_since_exec.saturating_add(1));
        let (old, kept) = before.map(|entry| (entry.process, entry.kept)).unzip();
        Entry {
            process: old
                .filter(|old| **old == process)
                .unwrap_or_else(|| Arc::new(process)),
            kept: kept.flatten(),
            schedstat,
            image: stat.image,
            forked_no_exec: stat.forked_no_exec(),
            cpu_ticks: stat.cpu_ticks,
            pages_locked,
            has_tty: stat.tty != 0,
            samples_since_exec,
            pass: 0,
        }
    }

    /// Of several threads only the CPU time tells of all, in whole ticks.
    fn may_have_run(&self, before: &Entry, stat: &Stat) -> bool {
        before.cpu_ticks != stat.cpu_ticks
            || before.process.threads != stat.threads
            || stat.threads <= 1
                && (self.visit.ran
                    || self.visit.schedstat.is_none()
                    || before.schedstat != self.visit.schedstat)
    }

    /// CPU use since the pass before. `schedstat` counts nanoseconds, but of one thread only.
    fn cpu_permille(&self, before: &Entry, stat: &Stat, schedstat: Option<[u64; 3]>) -> Option<u32> {
        let single = stat.threads <= 1 && before.process.threads <= 1;
        let used_ns = match (before.schedstat, schedstat) {
            (Some([was, ..]), Some([is, ..])) if single => is.saturating_sub(was),
            _ => {
                let ticks = stat.cpu_ticks.saturating_sub(before.cpu_ticks);
                ticks.saturating_mul(1_000_000_000) / self.units.ticks_per_second.max(1)
            }
        };
        let permille = used_ns.saturating_mul(1000).checked_div(self.passed_ns)?;
        u32::try_from(permille).ok()
    }

    fn status(&mut self, stat: &Stat, anew: bool, before: Option<&Entry>) -> (Reading<u32>, bool) {
        let pid = stat.pid;
        let current = before.filter(|_| !anew || stat.kernel_thread());
        if let Some(entry) = current.filter(|entry| entry.process.uid.value().is_some()) {
            return (entry.process.uid.clone(), entry.pages_locked);
        }
        match self.reader.record(pid, "status").map(process::status) {
            Ok(Some(Status { uid, pages_locked })) => (Reading::Value(uid), pages_locked),
            Ok(None) => (Reading::Failed(format!("{pid}/status: no line Uid:")), false),
            Err(errno) => (absent(errno, pid, "status"), false),
        }
    }

    /// A process with several threads is read each time: one that rewrites its title in less than a tick
    /// leaves no other trace.
    fn argv(&mut self, stat: &Stat, ran: bool, old: Option<&Process>) -> (Reading<Argv>, bool) {
        if stat.kernel_thread() {
            return (Reading::Value(Vec::new()), false);
        }
        if matches!(stat.state, 'Z' | 'X') {
            let kept = old.filter(|old| !old.args().is_empty());
            return kept.map_or((Reading::Value(Vec::new()), false), |old| {
                (old.argv.clone(), true)
            });
        }
        let current = old.filter(|old| !ran && stat.threads <= 1 && !old.args().is_empty());
        if let Some(old) = current {
            return (old.argv.clone(), false);
        }
        let argv = self.reader.whole(stat.pid, "cmdline").map(process::argv);
        if let (Ok([]), Some(old)) = (argv.as_deref(), old.filter(|old| !old.args().is_empty())) {
            // It exited between the two reads, or it is in the middle of an exec: the next sample tells.
            let gone = self.reader.record(stat.pid, "stat").ok().and_then(Stat::parse);
            if gone.is_none_or(|stat| matches!(stat.state, 'Z' | 'X')) {
                return (old.argv.clone(), true);
            }
        }
        (reader::reading(argv, stat.pid, "cmdline"), false)
    }

    fn link(
        &mut self,
        stat: &Stat,
        name: &str,
        anew: bool,
        old: Option<&Reading<OsBytes>>,
    ) -> Reading<OsBytes> {
        if let Some(old) = old.filter(|_| !anew || stat.kernel_thread()) {
            return old.clone();
        }
        match reader::reading(self.reader.link(stat.pid, name), stat.pid, name) {
            // A thread of the kernel has no program; what is denied is worth knowing all the same.
            Reading::Gone if stat.kernel_thread() => Reading::Unsupported,
            outcome => outcome,
        }
    }

    fn cgroup(&mut self, pid: Pid, anew: bool, old: Option<&Process>) -> Reading<OsBytes> {
        match old {
            Some(old) if !anew => old.cgroup.clone(),
            _ => match self.reader.record(pid, "cgroup").map(process::cgroup) {
                Ok(Some(path)) => Reading::Value(path),
                Ok(None) => Reading::Unsupported,
                Err(errno) => absent(errno, pid, "cgroup"),
            },
        }
    }
}

/// Returns whether a process has replaced its program since `before`, as far as `stat` shows it.
fn has_run_exec(before: &Entry, stat: &Stat) -> bool {
    before.process.comm.as_bytes() != stat.comm.as_slice()
        || before.forked_no_exec && !stat.forked_no_exec()
        || before.image != stat.image
}
