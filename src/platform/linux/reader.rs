//! Reads files and links of a proc file system through one kept directory descriptor.
//!
//! Reads only: nothing under `PID/fd/` is ever opened, those entries are looked at by `readlinkat`.

use std::ffi::CStr;
use std::fmt::{self, Display};
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, RawDir, openat, readlinkat_raw};
use rustix::io::Errno;

use super::parse::stat::Stat;
use crate::model::bytes::OsBytes;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::reading::{Absence, Reading};
use crate::platform::SourceError;

/// Room for one read. Files of a single record (`stat`, `status`) never exceed it.
const BUFFER_BYTES: usize = 64 * 1024;
/// Longest link text that the kernel makes (`PATH_MAX` and ` (deleted)`).
const LINK_BYTES: usize = 4096 + 16;

/// Where the files of a process are read: its own directory, or that of one of its threads.
///
/// A process whose main thread has exited shows nothing in its own: no command line, no program, and a
/// table of descriptors that looks empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    pid: Pid,
    thread: Option<u32>,
}

impl From<Pid> for Folder {
    fn from(pid: Pid) -> Self {
        Self { pid, thread: None }
    }
}

impl Folder {
    /// That of one thread.
    pub(super) fn of_thread(pid: Pid, thread: u32) -> Self {
        Self {
            pid,
            thread: Some(thread),
        }
    }

    /// Returns the thread whose files are read there.
    pub(super) fn thread(self) -> u32 {
        self.thread.unwrap_or(self.pid.get())
    }
}

impl Display for Folder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.thread {
            Some(thread) => write!(formatter, "{}/task/{thread}", self.pid),
            None => write!(formatter, "{}", self.pid),
        }
    }
}

/// The root of a proc file system, with the buffers that every read shares.
pub(super) struct Reader {
    root: OwnedFd,
    path: Vec<u8>,
    buffer: Vec<u8>,
    dents: Box<[MaybeUninit<u8>]>,
    link: Box<[MaybeUninit<u8>]>,
}

impl Reader {
    /// Opens the directory.
    pub(super) fn open(root: &Path) -> Result<Self, SourceError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root_fd = openat(CWD, root, flags, Mode::empty()).map_err(|errno| SourceError {
            path: root.display().to_string(),
            operation: "open".into(),
            reason: format!("{errno}; is a proc file system mounted there?"),
        })?;
        Ok(Self {
            root: root_fd,
            path: Vec::with_capacity(64),
            buffer: vec![0; BUFFER_BYTES],
            dents: vec![MaybeUninit::uninit(); BUFFER_BYTES].into_boxed_slice(),
            link: vec![MaybeUninit::uninit(); LINK_BYTES].into_boxed_slice(),
        })
    }

    /// Returns the directory itself.
    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Returns where the files of a process are read: where its main thread has exited, at a thread that
    /// lives. Fails where none does.
    pub(super) fn folder(&mut self, pid: Pid, lost_main_thread: bool) -> Result<Folder, Errno> {
        if !lost_main_thread {
            return Ok(pid.into());
        }
        self.thread(pid, |stat| !stat.has_exited())
    }

    /// Returns whether no thread of a process runs any more: each has exited, or is about to. Its own user is
    /// refused its descriptors from when it has given its memory back, as if they were another's, and a link
    /// is refused to everybody whose process has gone since it was found (`proc_pid_readlink` in
    /// `fs/proc/base.c`).
    pub(super) fn has_ended(&mut self, key: ProcessKey) -> bool {
        let stat = self.record(key.pid, "stat").map(Stat::parse);
        let is_gone = |errno: Errno| absence(errno) == Absence::Gone;
        let is_another = match stat {
            Ok(stat) => stat.is_some_and(|stat| stat.start != key.start),
            Err(errno) => is_gone(errno),
        };
        let runs = |stat: &Stat| !stat.has_exited() && !stat.exiting();
        is_another || self.thread(key.pid, runs).is_err_and(is_gone)
    }

    /// Returns where the files of the first thread are of which this holds.
    fn thread(&mut self, pid: Pid, holds: impl Fn(&Stat) -> bool) -> Result<Folder, Errno> {
        let directory = self.directory(pid, "task")?;
        let mut threads = Vec::new();
        self.numbers(directory.as_fd(), &mut threads)?;
        let found = |thread: &u32| {
            let folder = Folder::of_thread(pid, *thread);
            let stat = Stat::parse(self.record(folder, "stat").ok()?)?;
            holds(&stat).then_some(folder)
        };
        threads.iter().find_map(found).ok_or(Errno::SRCH)
    }

    /// Reads a file of one record, such as `stat`, in one read.
    pub(super) fn record(&mut self, of: impl Display, name: &str) -> Result<&[u8], Errno> {
        let file = self.open_in(of, name, OFlags::RDONLY)?;
        let length = read_once(file.as_fd(), &mut self.buffer)?;
        Ok(self.buffer.get(..length).unwrap_or_default())
    }

    /// Reads a kept file of one record anew, from its start.
    pub(super) fn record_again(&mut self, file: BorrowedFd<'_>) -> Result<&[u8], Errno> {
        let length = loop {
            match rustix::io::pread(file, self.buffer.as_mut_slice(), 0) {
                Err(Errno::INTR) => {}
                outcome => break outcome?,
            }
        };
        Ok(self.buffer.get(..length).unwrap_or_default())
    }

    /// Reads a file of a process to its end, such as `cmdline`, which can be megabytes long.
    pub(super) fn whole(&mut self, of: impl Display, name: &str) -> Result<&[u8], Errno> {
        let file = self.open_in(of, name, OFlags::RDONLY)?;
        self.read_to_end(file.as_fd())
    }

    /// Reads a file below the root to its end, such as `loadavg`.
    pub(super) fn system(&mut self, name: &str) -> Result<&[u8], Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(&self.root, name, flags, Mode::empty())?;
        self.read_to_end(file.as_fd())
    }

    /// Opens a file of a process to be kept; it stays bound to that process, whatever becomes of its pid.
    pub(super) fn keep(&mut self, pid: Pid, name: &str) -> Result<OwnedFd, Errno> {
        self.open_in(pid, name, OFlags::RDONLY)
    }

    /// Reads a link of a process, such as `exe`.
    pub(super) fn link(&mut self, of: impl Display, name: &str) -> Result<OsBytes, Errno> {
        self.set_path(of, name);
        let path = CStr::from_bytes_with_nul(&self.path).map_err(|_| Errno::INVAL)?;
        let (text, _) = readlinkat_raw(&self.root, path, &mut *self.link)?;
        Ok(OsBytes::from(&*text))
    }

    /// Opens a directory of a process, such as `fd`.
    pub(super) fn directory(&mut self, of: impl Display, name: &str) -> Result<OwnedFd, Errno> {
        self.open_in(of, name, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Lists all pids, in ascending order.
    pub(super) fn pids(&mut self, into: &mut Vec<Pid>) -> Result<(), Errno> {
        into.clear();
        // A directory descriptor of its own: the kept one has no position that two readers share.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(&self.root, ".", flags, Mode::empty())?;
        numbers(directory.as_fd(), &mut self.dents, |number| {
            if let Some(pid) = Pid::new(i64::from(number)) {
                into.push(pid);
            }
        })?;
        into.sort_unstable();
        Ok(())
    }

    /// Lists the numbers in an opened directory, such as the descriptors in `fd`.
    pub(super) fn numbers(&mut self, directory: BorrowedFd<'_>, into: &mut Vec<u32>) -> Result<(), Errno> {
        into.clear();
        numbers(directory, &mut self.dents, |number| into.push(number))?;
        into.sort_unstable();
        Ok(())
    }

    /// Reads the link `number` in an opened directory; the bytes are valid until the next call.
    pub(super) fn numbered_link(&mut self, directory: BorrowedFd<'_>, number: u32) -> Result<&[u8], Errno> {
        self.path.clear();
        write!(self.path, "{number}\0").map_err(|_| Errno::INVAL)?;
        let path = CStr::from_bytes_with_nul(&self.path).map_err(|_| Errno::INVAL)?;
        let (text, _) = readlinkat_raw(directory, path, &mut *self.link)?;
        Ok(&*text)
    }

    /// Reads the `fdinfo` of a descriptor to its end: of an `io_uring` it lists all registered files.
    pub(super) fn whole_fdinfo(&mut self, of: impl Display, fd: u32) -> Result<&[u8], Errno> {
        self.whole(of, &format!("fdinfo/{fd}"))
    }

    /// Reads the `fdinfo` of a descriptor.
    pub(super) fn fdinfo(&mut self, of: impl Display, fd: u32) -> Result<&[u8], Errno> {
        self.path.clear();
        write!(self.path, "{of}/fdinfo/{fd}\0").map_err(|_| Errno::INVAL)?;
        let path = CStr::from_bytes_with_nul(&self.path).map_err(|_| Errno::INVAL)?;
        let file = openat(&self.root, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let length = read_once(file.as_fd(), &mut self.buffer)?;
        Ok(self.buffer.get(..length).unwrap_or_default())
    }

    fn open_in(&mut self, of: impl Display, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.set_path(of, name);
        let path = CStr::from_bytes_with_nul(&self.path).map_err(|_| Errno::INVAL)?;
        openat(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty())
    }

    fn set_path(&mut self, of: impl Display, name: &str) {
        self.path.clear();
        // Writing to a Vec cannot fail; a path without its NUL is refused where it is used.
        let _ = write!(self.path, "{of}/{name}\0");
    }

    fn read_to_end(&mut self, file: BorrowedFd<'_>) -> Result<&[u8], Errno> {
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(length * 2, 0);
            }
            let room = self.buffer.get_mut(length..).unwrap_or_default();
            match read_once(file, room)? {
                0 => break,
                more => length += more,
            }
        }
        Ok(self.buffer.get(..length).unwrap_or_default())
    }
}

fn read_once(file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::read(file, &mut *buffer) {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}

fn numbers(
    directory: BorrowedFd<'_>,
    dents: &mut [MaybeUninit<u8>],
    mut each: impl FnMut(u32),
) -> Result<(), Errno> {
    let mut entries = RawDir::new(directory, dents);
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            outcome => outcome?,
        };
        let number = super::parse::decimal(entry.file_name().to_bytes());
        if let Some(number) = number.and_then(|number| u32::try_from(number).ok()) {
            each(number);
        }
    }
    Ok(())
}

/// Returns why there is no value, for an error of a read.
pub(super) fn absence(errno: Errno) -> Absence {
    match errno {
        Errno::ACCESS | Errno::PERM => Absence::Denied,
        Errno::NOENT | Errno::SRCH => Absence::Gone,
        _ => Absence::Failed,
    }
}

/// Returns the reading for an error; the text names the path below the proc root.
pub(super) fn absent<T>(errno: Errno, of: impl Display, name: &str) -> Reading<T> {
    match absence(errno) {
        Absence::Denied => Reading::Denied,
        Absence::Gone => Reading::Gone,
        _ => Reading::Failed(format!("{of}/{name}: {errno}")),
    }
}

/// Returns the outcome of a read as a reading.
pub(super) fn reading<T>(outcome: Result<T, Errno>, of: impl Display, name: &str) -> Reading<T> {
    match outcome {
        Ok(value) => Reading::Value(value),
        Err(errno) => absent(errno, of, name),
    }
}
