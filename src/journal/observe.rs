//! Fields of the record as the evidence of a sample fills them: what was seen, and what was not.

use crate::model::bytes::OsBytes;
use crate::model::identity::ProcessKey;
use crate::model::instance::{Instance, Role};
use crate::model::process::Process;
use crate::model::sample::Sample;
use crate::text::redact::Redactor;
use crate::text::{Safe, shell};

use super::entry::FieldSource;
use super::past::Past;
use super::record::Piece::{self, Between, Code, Words};
use super::story::Thread;

/// The fact that an earlier sample of the same run showed another parent.
const REPARENTED_SEEN: &str = "reparented_seen";

/// Returns the client's pid and command, or that none was seen.
pub(super) fn client(
    sample: &Sample,
    instance: &Instance,
    thread: &Thread,
    redactor: &Redactor,
) -> Vec<Piece> {
    let Some(client) = &instance.client else {
        if let Some(earlier) = thread.past.client(redactor) {
            return earlier;
        }
        let known = thread.unavailable.as_ref();
        let seen = known.is_some_and(|known| known.source == FieldSource::Observed);
        let absence = if seen {
            "not in this snapshot"
        } else {
            "not observed"
        };
        let by_configuration = instance.identified_by.client.as_ref();
        let label = by_configuration.map(|name| format!("; {name} by configuration"));
        return vec![Words(format!("{absence}{}", label.unwrap_or_default()))];
    };
    let name = redactor.line(&client.name.lossy());
    let mut pieces = vec![Words(format!(
        "{} (start key {})",
        client.process.pid, client.process.start.0
    ))];
    match sample.get(client.process) {
        Some(process) => pieces.push(command(process, redactor)),
        None => pieces.push(Words("not in the sample".to_owned())),
    }
    let place = if client.on_wire {
        "holds the other end of the wire"
    } else {
        "nearest known client among the ancestors, not on the wire"
    };
    pieces.push(Words(format!("{name}, {place}")));
    pieces
}

/// Whether nothing tells of a client that was seen.
pub(super) fn is_client_unseen(thread: &Thread) -> bool {
    thread.past.unavailable().is_none()
        && !thread.past.has_client()
        && !thread
            .unavailable
            .as_ref()
            .is_some_and(|known| known.source == FieldSource::Observed)
}

/// Returns the server's pid and command; the outermost launcher's where no server was seen.
pub(super) fn server(sample: &Sample, instance: &Instance, redactor: &Redactor) -> Vec<Piece> {
    let key = instance.lead_process();
    let mut pieces = vec![Words(format!("{} (start key {})", key.pid, key.start.0))];
    match sample.get(key) {
        Some(process) => pieces.push(command(process, redactor)),
        None => pieces.push(Words("not in the sample".to_owned())),
    }
    if instance.server.is_none() {
        pieces.push(Words("a launcher; no server was seen".to_owned()));
    }
    pieces
}

/// Returns the parent of the outermost member, and its process group.
pub(super) fn parent(sample: &Sample, instance: &Instance, past: &Past, redactor: &Redactor) -> Vec<Piece> {
    let Some(top) = sample.get(instance.top) else {
        return vec![Words("not in the sample".to_owned())];
    };
    let parent = match (top.ppid, &instance.adopter) {
        (Some(pid), Some(adopter)) if adopter.pid == pid => {
            let before = past
                .parent(redactor)
                .or_else(|| changed(instance))
                .unwrap_or_else(|| "earlier parent not observed".to_owned());
            format!("{pid} ({}), {before}", adopter.kind.word())
        }
        (Some(pid), _) => {
            let name = sample
                .process(pid)
                .map(|parent| redactor.line(&parent.comm.lossy()));
            format!("{pid} ({})", name.as_deref().unwrap_or("not in the sample"))
        }
        (None, _) => "none".to_owned(),
    };
    let group = top.pgid.map_or_else(
        || "pgid outside this pid namespace".to_owned(),
        |pgid| format!("pgid {pgid}"),
    );
    vec![Words(parent), Between, Words(group)]
}

/// Returns what the judgement says of the parent before: a saved sample holds no earlier one.
fn changed(instance: &Instance) -> Option<String> {
    let fact = instance.facts.iter().find(|fact| fact.code == REPARENTED_SEEN)?;
    fact.text.rsplit_once(": ").map(|(_, because)| because.to_owned())
}

/// Returns the session identifiers in the environments of server, launchers and client.
pub(super) fn session(sample: &Sample, instance: &Instance) -> Option<Vec<Piece>> {
    let members = instance.members().map(|(key, role)| (key, role.word()));
    let client = instance
        .client
        .iter()
        .map(|client| (client.process, Role::Client.word()));
    let mut found: Vec<(String, String, &str)> = Vec::new();
    for (key, role) in members.chain(client) {
        for (name, value) in identifiers(sample, key) {
            if !found
                .iter()
                .any(|(known, same, _)| *known == name && *same == value)
            {
                found.push((name, value, role));
            }
        }
    }
    let pieces: Vec<Piece> = found
        .into_iter()
        .flat_map(|(name, value, role)| {
            [
                Code(Safe::from_text(&value)),
                Words(format!("({name} of the {role}, exact)")),
            ]
        })
        .collect();
    (!pieces.is_empty()).then_some(pieces)
}

fn identifiers(sample: &Sample, key: ProcessKey) -> Vec<(String, String)> {
    let environment = sample.get(key).and_then(|process| process.environment.value());
    environment
        .into_iter()
        .flat_map(|environment| &environment.identifiers)
        .filter(|(name, _)| name.contains("SESSION"))
        .map(|(name, value)| (name.clone(), value.lossy().into_owned()))
        .collect()
}

/// Returns the whole command line, however long: copies shorten nothing.
pub(super) fn command(process: &Process, redactor: &Redactor) -> Piece {
    let raw: Vec<&[u8]> = process.args().iter().map(OsBytes::as_bytes).collect();
    if raw.is_empty() {
        return Words(format!(
            "[{}], argv not read",
            redactor.line(&process.comm.lossy())
        ));
    }
    Code(shell::line(&redactor.argv(&raw), usize::MAX))
}
