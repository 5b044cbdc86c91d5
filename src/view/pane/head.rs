//! The head of every pane: the whole command, working directory, user, identification.

use super::super::paint::{Drawn, Para, safe};
use super::super::theme::{Theme, Tone};
use super::subject::Subject;
use crate::model::instance::{Instance, Role};
use crate::model::process::Process;
use crate::table::{ColumnId, RowId, cells};
use crate::text::Safe;
use crate::text::width::{columns, pad};

/// Lines of the head; the command is wrapped, never cut.
pub(super) fn lines(subject: &Subject<'_>, width: usize, theme: Theme) -> Vec<Drawn> {
    let Some(process) = subject.process else {
        let name = cells::name(subject.shown, subject.node);
        return Para::bare(safe(name, Tone::Strong)).lines(width, true, theme);
    };
    let command = subject.shown.line(process.key).cloned().unwrap_or_default();
    let place = place(subject, process);
    let needed = columns(&theme.text(&place)) + 2;
    let mut lines = if columns(&theme.text(&command)) + needed <= width {
        let mut line = Drawn::one(
            pad(&theme.text(&command), width + 2 - needed, theme.glyphs()),
            Tone::Strong,
        );
        line.push(theme.text(&place).into_owned(), Tone::Plain);
        vec![line]
    } else {
        let mut lines = Para::bare(safe(command, Tone::Strong)).lines(width, true, theme);
        lines.extend(Para::bare(safe(place, Tone::Plain)).lines(width, true, theme));
        lines
    };
    let since = subject.shown.world.sample.started_at(process).day_and_clock();
    let since = Safe::from_text(&format!("since {since}"));
    let who = Para::bare(safe(identification(subject, process), Tone::Plain)).note(since);
    lines.extend(who.lines(width, true, theme));
    lines
}

fn place(subject: &Subject<'_>, process: &Process) -> Safe {
    let cwd = match process.cwd.value() {
        Some(cwd) => subject.shown.safe_bytes(cwd.as_bytes()),
        None => cells::absence(&process.cwd),
    };
    let user = cells::process_cell(subject.shown, process, ColumnId::User);
    Safe::join([Safe::literal("cwd"), cwd, Safe::literal(" user"), user], " ")
}

fn identification(subject: &Subject<'_>, process: &Process) -> Safe {
    match subject.instance {
        Some(instance) if subject.is_instance() => identified(subject, instance),
        Some(instance) => member(subject, instance, process),
        None => match (
            &subject.node.id,
            subject.shown.world.judged.clients.get(&process.key),
        ) {
            (_, Some(client)) => {
                let name = Safe::from_text(&client.name);
                let because = subject.shown.safe_text(&client.because);
                Safe::join([Safe::literal("client:"), Safe::join([name, because], ", ")], " ")
            }
            (RowId::Owner(_), None) => Safe::literal("no client that is known; e explains"),
            _ => Safe::literal("no MCP server, as far as is seen; e explains"),
        },
    }
}

fn member(subject: &Subject<'_>, instance: &Instance, process: &Process) -> Safe {
    let role = cells::role_of(subject.shown, process.key).map_or("member", Role::word);
    let name = subject.shown.safe_bytes(instance.name.as_bytes());
    let pid = Safe::from_text(&instance.lead_process().pid.to_string());
    Safe::join([Safe::literal(role), Safe::literal("of"), name, pid], " ")
}

fn identified(subject: &Subject<'_>, instance: &Instance) -> Safe {
    let by = &instance.identified_by;
    let mut parts = Vec::new();
    if let Some(client) = &by.client {
        parts.push(Safe::from_text(client));
    }
    if let Some(file) = &by.file {
        parts.push(subject.shown.safe_bytes(file.as_bytes()));
    }
    if let Some(name) = &by.server_name {
        parts.push(subject.shown.safe_bytes(name.as_bytes()));
    }
    if parts.is_empty() {
        let rule = Safe::from_text(&format!("{} by rule {}", by.confidence.word(), by.rule));
        return Safe::join([rule, subject.shown.safe_text(&by.because)], ": ");
    }
    Safe::join(
        [Safe::literal(by.confidence.word()), Safe::join(parts, ", ")],
        ": ",
    )
}
