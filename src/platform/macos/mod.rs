//! macOS: libproc and sysctl.
//!
//! Three parts: `layout` and `decode` know the kernel's structures and take bytes; `kernel` says what can be asked,
//! and `calls` asks it on a Mac; the rest makes a sample of the answers. All but `calls`, `ffi` and `exit` is
//! compiled for tests on any system.

#[cfg(target_os = "macos")]
mod calls;
mod decode;
#[cfg(target_os = "macos")]
mod exit;
#[cfg(target_os = "macos")]
mod ffi;
mod host;
mod kernel;
mod layout;
mod search;
mod signaller;
mod table;
#[cfg(test)]
mod tests;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::kernel::Kernel;
use self::search::Search;
pub use self::signaller::MacosSignaller;
use self::table::Table;
use self::users::Users;
#[cfg(target_os = "macos")]
use super::{Ability, System};
use super::{Source, SourceError};
#[cfg(target_os = "macos")]
use crate::model::host::Os;
use crate::model::host::{Host, Visibility};
use crate::model::identity::ProcessKey;
use crate::model::interest::Interest;
use crate::model::reading::{Absence, Reading};
use crate::model::sample::{Problem, Sample};

/// Opens this system.
#[cfg(target_os = "macos")]
pub(super) fn system(ability: Ability) -> Result<System, SourceError> {
    let sends = match ability {
        Ability::Looks => None,
        Ability::Signals => Some(Box::new(calls::SystemCalls::default()) as Box<dyn signaller::Sends>),
    };
    let kernel = Box::new(calls::SystemCalls::default());
    Ok(System {
        source: Box::new(MacosSource::new()?),
        os: Os::Macos,
        signaller: Box::new(MacosSignaller::new(kernel, sends, exit::watch)),
    })
}

/// Reads processes by libproc and sysctl.
pub struct MacosSource {
    kernel: Box<dyn Kernel>,
    table: Table,
    users: Users,
    host: Host,
}

impl MacosSource {
    /// Reads what the machine is. Fails where the kernel does not name its boot.
    #[cfg(target_os = "macos")]
    pub fn new() -> Result<Self, SourceError> {
        Self::on(Box::new(calls::SystemCalls::default()))
    }

    fn on(mut kernel: Box<dyn Kernel>) -> Result<Self, SourceError> {
        Ok(Self {
            host: host::machine(kernel.as_mut())?,
            table: Table::new(kernel.timebase()),
            users: Users::default(),
            kernel,
        })
    }
}

impl Source for MacosSource {
    fn sample(&mut self) -> Result<Sample, SourceError> {
        let kernel = self.kernel.as_mut();
        let clocks = kernel.clocks();
        self.table
            .refresh(kernel, &mut self.users, clocks.since_boot_ns)
            .map_err(|errno| SourceError {
                path: "sysctl kern.proc.all".into(),
                operation: "list processes by".into(),
                reason: format!("{errno}; no process can be seen"),
            })?;
        let processes = self.table.processes();
        let observer = host::observer(kernel, &mut self.users, |pid| self.table.parent(pid));
        let keys = processes.values().map(|process| process.key);
        let readable = keys.filter(|key| self.table.readable(*key)).count();
        let closed = processes.len() - readable;
        let host = host::now(kernel, &mut self.host, clocks);
        let problems = problems(closed, observer.uid);
        let cost_us = kernel.clocks().own_cpu_us.saturating_sub(clocks.own_cpu_us);
        Ok(Sample {
            taken_at: clocks.wall(),
            since_boot_ms: clocks.since_boot_ns / 1_000_000,
            cost_us,
            host,
            visibility: match (closed, observer.uid) {
                (0, _) => Visibility::All,
                (_, 0) => Visibility::Partial,
                _ => Visibility::Own,
            },
            observer,
            readable: u32::try_from(readable).unwrap_or(u32::MAX),
            // The kernel lists every process to everybody.
            hidden: Some(0),
            processes,
            sockets: Reading::Unread,
            holders: BTreeMap::new(),
            pipe_ends: BTreeMap::new(),
            adopted: BTreeSet::new(),
            terminal_masters: BTreeMap::new(),
            units: Vec::new(),
            unsearched: Vec::new(),
            unlisted: Vec::new(),
            problems,
        })
    }

    fn look_closer(&mut self, sample: &mut Sample, interest: &Interest) {
        let before = self.kernel.clocks();
        let known = |key: &ProcessKey| sample.get(*key).is_some();
        let closely: BTreeSet<ProcessKey> = interest.closely.iter().copied().filter(known).collect();
        let mut search = Search::default();
        for key in &closely {
            self.fill(sample, *key, interest, &mut search);
        }
        let others: Vec<ProcessKey> = sample
            .processes
            .values()
            .filter(|process| !process.is_zombie() && !process.kernel_thread)
            .map(|process| process.key)
            .filter(|key| !closely.contains(key))
            .collect();
        for key in others {
            search.other(self.kernel.as_mut(), key);
        }
        let open = closely
            .iter()
            .filter_map(|key| sample.get(*key)?.descriptors.value())
            .flatten();
        let wanted = search::numbers(open, &interest.inodes);
        let found = search.finish(wanted.into_iter());
        sample.sockets = Reading::Value(found.sockets);
        sample.pipe_ends = found.pipe_ends;
        sample.holders = found.holders;
        sample.terminal_masters = found.terminal_masters;
        sample.unsearched = found.unsearched;
        let spent = self.kernel.clocks().own_cpu_us.saturating_sub(before.own_cpu_us);
        sample.cost_us += spent;
    }
}

impl MacosSource {
    /// Reads everything about one process. What was read under a pid that is another's by now is dropped.
    fn fill(&mut self, sample: &mut Sample, key: ProcessKey, interest: &Interest, search: &mut Search) {
        let kernel = self.kernel.as_mut();
        let Some(process) = sample.processes.get_mut(&key.pid) else {
            return;
        };
        let process = Arc::make_mut(process);
        let unique = table::unique(kernel, key.pid);
        process.pidfd_inode = unique.map(|unique| unique.id);
        if process.is_zombie() {
            process.environment = Reading::Gone;
            process.descriptors = Reading::Gone;
        } else {
            let uid = self.table.effective_uid(key.pid).unwrap_or(u32::MAX);
            let read = table::read_arguments(kernel, key.pid, uid, &interest.identifiers);
            process.environment = table::environment(key.pid, read);
            process.cwd = table::read_working_directory(kernel, key.pid);
            process.descriptors = search.closely(kernel, key);
        }
        let parent = process.ppid.and_then(|pid| table::unique(kernel, pid));
        if let (Some(unique), Some(parent)) = (unique, parent)
            && unique.parent != parent.id
        {
            sample.adopted.insert(key);
        }
    }
}

/// What this system does not show, said once; `closed` processes are of other users than `own`, who reads.
fn problems(closed: usize, own: u32) -> Vec<Problem> {
    let problem = |what: &str, kind, detail: String| Problem {
        pid: None,
        what: what.into(),
        kind,
        detail,
    };
    let who = if own == 0 {
        "the system denies them even to root"
    } else {
        "root reads them"
    };
    let mut problems = vec![
        problem(
            "containers",
            Absence::Unsupported,
            "containers run in a virtual machine here: their processes are not seen from outside it".into(),
        ),
        problem(
            "signal masks, swap, locks",
            Absence::Unsupported,
            "not read on macOS: whether a process ignores TERM is not known".into(),
        ),
    ];
    if closed > 0 {
        problems.push(problem(
            "proc_pidinfo",
            Absence::Denied,
            format!(
                "{closed} processes of other users: arguments, descriptors, directory are closed, memory, CPU time \
                 and threads show as 0; {who}"
            ),
        ));
    }
    problems
}
