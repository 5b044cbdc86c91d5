//! The record of one instance: as a pane, and as the form that fills it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::footer;
use super::paint::{Drawn, Para, fill, lit, safe, say};
use super::popup::frame;
use super::theme::{Theme, Tone};
use crate::app::App;
use crate::app::command::{self, Availability, Command};
use crate::app::keep::{Form, Standing};
use crate::journal::Record;
use crate::journal::entry::FieldSource;
use crate::journal::record::{Field, LeadLine, plain_between};
use crate::journal::story::Act;
use crate::text::Safe;

/// Columns of the names of the fields, and where the screen is narrow.
const NAMES: usize = 36;
const NARROW_NAMES: usize = 14;

/// From this width on the names of the fields stand in full.
const WIDE: usize = 70;

/// What is said where there is nothing to take away: work that need not be done is not work to do.
const NO_AUTHORITY: &str = "no authority seen: nothing to revoke";

/// Returns the paragraphs of each field, then those of each authority.
fn lines_of(record: &Record, width: usize, theme: Theme) -> Vec<Vec<Para>> {
    let gutter = if width >= WIDE { NAMES } else { NARROW_NAMES };
    let fields = record.fields.iter().map(|field| field_paras(field, theme));
    let leads = record.leads.iter().map(|line| vec![lead_para(line)]);
    let none = record.leads.is_empty().then(|| {
        vec![Para::labelled(
            lit("authority", Tone::Plain),
            lit(NO_AUTHORITY, Tone::Dim),
        )]
    });
    let mut groups: Vec<Vec<Para>> = fields.chain(leads).chain(none).collect();
    for para in groups.iter_mut().flatten() {
        para.gutter = gutter;
    }
    groups
}

/// Returns the notes, one paragraph a line.
fn notes_of(record: &Record) -> Vec<Para> {
    let mut out = Vec::new();
    for note in &record.notes {
        let at = say(&note.at.clock(), Tone::Dim);
        let operator = Safe::from_text(&note.operator.to_string());
        out.extend(Para::several(at, &note.text, Tone::Plain, operator));
    }
    out
}

/// A field, and below it what was entered beside what the program puts together.
fn field_paras(field: &Field, theme: Theme) -> Vec<Para> {
    let added = field.added.as_ref().map(|added| {
        let note = format!("entered by {}", added.operator.user);
        Para::labelled(lit("", Tone::Plain), say(&added.value, Tone::Plain)).note(Safe::from_text(&note))
    });
    std::iter::once(field_para(field, theme)).chain(added).collect()
}

fn field_para(field: &Field, theme: Theme) -> Para {
    let label = lit(field.name.title(), Tone::Plain);
    let source = match field.source {
        Some(FieldSource::Observed) => "observed",
        Some(FieldSource::Entered) => "entered",
        None if field.value.is_empty() => {
            return Para::labelled(label, lit("not recorded", Tone::Dim));
        }
        None => "",
    };
    let note = match &field.operator {
        Some(operator) => Safe::from_text(&format!("{source} by {}", operator.user)),
        None => Safe::literal(source),
    };
    let value = plain_between(&field.value, theme.between());
    let para = Para::labelled(label, say(&value, Tone::Plain));
    if source.is_empty() { para } else { para.note(note) }
}

fn lead_para(line: &LeadLine) -> Para {
    let mark = |word: &str, act: &Option<Act>| match act {
        Some(act) => format!("[x] {word} {}", act.short()),
        None => format!("[ ] {word}"),
    };
    let text = format!(
        "{}  {}{}  {}",
        mark("revoked", &line.revoked),
        mark("denied", &line.denied),
        if line.is_claimed() {
            ", check not named"
        } else {
            ""
        },
        line.lead.target,
    );
    let tone = if line.is_verified() {
        Tone::Good
    } else {
        Tone::Warning
    };
    let lead = format!("{} {}", line.lead.letter, line.lead.kind.word());
    Para::labelled(say(&lead, Tone::Strong), say(&text, tone))
}

/// Text of the pane.
pub(super) fn paragraphs(
    app: &App,
    id: crate::model::identity::InstanceId,
    width: usize,
    theme: Theme,
) -> Vec<Para> {
    let Some(record) = app.record(id) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    match app.keep().incident() {
        Some(incident) => out.push(Para::bare(say(
            &format!("{}, {}", incident.title(), incident.path()),
            Tone::Dim,
        ))),
        None => out.push(Para::bare(lit(
            "No incident is open: r opens one and fills this record.",
            Tone::Dim,
        ))),
    }
    out.extend(super::keep::faults(app));
    out.extend(lines_of(&record, width, theme).into_iter().flatten());
    out.extend(notes_of(&record));
    out
}

/// Draws the form; answers with the place of the cursor where something is typed.
pub(super) fn form(
    buffer: &mut Buffer,
    screen: Rect,
    app: &App,
    form: &Form,
    theme: Theme,
) -> Option<Position> {
    let area = Rect {
        height: screen.height.saturating_sub(2),
        ..screen
    };
    let body = Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2),
    };
    let width = usize::from(body.width);
    let record = form.record(app);
    let mut lines: Vec<Drawn> = Vec::new();
    let mut chosen = 0..0;
    for (at, group) in lines_of(&record, width, theme).iter().enumerate() {
        let first = lines.len();
        lines.extend(group.iter().flat_map(|para| para.lines(width, true, theme)));
        if at == form.at() {
            chosen = first..lines.len();
        }
    }
    let notes = notes_of(&record);
    lines.extend(notes.iter().flat_map(|para| para.lines(width, true, theme)));
    let typed = form.typing().map(|typing| {
        let label = Safe::from_text(&typing.label());
        footer::typed(&theme.text(&label), &typing.text(), typing.cursor(), width, theme)
    });
    let asked = asked(form, width, theme);
    let below = asked.len() + usize::from(typed.is_some());
    let height = usize::from(body.height).saturating_sub(below);
    // At the last line that can be chosen the notes behind it are in sight, as far as there is room.
    let end = if form.at() + 1 == record.fields.len() + record.leads.len() {
        lines.len()
    } else {
        chosen.end
    };
    let top = end.saturating_sub(height).min(chosen.start);
    let last = (top + height).min(lines.len());
    let place = if lines.len() > height && height > 0 {
        format!(" {}-{last} of {} ", top + 1, lines.len())
    } else {
        String::new()
    };
    frame(buffer, area, &title(app, form), &place, theme);
    for ((at, line), y) in lines.iter().enumerate().skip(top).take(height).zip(body.y..) {
        let row = Rect { y, height: 1, ..body };
        line.draw(buffer, row, theme);
        if chosen.contains(&at) {
            fill(buffer, row, theme, Tone::Chosen);
        }
        if at == chosen.start {
            buffer.set_string(area.x + 1, y, ">", theme.style(Tone::Strong));
        }
    }
    let first = body
        .bottom()
        .saturating_sub(u16::try_from(below).unwrap_or(u16::MAX));
    for (line, y) in asked.iter().zip(first.max(body.y)..body.bottom()) {
        line.draw(buffer, Rect { y, height: 1, ..body }, theme);
    }
    let (line, cursor) = typed?;
    let y = body.bottom().saturating_sub(1);
    line.draw(buffer, Rect { y, height: 1, ..body }, theme);
    Some(Position {
        x: body.x + u16::try_from(cursor?).unwrap_or(0),
        y,
    })
}

/// Whose record it is, whether its server still runs, and of which incident.
fn title(app: &App, form: &Form) -> Safe {
    let incident = app.keep().incident().map_or("", |incident| incident.title());
    let ended = match app.standing(form.on()) {
        None | Some(Standing::Running | Standing::InSample) => String::new(),
        Some(standing) => format!(" ({})", standing.words()),
    };
    let on = form.on();
    Safe::from_text(&format!("record: {} {}{ended}  {incident}", on.name, on.pid()))
}

/// What stands above the line that is typed: a command that would be run, what may be typed, what speaks
/// against it.
fn asked(form: &Form, width: usize, theme: Theme) -> Vec<Drawn> {
    let Some(typing) = form.typing() else {
        return Vec::new();
    };
    let mut parts: Vec<(Safe, Tone)> = Vec::new();
    if let Some((ready, at, of)) = typing.command() {
        parts.push((ready.heading(at, of), Tone::Strong));
        parts.push((ready.line(), Tone::Warning));
    }
    if let Some(hint) = typing.hint() {
        let tone = if typing.is_doubted() {
            Tone::Alarm
        } else {
            Tone::Dim
        };
        parts.push((Safe::from_text(hint), tone));
    }
    let lines = parts.into_iter().map(|(text, tone)| Para::bare(safe(text, tone)));
    lines.flat_map(|para| para.lines(width, true, theme)).collect()
}

/// The step line of an instance: what is done and what is not, and of which incident; what matters most
/// first.
pub(super) fn boxes(app: &App, id: crate::model::identity::InstanceId) -> Vec<String> {
    let progress = app.progress(id);
    let mark = |done: bool| if done { "[x]" } else { "[ ]" };
    let leads = progress.leads;
    let counted = |word: &str, count: usize| format!("{}{word} {count}/{leads}", mark(count == leads));
    let incident = match app.keep().incident() {
        Some(incident) => {
            let seq = incident.head().map_or(0, |head| head.seq);
            format!("{} #{seq}", incident.title())
        }
        None => match app.keep().offer() {
            Some(offer) => format!("i: go on with {}", offer.title),
            None => "no incident".to_owned(),
        },
    };
    let mut parts = vec![format!("{}kept", mark(progress.kept))];
    if leads > 0 {
        parts.push(counted("revoked", progress.revoked));
        parts.push(counted("denied", progress.denied));
    }
    if progress.terminated || may_signal(app) {
        parts.push(format!("{}TERM", mark(progress.terminated)));
    }
    let mut out = vec![parts.join(" ")];
    if leads == 0 {
        out.push(NO_AUTHORITY.to_owned());
    }
    out.push(incident);
    out
}

/// Whether a signal could be sent from here: not of a saved sample, not under read-only.
fn may_signal(app: &App) -> bool {
    command::of(Command::Term).is_some_and(|spec| (spec.available)(app) == Availability::Yes)
}

/// What the procedure wants next of a severed server.
pub(super) fn next(app: &App, id: crate::model::identity::InstanceId) -> Option<String> {
    let progress = app.progress(id);
    if !progress.kept && !app.options().read_only {
        return Some("Z freeze+save".to_owned());
    }
    let record = app.record(id)?;
    let letters = |is: fn(&LeadLine) -> bool| {
        let letters = record.leads.iter().filter(|line| is(line));
        letters
            .map(|line| line.lead.letter.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let open = letters(|line| line.revoked.is_none() && line.denied.is_none());
    if !open.is_empty() {
        return Some(format!("revoke {open}"));
    }
    let unverified = letters(|line| !line.is_verified());
    if !unverified.is_empty() {
        return Some(format!("verify {unverified}"));
    }
    (!progress.terminated && may_signal(app)).then(|| "TERM, look again".to_owned())
}
