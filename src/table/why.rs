//! The shortest words for why an instance has its finding, and for its wire.

use super::index::Shown;
use super::row::{Node, RowId};
use crate::model::finding::{End, EndKind, Finding, PeerState, Relation, Weight};
use crate::model::host::Lack;
use crate::model::instance::{Instance, OwnerKey, Role};
use crate::model::process::Process;
use crate::text::Safe;

/// Returns why an instance has its finding, in two or three words.
pub fn of_instance(shown: Shown<'_>, instance: &Instance) -> Safe {
    let stdin = instance.stdio.as_ref().and_then(|stdio| stdio.stdin.as_ref());
    match instance.finding {
        Finding::Severed => {
            stdin.map_or_else(|| first_fact(shown, instance), |end| Safe::literal(severed(end)))
        }
        Finding::Held => stdin
            .and_then(|end| holder(shown, end))
            .map_or_else(|| first_fact(shown, instance), |holder| join("by", &holder)),
        Finding::Wedged => match &instance.client {
            _ if has_fact(instance, "relay_wedged") => Safe::literal("relay stopped"),
            Some(client) => Safe::from_text(&format!("client {}", client.process.pid)),
            None => first_fact(shown, instance),
        },
        Finding::Defunct => {
            let lead = shown.process(instance.lead_process());
            match lead.and_then(|process| process.ppid) {
                Some(parent) => join("parent", &pid_and_name(shown, parent)),
                None => first_fact(shown, instance),
            }
        }
        Finding::Unknown => match stdin.map(|end| end.peer) {
            Some(PeerState::Hidden) if has_fact(instance, "hidden_holder") => Safe::literal("hidden holder"),
            _ if matches!(instance.owner, OwnerKey::User(_)) => wants(shown),
            _ => first_fact(shown, instance),
        },
        Finding::Network => {
            let listens = instance
                .network
                .as_ref()
                .and_then(|network| network.listens.first());
            listens.map_or_else(
                || first_fact(shown, instance),
                |listens| join("on", &shown.safe_text(listens)),
            )
        }
        Finding::Attached => attached(shown, instance),
    }
}

fn attached(shown: Shown<'_>, instance: &Instance) -> Safe {
    if let Some(via) = &instance.via {
        let name = shown.instance(via.instance).map_or_else(
            || Safe::from_text(&via.instance.to_string()),
            |proxy| shown.safe_bytes(proxy.name.as_bytes()),
        );
        return Safe::join(
            [
                Safe::literal("via"),
                name,
                Safe::literal(super::cells::finding_word(via.finding)),
            ],
            " ",
        );
    }
    let stdin = instance.stdio.as_ref().and_then(|stdio| stdio.stdin.as_ref());
    if stdin.is_some_and(|end| end.kind == EndKind::Tty) {
        return Safe::literal("a terminal");
    }
    if instance.older_twin {
        return Safe::literal("older twin");
    }
    match &instance.managed {
        Some(managed) => join("unit", &Safe::from_text(&managed.unit)),
        None => Safe::default(),
    }
}

/// Returns why a member is worth a look: a group or session of its own survives a group signal.
pub fn of_member(shown: Shown<'_>, node: &Node, process: &Process) -> Safe {
    let server = node
        .instance
        .and_then(|id| shown.instance(id))
        .and_then(|instance| shown.process(instance.lead_process()));
    let Some(server) = server.filter(|server| server.key != process.key) else {
        return Safe::default();
    };
    if process.is_zombie() {
        Safe::literal("exited")
    } else if process.sid.is_some() && process.sid != server.sid {
        Safe::literal("own session")
    } else if process.pgid.is_some() && process.pgid != server.pgid {
        Safe::literal("own group")
    } else if node.role == Some(Role::Launcher) && process.is_stopped() {
        Safe::literal("stopped")
    } else {
        Safe::default()
    }
}

/// Returns what stands out in a row that sums up others.
pub fn of_sum(shown: Shown<'_>, node: &Node) -> Safe {
    if let RowId::Owner(OwnerKey::Adopter(_)) = node.id {
        return Safe::default();
    }
    if let RowId::Owner(OwnerKey::User(_)) = node.id {
        return wants(shown);
    }
    let figures = &node.figures;
    match figures.worst() {
        Some(worst) if worst.is_trouble() => {
            Safe::from_text(&format!("{} {}", figures.count(worst), worst.word()))
        }
        _ if figures.older > 0 => Safe::from_text(&format!("{} older", figures.older)),
        _ => Safe::default(),
    }
}

/// What would let this reader look into processes that it is denied; as wide as the column.
fn wants(shown: Shown<'_>) -> Safe {
    Safe::literal(match shown.world.sample.lack() {
        Lack::Root => "needs root",
        Lack::Capability => "refused to root",
        Lack::Exempt => "denied to root",
    })
}

/// Returns the wire: descriptor, kind, and who holds the other end: `0p 50120 sh`, `0s closed`.
pub fn wire(shown: Shown<'_>, instance: &Instance) -> Safe {
    let Some(end) = instance.stdio.as_ref().and_then(|stdio| stdio.stdin.as_ref()) else {
        return Safe::literal(match instance.finding {
            Finding::Network => "listens",
            Finding::Unknown => "not known",
            _ => "",
        });
    };
    let fd = end.fd.map_or_else(|| "-".to_owned(), |fd| fd.to_string());
    let mut text = Safe::from_text(&format!("{fd}{} ", kind_letter(end.kind)));
    text.push(&match end.peer {
        PeerState::Held => holder(shown, end).unwrap_or(Safe::literal("held")),
        PeerState::None => Safe::literal(severed(end)),
        PeerState::Own => Safe::literal("own members"),
        PeerState::Hidden if has_fact(instance, "hidden_holder") => Safe::literal("hidden"),
        PeerState::Hidden => Safe::literal("none seen"),
        PeerState::NotApplicable => Safe::literal("no other end"),
    });
    text
}

/// Returns the letter of a kind of descriptor: the help explains them.
pub fn kind_letter(kind: EndKind) -> char {
    match kind {
        EndKind::Pipe => 'p',
        EndKind::Socket => 's',
        EndKind::Tty => 't',
        EndKind::Null => 'n',
        EndKind::File => 'f',
        EndKind::Closed => 'x',
        EndKind::Other => 'o',
    }
}

fn severed(end: &End) -> &'static str {
    match end.kind {
        EndKind::Tty => "hung up",
        _ => "no writer",
    }
}

/// The holder that speaks for the finding: the client, else one from outside, else any.
fn holder(shown: Shown<'_>, end: &End) -> Option<Safe> {
    let by = |relation| end.holders.iter().find(|holder| holder.relation == relation);
    let first = by(Relation::Client)
        .or_else(|| by(Relation::Ancestor))
        .or_else(|| by(Relation::Other))
        .or(end.holders.first())?;
    Some(pid_and_name(shown, first.pid))
}

fn pid_and_name(shown: Shown<'_>, pid: crate::model::identity::Pid) -> Safe {
    let name = shown
        .by_pid(pid)
        .map_or(Safe::literal("(gone)"), |process| shown.name(process));
    Safe::join([Safe::from_text(&pid.to_string()), name], " ")
}

fn has_fact(instance: &Instance, code: &str) -> bool {
    instance.facts.iter().any(|fact| fact.code == code)
}

fn first_fact(shown: Shown<'_>, instance: &Instance) -> Safe {
    let strong = instance.facts.iter().find(|fact| fact.weight == Weight::Strong);
    strong
        .or(instance.facts.first())
        .map_or_else(Safe::default, |fact| shown.safe_text(&fact.text))
}

fn join(word: &'static str, rest: &Safe) -> Safe {
    Safe::join([Safe::literal(word), rest.clone()], " ")
}
