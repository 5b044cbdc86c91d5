//! The panes below the tree.

/// A pane of the selected row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pane {
    /// Finding, facts, what it does and can do.
    #[default]
    Evidence,
    /// Open descriptors with both ends.
    Descriptors,
    /// Connections.
    Sockets,
    /// Process group and session.
    Group,
    /// Time line.
    Elapsed,
    /// The record as it stands.
    Record,
}

impl Pane {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Evidence,
        Self::Descriptors,
        Self::Sockets,
        Self::Group,
        Self::Elapsed,
        Self::Record,
    ];

    /// Returns the title with its number.
    pub fn title(self) -> &'static str {
        match self {
            Self::Evidence => "1 Evidence",
            Self::Descriptors => "2 Descriptors",
            Self::Sockets => "3 Sockets",
            Self::Group => "4 Group",
            Self::Elapsed => "5 Elapsed",
            Self::Record => "6 Record",
        }
    }

    fn step(self, steps: usize) -> Self {
        let at = Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0);
        Self::ALL[(at + steps) % Self::ALL.len()]
    }
}

/// Where the keys go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// To the tree.
    #[default]
    Tree,
    /// To the pane.
    Pane,
    /// To the pane, which has the whole screen.
    FullPane,
}

/// State of the panes.
#[derive(Debug)]
pub struct Panes {
    pane: Pane,
    visible: bool,
    focus: Focus,
    wrap: bool,
    /// Lines scrolled so far, up and down summed: the drawing keeps the place within the text.
    scrolled: i64,
}

impl Default for Panes {
    fn default() -> Self {
        Self {
            pane: Pane::default(),
            visible: true,
            focus: Focus::Tree,
            wrap: true,
            scrolled: 0,
        }
    }
}

impl Panes {
    /// Returns the pane that is shown.
    pub fn shown(&self) -> Option<Pane> {
        self.visible.then_some(self.pane)
    }

    /// Returns where the keys go.
    pub fn focus(&self) -> Focus {
        self.focus
    }

    /// Returns whether long lines are wrapped.
    pub fn wraps(&self) -> bool {
        self.wrap
    }

    /// Returns the sum of all lines scrolled so far.
    pub fn scrolled(&self) -> i64 {
        self.scrolled
    }

    pub(super) fn show(&mut self, pane: Pane) {
        self.pane = pane;
        self.visible = true;
    }

    /// Shows the pane before or behind; a hidden pane is shown as it is first.
    pub(super) fn turn(&mut self, forward: bool) {
        if self.visible {
            self.pane = self.pane.step(if forward { 1 } else { Pane::ALL.len() - 1 });
        }
        self.visible = true;
    }

    pub(super) fn hide(&mut self) {
        self.visible = false;
        self.focus = Focus::Tree;
    }

    /// Moves the keys to the pane, then gives it the screen, then gives the keys back.
    pub(super) fn enter(&mut self) {
        self.visible = true;
        self.focus = match self.focus {
            Focus::Tree => Focus::Pane,
            Focus::Pane => Focus::FullPane,
            Focus::FullPane => Focus::Tree,
        };
    }

    /// One step back; returns whether there was one.
    pub(super) fn leave(&mut self) -> bool {
        let before = self.focus;
        self.focus = match before {
            Focus::FullPane => Focus::Pane,
            Focus::Pane | Focus::Tree => Focus::Tree,
        };
        before != Focus::Tree
    }

    pub(super) fn toggle_wrap(&mut self) {
        self.wrap = !self.wrap;
    }

    pub(super) fn scroll(&mut self, lines: i64) {
        self.scrolled = self.scrolled.saturating_add(lines);
    }
}
