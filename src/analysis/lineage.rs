//! What became of the parent pointer at the top of an instance, and who adopted it.
//!
//! The kernel has no flag for it (`PR_SET_CHILD_SUBREAPER` is not shown either): every answer says
//! how it is known.

use crate::model::bytes::OsBytes;
use crate::model::finding::{Adopter, AdopterKind, Fact, Lineage};
use crate::model::host::Os;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;

use super::court::{Court, context, supporting};

/// The answer for one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Descent {
    /// What became of the parent.
    pub(crate) lineage: Lineage,
    /// Who adopted it.
    pub(crate) adopter: Option<Adopter>,
    /// How it is known.
    pub(crate) facts: Vec<Fact>,
}

/// Traces the parent of an instance's top.
pub(crate) fn trace(court: &Court<'_>, top: ProcessKey, managed: bool) -> Descent {
    let Some(process) = court.get(top) else {
        return unknown();
    };
    let Some(parent) = process.ppid.and_then(|pid| court.by_pid(pid)) else {
        return if process.ppid.is_none() {
            first_of_namespace()
        } else {
            unknown()
        };
    };
    if managed {
        return Descent {
            lineage: Lineage::Child,
            adopter: None,
            facts: Vec::new(),
        };
    }
    if court.sample.host.os == Os::Macos && parent.key.pid == Pid::INIT && !was_adopted(court, process) {
        return child_of_launchd();
    }
    match reparented(court, process, parent) {
        Some((code, because)) => {
            let (kind, how) = adopter_kind(court, parent);
            let text = format!("its parent is {}: {because}", court.call(parent.key));
            let source = format!("/proc/{}/stat", process.key.pid);
            Descent {
                lineage: Lineage::Reparented,
                adopter: Some(Adopter {
                    pid: parent.key.pid,
                    kind,
                    name: parent.comm.clone(),
                    because: format!("{because}; {how}"),
                }),
                facts: vec![supporting(code, text, source)],
            }
        }
        None => Descent {
            lineage: Lineage::Child,
            adopter: None,
            facts: Vec::new(),
        },
    }
}

/// launchd starts applications and agents as well as adopting orphans: such a parent says nothing by itself.
fn child_of_launchd() -> Descent {
    let fact = context(
        "parent_launchd",
        "its parent is launchd, which starts applications as well as adopting orphans: that alone says nothing",
        "/proc/PID/stat",
    );
    Descent {
        lineage: Lineage::Unknown,
        adopter: None,
        facts: vec![fact],
    }
}

/// Returns whether the parent is known to have changed: by the sample before, or by the kernel's word.
fn was_adopted(court: &Court<'_>, process: &Process) -> bool {
    let before = court.before(process.key).and_then(|before| before.ppid);
    court.sample.adopted.contains(&process.key) || before.is_some_and(|before| Some(before) != process.ppid)
}

fn unknown() -> Descent {
    let fact = context(
        "parent_unseen",
        "its parent cannot be seen from here",
        "/proc/PID/stat",
    );
    Descent {
        lineage: Lineage::Unknown,
        adopter: None,
        facts: vec![fact],
    }
}

fn first_of_namespace() -> Descent {
    let fact = context(
        "no_parent",
        "it has no parent here: it is the first process of the namespace, or came from outside it",
        "/proc/PID/stat",
    );
    Descent {
        lineage: Lineage::Unknown,
        adopter: None,
        facts: vec![fact],
    }
}

/// Returns why the present parent is not the one that started it.
fn reparented(court: &Court<'_>, process: &Process, parent: &Process) -> Option<(&'static str, String)> {
    let before = court.before(process.key).and_then(|before| before.ppid);
    if let Some(before) = before.filter(|before| Some(*before) != process.ppid) {
        return Some(("reparented_seen", format!("it was {before} in the sample before")));
    }
    if court.sample.adopted.contains(&process.key) {
        let because = "the kernel remembers another parent than this one (unique id)";
        return Some(("reparented", because.to_owned()));
    }
    if is_first_of_namespace(parent) && parent.key.pid != court.sample.observer.pid {
        let because =
            "the first process of its namespace adopts what lost its parent, and no unit says it started it";
        return Some(("reparented", because.to_owned()));
    }
    if is_user_manager(parent) {
        return Some((
            "reparented",
            "the user's service manager adopts what lost its parent".to_owned(),
        ));
    }
    if inherited_session(process, parent) {
        let because = "it is in a session that this parent was never in: another process started it";
        return Some(("reparented", because.to_owned()));
    }
    if adopts_others(court, parent, process) {
        let because = "this parent has adopted other processes too, and the instance leads its own session";
        return Some(("reparented", because.to_owned()));
    }
    None
}

/// A session is inherited or led; a process in a session that neither it leads nor its parent is
/// in was started by somebody else.
fn inherited_session(process: &Process, parent: &Process) -> bool {
    process.sid.is_some() && process.sid != Some(process.key.pid) && process.sid != parent.sid
        // A parent that left the session after the fork leads its own now.
        && !(parent.sid == Some(parent.key.pid) && parent.key.start > process.key.start)
}

fn adopts_others(court: &Court<'_>, parent: &Process, process: &Process) -> bool {
    process.sid == Some(process.key.pid)
        && court
            .tree
            .children(parent.key.pid)
            .iter()
            .filter_map(|pid| court.by_pid(*pid))
            .any(|child| child.key != process.key && inherited_session(child, parent))
}

fn is_first_of_namespace(process: &Process) -> bool {
    process.key.pid == Pid::INIT || is_container_init(process)
}

fn is_container_init(process: &Process) -> bool {
    let inner = process.namespace_pids.value();
    process.key.pid != Pid::INIT && inner.is_some_and(|pids| pids.len() > 1 && pids.last() == Some(&1))
}

fn is_user_manager(process: &Process) -> bool {
    let args = process.args();
    args.first()
        .is_some_and(|program| program.basename() == b"systemd")
        && args
            .iter()
            .skip(1)
            .any(|argument| argument.as_bytes() == b"--user")
}

fn adopter_kind(court: &Court<'_>, parent: &Process) -> (AdopterKind, String) {
    if is_container_init(parent) {
        return (
            AdopterKind::ContainerInit,
            "it is pid 1 of a container's namespace (NSpid)".to_owned(),
        );
    }
    if parent.key.pid == Pid::INIT {
        return (AdopterKind::Init, "pid 1 adopts orphans".to_owned());
    }
    if is_user_manager(parent) {
        return (AdopterKind::UserManager, "argv is `systemd --user`".to_owned());
    }
    let name: OsBytes = parent.comm.clone();
    let many = adopts_any(court, parent);
    if many {
        return (
            AdopterKind::Subreaper,
            format!(
                "{} lives and has taken in processes of other sessions: a child subreaper",
                name.lossy()
            ),
        );
    }
    (AdopterKind::Other, "the kernel gave it this parent".to_owned())
}

fn adopts_any(court: &Court<'_>, parent: &Process) -> bool {
    court
        .tree
        .children(parent.key.pid)
        .iter()
        .filter_map(|pid| court.by_pid(*pid))
        .any(|child| inherited_session(child, parent))
}
