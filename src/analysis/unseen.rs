//! Who might hold the other end of a pipe without being seen: absence is said only where nobody is hidden.

use crate::model::descriptor::{Hold, Unlisted};
use crate::model::host::Lack;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::reading::Absence;

use super::court::Court;
use super::finding::Case;
use super::lineage;
use super::wire::{self, WireEnd};

/// Names of the ssh daemon's processes: since OpenSSH 9.8 those of a login are a program of their own.
const SSH_DAEMON: [&[u8]; 2] = [b"sshd", b"sshd-session"];

/// Somebody who may hold the other end of a pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// Code of the fact.
    pub(crate) code: &'static str,
    /// Who, and what would help: goes on after "but".
    pub(crate) who: String,
    /// Path or call that it was read from.
    pub(crate) source: String,
    /// Whether a second look can tell.
    pub(crate) passes: bool,
}

impl Court<'_> {
    /// Returns whether every process of the machine is in the list: only then one that is not there is gone.
    pub(crate) fn sees_all(&self) -> bool {
        self.sample.hidden == Some(0)
    }

    /// Returns what would let this program look into every process; goes on after "with".
    pub(crate) fn right_to_look(&self) -> &'static str {
        match self.sample.lack() {
            Lack::Root => "root's rights",
            Lack::Capability => "more capabilities than this root has",
            Lack::Exempt => "rights that the system denies even to root",
        }
    }
}

impl Case<'_, '_> {
    /// Returns who may hold the other end of a pipe beside those that were found. The kernel itself tells
    /// whether a socket has another end.
    pub(crate) fn unseen_holder(&self, end: WireEnd) -> Option<Unseen> {
        if end.socket {
            return None;
        }
        if !self.court.sees_all() {
            return Some(Unseen {
                code: "hidden_processes",
                who: format!(
                    "other users' processes are hidden here (hidepid): with {} they can be seen",
                    self.court.right_to_look()
                ),
                source: "/proc".to_owned(),
                passes: false,
            });
        }
        self.closed_suspect().or_else(|| self.outside_suspect(end))
    }

    /// Returns who may hold the other end that nobody was found to hold: unseen, or in sight and without a
    /// descriptor.
    pub(crate) fn unfound_holder(&self, end: WireEnd) -> Option<Unseen> {
        self.unseen_holder(end).or_else(|| self.unlisted_holder(end))
    }

    /// Returns who may hold the other end without a descriptor of its own on it.
    pub(crate) fn unlisted_holder(&self, end: WireEnd) -> Option<Unseen> {
        let inode = wire::far_inode(self.court.sample, end)?;
        let server = self.chain.first()?;
        let unlisted = self.court.sample.unlisted.iter();
        let mut counts = unlisted.filter(|one| match one.how {
            Hold::Thread { .. } => false,
            Hold::Registered { inode: held, .. } => held == inode,
            Hold::Threads { .. } | Hold::Ring { .. } => self.may_hold(one.process, server),
            // Whoever receives it holds it; whoever sent it had it.
            Hold::InFlight { sender, .. } => {
                self.may_hold(one.process, server) || sender.is_some_and(|key| self.may_hold(key, server))
            }
        });
        counts.next().and_then(|one| self.tell_unlisted(one))
    }

    fn may_hold(&self, key: ProcessKey, server: &Process) -> bool {
        self.is_close(key, server) || self.court.is_client(key)
    }

    fn tell_unlisted(&self, one: &Unlisted) -> Option<Unseen> {
        let who = self.court.call(one.process);
        let pid = one.process.pid;
        let (code, who, fd) = match one.how {
            Hold::Thread { .. } => return None,
            Hold::Registered { fd, .. } => (
                "registered_file",
                format!(
                    "{who} has it registered with the io_uring on its fd {fd}: whether to write is not told"
                ),
                Some(fd),
            ),
            Hold::Ring { fd } => (
                "ring_not_listed",
                format!(
                    "{who} has files registered with the io_uring on its fd {fd}, and the kernel did not list them"
                ),
                Some(fd),
            ),
            Hold::InFlight { fd, count, .. } => {
                let waiting = match count {
                    1 => "there is 1 descriptor".to_owned(),
                    many => format!("there are {many} descriptors"),
                };
                (
                    "descriptors_in_flight",
                    format!(
                        "{waiting} in flight at the unix socket on fd {fd} of {who}: what is sent there is not told"
                    ),
                    Some(fd),
                )
            }
            Hold::Threads { unread } => (
                "threads_unread",
                format!(
                    "{unread} threads of {who}, which may have descriptors of their own, were not looked at"
                ),
                None,
            ),
        };
        Some(Unseen {
            code,
            who,
            source: fd.map_or_else(
                || format!("/proc/{pid}/task/*/fd"),
                |fd| format!("/proc/{pid}/fdinfo/{fd}"),
            ),
            passes: matches!(
                one.how,
                Hold::Ring { .. } | Hold::Threads { .. } | Hold::InFlight { .. }
            ),
        })
    }

    /// Returns the thread, and its descriptor, by which a holder has the other end, where that thread has a table
    /// of its own.
    pub(crate) fn by_thread(&self, holder: ProcessKey, end: WireEnd) -> Option<(u32, u32)> {
        let far = wire::far_inode(self.court.sample, end)?;
        let mut unlisted = self
            .court
            .sample
            .unlisted
            .iter()
            .filter(|one| one.process == holder);
        unlisted.find_map(|one| match one.how {
            Hold::Thread { thread, fd, inode } if inode == far => Some((thread, fd)),
            _ => None,
        })
    }

    /// Returns how many could not be looked into though none of them is close: goes on after "no process has
    /// it open".
    pub(crate) fn unread(&self) -> String {
        let unsearched = self.court.sample.unsearched.iter();
        match unsearched.filter(|one| one.why != Absence::Gone).count() {
            0 => String::new(),
            1 => ", as far as can be seen: 1 process, not close to it, could not be looked into".to_owned(),
            many => format!(
                ", as far as can be seen: {many} processes, none of them close to it, could not be looked into"
            ),
        }
    }

    /// A process that could not be looked into, and is close enough to hold the wire.
    fn closed_suspect(&self) -> Option<Unseen> {
        let server = self.chain.first()?;
        let suspect = self
            .court
            .sample
            .unsearched
            .iter()
            .find(|one| one.why != Absence::Gone && self.is_close(one.process, server))?;
        Some(Unseen {
            code: "unreadable_process",
            who: format!(
                "{} could not be looked into: with {} it can",
                self.court.call(suspect.process),
                self.court.right_to_look()
            ),
            source: format!("/proc/{}/fd", suspect.process.pid),
            passes: false,
        })
    }

    fn is_close(&self, key: ProcessKey, server: &Process) -> bool {
        let Some(process) = self.court.get(key) else {
            return false;
        };
        let same_user = process.uid.value().is_some() && process.uid == server.uid;
        let same_session = process.sid.is_some() && process.sid == server.sid;
        // The first process starts and adopts; only where it is a client itself, as in a container, does it talk.
        let talks = key.pid != Pid::INIT || self.court.is_client(key);
        !process.is_zombie()
            && talks
            && (same_user || same_session || self.is_ancestor(process.key.pid))
            && !self.is_later_login(process, server)
    }

    /// A login by ssh that began after the server: it was forked by the daemon of root, which never held the
    /// pipe, so it can have none of its ends. Without this an operator who is not root, and has come by
    /// ssh to look, could not tell of any pipe that nobody writes to it.
    fn is_later_login(&self, process: &Process, server: &Process) -> bool {
        let parent = self.court.tree.parent(process.key.pid);
        parent.is_some_and(|parent| {
            parent.uid.value() == Some(&0)
                && parent.key.pid != Pid::INIT
                && parent.comm == process.comm
                && SSH_DAEMON.contains(&process.comm.as_bytes())
        }) && process.key.start > server.key.start
    }

    /// An ancestor, but for the first process and who adopted the instance.
    fn is_ancestor(&self, pid: Pid) -> bool {
        let top = self.draft.top();
        let parent = self.court.tree.parent(top.pid);
        let adopter = parent.zip(self.court.get(top)).is_some_and(|(parent, top)| {
            parent.key.pid == pid && lineage::is_adopter(self.court, top, parent)
        });
        let mut ancestors = self.court.tree.ancestors(top.pid);
        pid != Pid::INIT && !adopter && ancestors.any(|ancestor| ancestor.key.pid == pid)
    }

    /// A pipe that came into this pid namespace from outside.
    fn outside_suspect(&self, end: WireEnd) -> Option<Unseen> {
        let holders = self.court.sample.holders.get(&end.inode)?;
        let outside = holders.iter().find(|holder| {
            self.court
                .get(holder.process)
                .is_some_and(|process| process.ppid.is_none() && !process.kernel_thread)
        })?;
        Some(Unseen {
            code: "outside_namespace",
            who: format!(
                "it came from outside this pid namespace with {}: one out there cannot be seen",
                self.court.call(outside.process)
            ),
            source: format!("/proc/{}/stat", outside.process.pid),
            passes: false,
        })
    }
}
