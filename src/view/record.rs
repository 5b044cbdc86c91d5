//! The record of one instance: as a pane, and as the form that fills it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::footer;
use super::paint::{Drawn, Para, fill, lit, safe, say};
use super::popup::frame;
use super::theme::{Theme, Tone};
use crate::app::App;
use crate::app::command::{self, Availability, Command};
use crate::app::keep::Form;
use crate::journal::Record;
use crate::journal::entry::FieldSource;
use crate::journal::record::{Field, LeadLine, plain_between};
use crate::text::Safe;

/// Columns of the names of the fields, and where the screen is narrow.
const NAMES: usize = 36;
const NARROW_NAMES: usize = 14;

/// From this width on the names of the fields stand in full.
const WIDE: usize = 70;

/// What is said where there is nothing to take away: work that need not be done is not work to do.
const NO_AUTHORITY: &str = "no authority seen: nothing to revoke";

/// Returns one paragraph a field, then one an authority.
fn lines_of(record: &Record, width: usize, theme: Theme) -> Vec<Para> {
    let gutter = if width >= WIDE { NAMES } else { NARROW_NAMES };
    let fields = record.fields.iter().map(|field| {
        let mut para = field_para(field, theme);
        para.gutter = gutter;
        para
    });
    let leads = record.leads.iter().map(|line| {
        let mut para = lead_para(line);
        para.gutter = gutter;
        para
    });
    let none = record.leads.is_empty().then(|| {
        let mut para = Para::labelled(lit("authority", Tone::Plain), lit(NO_AUTHORITY, Tone::Dim));
        para.gutter = gutter;
        para
    });
    fields.chain(leads).chain(none).collect()
}

fn field_para(field: &Field, theme: Theme) -> Para {
    let label = lit(field.name.title(), Tone::Plain);
    let source = match field.source {
        Some(FieldSource::Observed) => "observed",
        Some(FieldSource::Entered) => "entered",
        None => {
            return Para::labelled(label, lit("not recorded", Tone::Dim));
        }
    };
    let note = match &field.operator {
        Some(operator) => Safe::from_text(&format!("{source} by {}", operator.user)),
        None => Safe::literal(source),
    };
    let value = plain_between(&field.value, theme.between());
    Para::labelled(label, say(&value, Tone::Plain)).note(note)
}

fn lead_para(line: &LeadLine) -> Para {
    let mark = |word: &str, at: Option<crate::model::time::UnixMillis>| match at {
        Some(at) => format!("[x] {word} {}", at.clock()),
        None => format!("[ ] {word}"),
    };
    let text = format!(
        "{}  {}{}  {}",
        mark("revoked", line.revoked.as_ref().map(|act| act.at)),
        mark("denied", line.denied.as_ref().map(|act| act.at)),
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
    out.extend(lines_of(&record, width, theme));
    for note in &record.notes {
        let at = say(&note.at.clock(), Tone::Dim);
        let operator = Safe::from_text(&note.operator.to_string());
        out.extend(Para::several(at, &note.text, Tone::Plain, operator));
    }
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
    let incident = app.keep().incident().map_or("", |incident| incident.title());
    let title = format!("record: {} {}  {incident}", form.on().name, form.on().pid());
    let body = Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2),
    };
    frame(buffer, area, &Safe::from_text(&title), "", theme);
    let width = usize::from(body.width);
    let mut lines: Vec<Drawn> = Vec::new();
    let mut chosen = 0..0;
    for (at, para) in lines_of(&form.record(app), width, theme).iter().enumerate() {
        let drawn = para.lines(width, true, theme);
        if at == form.at() {
            chosen = lines.len()..lines.len() + drawn.len();
        }
        lines.extend(drawn);
    }
    let typed = form.typing().map(|typing| {
        let label = Safe::from_text(&typing.label());
        footer::typed(&theme.text(&label), &typing.text(), typing.cursor(), width, theme)
    });
    let asked = form.typing().and_then(|typing| typing.command());
    let asked: Vec<Drawn> = asked.map_or_else(Vec::new, |(ready, at, of)| {
        let mut lines = Vec::new();
        let parts = [
            (ready.heading(at, of), Tone::Strong),
            (ready.line(), Tone::Warning),
        ];
        for (text, tone) in parts {
            lines.extend(Para::bare(safe(text, tone)).lines(width, true, theme));
        }
        lines
    });
    let below = asked.len() + usize::from(typed.is_some());
    let height = usize::from(body.height).saturating_sub(below);
    let top = chosen.end.saturating_sub(height).min(chosen.start);
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
