//! `show PID` as text: the evidence on one process, section by section.

use super::evidence::{Descriptor, Evidence, Identified, OtherEnd, Signals, Socket};
use super::fill;
use super::inventory::{End, Instance, Process};
use super::list::command;
use super::page::Page;
use super::publish::Secrets;
use crate::model::bytes::OsBytes;
use crate::model::identity::Pid;
use crate::model::instance;
use crate::model::process;
use crate::model::reading::Reading;
use crate::model::world::World;
use crate::text::{Safe, format};

/// Returns the evidence on a process as text. `columns` of the terminal; `None`: nothing is wrapped.
pub fn show(
    world: &World,
    subject: &process::Process,
    identified: &Identified,
    secrets: Secrets<'_>,
    columns: Option<usize>,
) -> String {
    let evidence = fill::evidence_with(world, subject, identified, secrets);
    let mut page = Page::new(columns);
    process_section(&mut page, world, subject, &evidence, secrets);
    page.heading("IDENTIFICATION");
    page.row("is", &evidence.identification.headline);
    for line in &evidence.identification.because {
        page.row("because", line);
    }
    for line in &evidence.identification.near_misses {
        page.row("not", line);
    }
    for one in &evidence.instances {
        let judged = world
            .judged
            .instances
            .iter()
            .find(|judged| judged.id.to_string() == one.id);
        instance_section(&mut page, world, &evidence, one, judged, secrets);
    }
    descriptor_section(&mut page, &evidence);
    socket_section(&mut page, &evidence);
    group_section(&mut page, &evidence);
    problem_section(&mut page, &evidence);
    page.into_text()
}

/// Quotes elements so that their borders can be seen. A NUL byte, which no argument vector holds,
/// would be the only thing that cannot be quoted.
pub fn quoted(argv: &[String]) -> String {
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
}

fn process_section(
    page: &mut Page,
    world: &World,
    subject: &process::Process,
    evidence: &Evidence,
    secrets: Secrets<'_>,
) {
    let shown = &evidence.process;
    let mut heading = Safe::from_text(&format!("PROCESS {}  ", shown.pid));
    heading.push(&bytes(&subject.comm, secrets));
    page.safe_heading(&heading);
    page.safe_row("command", &command(subject, secrets));
    if subject.argv_kept {
        page.row("", "(read before it exited)");
    }
    page.safe_row("program", &path(&subject.exe, secrets));
    page.safe_row("directory", &path(&subject.cwd, secrets));
    let uid = shown.uid.map(|uid| format!(" (uid {uid})")).unwrap_or_default();
    page.row("user", &format!("{}{uid}", or_not_read(shown.user.as_deref())));
    page.row("parent", &parents(evidence));
    page.row(
        "group, session",
        &format!(
            "pgid {}, sid {}, terminal {}",
            number(shown.pgid),
            number(shown.sid),
            shown.tty.as_deref().unwrap_or("none")
        ),
    );
    let elapsed = format::elapsed(world.sample.elapsed_ms(subject));
    page.row(
        "started",
        &format!(
            "{}, {elapsed} ago, key {}-{}",
            shown.start_time, shown.pid, shown.start_key
        ),
    );
    page.row("state", &state(shown));
    if let Some(signals) = &evidence.signals {
        page.row("signals", &signal_line(signals));
    }
    for role in &shown.roles {
        page.row("role", &format!("{} of instance {}", role.role, role.instance));
    }
}

fn path(reading: &Reading<OsBytes>, secrets: Secrets<'_>) -> Safe {
    reading
        .value()
        .map_or(Safe::literal("not read"), |path| bytes(path, secrets))
}

fn bytes(bytes: &OsBytes, secrets: Secrets<'_>) -> Safe {
    let shown = secrets.argv(std::slice::from_ref(bytes));
    Safe::from_bytes(shown.first().map_or(&[], Vec::as_slice))
}

fn or_not_read(text: Option<&str>) -> String {
    text.unwrap_or("not read").to_owned()
}

fn number(number: Option<u32>) -> String {
    number.map_or_else(|| "unknown".to_owned(), |number| number.to_string())
}

/// Returns the ancestors, nearest first.
fn parents(evidence: &Evidence) -> String {
    let mut names = Vec::new();
    let mut next = evidence.process.ppid;
    while let Some(parent) = evidence
        .processes
        .iter()
        .find(|process| Some(process.pid) == next)
    {
        if names.len() == 32 {
            names.push("…".to_owned());
            break;
        }
        names.push(format!("{} {}", parent.pid, parent.comm));
        next = parent.ppid;
    }
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(" < ")
    }
}

fn state(process: &Process) -> String {
    let word = match process.state.as_str() {
        "R" => "running",
        "S" => "sleeping",
        "D" => "stuck in the kernel",
        "T" => "stopped",
        "t" => "stopped by a tracer",
        // ps(1) marks several threads by `l`.
        "Z" | "X" if process.stat.contains('l') => "its main thread has exited, others run",
        "Z" | "X" => "exited, not waited for",
        "I" => "idle",
        _ => "unknown state",
    };
    let cpu = process
        .cpu_percent
        .map_or_else(|| "not measured".to_owned(), |cpu| format!("{cpu} %"));
    format!(
        "{} ({word}), CPU {cpu}, {} bytes resident",
        process.stat, process.rss_bytes
    )
}

/// Names what becomes of the signals that are used to end a server.
fn signal_line(signals: &Signals) -> String {
    let of = |name: &str| {
        let name = name.to_owned();
        let mut is = Vec::new();
        for (list, word) in [
            (&signals.ignored, "ignored"),
            (&signals.blocked, "blocked"),
            (&signals.caught, "caught"),
            (&signals.pending, "pending"),
        ] {
            if list.contains(&name) {
                is.push(word);
            }
        }
        format!(
            "{name} {}",
            if is.is_empty() {
                "default".to_owned()
            } else {
                is.join(" and ")
            }
        )
    };
    ["TERM", "INT", "HUP", "PIPE"].map(of).join(", ")
}

fn instance_section(
    page: &mut Page,
    world: &World,
    evidence: &Evidence,
    one: &Instance,
    judged: Option<&instance::Instance>,
    secrets: Secrets<'_>,
) {
    page.heading(&format!(
        "INSTANCE {}  {}  {}",
        one.id,
        one.name,
        one.finding.to_uppercase()
    ));
    marks(page, one);
    page.row("members", &members(one));
    if let Some(client) = &one.client {
        let part = if client.on_wire {
            "on the wire"
        } else {
            "by ancestry only, not on the wire"
        };
        page.row(
            "client",
            &format!("{} {}, state {}, {part}", client.pid, client.name, client.state),
        );
    }
    let by = &one.identified_by;
    page.row(
        "identified",
        &format!("{} by {}: {}", by.confidence, by.rule, by.because),
    );
    if let Some(file) = &by.file {
        let name = by
            .server_name
            .as_deref()
            .map(|name| format!(", server {name}"))
            .unwrap_or_default();
        page.row("configured in", &format!("{file}{name}"));
    }
    for fact in &one.facts {
        let weight = if fact.weight == "context" {
            "fact"
        } else {
            fact.weight
        };
        page.row(weight, &format!("{} [{}; {}]", fact.text, fact.code, fact.source));
    }
    wire_rows(page, world, evidence, one);
    match &one.reach {
        None => page.row("can act", "not looked at"),
        Some(leads) if leads.is_empty() => page.row("can act", "no lead was found"),
        Some(leads) => {
            for (number, lead) in leads.iter().enumerate() {
                let advice = judged
                    .and_then(|judged| judged.reach.as_ref()?.get(number)?.advice.as_deref())
                    .map(|advice| format!("; usual check and revocation: {}", secrets.line(advice)))
                    .unwrap_or_default();
                let state = lead
                    .state
                    .as_deref()
                    .map(|state| format!(" {state}"))
                    .unwrap_or_default();
                let fd = lead.fd.map(|fd| format!(" fd {fd}")).unwrap_or_default();
                let text = format!(
                    "{} {}{state}, pid {}{fd}: {}{advice}",
                    lead.kind, lead.target, lead.pid, lead.meaning
                );
                page.row(&format!("can act {}", lead.letter), &text);
            }
        }
    }
}

fn marks(page: &mut Page, one: &Instance) {
    let adopter = one
        .adopter
        .as_ref()
        .map(|adopter| format!(", adopted by {} {} ({})", adopter.pid, adopter.name, adopter.kind))
        .unwrap_or_default();
    page.row("lineage", &format!("{}{adopter}", one.lineage));
    if let Some(managed) = &one.managed {
        page.row(
            "managed",
            &format!("by {}, unit {}: it would be restarted", managed.by, managed.unit),
        );
    }
    if let Some(container) = &one.container {
        page.row("container", &format!("{} {}", container.engine, container.id));
    }
    if let Some(via) = &one.via {
        page.row("via", &format!("instance {}, {}", via.instance, via.finding));
    }
    if let Some(network) = &one.network {
        page.row("listens", &network.listens.join(", "));
        page.row(
            "peers",
            &if network.peers.is_empty() {
                "none".to_owned()
            } else {
                network.peers.join(", ")
            },
        );
    }
    if !one.twins.is_empty() {
        let twins = one
            .twins
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        page.row(
            "twins",
            &format!(
                "{twins}{}",
                if one.older_twin {
                    "; a younger one exists"
                } else {
                    ""
                }
            ),
        );
    }
}

fn members(one: &Instance) -> String {
    let list = |word: &str, pids: &[u32]| -> Option<String> {
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        (!pids.is_empty()).then(|| format!("{word} {}", pids.join(" ")))
    };
    [
        list("launchers", &one.launcher_pids),
        one.server_pid
            .map(|pid| format!("server {pid}"))
            .or_else(|| Some("no server yet".to_owned())),
        list("helpers", &one.helper_pids),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join("; ")
}

fn wire_rows(page: &mut Page, world: &World, evidence: &Evidence, one: &Instance) {
    let Some(stdio) = &one.stdio else {
        page.row("wire", &no_wire(world, one));
        return;
    };
    for (name, end) in [
        ("stdin", &stdio.stdin),
        ("stdout", &stdio.stdout),
        ("stderr", &stdio.stderr),
    ] {
        if let Some(end) = end {
            page.row(name, &end_line(evidence, end));
        }
    }
}

/// A wire that nobody could look for was not found either: the two are told apart.
fn no_wire(world: &World, one: &Instance) -> String {
    let closed: Vec<String> = one
        .launcher_pids
        .iter()
        .chain(&one.server_pid)
        .filter(|pid| {
            let process = Pid::new(i64::from(**pid)).and_then(|pid| world.sample.process(pid));
            process.is_some_and(|process| process.descriptors.absence().is_some())
        })
        .map(u32::to_string)
        .collect();
    if closed.is_empty() {
        return "none was found".to_owned();
    }
    format!(
        "not known: the descriptors of {} could not be read, see PROBLEMS",
        closed.join(", ")
    )
}

fn end_line(evidence: &Evidence, end: &End) -> String {
    let fd = end
        .fd
        .map_or_else(|| "closed".to_owned(), |fd| format!("fd {fd}"));
    let inode = end.inode.map(|inode| format!(" {inode}")).unwrap_or_default();
    let access = end.access.map(|access| format!(" {access}")).unwrap_or_default();
    let who = match end.peer {
        "none" => "nobody holds the other end".to_owned(),
        "own" => "only members of the instance hold the other end".to_owned(),
        "hidden" => "somebody who cannot be seen may hold the other end".to_owned(),
        "not-applicable" => "has no other end".to_owned(),
        _ => "other end held by:".to_owned(),
    };
    let mut line = format!("{fd} of pid {}, {}{inode}{access}, {who}", end.pid, end.kind);
    let mut parts: Vec<String> = end
        .holders
        .iter()
        .map(|holder| {
            let name = name_of(evidence, holder.pid);
            format!(
                "{}{name} fd {} {} ({})",
                holder.pid, holder.fd, holder.access, holder.relation
            )
        })
        .collect();
    let shown = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    if end.holder_count > shown {
        parts.push(format!("and {} more", end.holder_count - shown));
    }
    if !parts.is_empty() {
        line.push(' ');
        line.push_str(&parts.join("; "));
    }
    line
}

fn name_of(evidence: &Evidence, pid: u32) -> String {
    evidence
        .processes
        .iter()
        .find(|process| process.pid == pid)
        .map(|process| format!(" {}", process.comm))
        .unwrap_or_default()
}

fn descriptor_section(page: &mut Page, evidence: &Evidence) {
    let Some(all) = &evidence.descriptors else {
        page.heading("DESCRIPTORS  not read: see PROBLEMS");
        return;
    };
    page.heading(&format!("DESCRIPTORS {}", all.len()));
    // The wire first, then by number.
    let (wire, rest): (Vec<&Descriptor>, Vec<&Descriptor>) = all.iter().partition(|one| one.wire.is_some());
    for one in wire.into_iter().chain(rest) {
        let access = one.access.unwrap_or("?");
        let wire = one
            .wire
            .map(|wire| format!(", {wire} of the wire"))
            .unwrap_or_default();
        let other = one
            .other_end
            .as_ref()
            .map(|ends| other_end(evidence, ends))
            .unwrap_or_default();
        let target = match one.kind {
            "pipe" | "socket" | "null" => one.target.clone(),
            kind => format!("{kind} {}", one.target),
        };
        page.row(
            &format!("{:>4} {access:<2}", one.fd),
            &format!("{target}{wire}{other}"),
        );
    }
}

fn other_end(evidence: &Evidence, ends: &[OtherEnd]) -> String {
    if ends.is_empty() {
        return ", other end: nobody that can be seen".to_owned();
    }
    let mut names: Vec<String> = ends
        .iter()
        .take(8)
        .map(|end| {
            format!(
                "{}{} fd {} {}",
                end.pid,
                name_of(evidence, end.pid),
                end.fd,
                end.access
            )
        })
        .collect();
    if ends.len() > 8 {
        names.push(format!("and {} more", ends.len() - 8));
    }
    format!(", other end: {}", names.join(", "))
}

fn socket_section(page: &mut Page, evidence: &Evidence) {
    if evidence.sockets.is_empty() {
        return;
    }
    page.heading(&format!("SOCKETS {}", evidence.sockets.len()));
    for socket in &evidence.sockets {
        page.row(
            &format!("{:>4} {}", socket.fd, socket.protocol),
            &socket_line(socket),
        );
    }
}

fn socket_line(socket: &Socket) -> String {
    let mut parts = vec![
        socket
            .state
            .clone()
            .unwrap_or_else(|| "state not read".to_owned()),
    ];
    if let Some(local) = &socket.local {
        parts.push(format!("from {local}"));
    }
    if let Some(remote) = &socket.remote {
        parts.push(format!("to {remote}"));
    }
    let ago = |what: &str, ms: Option<u64>| ms.map(|ms| format!("{what} {} ago", format::elapsed(ms)));
    let count = |what: &str, bytes: Option<u64>| bytes.map(|bytes| format!("{what} {bytes} bytes"));
    parts.extend(ago("last sent", socket.last_sent_ms));
    parts.extend(ago("last received", socket.last_received_ms));
    parts.extend(count("sent", socket.bytes_sent));
    parts.extend(count("received", socket.bytes_received));
    parts.extend(count("unread", socket.unread.map(u64::from)));
    parts.extend(socket.lead.as_ref().map(|lead| format!("lead {lead}")));
    parts.join(", ")
}

fn group_section(page: &mut Page, evidence: &Evidence) {
    let group = &evidence.group;
    page.heading(&format!(
        "GROUP  pgid {}, sid {}",
        number(group.pgid),
        number(group.sid)
    ));
    let list = |pids: &[u32]| {
        let names: Vec<String> = pids
            .iter()
            .map(|pid| format!("{pid}{}", name_of(evidence, *pid)))
            .collect();
        if names.is_empty() {
            "unknown".to_owned()
        } else {
            names.join(", ")
        }
    };
    page.row("group members", &list(&group.members));
    page.row("session", &list(&group.session_members));
    for instance in &group.other_instances {
        page.row(
            "would also hit",
            &format!("instance {instance}: it has members in this group"),
        );
    }
}

fn problem_section(page: &mut Page, evidence: &Evidence) {
    let rows: Vec<_> = evidence
        .problems
        .iter()
        .filter(|problem| problem.what != "cpu_percent")
        .collect();
    if rows.is_empty() {
        return;
    }
    page.heading("PROBLEMS");
    for problem in rows {
        let pid = problem.pid.map(|pid| format!("pid {pid} ")).unwrap_or_default();
        page.row(
            problem.kind,
            &format!("{pid}{}: {}", problem.what, problem.detail),
        );
    }
}
