//! What may hold the other end of a wire without a descriptor in a process's own table: the tables that
//! threads have for themselves, the files registered with an `io_uring`, descriptors in flight in a unix socket.
//!
//! Looked for only while an end is missing: a process of interest reads from a pipe that nobody has open for
//! writing, or talks on a nameless socket whose peer nobody has open. Threads cost as much as processes,
//! so what was found of them is used again: an end that nobody had at all cannot come back, but by a process
//! that was not looked into. After two looks through all of them they are looked at in turns, the rest once in
//! a while.

use std::collections::{BTreeMap, BTreeSet};

use super::holders::{Found, Link, Search, hash};
use super::parse::unlisted::{Registered, in_flight, lists_rings_whole, registered};
use super::reader::{Folder, Reader, absence};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Hold, Target, Unlisted};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::model::sample::Sample;
use crate::model::socket::{UnixKind, UnixSocket};

/// Looks through all threads before they are looked at in turns: two, since an end can be handed on while a
/// look is under way.
const LOOKS: u32 = 2;
/// The threads of a process are then looked at once in so many looks.
const ROTATION: u64 = 64;
/// Rings and sockets are.
const SELDOM: u64 = 16;
/// Most tables of threads that one look reads; the others come next.
const MOST_TABLES: u32 = 4096;
/// A ring that is at work is asked again so often.
const TRIES: u32 = 3;

/// The ends that nobody was found to hold.
#[derive(Debug, Default)]
pub(super) struct Missing {
    /// Inodes of pipes, FIFOs and peers of sockets.
    inodes: BTreeSet<u64>,
    /// Those of them that have a path.
    fifos: BTreeMap<OsBytes, u64>,
    users: BTreeSet<u32>,
    sessions: BTreeSet<Pid>,
}

impl Missing {
    /// Collects what the processes of interest read from and nobody was found to write to.
    pub(super) fn of(sample: &Sample, closely: &BTreeSet<ProcessKey>, found: &Found) -> Self {
        let mut missing = Self::default();
        for process in closely.iter().filter_map(|key| sample.get(*key)) {
            let descriptors = process.descriptors.value().into_iter().flatten();
            let mut misses = false;
            for one in descriptors {
                let reads = one.access == Reading::Value(Access::Read);
                let lost = match &one.target {
                    Target::Pipe { inode } | Target::Fifo { inode, .. } if reads => {
                        has_no_writer(found, *inode).then_some(*inode)
                    }
                    Target::Socket { inode } => lost_peer(sample, found, *inode),
                    _ => None,
                };
                misses |= lost.is_some();
                missing.inodes.extend(lost);
                if let (Some(inode), Target::Fifo { path, .. }) = (lost, &one.target) {
                    missing.fifos.insert(path.clone(), inode);
                }
            }
            if misses {
                missing.users.extend(process.uid.value());
                missing.sessions.extend(process.sid);
            }
        }
        missing
    }

    /// Whether every end has a holder.
    pub(super) fn is_empty(&self) -> bool {
        self.inodes.is_empty()
    }

    /// Returns who may hold them: processes of the same users and sessions, and those of interest, among
    /// which are ancestors and clients. Which of them count for an end is for the judgement to say.
    pub(super) fn suspects<'s>(
        &self,
        sample: &'s Sample,
        closely: &BTreeSet<ProcessKey>,
    ) -> Vec<&'s Process> {
        let all = sample.processes.values().map(AsRef::as_ref);
        let living = all.filter(|process| !process.kernel_thread && !process.is_zombie());
        let close = |process: &&Process| {
            let user = process.uid.value();
            user.is_some_and(|user| self.users.contains(user))
                || process
                    .sid
                    .is_some_and(|session| self.sessions.contains(&session))
                || closely.contains(&process.key)
        };
        living.filter(close).collect()
    }

    fn hit_by(&self, link: Link) -> bool {
        match link {
            Link::Pipe(inode) | Link::Socket(inode) => self.inodes.contains(&inode),
            Link::Path(path) => self.fifos.keys().any(|fifo| hash(fifo.as_bytes()) == path),
            Link::Master(_) | Link::Ring => false,
        }
    }

    /// A FIFO is shown with its path, by kernels before 6.14 with the last part of it.
    fn named(&self, name: &[u8]) -> Option<u64> {
        let mut fifos = self.fifos.iter();
        let same = fifos.find(|(path, _)| path.as_bytes() == name || path.basename() == name);
        same.map(|(_, inode)| *inode)
    }
}

fn has_no_writer(found: &Found, inode: u64) -> bool {
    let holders = found.holders.get(&inode);
    holders.is_some_and(|holders| !holders.iter().any(|holder| holder.access.writes()))
}

/// Returns the peer of a socket as a client makes it for a server, where nobody has it open.
fn lost_peer(sample: &Sample, found: &Found, inode: u64) -> Option<u64> {
    let sockets = &sample.sockets.value()?.unix;
    let own = sockets.get(&inode)?;
    let peer = own.peer.filter(|peer| *peer != 0)?;
    let nameless = |socket: &UnixSocket| socket.path.is_none() && socket.kind == UnixKind::Stream;
    let alone = found.holders.get(&peer).is_some_and(Vec::is_empty);
    (alone && nameless(own) && sockets.get(&peer).is_none_or(nameless)).then_some(peer)
}

/// What is kept between two looks.
#[derive(Default)]
pub(super) struct Unlisting {
    round: u64,
    /// How often all threads were looked at, by missing end.
    looks: BTreeMap<u64, u32>,
    /// The look through all threads that is under way.
    pass: Pass,
    /// Processes whose threads were left out this time, with how many.
    unread: Vec<(ProcessKey, u32)>,
    /// Whether rings and sockets are looked at this time.
    due: bool,
    /// Whether something was found last time that may hold an end.
    suspicious: bool,
}

/// A look through the threads of all suspects, spread over samples where there are very many.
#[derive(Default)]
struct Pass {
    inodes: BTreeSet<u64>,
    left: BTreeSet<ProcessKey>,
}

impl Unlisting {
    /// Nothing is missing: forgets what was.
    pub(super) fn rest(&mut self) {
        *self = Self {
            round: self.round,
            ..Self::default()
        };
    }

    /// Looks through the threads of the suspects, as far as it is due. Returns whether one was found that has
    /// a missing end.
    pub(super) fn threads(
        &mut self,
        reader: &mut Reader,
        search: &mut Search,
        missing: &Missing,
        suspects: &[&Process],
    ) -> bool {
        self.round += 1;
        self.unread.clear();
        self.looks.retain(|inode, _| missing.inodes.contains(inode));
        let several: Vec<&Process> = suspects
            .iter()
            .copied()
            .filter(|process| process.threads > 1)
            .collect();
        self.begin(missing, &several);
        let mut room = MOST_TABLES;
        let mut hit = false;
        for process in several {
            let key = process.key;
            let turn = (self.round + u64::from(key.pid.get())).is_multiple_of(ROTATION);
            if !(turn || self.pass.left.contains(&key)) {
                continue;
            }
            let Some(rest) = room.checked_sub(process.threads) else {
                if self.pass.left.contains(&key) {
                    self.unread.push((key, process.threads));
                }
                continue;
            };
            room = rest;
            let threads = search.look_through_threads(reader, process, |link| missing.hit_by(link));
            hit |= threads.hit;
            if threads.unread == 0 {
                self.pass.left.remove(&key);
            } else {
                self.unread.push((key, threads.unread));
            }
        }
        if self.pass.left.is_empty() {
            for inode in std::mem::take(&mut self.pass.inodes) {
                *self.looks.entry(inode).or_default() += 1;
            }
        }
        hit
    }

    /// Begins a look through all, where the one under way is over or was begun before an end was missing.
    fn begin(&mut self, missing: &Missing, several: &[&Process]) {
        let unsettled: BTreeSet<u64> = missing
            .inodes
            .iter()
            .copied()
            .filter(|inode| !self.is_settled(*inode))
            .collect();
        let all: BTreeSet<ProcessKey> = several.iter().map(|process| process.key).collect();
        self.pass.left.retain(|key| all.contains(key));
        self.due = !unsettled.is_empty() || self.suspicious || self.round.is_multiple_of(SELDOM);
        if unsettled.is_empty() {
            self.pass = Pass::default();
        } else if self.pass.left.is_empty() || !unsettled.is_subset(&self.pass.inodes) {
            self.pass = Pass {
                inodes: unsettled,
                left: all,
            };
        }
    }

    fn is_settled(&self, inode: u64) -> bool {
        self.looks.get(&inode).is_some_and(|looks| *looks >= LOOKS)
    }

    /// Returns what may hold a missing end, beside the tables of threads that were found.
    pub(super) fn beside(&mut self, place: &mut Place<'_>) -> Vec<Unlisted> {
        let unread = self.unread.iter().map(|(process, unread)| Unlisted {
            process: *process,
            how: Hold::Threads { unread: *unread },
        });
        let mut unlisted: Vec<Unlisted> = unread.collect();
        if !self.due {
            return unlisted;
        }
        let before = unlisted.len();
        place.rings(&mut unlisted);
        place.queues(&mut unlisted);
        let suspicious = unlisted.len() > before;
        if self.suspicious && !suspicious {
            // What was in flight has arrived: at a thread perhaps that has been looked at before.
            self.looks.clear();
        }
        self.suspicious = suspicious;
        unlisted
    }

    /// Returns whether rings and sockets are to be looked at this time.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }
}

/// Where rings and sockets are looked at.
pub(super) struct Place<'a> {
    pub(super) reader: &'a mut Reader,
    pub(super) search: &'a Search,
    pub(super) sample: &'a Sample,
    pub(super) missing: &'a Missing,
    pub(super) suspects: &'a [&'a Process],
    /// The unix sockets as they are now; `None` where there is no dump.
    pub(super) unix: Option<BTreeMap<u64, UnixSocket>>,
}

impl Place<'_> {
    fn rings(&mut self, unlisted: &mut Vec<Unlisted>) {
        let whole = lists_rings_whole(&self.sample.host.kernel);
        for (process, folder, table) in self.search.tables() {
            for (fd, _) in table.iter().filter(|(_, link)| *link == Link::Ring) {
                let fd = *fd;
                let Some(files) = ring(self.reader, folder, fd, whole) else {
                    unlisted.push(Unlisted {
                        process,
                        how: Hold::Ring { fd },
                    });
                    continue;
                };
                let mut holds: Vec<Hold> = files
                    .iter()
                    .filter_map(|file| self.missing.registered(file, fd))
                    .collect();
                holds.dedup();
                unlisted.extend(holds.into_iter().map(|how| Unlisted { process, how }));
            }
        }
    }

    /// Descriptors wait at the socket that they were sent to: one of a suspect, or one whose other end a
    /// suspect has. A stream socket with nothing to read has none.
    fn queues(&mut self, unlisted: &mut Vec<Unlisted>) {
        let mut senders = self.waiting();
        for (process, folder, table) in self.search.tables() {
            for (fd, link) in table {
                let Link::Socket(inode) = link else { continue };
                let Some(sender) = senders.get(inode).copied() else {
                    continue;
                };
                let Ok(text) = self.reader.fdinfo(folder, *fd) else {
                    continue;
                };
                senders.remove(inode);
                if let Some(count) = in_flight(text).filter(|count| *count > 0) {
                    unlisted.push(Unlisted {
                        process,
                        how: Hold::InFlight {
                            fd: *fd,
                            count,
                            sender,
                        },
                    });
                }
            }
        }
    }

    /// Returns the sockets that may have something in their queue, each with a suspect that has the other end.
    fn waiting(&self) -> BTreeMap<u64, Option<ProcessKey>> {
        let suspects: BTreeSet<ProcessKey> = self.suspects.iter().map(|process| process.key).collect();
        let inet = self.sample.sockets.value().map(|sockets| &sockets.inet);
        let queued = |socket: &UnixSocket| socket.kind != UnixKind::Stream || socket.unread != Some(0);
        let mut waiting: BTreeMap<u64, Option<ProcessKey>> = BTreeMap::new();
        for (process, _, table) in self.search.tables().filter(|(key, ..)| suspects.contains(key)) {
            for (_, link) in table {
                let Link::Socket(inode) = *link else { continue };
                let Some(unix) = &self.unix else {
                    waiting.insert(inode, None);
                    continue;
                };
                let Some(socket) = unix.get(&inode) else {
                    // Of another network namespace, or none of a kind that takes descriptors.
                    if !inet.is_some_and(|inet| inet.contains_key(&inode)) {
                        waiting.entry(inode).or_default();
                    }
                    continue;
                };
                if queued(socket) {
                    waiting.entry(inode).or_default();
                }
                let peer = socket.peer.filter(|peer| unix.get(peer).is_some_and(queued));
                if let Some(peer) = peer {
                    waiting.entry(peer).or_default().get_or_insert(process);
                }
            }
        }
        waiting
    }
}

impl Missing {
    /// Returns how a ring holds a missing end by a file that is registered with it.
    fn registered(&self, file: &Registered, fd: u32) -> Option<Hold> {
        let inode = match file {
            Registered::Pipe(inode) | Registered::Socket(inode) => {
                self.inodes.contains(inode).then_some(*inode)?
            }
            Registered::Named(name) => self.named(name)?,
            Registered::Nameless => return Some(Hold::Ring { fd }),
        };
        Some(Hold::Registered { fd, inode })
    }
}

/// Returns the files of a ring; `None` where they were not told.
fn ring(reader: &mut Reader, folder: Folder, fd: u32, whole: bool) -> Option<Vec<Registered>> {
    for _ in 0..TRIES {
        match reader.whole_fdinfo(folder, fd) {
            Ok(text) => {
                if let Some(files) = registered(text, whole) {
                    return Some(files);
                }
            }
            Err(errno) if absence(errno) == Absence::Gone => return Some(Vec::new()),
            Err(_) => {}
        }
    }
    None
}
