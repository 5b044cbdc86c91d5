//! What was seen against what is there now. Pure.

use std::mem::discriminant;

use crate::model::act::{Difference, Standing, Target};
use crate::model::bytes::OsBytes;
use crate::model::process::Process;
use crate::model::reading::Reading;

use super::permission::to_read;

/// What the kernel puts behind the path of a program file that was replaced or removed.
const DELETED: &[u8] = b" (deleted)";

/// Compares a living process, the same by pid and start time, with what was seen of it. `own` is the user id
/// that this program reads with.
pub(super) fn compare(target: &Target, now: Process, own: u32) -> Standing {
    let found = [
        (
            Difference::Argv,
            differs(&target.argv, &now.argv, |seen, now| seen == now),
        ),
        (Difference::Program, differs(&target.exe, &now.exe, same_file)),
    ];
    let mut differences = Vec::new();
    for (difference, differs) in found {
        match differs {
            Some(true) => differences.push(difference),
            Some(false) => {}
            None => {
                return Standing::Unread(format!(
                    "{} of {} was readable and is not any more: look again; if it stays so, {}",
                    what(difference),
                    target.key.pid,
                    to_read(own)
                ));
            }
        }
    }
    let now = Box::new(now);
    if differences.is_empty() {
        Standing::Same(now)
    } else {
        Standing::Changed(now, differences)
    }
}

fn what(difference: Difference) -> &'static str {
    match difference {
        Difference::Argv => "the argument vector",
        Difference::Program => "the program file",
    }
}

/// Returns whether a value is another than was seen. What could not be read then and cannot now, for the
/// same kind of reason, is as it was seen. `None`: what was seen cannot be read any more.
fn differs<T>(seen: &Reading<T>, now: &Reading<T>, same: impl Fn(&T, &T) -> bool) -> Option<bool> {
    match (seen, now) {
        (Reading::Value(seen), Reading::Value(now)) => Some(!same(seen, now)),
        (Reading::Value(_), _) => None,
        _ => Some(discriminant(seen) != discriminant(now)),
    }
}

/// A file that was replaced on disk since is the program that was seen all the same.
fn same_file(seen: &OsBytes, now: &OsBytes) -> bool {
    let path = |file: &OsBytes| {
        let bytes = file.as_bytes();
        bytes.strip_suffix(DELETED).unwrap_or(bytes).to_vec()
    };
    path(seen) == path(now)
}

#[cfg(test)]
mod tests;
