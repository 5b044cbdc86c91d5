//! One process: read anew as far as it may have changed, and compared with how it was.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::parse::process::{self, Status};
use super::parse::stat::{Stat, schedstat, terminal_name};
use super::reader::{self, Folder, Reader, absent};
use super::users::Users;
use crate::model::bytes::OsBytes;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::{Argv, Process};
use crate::model::reading::Reading;

/// Samples in which a new process, or one after exec, is read in full: in exec the kernel changes the
/// name before the argument area.
const YOUNG_SAMPLES: u32 = 3;
/// Facts of the machine that the figures are computed with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub(super) page_bytes: u64,
    pub(super) ticks_per_second: u64,
}

/// One process as last read.
pub(super) struct Entry {
    pub(super) process: Arc<Process>,
    pub(super) kept: Option<Kept>,
    /// The three numbers, where the kernel keeps them.
    pub(super) schedstat: Option<[u64; 3]>,
    pub(super) image: (u64, u64),
    pub(super) forked_no_exec: bool,
    pub(super) cpu_ticks: u64,
    pub(super) pages_locked: bool,
    pub(super) has_tty: bool,
    pub(super) samples_since_exec: u32,
    pub(super) pass: u64,
}

/// A file of a process that stays open: it is bound to that process, not to its pid.
pub(super) enum Kept {
    /// Of a single-threaded process.
    Schedstat(OwnedFd),
    /// Of one with several threads: another thread's work does not show in `schedstat`.
    Stat(OwnedFd),
}

/// Why a process is read.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    /// `schedstat` as read before everything else: what happens later shows in the next pass.
    pub(super) schedstat: Option<[u64; 3]>,
    /// It may have run since the pass before.
    pub(super) ran: bool,
    /// It is its turn in the rotation.
    pub(super) turn: bool,
}

impl Visit {
    /// How a process is read that was not known, or whose parent ended.
    pub(super) fn first(reader: &mut Reader, pid: Pid) -> Self {
        let schedstat = reader.record(pid, "schedstat").ok().and_then(schedstat);
        Self {
            schedstat,
            ran: true,
            turn: false,
        }
    }
}

impl Entry {
    /// Notes that it has not run since the pass before.
    pub(super) fn rest(&mut self) {
        if self.process.cpu_permille != Some(0) {
            Arc::make_mut(&mut self.process).cpu_permille = Some(0);
        }
    }

    /// Returns whether it is new, or new in its program: fork and exec are not over at once.
    pub(super) fn young(&self) -> bool {
        self.samples_since_exec < YOUNG_SAMPLES
    }
}

/// Reads one process.
pub(super) struct Fresh<'a> {
    pub(super) reader: &'a mut Reader,
    pub(super) users: &'a Users,
    pub(super) units: Units,
    pub(super) visit: Visit,
    pub(super) passed_ns: u64,
}

impl Fresh<'_> {
    /// Returns the entry as it is now. `before` is the same process as it was.
    pub(super) fn entry(&mut self, stat: &Stat, before: Option<Entry>) -> Entry {
        let exec = before.as_ref().is_none_or(|entry| has_run_exec(entry, stat));
        let moved = exec || before.as_ref().is_none_or(|entry| self.may_have_run(entry, stat));
        let young = before.as_ref().is_none_or(Entry::young);
        let turn = self.visit.turn;
        let (uid, pages_locked) = self.status(stat, moved, before.as_ref());
        let old = before.as_ref().map(|entry| entry.process.as_ref());
        let rights_moved = old.is_some_and(|old| old.uid != uid);
        let (argv, argv_kept) = self.argv(stat, moved || young || turn, old);
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
            image: (stat.image.0 > 1 && stat.image.1 > 1).then_some(stat.image),
            exe: self.link(stat, "exe", exec || turn || rights_moved, old.map(|old| &old.exe)),
            cwd: self.link(stat, "cwd", moved, old.map(|old| &old.cwd)),
            cgroup: self.cgroup(stat.pid, exec, old),
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
        if matches!(stat.state, 'Z' | 'X') && stat.threads <= 1 {
            let kept = old.filter(|old| !old.args().is_empty());
            return kept.map_or((Reading::Value(Vec::new()), false), |old| {
                (old.argv.clone(), true)
            });
        }
        let current = old.filter(|old| !ran && stat.threads <= 1 && !old.args().is_empty());
        if let Some(old) = current {
            return (old.argv.clone(), false);
        }
        let folder = self.folder(stat);
        let argv = self.reader.whole(folder, "cmdline").map(process::argv);
        if let (Ok([]), Some(old)) = (argv.as_deref(), old.filter(|old| !old.args().is_empty())) {
            // It exited between the two reads, or is about to be a zombie; or it has no command line now.
            let now = self.reader.record(stat.pid, "stat").ok().and_then(Stat::parse);
            if now.is_none_or(|now| matches!(now.state, 'Z' | 'X') || now.has_no_memory()) {
                return (old.argv.clone(), true);
            }
        }
        (reader::reading(argv, folder, "cmdline"), false)
    }

    /// Where its command line and links are read. A process that has no living thread any more shows none.
    fn folder(&mut self, stat: &Stat) -> Folder {
        let lost = matches!(stat.state, 'Z' | 'X') && stat.threads > 1;
        self.reader.folder(stat.pid, lost).unwrap_or(stat.pid.into())
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
        let folder = self.folder(stat);
        match reader::reading(self.reader.link(folder, name), folder, name) {
            // A thread of the kernel has no program; what is denied is worth knowing all the same.
            Reading::Gone if stat.kernel_thread() => Reading::Unsupported,
            outcome => outcome,
        }
    }

    fn cgroup(&mut self, pid: Pid, anew: bool, old: Option<&Process>) -> Reading<OsBytes> {
        match old {
            // The first sample must be quick; nothing asks for it before a closer look, which reads it.
            None => Reading::Unread,
            Some(old) if !anew && old.cgroup != Reading::Unread => old.cgroup.clone(),
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
