//! Fills `mcpwake.evidence/1` for one process.

use std::collections::BTreeSet;

use super::{Selection, ancestors, around, host, instance, problems, process};
use crate::model::descriptor::{Access, Descriptor, Holder, Target};
use crate::model::finding::End;
use crate::model::host::Os;
use crate::model::identity::{InstanceId, Pid};
use crate::model::instance::Instance;
use crate::model::process::{Process, SignalMasks};
use crate::model::socket::{Protocol, UnixSocket};
use crate::model::world::World;
use crate::report::evidence::{self, Evidence, Group, Identified, OtherEnd, SCHEMA, Signals, Socket};
use crate::report::publish::{Exact, Secrets, redacted};
use crate::report::word;

/// Returns the evidence on a process of this world. `identified` comes from the judgement.
pub(in crate::report) fn evidence(
    world: &World,
    subject: &Process,
    identified: &Identified,
    secrets: Secrets<'_>,
) -> Evidence {
    let own = own_instances(world, subject);
    let mut pids = around(world, &own);
    pids.insert(subject.key.pid);
    pids.extend(ancestors(world, subject));
    let group = group(world, subject);
    pids.extend(
        group
            .members
            .iter()
            .chain(&group.session_members)
            .filter_map(|pid| Pid::new((*pid).into())),
    );
    let descriptors = subject.descriptors.value();
    Evidence {
        schema: SCHEMA,
        taken_at: world.sample.taken_at.rfc3339(),
        host: host(&world.sample),
        process: process(world, subject, secrets),
        identification: Identified {
            headline: secrets.line(&identified.headline),
            because: identified.because.iter().map(|line| secrets.line(line)).collect(),
            near_misses: identified
                .near_misses
                .iter()
                .map(|line| secrets.line(line))
                .collect(),
        },
        instances: own.iter().map(|one| instance(one, secrets)).collect(),
        descriptors: descriptors.map(|all| {
            all.iter()
                .map(|one| descriptor(world, subject, &own, one, secrets))
                .collect()
        }),
        sockets: descriptors
            .map(|all| {
                all.iter()
                    .filter_map(|one| socket(world, subject, &own, one, secrets))
                    .collect()
            })
            .unwrap_or_default(),
        group,
        signals: signals(world, subject),
        processes: pids
            .iter()
            .filter_map(|pid| world.sample.process(*pid))
            .map(|one| process(world, one, secrets))
            .collect(),
        problems: problems(world, &pids, Some(subject.key), secrets),
    }
}

/// Returns the instances that a process has a part in, in trouble first.
fn own_instances<'a>(world: &'a World, subject: &Process) -> Vec<&'a Instance> {
    let ids: BTreeSet<InstanceId> = world
        .judged
        .roles
        .get(&subject.key)
        .into_iter()
        .flatten()
        .map(|role| role.instance)
        .collect();
    let mut own = Selection::default().instances(world);
    own.retain(|instance| {
        ids.contains(&instance.id) || instance.members().any(|(key, _)| key == subject.key)
    });
    own
}

fn group(world: &World, subject: &Process) -> Group {
    let members_of = |same: &dyn Fn(&Process) -> bool| -> Vec<&Process> {
        world
            .sample
            .processes
            .values()
            .map(AsRef::as_ref)
            .filter(|process| same(process))
            .collect()
    };
    let members = members_of(&|process| subject.pgid.is_some() && process.pgid == subject.pgid);
    let session = members_of(&|process| subject.sid.is_some() && process.sid == subject.sid);
    let own = world.judged.instance_of(subject.key);
    let other: BTreeSet<InstanceId> = members
        .iter()
        .filter_map(|process| world.judged.instance_of(process.key))
        .filter(|id| Some(*id) != own)
        .collect();
    Group {
        pgid: subject.pgid.map(Pid::get),
        members: members.iter().map(|process| process.key.pid.get()).collect(),
        sid: subject.sid.map(Pid::get),
        session_members: session.iter().map(|process| process.key.pid.get()).collect(),
        other_instances: other.iter().map(InstanceId::to_string).collect(),
    }
}

fn descriptor(
    world: &World,
    subject: &Process,
    own: &[&Instance],
    descriptor: &Descriptor,
    secrets: Secrets<'_>,
) -> evidence::Descriptor {
    let (kind, target) = target(&descriptor.target, secrets);
    evidence::Descriptor {
        fd: descriptor.fd,
        kind,
        target: target.text,
        target_base64: target.base64,
        inode: descriptor.target.inode(),
        access: descriptor.access.value().copied().map(word::access),
        wire: wire(subject, own, descriptor),
        other_end: other_end(world, descriptor),
    }
}

fn target(target: &Target, secrets: Secrets<'_>) -> (&'static str, Exact) {
    let plain = |text: String| Exact { text, base64: None };
    match target {
        Target::Pipe { inode } => ("pipe", plain(format!("pipe:[{inode}]"))),
        Target::Fifo { path, .. } => ("fifo", redacted(path, secrets)),
        Target::Socket { inode } => ("socket", plain(format!("socket:[{inode}]"))),
        Target::Terminal { path, hung_up: false } => ("terminal", redacted(path, secrets)),
        Target::Terminal { path, hung_up: true } => {
            ("terminal", marked(redacted(path, secrets), " (hung up)"))
        }
        Target::PtyMaster { index: Some(index) } => ("pty-master", plain(format!("of /dev/pts/{index}"))),
        Target::PtyMaster { index: None } => ("pty-master", plain("/dev/ptmx".to_owned())),
        Target::Null => ("null", plain("/dev/null".to_owned())),
        Target::File { path, deleted: false } => ("file", redacted(path, secrets)),
        Target::File { path, deleted: true } => ("file", marked(redacted(path, secrets), " (deleted)")),
        Target::Anonymous { name, pid } => {
            let mark = pid.map(|pid| format!(" of pid {pid}")).unwrap_or_default();
            ("anonymous", marked(redacted(name, secrets), &mark))
        }
        Target::Other { link } => ("other", redacted(link, secrets)),
    }
}

fn marked(mut exact: Exact, mark: &str) -> Exact {
    exact.text.push_str(mark);
    exact
}

/// Returns which stream of the wire a descriptor is.
fn wire(subject: &Process, own: &[&Instance], descriptor: &Descriptor) -> Option<&'static str> {
    let is = |end: &Option<End>| {
        end.as_ref()
            .is_some_and(|end| end.pid == subject.key.pid && end.fd == Some(descriptor.fd))
    };
    own.iter()
        .filter_map(|instance| instance.stdio.as_ref())
        .find_map(|stdio| {
            [
                ("stdin", &stdio.stdin),
                ("stdout", &stdio.stdout),
                ("stderr", &stdio.stderr),
            ]
            .into_iter()
            .find(|(_, end)| is(end))
            .map(|(name, _)| name)
        })
}

/// Returns who holds the other end of a descriptor: of a pipe those who opened it the other way, of a
/// unix socket those who have its peer, of a terminal those who have its master.
fn other_end(world: &World, descriptor: &Descriptor) -> Option<Vec<OtherEnd>> {
    let sample = &world.sample;
    let opposite = |holders: &Vec<Holder>, access: Access| {
        let other = |holder: &&Holder| {
            (access.reads() && holder.access.writes()) || (access.writes() && holder.access.reads())
        };
        holders.iter().filter(other).map(published).collect()
    };
    match &descriptor.target {
        Target::Pipe { inode } | Target::Fifo { inode, .. } => {
            let access = *descriptor.access.value()?;
            sample.holders.get(inode).map(|holders| opposite(holders, access))
        }
        Target::Socket { inode } => match sample.sockets.value()?.unix.get(inode)?.peer? {
            0 => Some(Vec::new()),
            peer => sample
                .holders
                .get(&peer)
                .map(|holders| holders.iter().map(published).collect()),
        },
        Target::Terminal { path, .. } => {
            let index = path.as_str()?.strip_prefix("/dev/pts/")?.parse().ok()?;
            sample
                .terminal_masters
                .get(&index)
                .map(|holders| holders.iter().map(published).collect())
        }
        _ => None,
    }
}

fn published(holder: &Holder) -> OtherEnd {
    OtherEnd {
        pid: holder.process.pid.get(),
        fd: holder.fd,
        access: word::access(holder.access),
    }
}

fn socket(
    world: &World,
    subject: &Process,
    own: &[&Instance],
    descriptor: &Descriptor,
    secrets: Secrets<'_>,
) -> Option<Socket> {
    let Target::Socket { inode } = descriptor.target else {
        return None;
    };
    let lead = own
        .iter()
        .flat_map(|instance| instance.reach.iter().flatten())
        .find(|lead| lead.pid == subject.key.pid && lead.fd == Some(descriptor.fd))
        .map(|lead| lead.letter.clone());
    let mut row = Socket {
        fd: descriptor.fd,
        inode,
        protocol: "unknown",
        state: None,
        local: None,
        remote: None,
        unread: None,
        last_sent_ms: None,
        last_received_ms: None,
        bytes_sent: None,
        bytes_received: None,
        lead,
    };
    let Some(sockets) = world.sample.sockets.value() else {
        return Some(row);
    };
    if let Some(unix) = sockets.unix.get(&inode) {
        row.protocol = "unix";
        row.state = Some(
            match (unix.listening, unix.peer) {
                (true, _) => "LISTEN",
                (false, Some(0)) => "peer closed",
                (false, Some(_)) => "ESTAB",
                (false, None) => "UNCONN",
            }
            .to_owned(),
        );
        row.local = bound(unix, secrets);
        row.remote = unix
            .peer
            .and_then(|peer| sockets.unix.get(&peer))
            .and_then(|peer| bound(peer, secrets));
        row.unread = unix.unread;
    } else if let Some(inet) = sockets.inet.get(&inode) {
        row.protocol = match inet.protocol {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        };
        row.state = Some(inet.state.clone());
        row.local = Some(inet.local.to_string());
        row.remote = inet.remote.map(|remote| remote.to_string());
        row.last_sent_ms = inet.last_sent_ms;
        row.last_received_ms = inet.last_received_ms;
        row.bytes_sent = inet.bytes_sent;
        row.bytes_received = inet.bytes_received;
    }
    Some(row)
}

/// Returns the path that a unix socket is bound to.
fn bound(socket: &UnixSocket, secrets: Secrets<'_>) -> Option<String> {
    socket.path.as_ref().map(|path| redacted(path, secrets).text)
}

fn signals(world: &World, subject: &Process) -> Option<Signals> {
    let SignalMasks {
        pending,
        blocked,
        ignored,
        caught,
    } = *subject.signals.value()?;
    let os = world.sample.host.os;
    let names = |mask: u64| {
        (1..=64)
            .filter(|bit| mask >> (bit - 1) & 1 == 1)
            .map(|bit| signal(os, bit))
            .collect()
    };
    Some(Signals {
        pending: names(pending),
        blocked: names(blocked),
        ignored: names(ignored),
        caught: names(caught),
    })
}

/// Names of Linux's signals 1 to 31 (signal(7), x86 and arm).
const LINUX_SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

fn signal(os: Os, number: usize) -> String {
    match (os, LINUX_SIGNALS.get(number - 1)) {
        (Os::Linux, Some(name)) => (*name).to_owned(),
        _ => number.to_string(),
    }
}
