//! Popups: help, palette, explanation, counts, problems.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::{Clear, Widget as _};

use super::acting;
use super::confirm;
use super::help;
use super::keep;
use super::paint::{Drawn, Para, lit, safe, say};
use super::record;
use super::theme::{Theme, Tone};
use super::{Scroll, footer};
use crate::analysis::Explanation;
use crate::app::App;
use crate::app::command::Availability;
use crate::app::popup::{Content, Palette, Popup};
use crate::model::reading::Absence;
use crate::model::sample::Problem;
use crate::table::Shown;
use crate::table::counts::counts;
use crate::text::width::{columns, pad, pad_left};
use crate::text::{Safe, format};

/// Below this width a popup takes all of it.
const NARROW: u16 = 90;

/// From this width of text on the sizes of generations are listed.
const SIZES: usize = 80;

/// Draws the popup; answers with the place of the cursor where something is typed.
pub(super) fn draw(
    buffer: &mut Buffer,
    screen: Rect,
    app: &App,
    popup: &Popup,
    scroll: &mut Scroll,
    theme: Theme,
) -> Option<Position> {
    if let Content::Palette(palette) = popup.content() {
        return Some(draw_palette(buffer, screen, app, palette, theme));
    }
    if let Content::Record(form) = popup.content() {
        return record::form(buffer, screen, app, form, theme);
    }
    if let Content::Act(dialog) = popup.content() {
        return confirm::draw(buffer, screen, app, dialog, scroll, theme);
    }
    let width = if screen.width < NARROW {
        screen.width
    } else {
        (screen.width - 4).min(100)
    };
    let text_width = usize::from(width.saturating_sub(4));
    let (title, paragraphs) = content(app, popup.content(), text_width, theme);
    let lines: Vec<Drawn> = paragraphs
        .iter()
        .flat_map(|para| para.lines(text_width, true, theme))
        .collect();
    let height = u16::try_from(lines.len() + 2)
        .unwrap_or(u16::MAX)
        .clamp(4, screen.height.saturating_sub(2));
    let area = centred(screen, width, height);
    let body = Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: area.width - 4,
        height: area.height - 2,
    };
    let top = scroll
        .popup
        .to(popup.scrolled(), lines.len(), usize::from(body.height));
    let last = (top + usize::from(body.height)).min(lines.len());
    let place = if lines.len() > usize::from(body.height) {
        format!(" {}-{last} of {} ", top + 1, lines.len())
    } else {
        String::new()
    };
    frame(buffer, area, &title, &place, theme);
    for (line, y) in lines.iter().skip(top).zip(body.y..body.bottom()) {
        line.draw(buffer, Rect { y, height: 1, ..body }, theme);
    }
    None
}

pub(super) fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let x = screen.x + screen.width.saturating_sub(width) / 2;
    let y = screen.y + screen.height.saturating_sub(height + 1) / 2;
    Rect { x, y, width, height }.intersection(screen)
}

pub(super) fn frame(buffer: &mut Buffer, area: Rect, title: &Safe, place: &str, theme: Theme) {
    Clear.render(area, buffer);
    let [top_left, top_right, bottom_left, bottom_right] = theme.corners();
    let inner = usize::from(area.width.saturating_sub(2));
    let style = theme.style(Tone::Plain);
    let border = |left: &str, text: &str, right: &str| {
        let fill = inner.saturating_sub(columns(text));
        format!("{left}{text}{}{right}", theme.line().repeat(fill))
    };
    let title = format!("{} {} ", theme.line(), theme.text(title));
    let title = crate::text::width::truncate(&title, inner, theme.glyphs()).into_owned();
    buffer.set_string(
        area.x,
        area.y,
        border(top_left, &title, top_right),
        theme.style(Tone::Strong),
    );
    for y in area.y + 1..area.bottom().saturating_sub(1) {
        buffer.set_string(area.x, y, theme.upright(), style);
        buffer.set_string(area.right().saturating_sub(1), y, theme.upright(), style);
    }
    let bottom = border(bottom_left, place, bottom_right);
    buffer.set_string(area.x, area.bottom().saturating_sub(1), bottom, style);
}

fn draw_palette(buffer: &mut Buffer, screen: Rect, app: &App, palette: &Palette, theme: Theme) -> Position {
    let width = if screen.width < NARROW { screen.width } else { 84 };
    let area = centred(screen, width, screen.height.saturating_sub(4).min(22));
    frame(buffer, area, &Safe::literal("commands"), "", theme);
    let body = Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width - 2,
        height: area.height - 2,
    };
    let width = usize::from(body.width);
    let (line, cursor) = footer::typed(": ", palette.text(), palette.cursor(), width, theme);
    line.draw(buffer, Rect { height: 1, ..body }, theme);
    let found = palette.matches(app);
    let rows = usize::from(body.height.saturating_sub(1));
    let top = (palette.at() + 1).saturating_sub(rows);
    for (at, (spec, available)) in found.iter().enumerate().skip(top).take(rows) {
        let y = body.y + 1 + u16::try_from(at - top).unwrap_or(0);
        let (doc, tone) = match available {
            Availability::No(reason) => (format!("not now: {reason}"), Tone::Dim),
            _ => (spec.doc.to_owned(), Tone::Plain),
        };
        let name = pad(spec.name, 17, theme.glyphs());
        let keys = pad(&spec.keys_label(), 10, theme.glyphs());
        let line = Drawn::one(format!(" {name} {keys} {doc}"), tone);
        let area = Rect { y, height: 1, ..body };
        line.draw(buffer, area, theme);
        if at == palette.at() {
            super::paint::fill(buffer, area, theme, Tone::Chosen);
            buffer.set_string(area.x, y, ">", theme.style(Tone::Strong));
        }
    }
    if found.is_empty() {
        let line = Drawn::one(
            " no command has these letters in this order".to_owned(),
            Tone::Dim,
        );
        line.draw(
            buffer,
            Rect {
                y: body.y + 1,
                height: 1,
                ..body
            },
            theme,
        );
    }
    Position {
        x: body.x + u16::try_from(cursor.unwrap_or(0)).unwrap_or(0),
        y: body.y,
    }
}

fn content(app: &App, content: &Content, width: usize, theme: Theme) -> (Safe, Vec<Para>) {
    match content {
        Content::Help | Content::Palette(_) | Content::Record(_) | Content::Act(_) => {
            (Safe::literal("help"), help::paragraphs())
        }
        Content::Explain {
            label,
            at,
            explanation,
        } => {
            let title = format!("{label}, as of {}", at.clock());
            (Safe::from_escaped(&title), explain(app, explanation))
        }
        Content::Counts => (
            Safe::literal("count by client and server"),
            app.shown()
                .map_or_else(Vec::new, |shown| count(shown, width, theme)),
        ),
        Content::Acting => (Safe::literal("signals"), acting::paragraphs(app)),
        Content::Incident => (Safe::literal("incident"), keep::incident(app)),
        Content::Quit { reasons } => (Safe::literal("quit?"), keep::quit(reasons)),
        Content::Problems => (
            Safe::literal("what could not be read"),
            app.shown().map_or_else(Vec::new, |shown| problems(app, shown)),
        ),
    }
}

fn explain(app: &App, explanation: &Explanation) -> Vec<Para> {
    let text = |text: &str| match app.shown() {
        Some(shown) => shown.safe_text(text),
        None => Safe::from_text(text),
    };
    let headline = if explanation.headline.is_empty() {
        Safe::literal("nothing is known of it")
    } else {
        text(&explanation.headline)
    };
    let mut out = vec![Para::bare(safe(headline, Tone::Strong)), Para::blank()];
    let list = |label: &'static str, lines: &[String], out: &mut Vec<Para>| {
        let mut label = lit(label, Tone::Strong);
        for line in lines {
            out.push(Para::labelled(
                std::mem::take(&mut label),
                safe(text(line), Tone::Plain),
            ));
        }
    };
    list("because", &explanation.because, &mut out);
    list("nearly", &explanation.near_misses, &mut out);
    out
}

fn count(shown: Shown<'_>, width: usize, theme: Theme) -> Vec<Para> {
    let glyphs = theme.glyphs();
    let all = counts(shown);
    if all.is_empty() {
        return vec![Para::bare(lit("No MCP server.", Tone::Plain))];
    }
    let owner_width = (width / 4).clamp(10, 30);
    let name_width = (width / 5).clamp(8, 20);
    let head = format!(
        "{}  {}  COUNT TROUBLE OLDER   MEM  GENS{}",
        pad("OWNER", owner_width, glyphs),
        pad("SERVER", name_width, glyphs),
        if width < SIZES {
            ""
        } else {
            "  THEIR SIZES, OLDEST FIRST"
        }
    );
    let mut out = vec![Para::row(say(&head, Tone::Strong))];
    for one in all {
        let sizes: Vec<String> = one.generations.iter().map(ToString::to_string).collect();
        let sizes = if width < SIZES {
            String::new()
        } else {
            sizes.join(" + ")
        };
        let line = format!(
            "{}  {}  {} {} {} {} {}  {sizes}",
            pad(&theme.text(&one.owner), owner_width, glyphs),
            pad(&theme.text(&one.name), name_width, glyphs),
            pad_left(&one.figures.instances.to_string(), 5, glyphs),
            pad_left(&one.figures.trouble().to_string(), 7, glyphs),
            pad_left(&one.figures.older.to_string(), 5, glyphs),
            pad_left(&format::bytes(one.figures.rss_bytes.unwrap_or(0)), 5, glyphs),
            pad_left(&one.generations.len().to_string(), 5, glyphs),
        );
        let tone = if one.figures.trouble() > 0 {
            Tone::Warning
        } else {
            Tone::Plain
        };
        // The names in it are escaped already, and fit their columns as they are.
        out.push(Para::row(safe(Safe::from_escaped(&line), tone)));
    }
    out
}

fn problems(app: &App, shown: Shown<'_>) -> Vec<Para> {
    let world = shown.world;
    let mut out = super::keep::faults(app);
    for problem in world.sample.problems.iter().chain(&world.judged.problems) {
        out.push(problem_line(shown, problem));
    }
    let unsearched = &world.sample.unsearched;
    if !unsearched.is_empty() {
        let text = format!(
            "{} could not be searched for other ends of wires:",
            unsearched.len()
        );
        out.push(Para::bare(say(&text, Tone::Strong)));
        for one in unsearched {
            let name = shown.name_and_pid(one.process.pid);
            out.push(Para::labelled(
                lit(absence_word(one.why), Tone::Warning),
                safe(name, Tone::Plain),
            ));
        }
    }
    out.extend(closed(shown));
    if out.is_empty() {
        out.push(Para::bare(lit(
            "Everything that was looked at could be read.",
            Tone::Plain,
        )));
    }
    out
}

/// Processes whose links and descriptors are refused; many are counted.
fn closed(shown: Shown<'_>) -> Option<Para> {
    const NAMED: usize = 8;
    let processes = shown.world.sample.processes.values();
    let closed: Vec<_> = processes.filter(|process| process.exe.is_denied()).collect();
    let named = closed
        .iter()
        .take(NAMED)
        .map(|process| shown.name_and_pid(process.key.pid));
    let mut text = Safe::join(named, ", ");
    if closed.len() > NAMED {
        text.push(&Safe::from_text(&format!(" and {} more", closed.len() - NAMED)));
    }
    text.push_literal(": program, directory and descriptors may not be read");
    let mut para = Para::labelled(lit("denied", Tone::Warning), safe(text, Tone::Plain));
    para.gutter = 13;
    (!closed.is_empty()).then_some(para)
}

fn problem_line(shown: Shown<'_>, problem: &Problem) -> Para {
    let mut parts = Vec::new();
    if let Some(pid) = problem.pid {
        parts.push(shown.name_and_pid(pid));
    }
    parts.push(shown.safe_text(&problem.what));
    let mut text = Safe::join(parts, " ");
    if !problem.detail.is_empty() {
        text.push_literal(": ");
        text.push(&shown.safe_text(&problem.detail));
    }
    let mut para = Para::labelled(
        lit(absence_word(problem.kind), Tone::Warning),
        safe(text, Tone::Plain),
    );
    para.gutter = 13;
    para
}

fn absence_word(kind: Absence) -> &'static str {
    match kind {
        Absence::Denied => "denied",
        Absence::Gone => "gone",
        Absence::Unsupported => "unsupported",
        Absence::Failed => "failed",
    }
}
