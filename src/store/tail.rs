//! The end of a journal that grows while others write to it: a look reads what was added since the last
//! one, and nothing where nothing was.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::error::StoreError;
use crate::journal::line::{Joint, LONGEST_LINE, Line};

/// How far a journal was read.
#[derive(Clone, Debug)]
pub struct Tail {
    /// Bytes up to the end of the last line that was read.
    offset: u64,
    /// Where the next line has to join.
    joint: Joint,
    /// The file as the last look found it.
    mark: Option<Mark>,
    /// Whether the last look found a line that does not join: nothing behind it is read.
    broken: bool,
}

/// What tells without reading whether a file is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

/// What a look found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Added {
    /// The entries that were added, as far as they join the ones before.
    pub lines: Vec<Line>,
    /// Whether the file is not as the last look found it; without it all else is empty.
    pub changed: bool,
    /// Whether the journal is another than the one that was read before: it became shorter, was replaced,
    /// or was written to where it had been read already. The lines are all of it then.
    pub anew: bool,
    /// Whether its lines join, where the look before found otherwise.
    pub turn: Option<Turn>,
}

/// What became of the chain since the look before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It does not hold from here on.
    Breaks,
    /// It holds again.
    Mended,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            offset: 0,
            joint: Joint::START,
            mark: None,
            broken: false,
        }
    }
}

impl Tail {
    /// Reads what was added to the journal at `path` since the last look. A line without its end is left
    /// for the next one.
    pub fn read(&mut self, path: &Path) -> Result<Added, StoreError> {
        let metadata = fs::metadata(path).map_err(StoreError::io("look at", path))?;
        let mark = Mark::of(&metadata);
        if self.mark == Some(mark) {
            return Ok(Added::default());
        }
        let anew = self.mark.is_some_and(|before| before.is_other(mark, self.offset));
        if anew {
            *self = Self::default();
        }
        // What does not join may have been put right since.
        let was_broken = std::mem::take(&mut self.broken);
        let lines = self.lines(path).map_err(StoreError::io("read", path))?;
        // What is written while this reads is another mark for the next look.
        self.mark = Some(mark);
        Ok(Added {
            lines,
            changed: true,
            anew,
            turn: match (was_broken, self.broken) {
                (false, true) => Some(Turn::Breaks),
                (true, false) => Some(Turn::Mended),
                _ => None,
            },
        })
    }

    fn lines(&mut self, path: &Path) -> std::io::Result<Vec<Line>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut pages = BufReader::with_capacity(1 << 16, file);
        let mut lines = Vec::new();
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let read = (&mut pages)
                .take(LONGEST_LINE as u64)
                .read_until(b'\n', &mut bytes)?;
            if !bytes.ends_with(b"\n") {
                self.broken = read == LONGEST_LINE;
                return Ok(lines);
            }
            let line = Line::read(&bytes).ok().filter(|line| line.follows(self.joint));
            let Some(line) = line else {
                self.broken = true;
                return Ok(lines);
            };
            self.joint = line.joint();
            self.offset += read as u64;
            lines.push(line);
        }
    }
}

impl Mark {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Returns whether a file is not merely the same with more at its end; `read` bytes of it were read.
    /// A torn end that was moved away made it shorter, but not than what was read.
    fn is_other(self, now: Self, read: u64) -> bool {
        let same = (self.device, self.inode) == (now.device, now.inode);
        let rewritten = now.length == self.length && now.length == read && now.modified != self.modified;
        !same || now.length < read || rewritten
    }
}
