//! Whether the mount of the proc file system hides processes from who reads it: `hidepid=` and `gid=` of
//! proc(5), against the reader's own rights.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::parse::process::rights;
use super::parse::system::{HidePid, hidepid};
use super::reader::{Reader, absence};
use crate::model::identity::Pid;
use crate::model::reading::Absence;

/// `CAP_SYS_PTRACE`.
const SYS_PTRACE: u64 = 1 << 19;
/// `gid_map` of the first user namespace, in words: everywhere else numbers of groups mean others than
/// in the options of a mount.
const FIRST_GID_MAP: [&str; 3] = ["0", "0", "4294967295"];

/// Processes are hidden from this reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hiding {
    /// Whether the processes are in the list all the same, with their files closed.
    pub(super) listed: bool,
    /// How, and from whom not; goes on after the name of the directory.
    pub(super) text: String,
}

/// What the reader may do, as far as the kernel asks for it (`has_pid_permissions` in its `fs/proc/base.c`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reads {
    /// Has the capability to trace.
    traces: bool,
    /// Is in the group that the mount exempts.
    member: bool,
    /// What of the first process can be seen.
    first: First,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum First {
    /// Nothing.
    #[default]
    Hidden,
    /// What everybody sees, not what is kept for those who may trace it.
    Refused,
    /// Everything.
    Open,
}

/// Returns how the mount at `root` hides processes from this reader; `None` where it shows them all.
pub(super) fn hiding(reader: &mut Reader, root: &Path) -> Option<Hiding> {
    let mount = hidepid(reader.system("self/mountinfo").ok()?, root.as_os_str().as_bytes())?;
    let own = reader.system("self/status").map(rights).unwrap_or_default();
    let map = reader.system("self/gid_map").unwrap_or_default();
    let first_namespace = String::from_utf8_lossy(map)
        .split_ascii_whitespace()
        .eq(FIRST_GID_MAP);
    let reads = Reads {
        traces: own.effective & SYS_PTRACE != 0,
        member: first_namespace && own.groups.contains(&mount.gid),
        first: first(reader),
    };
    judge(&mount, reads)
}

fn first(reader: &mut Reader) -> First {
    if reader.record(Pid::INIT, "stat").is_err() {
        return First::Hidden;
    }
    match reader.link(Pid::INIT, "exe") {
        Err(errno) if absence(errno) == Absence::Denied => First::Refused,
        _ => First::Open,
    }
}

fn judge(mount: &HidePid, reads: Reads) -> Option<Hiding> {
    let HidePid { value, gid } = mount;
    let by_trace = matches!(value.as_str(), "4" | "ptraceable");
    // Who sees the first process and may not trace it sees it as a member of the group, however the numbers
    // of groups read.
    let exempt = !by_trace && (reads.member || reads.first == First::Refused);
    if reads.first != First::Hidden && (reads.traces || exempt) {
        return None;
    }
    let listed = matches!(value.as_str(), "1" | "noaccess");
    let text = match (by_trace, listed) {
        _ if reads.traces => format!(
            "mounted with hidepid={value}: the first process is not shown though this program has CAP_SYS_PTRACE, so \
             others may not be either"
        ),
        (true, _) => format!(
            "mounted with hidepid={value}: processes that this program may not trace are not shown; with \
             CAP_SYS_PTRACE, which root has unless it was taken away, they are"
        ),
        (false, true) => format!(
            "mounted with hidepid={value}: other users' processes are listed and closed; with CAP_SYS_PTRACE, \
             which root has unless it was taken away, or in the group {gid} they are open"
        ),
        (false, false) => format!(
            "mounted with hidepid={value}: other users' processes are not shown; with CAP_SYS_PTRACE, which root \
             has unless it was taken away, or in the group {gid} they are"
        ),
    };
    Some(Hiding { listed, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Reads = Reads {
        traces: false,
        member: false,
        first: First::Hidden,
    };
    const SEES: Reads = Reads {
        first: First::Open,
        ..NOTHING
    };

    #[test]
    fn who_is_exempt_is_told_by_the_rules_of_the_kernel() {
        let root = Reads { traces: true, ..SEES };
        let member = Reads { member: true, ..SEES };
        let refused = Reads {
            first: First::Refused,
            ..SEES
        };
        // A container that runs as one user: its first process says nothing of others.
        let own_first = SEES;
        let contained_root = Reads {
            traces: true,
            ..NOTHING
        };
        for (who, reads, hidden) in [
            ("nobody", NOTHING, [true; 3]),
            ("root", root, [false; 3]),
            ("a member", member, [false, false, true]),
            (
                "one who sees what he may not trace",
                refused,
                [false, false, true],
            ),
            ("one whose own the first process is", own_first, [true; 3]),
            ("root of a user namespace", contained_root, [true; 3]),
        ] {
            for (value, hidden) in ["noaccess", "invisible", "ptraceable"].into_iter().zip(hidden) {
                let mount = HidePid {
                    value: value.into(),
                    gid: 0,
                };
                let found = judge(&mount, reads);
                assert_eq!(found.is_some(), hidden, "{who} under {value}");
                if let Some(found) = found {
                    assert_eq!(found.listed, value == "noaccess");
                    assert!(found.text.contains(&format!("hidepid={value}")));
                }
            }
        }
    }
}
