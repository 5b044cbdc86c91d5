//! The table of all commands, by subject.

use super::Section::{Act, Keep, Move, Panes, Program, Tree};
use super::{Availability, Command, CommandSpec, Section, keep};
use crate::app::App;
use crate::app::available;
use crate::app::key::Key;

pub(super) const fn entry(
    command: Command,
    name: &'static str,
    keys: &'static [Key],
    section: Section,
    doc: &'static str,
) -> CommandSpec {
    CommandSpec {
        command,
        name,
        doc,
        keys,
        section,
        footer: None,
        available: available::always,
    }
}

pub(super) const fn with(
    spec: CommandSpec,
    footer: Option<&'static str>,
    available: fn(&App) -> Availability,
) -> CommandSpec {
    CommandSpec {
        footer,
        available,
        ..spec
    }
}

pub(super) static COMMANDS: [CommandSpec; 57] = [
    with(
        entry(
            Command::Up,
            "up",
            &[Key::Up, Key::Char('k')],
            Move,
            "move up; scroll the focused pane",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::Down,
            "down",
            &[Key::Down, Key::Char('j')],
            Move,
            "move down; scroll the focused pane",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::PageUp,
            "page-up",
            &[Key::PageUp],
            Move,
            "move up by a screen",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::PageDown,
            "page-down",
            &[Key::PageDown],
            Move,
            "move down by a screen",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::First,
            "first",
            &[Key::Home, Key::Char('g')],
            Move,
            "move to the first row",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::Last,
            "last",
            &[Key::End, Key::Char('G')],
            Move,
            "move to the last row",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::Fold,
            "fold",
            &[Key::Left, Key::Char('h'), Key::Char('-')],
            Move,
            "fold the row, or move to the row it hangs from",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::Unfold,
            "unfold",
            &[Key::Right, Key::Char('l'), Key::Char('+')],
            Move,
            "unfold the row, or move to its first child",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::FoldAll,
            "fold-all",
            &[Key::Char('*')],
            Move,
            "unfold all rows; where none is folded: fold all",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::NextTrouble,
            "next-problem",
            &[Key::Char(']')],
            Move,
            "move to the next row in trouble",
        ),
        Some("next problem"),
        available::trouble,
    ),
    with(
        entry(
            Command::PreviousTrouble,
            "previous-problem",
            &[Key::Char('[')],
            Move,
            "move to the previous row in trouble",
        ),
        None,
        available::trouble,
    ),
    with(
        entry(
            Command::Filter,
            "filter",
            &[Key::Char('/'), Key::F(4), Key::Char('\\')],
            Tree,
            "filter while typing: text, finding:severed user:root pid:48271 session:ID",
        ),
        Some("filter"),
        available::world,
    ),
    with(
        entry(
            Command::Search,
            "search",
            &[Key::F(3)],
            Tree,
            "search while typing, without hiding anything",
        ),
        None,
        available::world,
    ),
    with(
        entry(
            Command::NextMatch,
            "next-match",
            &[Key::Char('n')],
            Tree,
            "move to the next match of the search",
        ),
        None,
        available::searched,
    ),
    with(
        entry(
            Command::PreviousMatch,
            "previous-match",
            &[Key::Char('N')],
            Tree,
            "move to the previous match",
        ),
        None,
        available::searched,
    ),
    entry(
        Command::Breadth,
        "tree-width",
        &[Key::Char('t'), Key::F(5)],
        Tree,
        "owners with their servers, every ancestor, a flat list",
    ),
    entry(
        Command::AllProcesses,
        "all-processes",
        &[Key::Char('a')],
        Tree,
        "all processes of the machine, or MCP servers only",
    ),
    with(
        entry(
            Command::UserFilter,
            "user",
            &[Key::Char('u')],
            Tree,
            "one user's rows: the next user, then all",
        ),
        None,
        available::world,
    ),
    entry(
        Command::SortPrevious,
        "sort-previous",
        &[Key::Char('<')],
        Tree,
        "sort by the column before",
    ),
    entry(
        Command::SortNext,
        "sort-next",
        &[Key::Char('>'), Key::F(6)],
        Tree,
        "sort by the next column; first: trouble, then start",
    ),
    entry(
        Command::Invert,
        "invert",
        &[Key::Char('I')],
        Tree,
        "invert the order",
    ),
    with(
        entry(
            Command::Follow,
            "follow",
            &[Key::Char('F')],
            Tree,
            "keep the selected row in the middle",
        ),
        None,
        available::selected,
    ),
    with(
        entry(
            Command::Counts,
            "count",
            &[Key::Char('c')],
            Tree,
            "count by client and server, with generations",
        ),
        None,
        available::world,
    ),
    with(
        entry(
            Command::Explain,
            "explain",
            &[Key::Char('e')],
            Tree,
            "explain the row: why it is, or is not, an MCP server",
        ),
        None,
        available::selected_process,
    ),
    entry(
        Command::PaneEvidence,
        "evidence",
        &[Key::Char('1')],
        Panes,
        "finding, facts, what it does and can do",
    ),
    entry(
        Command::PaneDescriptors,
        "descriptors",
        &[Key::Char('2')],
        Panes,
        "open descriptors with both ends, the wire first",
    ),
    entry(
        Command::PaneSockets,
        "sockets",
        &[Key::Char('3')],
        Panes,
        "connections: state, peer, last sent, meaning",
    ),
    entry(
        Command::PaneGroup,
        "group",
        &[Key::Char('4')],
        Panes,
        "process group and session, and whom a group signal would hit",
    ),
    entry(
        Command::PaneElapsed,
        "elapsed",
        &[Key::Char('5')],
        Panes,
        "time line to scale",
    ),
    entry(
        Command::PaneRecord,
        "record-pane",
        &[Key::Char('6')],
        Panes,
        "the record as it stands: fields, leads, notes",
    ),
    entry(
        Command::NextPane,
        "next-pane",
        &[Key::Tab],
        Panes,
        "show the next pane",
    ),
    entry(
        Command::PreviousPane,
        "previous-pane",
        &[Key::BackTab],
        Panes,
        "show the previous pane",
    ),
    with(
        entry(
            Command::HidePane,
            "hide-pane",
            &[Key::Char('0')],
            Panes,
            "hide the pane",
        ),
        None,
        available::pane_shown,
    ),
    entry(
        Command::FocusPane,
        "focus-pane",
        &[Key::Enter],
        Panes,
        "move the keys to the pane; again: give it the whole screen",
    ),
    entry(
        Command::Wrap,
        "wrap",
        &[Key::Char('w')],
        Panes,
        "wrap or cut long lines of the panes",
    ),
    with(
        entry(
            Command::Freeze,
            "freeze",
            &[Key::Char('Z'), Key::Char('f')],
            Keep,
            "hold this sample and save it as a snapshot; again: show the newest",
        ),
        Some("freeze"),
        available::freezes,
    ),
    with(
        entry(
            Command::Incident,
            "incident",
            &[Key::Char('i')],
            Keep,
            "open an incident, a directory with a journal; open already: show its records",
        ),
        None,
        available::shows_incident,
    ),
    with(
        entry(
            Command::Note,
            "note",
            &[Key::Char('m')],
            Keep,
            "write a note on this row; Tab, or m on a row of several: on the incident",
        ),
        Some("note"),
        available::writes,
    ),
    with(
        entry(
            Command::Record,
            "record",
            &[Key::Char('r')],
            Keep,
            "fill the record; mark leads revoked, denied; attach output, run a command",
        ),
        None,
        available::shows_incident,
    ),
    keep::LOOK_AGAIN,
    keep::CLOSE_INCIDENT,
    with(
        entry(
            Command::Copy,
            "copy",
            &[Key::Char('y')],
            Keep,
            "copy marked rows or this row as a Markdown table, or the pane's line; no secrets",
        ),
        Some("copy"),
        available::rows,
    ),
    with(
        entry(
            Command::CopyRecord,
            "copy-record",
            &[Key::Char('Y')],
            Keep,
            "copy the server's record as Markdown",
        ),
        None,
        available::selected,
    ),
    with(
        entry(
            Command::CopyTsv,
            "copy-tsv",
            &[Key::Alt('y')],
            Keep,
            "copy the marked rows or this row as tab-separated values",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::Plain,
            "plain-view",
            &[Key::Char('P')],
            Keep,
            "show the row or the pane as plain text, for the mouse; a key returns",
        ),
        None,
        available::rows,
    ),
    with(
        entry(
            Command::Mark,
            "mark",
            &[Key::Char(' ')],
            Keep,
            "mark this row for commands that take several; again: unmark",
        ),
        None,
        available::selected,
    ),
    with(
        entry(
            Command::UnmarkAll,
            "unmark-all",
            &[Key::Char('U')],
            Keep,
            "take all marks away",
        ),
        None,
        available::marked,
    ),
    with(
        entry(
            Command::Term,
            "term",
            &[Key::Char('T')],
            Act,
            "ask the marked rows, or this one, to end (TERM): a dialog says what follows",
        ),
        Some("TERM"),
        available::signals,
    ),
    with(
        entry(
            Command::Kill,
            "kill",
            &[Key::Char('K')],
            Act,
            "forced containment (KILL), after a TERM was looked at; clean-up is lost",
        ),
        None,
        available::signals,
    ),
    with(
        entry(
            Command::Signal,
            "signal",
            &[Key::F(9)],
            Act,
            "choose between TERM and KILL",
        ),
        None,
        available::signals,
    ),
    with(
        entry(
            Command::Palette,
            "palette",
            &[Key::Char(':')],
            Program,
            "every command by name",
        ),
        Some("commands"),
        available::always,
    ),
    with(
        entry(
            Command::Help,
            "help",
            &[Key::Char('?'), Key::F(1)],
            Program,
            "keys, columns and words",
        ),
        Some("help"),
        available::always,
    ),
    with(
        entry(
            Command::Problems,
            "problems",
            &[Key::Char('!')],
            Program,
            "what could not be read, and why",
        ),
        None,
        available::world,
    ),
    entry(
        Command::Redraw,
        "redraw",
        &[Key::Ctrl('l')],
        Program,
        "draw everything anew",
    ),
    entry(
        Command::Suspend,
        "suspend",
        &[Key::Ctrl('z')],
        Program,
        "suspend; fg resumes",
    ),
    entry(
        Command::Back,
        "back",
        &[Key::Esc],
        Program,
        "one step back; never ends the program",
    ),
    with(
        entry(
            Command::Quit,
            "quit",
            &[Key::Char('q'), Key::F(10), Key::Ctrl('c')],
            Program,
            "end the program",
        ),
        Some("quit"),
        available::always,
    ),
];
