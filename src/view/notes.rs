//! Empty and partial states: what was looked at, and what could not be seen.

use std::collections::BTreeSet;

use super::header::sums;
use super::paint::{Para, safe, say};
use super::theme::Tone;
use crate::app::App;
use crate::model::finding::Finding;
use crate::model::host::{Lack, Os, Visibility};
use crate::model::world::World;
use crate::table::counts::counts;
use crate::table::tree::Scope;
use crate::table::{Figures, Shown, processes};
use crate::text::{Safe, format};

/// Returns what stands below the rows, or in their place where there is none.
pub(super) fn of(app: &App, empty: bool) -> Vec<Para> {
    let Some(shown) = app.shown() else {
        return vec![Para::bare(say("Reading the first sample.", Tone::Plain))];
    };
    let mut notes = Vec::new();
    let narrowed = !app.filter().text().is_empty() || app.nav().plan().user.is_some();
    let servers = shown.world.judged.instances.len();
    if empty && narrowed && (servers > 0 || app.nav().plan().scope == Scope::Everything) {
        notes.push(Para::bare(say(&no_match(app, shown.world), Tone::Plain)));
    } else if servers == 0 && app.nav().plan().scope == Scope::Servers {
        notes.extend(no_server(shown.world));
    } else if app.nav().plan().scope == Scope::Servers && !narrowed {
        notes.extend(nothing_left(shown));
    }
    notes.extend(partial_view(shown));
    notes
}

fn no_match(app: &App, world: &World) -> String {
    let mut parts = Vec::new();
    if !app.filter().text().is_empty() {
        parts.push(format!("filter \"{}\" (Esc clears it)", app.filter().text()));
    }
    if let Some(user) = &app.nav().plan().user {
        parts.push(format!("user {user} (u goes on)"));
    }
    let (count, what) = match app.nav().plan().scope {
        Scope::Servers => (world.judged.instances.len(), "servers"),
        Scope::Everything => (world.sample.processes.len(), "processes"),
    };
    format!("None of {count} {what} matches: {}.", parts.join(", "))
}

fn no_server(world: &World) -> Vec<Para> {
    let looked = &world.judged.looked_at;
    let running = if looked.running == 0 {
        "none".to_owned()
    } else {
        looked.running.to_string()
    };
    let mut text = format!(
        "No MCP server among {} processes. Looked at {} ({}, {running} running), the rules, and stdio pairs.",
        world.sample.processes.len(),
        several(looked.files, "configuration file"),
        several_of(looked.entries, "entry", "entries"),
    );
    let unreadable: Vec<&str> = world
        .judged
        .problems
        .iter()
        .map(|problem| problem.what.as_str())
        .collect();
    if let Some((first, rest)) = unreadable.split_first() {
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(" and {} more (!)", rest.len())
        };
        text = format!("{text} Not readable: {first}{more}.");
    }
    vec![
        Para::bare(say(&text, Tone::Plain)),
        Para::bare(say(
            "Expected one? a shows all processes, e says why a row is none.",
            Tone::Plain,
        )),
    ]
}

fn nothing_left(shown: Shown<'_>) -> Vec<Para> {
    let world = shown.world;
    let figures = sums(world);
    if figures.trouble() > 0 {
        return Vec::new();
    }
    let sample = &world.sample;
    let state = match figures.count(Finding::Attached) {
        attached if attached == figures.instances => "all attached".to_owned(),
        _ => [Finding::Attached, Finding::Network, Finding::Unknown]
            .into_iter()
            .filter(|finding| figures.count(*finding) > 0)
            .map(|finding| format!("{} {}", figures.count(finding), finding.word()))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let left = if figures.count(Finding::Unknown) > 0 || sample.visibility != Visibility::All {
        "nothing seen left over"
    } else {
        "nothing left over"
    };
    let mut text = format!(
        "{}, {state}; {left} among {} of {} processes.",
        several(figures.instances, "server"),
        sample.readable,
        sample.processes.len()
    );
    let mut each: Vec<(Safe, Figures)> = world
        .judged
        .instances
        .iter()
        .map(|one| {
            (
                shown.safe_bytes(one.name.as_bytes()),
                Figures::of_instance(world, one),
            )
        })
        .collect();
    each.sort_by_key(|(_, figures)| figures.start);
    if let Some((name, figures)) = each.first() {
        text = format!(
            "{text} Oldest: {name} {}.",
            format::elapsed(figures.elapsed_ms.unwrap_or(0))
        );
    }
    if let Some((name, figures)) = each.iter().max_by_key(|(_, figures)| figures.rss_bytes) {
        text = format!(
            "{text} Largest: {name} {}.",
            format::bytes(figures.rss_bytes.unwrap_or(0))
        );
    }
    let mut notes = vec![Para::bare(say(&text, Tone::Plain))];
    let mut owners: Vec<(Safe, u32)> = Vec::new();
    for count in counts(shown).into_iter().filter(|count| count.figures.older > 0) {
        match owners.iter_mut().find(|(owner, _)| *owner == count.owner) {
            Some((_, older)) => *older += count.figures.older,
            None => owners.push((count.owner, count.figures.older)),
        }
    }
    for (owner, older) in owners {
        let twins = if older == 1 { "older twin" } else { "older twins" };
        let text = Safe::join([Safe::from_text(&format!("{older} {twins} under")), owner], " ");
        notes.push(Para::bare(safe(text, Tone::Warning)));
    }
    notes
}

fn partial_view(shown: Shown<'_>) -> Vec<Para> {
    let sample = &shown.world.sample;
    let mut notes = Vec::new();
    if sample.visibility != Visibility::All {
        let unjudged: Vec<_> = shown
            .world
            .judged
            .instances
            .iter()
            .filter(|one| one.finding == Finding::Unknown)
            .collect();
        let users: BTreeSet<String> = unjudged
            .iter()
            .filter_map(|one| shown.process(one.lead_process()))
            .filter_map(processes::user)
            .collect();
        let mut text = format!(
            "Your view: {} of {} processes in full.",
            sample.readable,
            sample.processes.len()
        );
        if !unjudged.is_empty() {
            let users: Vec<String> = users.into_iter().collect();
            let servers = several(u32::try_from(unjudged.len()).unwrap_or(u32::MAX), "server");
            text = format!("{text} {servers} of {} cannot be judged.", users.join(" and "));
        }
        text = match sample.lack() {
            Lack::Root => format!("{text} With sudo: sudo {}", sample.observer.program.lossy()),
            Lack::Capability => {
                format!(
                    "{text} The rest is refused even to this root: all capabilities, outside a container, show more."
                )
            }
            Lack::Exempt => text,
        };
        notes.push(Para::bare(say(&text, Tone::Warning)));
    }
    if sample.host.os == Os::Macos && sample.observer.uid != 0 {
        let text = "Other users' processes need sudo; containers run in a VM and are not seen. ppid 1 is normal here.";
        notes.push(Para::bare(say(text, Tone::Plain)));
    }
    notes
}

fn several(count: u32, word: &str) -> String {
    several_of(count, word, &format!("{word}s"))
}

fn several_of(count: u32, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}
