//! `list` as a table: instances, or all processes. Columns are those of the tree.

use super::fill::Selection;
use super::grid::{GridColumn, grid};
use super::publish::Secrets;
use crate::model::finding::{EndKind, LeadKind, PeerState, Weight};
use crate::model::host::Visibility;
use crate::model::identity::Pid;
use crate::model::instance::{Instance, Role};
use crate::model::process::Process;
use crate::model::world::World;
use crate::table::column::{Align, ColumnId};
use crate::text::width::Glyphs;
use crate::text::{Safe, format, shell};

/// Columns of the instances. COMMAND is the last: it takes what is left of the line.
const INSTANCES: [ColumnId; 14] = [
    ColumnId::Name,
    ColumnId::Pid,
    ColumnId::Ppid,
    ColumnId::Pgid,
    ColumnId::User,
    ColumnId::Stat,
    ColumnId::Finding,
    ColumnId::Elapsed,
    ColumnId::Cpu,
    ColumnId::Mem,
    ColumnId::Reach,
    ColumnId::Wire,
    ColumnId::Why,
    ColumnId::Command,
];

/// Columns of the processes; FINDING has the part in an instance.
const PROCESSES: [ColumnId; 10] = [
    ColumnId::Pid,
    ColumnId::Ppid,
    ColumnId::Pgid,
    ColumnId::User,
    ColumnId::Stat,
    ColumnId::Finding,
    ColumnId::Elapsed,
    ColumnId::Cpu,
    ColumnId::Mem,
    ColumnId::Command,
];

/// What stands where nothing is known.
const UNKNOWN: &str = "?";

/// Where the table goes.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Columns of the terminal; `None` for a pipe or a file: nothing is dropped or cut.
    pub columns: Option<usize>,
    /// Signs for what is cut.
    pub glyphs: Glyphs,
}

/// Returns the instances of a selection, or all processes, as a table.
pub fn list(world: &World, selection: &Selection, secrets: Secrets<'_>, paper: Paper) -> String {
    let (ids, rows): (&[ColumnId], Vec<Vec<Safe>>) = if selection.all {
        let processes = world.sample.processes.values();
        (
            &PROCESSES,
            processes
                .map(|process| process_row(world, process, secrets))
                .collect(),
        )
    } else {
        let instances = selection.instances(world);
        (
            &INSTANCES,
            instances
                .iter()
                .map(|instance| instance_row(world, instance, secrets))
                .collect(),
        )
    };
    if rows.is_empty() {
        return String::new();
    }
    let columns: Vec<GridColumn> = ids.iter().map(|id| grid_column(*id)).collect();
    grid(&columns, &rows, paper.columns, paper.glyphs)
}

/// Returns what the reader of the table should know: nothing was found, or not all could be seen.
pub fn notes(world: &World, selection: &Selection) -> Vec<String> {
    let sample = &world.sample;
    let mut notes = Vec::new();
    let all = sample.processes.len();
    if !selection.all && selection.instances(world).is_empty() {
        let looked = &world.judged.looked_at;
        notes.push(format!(
            "no such MCP server instance among {all} processes; looked at {} configuration files with {} entries, \
             {} of them running",
            looked.files, looked.entries, looked.running
        ));
    }
    if sample.visibility != Visibility::All {
        let more = if sample.observer.uid == 0 {
            ""
        } else {
            "; as root it would be more"
        };
        notes.push(format!(
            "{} of {all} processes could be read in full{more}",
            sample.readable
        ));
    }
    if let Some(hidden) = sample.hidden.filter(|hidden| *hidden > 0) {
        notes.push(format!(
            "{hidden} more processes are hidden from this user (hidepid)"
        ));
    }
    notes
}

fn grid_column(id: ColumnId) -> GridColumn {
    let column = id.column();
    GridColumn {
        title: column.title,
        right: column.align == Align::Right,
        most: usize::from(column.width).max(column.title.len()) + 10,
        importance: column.importance,
    }
}

fn instance_row(world: &World, instance: &Instance, secrets: Secrets<'_>) -> Vec<Safe> {
    let process = world.sample.get(instance.lead_process());
    INSTANCES
        .iter()
        .map(|id| match id {
            ColumnId::Name => Safe::from_bytes(instance.name.as_bytes()),
            ColumnId::Pid => Safe::from_text(&instance.lead_process().pid.to_string()),
            ColumnId::Finding => Safe::literal(instance.finding.word()),
            ColumnId::Reach => Safe::from_text(&reach(instance)),
            ColumnId::Wire => wire(world, instance),
            ColumnId::Why => Safe::from_text(&secrets.line(&why(instance))),
            _ => process.map_or(Safe::literal(UNKNOWN), |process| {
                cell(world, process, *id, secrets)
            }),
        })
        .collect()
}

fn process_row(world: &World, process: &Process, secrets: Secrets<'_>) -> Vec<Safe> {
    PROCESSES
        .iter()
        .map(|id| cell(world, process, *id, secrets))
        .collect()
}

fn cell(world: &World, process: &Process, id: ColumnId, secrets: Secrets<'_>) -> Safe {
    let number = |pid: Option<Pid>, none: &'static str| {
        pid.map_or(Safe::literal(none), |pid| Safe::from_text(&pid.to_string()))
    };
    match id {
        ColumnId::Pid => number(Some(process.key.pid), UNKNOWN),
        // The first process and the kernel's threads have none: ps(1) writes 0.
        ColumnId::Ppid => number(process.ppid, "0"),
        ColumnId::Pgid => number(process.pgid, UNKNOWN),
        ColumnId::User => process
            .user
            .value()
            .map_or(Safe::literal(UNKNOWN), |user| Safe::from_bytes(user.as_bytes())),
        ColumnId::Stat => Safe::from_text(&process.stat),
        ColumnId::Finding => Safe::literal(part(world, process).unwrap_or("-")),
        ColumnId::Elapsed => Safe::from_text(&format::elapsed(world.sample.elapsed_ms(process))),
        ColumnId::Cpu => process.cpu_permille.map_or(Safe::literal(UNKNOWN), |permille| {
            Safe::from_text(&format::percent(permille))
        }),
        ColumnId::Mem => Safe::from_text(&format::bytes(process.rss_bytes)),
        ColumnId::Command => command(process, secrets),
        ColumnId::Name | ColumnId::Reach | ColumnId::Wire | ColumnId::Why => {
            Safe::from_bytes(process.comm.as_bytes())
        }
    }
}

/// Returns the finding of the instance that a process is the server of, else its part.
fn part(world: &World, process: &Process) -> Option<&'static str> {
    let roles = world.judged.roles.get(&process.key)?;
    let server = roles.iter().find(|role| role.role == Role::Server);
    let finding = server
        .and_then(|role| world.judged.instance(role.instance))
        .map(|one| one.finding.word());
    finding.or_else(|| roles.first().map(|role| role.role.word()))
}

/// Returns the command line with its elements quoted; the name in brackets where there is none.
pub(super) fn command(process: &Process, secrets: Secrets<'_>) -> Safe {
    match process.argv.value() {
        Some(argv) if !argv.is_empty() => shell::line(&secrets.argv(argv), usize::MAX),
        _ => {
            let mut name = Safe::literal("[");
            name.push(&Safe::from_bytes(process.comm.as_bytes()));
            name.push_literal("]");
            name
        }
    }
}

/// Returns the leads by kind, with their number where there is more than one: `2tcp ssh`.
fn reach(instance: &Instance) -> String {
    let Some(leads) = &instance.reach else {
        return UNKNOWN.to_owned();
    };
    let mut kinds: Vec<(LeadKind, usize)> = Vec::new();
    for lead in leads {
        match kinds.iter_mut().find(|(kind, _)| *kind == lead.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((lead.kind, 1)),
        }
    }
    let words: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| {
            if count > 1 {
                format!("{count}{}", kind.word())
            } else {
                kind.word().to_owned()
            }
        })
        .collect();
    if words.is_empty() {
        "-".to_owned()
    } else {
        words.join(" ")
    }
}

/// Returns the descriptor it is spoken to on (`0p`: a pipe, `0s`: a socket), and who holds the other
/// end.
fn wire(world: &World, instance: &Instance) -> Safe {
    let Some(end) = instance.stdio.as_ref().and_then(|stdio| stdio.stdin.as_ref()) else {
        return Safe::literal("-");
    };
    let letter = match end.kind {
        EndKind::Pipe => "p",
        EndKind::Socket => "s",
        EndKind::Tty => "t",
        EndKind::Null => "n",
        EndKind::File => "f",
        EndKind::Closed => "-",
        EndKind::Other => "o",
    };
    let fd = end.fd.map(|fd| fd.to_string()).unwrap_or_default();
    let mut text = Safe::from_text(&format!("{fd}{letter} "));
    match (end.peer, end.holders.first()) {
        (PeerState::Held | PeerState::Own, Some(holder)) => {
            text.push(&Safe::from_text(&holder.pid.to_string()));
            if let Some(process) = world.sample.process(holder.pid) {
                text.push_literal(" ");
                text.push(&Safe::from_bytes(process.comm.as_bytes()));
            }
            let more = end.holder_count.saturating_sub(1);
            if more > 0 {
                text.push(&Safe::from_text(&format!(" +{more}")));
            }
        }
        (PeerState::Held | PeerState::Own, None) => text.push_literal("held"),
        (PeerState::None, _) => text.push_literal("no writer"),
        (PeerState::Hidden, _) => text.push_literal("hidden"),
        (PeerState::NotApplicable, _) => text.push_literal("no peer"),
    }
    text
}

/// Returns the strongest fact.
fn why(instance: &Instance) -> String {
    let strong = instance.facts.iter().find(|fact| fact.weight == Weight::Strong);
    strong
        .or(instance.facts.first())
        .map(|fact| fact.text.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::Finding;
    use crate::report::worlds::{bare_instance, full_world, process, world};
    use crate::text::width;

    const PIPE: Paper = Paper {
        columns: None,
        glyphs: Glyphs::Ascii,
    };

    #[test]
    fn an_instance_is_one_line() {
        let text = list(&full_world(), &Selection::default(), Secrets::Shown, PIPE);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        for wanted in [
            "48271",
            "48270",
            "deploy",
            "severed",
            "14h22m",
            "\\xff",
            "0s 900 claude",
            "tcp",
        ] {
            assert!(lines[1].contains(wanted), "{wanted}: {text}");
        }
        assert!(lines[1].contains("'x y'"), "elements keep their borders: {text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }

    #[test]
    fn a_terminal_gets_lines_that_fit() {
        for columns in 20..200 {
            let paper = Paper {
                columns: Some(columns),
                glyphs: Glyphs::Unicode,
            };
            for all in [false, true] {
                let selection = Selection {
                    all,
                    ..Selection::default()
                };
                let text = list(&full_world(), &selection, Secrets::Shown, paper);
                assert!(
                    text.lines().all(|line| width::columns(line) <= columns),
                    "{columns}\n{text}"
                );
            }
        }
        let paper = Paper {
            columns: Some(40),
            glyphs: Glyphs::Unicode,
        };
        let narrow = list(&full_world(), &Selection::default(), Secrets::Shown, paper);
        assert!(narrow.contains("48271") && narrow.contains("severed"), "{narrow}");
    }

    #[test]
    fn all_processes_with_their_part() {
        let selection = Selection {
            all: true,
            ..Selection::default()
        };
        let text = list(&full_world(), &selection, Secrets::Shown, PIPE);
        assert_eq!(text.lines().count(), 8, "{text}");
        let of = |pid: &str| {
            text.lines()
                .find(|line| line.starts_with(pid))
                .unwrap_or_default()
        };
        assert!(of("48271").contains("severed"), "{text}");
        assert!(of("48290").contains("helper"), "{text}");
        assert!(of("48290").contains("[ssh]"), "argv could not be read: {text}");
        assert!(of("  900").contains("client"), "{text}");
    }

    #[test]
    fn nothing_found_is_said_and_so_is_what_was_not_seen() {
        let world = world(
            vec![process(5, 1, &[b"x"])],
            vec![bare_instance(5, Finding::Attached)],
        );
        let none = Selection {
            findings: vec![Finding::Severed],
            ..Selection::default()
        };
        assert_eq!(list(&world, &none, Secrets::Shown, PIPE), "");
        let notes = notes(&world, &none);
        assert!(notes[0].contains("among 1 processes"), "{notes:?}");
        assert!(
            notes[1].contains("3 of 1 processes could be read in full"),
            "{notes:?}"
        );
    }
}
