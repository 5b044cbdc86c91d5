//! Draws the state: reads `App`, changes nothing, does no I/O.
//!
//! ```text
//! header   host, operator, clock, state; counts per finding; what is unusual (0 or 1 line)
//! tree     headings, rows, notes on what could not be seen
//! pane     title, head (command, place, identification), text
//! step     prompt, else message, else what the procedure wants next
//! footer   keys that do something here and now
//! ```

mod acting;
mod confirm;
mod footer;
mod header;
mod help;
mod keep;
mod notes;
mod paint;
mod pane;
mod popup;
mod record;
#[cfg(test)]
mod tests;
mod theme;
mod tree;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use crate::app::Excerpt;
use crate::app::layout::{SMALLEST, too_small};
use crate::app::panes::Pane;
use crate::app::popup::Popup;
use crate::app::{App, layout::Layout};
use crate::table::RowId;

use paint::{Para, say};
use theme::{Theme, Tone};

/// Scroll positions, private to the drawing.
#[derive(Debug, Default)]
pub struct Scroll {
    /// The first row of the tree in sight.
    tree: usize,
    pane: Place,
    /// Which pane of which row `pane` belongs to.
    pane_key: Option<(Pane, Option<RowId>)>,
    popup: Place,
}

/// A place in a text that is scrolled by sums: it never leaves the text, however far the keys ask.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    top: usize,
    /// The current line, where there is one.
    at: usize,
    seen: i64,
}

impl Place {
    /// Goes back to the beginning; what was scrolled until now is over.
    fn restart(&mut self, scrolled: i64) {
        *self = Self {
            top: 0,
            at: 0,
            seen: scrolled,
        };
    }

    /// Follows the sum of lines scrolled, and answers with the first line in sight.
    fn to(&mut self, scrolled: i64, lines: usize, height: usize) -> usize {
        let last = lines.saturating_sub(height);
        let by = isize::try_from(scrolled.saturating_sub(self.seen)).unwrap_or(0);
        self.seen = scrolled;
        self.top = self.top.min(last).saturating_add_signed(by).min(last);
        self.top
    }

    /// Moves the current line by what was scrolled since, keeps it in sight, and answers with the first
    /// line in sight.
    fn walk(&mut self, scrolled: i64, lines: usize, height: usize) -> usize {
        let by = isize::try_from(scrolled.saturating_sub(self.seen)).unwrap_or(0);
        self.seen = scrolled;
        let last = lines.saturating_sub(1);
        self.at = self.at.min(last).saturating_add_signed(by).min(last);
        let lowest = (self.at + 1).saturating_sub(height);
        self.top = self.top.clamp(lowest, self.at).min(lines.saturating_sub(height));
        self.top
    }
}

/// Returns text that only the drawing knows: as it is shown, but uncut.
pub fn excerpt(app: &App, excerpt: Excerpt, scroll: &Scroll) -> Option<String> {
    pane::excerpt(app, excerpt, scroll, Theme::new(app.options()))
}

/// Draws one frame.
pub fn draw(frame: &mut Frame, app: &App, scroll: &mut Scroll) {
    let screen = frame.area();
    let theme = Theme::new(app.options());
    if too_small(screen.width, screen.height) {
        small(frame, screen, theme);
        return;
    }
    let layout = Layout::new(screen.height, app.nav().rows().len(), app.panes(), app.has_mode());
    let mut y = screen.y;
    let mut next = |height: u16| {
        let area = Rect { y, height, ..screen };
        y += height;
        area
    };
    let header = next(layout.header);
    let mode = next(layout.mode);
    let titles = next(layout.titles);
    let rows = next(layout.tree);
    let pane = next(layout.pane);
    let step = next(layout.step);
    let footer = next(layout.footer);
    let buffer = frame.buffer_mut();
    let width = usize::from(screen.width);
    header::first(app, width, theme).draw(buffer, Rect { height: 1, ..header }, theme);
    header::second(app, width, theme).draw(
        buffer,
        Rect {
            y: header.y + 1,
            height: 1,
            ..header
        },
        theme,
    );
    if mode.height > 0 {
        header::mode(app, width, theme).draw(buffer, mode, theme);
    }
    if titles.height > 0 {
        tree::titles(buffer, titles, app, theme);
        tree::rows(buffer, rows, app, scroll, theme);
    }
    pane::draw(buffer, pane, app, scroll, theme);
    let (line, typed) = footer::step(app, width, theme);
    line.draw(buffer, step, theme);
    footer::keys(app, width, theme).draw(buffer, footer, theme);
    let mut cursor = typed.map(|x| Position {
        x: u16::try_from(x).unwrap_or(0),
        y: step.y,
    });
    match app.popup() {
        Some(open) => cursor = draw_popup(frame, screen, app, open, scroll, theme),
        None => scroll.popup = Place::default(),
    }
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

fn draw_popup(
    frame: &mut Frame,
    screen: Rect,
    app: &App,
    open: &Popup,
    scroll: &mut Scroll,
    theme: Theme,
) -> Option<Position> {
    popup::draw(frame.buffer_mut(), screen, app, open, scroll, theme)
}

fn small(frame: &mut Frame, screen: Rect, theme: Theme) {
    let (width, height) = SMALLEST;
    let text = format!(
        "mcpwake needs {width}x{height}, this terminal is {}x{}. `mcpwake list` works at any size.",
        screen.width, screen.height
    );
    let lines = Para::bare(say(&text, Tone::Plain)).lines(usize::from(screen.width), true, theme);
    for (line, y) in lines.iter().zip(screen.y..screen.bottom()) {
        line.draw(
            frame.buffer_mut(),
            Rect {
                y,
                height: 1,
                ..screen
            },
            theme,
        );
    }
}
