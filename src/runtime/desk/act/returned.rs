//! A process that came back: journalled once, and only where its signal was.

use crate::app::Outcome;
use crate::journal::Entry;
use crate::journal::returned::{Misplaced, Place};
use crate::runtime::desk::work::Open;

/// Journals that a process came back. Two operators may both have seen it: who comes second writes nothing,
/// and is answered with what the first has written. An incident that is closed, or is another than that of
/// the signal, gets nothing.
pub(in crate::runtime::desk) fn journal(open: &mut Open, mut place: Place, entry: Entry) -> Outcome {
    let refused = |why: &str| Outcome::Refused(why.to_owned());
    if let Err(error) = open.write_where(entry, &mut |line| place.see(line)) {
        return Outcome::Written(Err(error.to_string()));
    }
    match place.misplaced() {
        Some(Misplaced::Closed) => refused("the incident was closed"),
        Some(Misplaced::Foreign) => refused("the incident that is open does not hold its signal"),
        Some(Misplaced::Told) | None => Outcome::Written(open.new_lines().map_err(|error| error.to_string())),
    }
}
