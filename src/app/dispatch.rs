//! Carries out commands.

use super::App;
use super::act;
use super::command::{self, Availability, Command, CommandSpec};
use super::copy::{self, Format};
use super::effect::Effect;
use super::freeze;
use super::keep;
use super::key::Key;
use super::marks;
use super::nav::{Change, Jump, Step};
use super::panes::{Focus, Pane};
use super::popup::{Content, Palette, Popup};
use super::prompt::{Prompt, Purpose};
use crate::model::act::Signal;
use crate::model::instance::Role;
use crate::table::tree::Scope;
use crate::table::{Node, processes};

/// More lines than any pane has.
const FAR: i64 = 1_000_000;

/// Runs the command of a key of the screen.
pub(super) fn key(app: &mut App, key: Key) -> Vec<Effect> {
    if let Some(spec) = command::of_key(key) {
        return ask(app, spec);
    }
    if let Some((_, what)) = command::LATER.iter().find(|(later, _)| *later == key) {
        app.say(format!("{}: {what}: not in this version", key.label()));
    }
    Vec::new()
}

/// Runs a command if it would do something, else says why not.
pub(super) fn ask(app: &mut App, spec: &CommandSpec) -> Vec<Effect> {
    match (spec.available)(app) {
        Availability::Yes => run(app, spec.command),
        Availability::No(reason) => {
            app.say(format!("{}: {reason}", spec.name));
            Vec::new()
        }
        Availability::Hidden => Vec::new(),
    }
}

fn run(app: &mut App, command: Command) -> Vec<Effect> {
    match command {
        Command::Up
        | Command::Down
        | Command::PageUp
        | Command::PageDown
        | Command::First
        | Command::Last => go(app, command),
        Command::Fold | Command::Unfold | Command::FoldAll => fold(app, command),
        Command::NextTrouble => jump(app, true, &Wanted::Trouble),
        Command::PreviousTrouble => jump(app, false, &Wanted::Trouble),
        Command::NextMatch => jump(app, true, &Wanted::Match),
        Command::PreviousMatch => jump(app, false, &Wanted::Match),
        Command::NextPane
        | Command::PreviousPane
        | Command::PaneEvidence
        | Command::PaneDescriptors
        | Command::PaneSockets
        | Command::PaneGroup
        | Command::PaneElapsed
        | Command::PaneRecord
        | Command::HidePane
        | Command::FocusPane
        | Command::Wrap => panes(app, command),
        Command::Filter | Command::Search => prompt(app, command),
        Command::Breadth
        | Command::AllProcesses
        | Command::UserFilter
        | Command::SortNext
        | Command::SortPrevious
        | Command::Invert => plan(app, command),
        Command::Follow => follow(app),
        Command::Counts => app.popup = Some(Popup::new(Content::Counts)),
        Command::Problems => app.popup = Some(Popup::new(Content::Problems)),
        Command::Help => app.popup = Some(Popup::new(Content::Help)),
        Command::Palette => app.popup = Some(Popup::new(Content::Palette(Palette::default()))),
        Command::Explain => explain(app),
        Command::Back => back(app),
        Command::Freeze => return freeze::toggle(app),
        Command::Incident => return keep::open(app),
        Command::Note => return keep::note(app),
        Command::LookAgain => return keep::look_again(app),
        Command::CloseIncident => keep::ask_close(app),
        Command::Record => return keep::record(app),
        Command::Copy => return copy::rows(app, Format::Markdown),
        Command::CopyRecord => return copy::record(app),
        Command::CopyTsv => return copy::rows(app, Format::Tsv),
        Command::Plain => return copy::plain(app),
        Command::Term => return act::open(app, Some(Signal::Term)),
        Command::Kill => return act::open(app, Some(Signal::Kill)),
        Command::Signal => return act::open(app, None),
        Command::Mark => marks::toggle(app),
        Command::UnmarkAll => marks::clear(app),
        Command::Redraw => return vec![Effect::Redraw],
        Command::Suspend => return vec![Effect::Suspend],
        Command::Quit => return keep::quit(app),
    }
    Vec::new()
}

fn go(app: &mut App, command: Command) {
    let layout = app.layout();
    let in_pane = app.panes.focus() != Focus::Tree;
    let lines = if in_pane {
        layout.pane.saturating_sub(2)
    } else {
        layout.tree.saturating_sub(1)
    };
    let page = isize::try_from(lines.max(1)).unwrap_or(1);
    let step = match command {
        Command::Up => Step::By(-1),
        Command::PageUp => Step::By(-page),
        Command::PageDown => Step::By(page),
        Command::First => Step::First,
        Command::Last => Step::Last,
        _ => Step::By(1),
    };
    if !in_pane {
        app.nav.step(step);
        app.remember();
        return;
    }
    app.panes.scroll(match step {
        Step::By(lines) => i64::try_from(lines).unwrap_or(0),
        Step::First => -FAR,
        Step::Last => FAR,
    });
}

fn fold(app: &mut App, command: Command) {
    match command {
        Command::Fold => {
            app.nav.fold();
        }
        Command::Unfold => {
            app.nav.unfold();
        }
        _ => app.nav.fold_all(),
    }
    app.settle(Change::View);
}

/// What a jump looks for.
enum Wanted {
    Trouble,
    Match,
}

fn jump(app: &mut App, forward: bool, wanted: &Wanted) {
    let Some((nav, shown, filter, search)) = app.parts() else {
        return;
    };
    let (outcome, what) = match wanted {
        Wanted::Trouble => (
            nav.jump(shown, filter, forward, Node::is_trouble),
            "row in trouble".to_owned(),
        ),
        Wanted::Match => (
            nav.jump(shown, filter, forward, |node| search.query().finds(shown, node)),
            format!("match of \"{}\"", search.text()),
        ),
    };
    match outcome {
        Jump::Moved => {}
        Jump::Wrapped if forward => app.say(format!("{what}: past the end, from the top again")),
        Jump::Wrapped => app.say(format!("{what}: past the top, from the end again")),
        Jump::Only => app.say(format!("no other {what}")),
        Jump::Nothing => app.say(format!("no {what}")),
    }
    app.settle(Change::View);
}

fn panes(app: &mut App, command: Command) {
    match command {
        Command::NextPane => app.panes.turn(true),
        Command::PreviousPane => app.panes.turn(false),
        Command::PaneDescriptors => app.panes.show(Pane::Descriptors),
        Command::PaneSockets => app.panes.show(Pane::Sockets),
        Command::PaneGroup => app.panes.show(Pane::Group),
        Command::PaneElapsed => app.panes.show(Pane::Elapsed),
        Command::PaneRecord => app.panes.show(Pane::Record),
        Command::HidePane => app.panes.hide(),
        Command::FocusPane => app.panes.enter(),
        Command::Wrap => {
            app.panes.toggle_wrap();
            let now = if app.panes.wraps() { "wrapped" } else { "cut" };
            app.say(format!("long lines of the panes are {now}"));
        }
        _ => app.panes.show(Pane::Evidence),
    }
    if app.panes.focus() == Focus::Tree
        && let Some(pane) = app.panes.shown()
        && app.layout().pane == 0
    {
        // Short enough for the narrowest screen.
        app.say(format!("Enter: {} (screen too low)", pane.title()));
    }
}

fn prompt(app: &mut App, command: Command) {
    app.prompt = Some(if command == Command::Search {
        let origin = app.nav.selected().cloned();
        Prompt {
            purpose: Purpose::Search { origin },
            input: String::new().into(),
        }
    } else {
        let before = app.filter.text().to_owned();
        Prompt {
            purpose: Purpose::Filter {
                before: before.clone(),
            },
            input: before.into(),
        }
    });
}

fn plan(app: &mut App, command: Command) {
    let plan = &mut app.nav.plan;
    match command {
        Command::Breadth => plan.breadth = plan.breadth.next(),
        Command::AllProcesses => {
            plan.scope = match plan.scope {
                Scope::Servers => Scope::Everything,
                Scope::Everything => Scope::Servers,
            };
        }
        Command::SortNext => plan.sort = plan.sort.step(true),
        Command::SortPrevious => plan.sort = plan.sort.step(false),
        Command::Invert => plan.sort.inverted = !plan.sort.inverted,
        _ => next_user(app),
    }
    app.rebuild(Change::View);
}

/// The users that have rows, in order, and behind the last all of them again.
fn next_user(app: &mut App) {
    let Some(world) = app.world() else { return };
    let everything = app.nav.plan.scope == Scope::Everything;
    let mut users: Vec<String> = world
        .sample
        .processes
        .values()
        .filter(|process| {
            let parts = world.judged.roles.get(&process.key).into_iter().flatten();
            everything || parts.into_iter().any(|part| part.role != Role::Client)
        })
        .filter_map(|process| processes::user(process))
        .collect();
    users.sort();
    users.dedup();
    let next = match &app.nav.plan.user {
        None => users.into_iter().next(),
        Some(user) => users.into_iter().find(|one| one > user),
    };
    app.nav.plan.user = next;
}

fn follow(app: &mut App) {
    app.nav.follow = !app.nav.follow;
    let label = app.label();
    app.say(if app.nav.follow {
        format!("following {label}: it stays in the middle")
    } else {
        format!("{label} is not followed any more")
    });
}

fn explain(app: &mut App) {
    let world = app.selected().map(|(shown, _)| shown.world);
    let (Some(key), Some(world)) = (app.selected_process(), world) else {
        return;
    };
    let explanation = app.options().explainer.explain(world, key);
    let at = world.sample.taken_at;
    let label = app.label();
    app.popup = Some(Popup::new(Content::Explain {
        label,
        at,
        explanation,
    }));
}

/// One step back: full screen, focus, search, filter. Never ends the program.
fn back(app: &mut App) {
    if app.panes.leave() {
        return;
    }
    if app.search.is_set() {
        app.search.set("");
    } else if !app.filter.text().is_empty() {
        app.filter.set("");
        app.nav.keep_in_sight();
        app.settle(Change::View);
    } else {
        app.say("nothing to go back from; q ends the program".to_owned());
    }
}
