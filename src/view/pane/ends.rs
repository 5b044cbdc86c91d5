//! The other end of a descriptor, in words.

use super::subject::Subject;
use crate::model::descriptor::{Access, Descriptor, Holder, Target};
use crate::model::identity::ProcessKey;
use crate::model::reading::Reading;
use crate::text::Safe;

/// Holders that are named; the rest is counted.
const NAMED: usize = 3;

/// Returns what a descriptor leads to.
pub(super) fn target(subject: &Subject<'_>, descriptor: &Descriptor) -> Safe {
    let shown = subject.shown;
    match &descriptor.target {
        Target::Pipe { inode } => Safe::from_text(&format!("pipe {inode}")),
        Target::Fifo { path, .. } => join("FIFO", shown.safe_bytes(path.as_bytes())),
        Target::Socket { inode } => socket(subject, *inode),
        Target::Terminal { path, .. } => join("terminal", shown.safe_bytes(path.as_bytes())),
        Target::PtyMaster { index: Some(index) } => Safe::from_text(&format!("master of /dev/pts/{index}")),
        Target::PtyMaster { index: None } => Safe::literal("master of a terminal"),
        Target::Null => Safe::literal("/dev/null"),
        Target::File { path, deleted } => {
            let mut text = shown.safe_bytes(path.as_bytes());
            if *deleted {
                text.push_literal(" (deleted)");
            }
            text
        }
        Target::Anonymous { name, pid } => {
            let name = shown.safe_bytes(name.as_bytes());
            match pid {
                Some(pid) => Safe::join([name, Safe::literal("of"), shown.name_and_pid(*pid)], " "),
                None => name,
            }
        }
        Target::Other { link } => shown.safe_bytes(link.as_bytes()),
    }
}

fn socket(subject: &Subject<'_>, inode: u64) -> Safe {
    let sockets = &subject.shown.world.sample.sockets;
    let Reading::Value(sockets) = sockets else {
        return Safe::from_text(&format!("socket {inode}"));
    };
    if let Some(unix) = sockets.unix.get(&inode) {
        return match &unix.path {
            Some(path) => join("unix", subject.shown.safe_bytes(path.as_bytes())),
            None => Safe::from_text(&format!("unix socket {inode}")),
        };
    }
    match sockets.inet.get(&inode) {
        Some(inet) => Safe::from_text(&format!("{} {}", super::sockets::protocol(inet), inet.local)),
        None => Safe::from_text(&format!("socket {inode}")),
    }
}

fn join(word: &'static str, rest: Safe) -> Safe {
    Safe::join([Safe::literal(word), rest], " ")
}

/// Returns who holds the other end; empty for what has none.
pub(super) fn other_end(subject: &Subject<'_>, owner: ProcessKey, descriptor: &Descriptor) -> Safe {
    let sample = &subject.shown.world.sample;
    match &descriptor.target {
        Target::Pipe { inode } | Target::Fifo { inode, .. } => {
            let opposite = |holder: &Holder| match descriptor.access.value() {
                Some(Access::Read) => holder.access.writes(),
                Some(Access::Write) => holder.access.reads(),
                _ => holder.process != owner,
            };
            holders(subject, sample.holders.get(inode), opposite)
        }
        Target::Socket { inode } => socket_end(subject, *inode),
        Target::Terminal { hung_up: true, .. } => Safe::literal("hung up"),
        Target::Terminal { path, .. } => {
            let number = path
                .as_str()
                .and_then(|path| path.rsplit('/').next()?.parse::<u32>().ok());
            match number.and_then(|number| sample.terminal_masters.get(&number)) {
                Some(masters) => holders(subject, Some(masters), |_| true),
                None => Safe::default(),
            }
        }
        _ => Safe::default(),
    }
}

fn socket_end(subject: &Subject<'_>, inode: u64) -> Safe {
    let sample = &subject.shown.world.sample;
    let sockets = match &sample.sockets {
        Reading::Value(sockets) => sockets,
        other => {
            return Safe::join(
                [Safe::literal("sockets:"), crate::table::cells::absence(other)],
                " ",
            );
        }
    };
    if let Some(unix) = sockets.unix.get(&inode) {
        return match unix.peer {
            _ if unix.listening => Safe::literal("listens"),
            Some(0) => Safe::literal("closed"),
            Some(peer) => holders(subject, sample.holders.get(&peer), |_| true),
            None => Safe::literal("not connected"),
        };
    }
    match sockets.inet.get(&inode) {
        Some(inet) => match inet.remote {
            Some(remote) => Safe::from_text(&format!("{remote} {}", inet.state)),
            None => Safe::from_text(&inet.state),
        },
        None => Safe::literal("not among the sockets that are seen from here"),
    }
}

fn holders(subject: &Subject<'_>, all: Option<&Vec<Holder>>, opposite: impl Fn(&Holder) -> bool) -> Safe {
    let unsearched = subject.shown.world.sample.unsearched.len();
    let Some(all) = all else {
        return Safe::literal("not searched");
    };
    let found: Vec<&Holder> = all.iter().filter(|holder| opposite(holder)).collect();
    if found.is_empty() {
        return match unsearched {
            0 if !subject.shown.world.sample.unlisted.is_empty() => {
                Safe::literal("nobody seen; it may be held without a descriptor")
            }
            0 if subject.shown.world.sample.hidden == Some(0) => Safe::literal("nobody"),
            0 => Safe::literal("nobody seen; other users' processes are hidden"),
            1 => Safe::literal("nobody seen; 1 process could not be searched"),
            count => Safe::from_text(&format!("nobody seen; {count} processes could not be searched")),
        };
    }
    let mut parts: Vec<Safe> = found
        .iter()
        .take(NAMED)
        .map(|holder| named(subject, holder))
        .collect();
    if found.len() > NAMED {
        parts.push(Safe::from_text(&format!("and {} more", found.len() - NAMED)));
    }
    Safe::join(parts, ", ")
}

fn named(subject: &Subject<'_>, holder: &Holder) -> Safe {
    let mut text = subject.shown.name_and_pid(holder.process.pid);
    text.push(&Safe::from_text(&format!(" fd {}", holder.fd)));
    if subject.has_member(holder.process) {
        text.push_literal(" (own)");
    }
    text
}

/// Returns the access as two columns.
pub(super) fn access(descriptor: &Descriptor) -> &'static str {
    match &descriptor.access {
        Reading::Value(Access::Read) => "r",
        Reading::Value(Access::Write) => "w",
        Reading::Value(Access::Both) => "rw",
        _ => "?",
    }
}
