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
use crate::model::descriptor::{Access, Hold, Holder, Unlisted};
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
    /// What is held through tables that threads have for themselves.
    pub(super) by_threads: Vec<Unlisted>,
}

/// The links of all processes, as last read.
#[derive(Default)]
pub(super) struct Search {
    scans: BTreeMap<ProcessKey, Scan>,
    /// Tables that threads were found to have for themselves, read anew in each search.
    apart: BTreeMap<(ProcessKey, u32), Table>,
    round: u64,
    numbers: Vec<u32>,
}

/// Descriptors with their links, in order.
pub(super) type Table = Vec<(u32, Link)>;

/// What a look through the threads of a process found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Threads {
    /// Whether one has a table of its own with what was asked for in it: the next search finds it.
    pub(super) hit: bool,
    /// How many could not be looked at.
    pub(super) unread: u32,
}

/// The links of one process.
struct Scan {
    /// Where they were read.
    folder: Folder,
    /// `schedstat` before they were read; `None` where they must be read again each time.
    unmoved: Option<[u64; 3]>,
    links: Result<Table, Errno>,
    /// Access modes of pipe ends that were wanted, by descriptor: they do not change.
    access: HashMap<u32, Access>,
    round: u64,
}

/// What a link leads to, as far as the search needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Pipe(u64),
    Socket(u64),
    /// An `io_uring`, with which files may be registered.
    Ring,
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
        let scans = &self.scans;
        self.apart.retain(|(key, _), _| scans.contains_key(key));
        look.found
    }

    /// Returns all tables as they were last read, with where.
    pub(super) fn tables(&self) -> impl Iterator<Item = (ProcessKey, Folder, &Table)> {
        let own = self
            .scans
            .iter()
            .filter_map(|(key, scan)| Some((*key, scan.folder, scan.links.as_ref().ok()?)));
        let apart = self
            .apart
            .iter()
            .map(|((key, thread), table)| (*key, Folder::of_thread(key.pid, *thread), table));
        own.chain(apart)
    }

    /// Looks for threads of a process that have a table of descriptors of their own, `hits` in it. Such
    /// tables are part of every search from then on.
    pub(super) fn look_through_threads(
        &mut self,
        reader: &mut Reader,
        process: &Process,
        hits: impl Fn(Link) -> bool,
    ) -> Threads {
        let key = process.key;
        let mut found = Threads::default();
        // One that could not be read is among those that were not searched.
        let Some((folder, Ok(main))) = self.scans.get(&key).map(|scan| (scan.folder, &scan.links)) else {
            return found;
        };
        let mut threads = Vec::new();
        let listed = reader
            .directory(key.pid, "task")
            .and_then(|directory| reader.numbers(directory.as_fd(), &mut threads));
        if let Err(errno) = listed {
            if absence(errno) != Absence::Gone {
                found.unread = process.threads.saturating_sub(1);
            }
            return found;
        }
        let mut apart = Vec::new();
        for thread in threads {
            if thread == folder.thread() || self.apart.contains_key(&(key, thread)) {
                continue;
            }
            match links(reader, Folder::of_thread(key.pid, thread), &mut self.numbers) {
                Ok(table) if has_more(&table, main) => {
                    found.hit |= table.iter().any(|(_, link)| hits(*link));
                    apart.push(((key, thread), table));
                }
                Err(errno) if absence(errno) != Absence::Gone => found.unread += 1,
                _ => {}
            }
        }
        self.apart.extend(apart);
        found
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
        if let Ok(main) = &scan.links {
            tables_apart(look, key, main, (&mut self.apart, &mut self.numbers));
        }
    }
}

/// Goes through the tables that threads of a process have for themselves. One that has nothing more than
/// the process's own is forgotten: the thread has ended, or had opened in the common table while it was read.
fn tables_apart(
    look: &mut Look<'_>,
    key: ProcessKey,
    main: &Table,
    (apart, numbers): (&mut BTreeMap<(ProcessKey, u32), Table>, &mut Vec<u32>),
) {
    let known = apart.range((key, 0)..=(key, u32::MAX));
    let threads: Vec<u32> = known.map(|((_, thread), _)| *thread).collect();
    for thread in threads {
        let folder = Folder::of_thread(key.pid, thread);
        match links(look.reader, folder, numbers) {
            Ok(table) if has_more(&table, main) => {
                if table.iter().any(|(_, link)| look.wants(*link)) && look.is(key) {
                    look.through((key, folder), &table, &mut HashMap::new());
                    let more = table.iter().filter(|one| !main.contains(one));
                    let held = more.filter(|(_, link)| look.wants(*link));
                    let told = held.filter_map(|(fd, link)| Some((*fd, look.inode(*link)?)));
                    let told: Vec<Unlisted> = told
                        .map(|(fd, inode)| Unlisted {
                            process: key,
                            how: Hold::Thread { thread, fd, inode },
                        })
                        .collect();
                    look.found.by_threads.extend(told);
                }
                apart.insert((key, thread), table);
            }
            _ => {
                apart.remove(&(key, thread));
            }
        }
    }
}

/// Returns whether a table has a descriptor that `main` has not.
fn has_more(table: &Table, main: &Table) -> bool {
    let mut main = main.iter().peekable();
    table.iter().any(|one| {
        while main.next_if(|known| known.0 < one.0).is_some() {}
        main.next_if_eq(&one).is_none()
    })
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
            Link::Ring => false,
        }
    }

    fn inode(&self, link: Link) -> Option<u64> {
        match link {
            Link::Pipe(inode) | Link::Socket(inode) => Some(inode),
            Link::Path(path) => self.fifos.get(&path).copied(),
            Link::Master(_) | Link::Ring => None,
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
                Link::Master(None) | Link::Ring => {}
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

fn links(reader: &mut Reader, folder: Folder, numbers: &mut Vec<u32>) -> Result<Table, Errno> {
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
    if link == b"anon_inode:[io_uring]" {
        return Some(Link::Ring);
    }
    if !link.starts_with(b"/") {
        return None;
    }
    if link.ends_with(b"/ptmx") {
        return Some(Link::Master(None));
    }
    Some(Link::Path(hash(link)))
}

/// Returns the hash by which a path is compared.
pub(super) fn hash(path: &[u8]) -> u64 {
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
    fn a_table_is_a_threads_own_where_it_has_more() {
        let main = vec![(0, Link::Pipe(1)), (3, Link::Socket(2)), (7, Link::Pipe(3))];
        for (table, more) in [
            (vec![], false),
            (main.clone(), false),
            (vec![(3, Link::Socket(2))], false),
            (vec![(0, Link::Pipe(1)), (7, Link::Pipe(3))], false),
            (vec![(0, Link::Pipe(9))], true),
            (vec![(5, Link::Pipe(1))], true),
            (vec![(7, Link::Pipe(3)), (8, Link::Pipe(3))], true),
        ] {
            assert_eq!(has_more(&table, &main), more, "{table:?}");
        }
        assert!(has_more(&main, &Vec::new()));
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
        assert_eq!(classify(b"anon_inode:[io_uring]"), Some(Link::Ring));
        assert_eq!(classify(b"pipe:[12"), None);
    }
}
