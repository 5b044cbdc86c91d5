//! The processes as last read, and what of each is read anew.
//!
//! `kern.proc` lists all of them with their start time to everybody, in one call. The rest needs the process's
//! user or root: task figures in each sample; arguments and working directory when the CPU time shows that it has
//! run since, for only the process itself changes them.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::size_of;
use std::sync::Arc;

use rustix::io::Errno;

use super::decode::arguments::{self, Arguments, Surroundings};
use super::decode::process::{self, Listed, Task, Unique};
use super::kernel::{Kernel, absent, malformed};
use super::layout::{
    PIDTASKINFO, PIDUNIQIDENTIFIERINFO, PIDVNODEPATHINFO, TaskInfo, UniqueIdentifier, VnodePathInfo,
};
use super::users::Users;
use crate::model::bytes::OsBytes;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::{Argv, Environment, Process};
use crate::model::reading::Reading;

/// All processes.
pub(super) struct Table {
    entries: BTreeMap<Pid, Entry>,
    timebase: (u32, u32),
    began_ns: u64,
}

/// One process as last read.
struct Entry {
    process: Arc<Process>,
    /// CPU time; `None` where its task may not be read.
    cpu_ns: Option<u64>,
    effective_uid: u32,
}

impl Table {
    /// An empty table.
    pub(super) fn new(timebase: (u32, u32)) -> Self {
        Self {
            entries: BTreeMap::new(),
            timebase,
            began_ns: 0,
        }
    }

    /// Takes one pass; `now_ns` is the time since boot.
    pub(super) fn refresh(
        &mut self,
        kernel: &mut dyn Kernel,
        users: &mut Users,
        now_ns: u64,
    ) -> Result<(), Errno> {
        let answer = kernel.processes()?;
        let passed_ns = now_ns.saturating_sub(self.began_ns);
        self.began_ns = now_ns;
        let mut before = std::mem::take(&mut self.entries);
        for listed in process::listed(&answer) {
            let old = before
                .remove(&listed.key.pid)
                .filter(|entry| entry.process.key == listed.key);
            let entry = self.read(kernel, users, &listed, old, passed_ns);
            self.entries.insert(listed.key.pid, entry);
        }
        Ok(())
    }

    /// Returns all processes, by pid.
    pub(super) fn processes(&self) -> BTreeMap<Pid, Arc<Process>> {
        self.entries
            .iter()
            .map(|(pid, entry)| (*pid, Arc::clone(&entry.process)))
            .collect()
    }

    /// Returns the parent of a process.
    pub(super) fn parent(&self, pid: Pid) -> Option<Pid> {
        self.entries.get(&pid).and_then(|entry| entry.process.ppid)
    }

    /// Returns the user whose rights a process has: reading it takes the same, or root's.
    pub(super) fn effective_uid(&self, pid: Pid) -> Option<u32> {
        self.entries.get(&pid).map(|entry| entry.effective_uid)
    }

    /// Returns whether a process may be read.
    pub(super) fn readable(&self, key: ProcessKey) -> bool {
        self.entries
            .get(&key.pid)
            .is_some_and(|entry| entry.process.key == key && !entry.process.cwd.is_denied())
    }

    /// Reads one process, for itself.
    pub(super) fn one(&self, kernel: &mut dyn Kernel, users: &mut Users, listed: &Listed) -> Process {
        Arc::unwrap_or_clone(self.read(kernel, users, listed, None, 0).process)
    }

    fn read(
        &self,
        kernel: &mut dyn Kernel,
        users: &mut Users,
        listed: &Listed,
        old: Option<Entry>,
        passed_ns: u64,
    ) -> Entry {
        let pid = listed.key.pid;
        let task = task(kernel, listed);
        let figures = task.as_ref().ok().copied();
        let cpu_ns = figures.map(|task| task.cpu_ns(self.timebase));
        let before = old.as_ref().map(|entry| entry.process.as_ref());
        let ran = old.as_ref().is_none_or(|entry| {
            cpu_ns.is_none() || entry.cpu_ns != cpu_ns || entry.process.comm != listed.comm
        });
        let (argv, argv_kept) = argv(kernel, listed, before, ran);
        let cpu_permille = old
            .as_ref()
            .and_then(|entry| entry.cpu_ns.zip(cpu_ns))
            .and_then(|(was, is)| permille(is.saturating_sub(was), passed_ns));
        let letter = listed.letter(figures);
        let process = Process {
            key: listed.key,
            pidfd_inode: None,
            ppid: listed.ppid,
            pgid: listed.pgid,
            sid: kernel.session(pid).ok().flatten(),
            tty: listed.terminal.map(process::terminal_name),
            state: letter,
            stat: listed.marks(letter),
            kernel_thread: listed.system(),
            uid: Reading::Value(listed.uid),
            user: Reading::Value(users.name(kernel, listed.uid)),
            home: users.home(kernel, listed.uid),
            comm: listed.comm.clone(),
            argv,
            argv_kept,
            image: image(kernel, pid, before, ran),
            exe: program(kernel, listed, before, ran),
            cwd: working_directory(kernel, listed, &task, before, ran),
            cgroup: Reading::Unsupported,
            threads: figures.map_or(0, |task| task.threads),
            rss_bytes: figures.map_or(0, |task| task.resident_bytes),
            swap_bytes: Reading::Unsupported,
            cpu_ms: cpu_ns.unwrap_or(0) / 1_000_000,
            cpu_permille,
            schedstat: Reading::Unsupported,
            signals: Reading::Unsupported,
            pid_namespace: Reading::Unsupported,
            net_namespace: Reading::Unsupported,
            namespace_pids: Reading::Unsupported,
            environment: Reading::Unread,
            descriptors: Reading::Unread,
            locks: Vec::new(),
        };
        Entry {
            process: old
                .map(|entry| entry.process)
                .filter(|old| **old == process)
                .unwrap_or_else(|| Arc::new(process)),
            cpu_ns,
            effective_uid: listed.effective_uid,
        }
    }
}

fn permille(used_ns: u64, passed_ns: u64) -> Option<u32> {
    let permille = used_ns.saturating_mul(1000).checked_div(passed_ns)?;
    u32::try_from(permille).ok()
}

/// A zombie has no task any more.
fn task(kernel: &mut dyn Kernel, listed: &Listed) -> Result<Task, Errno> {
    if listed.zombie() {
        return Err(Errno::SRCH);
    }
    let answer = kernel.process_info(listed.key.pid, PIDTASKINFO, 0, size_of::<TaskInfo>())?;
    process::task(&answer).ok_or(Errno::INVAL)
}

/// Returns argv, and whether it is kept from before the process became a zombie.
fn argv(
    kernel: &mut dyn Kernel,
    listed: &Listed,
    before: Option<&Process>,
    ran: bool,
) -> (Reading<Argv>, bool) {
    let known = before.filter(|before| !before.args().is_empty());
    if listed.zombie() || listed.exiting() {
        return match known {
            Some(before) => (before.argv.clone(), true),
            None if listed.zombie() => (Reading::Value(Vec::new()), false),
            None => (Reading::Gone, false),
        };
    }
    if let Some(before) = known.filter(|_| !ran) {
        return (before.argv.clone(), false);
    }
    let read = read_arguments(kernel, listed.key.pid, listed.effective_uid, &BTreeSet::new());
    (read.map(|arguments| arguments.argv), false)
}

/// Reads arguments and environment. The call says `EINVAL` for whatever reason, so who asks decides: another user's
/// process is closed to all but root; an own one was exiting.
pub(super) fn read_arguments(
    kernel: &mut dyn Kernel,
    pid: Pid,
    effective_uid: u32,
    identifiers: &BTreeSet<String>,
) -> Reading<Arguments> {
    let call = "sysctl kern.procargs2";
    match kernel.arguments(pid) {
        Ok(buffer) => {
            arguments::decode(&buffer, identifiers).map_or_else(|| malformed(pid, call), Reading::Value)
        }
        Err(Errno::INVAL) => {
            let own = kernel.own().uid;
            if own != 0 && own != effective_uid {
                Reading::Denied
            } else {
                Reading::Gone
            }
        }
        Err(errno) => absent(errno, pid, call),
    }
}

/// Returns what is said of an environment.
pub(super) fn environment(pid: Pid, read: Reading<Arguments>) -> Reading<Environment> {
    match read {
        Reading::Value(arguments) => match arguments.environment {
            Surroundings::Whole(environment) => Reading::Value(environment),
            Surroundings::Withheld => Reading::Denied,
            Surroundings::Overwritten => Reading::Failed(format!(
                "kern.procargs2 of {pid}: its title was rewritten and runs into the environment"
            )),
            Surroundings::CutOff => Reading::Failed(format!(
                "kern.procargs2 of {pid}: the answer ends before the environment"
            )),
        },
        other => other.map(|_| Environment::default()),
    }
}

/// Each exec gives the pid a new version: the memory image's own number.
fn image(kernel: &mut dyn Kernel, pid: Pid, before: Option<&Process>, ran: bool) -> Option<(u64, u64)> {
    if let Some(before) = before.filter(|_| !ran) {
        return before.image;
    }
    let unique = unique(kernel, pid)?;
    Some((unique.id, u64::from(unique.version.unsigned_abs())))
}

/// Reads the unique ids of a process, a zombie's too. They are everybody's to see.
pub(super) fn read_unique(kernel: &mut dyn Kernel, pid: Pid) -> Result<Unique, Errno> {
    let bytes = size_of::<UniqueIdentifier>();
    let answer = kernel.process_info(pid, PIDUNIQIDENTIFIERINFO, 1, bytes)?;
    process::unique(&answer).ok_or(Errno::INVAL)
}

/// The same, where the reason why there are none does not matter.
pub(super) fn unique(kernel: &mut dyn Kernel, pid: Pid) -> Option<Unique> {
    read_unique(kernel, pid).ok()
}

fn program(
    kernel: &mut dyn Kernel,
    listed: &Listed,
    before: Option<&Process>,
    ran: bool,
) -> Reading<OsBytes> {
    let pid = listed.key.pid;
    if let Some(before) = before.filter(|before| !ran || listed.zombie() && before.exe.value().is_some()) {
        return before.exe.clone();
    }
    match kernel.path(pid) {
        Ok(answer) => process::path(&answer).map_or_else(|| malformed(pid, "proc_pidpath"), Reading::Value),
        Err(errno) => absent(errno, pid, "proc_pidpath"),
    }
}

fn working_directory(
    kernel: &mut dyn Kernel,
    listed: &Listed,
    task: &Result<Task, Errno>,
    before: Option<&Process>,
    ran: bool,
) -> Reading<OsBytes> {
    let pid = listed.key.pid;
    if let Some(before) = before.filter(|_| !ran) {
        return before.cwd.clone();
    }
    match task {
        Ok(_) => read_working_directory(kernel, pid),
        Err(errno) => absent(*errno, pid, "proc_pidinfo PROC_PIDTASKINFO"),
    }
}

/// Reads the working directory.
pub(super) fn read_working_directory(kernel: &mut dyn Kernel, pid: Pid) -> Reading<OsBytes> {
    let call = "proc_pidinfo PROC_PIDVNODEPATHINFO";
    match kernel.process_info(pid, PIDVNODEPATHINFO, 0, size_of::<VnodePathInfo>()) {
        Ok(answer) => match process::working_directory(&answer) {
            Some(path) if path.is_empty() => {
                Reading::Failed(format!("{call} of {pid}: the directory has no path"))
            }
            Some(path) => Reading::Value(path),
            None => malformed(pid, call),
        },
        Err(errno) => absent(errno, pid, call),
    }
}
