//! The tree: column headings and the rows in sight.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::paint::{Para, fill};
use super::theme::{Theme, Tone};
use super::{Scroll, notes};
use crate::app::App;
use crate::model::instance::{OwnerKey, Role};
use crate::table::column::{Align, Placed, fit};
use crate::table::tree::Scope;
use crate::table::{ColumnId, Node, RowId, Shown, cells};
use crate::text::Safe;
use crate::text::width::{pad, pad_left, truncate, truncate_command};

/// Columns between the beginning of NAME and its text: the fold sign and a blank.
const SIGN: usize = 2;

/// Columns of a name that are left however deep the row is.
const NAME_LEAST: usize = 8;

/// Returns the columns that fit this screen.
pub(super) fn columns(app: &App, width: u16) -> Vec<Placed> {
    let highest = app
        .world()
        .and_then(|world| world.sample.processes.keys().next_back());
    let digits = highest.map_or(1, |pid| pid.get().ilog10() + 1);
    let instead = match app.nav().plan().scope {
        Scope::Servers => ColumnId::Why,
        Scope::Everything => ColumnId::Command,
    };
    fit(width, u16::try_from(digits).unwrap_or(7), instead)
}

/// Draws the column headings.
pub(super) fn titles(buffer: &mut Buffer, area: Rect, app: &App, theme: Theme) {
    fill(buffer, area, theme, Tone::Bar);
    let sorted = app.nav().plan().sort.column;
    for placed in columns(app, area.width) {
        let column = placed.id.column();
        let title = aligned(column.title, placed, theme);
        let tone = if sorted == Some(placed.id) {
            Tone::Chosen
        } else {
            Tone::Bar
        };
        buffer.set_stringn(
            area.x + placed.x,
            area.y,
            title,
            usize::from(placed.width),
            theme.style(tone),
        );
    }
}

fn aligned(text: &str, placed: Placed, theme: Theme) -> String {
    let width = usize::from(placed.width);
    match placed.id.column().align {
        Align::Left => pad(text, width, theme.glyphs()),
        Align::Right => pad_left(text, width, theme.glyphs()),
    }
}

/// Draws the rows in sight, and below them what the operator should know of the whole.
pub(super) fn rows(buffer: &mut Buffer, area: Rect, app: &App, scroll: &mut Scroll, theme: Theme) {
    let height = usize::from(area.height);
    let rows = app.nav().rows();
    scroll.tree = top(
        scroll.tree,
        app.nav().at(),
        height,
        rows.len(),
        app.nav().follows(),
    );
    let placed = columns(app, area.width);
    let mut y = area.y;
    if let Some(shown) = app.shown() {
        let pen = Pen {
            app,
            shown,
            placed: &placed,
            theme,
        };
        for (at, row) in rows.iter().enumerate().skip(scroll.tree).take(height) {
            let Some(node) = app.nav().tree().node(*row) else {
                continue;
            };
            let line = Rect { y, height: 1, ..area };
            // What is gone is shown as it was seen last.
            let ghost = app.nav().ghost().filter(|_| node.gone);
            let pen = Pen {
                shown: ghost.map_or(shown, crate::app::nav::Ghost::shown),
                ..pen
            };
            pen.row(buffer, line, node, at == app.nav().at());
            y += 1;
        }
    }
    let left = Rect {
        y,
        height: area.bottom().saturating_sub(y),
        ..area
    };
    below(buffer, left, app, rows.is_empty(), theme);
}

/// The first row in sight: the old one as long as the selected row is in sight from there.
fn top(before: usize, selected: usize, height: usize, rows: usize, follow: bool) -> usize {
    let last = rows.saturating_sub(height);
    if follow {
        return selected.saturating_sub(height / 2).min(last);
    }
    let lowest = (selected + 1).saturating_sub(height);
    before.clamp(lowest, selected.max(lowest)).min(last)
}

/// What all rows are drawn with.
#[derive(Clone, Copy)]
struct Pen<'a> {
    app: &'a App,
    shown: Shown<'a>,
    placed: &'a [Placed],
    theme: Theme,
}

impl Pen<'_> {
    fn row(&self, buffer: &mut Buffer, area: Rect, node: &Node, selected: bool) {
        let start_of = |is: fn(ColumnId) -> bool| {
            let placed = self.placed.iter().find(|one| is(one.id));
            placed.map_or(area.width, |one| one.x)
        };
        // What an owner or a count has no cell for, its name takes.
        let name_end = match node.id {
            RowId::Owner(_) => self.owner_end(node, start_of(is_tail)),
            RowId::Kind(..) => start_of(|id| id == ColumnId::Finding),
            RowId::Instance(_) | RowId::Process(_) => 0,
        };
        for one in self.placed {
            let is_name = one.id == ColumnId::Name;
            if !is_name && one.x < name_end {
                continue;
            }
            let width = if is_name && name_end > 0 {
                name_end.min(area.width + 1).saturating_sub(one.x + 1)
            } else {
                one.width
            };
            let text = self.text(node, *one, usize::from(width));
            let style = self.theme.style(tone(node, one.id));
            buffer.set_stringn(area.x + one.x, area.y, text, usize::from(width), style);
        }
        let marked = self.app.marks().contains(&node.id);
        if selected || marked {
            let sign = if marked { "*" } else { ">" };
            buffer.set_stringn(area.x, area.y, sign, 1, self.theme.style(Tone::Strong));
        }
        if selected {
            fill(buffer, area, self.theme, Tone::Chosen);
        }
    }

    /// Where the name of an owner ends: it takes the room of ELAPSED and CPU% too where it says more than they
    /// do, as `NO LIVE CLIENT`.
    fn owner_end(&self, node: &Node, tail: u16) -> u16 {
        let name = cells::name(self.shown, node);
        let text = crate::text::width::columns(&self.theme.text(&name));
        let needed = 1 + usize::from(node.depth) + SIGN + text;
        let figures = [ColumnId::Elapsed, ColumnId::Cpu];
        let behind = self.placed.iter().filter(|one| one.x >= tail);
        let mut end = tail;
        for one in behind {
            end = one.x;
            if usize::from(end) > needed || !figures.contains(&one.id) {
                break;
            }
        }
        // On the narrowest screens nothing is left of what says most of an adopter.
        let is_adopter = matches!(node.id, RowId::Owner(OwnerKey::Adopter(_)));
        if is_adopter && usize::from(end) <= needed {
            end = u16::MAX;
        }
        end
    }

    fn text(&self, node: &Node, placed: Placed, width: usize) -> String {
        if placed.id == ColumnId::Name {
            return name(self.app, self.shown, node, width, self.theme);
        }
        let cell = match self.app.nav().ghost().filter(|_| node.gone) {
            Some(_) if placed.id == ColumnId::Finding => Safe::literal("gone"),
            Some(ghost) if placed.id == ColumnId::Why => Safe::from_text(&format!(
                "since {}, last seen {}",
                ghost.gone().clock(),
                ghost.last_seen().clock()
            )),
            _ => cells::cell(self.shown, node, placed.id),
        };
        let text = self.theme.text(&cell);
        if placed.id == ColumnId::Command {
            let text = truncate_command(&text, width, self.theme.glyphs());
            return aligned(&text, placed, self.theme);
        }
        aligned(&text, placed, self.theme)
    }
}

/// Columns that a row of an owner fills; its name takes the room before them.
fn is_tail(id: ColumnId) -> bool {
    matches!(
        id,
        ColumnId::Elapsed
            | ColumnId::Cpu
            | ColumnId::Mem
            | ColumnId::Reach
            | ColumnId::Wire
            | ColumnId::Why
            | ColumnId::Command
    )
}

fn name(app: &App, shown: Shown<'_>, node: &Node, width: usize, theme: Theme) -> String {
    let indent = usize::from(node.depth).min(width.saturating_sub(SIGN + NAME_LEAST));
    let sign = match (node.children.is_empty(), shows_children(app, node)) {
        (true, _) => " ",
        (false, true) => theme.open(),
        (false, false) => theme.folded(),
    };
    let text = cells::name(shown, node);
    let text = theme.text(&text);
    let text = truncate(&text, width.saturating_sub(indent + SIGN), theme.glyphs());
    pad(
        &format!("{}{sign} {text}", " ".repeat(indent)),
        width,
        theme.glyphs(),
    )
}

/// Whether the row below hangs from this one.
fn shows_children(app: &App, node: &Node) -> bool {
    if app.filter().query().is_empty() || matches!(node.id, RowId::Instance(_)) {
        app.nav().is_open(node)
    } else {
        true
    }
}

fn tone(node: &Node, column: ColumnId) -> Tone {
    if node.gone {
        return Tone::Dim;
    }
    let worst = node.figures.worst();
    match (&node.id, column) {
        (RowId::Owner(OwnerKey::Adopter(_)), ColumnId::Name) => Tone::Warning,
        (RowId::Owner(_), ColumnId::Name) => Tone::Strong,
        (RowId::Instance(_) | RowId::Kind(..), ColumnId::Finding) => worst.map_or(Tone::Plain, Tone::of),
        (RowId::Instance(_) | RowId::Kind(..), ColumnId::Name | ColumnId::Why) => match worst {
            Some(finding) if finding.is_trouble() => Tone::of(finding),
            _ => Tone::Plain,
        },
        (RowId::Process(_), _) if matches!(node.role, Some(Role::Launcher | Role::Helper)) => Tone::Dim,
        _ => Tone::Plain,
    }
}

fn below(buffer: &mut Buffer, area: Rect, app: &App, empty: bool, theme: Theme) {
    let paragraphs = notes::of(app, empty);
    let width = usize::from(area.width.saturating_sub(2));
    let lines: Vec<_> = paragraphs
        .iter()
        .flat_map(|para: &Para| para.lines(width, true, theme))
        .collect();
    let height = usize::from(area.height);
    // A note that would be cut says nothing: it comes back when rows are folded.
    let gap = usize::from(!empty);
    if lines.is_empty() || (!empty && lines.len() + gap > height) {
        return;
    }
    for (at, line) in lines.iter().enumerate().take(height) {
        let y = area.y + u16::try_from(at + gap).unwrap_or(0);
        line.draw(
            buffer,
            Rect {
                x: area.x + 1,
                y,
                width: area.width.saturating_sub(2),
                height: 1,
            },
            theme,
        );
    }
}
