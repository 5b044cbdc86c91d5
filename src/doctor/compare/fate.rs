//! What became of processes: left by their parent, severed, exited.

use super::ends::instance;
use super::{Found, absent, check, only, works, wrong};
use crate::doctor::part::Kind;
use crate::doctor::truth::Truth;
use crate::model::finding::{Finding, Lineage};
use crate::model::host::Lack;
use crate::model::world::World;
use crate::report::doctor::{Answer, Check};

/// Returns the answer on the child that its parent left.
pub(super) fn lineage(truth: &Truth, world: &World) -> Check {
    let check = |found| check("lineage", "lineage, adopter", found);
    let (part, process) = match only(truth, &world.sample, Kind::Orphan) {
        Ok(found) => found,
        Err(found) => return check(found),
    };
    let instance = match instance(world, process) {
        Ok(instance) => instance,
        Err(found) => return check(found),
    };
    let adopter = instance.adopter.as_ref();
    let reparented = instance.lineage == Lineage::Reparented;
    let comparable = truth.counts_alike(&world.sample);
    if part.parent == truth.own_pid {
        return check((
            Answer::Unsupported,
            "not tried: this program is itself what adopts processes here (pid 1 of a namespace, or a subreaper)"
                .to_owned(),
        ));
    }
    check(match adopter {
        Some(adopter) if comparable && adopter.pid.get() != part.parent => wrong(format!(
            "it was adopted by {}, {} was named",
            part.parent, adopter.pid
        )),
        Some(adopter) if reparented => works(format!(
            "re-parented, to pid {} ({})",
            adopter.pid,
            adopter.kind.word()
        )),
        _ if instance.lineage == Lineage::Unknown => unknown(
            "its parent cannot be seen from here: the adopter is outside this pid namespace, or hidden",
        ),
        _ => missed(truth, world, part.parent),
    })
}

/// An adopter that is no pid 1 and no user manager is told by its session: nothing tells it where it shares
/// that with the orphan.
fn missed(truth: &Truth, world: &World, parent: u32) -> Found {
    let session = |pid: u32| {
        let mut all = world.sample.processes.values();
        all.find(|one| one.key.pid.get() == pid).and_then(|one| one.sid)
    };
    let shared = session(parent).is_some() && session(parent) == session(truth.own_pid);
    if parent != 1 && shared {
        return (
            Answer::Unsupported,
            format!(
                "its adopter, pid {parent}, is a subreaper in its own session: nothing tells that from the parent \
                 that started it"
            ),
        );
    }
    wrong(format!(
        "its parent has exited and {parent} adopted it, it was called a child"
    ))
}

fn unknown(words: &str) -> Found {
    (Answer::Denied, words.to_owned())
}

/// Returns the answer on the child whose standard input nobody can write to.
pub(super) fn severed(truth: &Truth, world: &World) -> Check {
    let check = |found| check("findings.severed", "a lost wire", found);
    let found = only(truth, &world.sample, Kind::Orphan).and_then(|(_, process)| instance(world, process));
    let instance = match found {
        Ok(instance) => instance,
        Err(found) => return check(found),
    };
    match instance.finding {
        Finding::Severed => check(works("a pipe without a writer is called severed")),
        Finding::Unknown => check(unknown(
            "unknown: a process that may not be read could hold the other end (same user or session, or outside \
             this namespace)",
        ))
        .advised(match world.sample.lack() {
            Lack::Root => "run it as root, on the machine itself",
            Lack::Capability => "refused even to this root: run it on the machine itself, with all capabilities",
            Lack::Exempt => "run it on the machine itself",
        }),
        other => check(wrong(format!("its stdin has no writer, and it was called {}", other.word()))),
    }
}

/// Returns the answer on the child that exited and was not waited for.
pub(super) fn zombie(truth: &Truth, world: &World) -> Check {
    let check = |found| check("findings.defunct", "zombies", found);
    let (_, process) = match only(truth, &world.sample, Kind::Exits) {
        Ok(found) => found,
        Err(found) => return check(found),
    };
    if !process.is_zombie() {
        return check(wrong(format!(
            "it has exited, and its state is given as {}",
            process.state
        )));
    }
    if process.argv.value().is_none() {
        return check(absent(&process.argv));
    }
    check(match instance(world, process).map(|instance| instance.finding) {
        Ok(Finding::Defunct) => works("an exited child is called defunct after two seconds"),
        Ok(other) => wrong(format!("it has exited, and it was called {}", other.word())),
        Err(found) => found,
    })
}
