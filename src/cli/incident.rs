//! `incident`: incidents without the screen.

use std::fmt::Write as _;
use std::io::Read as _;

use anyhow::Context as _;

use super::args::keep::{Format, IncidentArgs, IncidentCommand};
use super::config::Settings;
use super::exit::Exit;
use super::machine::Machine;
use super::{keeping, output};
use crate::journal::page::FirstPage;
use crate::journal::{Entry, Operator, markdown};
use crate::platform;
use crate::store::{Incident, Opening, Store, Summary};
use crate::text::Safe;

/// Longest note from stdin, bytes.
const LONGEST_NOTE: u64 = 1 << 16;

/// Runs the command.
pub(super) fn run(args: IncidentArgs, settings: &Settings, machine: &Machine) -> anyhow::Result<Exit> {
    let sample = keeping::glance()?;
    let operator = Operator::from(&sample.observer);
    let store = keeping::store(settings, machine, sample.observer.uid)?;
    let find = |store: &Store| store.find(args.incident.as_deref(), &operator);
    let text: Vec<u8> = match args.command {
        IncidentCommand::New { title } => {
            anyhow::ensure!(
                !title.trim().is_empty(),
                "the title is empty: nothing is opened; a title is usually a ticket number"
            );
            let opening = Opening::on(&sample.host, &title);
            let loose = store.loose(&sample.host.boot_id, &operator)?;
            let incident = store.create(&opening, &operator, platform::wall_clock())?;
            for path in loose {
                incident.copy_in(&path, &operator, platform::wall_clock())?;
                output::say(&format!("copied in {}", path.display()));
            }
            directory(&incident)
        }
        IncidentCommand::List => {
            let summaries = store.incidents()?;
            if summaries.is_empty() {
                output::say(&format!(
                    "no incident in {}: `mcpwake incident new TITLE` opens one",
                    store.root().display()
                ));
            }
            summaries.iter().map(summary).collect::<String>().into()
        }
        IncidentCommand::Note { text } => {
            let text = match text.filter(|text| text != "-") {
                Some(text) => text,
                None => from_stdin()?,
            };
            anyhow::ensure!(!text.trim().is_empty(), "the note is empty: nothing is written");
            let entry = Entry::Note { on: None, text };
            let receipt = find(&store)?.append(entry, &operator, platform::wall_clock())?;
            format!("{}\n", receipt.head()).into()
        }
        IncidentCommand::Close { text } => close(&find(&store)?, text, &operator, machine)?.into(),
        IncidentCommand::Export { format } => export(&find(&store)?, format, machine)?.into(),
        IncidentCommand::Path => directory(&find(&store)?),
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

/// Closes an incident; what is left open in it is said, and does not keep it open.
fn close(
    incident: &Incident,
    text: Option<String>,
    operator: &Operator,
    machine: &Machine,
) -> anyhow::Result<String> {
    let telling = incident.tell()?;
    anyhow::ensure!(
        telling.story.closed.is_none(),
        "{} is closed already",
        incident.path().display()
    );
    let page = telling.export(machine.redactor()).first_page;
    for line in left_open(&page) {
        output::say(&line);
    }
    let entry = Entry::Closed {
        remaining: text.filter(|text| !text.trim().is_empty()),
    };
    let receipt = incident.append(entry, operator, platform::wall_clock())?;
    Ok(format!("{}\n", receipt.head()))
}

/// So many servers that nobody has handled are named; the rest is counted.
const NAMED: usize = 5;

/// Returns what a closed incident leaves open: how much of each kind, then each by its name.
fn left_open(page: &FirstPage) -> Vec<String> {
    let noun = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let (leads, signals) = (&page.open_leads, &page.unresolved_signals);
    let unhandled = page.not_handled.as_ref().filter(|left| !left.servers.is_empty());
    let mut counts = Vec::new();
    if !leads.is_empty() {
        let leads = noun(leads.len(), "lead", "leads");
        counts.push(format!("{leads} not shown to be denied"));
    }
    if !signals.is_empty() {
        let signals = noun(signals.len(), "signal", "signals");
        counts.push(format!("{signals} without an end"));
    }
    if let Some(left) = unhandled {
        let at = left.taken_at.rfc3339();
        counts.push(format!("{} seen at {at} and not handled", left.counted()));
    }
    if counts.is_empty() {
        return vec!["nothing is known to be left open".to_owned()];
    }
    let mut lines = vec![format!("LEFT OPEN: {}", counts.join("; "))];
    lines.extend(leads.iter().chain(signals).map(|left| format!("  {left}")));
    if let Some(left) = unhandled {
        let servers = left.servers.iter().take(NAMED);
        lines.extend(servers.map(|one| {
            format!(
                "  {} ({}): {}",
                one.instance.name,
                one.instance.pid(),
                one.words()
            )
        }));
        if left.servers.len() > NAMED {
            lines.push(format!(
                "  and {} more: `mcpwake incident export` has them",
                left.servers.len() - NAMED
            ));
        }
    }
    lines
}

/// Reads the whole of a note; one that is too long is refused, as it could not be one entry.
fn from_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock().take(LONGEST_NOTE + 1);
    stdin.read_to_end(&mut bytes).context("read stdin")?;
    anyhow::ensure!(
        bytes.len() as u64 <= LONGEST_NOTE,
        "a note has at most {LONGEST_NOTE} bytes: attach the text as a file, on the screen with r and a"
    );
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// Returns the path byte for byte: for `cd "$(mcpwake incident path)"`.
fn directory(incident: &Incident) -> Vec<u8> {
    [incident.path().as_os_str().as_encoded_bytes(), b"\n"].concat()
}

fn summary(summary: &Summary) -> String {
    let path = Safe::from_bytes(summary.path.as_os_str().as_encoded_bytes());
    match &summary.opened {
        Ok(opened) => format!(
            "{}  {}  {}  {} entries  {}  {}  {path}\n",
            Safe::from_text(&opened.incident),
            opened.at.rfc3339(),
            if opened.closed { "closed" } else { "open" },
            opened.entries,
            Safe::from_text(&opened.operator.to_string()),
            Safe::from_text(&opened.title),
        ),
        Err(why) => format!("{path}: {}\n", Safe::from_text(why)),
    }
}

fn export(incident: &Incident, format: Format, machine: &Machine) -> anyhow::Result<String> {
    let export = incident.tell()?.export(machine.redactor());
    let mut text = match format {
        Format::Markdown => markdown::incident(&export),
        Format::Json => serde_json::to_string_pretty(&export).context("write JSON")?,
    };
    if !text.ends_with('\n') {
        let _ = writeln!(text);
    }
    for problem in &export.problems {
        output::say(problem);
    }
    Ok(text)
}
