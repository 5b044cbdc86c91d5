//! Holds on to processes, and tells whether they are still what was seen. Has nothing to send with.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use super::watch::{ByPidfd, ByStat};
use crate::model::act::{Look, Standing, Target, Way};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::platform::compare::compare;
use crate::platform::linux::clock;
use crate::platform::linux::entry::{Fresh, Units, Visit};
use crate::platform::linux::host;
use crate::platform::linux::parse::process::closer_status;
use crate::platform::linux::parse::stat::Stat;
use crate::platform::linux::pidfd::{Pidfds, has_exited};
use crate::platform::linux::reader::{Reader, absence, absent};
use crate::platform::linux::users::Users;
use crate::platform::permission::to_read;
use crate::platform::{SourceError, Watch};

/// Most processes that are held: three dialogs of twenty targets. The oldest hold is given up first.
const MOST_HELD: usize = 64;
/// A process that ends while it is looked at is read again, so often.
const TRIES: u32 = 3;
/// How long one that is exiting is waited for.
const EXITING: Duration = Duration::from_millis(200);

/// A process that is held.
#[derive(Clone)]
pub(super) struct Held {
    key: ProcessKey,
    inode: Option<u64>,
    pub(super) reach: Reach,
    way: Way,
}

/// By what a process is held.
#[derive(Clone)]
pub(super) enum Reach {
    /// By a descriptor that is no other process's, ever.
    Pidfd(Arc<OwnedFd>),
    /// By its pid alone: the kernel has no pidfds.
    Pid,
}

/// Why a process cannot be held.
enum Unheld {
    /// It has ended: nothing there, or whoever is there is another.
    Ended,
    /// Another has its pid.
    Replaced,
    /// The call failed.
    Failed(String),
}

/// What is found under a pid.
enum Found {
    Nothing,
    Another,
    Process(Box<Process>, Stage),
}

/// How far a process is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// It has given up its memory, and with it argv, and has not exited yet.
    Exiting,
    /// It has exited.
    Zombie,
}

impl Stage {
    fn of(stat: &Stat) -> Self {
        if stat.has_exited() {
            Self::Zombie
        } else if stat.exiting() {
            Self::Exiting
        } else {
            Self::Running
        }
    }
}

/// Looks at processes.
pub(in crate::platform::linux) struct Looker {
    proc_root: PathBuf,
    reader: Reader,
    users: Users,
    units: Units,
    pidfds: Pidfds,
    /// Oldest first.
    held: Vec<Held>,
}

impl Looker {
    /// Nothing is held yet. The pidfds are those that the source keeps.
    pub(in crate::platform::linux) fn new(
        proc_root: PathBuf,
        users: Users,
        units: Units,
        pidfds: Pidfds,
    ) -> Result<Self, SourceError> {
        Ok(Self {
            reader: Reader::open(&proc_root)?,
            proc_root,
            users,
            units,
            pidfds,
            held: Vec::new(),
        })
    }

    /// Looks at a process anew, and holds it where it is the one that was seen.
    pub(super) fn look(&mut self, target: &Target) -> Look {
        self.users.refresh();
        let at = clock::wall();
        let look = |standing, way| Look { at, standing, way };
        if let Some(why) = self.foreign() {
            return look(Standing::Unread(why), Way::NewPidfd);
        }
        if let Some(held) = self.held(target) {
            return look(self.examine(target, &held), held.way);
        }
        match self.hold(target) {
            Ok(held) => {
                let standing = self.examine(target, &held);
                let way = held.way;
                if matches!(standing, Standing::Same(_) | Standing::Changed(..)) {
                    self.keep(held);
                }
                look(standing, way)
            }
            Err(unheld) => look(self.without(target.key, unheld), Way::NewPidfd),
        }
    }

    /// Returns what holds a target.
    pub(super) fn held(&self, target: &Target) -> Option<Held> {
        let fits = |held: &&Held| held.key == target.key && agree(held.inode, target.pidfd_inode);
        self.held.iter().find(fits).cloned()
    }

    /// Returns why a process is never signalled, whatever a plan says.
    pub(super) fn refusal(&mut self, pid: Pid) -> Option<String> {
        if pid == Pid::INIT {
            return Some("pid 1 is never signalled: everything else depends on it".to_owned());
        }
        let Some(own) = Pid::new(i64::from(std::process::id())) else {
            return Some("the pid of mcpwake itself is not known".to_owned());
        };
        if pid == own {
            return Some("it is mcpwake itself".to_owned());
        }
        let parent_of = |pid| self.stat(pid).ok().flatten().and_then(|stat| stat.ppid);
        host::ancestors(own, parent_of)
            .contains(&pid)
            .then(|| format!("{pid} is an ancestor of mcpwake: its end would end this session"))
    }

    /// Tells what has become of a target. It is only the same where what holds it was opened of it, and
    /// has not ended after everything was read.
    pub(super) fn examine(&mut self, target: &Target, held: &Held) -> Standing {
        if !agree(held.inode, target.pidfd_inode) {
            return Standing::Replaced;
        }
        for _ in 0..TRIES {
            let read = self.read(target.key);
            let lives = match self.lives(held) {
                Ok(lives) => lives,
                Err(why) => return Standing::Unread(why),
            };
            match (read, lives) {
                (Err(why), _) => return Standing::Unread(why),
                (Ok(Found::Another), _) => return Standing::Replaced,
                (Ok(Found::Nothing), false) => return Standing::Gone,
                (Ok(Found::Nothing), true) => return Standing::Unread(self.hidden(target.key.pid)),
                (Ok(Found::Process(mut process, stage)), lives) => match (stage, lives) {
                    (Stage::Running, true) => {
                        process.pidfd_inode = held.inode;
                        return compare(target, *process, own_uid());
                    }
                    (Stage::Zombie, false) => {
                        process.pidfd_inode = held.inode;
                        return Standing::Same(process);
                    }
                    (Stage::Zombie, true) => {
                        return Standing::Unread(format!(
                            "the main thread of {} has exited and others run on: its argument vector cannot be compared",
                            target.key.pid
                        ));
                    }
                    (Stage::Exiting, true) => wait_for_end(held),
                    // It ended while it was read: what is there now is told by the next try.
                    (Stage::Running | Stage::Exiting, false) => {}
                },
            }
        }
        self.in_the_end(target.key, held)
    }

    /// Returns what waits for the end of a target.
    pub(super) fn watch(&self, target: &Target) -> Box<dyn Watch> {
        match self.held(target).map(|held| held.reach) {
            Some(Reach::Pidfd(file)) => Box::new(ByPidfd(file)),
            Some(Reach::Pid) | None => Box::new(ByStat {
                proc_root: self.proc_root.clone(),
                key: target.key,
            }),
        }
    }

    /// After the last try: what held it ended before it, so whoever is there now is another; or it is
    /// still exiting.
    fn in_the_end(&mut self, key: ProcessKey, held: &Held) -> Standing {
        match self.lives(held) {
            Ok(true) => Standing::Unread(format!("{} is exiting: look again", key.pid)),
            Ok(false) => self.without(key, Unheld::Ended),
            Err(why) => Standing::Unread(why),
        }
    }

    /// Finds what holds a target: the pidfd that is kept of it, or a new one.
    fn hold(&self, target: &Target) -> Result<Held, Unheld> {
        let key = target.key;
        if let Some(kept) = self.pidfds.kept(key)
            && agree(kept.inode, target.pidfd_inode)
        {
            // One that was opened after the target was seen proves no more than a new one.
            let since_seen = kept.inode == target.pidfd_inode;
            return Ok(Held {
                key,
                inode: kept.inode,
                reach: Reach::Pidfd(kept.file),
                way: if since_seen { Way::KeptPidfd } else { Way::NewPidfd },
            });
        }
        if self.pidfds.has_ended(key) {
            return Err(Unheld::Ended);
        }
        let held = |reach, inode, way| Held {
            key,
            inode,
            reach,
            way,
        };
        match self.pidfds.open(key.pid) {
            Ok(opened) => Ok(held(Reach::Pidfd(opened.file), opened.inode, Way::NewPidfd)),
            // The call itself never refuses: EPERM is a filter's (seccomp(2)) that does not know it.
            Err(Errno::NOSYS | Errno::PERM) => Ok(held(Reach::Pid, None, Way::Kill)),
            Err(Errno::SRCH) => Err(Unheld::Ended),
            // The number is a thread's of another process.
            Err(Errno::INVAL | Errno::NOENT) => Err(Unheld::Replaced),
            Err(errno) => Err(Unheld::Failed(format!(
                "pidfd_open {}: {errno}; raise the limit on open files (ulimit -n), or start anew",
                key.pid
            ))),
        }
    }

    fn keep(&mut self, held: Held) {
        let same = |known: &Held| known.key == held.key && known.inode == held.inode;
        self.held.retain(|known| !same(known));
        if self.held.len() >= MOST_HELD {
            self.held.remove(0);
        }
        self.held.push(held);
    }

    /// Tells what has become of a process that nothing holds.
    fn without(&mut self, key: ProcessKey, unheld: Unheld) -> Standing {
        match unheld {
            Unheld::Replaced => Standing::Replaced,
            Unheld::Failed(why) => Standing::Unread(why),
            Unheld::Ended => match self.stat(key.pid) {
                Ok(None) => Standing::Gone,
                Ok(Some(_)) => Standing::Replaced,
                Err(why) => Standing::Unread(why),
            },
        }
    }

    /// Returns whether what is held has not exited yet.
    fn lives(&mut self, held: &Held) -> Result<bool, String> {
        match &held.reach {
            Reach::Pidfd(file) => has_exited(file, Duration::ZERO)
                .map(|exited| !exited)
                .map_err(|errno| format!("poll the pidfd of {}: {errno}; look again", held.key.pid)),
            Reach::Pid => Ok(self
                .stat(held.key.pid)?
                .is_some_and(|stat| stat.start == held.key.start && !stat.has_exited())),
        }
    }

    /// Reads the process that has a pid now, in full where it has the start time too.
    fn read(&mut self, key: ProcessKey) -> Result<Found, String> {
        let Some(stat) = self.stat(key.pid)? else {
            return Ok(Found::Nothing);
        };
        if stat.start != key.start {
            return Ok(Found::Another);
        }
        let visit = Visit::first(&mut self.reader, key.pid);
        let mut fresh = Fresh {
            reader: &mut self.reader,
            users: &self.users,
            units: self.units,
            visit,
            passed_ns: 0,
        };
        let entry = fresh.entry(&stat, None);
        let mut process = Arc::unwrap_or_clone(entry.process);
        process.signals = match self.reader.record(key.pid, "status") {
            Ok(text) => closer_status(text)
                .signals
                .map_or(Reading::Unsupported, Reading::Value),
            Err(errno) => absent(errno, key.pid, "status"),
        };
        // The stage is that of the end: memory that was given up in between reads as empty.
        let Some(after) = self.stat(key.pid)? else {
            return Ok(Found::Nothing);
        };
        if after.start != key.start {
            return Ok(Found::Another);
        }
        let stage = Stage::of(&after);
        if stage != Stage::Running {
            process.state = after.state;
            process.stat = after.marks(false);
        }
        Ok(Found::Process(Box::new(process), stage))
    }

    /// Reads the line of whoever has a pid now; `None`: nobody.
    fn stat(&mut self, pid: Pid) -> Result<Option<Stat>, String> {
        let root = self.proc_root.display();
        match self.reader.record(pid, "stat") {
            Ok(line) => Stat::parse(line)
                .map(Some)
                .ok_or_else(|| format!("{root}/{pid}/stat was not understood")),
            Err(errno) => match absence(errno) {
                Absence::Gone => Ok(None),
                Absence::Denied => Err(format!("read {root}/{pid}/stat: {errno}; {}", to_read(own_uid()))),
                Absence::Unsupported | Absence::Failed => {
                    Err(format!("read {root}/{pid}/stat: {errno}; look again"))
                }
            },
        }
    }

    fn hidden(&self, pid: Pid) -> String {
        let root = self.proc_root.display();
        format!(
            "{pid} lives, and {root} does not show it (hidepid): {}",
            to_read(own_uid())
        )
    }

    /// Pids are those of the proc file system, and the calls take those of this process's own namespace:
    /// where the two are not the same, a number means two processes.
    fn foreign(&mut self) -> Option<String> {
        let own = Pid::new(i64::from(std::process::id()))?;
        let shown = host::own_pid(&self.reader);
        let depth = self
            .reader
            .record(shown, "status")
            .ok()
            .and_then(|text| closer_status(text).namespace_pids)
            .map_or(1, |pids| pids.len());
        (shown != own || depth != 1).then(|| {
            let root = self.proc_root.display();
            format!("{root} shows the pids of another pid namespace: start mcpwake within that one")
        })
    }
}

/// Waits, not for long, for one that is on its way out.
fn wait_for_end(held: &Held) {
    if let Reach::Pidfd(file) = &held.reach {
        // Whether it came is read again.
        let _ = has_exited(file, EXITING);
    }
}

/// The user id that this program reads with.
fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns whether two inodes may be of one process: those that are known are the same.
fn agree(one: Option<u64>, other: Option<u64>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}
