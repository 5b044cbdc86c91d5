//! Follows the chain of a journal from its first line, a line at a time: memory does not grow with
//! it. Names the first line that is wrong, and in which way.

use std::io::{self, BufRead, Seek};

use super::digest::Head;
use super::line::{Joint, LONGEST_LINE, Line, LineError};

mod fault;

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Its bytes were changed.
    Edited,
    /// Entries before it are not there.
    Missing,
    /// It was put between two entries that belong together.
    Inserted,
    /// It stands before an entry that it belongs behind.
    Reordered,
    /// It is there twice.
    Duplicated,
    /// The journal ends before the expected head.
    Truncated,
    /// The entry with the expected number is another one: cut off and written anew.
    Replaced,
}

impl FaultKind {
    /// Returns the word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Missing => "missing",
            Self::Inserted => "inserted",
            Self::Reordered => "reordered",
            Self::Duplicated => "duplicated",
            Self::Truncated => "truncated",
            Self::Replaced => "replaced",
        }
    }
}

/// The first line that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its number in the file, from 1.
    pub line: u64,
    /// In which way.
    pub kind: FaultKind,
    /// One sentence.
    pub what: String,
}

/// A last line without a newline: the writer was ended in the middle of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Its number in the file, from 1.
    pub line: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// What following the chain showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The last entry up to which the chain holds.
    pub head: Option<Head>,
    /// Number of entries up to there.
    pub entries: u64,
    /// The first line that is wrong.
    pub fault: Option<Fault>,
    /// A torn last line; not looked for behind a fault.
    pub torn: Option<Torn>,
}

/// What a journal is read from: the second look at a fault needs to go back.
pub trait Pages: BufRead + Seek {}

impl<R: BufRead + Seek> Pages for R {}

/// Follows the chain to its end or its first fault; hands out every entry up to there. With
/// `expect`, the entry of that number must be there and have that hash.
pub fn verify(
    pages: &mut dyn Pages,
    expect: Option<Head>,
    visit: &mut dyn FnMut(u64, &Line),
) -> io::Result<Verified> {
    let mut lines = Lines::new(pages);
    let mut last: Option<Line> = None;
    let mut replaced = None;
    let mut verified = Verified::default();
    loop {
        let start = lines.offset;
        let got = match lines.next()? {
            Read::End => break,
            Read::Torn { bytes } => {
                verified.torn = Some(Torn {
                    line: lines.number,
                    bytes,
                });
                break;
            }
            Read::Whole(bytes) => Line::read(bytes),
            Read::TooLong => Err(LineError::Form),
        };
        let number = lines.number;
        let joint = last.as_ref().map_or(Joint::START, Line::joint);
        match got {
            Ok(line) if line.follows(joint) => {
                visit(number, &line);
                verified.entries += 1;
                verified.head = Some(line.head());
                if expect.is_some_and(|head| head.seq == line.seq && head.hash != line.hash) {
                    replaced = Some(number);
                }
                last = Some(line);
            }
            got => {
                verified.fault = Some(fault::name(&mut lines, start, last.as_ref(), got)?);
                return Ok(verified);
            }
        }
    }
    verified.fault = ending(&verified, expect, replaced);
    Ok(verified)
}

/// Judges what only the end shows.
fn ending(verified: &Verified, expect: Option<Head>, replaced: Option<u64>) -> Option<Fault> {
    if let (Some(line), Some(head)) = (replaced, expect) {
        return Some(Fault {
            line,
            kind: FaultKind::Replaced,
            what: format!(
                "entry {} is not the one that was expected: the journal was cut before it and written anew",
                head.seq
            ),
        });
    }
    let line = verified.entries + 1;
    match expect {
        Some(head) if verified.entries < head.seq => Some(Fault {
            line,
            kind: FaultKind::Truncated,
            what: format!(
                "it ends after entry {}, but entry {} was expected",
                verified.entries, head.seq
            ),
        }),
        _ if verified.entries == 0 => Some(Fault {
            line,
            kind: FaultKind::Missing,
            what: "it holds no entry: the one that opens an incident is not there".to_owned(),
        }),
        _ => None,
    }
}

/// One line as it was found.
enum Read<'a> {
    /// With its newline.
    Whole(&'a [u8]),
    /// Longer than any that is written.
    TooLong,
    /// Without a newline at its end.
    Torn { bytes: u64 },
    /// There is none.
    End,
}

/// Reads lines and counts them; keeps at most `LONGEST_LINE` bytes of one.
struct Lines<'a> {
    pages: &'a mut dyn Pages,
    buffer: Vec<u8>,
    /// Number of the line that was read last.
    number: u64,
    /// Bytes before the next line.
    offset: u64,
}

impl<'a> Lines<'a> {
    fn new(pages: &'a mut dyn Pages) -> Self {
        Self {
            pages,
            buffer: Vec::new(),
            number: 0,
            offset: 0,
        }
    }

    fn next(&mut self) -> io::Result<Read<'_>> {
        self.buffer.clear();
        let mut length: u64 = 0;
        let mut complete = false;
        while !complete {
            let chunk = match self.pages.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(chunk.len(), |end| end + 1);
            let room = LONGEST_LINE - self.buffer.len();
            self.buffer.extend_from_slice(&chunk[..taken.min(room)]);
            self.pages.consume(taken);
            length += taken as u64;
            complete = end.is_some();
        }
        self.offset += length;
        if length == 0 {
            return Ok(Read::End);
        }
        self.number += 1;
        Ok(match complete {
            false => Read::Torn { bytes: length },
            true if length > LONGEST_LINE as u64 => Read::TooLong,
            true => Read::Whole(&self.buffer),
        })
    }

    /// Goes back, or on, to the start of a line.
    fn seek(&mut self, offset: u64, number: u64) -> io::Result<()> {
        self.pages.seek(io::SeekFrom::Start(offset))?;
        self.offset = offset;
        self.number = number - 1;
        Ok(())
    }

    /// Reads the next line; `None` where there is no whole one.
    fn line(&mut self) -> io::Result<Option<Result<Line, LineError>>> {
        Ok(match self.next()? {
            Read::End | Read::Torn { .. } => None,
            Read::TooLong => Some(Err(LineError::Form)),
            Read::Whole(bytes) => Some(Line::read(bytes)),
        })
    }
}

#[cfg(test)]
mod tests;
