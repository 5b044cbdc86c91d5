//! `list` as a table: instances, or all processes. Columns are those of the tree.

use std::sync::Arc;

use super::fill::Selection;
use super::grid::{GridColumn, grid};
use super::publish::Secrets;
use crate::model::host::{Lack, Visibility};
use crate::model::instance::Instance;
use crate::model::process::Process;
use crate::model::world::World;
use crate::table::cells::{instance_cell, process_cell};
use crate::table::column::{Align, ColumnId};
use crate::table::index::{Index, Shown, command_line};
use crate::text::redact::Redactor;
use crate::text::width::Glyphs;
use crate::text::{Safe, shell};

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

/// Where the table goes.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Columns of the terminal; `None` for a pipe or a file: nothing is dropped or cut.
    pub columns: Option<usize>,
    /// Signs for what is cut.
    pub glyphs: Glyphs,
}

/// Returns the instances of a selection, or all processes, as a table. `secrets` holds for command
/// lines; in everything else they are always removed.
pub fn list(
    world: &World,
    selection: &Selection,
    redactor: &Arc<Redactor>,
    secrets: Secrets<'_>,
    paper: Paper,
) -> String {
    let mut index = Index::empty(Arc::clone(redactor));
    index.renew(world);
    let shown = Shown { world, index: &index };
    // CPU use is between two samples: of one there is none, which is not the same as unknown.
    let one_sample = world
        .sample
        .processes
        .values()
        .all(|one| one.cpu_permille.is_none());
    let (ids, mut rows): (&[ColumnId], Vec<Vec<Safe>>) = if selection.all {
        let processes = world.sample.processes.values();
        (
            &PROCESSES,
            processes
                .map(|process| process_row(shown, process, secrets))
                .collect(),
        )
    } else {
        let instances = selection.instances(world);
        (
            &INSTANCES,
            instances
                .iter()
                .map(|instance| instance_row(shown, instance, secrets))
                .collect(),
        )
    };
    if rows.is_empty() {
        return String::new();
    }
    if let Some(at) = ids
        .iter()
        .position(|id| *id == ColumnId::Cpu)
        .filter(|_| one_sample)
    {
        for row in &mut rows {
            row[at] = Safe::literal("-");
        }
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
        let more = match sample.lack() {
            Lack::Root => "; as root it would be more",
            Lack::Capability => {
                "; refused even to this root: with all capabilities, outside a container, it would be more"
            }
            Lack::Exempt => "",
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

fn instance_row(shown: Shown<'_>, instance: &Instance, secrets: Secrets<'_>) -> Vec<Safe> {
    INSTANCES
        .iter()
        .map(|id| match (id, shown.process(instance.lead_process())) {
            (ColumnId::Command, Some(process)) => command(process, secrets),
            _ => instance_cell(shown, instance, *id),
        })
        .collect()
}

fn process_row(shown: Shown<'_>, process: &Process, secrets: Secrets<'_>) -> Vec<Safe> {
    PROCESSES
        .iter()
        .map(|id| match id {
            ColumnId::Command => command(process, secrets),
            _ => process_cell(shown, process, *id),
        })
        .collect()
}

/// Returns the whole command line with its elements quoted; the name, and why, where there is none.
pub(super) fn command(process: &Process, secrets: Secrets<'_>) -> Safe {
    match (process.argv.value(), secrets) {
        (Some(argv), _) if !argv.is_empty() => shell::line(&secrets.argv(argv), usize::MAX),
        (_, Secrets::Removed(redactor)) => command_line(process, redactor),
        (_, Secrets::Shown) => Safe::from_bytes(process.comm.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::model::finding::Finding;
    use crate::report::worlds::{bare_instance, full_world, process, world};
    use crate::text::width;

    const PIPE: Paper = Paper {
        columns: None,
        glyphs: Glyphs::Ascii,
    };

    /// Compiling the rules takes longer than all these tests.
    static REDACTOR: LazyLock<Arc<Redactor>> =
        LazyLock::new(|| Arc::new(Redactor::builtin().expect("the built-in rules")));

    #[test]
    fn cpu_of_one_sample_is_a_dash_and_of_a_new_process_unknown() {
        let cpu = |permille: [Option<u32>; 2]| {
            let processes = [5, 6].into_iter().zip(permille).map(|(pid, permille)| Process {
                cpu_permille: permille,
                ..process(pid, 1, &[b"a"])
            });
            let world = world(processes.collect(), Vec::new());
            let all = Selection {
                all: true,
                ..Selection::default()
            };
            let text = list(&world, &all, &REDACTOR, Secrets::Shown, PIPE);
            let mut lines = text.lines();
            let end = lines.next().unwrap().find("CPU%").unwrap() + "CPU%".len();
            let words = lines.map(|line| line[..end].split_whitespace().last().unwrap().to_owned());
            words.collect::<Vec<_>>()
        };
        assert_eq!(cpu([None, None]), ["-", "-"]);
        assert_eq!(cpu([Some(985), None]), ["99", "?"]);
    }

    #[test]
    fn an_instance_is_one_line() {
        let text = list(
            &full_world(),
            &Selection::default(),
            &REDACTOR,
            Secrets::Shown,
            PIPE,
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        for wanted in [
            "48271",
            "48270",
            "deploy",
            "SEVERED",
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
                let text = list(&full_world(), &selection, &REDACTOR, Secrets::Shown, paper);
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
        let narrow = list(
            &full_world(),
            &Selection::default(),
            &REDACTOR,
            Secrets::Shown,
            paper,
        );
        assert!(narrow.contains("48271") && narrow.contains("SEVERED"), "{narrow}");
    }

    #[test]
    fn all_processes_with_their_part() {
        let selection = Selection {
            all: true,
            ..Selection::default()
        };
        let text = list(
            &full_world(),
            &selection,
            &REDACTOR,
            Secrets::Removed(&REDACTOR),
            PIPE,
        );
        assert_eq!(text.lines().count(), 8, "{text}");
        let of = |pid: &str| {
            text.lines()
                .find(|line| line.starts_with(pid))
                .unwrap_or_default()
        };
        assert!(of("48271").contains("server"), "{text}");
        assert!(of("48290").contains("helper"), "{text}");
        assert!(
            of("48290").contains("ssh (command line: reading failed)"),
            "argv could not be read: {text}"
        );
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
        assert_eq!(list(&world, &none, &REDACTOR, Secrets::Shown, PIPE), "");
        let notes = notes(&world, &none);
        assert!(notes[0].contains("among 1 processes"), "{notes:?}");
        assert!(
            notes[1].contains("3 of 1 processes could be read in full"),
            "{notes:?}"
        );
    }
}
