//! Every command of the screen, declared once: dispatch, footer, help, palette, README and manual
//! page are made from this table.

use super::App;
use super::available;
use super::key::Key;

/// What a key or the palette can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Moves up.
    Up,
    /// Moves down.
    Down,
    /// Moves up by a screen.
    PageUp,
    /// Moves down by a screen.
    PageDown,
    /// Moves to the first row.
    First,
    /// Moves to the last row.
    Last,
    /// Folds the row, or moves to the row above it in the tree.
    Fold,
    /// Unfolds the row, or moves to its first child.
    Unfold,
    /// Unfolds everything, or folds everything.
    FoldAll,
    /// Moves to the next row in trouble.
    NextTrouble,
    /// Moves to the previous row in trouble.
    PreviousTrouble,
    /// Shows the next pane.
    NextPane,
    /// Shows the previous pane.
    PreviousPane,
    /// Shows pane 1.
    PaneEvidence,
    /// Shows pane 2.
    PaneDescriptors,
    /// Shows pane 3.
    PaneSockets,
    /// Shows pane 4.
    PaneGroup,
    /// Shows pane 5.
    PaneElapsed,
    /// Hides the pane.
    HidePane,
    /// Moves the keys to the pane, then gives it the whole screen.
    FocusPane,
    /// Filters the tree.
    Filter,
    /// Searches the tree.
    Search,
    /// Moves to the next match.
    NextMatch,
    /// Moves to the previous match.
    PreviousMatch,
    /// Changes what the tree is made of.
    Breadth,
    /// Sorts by the next column.
    SortNext,
    /// Sorts by the previous column.
    SortPrevious,
    /// Inverts the order.
    Invert,
    /// Shows all processes.
    AllProcesses,
    /// Shows one user's rows.
    UserFilter,
    /// Counts by client and server.
    Counts,
    /// Keeps the selected row in sight.
    Follow,
    /// Wraps long lines of the panes.
    Wrap,
    /// Explains the row.
    Explain,
    /// Lists what could not be read.
    Problems,
    /// Opens the palette.
    Palette,
    /// Opens the help.
    Help,
    /// Draws everything anew.
    Redraw,
    /// Suspends the program.
    Suspend,
    /// Goes one step back.
    Back,
    /// Ends the program.
    Quit,
}

/// Subject of a command, for the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Moving and folding.
    Move,
    /// What the tree shows.
    Tree,
    /// Panes.
    Panes,
    /// The rest.
    Program,
}

impl Section {
    /// All, in the order of the help.
    pub const ALL: [Self; 4] = [Self::Move, Self::Tree, Self::Panes, Self::Program];

    /// Returns the heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Move => "Move and fold",
            Self::Tree => "What the tree shows",
            Self::Panes => "Panes of the selected row",
            Self::Program => "Program",
        }
    }
}

/// Whether a command would do something here and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It would.
    Yes,
    /// It would not: why.
    No(&'static str),
    /// It has no meaning here; not shown, and says nothing.
    Hidden,
}

/// One command.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec {
    /// What it is.
    pub command: Command,
    /// Its name in the palette: words with hyphens.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Its keys, the usual one first.
    pub keys: &'static [Key],
    /// Its subject.
    pub section: Section,
    /// Word or two for the footer; `None`: not in the footer.
    pub footer: Option<&'static str>,
    /// Whether it would do something now.
    pub available: fn(&App) -> Availability,
}

impl CommandSpec {
    /// Returns the keys as the help writes them.
    pub fn keys_label(&self) -> String {
        self.keys
            .iter()
            .map(|key| key.label())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Returns every command, in the order of help, README and manual page.
pub fn commands() -> &'static [CommandSpec] {
    &COMMANDS
}

/// Returns the command that a key runs while no prompt or popup has the keys.
pub fn of_key(key: Key) -> Option<&'static CommandSpec> {
    COMMANDS.iter().find(|spec| spec.keys.contains(&key))
}

/// Returns the entry of a command.
pub fn of(command: Command) -> Option<&'static CommandSpec> {
    COMMANDS.iter().find(|spec| spec.command == command)
}

/// Keys of later versions, and what they will do: one line says so, nothing else happens.
pub(super) const LATER: &[(Key, &str)] = &[
    (Key::Char('Z'), "freezing and saving"),
    (Key::Char('f'), "freezing and saving"),
    (Key::Char('i'), "incidents"),
    (Key::Char('m'), "notes"),
    (Key::Char('r'), "the record"),
    (Key::Char('y'), "copying"),
    (Key::Char('Y'), "copying"),
    (Key::Char(' '), "marking"),
    (Key::Char('U'), "marking"),
    (Key::Char('T'), "sending signals"),
    (Key::Char('K'), "sending signals"),
    (Key::F(9), "sending signals"),
    (Key::Char('6'), "the record"),
    (Key::Char('7'), "the calls"),
];

const fn entry(
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

const fn with(
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

use Section::{Move, Panes, Program, Tree};

static COMMANDS: [CommandSpec; 41] = [
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
            "unfold everything; again: fold everything",
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
        Some("explain"),
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

/// The footer, from the left, with the importance of each: the least important goes first where
/// the screen is narrow.
pub(crate) const FOOTER: [(Command, u8); 6] = [
    (Command::Help, 10),
    (Command::Palette, 7),
    (Command::NextTrouble, 8),
    (Command::Filter, 6),
    (Command::Explain, 5),
    (Command::Quit, 9),
];
