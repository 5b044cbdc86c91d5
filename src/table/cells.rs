//! The text of cells: one place for the tree and for the `list` table.

use super::column::ColumnId;
use super::index::Shown;
use super::processes;
use super::row::{Figures, Node, Reach, RowId};
use super::sort;
use super::why;
use crate::model::bytes::OsBytes;
use crate::model::finding::Finding;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::instance::{Instance, OwnerKey, Role};
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::text::{Safe, format};

/// Returns the text of one cell of the tree.
pub fn cell(shown: Shown<'_>, node: &Node, column: ColumnId) -> Safe {
    match &node.id {
        RowId::Owner(owner) => owner_cell(shown, node, owner, column),
        RowId::Kind(..) => kind_cell(shown, node, column),
        RowId::Instance(id) => match shown.instance(*id) {
            Some(instance) => {
                figure_cell(&node.figures, column).unwrap_or_else(|| instance_cell(shown, instance, column))
            }
            None => Safe::default(),
        },
        RowId::Process(key) => member_cell(shown, node, *key, column),
    }
}

/// Returns the text of one cell of an instance, as `list` prints it: CPU and memory of all its
/// members.
pub fn instance_cell(shown: Shown<'_>, instance: &Instance, column: ColumnId) -> Safe {
    match column {
        ColumnId::Name => shown.safe_bytes(instance.name.as_bytes()),
        ColumnId::Finding => finding(instance.finding),
        ColumnId::Wire => why::wire(shown, instance),
        ColumnId::Why => why::of_instance(shown, instance),
        ColumnId::Cpu | ColumnId::Mem | ColumnId::Elapsed | ColumnId::Reach => {
            figure_cell(&Figures::of_instance(shown.world, instance), column).unwrap_or_default()
        }
        _ => match shown.process(instance.lead_process()) {
            Some(process) => process_cell(shown, process, column),
            None => Safe::default(),
        },
    }
}

/// Returns the text of one cell of a process by itself.
pub fn process_cell(shown: Shown<'_>, process: &Process, column: ColumnId) -> Safe {
    match column {
        ColumnId::Name => shown.name(process),
        ColumnId::Pid => number(Some(process.key.pid)),
        ColumnId::Ppid => number(process.ppid),
        ColumnId::Pgid => number(process.pgid),
        ColumnId::User => {
            processes::user(process).map_or_else(|| absence(&process.user), |name| Safe::from_text(&name))
        }
        ColumnId::Stat => Safe::from_text(&process.stat),
        ColumnId::Finding => Safe::literal(role_of(shown, process.key).map_or("", Role::word)),
        ColumnId::Elapsed => Safe::from_text(&format::elapsed(shown.world.sample.elapsed_ms(process))),
        ColumnId::Cpu => cpu(process.cpu_permille),
        ColumnId::Mem => Safe::from_text(&format::bytes(process.rss_bytes)),
        ColumnId::Command => shown.line(process.key).cloned().unwrap_or_default(),
        ColumnId::Reach | ColumnId::Wire | ColumnId::Why => Safe::default(),
    }
}

/// Returns the text that stands at the beginning of a row.
pub fn name(shown: Shown<'_>, node: &Node) -> Safe {
    match &node.id {
        RowId::Owner(owner) => owner_name(shown, node, owner),
        RowId::Kind(_, name) => {
            let mut text = shown.safe_bytes(name.as_bytes());
            text.push(&Safe::from_text(&format!(" x{}", node.figures.instances)));
            text
        }
        RowId::Instance(id) => shown
            .instance(*id)
            .map_or_else(Safe::default, |one| shown.safe_bytes(one.name.as_bytes())),
        RowId::Process(key) => shown
            .process(*key)
            .map_or_else(Safe::default, |one| shown.name(one)),
    }
}

/// Returns how a row is called in a sentence: `git 48271`.
pub fn label(shown: Shown<'_>, node: &Node) -> Safe {
    let mut text = match &node.id {
        RowId::Owner(owner) => owner_title(shown, owner),
        _ => name(shown, node),
    };
    if let Some(key) = sort::key(shown, node) {
        text.push(&Safe::from_text(&format!(" {}", key.pid)));
    }
    text
}

/// Returns the process that a row stands for.
pub fn process_of(shown: Shown<'_>, node: &Node) -> Option<ProcessKey> {
    sort::key(shown, node)
}

/// Returns whether a process is a client: a known one, or one that talks on a wire.
pub fn is_client(shown: Shown<'_>, key: ProcessKey) -> bool {
    shown.world.judged.clients.contains_key(&key)
        || shown
            .world
            .judged
            .roles
            .get(&key)
            .is_some_and(|parts| parts.iter().any(|part| part.role == Role::Client))
}

/// Returns the word of a finding as the screen shows it: what is in trouble in capitals, so that
/// it stands out without colour.
pub fn finding(finding: Finding) -> Safe {
    Safe::literal(finding_word(finding))
}

/// Returns that word.
pub fn finding_word(finding: Finding) -> &'static str {
    match finding {
        Finding::Severed => "SEVERED",
        Finding::Held => "HELD",
        Finding::Wedged => "WEDGED",
        Finding::Defunct => "DEFUNCT",
        Finding::Unknown => "unknown",
        Finding::Network => "network",
        Finding::Attached => "attached",
    }
}

/// Returns CPU use as whole per cents; `?` while there is one sample only.
pub fn cpu(permille: Option<u32>) -> Safe {
    permille.map_or(Safe::literal("?"), |permille| {
        Safe::from_text(&format::percent(permille))
    })
}

/// Returns the mark for a value that is not there: four different reasons, none of them 0.
pub fn absence<T>(reading: &Reading<T>) -> Safe {
    Safe::literal(match reading {
        Reading::Denied => "denied",
        Reading::Gone => "gone",
        Reading::Unsupported => "n/a",
        Reading::Failed(_) => "failed",
        Reading::Unread | Reading::Value(_) => "?",
    })
}

/// Returns the part of a process: in an instance, or as a client.
pub fn role_of(shown: Shown<'_>, key: ProcessKey) -> Option<Role> {
    let parts = shown.world.judged.roles.get(&key);
    parts
        .and_then(|parts| {
            parts
                .iter()
                .map(|part| part.role)
                .find(|role| *role != Role::Client)
        })
        .or_else(|| is_client(shown, key).then_some(Role::Client))
}

fn number(pid: Option<Pid>) -> Safe {
    pid.map_or(Safe::literal("-"), |pid| Safe::from_text(&pid.to_string()))
}

fn figure_cell(figures: &Figures, column: ColumnId) -> Option<Safe> {
    Some(match column {
        ColumnId::Elapsed => figures
            .elapsed_ms
            .map_or(Safe::literal("?"), |ms| Safe::from_text(&format::elapsed(ms))),
        ColumnId::Cpu => cpu(figures.cpu_permille),
        ColumnId::Mem => figures
            .rss_bytes
            .map_or(Safe::literal("?"), |bytes| Safe::from_text(&format::bytes(bytes))),
        ColumnId::Reach => figures
            .reach
            .map_or_else(Safe::default, |reach| Safe::from_text(&reach.words())),
        _ => return None,
    })
}

/// REACH of a row that sums up others: empty where none of them has a lead.
fn sum_cell(figures: &Figures, column: ColumnId) -> Option<Safe> {
    let nothing = figures.reach.is_none_or(|reach| reach == Reach::default());
    if column == ColumnId::Reach && nothing {
        Some(Safe::default())
    } else {
        figure_cell(figures, column)
    }
}

fn owner_title(shown: Shown<'_>, owner: &OwnerKey) -> Safe {
    match owner {
        OwnerKey::Adopter(key) => {
            let named = shown.process(*key).map(|process| shown.name(process));
            named
                .or_else(|| adopter_name(shown, owner))
                .unwrap_or(Safe::literal("(gone)"))
        }
        OwnerKey::Process(key) => match (shown.world.judged.clients.get(key), shown.process(*key)) {
            (Some(client), _) => Safe::from_text(&client.name),
            (None, Some(process)) => program_and_script(shown, process),
            (None, None) => Safe::literal("(gone)"),
        },
        OwnerKey::User(uid) => {
            let processes = shown.world.sample.processes.values();
            let name = processes
                .filter(|process| process.uid.value() == Some(uid))
                .find_map(|process| process.user.value());
            let name = name.map_or_else(
                || Safe::from_text(&uid.to_string()),
                |name| Safe::from_bytes(name.as_bytes()),
            );
            Safe::join([Safe::literal("unknown, of user"), name], " ")
        }
    }
}

/// Returns what tells one unknown client from another: its program and the file that it runs, `node client.mjs`.
fn program_and_script(shown: Shown<'_>, process: &Process) -> Safe {
    const LONGEST: usize = 32;
    let name = shown.name(process);
    let operand = process
        .args()
        .iter()
        .skip(1)
        .find(|argument| !argument.as_bytes().starts_with(b"-"));
    let file = operand.filter(|operand| operand.as_bytes().iter().any(|byte| matches!(byte, b'/' | b'.')));
    match file.map(OsBytes::basename) {
        Some(file) if !file.is_empty() && file.len() <= LONGEST => {
            Safe::join([name, shown.safe_bytes(file)], " ")
        }
        _ => name,
    }
}

fn adopter_name(shown: Shown<'_>, owner: &OwnerKey) -> Option<Safe> {
    let instances = &shown.world.judged.instances;
    let adopter = instances
        .iter()
        .filter(|one| one.owner == *owner)
        .find_map(|one| one.adopter.as_ref())?;
    Some(shown.safe_bytes(adopter.name.as_bytes()))
}

fn owner_name(shown: Shown<'_>, node: &Node, owner: &OwnerKey) -> Safe {
    let title = owner_title(shown, owner);
    let count = servers(node.figures.instances);
    match owner {
        OwnerKey::Adopter(key) => Safe::join(
            [
                title,
                Safe::from_text(&format!("{}  {}  {count}", key.pid, adopted(node))),
            ],
            " ",
        ),
        OwnerKey::Process(key) => {
            let user = shown.process(*key).and_then(processes::user);
            let user = user.map_or(Safe::default(), |user| Safe::from_text(&user));
            let pid = Safe::join([Safe::from_text(&key.pid.to_string()), user], " ");
            let client = if shown.world.judged.clients.contains_key(key) {
                ""
            } else {
                " (client not known)"
            };
            let count = Safe::from_text(&format!("{count}{client}"));
            Safe::join([title, pid, count], "  ")
        }
        OwnerKey::User(_) => Safe::join([title, Safe::from_text(&count)], "  "),
    }
}

/// Returns a number of servers with its noun: beside pids and under other headings it may read as one of them.
pub fn servers(count: u32) -> String {
    match count {
        1 => "1 server".to_owned(),
        _ => format!("{count} servers"),
    }
}

/// What can be said of the clients of adopted instances: a network server needs none, and of one
/// that may not be read nothing is known.
fn adopted(node: &Node) -> &'static str {
    if node.figures.worst().is_some_and(Finding::is_trouble) {
        "NO LIVE CLIENT"
    } else {
        "no client seen"
    }
}

fn owner_cell(shown: Shown<'_>, node: &Node, owner: &OwnerKey, column: ColumnId) -> Safe {
    match column {
        ColumnId::Name => owner_name(shown, node, owner),
        ColumnId::Pid => number(super::row::owner_pid(owner)),
        ColumnId::User => sort::key(shown, node)
            .and_then(|key| shown.process(key))
            .map_or_else(Safe::default, |process| {
                process_cell(shown, process, ColumnId::User)
            }),
        ColumnId::Why | ColumnId::Command => of_sum(shown, node),
        _ => sum_cell(&node.figures, column).unwrap_or_default(),
    }
}

/// Returns how many of a sum have each finding, where they differ; else what stands out in it.
fn of_sum(shown: Shown<'_>, node: &Node) -> Safe {
    let figures = &node.figures;
    let counted = Finding::ALL.map(|finding| (finding, figures.count(finding)));
    let counts: Vec<String> = counted
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(finding, count)| format!("{count} {}", finding.word()))
        .collect();
    if counts.len() > 1 {
        Safe::from_text(&counts.join(" "))
    } else {
        why::of_sum(shown, node)
    }
}

fn kind_cell(shown: Shown<'_>, node: &Node, column: ColumnId) -> Safe {
    match column {
        ColumnId::Name => name(shown, node),
        ColumnId::Finding => node.figures.worst().map_or_else(Safe::default, finding),
        ColumnId::Why | ColumnId::Command => of_sum(shown, node),
        ColumnId::Elapsed => Safe::default(),
        _ => sum_cell(&node.figures, column).unwrap_or_default(),
    }
}

fn member_cell(shown: Shown<'_>, node: &Node, key: ProcessKey, column: ColumnId) -> Safe {
    let Some(process) = shown.process(key) else {
        return Safe::default();
    };
    match column {
        ColumnId::Reach => match node.figures.reach {
            Some(reach) if reach != Reach::default() => Safe::from_text(&reach.words()),
            _ => Safe::default(),
        },
        ColumnId::Finding if node.role.is_some() => Safe::literal(node.role.map_or("", Role::word)),
        ColumnId::Why => why::of_member(shown, node, process),
        _ => process_cell(shown, process, column),
    }
}
