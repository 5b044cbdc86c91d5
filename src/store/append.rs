//! Appends one entry: lock, read the head, write, fsync, unlock. Two operators can work on one
//! incident; a writer that is killed at any byte costs no confirmed entry.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files;
use crate::journal::line::{Joint, LONGEST_LINE, Line, Sealed};
use crate::journal::{Digest, Entry, Head, Operator, TargetRef};
use crate::model::act::{Signal, Target};
use crate::model::time::UnixMillis;

/// How much is read at a time when looking for the last line.
const BLOCK: u64 = 1 << 14;

/// How far behind the entry before one may be dated without the clock having been set: two operators, or
/// a large snapshot, wait for their turn with the time at which they began.
const UNORDERED_MS: i64 = 10_000;

/// Says that an entry is on disk. Nothing but a synced append makes one, and whoever sends a signal
/// uses it up.
#[derive(Debug, PartialEq, Eq)]
pub struct Receipt {
    head: Head,
    at: UnixMillis,
    announced: Option<Announced>,
}

/// The signal that an entry announces, and the processes it is announced for.
#[derive(Debug, PartialEq, Eq)]
struct Announced {
    signal: String,
    targets: Vec<TargetRef>,
}

impl Receipt {
    /// Returns number and hash of the entry.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Returns when the entry was written, as the entry says.
    pub fn at(&self) -> UnixMillis {
        self.at
    }

    /// Returns whether the entry announces this signal to this very process. Of two with the same pid
    /// and start time, the inode of the pidfd tells which is meant, where both name it.
    pub fn announces(&self, signal: Signal, target: &Target) -> bool {
        self.announced.as_ref().is_some_and(|announced| {
            announced.signal == signal.word()
                && announced.targets.iter().any(|named| {
                    let inodes = named.pidfd_inode.zip(target.pidfd_inode);
                    named.key == target.key && inodes.is_none_or(|(named, seen)| named == seen)
                })
        })
    }
}

/// What is appended, by whom and when.
pub(super) struct Addition<'a> {
    pub(super) at: UnixMillis,
    pub(super) operator: &'a Operator,
    pub(super) entry: &'a Entry,
}

/// Makes a journal with its first entry. The caller syncs the directory.
pub(super) fn begin(path: &Path, addition: &Addition<'_>) -> Result<Receipt, StoreError> {
    let file = files::create_new(path)?;
    file.lock().map_err(StoreError::io("lock", path))?;
    let mut journal = Journal {
        path,
        file,
        end: 0,
        joint: Joint::START,
    };
    journal.add(addition)
}

/// Appends an entry to a journal that is there.
pub(super) fn append(path: &Path, uid: u32, addition: &Addition<'_>) -> Result<Receipt, StoreError> {
    let mut journal = Journal::open(path, uid)?;
    let last_at = journal.find_end(addition)?;
    journal.add_dated(last_at, addition)
}

/// Appends an entry that has its place in a journal only where the lines before say so. They are shown to
/// `place` from the newest back, under the same lock, until it breaks with its answer; `None` where nothing
/// was appended: it broke with no, or the journal ended.
pub(super) fn append_where(
    path: &Path,
    uid: u32,
    addition: &Addition<'_>,
    place: &mut dyn FnMut(&Line) -> ControlFlow<bool>,
) -> Result<Option<Receipt>, StoreError> {
    let mut journal = Journal::open(path, uid)?;
    let last_at = journal.find_end(addition)?;
    if !journal.has_place(place)? {
        return Ok(None);
    }
    journal.add_dated(last_at, addition).map(Some)
}

/// A journal under its lock; closing the file gives the lock back.
struct Journal<'a> {
    path: &'a Path,
    file: File,
    /// Bytes up to the end of the last complete line.
    end: u64,
    /// Where the next line has to join.
    joint: Joint,
}

impl<'a> Journal<'a> {
    fn open(path: &'a Path, uid: u32) -> Result<Self, StoreError> {
        let opened = OpenOptions::new().read(true).append(true).open(path);
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => vanished(path),
            _ => StoreError::io("open", path)(error),
        })?;
        files::demand_private_file(path, &file, uid)?;
        file.lock().map_err(StoreError::io("lock", path))?;
        let journal = Self {
            path,
            file,
            end: 0,
            joint: Joint::START,
        };
        journal.demand_still_there()?;
        Ok(journal)
    }

    /// A file that was moved or unlinked still takes appends, and nobody would ever read them.
    fn demand_still_there(&self) -> Result<(), StoreError> {
        let mine = self.metadata()?;
        match fs::metadata(self.path) {
            Ok(there) if (there.dev(), there.ino()) == (mine.dev(), mine.ino()) => Ok(()),
            _ => Err(vanished(self.path)),
        }
    }

    fn metadata(&self) -> Result<fs::Metadata, StoreError> {
        self.file.metadata().map_err(StoreError::io("look at", self.path))
    }

    /// Finds the last complete line; moves what stands behind it away. Returns the time of that
    /// line.
    fn find_end(&mut self, addition: &Addition<'_>) -> Result<UnixMillis, StoreError> {
        let length = self.metadata()?.len();
        let end = self.after_newline(length)?;
        if end == 0 {
            return Err(self.damaged("it has no first entry"));
        }
        let start = self.after_newline(end - 1)?;
        if end - start > LONGEST_LINE as u64 {
            return Err(self.damaged("its last line is longer than any entry"));
        }
        let bytes = self.read(start, end)?;
        let line = Line::read(&bytes)
            .map_err(|why| self.damaged(&format!("its last line is no whole entry: {why}")))?;
        self.joint = line.joint();
        self.end = end;
        if end < length {
            self.move_torn(length, addition)?;
        }
        Ok(line.at)
    }

    /// Shows the lines from the newest back; returns what is answered to the first that tells.
    fn has_place(&mut self, place: &mut dyn FnMut(&Line) -> ControlFlow<bool>) -> Result<bool, StoreError> {
        let mut end = self.end;
        while end > 0 {
            let start = self.after_newline(end - 1)?;
            let bytes = self.read(start, end)?;
            let line = Line::read(&bytes)
                .map_err(|why| self.damaged(&format!("one of its lines is no whole entry: {why}")))?;
            if let ControlFlow::Break(answer) = place(&line) {
                return Ok(answer);
            }
            end = start;
        }
        Ok(false)
    }

    fn damaged(&self, what: &str) -> StoreError {
        StoreError::Damaged {
            path: self.path.to_path_buf(),
            what: what.to_owned(),
        }
    }

    /// Returns the place behind the last newline before `before`; 0 where there is none.
    fn after_newline(&mut self, before: u64) -> Result<u64, StoreError> {
        let mut upper = before;
        while upper > 0 {
            let lower = upper.saturating_sub(BLOCK);
            let block = self.read(lower, upper)?;
            if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
                return Ok(lower + at as u64 + 1);
            }
            upper = lower;
        }
        Ok(0)
    }

    fn read(&mut self, from: u64, to: u64) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        let wanted = to - from;
        let read = self
            .file
            .seek(SeekFrom::Start(from))
            .and_then(|_| (&self.file).take(wanted).read_to_end(&mut bytes));
        match read.map_err(StoreError::io("read", self.path))? {
            read if read as u64 == wanted => Ok(bytes),
            _ => Err(self.damaged("it became shorter while it was read")),
        }
    }

    /// Moves an unfinished last line into a file of its own and says so in the journal. Killed in
    /// between, the next append does it again: the torn bytes are there twice, never lost.
    fn move_torn(&mut self, length: u64, addition: &Addition<'_>) -> Result<(), StoreError> {
        let to = torn_path(self.path);
        let mut torn = files::append_to(&to)?;
        let mut digest = crate::journal::Digester::default();
        let mut from = self.end;
        while from < length {
            let until = length.min(from + BLOCK);
            let block = self.read(from, until)?;
            digest.update(&block);
            torn.write_all(&block).map_err(StoreError::io("append to", &to))?;
            from = until;
        }
        torn.write_all(b"\n")
            .and_then(|()| torn.sync_all())
            .map_err(StoreError::io("append to", &to))?;
        if let Some(directory) = to.parent() {
            files::sync_directory(directory)?;
        }
        self.file
            .set_len(self.end)
            .and_then(|()| self.file.sync_all())
            .map_err(StoreError::io("cut", self.path))?;
        let sha256: Digest = digest.finish();
        let name = to
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let entry = Entry::TornTailMoved {
            to: name,
            bytes: length - self.end,
            sha256,
        };
        self.add(&Addition {
            entry: &entry,
            ..*addition
        })?;
        Ok(())
    }

    /// Writes a line behind one of that time; says first that the clock was set back where it was.
    fn add_dated(&mut self, last_at: UnixMillis, addition: &Addition<'_>) -> Result<Receipt, StoreError> {
        let said = matches!(addition.entry, Entry::ClockChanged { .. });
        if !said && addition.at.0.saturating_add(UNORDERED_MS) < last_at.0 {
            self.add(&Addition {
                entry: &Entry::ClockChanged {
                    from: last_at,
                    to: addition.at,
                },
                ..*addition
            })?;
        }
        self.add(addition)
    }

    /// Writes a line, and answers once it is on disk.
    fn add(&mut self, addition: &Addition<'_>) -> Result<Receipt, StoreError> {
        let sealed =
            Sealed::new(self.joint, addition.at, addition.operator, addition.entry).map_err(|reason| {
                StoreError::Entry {
                    path: self.path.to_path_buf(),
                    reason,
                }
            })?;
        if let Err(error) = self.file.write_all(&sealed.bytes) {
            // A line without its end is no entry; without room for the rest it is better away.
            let _ = self.file.set_len(self.end);
            return Err(StoreError::io("append to", self.path)(error));
        }
        self.file.sync_all().map_err(StoreError::io("sync", self.path))?;
        self.demand_still_there()?;
        self.end += sealed.bytes.len() as u64;
        self.joint = sealed.joint;
        Ok(Receipt {
            head: sealed.head,
            at: addition.at,
            announced: announced(addition.entry),
        })
    }
}

fn announced(entry: &Entry) -> Option<Announced> {
    match entry {
        Entry::AboutToSignal { signal, targets, .. } => Some(Announced {
            signal: signal.clone(),
            targets: targets.clone(),
        }),
        _ => None,
    }
}

fn vanished(path: &Path) -> StoreError {
    StoreError::Vanished {
        operation: "append to",
        path: path.to_path_buf(),
    }
}

/// Returns where torn lines of a journal go.
fn torn_path(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".torn");
    PathBuf::from(name)
}
