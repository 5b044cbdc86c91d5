//! Every command of the screen, declared once: dispatch, footer, help, palette, README and manual
//! page are made from this table.

mod keep;
mod table;

use super::App;
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
    /// Shows pane 6.
    PaneRecord,
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
    /// Freezes and saves, or thaws.
    Freeze,
    /// Opens an incident, or shows the one that is open.
    Incident,
    /// Writes a note.
    Note,
    /// Opens the record of the instance.
    Record,
    /// Copies rows.
    Copy,
    /// Copies the record of a server.
    CopyRecord,
    /// Copies rows as tab-separated values.
    CopyTsv,
    /// Shows a row or a pane as plain text.
    Plain,
    /// Looks again at signals without an outcome.
    LookAgain,
    /// Closes the incident.
    CloseIncident,
    /// Marks the row, or takes its mark away.
    Mark,
    /// Takes all marks away.
    UnmarkAll,
    /// Opens the palette.
    Palette,
    /// Opens the help.
    Help,
    /// Draws everything anew.
    Redraw,
    /// Suspends the program.
    Suspend,
    /// Opens the dialog for TERM.
    Term,
    /// Opens the dialog for KILL.
    Kill,
    /// Opens the dialog, and asks which signal.
    Signal,
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
    /// Holding and keeping what was seen.
    Keep,
    /// Signals.
    Act,
    /// The rest.
    Program,
}

impl Section {
    /// All, in the order of the help.
    pub const ALL: [Self; 6] = [
        Self::Move,
        Self::Tree,
        Self::Panes,
        Self::Keep,
        Self::Act,
        Self::Program,
    ];

    /// Returns the heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Move => "Move and fold",
            Self::Tree => "What the tree shows",
            Self::Panes => "Panes of the selected row",
            Self::Keep => "Keep what was seen",
            Self::Act => "Signal what is left over",
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
    &table::COMMANDS
}

/// Returns the command that a key runs while no prompt or popup has the keys.
pub fn of_key(key: Key) -> Option<&'static CommandSpec> {
    commands().iter().find(|spec| spec.keys.contains(&key))
}

/// Returns the entry of a command.
pub fn of(command: Command) -> Option<&'static CommandSpec> {
    commands().iter().find(|spec| spec.command == command)
}

/// Keys of later versions, and what they will do: one line says so, nothing else happens.
pub(super) const LATER: &[(Key, &str)] = &[(Key::Char('7'), "the calls")];

/// The footer, from the left, with the importance of each: the least important goes first where
/// the screen is narrow.
pub(crate) const FOOTER: [(Command, u8); 8] = [
    (Command::Help, 10),
    (Command::Palette, 6),
    (Command::NextTrouble, 8),
    (Command::Filter, 5),
    (Command::Freeze, 7),
    (Command::Note, 4),
    (Command::Copy, 3),
    (Command::Quit, 9),
];
