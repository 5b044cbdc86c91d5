//! Pane 3: connections: state, peer, last sent and received, bytes, what a path means.

use super::super::paint::{Para, lit, safe, say};
use super::super::theme::Tone;
use super::evidence::missing_of;
use super::subject::Subject;
use super::{ends, no_process};
use crate::model::descriptor::{Descriptor, Target};
use crate::model::finding::Lead;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::socket::{InetSocket, Protocol, Sockets, UnixKind, UnixSocket};
use crate::text::{Safe, format};

/// Text of the pane.
pub(super) fn paragraphs(subject: &Subject<'_>) -> Vec<Para> {
    let processes = subject.processes();
    if processes.is_empty() {
        return vec![no_process(subject)];
    }
    let sockets = match &subject.shown.world.sample.sockets {
        Reading::Value(sockets) => sockets,
        other => {
            let text = missing_of(other, "sockets of the machine", "").unwrap_or_default();
            return vec![Para::bare(say(&text, Tone::Warning))];
        }
    };
    let mut out = Vec::new();
    let mut unread = Vec::new();
    for (process, _) in processes {
        match &process.descriptors {
            Reading::Value(descriptors) => {
                out.extend(
                    descriptors
                        .iter()
                        .flat_map(|one| connection(subject, sockets, process, one)),
                );
            }
            other => unread.extend(missing_of(
                other,
                "descriptors",
                &format!(" of {}", process.key.pid),
            )),
        }
    }
    if out.is_empty() && unread.is_empty() {
        out.push(Para::bare(lit(
            "No socket is open. That does not say that it cannot act: it can open one at any time.",
            Tone::Plain,
        )));
    } else if !out.is_empty() {
        out.insert(
            0,
            Para::row(lit(
                "  PID   FD PROTO  STATE       LOCAL > PEER, LAST SENT, LAST RECEIVED, BYTES",
                Tone::Dim,
            )),
        );
    }
    out.extend(
        unread
            .into_iter()
            .map(|text| Para::bare(say(&text, Tone::Warning))),
    );
    out
}

fn connection(subject: &Subject<'_>, sockets: &Sockets, process: &Process, one: &Descriptor) -> Vec<Para> {
    let Target::Socket { inode } = one.target else {
        return Vec::new();
    };
    let (proto, state, text) = if let Some(inet) = sockets.inet.get(&inode) {
        (protocol(inet).to_owned(), inet.state.clone(), inet_words(inet))
    } else if let Some(unix) = sockets.unix.get(&inode) {
        (
            "unix".to_owned(),
            unix_state(unix).to_owned(),
            unix_words(subject, process, one, unix),
        )
    } else {
        let text =
            "not among the sockets that are seen from here (another network namespace, or closed since)";
        ("?".to_owned(), "?".to_owned(), Safe::literal(text))
    };
    let label = format!("{:>5} {:>4} {proto:<6} {state:<11}", process.key.pid, one.fd);
    let mut out = vec![Para {
        gutter: 30,
        label: say(&label, Tone::Plain),
        text: safe(text, Tone::Plain),
        ..Para::default()
    }];
    if let Some(lead) = lead_of(subject, process, one) {
        out.push(Para {
            gutter: 30,
            label: say(&format!("{:>11}", lead.letter), Tone::Strong),
            text: safe(subject.shown.safe_text(&lead.meaning), Tone::Dim),
            ..Para::default()
        });
    }
    out
}

fn lead_of<'a>(subject: &Subject<'a>, process: &Process, one: &Descriptor) -> Option<&'a Lead> {
    let leads = subject.instance?.reach.as_ref()?;
    leads
        .iter()
        .find(|lead| lead.pid == process.key.pid && lead.fd == Some(one.fd))
}

/// Returns the protocol with its version: `tcp`, `tcp6`.
pub(super) fn protocol(inet: &InetSocket) -> &'static str {
    match (inet.protocol, inet.local.is_ipv6()) {
        (Protocol::Tcp, false) => "tcp",
        (Protocol::Tcp, true) => "tcp6",
        (Protocol::Udp, false) => "udp",
        (Protocol::Udp, true) => "udp6",
    }
}

fn inet_words(inet: &InetSocket) -> Safe {
    let mut text = match inet.remote {
        Some(remote) => format!("{} > {remote}", inet.local),
        None => inet.local.to_string(),
    };
    let ago = |word: &str, ms: Option<u64>| {
        ms.map_or_else(
            || format!(", {word} not known"),
            |ms| format!(", {word} {} ago", format::elapsed(ms)),
        )
    };
    if inet.protocol == Protocol::Tcp && inet.remote.is_some() {
        text.push_str(&ago("sent", inet.last_sent_ms));
        text.push_str(&ago("received", inet.last_received_ms));
    }
    if let (Some(sent), Some(received)) = (inet.bytes_sent, inet.bytes_received) {
        let (sent, received) = (format::bytes(sent), format::bytes(received));
        text = format!("{text}, {sent} out, {received} in");
    }
    Safe::from_text(&text)
}

fn unix_state(unix: &UnixSocket) -> &'static str {
    match unix.peer {
        _ if unix.listening => "LISTEN",
        Some(0) => "peer closed",
        Some(_) => "connected",
        None => "unconnected",
    }
}

fn unix_words(subject: &Subject<'_>, process: &Process, one: &Descriptor, unix: &UnixSocket) -> Safe {
    let kind = match unix.kind {
        UnixKind::Stream => "stream",
        UnixKind::Datagram => "datagram",
        UnixKind::Packet => "packet",
    };
    let mut parts = vec![Safe::literal(kind)];
    if let Some(path) = &unix.path {
        parts.push(subject.shown.safe_bytes(path.as_bytes()));
    }
    let end = ends::other_end(subject, process.key, one);
    if !unix.listening && !end.as_str().is_empty() {
        parts.push(Safe::join([Safe::literal(">"), end], " "));
    }
    if let Some(unread) = unix.unread.filter(|unread| *unread > 0) {
        let what = match (unix.listening, unread) {
            (true, 1) => "connection waits",
            (true, _) => "connections wait",
            (false, 1) => "byte unread",
            (false, _) => "bytes unread",
        };
        parts.push(Safe::from_text(&format!("{unread} {what}")));
    }
    Safe::join(parts, " ")
}
