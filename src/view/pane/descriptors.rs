//! Pane 2: open descriptors with both ends, the wire first.

use super::super::paint::{Para, lit, safe, say};
use super::super::theme::Tone;
use super::evidence::missing_of;
use super::subject::Subject;
use super::{ends, no_process};
use crate::model::descriptor::Descriptor;
use crate::model::identity::Pid;
use crate::model::instance::{Instance, Role};
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::text::Safe;
use crate::text::width::{Glyphs, columns, pad};

/// Widest first column of a table: what a descriptor leads to.
const TARGET_MOST: usize = 40;

/// Text of the pane.
pub(super) fn paragraphs(subject: &Subject<'_>) -> Vec<Para> {
    let processes = subject.processes();
    if processes.is_empty() {
        return vec![no_process(subject)];
    }
    processes
        .into_iter()
        .flat_map(|(process, role)| of_process(subject, process, role))
        .collect()
}

fn of_process(subject: &Subject<'_>, process: &Process, role: Option<Role>) -> Vec<Para> {
    let name = subject.shown.name_and_pid(process.key.pid);
    let role = role.map(|role| Safe::literal(role.word()));
    let mut heading = Safe::join(std::iter::once(name).chain(role), " ");
    let descriptors = match &process.descriptors {
        Reading::Value(descriptors) => descriptors,
        other => {
            heading.push_literal(": ");
            let text = missing_of(other, "descriptors", "").unwrap_or_default();
            heading.push(&Safe::from_text(&text));
            return vec![Para::bare(safe(heading, Tone::Warning))];
        }
    };
    heading.push(&Safe::from_text(&format!(", {} open", descriptors.len())));
    let mut out = vec![Para::bare(safe(heading, Tone::Strong))];
    if descriptors.is_empty() {
        return out;
    }
    let mut sorted: Vec<(bool, &Descriptor)> = descriptors
        .iter()
        .map(|one| {
            (
                subject
                    .instance
                    .is_some_and(|instance| is_wire(instance, process.key.pid, one.fd)),
                one,
            )
        })
        .collect();
    sorted.sort_by_key(|(wire, one)| (!*wire, one.fd));
    let rows: Vec<(bool, &Descriptor, Safe)> = sorted
        .into_iter()
        .map(|(wire, one)| (wire, one, ends::target(subject, one)))
        .collect();
    let width = rows
        .iter()
        .map(|(_, _, target)| columns(target.as_str()))
        .max()
        .unwrap_or(0)
        .min(TARGET_MOST);
    out.push(Para::row(lit(
        "  FD ACC      LEADS TO, AND WHO HOLDS THE OTHER END",
        Tone::Dim,
    )));
    for (wire, one, target) in rows {
        out.push(row(subject, process, wire, one, &target, width));
    }
    out
}

fn row(
    subject: &Subject<'_>,
    process: &Process,
    wire: bool,
    one: &Descriptor,
    target: &Safe,
    width: usize,
) -> Para {
    let mark = if wire { "wire" } else { "" };
    let label = format!("{:>4} {:<3} {mark:<4}", one.fd, ends::access(one));
    let end = ends::other_end(subject, process.key, one);
    let text = if end.as_str().is_empty() {
        target.clone()
    } else {
        // Both parts are escaped: padding with blanks adds nothing that would have to be.
        Safe::join(
            [
                Safe::from_escaped(&pad(
                    target.as_str(),
                    width.max(columns(target.as_str())),
                    Glyphs::Unicode,
                )),
                end,
            ],
            "  ",
        )
    };
    let tone = if wire { Tone::Strong } else { Tone::Plain };
    Para {
        gutter: 14,
        label: say(&label, tone),
        text: safe(text, tone),
        ..Para::default()
    }
}

fn is_wire(instance: &Instance, pid: Pid, fd: u32) -> bool {
    let Some(stdio) = &instance.stdio else {
        return false;
    };
    [&stdio.stdin, &stdio.stdout]
        .into_iter()
        .flatten()
        .any(|end| end.pid == pid && end.fd == Some(fd))
}
