//! What became of the parent pointer at the top of an instance, and who adopted it.
//!
//! The kernel has no flag for it (`PR_SET_CHILD_SUBREAPER` is not shown either): every answer says
//! how it is known.

use crate::model::finding::{Adopter, AdopterKind, Fact, Finding, Lineage};
use crate::model::host::Os;
use crate::model::identity::{InstanceId, Pid, ProcessKey};
use crate::model::process::Process;

use super::court::{Court, context, supporting};
use super::finding::Judgement;

/// How many sessions, each left for the next, are followed upwards.
const MOST_SESSIONS: usize = 16;

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

/// What the judgement of an instance says of its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ties<'a> {
    /// The id of the instance.
    pub(crate) instance: InstanceId,
    /// Whether a service manager says that it started it.
    pub(crate) managed: bool,
    /// The judgement.
    pub(crate) judgement: &'a Judgement,
}

/// How sure it is that the present parent adopted a process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Adopted {
    /// It did.
    Yes(&'static str, String),
    /// All that was seen says so; that it holds the wire would speak against it.
    Likely(String),
    /// Either it did, or it started the process and changed since.
    Perhaps(String),
    /// Nothing says so.
    No,
}

/// Traces the parent of an instance's top.
pub(crate) fn trace(court: &Court<'_>, top: ProcessKey, ties: Ties<'_>) -> Descent {
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
    let source = format!("/proc/{}/stat", process.key.pid);
    match adopted(court, process, parent, ties) {
        Adopted::Yes(code, because) => {
            let (kind, how) = adopter_kind(parent);
            let text = format!("its parent is {}: {because}", court.call(parent.key));
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
        Adopted::Perhaps(doubt) => Descent {
            lineage: Lineage::Unknown,
            adopter: None,
            facts: vec![context(
                "parent_doubtful",
                format!("its parent is {}: {doubt}", court.call(parent.key)),
                source,
            )],
        },
        Adopted::Likely(_) | Adopted::No => Descent {
            lineage: Lineage::Child,
            adopter: None,
            facts: Vec::new(),
        },
    }
}

/// Returns whether the parent of a process is known to have adopted it, whatever its wire says.
pub(crate) fn is_adopter(court: &Court<'_>, process: &Process, parent: &Process) -> bool {
    by_office(court, parent).is_some() || matches!(by_nature(court, process, parent), Adopted::Yes(..))
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

/// Weighs what is known of the present parent, the surest first.
fn adopted(court: &Court<'_>, process: &Process, parent: &Process, ties: Ties<'_>) -> Adopted {
    if ties.managed {
        return Adopted::No;
    }
    if let Some((code, because)) = seen(court, process, parent, ties.instance) {
        return Adopted::Yes(code, because);
    }
    match by_nature(court, process, parent) {
        sure @ Adopted::Yes(..) => sure,
        _ if holds_wire(ties.judgement, parent) => Adopted::No,
        Adopted::Likely(because) => Adopted::Yes("reparented", because),
        doubt @ Adopted::Perhaps(_) => doubt,
        Adopted::No => by_company(court, process, parent, ties.judgement.finding),
    }
}

/// It had another parent in an earlier sample of this run.
fn seen(
    court: &Court<'_>,
    process: &Process,
    parent: &Process,
    instance: InstanceId,
) -> Option<(&'static str, String)> {
    let code = "reparented_seen";
    let before = court.before(process.key)?.ppid;
    if let Some(before) = before.filter(|before| Some(*before) != process.ppid) {
        return Some((code, format!("it was {before} in an earlier sample")));
    }
    // Once seen, it is known for the rest of the run.
    let earlier = court.previous?.judged.instance(instance)?;
    let fact = earlier.facts.iter().find(|fact| fact.code == code)?;
    let same = earlier.top == process.key && earlier.adopter.as_ref()?.pid == parent.key.pid;
    let because = fact.text.rsplit_once(": ")?.1;
    same.then(|| (code, because.to_owned()))
}

/// What parent and process are by themselves: nothing here depends on the wire.
fn by_nature(court: &Court<'_>, process: &Process, parent: &Process) -> Adopted {
    if court.sample.adopted.contains(&process.key) {
        let because = "the kernel remembers another parent than this one (unique id)";
        return Adopted::Yes("reparented", because.to_owned());
    }
    if court.sample.host.os == Os::Macos && parent.key.pid == Pid::INIT {
        let doubt = "launchd starts applications as well as adopting orphans, so that alone says nothing";
        return Adopted::Perhaps(doubt.to_owned());
    }
    if parent.key.start > process.key.start {
        return Adopted::Yes("reparented", "it is older than this parent".to_owned());
    }
    if let Some(because) = by_office(court, parent) {
        // In a container the client itself can be the first process.
        return if court.is_client(parent.key) {
            Adopted::Perhaps(format!("a client, which may have started it, but {because}"))
        } else {
            Adopted::Likely(because.to_owned())
        };
    }
    by_session(court, process, parent)
}

/// Returns why a process is one that orphans are given to.
fn by_office(court: &Court<'_>, parent: &Process) -> Option<&'static str> {
    if is_first_of_namespace(parent) && parent.key.pid != court.sample.observer.pid {
        Some("the first process of its namespace adopts what lost its parent, and no unit says it started it")
    } else if is_user_manager(parent) {
        Some("the user's service manager adopts what lost its parent")
    } else {
        None
    }
}

/// A session is inherited or led: a process in a session that neither it leads nor its parent is in was
/// started by somebody else, or its parent has left that session since.
fn by_session(court: &Court<'_>, process: &Process, parent: &Process) -> Adopted {
    let Some(session) = process
        .sid
        .filter(|sid| *sid != process.key.pid && Some(*sid) != parent.sid)
    else {
        return Adopted::No;
    };
    if !may_have_been_in(court, parent, session) {
        let because = format!("it is in session {session}, which this parent was never in");
        return Adopted::Yes("reparented", because);
    }
    if court.by_pid(session).is_some() || !court.sees_all() || court.is_client(parent.key) {
        return Adopted::Perhaps(format!(
            "it is in session {session} and this parent leads another: either the parent left that session \
             after it had started it, or it adopted it"
        ));
    }
    let because = format!("it is in session {session}, whose leader is gone, and this parent leads another");
    Adopted::Likely(because)
}

/// Returns whether a process can have been in a session that it is not in now. Only a process that leads
/// a session has left one; it was in that of whoever started it.
fn may_have_been_in(court: &Court<'_>, process: &Process, session: Pid) -> bool {
    let mut process = process;
    for _ in 0..MOST_SESSIONS {
        if process.sid == Some(session) {
            return true;
        }
        if process.sid != Some(process.key.pid) {
            return false;
        }
        // A session is younger than the process that leads it, and holds only what was started later.
        if court
            .by_pid(session)
            .is_some_and(|leader| leader.key.start > process.key.start)
        {
            return false;
        }
        let starter = process.ppid.and_then(|pid| court.by_pid(pid));
        match starter.filter(|starter| !is_first_of_namespace(starter) && !is_user_manager(starter)) {
            Some(starter) => process = starter,
            None => return true,
        }
    }
    true
}

/// A process that leads its own session shows nothing of the one that it was started in; whom its parent
/// has adopted beside it, and what the parent still holds, may.
fn by_company(court: &Court<'_>, process: &Process, parent: &Process, finding: Finding) -> Adopted {
    if process.sid != Some(process.key.pid) {
        return Adopted::No;
    }
    if adopts_others(court, parent, process) {
        let because = "this parent has adopted other processes too, and the instance leads its own session";
        return Adopted::Yes("reparented", because.to_owned());
    }
    let lost = matches!(finding, Finding::Severed | Finding::Held);
    if lost && !court.is_client(parent.key) {
        let doubt = "it holds nothing of the wire and is no known client: either it started the instance and \
                     let go of it, or it adopted it";
        return Adopted::Perhaps(doubt.to_owned());
    }
    Adopted::No
}

fn holds_wire(judgement: &Judgement, parent: &Process) -> bool {
    let ends = judgement.stdio.as_ref().into_iter();
    let ends = ends.flat_map(|stdio| [&stdio.stdin, &stdio.stdout]).flatten();
    let mut holders = ends.flat_map(|end| &end.holders);
    judgement.client == Some(parent.key) || holders.any(|holder| holder.pid == parent.key.pid)
}

fn adopts_others(court: &Court<'_>, parent: &Process, process: &Process) -> bool {
    court
        .tree
        .children(parent.key.pid)
        .iter()
        .filter_map(|pid| court.by_pid(*pid))
        .filter(|child| child.key != process.key)
        .any(|child| {
            matches!(
                by_nature(court, child, parent),
                Adopted::Yes(..) | Adopted::Likely(_)
            )
        })
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

/// The kernel gives orphans to nobody else than a child subreaper or the first process of the namespace.
fn adopter_kind(parent: &Process) -> (AdopterKind, &'static str) {
    if is_container_init(parent) {
        (
            AdopterKind::ContainerInit,
            "it is pid 1 of a container's namespace (NSpid)",
        )
    } else if parent.key.pid == Pid::INIT {
        (AdopterKind::Init, "pid 1 adopts orphans")
    } else if is_user_manager(parent) {
        (AdopterKind::UserManager, "argv is `systemd --user`")
    } else {
        (
            AdopterKind::Subreaper,
            "it is not the first process of its namespace: only a child subreaper gets orphans beside that",
        )
    }
}
