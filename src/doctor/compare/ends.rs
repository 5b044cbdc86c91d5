//! Who holds the other ends: of pipes, of socketpairs, of connections.

use super::{Found, absent, check, only, works, wrong};
use crate::doctor::part::Kind;
use crate::doctor::truth::Truth;
use crate::model::descriptor::Target;
use crate::model::finding::{End, EndKind, Finding, PeerState};
use crate::model::instance::Instance;
use crate::model::process::Process;
use crate::model::reading::Absence;
use crate::model::sample::Sample;
use crate::model::world::World;
use crate::report::doctor::{Answer, Check};

const NO_SOCK_DIAG: &str = "the kernel's socket diagnostics do not answer (modules unix_diag, tcp_diag, udp_diag; or a \
                            sandbox): a server on socketpairs is `unknown`, never `severed`";

/// Returns the answer on pipes.
pub(super) fn pipes(truth: &Truth, world: &World) -> Check {
    let found = wire(truth, world, Kind::Pipes, EndKind::Pipe);
    check("peers.pipes", "other ends of pipes", found)
}

/// Returns the answer on socketpairs.
pub(super) fn sockets(truth: &Truth, world: &World) -> Check {
    let check = |found| check("peers.sockets", "other ends of socketpairs", found);
    let sockets = &world.sample.sockets;
    if sockets.value().is_none() {
        return check(absent(sockets)).advised(NO_SOCK_DIAG);
    }
    check(wire(truth, world, Kind::Sockets, EndKind::Socket))
}

/// Finds out whether the judgement knows the other ends of a wire that this program holds.
fn wire(truth: &Truth, world: &World, kind: Kind, ends: EndKind) -> Found {
    let (_, process) = match only(truth, &world.sample, kind) {
        Ok(found) => found,
        Err(found) => return found,
    };
    let instance = match instance(world, process) {
        Ok(instance) => instance,
        Err(found) => return found,
    };
    let Some(stdio) = &instance.stdio else {
        return match process.descriptors.value() {
            Some(_) => wrong("its descriptors were read, and no wire was found"),
            None => absent(&process.descriptors),
        };
    };
    for (name, end) in [("stdin", &stdio.stdin), ("stdout", &stdio.stdout)] {
        if let Err(found) = held(world, name, end.as_ref(), ends) {
            return found;
        }
    }
    if instance.finding == Finding::Unknown {
        let words = "the other ends were found, and still it could not be told: see the answers above";
        return (Answer::Failed, words.to_owned());
    }
    if instance.finding != Finding::Attached {
        return wrong(format!(
            "this program is the client on its wire, and it was called {}",
            instance.finding.word()
        ));
    }
    works("stdin and stdout lead to this program: attached")
}

fn held(world: &World, name: &str, end: Option<&End>, kind: EndKind) -> Result<(), Found> {
    let Some(end) = end else {
        return Err(wrong(format!("its {name} was not found")));
    };
    if end.kind != kind {
        return Err(wrong(format!("its {name} was taken for something else")));
    }
    let own = |pid| pid == world.sample.observer.pid;
    match end.peer {
        PeerState::Held if end.holders.iter().any(|holder| own(holder.pid)) => Ok(()),
        PeerState::Held => Err(wrong(format!(
            "this program holds the other end of {name}, others were named"
        ))),
        PeerState::Hidden => Err(unseen(world, name)),
        PeerState::None => Err(wrong(format!(
            "this program holds the other end of {name}, no process was said to"
        ))),
        PeerState::Own | PeerState::NotApplicable => {
            Err(wrong(format!("the other end of {name} was taken for its own")))
        }
    }
}

/// This program's own descriptors may be closed to itself: then the holder cannot be seen.
fn unseen(world: &World, name: &str) -> Found {
    let own = world.sample.observer.pid;
    let refused = world.sample.unsearched.iter().find(|one| one.process.pid == own);
    match refused.map(|one| one.why) {
        Some(Absence::Denied) => {
            let words = format!("{name}: this program may not read its own descriptors");
            (Answer::Denied, words)
        }
        Some(_) => {
            let words = format!("{name}: reading this program's own descriptors failed");
            (Answer::Failed, words)
        }
        None => wrong(format!(
            "this program holds the other end of {name}, it was said to be hidden"
        )),
    }
}

/// Returns the instance that a part was taken for.
pub(super) fn instance<'w>(world: &'w World, process: &Process) -> Result<&'w Instance, Found> {
    let id = world.judged.instance_of(process.key);
    let found = id.and_then(|id| world.judged.instance(id));
    found.ok_or_else(|| match process.argv.value() {
        Some(_) => wrong("its command line fits a rule, and it was not taken for a server"),
        None => absent(&process.argv),
    })
}

/// Returns the answer on TCP.
pub(super) fn connections(truth: &Truth, world: &World) -> Check {
    let check = |found| check("peers.tcp", "peers of TCP connections", found);
    let sample = &world.sample;
    let Ok(part) = truth.part(Kind::Connects) else {
        let why = truth.part(Kind::Connects).err().unwrap_or_default();
        let found = (
            Answer::Unsupported,
            format!("not tried, no connection on loopback could be made: {why}"),
        );
        return check(found).advised("look whether loopback is up here: a new network namespace has it down");
    };
    let Some(process) = truth.find(sample, part) else {
        return check(wrong("the child runs, and is not among the processes"));
    };
    if sample.sockets.value().is_none() {
        return check(absent(&sample.sockets)).advised(NO_SOCK_DIAG);
    }
    check(connection(sample, process, part.connection))
}

type Addresses = (std::net::SocketAddr, std::net::SocketAddr);

fn connection(sample: &Sample, process: &Process, truth: Option<Addresses>) -> Found {
    let (Some(list), Some(sockets)) = (process.descriptors.value(), sample.sockets.value()) else {
        return absent(&process.descriptors);
    };
    let of_part = list.iter().find_map(|one| match one.target {
        Target::Socket { inode } => sockets.inet.get(&inode),
        _ => None,
    });
    let Some(socket) = of_part else {
        return wrong("its connection is not among the sockets");
    };
    if Some((socket.local, socket.remote.unwrap_or(socket.local))) != truth {
        return wrong("the addresses of its connection are others");
    }
    if socket.state != "ESTAB" {
        return wrong(format!(
            "its connection is up, its state is given as {}",
            socket.state
        ));
    }
    let other = sockets
        .inet
        .iter()
        .find(|(_, other)| other.remote == Some(socket.local) && Some(other.local) == socket.remote);
    let holders = other.and_then(|(inode, _)| sample.holders.get(inode));
    let own = holders.is_some_and(|holders| {
        holders
            .iter()
            .any(|holder| holder.process.pid == sample.observer.pid)
    });
    if own {
        works("both addresses, state, and this program at the other end")
    } else {
        wrong("this program holds the other end of it, and was not found there")
    }
}
