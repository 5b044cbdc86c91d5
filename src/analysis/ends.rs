//! The ends of a wire as they are published: descriptor, kind, and who holds the other side.

use crate::model::descriptor::{Descriptor, Holder, Target};
use crate::model::finding::{End, EndHolder, EndKind, PeerState, Relation, Stdio};
use crate::model::identity::ProcessKey;
use crate::model::process::Process;

use super::finding::Case;
use super::wire::{self, OtherEnd, WireEnd};

/// How many holders are named; more are counted.
const NAMED: usize = 8;

/// Returns the three ends of an instance's wire; `None` where no descriptor could be read.
pub(crate) fn stdio(case: &Case<'_, '_>, client: Option<ProcessKey>) -> Option<Stdio> {
    let server = case
        .chain
        .iter()
        .find(|process| process.descriptors.value().is_some())?;
    let wired = |end: Option<WireEnd>| end.and_then(|end| of_wire(case, end, client));
    let standard = |fd| Some(of_descriptor(case, server, fd, client));
    let stdin = case.wire.map(|wire| wire.stdin);
    let stdout = case.wire.and_then(|wire| wire.stdout);
    Some(Stdio {
        stdin: wired(stdin).or_else(|| standard(0)),
        stdout: wired(stdout).or_else(|| standard(1)),
        stderr: standard(2),
    })
}

fn of_wire(case: &Case<'_, '_>, end: WireEnd, client: Option<ProcessKey>) -> Option<End> {
    let process = case.court.get(end.process)?;
    let one = wire::descriptor(process, end.fd)?;
    Some(build(case, process, Some(one), end.fd, Some(end), client))
}

fn of_descriptor(case: &Case<'_, '_>, process: &Process, fd: u32, client: Option<ProcessKey>) -> End {
    let one = wire::descriptor(process, fd);
    let end = one.and_then(|one| {
        let socket = matches!(one.target, Target::Socket { .. });
        let inode = one.target.inode()?;
        Some(WireEnd {
            process: process.key,
            fd,
            inode,
            socket,
            reads: fd == 0,
        })
    });
    build(case, process, one, fd, end, client)
}

fn build(
    case: &Case<'_, '_>,
    process: &Process,
    one: Option<&Descriptor>,
    fd: u32,
    end: Option<WireEnd>,
    client: Option<ProcessKey>,
) -> End {
    let kind = one.map_or(EndKind::Closed, |one| kind(&one.target));
    let other = match end {
        Some(end) => Some(wire::other_end(case.court.sample, end)),
        None => one.and_then(|one| terminal_master(case, one)),
    };
    let holders = other.as_ref().map_or(&[][..], OtherEnd::holders);
    let mut named: Vec<EndHolder> = holders
        .iter()
        .map(|holder| holder_of(case, holder, client))
        .collect();
    // One with a descriptor of each access stands there twice.
    named.dedup_by_key(|holder| holder.pid);
    named.sort_by_key(|holder| match holder.relation {
        Relation::Client => 0,
        Relation::Ancestor => 1,
        Relation::Other => 2,
        Relation::Member => 3,
    });
    let holder_count = u32::try_from(named.len()).unwrap_or(u32::MAX);
    let peer = match &other {
        None => PeerState::NotApplicable,
        Some(OtherEnd::NoHolder) if end.is_some_and(|end| case.unfound_holder(end).is_some()) => {
            PeerState::Hidden
        }
        Some(OtherEnd::Closed | OtherEnd::NoHolder) => PeerState::None,
        Some(OtherEnd::Hidden { .. } | OtherEnd::Unread(_)) => PeerState::Hidden,
        Some(OtherEnd::Holders(_)) if named.iter().all(|holder| holder.relation == Relation::Member) => {
            PeerState::Own
        }
        Some(OtherEnd::Holders(_)) => PeerState::Held,
    };
    named.truncate(NAMED);
    End {
        fd: one.map(|_| fd),
        pid: process.key.pid,
        kind,
        inode: end.map(|end| end.inode),
        access: one.and_then(|one| one.access.value().copied()),
        peer,
        holders: named,
        holder_count,
    }
}

/// The master of a terminal is its other end.
fn terminal_master(case: &Case<'_, '_>, one: &Descriptor) -> Option<OtherEnd> {
    let Target::Terminal { path, hung_up } = &one.target else {
        return None;
    };
    let index = wire::terminal_number(&path.lossy())?;
    let masters = case.court.sample.terminal_masters.get(&index);
    match masters {
        Some(masters) if !masters.is_empty() => Some(OtherEnd::Holders(masters.clone())),
        _ if *hung_up => Some(OtherEnd::Closed),
        _ => Some(OtherEnd::Unread(
            "no readable process holds the master".to_owned(),
        )),
    }
}

fn holder_of(case: &Case<'_, '_>, holder: &Holder, client: Option<ProcessKey>) -> EndHolder {
    let relation = if Some(holder.process) == client {
        Relation::Client
    } else if case.members.contains(&holder.process) {
        Relation::Member
    } else if case
        .court
        .tree
        .ancestors(case.draft.top().pid)
        .any(|ancestor| ancestor.key == holder.process)
    {
        Relation::Ancestor
    } else {
        Relation::Other
    };
    EndHolder {
        pid: holder.process.pid,
        fd: holder.fd,
        access: holder.access,
        relation,
    }
}

fn kind(target: &Target) -> EndKind {
    match target {
        Target::Pipe { .. } | Target::Fifo { .. } => EndKind::Pipe,
        Target::Socket { .. } => EndKind::Socket,
        Target::Terminal { .. } | Target::PtyMaster { .. } => EndKind::Tty,
        Target::Null => EndKind::Null,
        Target::File { .. } => EndKind::File,
        Target::Anonymous { .. } | Target::Other { .. } => EndKind::Other,
    }
}
