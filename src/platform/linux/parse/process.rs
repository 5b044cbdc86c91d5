//! `cmdline`, `environ`, `status`, `cgroup` of a process.

use std::collections::BTreeSet;

use super::{decimal, in_base, labelled, words};
use crate::model::bytes::OsBytes;
use crate::model::process::{Argv, Environment, SignalMasks};
use crate::platform::environment;

/// Splits a command line at its NULs. Empty elements inside are kept, those at the end (padding of a
/// rewritten title) are not.
pub(in crate::platform::linux) fn argv(bytes: &[u8]) -> Argv {
    let used = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    if used == 0 {
        return Vec::new();
    }
    bytes
        .get(..used)
        .unwrap_or_default()
        .split(|byte| *byte == 0)
        .map(OsBytes::from)
        .collect()
}

/// Keeps the names of an environment, and the values of `identifiers` only.
pub(in crate::platform::linux) fn environment(bytes: &[u8], identifiers: &BTreeSet<String>) -> Environment {
    environment::keep(bytes.split(|byte| *byte == 0), identifiers)
}

/// Returns the number that a variable of an environment holds, as getenv(3) finds it.
pub(in crate::platform::linux) fn number_in_environment(bytes: &[u8], name: &str) -> Option<u32> {
    let value = |element: &'_ [u8]| -> Option<u64> {
        element
            .strip_prefix(name.as_bytes())?
            .strip_prefix(b"=")
            .and_then(decimal)
    };
    bytes
        .split(|byte| *byte == 0)
        .find_map(value)
        .and_then(|number| u32::try_from(number).ok())
}

/// What of `status` is needed for every process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform::linux) struct Status {
    /// Real user id.
    pub(in crate::platform::linux) uid: u32,
    /// Whether it has pages locked in memory (`VmLck` above 0).
    pub(in crate::platform::linux) pages_locked: bool,
}

/// What of `status` is needed for a closer look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::linux) struct CloserStatus {
    pub(in crate::platform::linux) signals: Option<SignalMasks>,
    /// `VmSwap`; a zombie and a kernel thread have none.
    pub(in crate::platform::linux) swap_bytes: Option<u64>,
    /// `NSpid`; kernels before 4.1 do not print it.
    pub(in crate::platform::linux) namespace_pids: Option<Vec<u32>>,
}

/// Parses what every process needs. A name with line ends is escaped by the kernel in this file, so no
/// label can be forged.
pub(in crate::platform::linux) fn status(text: &[u8]) -> Option<Status> {
    let uid = words(labelled(text, b"Uid:")?).next().and_then(decimal)?;
    Some(Status {
        uid: u32::try_from(uid).ok()?,
        pages_locked: labelled(text, b"VmLck:")
            .and_then(kilobytes)
            .is_some_and(|bytes| bytes > 0),
    })
}

/// Parses what a closer look needs.
pub(in crate::platform::linux) fn closer_status(text: &[u8]) -> CloserStatus {
    let mask = |label: &[u8]| labelled(text, label).and_then(|digits| in_base(digits, 16));
    let signals = || {
        Some(SignalMasks {
            pending: mask(b"SigPnd:")? | mask(b"ShdPnd:")?,
            blocked: mask(b"SigBlk:")?,
            ignored: mask(b"SigIgn:")?,
            caught: mask(b"SigCgt:")?,
        })
    };
    let pids = |line| -> Option<Vec<u32>> {
        words(line)
            .map(|word| decimal(word).and_then(|pid| u32::try_from(pid).ok()))
            .collect()
    };
    CloserStatus {
        signals: signals(),
        swap_bytes: labelled(text, b"VmSwap:").and_then(kilobytes),
        namespace_pids: labelled(text, b"NSpid:").and_then(pids),
    }
}

/// What a process may do, as far as the kernel asks for it when files of other processes are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::platform::linux) struct Rights {
    /// Effective capabilities, `CapEff`.
    pub(in crate::platform::linux) effective: u64,
    /// The group that it reaches files with, the last of `Gid`, and its further ones.
    pub(in crate::platform::linux) groups: BTreeSet<u32>,
}

/// Parses the rights in `status`; what is not there is not given.
pub(in crate::platform::linux) fn rights(text: &[u8]) -> Rights {
    let own = labelled(text, b"Gid:").and_then(|line| words(line).last());
    let more = labelled(text, b"Groups:").map(words);
    let groups = own.into_iter().chain(more.into_iter().flatten());
    Rights {
        effective: labelled(text, b"CapEff:")
            .and_then(|digits| in_base(digits, 16))
            .unwrap_or(0),
        groups: groups
            .filter_map(|group| decimal(group).and_then(|group| u32::try_from(group).ok()))
            .collect(),
    }
}

fn kilobytes(value: &[u8]) -> Option<u64> {
    words(value).next().and_then(decimal)?.checked_mul(1024)
}

/// Returns the control group: of version 2, else of the hierarchy `name=systemd`.
pub(in crate::platform::linux) fn cgroup(text: &[u8]) -> Option<OsBytes> {
    let path_of = |controllers: &[u8]| {
        text.split(|byte| *byte == b'\n').find_map(|line| {
            let mut parts = line.splitn(3, |byte| *byte == b':');
            let (_, found, path) = (parts.next()?, parts.next()?, parts.next()?);
            (found == controllers).then(|| OsBytes::from(path))
        })
    };
    // A hybrid system has a version 2 group `/` beside the one that systemd uses.
    match (path_of(b""), path_of(b"name=systemd")) {
        (Some(unified), Some(named)) if unified.as_bytes() == b"/" => Some(named),
        (Some(unified), _) => Some(unified),
        (None, named) => named,
    }
}

/// Returns the number in a namespace link: 4026531836 for `pid:[4026531836]`.
pub(in crate::platform::linux) fn namespace(link: &[u8]) -> Option<u64> {
    let open = link.iter().position(|byte| *byte == b'[')?;
    decimal(link.get(open + 1..)?.strip_suffix(b"]")?)
}
