//! Rows as one table.

use super::{Format, Source};
use crate::journal::markdown;
use crate::model::bytes::OsBytes;
use crate::model::process::Process;
use crate::table::{ColumnId, Node, RowId, Shown, cells};
use crate::text::{Safe, shell};

/// The columns, as a ticket needs them: an id that stays, every lead, the whole command line.
const HEADS: [&str; 13] = [
    "NAME", "PID", "PPID", "ID", "USER", "STAT", "FINDING", "ELAPSED", "CPU%", "MEM", "LEADS", "WIRE",
    "COMMAND",
];

/// Returns the table with a title above and its source below.
pub(super) fn text(shown: Shown<'_>, nodes: &[&Node], format: Format, source: &Source) -> String {
    let rows: Vec<[Cell; 13]> = nodes.iter().map(|node| row(shown, node)).collect();
    match format {
        Format::Markdown => as_markdown(&rows, source),
        Format::Tsv => as_tsv(&rows, source),
    }
}

/// Returns the rows as text without a border, a line a value.
pub(super) fn plain(shown: Shown<'_>, nodes: &[&Node], source: &Source) -> String {
    let mut lines = Vec::new();
    for node in nodes {
        let row = row(shown, node);
        for (head, cell) in HEADS.iter().zip(&row) {
            lines.push(format!("{head:<9} {}", cell.plain()));
        }
        lines.push(String::new());
    }
    let below = below(source, str::to_owned);
    let below = Safe::from_text(&format!("{} · {} · {below}", source.title, source.host));
    lines.push(below.into_string());
    lines.join("\n")
}

fn as_markdown(rows: &[[Cell; 13]], source: &Source) -> String {
    let title = format!(
        "### {} on {} · {}",
        count(rows.len()),
        markdown::words(&source.host),
        markdown::words(&source.title)
    );
    let mut lines = vec![title, String::new(), format!("| {} |", HEADS.join(" | "))];
    lines.push(format!("|{}", "---|".repeat(HEADS.len())));
    for row in rows {
        let cells: Vec<String> = row.iter().map(Cell::markdown).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    lines.push(String::new());
    lines.push(below(source, |text| markdown::code(&Safe::from_text(text))));
    lines.push(String::new());
    lines.join("\n")
}

fn as_tsv(rows: &[[Cell; 13]], source: &Source) -> String {
    let mut lines = vec![HEADS.join("\t")];
    for row in rows {
        let cells: Vec<&str> = row.iter().map(Cell::plain).collect();
        lines.push(cells.join("\t"));
    }
    let below = below(source, str::to_owned);
    let below = Safe::from_text(&format!("# {} · {} · {below}", source.title, source.host));
    lines.push(below.into_string());
    lines.push(String::new());
    lines.join("\n")
}

fn count(rows: usize) -> String {
    if rows == 1 {
        "1 process row".to_owned()
    } else {
        format!("{rows} process rows")
    }
}

/// What stands below: sample, snapshot and head, so that the copy can be checked.
fn below(source: &Source, code: impl Fn(&str) -> String) -> String {
    let mut parts = vec![format!("sample {}", code(&source.taken_at))];
    parts.push(match (&source.sha256, &source.origin) {
        (Some(sha256), _) => format!("snapshot sha256 {}", code(sha256)),
        (None, Some(origin)) => format!("from {}", code(origin)),
        (None, None) => "not saved in a snapshot".to_owned(),
    });
    if let Some(head) = source.head {
        parts.push(format!("journal {}", code(&head.to_string())));
    }
    parts.join(" · ")
}

/// A value, and whether it is to be read letter by letter.
enum Cell {
    Words(Safe),
    Code(Safe),
}

impl Cell {
    fn plain(&self) -> &str {
        match self {
            Self::Words(text) | Self::Code(text) => text.as_str(),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Self::Code(text) if !text.is_empty() => markdown::cell_code(text),
            Self::Words(text) | Self::Code(text) => markdown::words(text.as_str()),
        }
    }
}

fn row(shown: Shown<'_>, node: &Node) -> [Cell; 13] {
    let process = cells::process_of(shown, node).and_then(|key| shown.process(key));
    let cell = |column| Cell::Words(cells::cell(shown, node, column));
    let id = match &node.id {
        RowId::Instance(id) => id.to_string(),
        RowId::Process(key) => key.to_string(),
        RowId::Owner(_) | RowId::Kind(..) => String::new(),
    };
    [
        Cell::Words(cells::name(shown, node)),
        cell(ColumnId::Pid),
        cell(ColumnId::Ppid),
        Cell::Code(Safe::from_text(&id)),
        cell(ColumnId::User),
        cell(ColumnId::Stat),
        cell(ColumnId::Finding),
        cell(ColumnId::Elapsed),
        cell(ColumnId::Cpu),
        cell(ColumnId::Mem),
        Cell::Words(leads(shown, node)),
        cell(ColumnId::Wire),
        Cell::Code(process.map_or_else(Safe::default, |process| command(shown, process))),
    ]
}

/// Every lead in full; of a member, its own.
fn leads(shown: Shown<'_>, node: &Node) -> Safe {
    let Some(instance) = node.instance.and_then(|id| shown.instance(id)) else {
        return Safe::default();
    };
    let Some(reach) = &instance.reach else {
        return Safe::literal("not looked at");
    };
    let member = match &node.id {
        RowId::Process(key) => Some(key.pid),
        _ => None,
    };
    let leads = reach
        .iter()
        .filter(|lead| member.is_none_or(|pid| lead.pid == pid))
        .map(|lead| {
            Safe::join(
                [
                    Safe::from_text(&lead.letter),
                    Safe::literal(lead.kind.word()),
                    shown.safe_bytes(lead.target.as_bytes()),
                ],
                " ",
            )
        });
    let leads: Vec<Safe> = leads.collect();
    if leads.is_empty() && member.is_none() {
        return Safe::literal("none seen");
    }
    Safe::join(leads, "; ")
}

/// The whole command line, however long: copies shorten nothing.
fn command(shown: Shown<'_>, process: &Process) -> Safe {
    let argv: Vec<&[u8]> = process.args().iter().map(OsBytes::as_bytes).collect();
    if argv.is_empty() {
        return shown.line(process.key).cloned().unwrap_or_default();
    }
    shell::line(&shown.index.redactor().argv(&argv), usize::MAX)
}
