//! A table of text: columns as wide as their cells, the least important dropped where a terminal is
//! narrow. A pipe gets everything.

use std::borrow::Cow;

use crate::text::Safe;
use crate::text::width::{self, Glyphs};

/// One column of a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridColumn {
    /// Heading.
    pub(super) title: &'static str,
    /// Whether its cells stand at the right.
    pub(super) right: bool,
    /// Most columns of the terminal that it takes there; the last column takes what is left.
    pub(super) most: usize,
    /// The column with the lowest importance is dropped first.
    pub(super) importance: u8,
}

/// Fewest columns of the terminal for the last column.
const LAST: usize = 16;

/// Columns of the terminal that the first column keeps.
const FIRST: usize = 8;

/// Returns the table, headings first. `room` is the terminal's width; `None`: nothing is dropped or
/// cut. Each row has one cell per column.
pub(super) fn grid(
    columns: &[GridColumn],
    rows: &[Vec<Safe>],
    room: Option<usize>,
    glyphs: Glyphs,
) -> String {
    let mut shown: Vec<(usize, usize)> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(at))
                .map(|cell| width::columns(cell.as_str()));
            let widest = cells.max().unwrap_or(0);
            let most = if room.is_some() { column.most } else { usize::MAX };
            (at, widest.min(most).max(column.title.len()))
        })
        .collect();
    if let Some(room) = room {
        while needed(&shown) > room && shown.len() > 2 {
            let least = shown.iter().map(|(at, _)| columns[*at].importance).min();
            shown.retain(|(at, _)| Some(columns[*at].importance) != least);
        }
        // Two columns are the least that makes sense: the first gives way.
        let over = needed(&shown).saturating_sub(room);
        if let Some((_, cells)) = shown.first_mut() {
            *cells = cells.saturating_sub(over).max(FIRST.min(*cells)).min(room);
        }
    }
    let titles: Vec<Safe> = columns
        .iter()
        .map(|column| Safe::from_text(column.title))
        .collect();
    std::iter::once(&titles)
        .chain(rows)
        .map(|row| line(columns, &shown, row, room, glyphs))
        .collect()
}

fn needed(shown: &[(usize, usize)]) -> usize {
    let last = shown.last().map_or(0, |(_, cells)| (*cells).min(LAST));
    shown
        .iter()
        .rev()
        .skip(1)
        .map(|(_, cells)| cells + 1)
        .sum::<usize>()
        + last
}

fn line(
    columns: &[GridColumn],
    shown: &[(usize, usize)],
    row: &[Safe],
    room: Option<usize>,
    glyphs: Glyphs,
) -> String {
    let mut text = String::new();
    let mut used = 0;
    for (place, (at, cells)) in shown.iter().enumerate() {
        let last = place + 1 == shown.len();
        let cells = match room {
            Some(room) if last => room.saturating_sub(used),
            _ => *cells,
        };
        let cell = row.get(*at).map_or("", Safe::as_str);
        let cell = match room {
            Some(_) => width::truncate(cell, cells, glyphs),
            None => Cow::Borrowed(cell),
        };
        let gap = " ".repeat(cells.saturating_sub(width::columns(&cell)));
        match (columns[*at].right, last) {
            (true, _) => text.extend([gap.as_str(), cell.as_ref()]),
            (false, true) => text.push_str(&cell),
            (false, false) => text.extend([cell.as_ref(), gap.as_str()]),
        }
        if !last {
            text.push(' ');
            used += cells + 1;
        }
    }
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [GridColumn; 3] = [
        GridColumn {
            title: "NAME",
            right: false,
            most: 8,
            importance: 9,
        },
        GridColumn {
            title: "PID",
            right: true,
            most: 7,
            importance: 5,
        },
        GridColumn {
            title: "COMMAND",
            right: false,
            most: 99,
            importance: 8,
        },
    ];

    fn rows() -> Vec<Vec<Safe>> {
        [
            ["git", "7", "python -m mcp_server_git"],
            ["a-very-long-name", "48271", "x"],
        ]
        .map(|row| row.map(Safe::from_text).to_vec())
        .to_vec()
    }

    #[test]
    fn a_pipe_gets_everything() {
        assert_eq!(
            grid(&COLUMNS, &rows(), None, Glyphs::Ascii),
            "NAME               PID COMMAND\n\
             git                  7 python -m mcp_server_git\n\
             a-very-long-name 48271 x\n"
        );
    }

    #[test]
    fn a_terminal_gets_whole_lines_that_fit() {
        assert_eq!(
            grid(&COLUMNS, &rows(), Some(32), Glyphs::Ascii),
            "NAME       PID COMMAND\n\
             git          7 python -m mcp_se~\n\
             a-very-~ 48271 x\n"
        );
        assert_eq!(
            grid(&COLUMNS, &rows(), Some(18), Glyphs::Ascii),
            "NAME     COMMAND\ngit      python -~\na-very-~ x\n"
        );
        for room in 5..60 {
            let text = grid(&COLUMNS, &rows(), Some(room), Glyphs::Ascii);
            assert!(
                text.lines().all(|line| width::columns(line) <= room),
                "{room}\n{text}"
            );
        }
    }
}
