//! Pane 4: members of the process group and session, and whom a group signal would hit.

use super::super::paint::{Para, lit, safe, say};
use super::super::theme::Tone;
use super::no_process;
use super::subject::Subject;
use crate::model::identity::Pid;
use crate::model::instance::Role;
use crate::model::process::Process;
use crate::table::{ColumnId, cells};
use crate::text::Safe;

/// Text of the pane.
pub(super) fn paragraphs(subject: &Subject<'_>) -> Vec<Para> {
    let Some(process) = subject.process else {
        return vec![no_process(subject)];
    };
    let mut out = Vec::new();
    match process.pgid {
        Some(pgid) => {
            let members = having(subject, |one| one.pgid == Some(pgid));
            out.push(Para::bare(safe(
                group_heading(subject, pgid, members.len()),
                Tone::Strong,
            )));
            out.push(hit(subject, pgid, &members));
            out.extend(members.iter().map(|one| member(subject, one)));
        }
        None => out.push(Para::bare(lit(
            "process group: its leader lives outside the pid namespace that is seen from here",
            Tone::Warning,
        ))),
    }
    out.extend(session(subject, process));
    out
}

fn having<'a>(subject: &Subject<'a>, wanted: impl Fn(&Process) -> bool) -> Vec<&'a Process> {
    let processes = subject.shown.world.sample.processes.values();
    processes.map(AsRef::as_ref).filter(|one| wanted(one)).collect()
}

fn group_heading(subject: &Subject<'_>, pgid: Pid, count: usize) -> Safe {
    let processes = if count == 1 { "process" } else { "processes" };
    let mut text = Safe::from_text(&format!("process group {pgid}: {count} {processes}, leader "));
    text.push(&leader(subject, pgid));
    text
}

fn leader(subject: &Subject<'_>, id: Pid) -> Safe {
    match subject.shown.by_pid(id) {
        Some(process) if process.is_zombie() => {
            Safe::join([subject.shown.name_and_pid(id), Safe::literal("(exited)")], " ")
        }
        Some(_) => subject.shown.name_and_pid(id),
        None if subject.shown.world.sample.hidden == Some(0) => Safe::literal("gone"),
        None => Safe::literal("gone or hidden"),
    }
}

fn member(subject: &Subject<'_>, process: &Process) -> Para {
    let belongs = belongs(subject, process);
    let own = subject.has_member(process.key);
    let tone = if own { Tone::Plain } else { Tone::Warning };
    let label = format!("{:>7} {:<5}", process.key.pid, process.stat);
    let name = subject.shown.name(process);
    let user = cells::process_cell(subject.shown, process, ColumnId::User);
    Para {
        gutter: 15,
        label: say(&label, tone),
        text: safe(Safe::join([name, user, belongs], "  "), tone),
        ..Para::default()
    }
}

fn belongs(subject: &Subject<'_>, process: &Process) -> Safe {
    let shown = subject.shown;
    let role = cells::role_of(shown, process.key);
    if subject.has_member(process.key) {
        return Safe::join(
            [
                Safe::literal("this instance,"),
                Safe::literal(role.map_or("member", Role::word)),
            ],
            " ",
        );
    }
    match (
        shown
            .world
            .judged
            .instance_of(process.key)
            .and_then(|id| shown.instance(id)),
        role,
    ) {
        (Some(other), _) => Safe::join(
            [
                Safe::literal("OTHER instance:"),
                shown.safe_bytes(other.name.as_bytes()),
                Safe::from_text(&other.lead_process().pid.to_string()),
            ],
            " ",
        ),
        (None, Some(Role::Client)) => Safe::literal("a client"),
        (None, _) => Safe::literal("no instance"),
    }
}

/// Whom a signal to the group would hit, beside this instance.
fn hit(subject: &Subject<'_>, pgid: Pid, members: &[&Process]) -> Para {
    let strangers = members.iter().filter(|one| !subject.has_member(one.key)).count();
    let missed = subject.instance.map_or(0, |instance| {
        let outside = |key| {
            subject
                .shown
                .process(key)
                .is_some_and(|process| process.pgid != Some(pgid))
        };
        instance.members().filter(|(key, _)| outside(*key)).count()
    });
    let mut text = match (subject.instance, strangers) {
        (Some(_), 0) => format!("A signal to group {pgid} would hit this instance only"),
        (Some(_), count) => {
            format!("A signal to group {pgid} would also hit {count} that belong to something else")
        }
        (None, _) => format!("A signal to group {pgid} would hit {}", members.len()),
    };
    if missed > 0 {
        let verb = if missed == 1 { "is" } else { "are" };
        text = format!("{text}, and miss {missed} of this instance that {verb} in other groups");
    }
    let tone = if strangers > 0 && subject.instance.is_some() {
        Tone::Warning
    } else {
        Tone::Plain
    };
    Para::bare(say(&format!("{text}."), tone))
}

fn session(subject: &Subject<'_>, process: &Process) -> Vec<Para> {
    let Some(sid) = process.sid else {
        let text = "session: its leader lives outside the pid namespace that is seen from here";
        return vec![Para::bare(lit(text, Tone::Warning))];
    };
    let members = having(subject, |one| one.sid == Some(sid));
    let others: Vec<&&Process> = members.iter().filter(|one| one.pgid != process.pgid).collect();
    let tty = process.tty.as_deref().unwrap_or("none");
    let processes = if members.len() == 1 {
        "process"
    } else {
        "processes"
    };
    let mut heading = Safe::from_text(&format!(
        "session {sid}: {} {processes}, terminal {tty}, leader ",
        members.len()
    ));
    heading.push(&leader(subject, sid));
    let mut out = vec![Para::bare(safe(heading, Tone::Strong))];
    if others.is_empty() {
        out.push(Para::bare(lit(
            "  no process of this session is in another group",
            Tone::Dim,
        )));
    }
    out.extend(others.into_iter().map(|one| member(subject, one)));
    out
}
