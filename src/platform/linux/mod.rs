//! Linux: /proc, netlink, pidfd.

mod clock;
mod closer;
mod descriptors;
mod details;
mod entry;
mod hiding;
mod holders;
mod host;
pub mod kernel;
mod managers;
mod netlink;
mod parse;
mod pidfd;
mod reader;
mod signaller;
mod table;
mod units;
mod unlisted;
mod users;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::process::{Resource, getrlimit};

use self::clock::Moment;
use self::closer::Closer;
use self::entry::Units;
use self::hiding::Hiding;
use self::host::Machine;
use self::kernel::{Opens, Running, Sends};
use self::managers::ServiceManagers;
use self::reader::Reader;
use self::signaller::looker::Looker;
use self::table::{Table, Unseen};
use self::users::Users;
use super::{Ability, Signaller, Source, SourceError, System};
use crate::model::host::{Observer, Os, Visibility};
use crate::model::interest::Interest;
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::model::sample::{Problem, Sample};

pub use self::pidfd::Pidfds;
pub use self::signaller::{LinuxOnlooker, LinuxSignaller};
pub use self::users::home_of;

/// Descriptors that stay free for everything but the kept files of processes.
const RESERVED_DESCRIPTORS: u64 = 512;
/// A kept file costs the kernel about 6 kB.
const MOST_KEPT_FILES: u64 = 8192;

/// How the system is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the proc file system is mounted.
    pub proc_root: PathBuf,
    /// The user database, passwd(5).
    pub passwd: PathBuf,
    /// Most files of processes that are kept open to spare their opening; never more than the limit on
    /// open files leaves, less 512.
    pub kept_files: usize,
    /// Whether `proc_root` is of the running kernel, so that its sockets and processes may be asked for by
    /// netlink and pidfd too; not so for a copy.
    pub live: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            proc_root: "/proc".into(),
            passwd: "/etc/passwd".into(),
            kept_files: usize::try_from(MOST_KEPT_FILES).unwrap_or(usize::MAX),
            live: true,
        }
    }
}

/// Reads processes from a proc file system, sockets by netlink.
pub struct LinuxSource {
    options: Options,
    reader: Reader,
    table: Table,
    users: Users,
    machine: Machine,
    observer: Option<Observer>,
    hiding: Option<Hiding>,
    closer: Closer,
    managers: ServiceManagers,
}

impl LinuxSource {
    /// Opens the proc file system. Fails where it is not one.
    pub fn new(options: Options) -> Result<Self, SourceError> {
        Self::on(options, Arc::new(Running))
    }

    /// The same, with another way to open pidfds.
    pub fn on(options: Options, opens: Arc<dyn Opens>) -> Result<Self, SourceError> {
        let mut reader = Reader::open(&options.proc_root)?;
        let machine = Machine::read(&mut reader)?;
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let room = limit.saturating_sub(RESERVED_DESCRIPTORS).min(MOST_KEPT_FILES);
        let kept_files = options.kept_files.min(usize::try_from(room).unwrap_or(0));
        let hiding = hiding::hiding(&mut reader, &options.proc_root);
        Ok(Self {
            table: Table::new(units(), kept_files),
            users: Users::new(&options.passwd),
            reader,
            machine,
            observer: None,
            hiding,
            closer: Closer::new(options.live, Pidfds::opened_by(opens)),
            managers: ServiceManagers::default(),
            options,
        })
    }

    /// Returns the pidfds of the processes that were looked at closely; they are opened then and kept.
    pub fn pidfds(&self) -> Pidfds {
        self.closer.pidfds()
    }

    /// Returns what signals, through the pidfds that are kept here.
    pub fn signaller(&self) -> Result<LinuxSignaller, SourceError> {
        self.signaller_through(Box::new(Running))
    }

    /// The same, with another way to send.
    pub fn signaller_through(&self, sends: Box<dyn Sends>) -> Result<LinuxSignaller, SourceError> {
        Ok(LinuxSignaller::new(self.looker()?, sends))
    }

    /// Returns what looks at processes as a signaller does, and cannot signal.
    pub fn onlooker(&self) -> Result<LinuxOnlooker, SourceError> {
        self.looker().map(LinuxOnlooker::new)
    }

    fn looker(&self) -> Result<Looker, SourceError> {
        if !self.options.live {
            return Err(self.failure(
                "signal the processes of",
                "it is a copy, they may be another machine's",
            ));
        }
        let users = Users::new(&self.options.passwd);
        Looker::new(self.options.proc_root.clone(), users, units(), self.pidfds())
    }

    /// Who looks does not change while the program runs.
    fn observer(&mut self) -> Observer {
        if let Some(observer) = &self.observer {
            let mut observer = observer.clone();
            let parent_of = |pid| self.table.get(pid).and_then(|process| process.ppid);
            observer.ancestors = host::ancestors(observer.pid, parent_of);
            return observer;
        }
        let parent_of = |pid| self.table.get(pid).and_then(|process| process.ppid);
        let observer = host::observer(&mut self.reader, &self.users, parent_of);
        self.observer = Some(observer.clone());
        observer
    }

    fn failure(&self, operation: &str, reason: &str) -> SourceError {
        SourceError {
            path: self.options.proc_root.display().to_string(),
            operation: operation.into(),
            reason: reason.into(),
        }
    }
}

impl Source for LinuxSource {
    fn sample(&mut self) -> Result<Sample, SourceError> {
        let cost_before_us = clock::own_cpu_us();
        let Moment { wall, since_boot_ns } = Moment::now();
        self.users.refresh();
        let unseen = self
            .table
            .refresh(&mut self.reader, &self.users, since_boot_ns)
            .map_err(|errno| self.failure("list", &format!("{errno}; no process can be seen")))?;
        let processes = self.table.processes();
        if processes.is_empty() {
            return Err(self.failure(
                "read",
                "no process is readable there; is a proc file system mounted?",
            ));
        }
        let observer = self.observer();
        let seen = Seen::count(processes.values().map(AsRef::as_ref), observer.uid);
        let hidden = self.hidden(unseen);
        Ok(Sample {
            taken_at: wall,
            since_boot_ms: since_boot_ns / 1_000_000,
            cost_us: clock::own_cpu_us().saturating_sub(cost_before_us),
            host: self.machine.now(&mut self.reader),
            visibility: seen.visibility(hidden),
            observer,
            readable: seen.readable,
            hidden,
            processes,
            sockets: Reading::Unread,
            holders: BTreeMap::new(),
            pipe_ends: std::collections::BTreeMap::new(),
            adopted: std::collections::BTreeSet::new(),
            terminal_masters: BTreeMap::new(),
            units: Vec::new(),
            unsearched: Vec::new(),
            unlisted: Vec::new(),
            problems: self.problems(unseen),
        })
    }

    fn look_closer(&mut self, sample: &mut Sample, interest: &Interest) {
        let cost_before_us = clock::own_cpu_us();
        for process in self.table.read_late(&mut self.reader, &self.users) {
            sample.processes.entry(process.key.pid).or_insert(process);
        }
        self.closer.look(&mut self.reader, &self.table, sample, interest);
        if self.options.live {
            self.managers.fill(sample, interest.closely.iter());
        }
        let seen = Seen::count(sample.processes.values().map(AsRef::as_ref), sample.observer.uid);
        sample.readable = seen.readable;
        sample.visibility = seen.visibility(sample.hidden);
        sample.cost_us += clock::own_cpu_us().saturating_sub(cost_before_us);
    }
}

impl LinuxSource {
    /// Processes that are listed but closed are counted; those that hidepid leaves out of the list
    /// cannot be (the kernel's own figure counts threads).
    fn hidden(&self, unseen: Unseen) -> Option<u32> {
        match &self.hiding {
            Some(Hiding { listed: false, .. }) => None,
            _ => Some(unseen.closed),
        }
    }

    fn problems(&self, unseen: Unseen) -> Vec<Problem> {
        let root = self.options.proc_root.display();
        let mut problems = Vec::new();
        if let Some(Hiding { text, .. }) = &self.hiding {
            problems.push(Problem {
                pid: None,
                what: root.to_string(),
                kind: Absence::Denied,
                detail: text.clone(),
            });
        }
        if unseen.failed > 0 {
            problems.push(Problem {
                pid: None,
                what: format!("{root}/PID/stat"),
                kind: Absence::Failed,
                detail: format!(
                    "left out, since their line could not be read or understood: {}",
                    unseen.failed
                ),
            });
        }
        problems
    }
}

/// Opens this system.
pub(super) fn system(ability: Ability) -> Result<System, SourceError> {
    let source = LinuxSource::new(Options::default())?;
    let signaller: Box<dyn Signaller> = match ability {
        Ability::Looks => Box::new(source.onlooker()?),
        Ability::Signals => Box::new(source.signaller()?),
    };
    Ok(System {
        source: Box::new(source),
        os: Os::Linux,
        signaller,
    })
}

fn units() -> Units {
    Units {
        page_bytes: u64::try_from(rustix::param::page_size()).unwrap_or(4096),
        ticks_per_second: rustix::param::clock_ticks_per_second(),
    }
}

/// What the reader may look into.
struct Seen {
    all: u32,
    readable: u32,
    others_readable: bool,
    own_uid: u32,
}

impl Seen {
    /// The link to the program asks for the same permission as the directory of descriptors.
    fn count<'a>(processes: impl Iterator<Item = &'a Process>, own_uid: u32) -> Self {
        let mut seen = Self {
            all: 0,
            readable: 0,
            others_readable: false,
            own_uid,
        };
        for process in processes {
            seen.all += 1;
            if !process.exe.is_denied() {
                seen.readable += 1;
                seen.others_readable |= process.uid.value() != Some(&own_uid);
            }
        }
        seen
    }

    fn visibility(&self, hidden: Option<u32>) -> Visibility {
        if self.readable == self.all && hidden == Some(0) {
            Visibility::All
        } else if self.others_readable || self.own_uid == 0 {
            Visibility::Partial
        } else {
            Visibility::Own
        }
    }
}
