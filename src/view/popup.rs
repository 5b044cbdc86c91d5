//! Popups: help, palette, explanation, counts, problems.

use std::collections::{BTreeMap, BTreeSet};

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
use crate::app::command::{Availability, CommandSpec};
use crate::app::popup::{Content, Palette, Popup};
use crate::model::identity::ProcessKey;
use crate::model::reading::Absence;
use crate::model::sample::Problem;
use crate::model::world::World;
use crate::table::Shown;
use crate::table::counts::counts;
use crate::text::width::{columns, pad, pad_left, wrap};
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
    if let Content::Incident { at } = popup.content() {
        keep::draw(buffer, screen, app, (popup, *at), scroll, theme);
        return None;
    }
    let width = width(screen);
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

/// The width of a popup of text.
pub(super) fn width(screen: Rect) -> u16 {
    if screen.width < NARROW {
        screen.width
    } else {
        (screen.width - 4).min(100)
    }
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
    let list = Rect {
        y: body.y + 1,
        height: body.height.saturating_sub(1),
        ..body
    };
    draw_commands(buffer, list, &found, palette.at(), theme);
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

/// From this room on a description stands beside name and keys; else below them.
const BESIDE: usize = 24;

/// Draws the commands with their descriptions in full, the chosen one in sight.
fn draw_commands(
    buffer: &mut Buffer,
    area: Rect,
    found: &[(&CommandSpec, Availability)],
    chosen: usize,
    theme: Theme,
) {
    let width = usize::from(area.width);
    let lines: Vec<(usize, Drawn)> = found
        .iter()
        .enumerate()
        .flat_map(|(at, (spec, available))| {
            command_lines(spec, *available, width, theme)
                .into_iter()
                .map(move |line| (at, line))
        })
        .collect();
    let last = lines
        .iter()
        .rposition(|(at, _)| *at == chosen)
        .map_or(0, |last| last + 1);
    let top = last.saturating_sub(usize::from(area.height));
    let mut before = None;
    for ((at, line), y) in lines.iter().skip(top).zip(area.y..area.bottom()) {
        let row = Rect { y, height: 1, ..area };
        line.draw(buffer, row, theme);
        if *at == chosen {
            super::paint::fill(buffer, row, theme, Tone::Chosen);
            if before != Some(*at) {
                buffer.set_string(area.x, y, ">", theme.style(Tone::Strong));
            }
        }
        before = Some(*at);
    }
}

fn command_lines(spec: &CommandSpec, available: Availability, width: usize, theme: Theme) -> Vec<Drawn> {
    let (doc, tone) = match available {
        Availability::No(reason) => (format!("not now: {reason}"), Tone::Dim),
        _ => (spec.doc.to_owned(), Tone::Plain),
    };
    let name = pad(spec.name, 17, theme.glyphs());
    let keys = pad(&spec.keys_label(), 10, theme.glyphs());
    let head = format!(" {name} {keys} ");
    let gutter = columns(&head);
    if width < gutter + BESIDE {
        let mut lines = vec![Drawn::one(head, tone)];
        let below = wrap(&doc, width.saturating_sub(3).max(1));
        lines.extend(below.iter().map(|line| Drawn::one(format!("   {line}"), tone)));
        return lines;
    }
    let mut head = head;
    let mut lines = Vec::new();
    for line in wrap(&doc, width - gutter) {
        lines.push(Drawn::one(format!("{head}{line}"), tone));
        head = " ".repeat(gutter);
    }
    lines
}

fn content(app: &App, content: &Content, width: usize, theme: Theme) -> (Safe, Vec<Para>) {
    match content {
        Content::Help
        | Content::Palette(_)
        | Content::Record(_)
        | Content::Act(_)
        | Content::Incident { .. } => (Safe::literal("help"), help::paragraphs()),
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

/// Returns what the list of problems holds, in few words: `1 problem, 98 processes closed`; empty where it
/// holds nothing.
pub(super) fn problem_count(world: &World) -> String {
    let problems = world.sample.problems.len() + world.judged.problems.len();
    let unsearched = world.sample.unsearched.iter().map(|one| one.process);
    let closed: BTreeSet<ProcessKey> = closed(world).chain(unsearched).collect();
    let counted = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {several}")),
    };
    let parts = [
        counted(problems, "problem", "problems"),
        counted(closed.len(), "process closed", "processes closed"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Processes whose links and descriptors are refused.
fn closed(world: &World) -> impl Iterator<Item = ProcessKey> {
    let processes = world.sample.processes.values();
    processes
        .filter(|process| process.exe.is_denied() && !process.kernel_thread)
        .map(|process| process.key)
}

fn problems(app: &App, shown: Shown<'_>) -> Vec<Para> {
    let world = shown.world;
    let mut out = super::keep::faults(app);
    for problem in world.sample.problems.iter().chain(&world.judged.problems) {
        out.push(problem_line(shown, problem));
    }
    let mut unsearched: BTreeMap<Absence, Vec<ProcessKey>> = BTreeMap::new();
    for one in &world.sample.unsearched {
        unsearched.entry(one.why).or_default().push(one.process);
    }
    for (why, keys) in unsearched {
        let what = "could not be searched for other ends of wires";
        out.push(list_of(shown, why, &keys, what));
    }
    let closed: Vec<ProcessKey> = closed(world).collect();
    if !closed.is_empty() {
        let what = "whose program, directory and descriptors may not be read";
        out.push(list_of(shown, Absence::Denied, &closed, what));
    }
    if out.is_empty() {
        out.push(Para::bare(lit(
            "Everything that was looked at could be read.",
            Tone::Plain,
        )));
    }
    out
}

/// Says what holds for several processes, then which they are.
fn list_of(shown: Shown<'_>, why: Absence, keys: &[ProcessKey], what: &str) -> Para {
    let noun = if keys.len() == 1 { "process" } else { "processes" };
    let mut text = Safe::from_text(&format!("{} {noun} {what}: ", keys.len()));
    text.push(&Safe::join(
        keys.iter().map(|key| shown.name_and_pid(key.pid)),
        ", ",
    ));
    let mut para = Para::labelled(lit(absence_word(why), Tone::Warning), safe(text, Tone::Plain));
    para.gutter = 13;
    para
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
