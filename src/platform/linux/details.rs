//! Everything about one process of interest.
//!
//! What only the process itself can change (environment, namespaces, descriptors) is kept while its single
//! thread has not run. What others change (signals, a deleted file, a terminal that hangs up, an ended process
//! behind a pidfd, a lock that is given away) is read each time.

use std::collections::{BTreeMap, BTreeSet};

use rustix::io::Errno;

use super::descriptors::{self, Fifos, Open};
use super::parse::process::{self, CloserStatus};
use super::parse::stat::{Stat, schedstat};
use super::reader::{Folder, Reader, absent, reading};
use super::units;
use crate::model::identity::ProcessKey;
use crate::model::interest::Interest;
use crate::model::process::{Environment, Process};
use crate::model::reading::Reading;
use crate::model::sample::Unit;

/// Every process is read anew once in so many looks, in turns.
const ROTATION: u64 = 16;

/// What is kept of the processes between two looks.
#[derive(Default)]
pub(super) struct Details {
    kept: BTreeMap<ProcessKey, Kept>,
    /// Whose values the kept environments hold.
    identifiers: BTreeSet<String>,
    fifos: Fifos,
    round: u64,
}

/// What only the process itself can change.
struct Kept {
    /// `schedstat` before it was read.
    unmoved: [u64; 3],
    round: u64,
    schedstat: Reading<(u64, u64)>,
    pid_namespace: Reading<u64>,
    net_namespace: Reading<u64>,
    environment: Reading<Environment>,
    /// The process that a service manager started, by the environment.
    exec_pid: Option<u32>,
    open: Open,
}

impl Details {
    /// To be called before the first process of a look.
    pub(super) fn begin(&mut self, interest: &Interest) {
        self.round += 1;
        if self.identifiers != interest.identifiers {
            self.identifiers.clone_from(&interest.identifiers);
            self.kept.clear();
        }
        self.fifos.forget();
    }

    /// To be called after the last process of a look: forgets those that were not among them.
    pub(super) fn end(&mut self) {
        let round = self.round;
        self.kept.retain(|_, kept| kept.round == round);
    }

    /// Reads everything about a process; returns the service that it belongs to. What was read under a pid that is another's by now is dropped.
    /// `unmoved` is the `schedstat` that proves, where it is the same again, that it has not run.
    pub(super) fn fill(
        &mut self,
        reader: &mut Reader,
        process: &mut Process,
        unmoved: Option<[u64; 3]>,
    ) -> Option<Unit> {
        let key = process.key;
        let before = process.clone();
        let Ok(folder) = reader.folder(key.pid, process.lost_main_thread()) else {
            set_gone(process);
            return None;
        };
        fill_changing(reader, folder, process);
        let exec_pid = match self.recall(reader, process, unmoved).map(|kept| kept.exec_pid) {
            Some(exec_pid) => exec_pid,
            None => self.fill_own(reader, folder, process, unmoved),
        };
        let same = reader.record(key.pid, "stat").map(Stat::parse);
        if !matches!(&same, Ok(Some(stat)) if stat.start == key.start) {
            self.kept.remove(&key);
            *process = before;
            set_gone(process);
            return None;
        }
        // Its own user is refused the descriptors of a process that has ended or is about to.
        if process.descriptors.is_denied() && reader.has_ended(key) {
            process.descriptors = Reading::Gone;
        }
        units::unit(process, exec_pid)
    }

    /// Takes what is kept, where all of it still holds.
    fn recall(
        &mut self,
        reader: &mut Reader,
        process: &mut Process,
        unmoved: Option<[u64; 3]>,
    ) -> Option<&Kept> {
        let pid = process.key.pid;
        let turn = (self.round + u64::from(pid.get())).is_multiple_of(ROTATION);
        let round = self.round;
        let kept = self.kept.get_mut(&process.key)?;
        if turn || Some(kept.unmoved) != unmoved || !descriptors::unchanged(reader, pid, &kept.open) {
            return None;
        }
        kept.round = round;
        process.schedstat = kept.schedstat.clone();
        process.pid_namespace = kept.pid_namespace.clone();
        process.net_namespace = kept.net_namespace.clone();
        process.environment = kept.environment.clone();
        process.descriptors = Reading::Value(kept.open.descriptors.clone());
        Some(kept)
    }

    /// Reads what only the process can change, and keeps it. Returns the process that a service manager started.
    fn fill_own(
        &mut self,
        reader: &mut Reader,
        folder: Folder,
        process: &mut Process,
        unmoved: Option<[u64; 3]>,
    ) -> Option<u32> {
        self.kept.remove(&process.key);
        process.schedstat = match reader.record(folder, "schedstat").map(schedstat) {
            Ok(Some([run, wait, _])) => Reading::Value((run, wait)),
            Ok(None) => Reading::Unsupported,
            Err(errno) => absent(errno, folder, "schedstat"),
        };
        process.pid_namespace = namespace(reader, folder, "ns/pid");
        process.net_namespace = namespace(reader, folder, "ns/net");
        if !process.kernel_thread {
            fill_argv(reader, folder, process);
        }
        let mut exec_pid = None;
        let environment = reader.whole(folder, "environ").map(|text| {
            exec_pid = process::number_in_environment(text, units::EXEC_PID);
            process::environment(text, &self.identifiers)
        });
        process.environment = reading(environment, folder, "environ");
        let open = match descriptors::read(reader, &mut self.fifos, folder) {
            Ok(open) => open,
            Err(errno) => {
                process.descriptors = absent(errno, folder, "fd");
                return exec_pid;
            }
        };
        process.descriptors = Reading::Value(open.descriptors.clone());
        process.locks.clone_from(&open.locks);
        if let Some(unmoved) = unmoved {
            let kept = Kept {
                unmoved,
                round: self.round,
                schedstat: process.schedstat.clone(),
                pid_namespace: process.pid_namespace.clone(),
                net_namespace: process.net_namespace.clone(),
                environment: process.environment.clone(),
                exec_pid,
                open,
            };
            self.kept.insert(process.key, kept);
        }
        exec_pid
    }
}

/// What others can change.
fn fill_changing(reader: &mut Reader, folder: Folder, process: &mut Process) {
    match reader.record(folder, "status").map(process::closer_status) {
        Ok(CloserStatus {
            signals,
            swap_bytes,
            namespace_pids,
        }) => {
            process.signals = signals.map_or(Reading::Unsupported, Reading::Value);
            process.swap_bytes = swap_bytes.map_or(Reading::Unsupported, Reading::Value);
            process.namespace_pids = namespace_pids.map_or(Reading::Unsupported, Reading::Value);
        }
        Err(errno) => {
            process.signals = absent(errno, folder, "status");
            process.swap_bytes = absent(errno, folder, "status");
            process.namespace_pids = absent(errno, folder, "status");
        }
    }
    if !process.kernel_thread {
        process.exe = reading(reader.link(folder, "exe"), folder, "exe");
        process.cwd = reading(reader.link(folder, "cwd"), folder, "cwd");
    }
    process.cgroup = match reader.record(folder, "cgroup").map(process::cgroup) {
        Ok(Some(path)) => Reading::Value(path),
        Ok(None) => Reading::Unsupported,
        Err(errno) => absent(errno, folder, "cgroup"),
    };
}

fn set_gone(process: &mut Process) {
    process.swap_bytes = Reading::Gone;
    process.signals = Reading::Gone;
    process.pid_namespace = Reading::Gone;
    process.net_namespace = Reading::Gone;
    process.namespace_pids = Reading::Gone;
    process.environment = Reading::Gone;
    process.descriptors = Reading::Gone;
}

/// A zombie's is empty: what was read before is kept.
fn fill_argv(reader: &mut Reader, folder: Folder, process: &mut Process) {
    match reader.whole(folder, "cmdline").map(process::argv) {
        Ok(argv) if argv.is_empty() && !process.args().is_empty() => process.argv_kept = true,
        outcome => process.argv = reading(outcome, folder, "cmdline"),
    }
}

fn namespace(reader: &mut Reader, folder: Folder, name: &str) -> Reading<u64> {
    match reader.link(folder, name) {
        Ok(link) => process::namespace(link.as_bytes()).map_or_else(
            || Reading::Failed(format!("{folder}/{name}: {link:?} holds no number")),
            Reading::Value,
        ),
        // Without namespaces in the kernel there is no such link; a process that is gone has no stat either.
        Err(Errno::NOENT) if reader.record(folder, "stat").is_ok() => Reading::Unsupported,
        Err(errno) => absent(errno, folder, name),
    }
}
