//! The incident in words: its directory, its head, what was done; and what stands against quitting.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::paint::{Drawn, Para, fill, lit, say};
use super::theme::{Theme, Tone};
use super::{Scroll, popup};
use crate::app::App;
use crate::app::keep::Listed;
use crate::app::popup::Popup;
use crate::journal::Story;
use crate::journal::story::Note;
use crate::text::Safe;
use crate::text::width::{columns, pad, truncate, truncate_middle};

/// Columns of number and time of an entry.
const ENTRY: usize = 15;

/// Below this width one blank stands between the columns of the list.
const CLOSE: usize = 60;

/// Below this height nothing is left blank between the list and the text.
const LOW: usize = 10;

/// Draws the popup of the incident: its records, and below them its directory, head, journal and notes.
pub(super) fn draw(
    buffer: &mut Buffer,
    screen: Rect,
    app: &App,
    (open, chosen): (&Popup, usize),
    scroll: &mut Scroll,
    theme: Theme,
) {
    let width = popup::width(screen);
    let text_width = usize::from(width.saturating_sub(4));
    let text: Vec<Drawn> = incident(app)
        .iter()
        .flat_map(|para| para.lines(text_width, true, theme))
        .collect();
    let listed = app.listed();
    let list = list(&listed, text_width, theme);
    let room = usize::from(screen.height.saturating_sub(4));
    // The heading, and half of the room at most.
    let list_height = match list.len() {
        0 => 0,
        all => all.min((room / 2).max(2)),
    };
    let gap = usize::from(list_height > 0 && room >= LOW);
    let height = (list_height + gap + text.len()).min(room).max(2);
    let area = popup::centred(screen, width, u16::try_from(height + 2).unwrap_or(u16::MAX));
    let body = Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2),
    };
    let text_height = usize::from(body.height).saturating_sub(list_height + gap);
    let top = scroll.popup.to(open.scrolled(), text.len(), text_height);
    let bottom = (top + text_height).min(text.len());
    let place = if text.len() > text_height {
        format!(" {}-{bottom} of {} ", top + 1, text.len())
    } else {
        String::new()
    };
    let title = app.keep().incident().map_or("", |incident| incident.title());
    let title = Safe::from_text(&format!("incident {title}"));
    popup::frame(buffer, area, &title, &place, theme);
    let rows = list_height.saturating_sub(1);
    let chosen = chosen.min(listed.len().saturating_sub(1));
    let first = (chosen + 1).saturating_sub(rows);
    let mut y = body.y;
    for (at, line) in list.iter().enumerate() {
        let in_sight = at == 0 || (at > first && at <= first + rows);
        if !in_sight || y >= body.bottom() {
            continue;
        }
        let row = Rect { y, height: 1, ..body };
        line.draw(buffer, row, theme);
        if at == chosen + 1 {
            fill(buffer, row, theme, Tone::Chosen);
            buffer.set_string(area.x + 1, y, ">", theme.style(Tone::Strong));
        }
        y += 1;
    }
    y += u16::try_from(gap).unwrap_or(0);
    for (line, y) in text.iter().skip(top).zip(y..body.bottom()) {
        line.draw(buffer, Rect { y, height: 1, ..body }, theme);
    }
}

/// Returns the heading of the records, and one line each; empty where there is none.
fn list(listed: &[Listed], width: usize, theme: Theme) -> Vec<Drawn> {
    if listed.is_empty() {
        return Vec::new();
    }
    let glyphs = theme.glyphs();
    let name = |one: &Listed| {
        let on = &one.record.instance;
        let name = Safe::from_text(&format!("{} {}", on.name, on.pid()));
        theme.text(&name).into_owned()
    };
    let names = listed.iter().map(|one| columns(&name(one))).max().unwrap_or(0);
    let names = names.clamp(6, (width / 3).max(6));
    let gap = if width < CLOSE { " " } else { "  " };
    let line = |cells: [&str; 5]| {
        let [server, standing, revoked, denied, outcome] = cells;
        let line = [
            truncate_middle(server, names, glyphs).into_owned(),
            standing.to_owned(),
            revoked.to_owned(),
            denied.to_owned(),
        ];
        let widths = [names, 9, 7, 6];
        let mut cells: Vec<String> = line
            .iter()
            .zip(widths)
            .map(|(cell, width)| pad(cell, width, glyphs))
            .collect();
        cells.push(outcome.to_owned());
        truncate(&cells.join(gap), width, glyphs).into_owned()
    };
    let heading = line(["SERVER", "STATE", "REVOKED", "DENIED", "LAST OUTCOME"]);
    let mut out = vec![Drawn::one(heading, Tone::Strong)];
    for one in listed {
        let (revoked, denied, all) = one.counts();
        let count = |done: usize| match all {
            0 => "-".to_owned(),
            _ => format!("{done}/{all}"),
        };
        let outcome = one.outcome().unwrap_or_else(|| "-".to_owned());
        let text = line([
            &name(one),
            one.standing.words(),
            &count(revoked),
            &count(denied),
            &outcome,
        ]);
        let tone = if one.record.left_open().is_some() {
            Tone::Warning
        } else {
            Tone::Plain
        };
        out.push(Drawn::one(text, tone));
    }
    out
}

/// Text of the popup of the incident.
fn incident(app: &App) -> Vec<Para> {
    let Some(incident) = app.keep().incident() else {
        return vec![Para::bare(lit("The incident is being opened.", Tone::Plain))];
    };
    let labelled =
        |label: &'static str, text: &str| Para::labelled(lit(label, Tone::Strong), say(text, Tone::Plain));
    let mut out = vec![
        labelled("title", incident.title()),
        labelled("directory", incident.path()),
    ];
    if let Some(head) = incident.head() {
        out.push(labelled("head", &head.to_string()));
    }
    out.extend(faults(app));
    for what in app.keep().not_on_disk() {
        out.push(Para::labelled(
            lit("NOT YET", Tone::Alarm),
            say(&format!("{what} is not on disk"), Tone::Alarm),
        ));
    }
    out.push(Para::blank());
    for event in &incident.story().events {
        let mut para = Para::labelled(
            say(&format!("{:>3} {}", event.seq, event.at.clock()), Tone::Dim),
            say(&event.what, Tone::Plain),
        )
        .note(Safe::from_text(&event.operator.to_string()));
        para.gutter = ENTRY;
        out.push(para);
    }
    out.extend(notes(incident.story()));
    out
}

/// The notes of all instances and of the incident, the oldest first.
fn notes(story: &Story) -> Vec<Para> {
    let whole = story.notes.iter().map(|note| (String::new(), note));
    let of_instances = story.threads.values().flat_map(|thread| {
        let name = format!("{} {}: ", thread.on.name, thread.on.pid());
        thread.notes.iter().map(move |note| (name.clone(), note))
    });
    let mut all: Vec<(String, &Note)> = whole.chain(of_instances).collect();
    all.sort_by_key(|(_, note)| note.at);
    let mut out: Vec<Para> = all
        .into_iter()
        .flat_map(|(about, note)| {
            let at = say(&format!("    {}", note.at.clock()), Tone::Dim);
            let text = format!("{about}{}", note.text);
            let operator = Safe::from_text(&note.operator.to_string());
            let paras = Para::several(at, &text, Tone::Plain, operator);
            paras.into_iter().map(|para| Para {
                gutter: ENTRY,
                ..para
            })
        })
        .collect();
    if !out.is_empty() {
        out.insert(0, Para::bare(lit("Notes", Tone::Strong)));
    }
    out
}

/// Returns what the header says of an incident that is not as it was written.
pub(super) fn fault_line(faults: &[String]) -> Option<String> {
    let first = faults.first()?;
    Some(match faults.len() {
        1 => format!("NOT AS WRITTEN (!): {first}"),
        many => format!("NOT AS WRITTEN ({many}, !): {first}"),
    })
}

/// Returns what is not as it was written, one paragraph each.
pub(super) fn faults(app: &App) -> Vec<Para> {
    let faults = app.keep().faults().iter();
    faults
        .map(|fault| Para::labelled(lit("FAULT", Tone::Alarm), say(fault, Tone::Alarm)))
        .collect()
}

/// Text of the question before the program ends.
pub(super) fn quit(reasons: &[String]) -> Vec<Para> {
    let mut out: Vec<Para> = reasons
        .iter()
        .map(|reason| Para::bare(say(reason, Tone::Warning)))
        .collect();
    out.push(Para::blank());
    out.push(Para::bare(lit(
        "y quits all the same; any other key stays.",
        Tone::Plain,
    )));
    out
}
