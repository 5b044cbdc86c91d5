//! The columns: each declared once, for the tree, the `list` table and the help.

/// Names a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnId {
    /// Name of the server or process, with its place in the tree.
    Name,
    /// Process id.
    Pid,
    /// Parent's process id.
    Ppid,
    /// Process group id.
    Pgid,
    /// User.
    User,
    /// State as ps(1) shows it.
    Stat,
    /// Finding of an instance; role of a member.
    Finding,
    /// Time since the start.
    Elapsed,
    /// CPU use.
    Cpu,
    /// Resident memory.
    Mem,
    /// Leads.
    Reach,
    /// The wire.
    Wire,
    /// Command line.
    Command,
    /// Reason of the finding, in few words.
    Why,
}

/// On which side the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left.
    Left,
    /// At the right.
    Right,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in code.
    pub id: ColumnId,
    /// Its heading.
    pub title: &'static str,
    /// Cells it takes at least; the last column of a line takes what is left.
    pub width: u16,
    /// On which side its cells stand.
    pub align: Align,
    /// The column with the lowest importance is dropped first when the screen is narrow.
    pub importance: u8,
    /// Whether the biggest value comes first when rows are sorted by it.
    pub biggest_first: bool,
    /// What it shows, for the help.
    pub help: &'static str,
}

/// Every column, in the order of the screen.
pub const COLUMNS: [Column; 14] = [
    left(
        ColumnId::Name,
        "NAME",
        20,
        100,
        "server or process, in the tree of its owner",
    ),
    right(
        ColumnId::Pid,
        "PID",
        5,
        99,
        false,
        "process id; of an instance, its server's",
    ),
    right(
        ColumnId::Ppid,
        "PPID",
        5,
        30,
        false,
        "current parent; changes when the parent ends",
    ),
    right(ColumnId::Pgid, "PGID", 5, 20, false, "process group"),
    left(ColumnId::User, "USER", 8, 40, "user it runs as"),
    left(ColumnId::Stat, "STAT", 4, 35, "state as ps shows it"),
    left(
        ColumnId::Finding,
        "FINDING",
        8,
        98,
        "does it still belong to a live client connection",
    ),
    right(
        ColumnId::Elapsed,
        "ELAPSED",
        7,
        70,
        true,
        "time since its start; of a group, the oldest",
    ),
    right(
        ColumnId::Cpu,
        "CPU%",
        4,
        50,
        true,
        "of one CPU between two samples; ? before the second",
    ),
    right(ColumnId::Mem, "MEM", 5, 55, true, "resident memory"),
    left(
        ColumnId::Reach,
        "REACH",
        12,
        80,
        "leads: what it could still act through",
    ),
    left(
        ColumnId::Wire,
        "WIRE",
        16,
        10,
        "descriptor it is spoken to on, and who holds the other end",
    ),
    left(
        ColumnId::Command,
        "COMMAND",
        16,
        10,
        "command line, secrets removed",
    ),
    left(
        ColumnId::Why,
        "WHY",
        16,
        90,
        "reason of the finding, where the line has no room for WIRE and COMMAND",
    ),
];

const fn left(id: ColumnId, title: &'static str, width: u16, importance: u8, help: &'static str) -> Column {
    Column {
        id,
        title,
        width,
        align: Align::Left,
        importance,
        biggest_first: false,
        help,
    }
}

const fn right(
    id: ColumnId,
    title: &'static str,
    width: u16,
    importance: u8,
    biggest_first: bool,
    help: &'static str,
) -> Column {
    Column {
        id,
        title,
        width,
        align: Align::Right,
        importance,
        biggest_first,
        help,
    }
}

impl ColumnId {
    /// Returns the declaration of the column.
    pub fn column(self) -> &'static Column {
        COLUMNS
            .iter()
            .find(|column| column.id == self)
            .unwrap_or(&COLUMNS[0])
    }
}

/// Where a column stands in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The column.
    pub id: ColumnId,
    /// First cell.
    pub x: u16,
    /// Cells.
    pub width: u16,
}

/// Narrowest NAME column.
const NAME_MIN: u16 = 12;

/// Cells that NAME gives up before a column is dropped.
const NAME_GIVES: u16 = 5;

/// Returns the columns for a line of `width` cells whose pids take `pid_width` cells.
///
/// With room for all, WIRE and COMMAND are shown; else `instead` (WHY, or COMMAND where most rows
/// are no servers) stands in their place, and the least important columns go until the rest fits.
pub fn fit(width: u16, pid_width: u16, instead: ColumnId) -> Vec<Placed> {
    let tail = [ColumnId::Wire, ColumnId::Command, ColumnId::Why];
    let body = |id: ColumnId| !tail.contains(&id);
    let shown_with = |last: &[ColumnId]| -> Vec<&Column> {
        COLUMNS
            .iter()
            .filter(|column| body(column.id) || last.contains(&column.id))
            .collect()
    };
    let mut shown = shown_with(&tail[..2]);
    if needed(&shown, pid_width) > width + NAME_GIVES {
        // The group has a pane of its own, with all its members.
        shown.retain(|column| column.id != ColumnId::Pgid);
    }
    if needed(&shown, pid_width) > width + NAME_GIVES {
        shown = shown_with(&[instead]);
    }
    while needed(&shown, pid_width) > width + NAME_GIVES && shown.len() > 3 {
        let weighed = shown.iter().filter(|column| column.id != instead);
        let Some(least) = weighed.map(|column| column.importance).min() else {
            break;
        };
        // From WHY on nothing is dropped: NAME gives up more cells, and the last column is cut.
        if least >= ColumnId::Why.column().importance {
            break;
        }
        shown.retain(|column| column.importance != least || column.id == instead);
    }
    place(&shown, width, pid_width)
}

fn cells(column: &Column, pid_width: u16) -> u16 {
    match column.id {
        ColumnId::Pid | ColumnId::Ppid | ColumnId::Pgid => pid_width.max(column.width),
        _ => column.width,
    }
}

fn needed(shown: &[&Column], pid_width: u16) -> u16 {
    shown.iter().map(|column| cells(column, pid_width) + 1).sum()
}

fn place(shown: &[&Column], width: u16, pid_width: u16) -> Vec<Placed> {
    let over = needed(shown, pid_width).saturating_sub(width);
    let name = ColumnId::Name.column().width.saturating_sub(over).max(NAME_MIN);
    let mut x = 1;
    let mut placed = Vec::with_capacity(shown.len());
    for (at, column) in shown.iter().enumerate() {
        let mut cells = if column.id == ColumnId::Name {
            name
        } else {
            cells(column, pid_width)
        };
        if at + 1 == shown.len() || x + cells > width {
            cells = width.saturating_sub(x);
        }
        if cells == 0 {
            break;
        }
        placed.push(Placed {
            id: column.id,
            x,
            width: cells,
        });
        x += cells + 1;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(width: u16) -> Vec<&'static str> {
        fit(width, 5, ColumnId::Why)
            .iter()
            .map(|placed| placed.id.column().title)
            .collect()
    }

    #[test]
    fn a_wide_line_has_everything_but_why() {
        assert_eq!(
            titles(140).join(" "),
            "NAME PID PPID PGID USER STAT FINDING ELAPSED CPU% MEM REACH WIRE COMMAND"
        );
        assert_eq!(
            titles(120).join(" "),
            "NAME PID PPID USER STAT FINDING ELAPSED CPU% MEM REACH WIRE COMMAND"
        );
    }

    #[test]
    fn the_last_columns_have_room_for_what_they_say() {
        for (width, pid_width, id, least) in [
            (80, 5, ColumnId::Why, 16),
            (80, 7, ColumnId::Why, 16),
            (40, 5, ColumnId::Why, 11),
            (120, 5, ColumnId::Command, 16),
            (120, 7, ColumnId::Why, 19),
            (160, 7, ColumnId::Command, 40),
        ] {
            let placed = fit(width, pid_width, ColumnId::Why);
            let last = placed.iter().find(|one| one.id == id).map(|one| one.width);
            assert!(last.is_some_and(|cells| cells >= least), "{width} {placed:?}");
        }
    }

    #[test]
    fn eighty_cells_show_the_reason() {
        assert_eq!(
            titles(80).join(" "),
            "NAME PID FINDING ELAPSED CPU% MEM REACH WHY"
        );
    }

    #[test]
    fn forty_cells_show_who_what_and_why() {
        assert_eq!(titles(40).join(" "), "NAME PID FINDING WHY");
    }

    #[test]
    fn nothing_overlaps_or_leaves_the_line() {
        for width in 40..200 {
            for pid_width in 5..8 {
                let placed = fit(width, pid_width, ColumnId::Why);
                for pair in placed.windows(2) {
                    assert!(pair[0].x + pair[0].width < pair[1].x, "{width} {placed:?}");
                }
                let last = placed[placed.len() - 1];
                assert!(last.x + last.width <= width, "{width} {placed:?}");
            }
        }
    }
}
