//! Markdown for a ticket: GitHub's flavour, where a table cell is one line and everything is escaped
//! that could look like markup, a mention or another cell.

use std::fmt::Write as _;

use super::digest::Head;
use super::entry::FieldSource;
use super::export::{Export, named};
use super::page::FirstPage;
use super::record::{DOT, Field, Piece, Record, moment};
use super::seen::Seen;
use super::story::Note;
use super::unhandled::{Unhandled, counted};
use crate::text::Safe;

/// What stands around every copy: it says what it is a copy of.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Title of the incident.
    pub title: &'a str,
    /// Host.
    pub host: &'a str,
    /// Directory of the incident.
    pub path: &'a str,
    /// Last entry of the journal.
    pub head: Option<Head>,
}

/// Returns the whole incident: first page, records, notes.
pub fn incident(export: &Export) -> String {
    let origin = Origin {
        title: &export.title,
        host: &export.host,
        path: &export.path,
        head: export.head,
    };
    let mut out = format!("# {} on {}\n\n", words(&export.title), words(&export.host));
    if let Some(opened) = &export.opened {
        let closed = export.closed.as_ref().map_or_else(String::new, |act| {
            let by = words(&act.operator.to_string());
            format!(", closed {} by {by}", moment(act.at))
        });
        line(
            &mut out,
            &format!(
                "Incident {}, opened {} by {}{}",
                code(&Safe::from_text(&export.incident)),
                moment(opened.at),
                words(&opened.operator.to_string()),
                closed
            ),
        );
    }
    for problem in &export.problems {
        line(&mut out, &format!("**Not as it should be:** {}", words(problem)));
    }
    let newest = export.notes.len().saturating_sub(NOTES);
    let (earlier, newest) = export.notes.split_at(newest);
    first_page(&mut out, &export.first_page, newest, earlier.len());
    for one in &export.records {
        out.push('\n');
        out.push_str(&record(one, &origin));
        if !one.notes.is_empty() {
            let _ = writeln!(out, "\n**Notes on {}**\n", words(&named(&one.instance)));
            notes(&mut out, one.notes.iter());
        }
    }
    if !earlier.is_empty() {
        out.push_str("\n## Earlier notes on the incident\n\n");
        notes(&mut out, earlier.iter());
    }
    if export.records.is_empty() {
        out.push('\n');
        foot(&mut out, &origin);
    }
    out
}

/// Returns the record of one instance: one table.
pub fn record(record: &Record, origin: &Origin<'_>) -> String {
    let mut out = format!(
        "## {}: {} ({}) on {} · {}\n\n| | |\n|---|---|\n",
        if record.is_of_an_instance() {
            "Leftover MCP server"
        } else {
            "Process"
        },
        words(&record.instance.name),
        record.instance.pid(),
        words(origin.host),
        words(origin.title),
    );
    for field in &record.fields {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {} | {} |", field.name.title(), cell(field));
    }
    if let Some(seen) = &record.evidence {
        evidence(&mut out, seen);
    }
    out.push('\n');
    foot(&mut out, origin);
    out
}

/// Why it is a leftover: a list below the table, one line a fact and a lead.
fn evidence(out: &mut String, seen: &Seen) {
    let at = moment(seen.taken_at);
    let title = match &seen.snapshot {
        Some(file) => format!("Evidence, from {} of {at}", code(&Safe::from_text(&file.path))),
        None => format!("Evidence, from a sample of {at} that was not saved"),
    };
    let told = |text: &str| code(&Safe::from_text(text));
    let facts = seen.facts.iter().map(|fact| {
        let text = words(&fact.text);
        format!("{}: {text} ({})", seen.finding, told(&fact.source))
    });
    let undecided = seen.facts.is_empty().then(|| seen.finding.to_owned());
    let cwd = seen.cwd.as_ref();
    let cwd = cwd.map_or_else(|| "cwd not read".to_owned(), |cwd| format!("cwd {}", told(cwd)));
    let about = [
        words(&seen.parentage()),
        format!("{}, {cwd}", words(&seen.origin())),
        format!("identified by: {}", words(&seen.identified_by)),
    ];
    let leads = seen.leads.iter().flatten().map(|one| {
        let lead = &one.lead;
        let (letter, kind) = (words(&lead.letter), lead.kind.word());
        format!(
            "lead {letter}: {kind} {} {}",
            told(&lead.target),
            words(&one.rest())
        )
    });
    let none = match &seen.leads {
        None => Some("leads: not looked at"),
        Some(leads) if leads.is_empty() => Some("leads: none seen; that does not say that it cannot act"),
        Some(_) => None,
    };
    let items = facts.chain(undecided).chain(about).chain(leads);
    list(out, &title, items.chain(none.map(str::to_owned)));
}

fn foot(out: &mut String, origin: &Origin<'_>) {
    let Some(head) = origin.head else { return };
    let head_text = head.to_string();
    let command = crate::text::shell::line(
        &["mcpwake", "verify", origin.path, "--expect-head", &head_text],
        usize::MAX,
    );
    line(
        out,
        &format!(
            "journal {} sha256 {} · check with {}",
            code(&Safe::from_text(&format!("#{}", head.seq))),
            code(&Safe::from_text(&head.hash.to_string())),
            code(&command)
        ),
    );
}

/// So many notes on the incident stand on the first page, the newest first; earlier ones follow the records.
const NOTES: usize = 5;

fn first_page(out: &mut String, page: &FirstPage, newest: &[Note], earlier: usize) {
    list(out, "Next step", std::iter::once(words(&page.next_step)));
    if !newest.is_empty() {
        out.push_str("\n**Notes on the incident, the newest first**\n\n");
        notes(out, newest.iter().rev());
    }
    if earlier > 0 {
        let _ = writeln!(out, "- and {earlier} earlier, below the records");
    }
    if let Some(unhandled) = &page.not_handled {
        not_handled(out, unhandled);
    }
    if page.authorities == 0 {
        list(
            out,
            "Open leads",
            std::iter::once("authorities: none seen".to_owned()),
        );
    } else {
        list(out, "Open leads", page.open_leads.iter().map(|lead| words(lead)));
    }
    if !page.follow_ups.is_empty() {
        let said = page.follow_ups.iter().map(|line| words(line));
        list(out, "Follow-up, as operators say", said);
    }
    list(
        out,
        "Unresolved signals",
        page.unresolved_signals.iter().map(|signal| words(signal)),
    );
    if !page.other_leads.is_empty() {
        let (named, rest) = page.other_leads.split_at(page.other_leads.len().min(OTHERS));
        let rest = (!rest.is_empty()).then(|| format!("and {} more, in the records below", rest.len()));
        let others = named.iter().map(|lead| words(lead)).chain(rest);
        list(
            out,
            "Leads that nobody can revoke: files, locks, children, listeners",
            others,
        );
    }
    if !page.gone_leads.is_empty() {
        let gone = page.gone_leads.iter().map(|line| words(line));
        list(out, "Leads that went with their processes", gone);
    }
    list(
        out,
        "Done",
        page.done.iter().map(|event| {
            format!(
                "{} {} ({}, entry {})",
                moment(event.at),
                words(&event.what),
                words(&event.operator.to_string()),
                event.seq
            )
        }),
    );
}

/// So many leads that nobody can revoke are named; the rest is counted.
const OTHERS: usize = 20;

/// So many servers are named; the rest is counted.
const NAMED: usize = 10;

fn not_handled(out: &mut String, unhandled: &Unhandled) {
    let servers = &unhandled.servers;
    let seen = format!("in the snapshot of {}", moment(unhandled.taken_at));
    let title = if servers.is_empty() {
        format!("Seen, not handled, {seen}")
    } else {
        format!("Seen, not handled: {} {seen}", unhandled.counted())
    };
    // A line that only counts one more says less than that one.
    let shown = if servers.len() == NAMED + 1 {
        NAMED + 1
    } else {
        NAMED
    };
    let named = servers
        .iter()
        .take(shown)
        .map(|one| words(&format!("{}: {}", named(&one.instance), one.words())));
    let rest = servers.get(shown..).filter(|rest| !rest.is_empty());
    let rest = rest.map(|rest| format!("and {} more, in the snapshot", counted(rest)));
    let beside = unhandled.beside().map(|beside| words(&beside));
    list(out, &title, named.chain(rest).chain(beside));
}

fn list(out: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let _ = write!(out, "\n**{title}**\n\n");
    let before = out.len();
    for item in items {
        let _ = writeln!(out, "- {item}");
    }
    if out.len() == before {
        out.push_str("- none\n");
    }
}

fn notes<'a>(out: &mut String, notes: impl Iterator<Item = &'a Note>) {
    for note in notes {
        let head = format!("- {} {}:", moment(note.at), words(&note.operator.to_string()));
        let mut lines = note.text.lines();
        match (lines.next(), lines.next()) {
            (Some(_), Some(_)) => {
                let _ = writeln!(out, "{head}");
                block(out, &note.text);
            }
            (first, _) => {
                let _ = writeln!(out, "{head} {}", words(first.unwrap_or_default()));
            }
        }
    }
}

/// Writes text of several lines as it is, in a block of the list's item above it.
fn block(out: &mut String, text: &str) {
    let lines: Vec<Safe> = text.lines().map(Safe::from_text).collect();
    let longest = lines
        .iter()
        .flat_map(|line| line.as_str().split(|character| character != '`').map(str::len))
        .max()
        .unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let _ = writeln!(out, "\n  {fence}text");
    for line in &lines {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  {fence}\n");
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn cell(field: &Field) -> String {
    if field.value.is_empty() {
        return "not recorded".to_owned();
    }
    let pieces: Vec<String> = field
        .value
        .iter()
        .map(|piece| match piece {
            Piece::Words(text) => words(text),
            Piece::Code(text) => cell_code(text),
            Piece::Between => DOT.to_owned(),
        })
        .collect();
    let mark = match (field.source, &field.operator, field.at) {
        (Some(FieldSource::Entered), Some(operator), Some(at)) => {
            format!(" · *entered {} by {}*", moment(at), words(&operator.to_string()))
        }
        (Some(FieldSource::Observed), _, _) => " · *observed*".to_owned(),
        _ => String::new(),
    };
    let added = field.added.as_ref().map_or_else(String::new, |added| {
        let by = words(&added.operator.to_string());
        format!(
            " {DOT} {} {DOT} *entered {} by {by}*",
            words(&added.value),
            moment(added.at)
        )
    });
    format!("{}{mark}{added}", pieces.join(" "))
}

/// Returns text as text: nothing in it is markup, a link, a mention or an issue.
pub fn words(text: &str) -> String {
    let safe = Safe::from_text(text);
    let mut out = String::with_capacity(safe.as_str().len());
    for (at, character) in safe.as_str().char_indices() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Mentions, issues and bare links are looked for in the text after markup and entities were
            // read: only something between the letters keeps them from being found.
            '@' | '#' => {
                out.push(character);
                out.push_str(APART);
            }
            ':' if safe.as_str()[at..].starts_with("://") => {
                out.push(':');
                out.push_str(APART);
            }
            '.' if safe.as_str()[..at].to_ascii_lowercase().ends_with("www") => {
                out.push_str(APART);
                out.push('.');
            }
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '~' | '$' => {
                out.push('\\');
                out.push(character);
            }
            '-' | '+' | '=' if at == 0 => {
                out.push('\\');
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    out
}

/// Takes no room where it is shown.
const APART: &str = "<!-- -->";

/// Returns text in a code span.
pub fn code(text: &Safe) -> String {
    let text = text.as_str();
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // One blank at each end is taken off again, and keeps a backtick or a blank at the edge apart.
    let edge = text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let blank = if edge { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// Returns text in a code span of a table, where `|` ends a cell even there unless a backslash stands
/// before it. With a backslash of the text's own before it readers differ in what they see.
pub fn cell_code(text: &Safe) -> String {
    if !text.as_str().contains("\\|") {
        return code(text).replace('|', "\\|");
    }
    let mut out = "<code>".to_owned();
    for character in text.as_str().chars() {
        if character.is_ascii_punctuation() || character == ' ' {
            // Writing to a string cannot fail.
            let _ = write!(out, "&#{};", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out.push_str("</code>");
    out
}
