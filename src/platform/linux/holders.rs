//! Who has a descriptor on a pipe, socket, FIFO or pseudo-terminal master: a search through the
//! descriptors of all processes.
//!
//! The links of a process are kept while it has a single thread that has not run: it cannot have opened
//! or closed anything. Several threads, or a run since, mean reading them again. A process that shares
//! its table of descriptors without being a thread (`CLONE_FILES`) escapes that, so every process is read
//! anew in turns. The inodes that are wanted are looked up in one set: a pipe that thousands have
//! inherited costs one entry in each, not a search each.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::fd::AsFd as _;

use rustix::io::Errno;

use super::parse::descriptor::{bracketed, fdinfo};
use super::parse::stat::Stat;
use super::reader::{Folder, Reader, absence};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Holder};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::reading::Absence;
use crate::model::sample::Unsearched;

/// Every process is read anew once in so many searches, in turns.
const ROTATION: u64 = 64;

/// What is searched for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Inodes of pipes and sockets.
    pub(super) inodes: HashSet<u64>,
    /// FIFOs with a name: path and inode of the file.
    pub(super) fifos: BTreeMap<OsBytes, u64>,
    /// Numbers of pseudo-terminals whose master is searched.
    pub(super) terminals: HashSet<u32>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) holders: BTreeMap<u64, Vec<Holder>>,
    pub(super) terminal_masters: BTreeMap<u32, Vec<Holder>>,
    pub(super) unsearched: Vec<Unsearched>,
}

/// The links of all processes, as last read.
#[derive(Default)]
pub(super) struct Search {
    scans: BTreeMap<ProcessKey, Scan>,
    round: u64,
    numbers: Vec<u32>,
}

/// The links of one process.
struct Scan {
    /// Where they were read.
    folder: Folder,
    /// `schedstat` before they were read; `None` where they must be read again each time.
    unmoved: Option<[u64; 3]>,
    links: Result<Vec<(u32, Link)>, Errno>,
    /// Access modes of pipe ends that were wanted, by descriptor: they do not change.
    access: HashMap<u32, Access>,
    round: u64,
}

/// What a link leads to, as far as the search needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Pipe(u64),
    Socket(u64),
    /// The master of a pseudo-terminal, with the number of its slave.
    Master(Option<u32>),
    /// A path, by its hash: compared with the paths of FIFOs, then told by the inode in `fdinfo`.
    Path(u64),
}

impl Search {
    /// Searches all of `processes`. `unmoved` tells the `schedstat` of a process that can be trusted to
    /// show each of its runs.
    pub(super) fn run<'a>(
        &mut self,
        reader: &mut Reader,
        processes: impl Iterator<Item = &'a Process>,
        unmoved: impl Fn(Pid) -> Option<[u64; 3]>,
        wanted: &Wanted,
    ) -> Found {
        self.round += 1;
        let mut found = Found::default();
        found.holders.extend(
            wanted
                .inodes
                .iter()
                .chain(wanted.fifos.values())
                .map(|i| (*i, Vec::new())),
        );
        found
            .terminal_masters
            .extend(wanted.terminals.iter().map(|number| (*number, Vec::new())));
        let fifos = wanted
            .fifos
            .iter()
            .map(|(path, inode)| (hash(path.as_bytes()), *inode))
            .collect();
        let mut look = Look {
            reader,
            wanted,
            fifos,
            found,
            own_uid: rustix::process::geteuid().as_raw(),
        };
        for process in processes {
            // Neither has descriptors.
            if process.kernel_thread || process.is_zombie() {
                continue;
            }
            self.process(&mut look, process, unmoved(process.key.pid));
        }
        let round = self.round;
        self.scans.retain(|_, scan| scan.round == round);
        look.found
    }

    fn process(&mut self, look: &mut Look<'_>, process: &Process, unmoved: Option<[u64; 3]>) {
        let key = process.key;
        let turn = (self.round + u64::from(key.pid.get())).is_multiple_of(ROTATION);
        let current = |scan: &Scan| !turn && scan.unmoved.is_some() && scan.unmoved == unmoved;
        let fresh = !self.scans.get(&key).is_some_and(current);
        if fresh {
            let folder = look.reader.folder(key.pid, process.lost_main_thread());
            let links = folder
                .and_then(|folder| links(look.reader, folder, &mut self.numbers))
                .map_err(|errno| look.refusal(process, errno));
            let scan = Scan {
                folder: folder.unwrap_or(key.pid.into()),
                unmoved,
                links,
                access: HashMap::new(),
                round: 0,
            };
            self.scans.insert(key, scan);
        }
        let Some(scan) = self.scans.get_mut(&key) else {
            return;
        };
        match &scan.links {
            Ok(links) if links.iter().any(|(_, link)| look.wants(*link)) => {
                // Read by pid: only what still has the start time was this process's.
                if fresh && !look.is(key) {
                    return;
                }
                look.through((key, scan.folder), links, &mut scan.access);
            }
            Ok(_) => {}
            Err(errno) => match absence(*errno) {
                Absence::Gone => {}
                why => look.found.unsearched.push(Unsearched { process: key, why }),
            },
        }
        scan.round = self.round;
    }
}

/// One search under way.
struct Look<'a> {
    reader: &'a mut Reader,
    wanted: &'a Wanted,
    fifos: HashMap<u64, u64>,
    found: Found,
    own_uid: u32,
}

impl Look<'_> {
    fn wants(&self, link: Link) -> bool {
        match link {
            Link::Pipe(inode) | Link::Socket(inode) => self.wanted.inodes.contains(&inode),
            Link::Master(number) => number.is_some_and(|number| self.wanted.terminals.contains(&number)),
            Link::Path(path) => self.fifos.contains_key(&path),
        }
    }

    /// Returns why a process could not be searched. One that has ended, or is about to, can do nothing any
    /// more with what it may still have open for a moment: it is as good as gone.
    fn refusal(&mut self, process: &Process, errno: Errno) -> Errno {
        // Another user's is refused in any case.
        let expected = process
            .uid
            .value()
            .is_some_and(|uid| self.own_uid != 0 && *uid != self.own_uid);
        if !expected && absence(errno) == Absence::Denied && self.reader.has_ended(process.key) {
            return Errno::SRCH;
        }
        errno
    }

    fn is(&mut self, key: ProcessKey) -> bool {
        let stat = self.reader.record(key.pid, "stat").ok().and_then(Stat::parse);
        stat.is_some_and(|stat| stat.start == key.start)
    }

    fn through(
        &mut self,
        (key, folder): (ProcessKey, Folder),
        links: &[(u32, Link)],
        known: &mut HashMap<u32, Access>,
    ) {
        for (fd, link) in links {
            if !self.wants(*link) {
                continue;
            }
            let fd = *fd;
            match *link {
                Link::Socket(inode) => self.add(
                    inode,
                    Holder {
                        process: key,
                        fd,
                        access: Access::Both,
                    },
                ),
                Link::Pipe(inode) => {
                    let info = || fdinfo(self.reader.fdinfo(folder, fd).unwrap_or_default()).access;
                    if let Some(access) = known.get(&fd).copied().or_else(info) {
                        known.insert(fd, access);
                        self.add(
                            inode,
                            Holder {
                                process: key,
                                fd,
                                access,
                            },
                        );
                    }
                }
                Link::Path(path) => self.fifo((key, folder), fd, path),
                Link::Master(Some(number)) => {
                    let holder = Holder {
                        process: key,
                        fd,
                        access: Access::Both,
                    };
                    push(self.found.terminal_masters.entry(number).or_default(), holder);
                }
                Link::Master(None) => {}
            }
        }
    }

    fn fifo(&mut self, (key, folder): (ProcessKey, Folder), fd: u32, path: u64) {
        let Some(inode) = self.fifos.get(&path).copied() else {
            return;
        };
        let info = fdinfo(self.reader.fdinfo(folder, fd).unwrap_or_default());
        // The same path in another mount namespace, or of a file that was replaced, is another FIFO.
        if let (Some(access), true) = (info.access, info.inode == Some(inode)) {
            self.add(
                inode,
                Holder {
                    process: key,
                    fd,
                    access,
                },
            );
        }
    }

    fn add(&mut self, inode: u64, holder: Holder) {
        push(self.found.holders.entry(inode).or_default(), holder);
    }
}

/// Adds the lowest descriptor of a process with this access: descriptors come in order, processes one
/// after the other.
fn push(holders: &mut Vec<Holder>, holder: Holder) {
    let again = |known: &Holder| known.access == holder.access;
    let own = holders
        .iter()
        .rev()
        .take_while(|known| known.process == holder.process);
    if !own.into_iter().any(again) {
        holders.push(holder);
    }
}

fn links(reader: &mut Reader, folder: Folder, numbers: &mut Vec<u32>) -> Result<Vec<(u32, Link)>, Errno> {
    let directory = reader.directory(folder, "fd")?;
    reader.numbers(directory.as_fd(), numbers)?;
    let mut found = Vec::with_capacity(numbers.len());
    for fd in numbers.iter() {
        let text = match reader.numbered_link(directory.as_fd(), *fd) {
            Ok(text) => text,
            // Who may list a directory may still be refused what is in it: root without the right to trace.
            Err(errno) if absence(errno) == Absence::Denied => return Err(errno),
            // Closed since it was listed: simply not there.
            Err(_) => continue,
        };
        match classify(text) {
            Some(Link::Master(_)) => {
                let info = fdinfo(reader.fdinfo(folder, *fd).unwrap_or_default());
                found.push((*fd, Link::Master(info.tty_index)));
            }
            Some(link) => found.push((*fd, link)),
            None => {}
        }
    }
    Ok(found)
}

fn classify(link: &[u8]) -> Option<Link> {
    if let Some(inode) = bracketed(link, b"pipe:[") {
        return Some(Link::Pipe(inode));
    }
    if let Some(inode) = bracketed(link, b"socket:[") {
        return Some(Link::Socket(inode));
    }
    if !link.starts_with(b"/") {
        return None;
    }
    if link.ends_with(b"/ptmx") {
        return Some(Link::Master(None));
    }
    Some(Link::Path(hash(link)))
}

fn hash(path: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::identity::StartKey;

    fn holder(pid: i64, fd: u32, access: Access) -> Holder {
        Holder {
            process: ProcessKey {
                pid: Pid::new(pid).unwrap(),
                start: StartKey(1),
            },
            fd,
            access,
        }
    }

    #[test]
    fn a_process_is_a_holder_once_per_access() {
        let mut holders = Vec::new();
        for (pid, fd, access) in [
            (5, 0, Access::Read),
            (5, 3, Access::Read),
            (5, 4, Access::Write),
            (5, 6, Access::Read),
            (6, 1, Access::Write),
        ] {
            push(&mut holders, holder(pid, fd, access));
        }
        assert_eq!(
            holders,
            [
                holder(5, 0, Access::Read),
                holder(5, 4, Access::Write),
                holder(6, 1, Access::Write)
            ]
        );
    }

    #[test]
    fn links_are_told_apart() {
        assert_eq!(classify(b"pipe:[12]"), Some(Link::Pipe(12)));
        assert_eq!(classify(b"socket:[13]"), Some(Link::Socket(13)));
        assert_eq!(classify(b"/dev/pts/ptmx"), Some(Link::Master(None)));
        assert_eq!(
            classify(b"/tmp/pipe:[12]"),
            Some(Link::Path(hash(b"/tmp/pipe:[12]")))
        );
        assert_eq!(classify(b"anon_inode:[eventfd]"), None);
        assert_eq!(classify(b"pipe:[12"), None);
    }
}
