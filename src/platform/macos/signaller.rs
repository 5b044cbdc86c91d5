//! Signals on a system without pidfds: to a pid, after everything that identifies its process was read once more.
//!
//! Start time, unique id, argv and program file are compared with what was seen, and the unique id is read again
//! after them. Between that and `kill`(2) lie some microseconds in which the process could end and its pid be given
//! to another. The kernel counts pids up to a hundred thousand before it begins anew, so it would take that many
//! new processes in that time; the journal says which way was used.

use std::time::Duration;

use rustix::io::Errno;

use super::decode::process::{self, Listed};
use super::kernel::{Kernel, absence};
use super::table::{self, Table};
use super::users::Users;
use crate::model::act::{Look, Sent, Signal, Standing, Target, Way};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::reading::Absence;
use crate::platform::ancestry::ancestors;
use crate::platform::compare::compare;
use crate::platform::permission::{not_permitted, unannounced, withheld};
use crate::platform::{Signaller, Watch};
use crate::store::Receipt;

/// What it means where root is refused.
const EVEN_ROOT: &str = "the system protects it even from root";

/// Most targets whose look is remembered: three dialogs of twenty. The oldest is forgotten first.
const MOST_HELD: usize = 64;

/// Sends signals, and waits for ends.
pub(super) trait Sends: Send {
    /// `kill`(2).
    fn kill(&self, pid: Pid, signal: Signal) -> Result<(), Errno>;
}

/// Makes what waits for the end of a process with this unique id.
pub(super) type Watches = fn(ProcessKey, Option<u64>) -> Box<dyn Watch>;

/// Looks, and sends where it has something to send with.
pub struct MacosSignaller {
    kernel: Box<dyn Kernel>,
    users: Users,
    /// What was looked at, with its unique id; oldest first.
    held: Vec<(ProcessKey, u64)>,
    sends: Option<Box<dyn Sends>>,
    watches: Watches,
}

/// What is found under a pid.
enum Found {
    Nothing,
    Another,
    Process(Box<Process>, u64),
    Exiting,
}

impl MacosSignaller {
    /// Without `sends` it looks only.
    pub(super) fn new(kernel: Box<dyn Kernel>, sends: Option<Box<dyn Sends>>, watches: Watches) -> Self {
        Self {
            kernel,
            users: Users::default(),
            held: Vec::new(),
            sends,
            watches,
        }
    }

    fn held(&self, target: &Target) -> Option<u64> {
        let fits = |(key, unique): &&(ProcessKey, u64)| {
            *key == target.key && target.pidfd_inode.is_none_or(|seen| seen == *unique)
        };
        self.held.iter().find(fits).map(|(_, unique)| *unique)
    }

    fn keep(&mut self, key: ProcessKey, unique: u64) {
        self.held.retain(|known| *known != (key, unique));
        if self.held.len() >= MOST_HELD {
            self.held.remove(0);
        }
        self.held.push((key, unique));
    }

    /// Tells what has become of a target. `unique` is what it must have, where that is known.
    fn examine(&mut self, target: &Target, unique: Option<u64>) -> Standing {
        match self.read(target.key) {
            Err(why) => Standing::Unread(why),
            Ok(Found::Nothing) => Standing::Gone,
            Ok(Found::Another) => Standing::Replaced,
            Ok(Found::Exiting) => Standing::Unread(format!("{} is exiting: look again", target.key.pid)),
            Ok(Found::Process(_, now)) if unique.is_some_and(|seen| seen != now) => Standing::Replaced,
            Ok(Found::Process(process, _)) if process.is_zombie() => Standing::Same(process),
            Ok(Found::Process(process, _)) => compare(target, *process, self.kernel.own().uid),
        }
    }

    /// Reads the process that has a pid now, in full where it has the start time too.
    fn read(&mut self, key: ProcessKey) -> Result<Found, String> {
        let kernel = self.kernel.as_mut();
        let listed = match find(kernel, key.pid)? {
            None => return Ok(Found::Nothing),
            Some(listed) if listed.key != key => return Ok(Found::Another),
            Some(listed) if listed.exiting() && !listed.zombie() => return Ok(Found::Exiting),
            Some(listed) => listed,
        };
        let before = unique_id(kernel, key.pid)?;
        let mut process = Table::new(kernel.timebase()).one(kernel, &mut self.users, &listed);
        // Read by pid: it was one process all the time only if it is the same at the end.
        let after = unique_id(kernel, key.pid)?;
        match (before, after) {
            (Some(before), Some(after)) if before == after => {
                process.pidfd_inode = Some(after);
                Ok(Found::Process(Box::new(process), after))
            }
            (_, None) => Ok(Found::Nothing),
            _ => Ok(Found::Another),
        }
    }

    /// Returns why a process is never signalled, whatever a plan says.
    fn refusal(&mut self, pid: Pid) -> Option<String> {
        if pid == Pid::INIT {
            return Some("pid 1 is never signalled: everything else depends on it".to_owned());
        }
        let own = self.kernel.own().pid;
        if pid == own {
            return Some("it is mcpwake itself".to_owned());
        }
        let all = match self.kernel.processes() {
            Ok(answer) => process::listed(&answer).collect::<Vec<_>>(),
            Err(errno) => {
                return Some(format!(
                    "sysctl kern.proc.all: {errno}: its own ancestors are not known"
                ));
            }
        };
        let parent_of = |pid| all.iter().find(|one| one.key.pid == pid)?.ppid;
        ancestors(own, parent_of)
            .contains(&pid)
            .then(|| format!("{pid} is an ancestor of mcpwake: its end would end this session"))
    }

    fn deliver(&mut self, process: &Process, signal: Signal) -> Sent {
        let pid = process.key.pid;
        let Some(sends) = &self.sends else {
            return withheld(
                "this run is read-only, it has nothing to send a signal with; start without --read-only",
            );
        };
        match sends.kill(pid, signal) {
            Ok(()) => Sent::Accepted,
            Err(Errno::SRCH) => Sent::Withheld(Standing::Gone),
            Err(Errno::PERM) => {
                let own = self.kernel.own().uid;
                Sent::Refused(not_permitted("kill", process, own, EVEN_ROOT))
            }
            Err(errno) => Sent::Refused(format!("kill {pid}: {errno}")),
        }
    }
}

impl Signaller for MacosSignaller {
    fn look(&mut self, target: &Target) -> Look {
        let at = self.kernel.clocks().wall();
        let unique = self.held(target).or(target.pidfd_inode);
        let standing = self.examine(target, unique);
        if let Standing::Same(process) | Standing::Changed(process, _) = &standing
            && let Some(unique) = process.pidfd_inode
        {
            self.keep(target.key, unique);
        }
        Look {
            at,
            standing,
            way: Way::Kill,
        }
    }

    fn send(&mut self, target: &Target, signal: Signal, receipt: Receipt) -> Sent {
        if let Some(nothing) = unannounced(receipt, signal, target) {
            return nothing;
        }
        if let Some(why) = self.refusal(target.key.pid) {
            return withheld(&why);
        }
        let Some(unique) = self.held(target) else {
            return withheld("it was not looked at before: look at it first");
        };
        match self.examine(target, Some(unique)) {
            Standing::Same(process) if process.kernel_thread => {
                withheld("it is a process of the kernel, which takes no signals")
            }
            Standing::Same(process) if !process.is_zombie() => self.deliver(&process, signal),
            other => Sent::Withheld(other),
        }
    }

    fn watch(&self, target: &Target) -> Box<dyn Watch> {
        (self.watches)(target.key, self.held(target).or(target.pidfd_inode))
    }
}

/// Waits for nothing that could be told: has seen an end, or none.
pub(super) struct Told(pub(super) bool);

impl Watch for Told {
    fn exited(&self, _patience: Duration) -> bool {
        self.0
    }
}

/// Returns whoever has a pid now.
fn find(kernel: &mut dyn Kernel, pid: Pid) -> Result<Option<Listed>, String> {
    let answer = kernel
        .processes()
        .map_err(|errno| format!("sysctl kern.proc.all: {errno}; look again"))?;
    let found = process::listed(&answer).find(|one| one.key.pid == pid);
    Ok(found)
}

/// Returns the unique id of whoever has a pid now; `None`: nobody.
fn unique_id(kernel: &mut dyn Kernel, pid: Pid) -> Result<Option<u64>, String> {
    match table::read_unique(kernel, pid) {
        Ok(unique) => Ok(Some(unique.id)),
        Err(errno) if absence(errno) == Absence::Gone => Ok(None),
        Err(errno) => Err(format!(
            "proc_pidinfo PROC_PIDUNIQIDENTIFIERINFO of {pid}: {errno}; look again"
        )),
    }
}
