//! Copies for the ticket: rows as one table, the record of a server. Secrets removed, control
//! characters escaped, no hash and no id shortened; each says what it is a copy of.

mod table;
#[cfg(test)]
mod tests;

use super::App;
use super::effect::{Copy, Effect, Excerpt, Order, Use};
use super::freeze::Saved;
use super::panes::Focus;
use crate::journal::markdown::{self, Origin};
use crate::table::{Index, Node, RowId, Shown};

/// How rows are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table of GitHub-flavoured Markdown.
    Markdown,
    /// Values with tabs between them, for a spreadsheet.
    Tsv,
}

impl Format {
    /// Returns the ending of a file of this format.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Tsv => "tsv",
        }
    }

    /// Returns what is said of a copy in this format, behind what was copied.
    fn words(self) -> &'static str {
        match self {
            Self::Markdown => "",
            Self::Tsv => ", tab-separated",
        }
    }
}

/// Copies the marked rows, else the current line of the pane that has the keys, else the selected row.
pub(super) fn rows(app: &mut App, format: Format) -> Vec<Effect> {
    if app.marks.is_empty() && app.panes.focus() != Focus::Tree {
        return vec![Effect::Excerpt(Excerpt::Line, Use::Copy)];
    }
    let Some((text, what)) = of_rows(app, |shown, nodes, source| {
        table::text(shown, nodes, format, source)
    }) else {
        return Vec::new();
    };
    order(app, text, format.ending(), format!("{what}{}", format.words()))
}

/// Shows the pane that has the keys plain, else the marked rows, else the selected one.
pub(super) fn plain(app: &mut App) -> Vec<Effect> {
    if app.panes.focus() != Focus::Tree {
        return vec![Effect::Excerpt(Excerpt::Pane, Use::Plain)];
    }
    let text = of_rows(app, table::plain);
    text.map(|(text, _)| Effect::Plain(text)).into_iter().collect()
}

/// Copies or shows what the drawing has answered.
pub(super) fn excerpt(app: &mut App, what_for: Use, text: Option<String>) -> Vec<Effect> {
    let Some(text) = text else {
        app.say("no pane is shown".to_owned());
        return Vec::new();
    };
    let text = without_secrets(app, text);
    match what_for {
        Use::Plain => vec![Effect::Plain(text)],
        Use::Copy => {
            let what = format!("a line on {}", app.label());
            order(app, text, "txt", what)
        }
    }
}

/// Removes secrets where the screen shows them; what has lost them already is not read as a command line a
/// second time.
fn without_secrets(app: &App, text: String) -> String {
    let redactor = &app.options.keep_redactor;
    if std::sync::Arc::ptr_eq(&app.options.redactor, redactor) {
        return text;
    }
    let lines: Vec<String> = text.lines().map(|line| redactor.line(line)).collect();
    lines.join("\n")
}

/// Makes text of the marked rows, else of the selected one, and says what it is of.
fn of_rows(app: &mut App, make: impl Fn(Shown<'_>, &[&Node], &Source) -> String) -> Option<(String, String)> {
    let marked = app.marked_nodes();
    let marked_none = marked.is_empty();
    let nodes: Vec<&Node> = if marked_none {
        app.nav.node().into_iter().collect()
    } else {
        marked
    };
    let one_each = |node: &&Node| matches!(node.id, RowId::Instance(_) | RowId::Process(_));
    if nodes.is_empty() || !nodes.iter().all(one_each) {
        app.say("this row counts several: select one below it, or mark some with Space".to_owned());
        return None;
    }
    let world = match app.nav.ghost() {
        // As it was seen last.
        Some(ghost) if marked_none => ghost.shown().world,
        _ => app.world()?,
    };
    // Whatever the screen shows, a copy holds no secret.
    let mut index = Index::empty(std::sync::Arc::clone(&app.options.keep_redactor));
    index.renew(world);
    let shown = Shown { world, index: &index };
    let text = make(shown, &nodes, &source(app));
    let what = match &nodes[..] {
        [_] => app.label(),
        many => format!("{} rows", many.len()),
    };
    Some((text, what))
}

/// Copies the record of the instance that the row is, or is a member of.
pub(super) fn record(app: &mut App) -> Vec<Effect> {
    let id = app.nav.node().and_then(|node| node.instance);
    let Some(record) = id.and_then(|id| app.record(id)) else {
        app.say("the record is one server's: select its row".to_owned());
        return Vec::new();
    };
    let Source {
        title,
        host,
        path,
        head,
        ..
    } = source(app);
    let origin = Origin {
        title: &title,
        host: &host,
        path: &path,
        head,
    };
    let text = markdown::record(&record, &origin);
    let what = format!("the record of {} {}", record.instance.name, record.instance.pid());
    let mut effects = super::keep::tally(app);
    effects.extend(order(app, text, Format::Markdown.ending(), what));
    effects
}

fn order(app: &mut App, text: String, ending: &'static str, what: String) -> Vec<Effect> {
    let Some(world) = app.feed.shown().cloned() else {
        return Vec::new();
    };
    let job = app.next_job();
    let copy = Copy {
        text,
        ending,
        what,
        on: world,
    };
    vec![Effect::Desk(job, Order::Copy(Box::new(copy)))]
}

/// What a copy is a copy of.
struct Source {
    title: String,
    host: String,
    path: String,
    head: Option<crate::journal::Head>,
    taken_at: String,
    /// Digest of the snapshot that the copied sample is saved in.
    sha256: Option<String>,
    /// Where a saved sample comes from.
    origin: Option<String>,
}

fn source(app: &App) -> Source {
    let incident = app.keep.incident();
    let world = app.world();
    let held = match app.feed.frozen().map(super::freeze::Frozen::saved) {
        Some(Saved::File(file)) => Some(file.sha256),
        _ => None,
    };
    let taken_at = world.map(|world| world.sample.taken_at);
    let journalled = incident.and_then(|one| {
        let snapshots = &one.story().snapshots;
        let taken = snapshots.iter().rfind(|taken| Some(taken.taken_at) == taken_at)?;
        Some(taken.file.sha256)
    });
    Source {
        title: match (incident, app.keep.opening()) {
            (Some(one), _) => one.title().to_owned(),
            (None, Some("")) => "an incident that is being opened".to_owned(),
            (None, Some(title)) => format!("{title} (being opened)"),
            (None, None) => "no incident".to_owned(),
        },
        host: world.map_or_else(String::new, |world| {
            world.sample.host.hostname.lossy().into_owned()
        }),
        path: incident.map_or_else(String::new, |one| one.path().to_owned()),
        head: incident.and_then(super::keep::Incident::head),
        taken_at: taken_at.map_or_else(String::new, crate::model::time::UnixMillis::rfc3339),
        sha256: held.or(journalled).map(|digest| digest.to_string()),
        origin: app.options.origin.clone(),
    }
}
