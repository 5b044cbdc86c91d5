//! Names what was done to a line that does not follow the one before: looks at the lines around it.
//!
//! Whoever can write the file can compute hashes too. So a line that is whole by itself is judged by
//! what names it, and what it names.

use std::io;

use super::super::digest::Digest;
use super::super::line::{Joint, Line, LineError};
use super::{Fault, FaultKind, Lines};

/// Names the fault of the line that was just read, which starts at `start`. `last` is the line before
/// it, up to which the chain holds.
pub(super) fn name(
    lines: &mut Lines<'_>,
    start: u64,
    last: Option<&Line>,
    got: Result<Line, LineError>,
) -> io::Result<Fault> {
    let number = lines.number;
    let joint = last.map_or(Joint::START, Line::joint);
    let place = Place {
        number,
        after: lines.offset,
        start,
        joint,
    };
    let next = lines.line()?.and_then(Result::ok);
    let goes_on = next.as_ref().is_some_and(|next| next.follows(joint));
    let line = match got {
        Err(why) => return Ok(place.no_line(why, goes_on)),
        Ok(line) => line,
    };
    if line.seq <= joint.seq {
        return place.old_number(lines, last, &line, next.as_ref());
    }
    if line.seq > joint.seq + 1 {
        return place.later_number(lines, &line);
    }
    Ok(place.other_chain(last, &line, next.as_ref(), goes_on))
}

/// Where the chain broke.
struct Place {
    /// Number of the line.
    number: u64,
    /// Where it starts.
    start: u64,
    /// Where the next one starts.
    after: u64,
    /// What it should have joined.
    joint: Joint,
}

impl Place {
    fn fault(&self, kind: FaultKind, what: String) -> Fault {
        Fault {
            line: self.number,
            kind,
            what,
        }
    }

    /// The line before is not what this one was written after.
    fn fault_before(&self, kind: FaultKind, what: String) -> Fault {
        Fault {
            line: self.number - 1,
            kind,
            what,
        }
    }

    fn expected(&self) -> u64 {
        self.joint.seq + 1
    }

    fn no_line(&self, why: LineError, goes_on: bool) -> Fault {
        if goes_on {
            let what = format!("{why}, and the next line is entry {}", self.expected());
            return self.fault(FaultKind::Inserted, what);
        }
        self.fault(FaultKind::Edited, why.to_string())
    }

    /// Its number was there already.
    fn old_number(
        &self,
        lines: &mut Lines<'_>,
        last: Option<&Line>,
        line: &Line,
        next: Option<&Line>,
    ) -> io::Result<Fault> {
        if let Some(first) = self.earlier(lines, line.digest)? {
            let what = format!("it is line {first} once more");
            return Ok(self.fault(FaultKind::Duplicated, what));
        }
        let fork = last.is_some_and(|last| last.seq == line.seq && last.prev == line.prev);
        if fork && next.is_some_and(|next| next.follows(line.joint())) {
            let what = format!("the chain goes on from line {}, not from it", self.number);
            return Ok(self.fault_before(FaultKind::Inserted, what));
        }
        let what = format!(
            "it calls itself entry {}, but entry {} is another line",
            line.seq, line.seq
        );
        Ok(self.fault(FaultKind::Inserted, what))
    }

    /// Its number is too high.
    fn later_number(&self, lines: &mut Lines<'_>, line: &Line) -> io::Result<Fault> {
        lines.seek(self.after, self.number + 1)?;
        let mut expected_at = None;
        while let Some(later) = lines.line()? {
            let Ok(later) = later else { continue };
            if later.digest == line.digest {
                let what = format!("line {} is the same once more", lines.number);
                return Ok(self.fault(FaultKind::Duplicated, what));
            }
            if expected_at.is_none() && later.follows(self.joint) {
                expected_at = Some(lines.number);
            }
        }
        let expected = self.expected();
        Ok(match expected_at {
            Some(at) => self.fault(
                FaultKind::Reordered,
                format!(
                    "it is entry {}, but entry {expected} stands behind it in line {at}",
                    line.seq
                ),
            ),
            None => self.fault(
                FaultKind::Missing,
                format!("entries {expected} to {} are not there", line.seq - 1),
            ),
        })
    }

    /// Its number is right, but it was written after another line.
    fn other_chain(&self, last: Option<&Line>, line: &Line, next: Option<&Line>, goes_on: bool) -> Fault {
        if goes_on {
            let what = format!("the next line is entry {} too, and the right one", line.seq);
            return self.fault(FaultKind::Inserted, what);
        }
        let rest_agrees = next.is_none_or(|next| next.follows(line.joint()));
        if last.is_some() && rest_agrees {
            let what = format!(
                "its bytes are not those that line {} was written after",
                self.number
            );
            return self.fault_before(FaultKind::Edited, what);
        }
        let what = "it does not name the line before it".to_owned();
        self.fault(FaultKind::Edited, what)
    }

    /// Returns the number of the line before this one that has these bytes.
    fn earlier(&self, lines: &mut Lines<'_>, digest: Digest) -> io::Result<Option<u64>> {
        lines.seek(0, 1)?;
        while lines.offset < self.start {
            let Some(line) = lines.line()? else { break };
            if line.is_ok_and(|line| line.digest == digest) {
                return Ok(Some(lines.number));
            }
        }
        Ok(None)
    }
}
