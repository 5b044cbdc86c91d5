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
use super::paint::{Drawn, Para, lit};
use super::record;
use super::theme::{Theme, Tone};
use crate::app::App;
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
        width: area.width.saturating_sub(2),
        height: area.height - 1,
    };
    let lines = text(app, pane, usize::from(body.width), theme);
    let key = (pane, app.nav().selected().cloned());
    if scroll.pane_key.as_ref() != Some(&key) {
        scroll.pane_key = Some(key);
        scroll.pane.restart(app.panes().scrolled());
    }
    let top = scroll
        .pane
        .to(app.panes().scrolled(), lines.len(), usize::from(body.height));
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
    for (line, y) in lines.iter().skip(top).zip(body.y..body.bottom()) {
        line.draw(buffer, Rect { y, height: 1, ..body }, theme);
    }
}

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

fn text(app: &App, pane: Pane, width: usize, theme: Theme) -> Vec<Drawn> {
    let Some((shown, node)) = app.shown().zip(app.nav().node()) else {
        return vec![Drawn::one("No row is selected.".to_owned(), Tone::Dim)];
    };
    let subject = Subject::new(shown, node);
    let whole = pane == Pane::Evidence || app.panes().focus() == Focus::FullPane;
    let room = if whole {
        head::Room::Whole
    } else {
        head::Room::Short
    };
    let mut lines = head::lines(&subject, width, room, theme);
    let wraps = app.panes().wraps();
    let paragraphs = match pane {
        Pane::Evidence => evidence::paragraphs(app, &subject),
        Pane::Descriptors => descriptors::paragraphs(&subject),
        Pane::Sockets => sockets::paragraphs(&subject),
        Pane::Group => group::paragraphs(&subject),
        Pane::Record => match subject.instance {
            Some(instance) => record::paragraphs(app, instance.id, width),
            None => vec![Para::bare(lit(
                "The record is one server's: select its row.",
                Tone::Dim,
            ))],
        },
        Pane::Elapsed => {
            lines.extend(elapsed::lines(app, &subject, width, theme));
            Vec::new()
        }
    };
    lines.extend(
        paragraphs
            .iter()
            .flat_map(|para: &Para| para.lines(width, wraps, theme)),
    );
    lines
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
