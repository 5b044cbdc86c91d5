//! When a command would do something.

use super::App;
use super::command::Availability;

fn when(holds: bool, reason: &'static str) -> Availability {
    if holds {
        Availability::Yes
    } else {
        Availability::No(reason)
    }
}

/// Always.
pub(super) fn always(_: &App) -> Availability {
    Availability::Yes
}

/// There is a sample.
pub(super) fn world(app: &App) -> Availability {
    when(app.world().is_some(), "the first sample is not there yet")
}

/// There is a sample of this machine.
pub(super) fn freezes(app: &App) -> Availability {
    if app.options.origin.is_some() {
        return Availability::No("a saved sample is held as it is");
    }
    world(app)
}

/// There are rows.
pub(super) fn rows(app: &App) -> Availability {
    when(!app.nav.rows().is_empty(), "there is no row")
}

/// A row is selected.
pub(super) fn selected(app: &App) -> Availability {
    when(app.nav.selected().is_some(), "no row is selected")
}

/// The selected row stands for a process.
pub(super) fn selected_process(app: &App) -> Availability {
    when(app.selected_process().is_some(), "select the row of a process")
}

/// Some row is in trouble.
pub(super) fn trouble(app: &App) -> Availability {
    when(app.nav.tree().any_trouble(), "no row is in trouble")
}

/// Something was searched.
pub(super) fn searched(app: &App) -> Availability {
    when(app.search.is_set(), "search first: F3")
}

/// A pane is shown.
pub(super) fn pane_shown(app: &App) -> Availability {
    when(app.panes.shown().is_some(), "no pane is shown")
}

/// There is a sample, and files may be written.
pub(super) fn writes(app: &App) -> Availability {
    if app.options.read_only {
        return Availability::No("read-only: nothing is written");
    }
    world(app)
}

/// An incident is open, or may be opened: its records can be looked at also where nothing is written.
pub(super) fn shows_incident(app: &App) -> Availability {
    if app.keep.incident().is_some() {
        return world(app);
    }
    writes(app)
}

/// An incident is open, and files may be written.
pub(super) fn incident(app: &App) -> Availability {
    match writes(app) {
        Availability::Yes => when(app.keep.incident().is_some(), "no incident is open"),
        no => no,
    }
}

/// There is a row of this machine, and signals may be sent.
pub(super) fn signals(app: &App) -> Availability {
    if app.options.origin.is_some() {
        return Availability::No("a saved sample: its processes are not signalled from here");
    }
    if app.options.read_only {
        return Availability::No("read-only: nothing is signalled");
    }
    if app.nav.ghost().is_some() && app.marks.is_empty() {
        return Availability::No("this row is gone: select another");
    }
    rows(app)
}

/// Rows are marked.
pub(super) fn marked(app: &App) -> Availability {
    when(!app.marks.is_empty(), "no row is marked")
}
