//! The head of every pane: the whole command, working directory, user, identification.

use super::super::paint::{Drawn, Para, safe};
use super::super::theme::{Theme, Tone};
use super::subject::Subject;
use crate::model::instance::{Instance, OwnerKey, Role};
use crate::model::process::Process;
use crate::table::{ColumnId, RowId, cells};
use crate::text::Safe;
use crate::text::width::{columns, pad, truncate, wrap};

/// How much of the screen the head may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Any: the command is wrapped, never cut.
    Whole,
    /// The command is wrapped, never cut; where it runs and what it is take a line each.
    Command,
    /// Three lines: what the pane is about is below.
    Short,
}

/// What the head says, uncut: the command, then where it runs and what it is.
pub(super) fn plain(subject: &Subject<'_>) -> [String; 2] {
    let Some(process) = subject.process else {
        let name = cells::name(subject.shown, subject.node);
        return [name.into_string(), String::new()];
    };
    let command = subject.shown.line(process.key).cloned().unwrap_or_default();
    let rest = [place(subject, process), identification(subject, process)];
    [command.into_string(), Safe::join(rest, "  ").into_string()]
}

/// Lines of the head, and how many of them begin with the command.
pub(super) fn lines(subject: &Subject<'_>, width: usize, room: Room, theme: Theme) -> (usize, Vec<Drawn>) {
    let Some(process) = subject.process else {
        let name = cells::name(subject.shown, subject.node);
        let lines = Para::bare(safe(name, Tone::Strong)).lines(width, true, theme);
        return (lines.len(), lines);
    };
    let command = subject.shown.line(process.key).cloned().unwrap_or_default();
    let place = place(subject, process);
    let needed = columns(&theme.text(&place)) + 2;
    let (of_command, mut lines) = if columns(&theme.text(&command)) + needed <= width {
        let mut line = Drawn::one(
            pad(&theme.text(&command), width + 2 - needed, theme.glyphs()),
            Tone::Strong,
        );
        line.push(theme.text(&place).into_owned(), Tone::Plain);
        (1, vec![line])
    } else if room == Room::Short {
        return short(subject, process, &command, &place, width, theme);
    } else {
        let mut lines = Para::bare(safe(command, Tone::Strong)).lines(width, true, theme);
        let of_command = lines.len();
        lines.extend(Para::bare(safe(place, Tone::Plain)).lines(width, room == Room::Whole, theme));
        (of_command, lines)
    };
    let since = subject.shown.world.sample.started_at(process).day_and_clock();
    let since = Safe::from_text(&format!("since {since}"));
    let who = Para::bare(safe(identification(subject, process), Tone::Plain)).note(since);
    lines.extend(who.lines(width, room == Room::Whole, theme));
    (of_command, lines)
}

/// The command in one line, or in two where it needs them; the rest of the three lines says where it runs and
/// what it is. What is cut ends in a sign; the full screen has all of it.
fn short(
    subject: &Subject<'_>,
    process: &Process,
    command: &Safe,
    place: &Safe,
    width: usize,
    theme: Theme,
) -> (usize, Vec<Drawn>) {
    let one = |text: &str, tone: Tone| Drawn::one(truncate(text, width, theme.glyphs()).into_owned(), tone);
    let command = theme.text(command);
    let place = theme.text(place);
    let who = identification(subject, process);
    let who = theme.text(&who);
    let mut wrapped = wrap(&command, width).into_iter();
    let first = wrapped.next().unwrap_or_default();
    let mut lines = vec![one(&first, Tone::Strong)];
    match wrapped.next() {
        None => {
            lines.push(one(&place, Tone::Plain));
            lines.push(one(&who, Tone::Plain));
        }
        Some(second) => {
            let rest: Vec<String> = std::iter::once(second).chain(wrapped).collect();
            lines.push(one(&rest.join(" "), Tone::Strong));
            lines.push(one(&format!("{place}  {who}"), Tone::Plain));
            return (2, lines);
        }
    }
    (1, lines)
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
                let name = subject.shown.safe_text(&client.name);
                let because = subject.shown.safe_text(&client.because);
                Safe::join([Safe::literal("client:"), Safe::join([name, because], ", ")], " ")
            }
            (RowId::Owner(OwnerKey::Process(_)), None) => {
                let count = subject.node.figures.instances;
                let servers = if count == 1 { "server" } else { "servers" };
                let what = if cells::is_client(subject.shown, process.key) {
                    "not a known client, but it holds a wire"
                } else {
                    "not a known client"
                };
                Safe::from_text(&format!("{what}; {count} {servers} under it; e explains"))
            }
            (RowId::Owner(_), None) => Safe::literal("no client: what it adopted is below it; e explains"),
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
        parts.push(subject.shown.safe_text(client));
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
