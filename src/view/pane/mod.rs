//! The panes: what is known of the selected row, in words.

mod descriptors;
mod elapsed;
mod ends;
mod evidence;
mod group;
mod head;
mod sockets;
mod subject;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Scroll;
use super::paint::{Drawn, Para, fill, lit, say};
use super::record;
use super::theme::{Theme, Tone};
use crate::app::App;
use crate::app::Excerpt;
use crate::app::nav::Ghost;
use crate::app::panes::{Focus, Pane};
use crate::text::width::columns;

pub(super) use evidence::meaning;

use subject::Subject;

/// Draws title and text of the pane.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, scroll: &mut Scroll, theme: Theme) {
    let Some(pane) = app.panes().shown() else { return };
    if area.height == 0 {
        return;
    }
    let body = Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: body_width(area.width),
        height: area.height - 1,
    };
    let Laid { lines, .. } = text(app, pane, usize::from(body.width), theme);
    let key = (pane, app.nav().selected().cloned());
    if scroll.pane_key.as_ref() != Some(&key) {
        scroll.pane_key = Some(key);
        scroll.pane.restart(app.panes().scrolled());
    }
    let top = scroll
        .pane
        .walk(app.panes().scrolled(), lines.len(), usize::from(body.height));
    title(
        buffer,
        Rect { height: 1, ..area },
        app,
        pane,
        &Position {
            top,
            height: usize::from(body.height),
            lines: lines.len(),
        },
        theme,
    );
    let focused = app.panes().focus() != Focus::Tree;
    let current = lines.get(scroll.pane.at).map(|(number, _)| *number);
    for ((at, (number, line)), y) in lines.iter().enumerate().skip(top).zip(body.y..body.bottom()) {
        let row = Rect { y, height: 1, ..body };
        line.draw(buffer, row, theme);
        if focused && current == Some(*number) {
            fill(buffer, row, theme, Tone::Chosen);
        }
        if focused && at == scroll.pane.at {
            buffer.set_string(area.x, y, ">", theme.style(Tone::Strong));
        }
    }
}

/// From this height on a pane has room for its whole head and the facts below it.
const TALL: u16 = 14;

/// Which lines of the text are in sight.
struct Position {
    top: usize,
    height: usize,
    lines: usize,
}

impl Position {
    fn words(&self) -> String {
        let last = (self.top + self.height).min(self.lines);
        if self.lines > self.height {
            format!(" {}-{last} of {} ", self.top + 1, self.lines)
        } else {
            String::new()
        }
    }
}

fn title(buffer: &mut Buffer, area: Rect, app: &App, pane: Pane, position: &Position, theme: Theme) {
    let dash = theme.line();
    let width = usize::from(area.width);
    let keys = match app.panes().focus() {
        Focus::Tree => " 0 hides ",
        Focus::Pane => " Enter full, Esc back ",
        Focus::FullPane => " Esc back ",
    };
    let titles: Vec<(Pane, &str)> = Pane::ALL.iter().map(|one| (*one, one.title())).collect();
    let full: usize = titles.iter().map(|(_, title)| columns(title) + 3).sum();
    let short = full + columns(keys) > width;
    let place = position.words();
    let mut line = Drawn::one(dash.to_owned(), Tone::Bar);
    let mut used = 1;
    for (one, title) in titles {
        let title = if short && one != pane { &title[..1] } else { title };
        let (text, tone) = if one == pane {
            (format!("[{title}]"), Tone::Chosen)
        } else {
            (format!("{title}{dash}"), Tone::Bar)
        };
        used += columns(&text);
        line.push(text, tone);
    }
    let mut right = format!("{place}{keys}{dash}");
    if used + columns(&right) > width {
        // The footer names the keys too.
        right = format!("{place}{dash}");
    }
    let gap = width.saturating_sub(used + columns(&right));
    line.push(dash.repeat(gap), Tone::Bar);
    line.push(right, Tone::Bar);
    line.draw(buffer, area, theme);
}

/// The text of a pane as it is laid out.
struct Laid {
    /// The lines, each with the number of the paragraph that it is of.
    lines: Vec<(usize, Drawn)>,
    /// The paragraphs, uncut.
    plain: Vec<String>,
}

impl Laid {
    fn add(&mut self, plain: String, lines: Vec<Drawn>) {
        let number = self.plain.len();
        self.lines.extend(lines.into_iter().map(|line| (number, line)));
        self.plain.push(plain);
    }
}

/// Returns what a part of the shown pane says, uncut; `None` where no pane is shown.
pub(super) fn excerpt(app: &App, excerpt: Excerpt, scroll: &Scroll, theme: Theme) -> Option<String> {
    let pane = app.panes().shown()?;
    let laid = text(app, pane, usize::from(body_width(app.size().0)), theme);
    match excerpt {
        Excerpt::Pane => Some(laid.plain.join("\n")),
        Excerpt::Line => {
            let (number, _) = laid.lines.get(scroll.pane.at)?;
            laid.plain.get(*number).cloned()
        }
    }
}

fn body_width(width: u16) -> u16 {
    width.saturating_sub(2)
}

fn text(app: &App, pane: Pane, width: usize, theme: Theme) -> Laid {
    let mut laid = Laid {
        lines: Vec::new(),
        plain: Vec::new(),
    };
    let Some((shown, node)) = app.selected() else {
        let text = "No row is selected.".to_owned();
        laid.add(text.clone(), vec![Drawn::one(text, Tone::Dim)]);
        return laid;
    };
    let subject = Subject::new(shown, node);
    let room = match (app.panes().focus() == Focus::FullPane, pane == Pane::Evidence) {
        (true, _) => head::Room::Whole,
        (false, true) if app.layout().pane >= TALL => head::Room::Whole,
        (false, true) => head::Room::Command,
        (false, false) => head::Room::Short,
    };
    let [command, rest] = head::plain(&subject);
    let (of_command, mut of_rest) = head::lines(&subject, width, room, theme);
    let rest_lines = of_rest.split_off(of_command.min(of_rest.len()));
    laid.add(command, of_rest);
    if !rest_lines.is_empty() {
        laid.add(rest, rest_lines);
    }
    let wraps = app.panes().wraps();
    if let Some(ghost) = app.nav().ghost() {
        let para = gone(ghost);
        laid.add(para.plain(), para.lines(width, wraps, theme));
    }
    let paragraphs = match pane {
        Pane::Evidence => evidence::paragraphs(app, &subject),
        Pane::Descriptors => descriptors::paragraphs(&subject),
        Pane::Sockets => sockets::paragraphs(&subject),
        Pane::Group => group::paragraphs(&subject),
        Pane::Record => match subject.instance {
            Some(instance) => record::paragraphs(app, instance.id, width, theme),
            None => vec![Para::bare(lit(
                "The record is one server's: select its row.",
                Tone::Dim,
            ))],
        },
        Pane::Elapsed => {
            for line in elapsed::lines(app, &subject, width, theme) {
                laid.add(line.plain(), vec![line]);
            }
            Vec::new()
        }
    };
    for para in paragraphs {
        laid.add(para.plain(), para.lines(width, wraps, theme));
    }
    laid
}

/// That what is shown is of the past.
fn gone(ghost: &Ghost) -> Para {
    let text = format!(
        "GONE: not in the sample of {}; what is shown here is as of {}.",
        ghost.gone().clock(),
        ghost.last_seen().clock()
    );
    Para::bare(say(&text, Tone::Warning))
}

/// What a pane about processes says where the row stands for several or none.
fn no_process(subject: &Subject<'_>) -> Para {
    let text = match subject.node.figures.instances {
        0 => lit("This row stands for no process that can be read.", Tone::Dim),
        1 => lit(
            "This row stands for one server below it: unfold it (Right) and select it.",
            Tone::Dim,
        ),
        _ => lit(
            "This row counts several servers: unfold it (Right) and select one.",
            Tone::Dim,
        ),
    };
    Para::bare(text)
}
