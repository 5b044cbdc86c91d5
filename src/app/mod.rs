//! State of the screen and what a key does to it: pure, no I/O.

pub mod act;
mod available;
pub mod command;
pub mod copy;
mod dispatch;
pub mod effect;
pub mod event;
pub mod filter;
pub mod freeze;
pub mod keep;
pub mod key;
pub mod layout;
mod marks;
pub mod nav;
pub mod options;
pub mod panes;
pub mod popup;
pub mod prompt;
#[cfg(test)]
pub(crate) mod testkit;
#[cfg(test)]
mod tests;
mod typing;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::identity::ProcessKey;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::table::tree::Scope;
use crate::table::{Breadth, Index, Node, Query, RowId, Shown, Sort, cells};
use crate::text::width::{Glyphs, columns, truncate_middle};

pub use effect::{
    Attach, Copy, Demand, Effect, Excerpt, Followed, JobId, Material, Offer, Opened, Order, Outcome, Run,
    Signalling, Use,
};
pub use event::Event;
pub use freeze::Feed;
pub use key::Key;
pub use options::{Colour, Explainer, Options};

use act::Act;
use filter::{Filter, Search};
use keep::Keep;
use layout::Layout;
use nav::{Before, Change, Nav};
use panes::Panes;
use popup::Popup;
use prompt::Prompt;

/// State of the screen.
#[derive(Debug)]
pub struct App {
    options: Options,
    feed: Feed,
    /// Look-ups of the world that is shown.
    index: Index,
    delivery: Delivery,
    /// Number of the last order to the desk.
    jobs: u64,
    now: UnixMillis,
    size: (u16, u16),
    nav: Nav,
    /// The world of which the tree was built.
    laid_out: Option<Arc<World>>,
    filter: Filter,
    search: Search,
    prompt: Option<Prompt>,
    panes: Panes,
    keep: Keep,
    act: Act,
    /// Rows that were marked by hand.
    marks: BTreeSet<RowId>,
    popup: Option<Popup>,
    status: Option<String>,
    /// What the last sample did to the selection, until a key is pressed that acts on the rows.
    moved: Option<String>,
    demanded: Option<ProcessKey>,
    /// Keys that came in one read of the terminal.
    burst: Burst,
}

/// Keys that came in one read of the terminal.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    /// How many are still to be handled.
    due: usize,
    /// How many were handled before this one.
    before: usize,
}

impl Burst {
    /// Goes on to the next key.
    fn next(&mut self) {
        self.due = self.due.saturating_sub(1);
        self.before = if self.due == 0 { 0 } else { self.before + 1 };
    }
}

/// How the collector delivers.
#[derive(Debug)]
struct Delivery {
    /// When the first sample of this run was taken: nothing is known of the time before.
    since: Option<UnixMillis>,
    /// Why there is no newer sample.
    problem: Option<String>,
    pace: Pace,
}

/// The collector's pace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Milliseconds between two samples.
    pub refresh_ms: u64,
    /// Why it is not the pace that was asked for.
    pub because: Option<String>,
}

impl App {
    /// Returns the state before the first sample.
    pub fn new(options: Options) -> Self {
        let index = Index::empty(Arc::clone(&options.redactor));
        let delivery = Delivery {
            since: None,
            problem: None,
            pace: Pace {
                refresh_ms: options.refresh_ms,
                because: None,
            },
        };
        Self {
            options,
            feed: Feed::Waiting,
            index,
            delivery,
            jobs: 0,
            now: UnixMillis(0),
            size: (80, 24),
            nav: Nav::default(),
            laid_out: None,
            filter: Filter::default(),
            search: Search::default(),
            prompt: None,
            panes: Panes::default(),
            keep: Keep::default(),
            act: Act::default(),
            marks: BTreeSet::new(),
            popup: None,
            status: None,
            moved: None,
            demanded: None,
            burst: Burst::default(),
        }
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the world that is shown.
    pub fn world(&self) -> Option<&World> {
        self.feed.shown().map(Arc::as_ref)
    }

    /// Returns where the shown world comes from.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Returns the world that is shown with its index.
    pub fn shown(&self) -> Option<Shown<'_>> {
        Some(Shown {
            world: self.feed.shown()?,
            index: &self.index,
        })
    }

    /// Returns when the first sample of this run was taken.
    pub fn since(&self) -> Option<UnixMillis> {
        self.delivery.since
    }

    /// Returns why there is no newer sample.
    pub fn problem(&self) -> Option<&str> {
        self.delivery.problem.as_deref()
    }

    /// Returns the collector's pace.
    pub fn pace(&self) -> &Pace {
        &self.delivery.pace
    }

    /// Returns the wall clock.
    pub fn now(&self) -> UnixMillis {
        self.now
    }

    /// Returns columns and lines of the terminal.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Returns the tree.
    pub fn nav(&self) -> &Nav {
        &self.nav
    }

    /// Returns the filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Returns the search.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Returns the prompt that is open.
    pub fn prompt(&self) -> Option<&Prompt> {
        self.prompt.as_ref()
    }

    /// Returns the panes.
    pub fn panes(&self) -> &Panes {
        &self.panes
    }

    /// Returns what is kept: the incident, and what is not on the disk.
    pub fn keep(&self) -> &Keep {
        &self.keep
    }

    /// Returns the marked rows.
    pub fn marks(&self) -> &BTreeSet<RowId> {
        &self.marks
    }

    /// Returns the nodes of the marked rows, in the order of the tree.
    pub fn marked_nodes(&self) -> Vec<&Node> {
        let tree = self.nav.tree();
        (0..tree.len())
            .filter_map(|at| tree.node(at))
            .filter(|node| self.marks.contains(&node.id))
            .collect()
    }

    /// Returns the popup that is open.
    pub fn popup(&self) -> Option<&Popup> {
        self.popup.as_ref()
    }

    /// Returns the answer to the last key, or what the last sample took away.
    pub fn status(&self) -> Option<&str> {
        self.status.as_deref()
    }

    /// Returns the process that the selected row stands for.
    pub fn selected_process(&self) -> Option<ProcessKey> {
        let (shown, node) = self.selected()?;
        cells::process_of(shown, node)
    }

    /// Returns the selected row with the world that shows it: of what is gone, the last that did.
    pub fn selected(&self) -> Option<(Shown<'_>, &Node)> {
        let node = self.nav.node()?;
        match self.nav.ghost() {
            Some(ghost) => Some((ghost.shown(), node)),
            None => Some((self.shown()?, node)),
        }
    }

    /// Returns whether the tree is shown other than usual: filtered, sorted, widened.
    pub fn has_mode(&self) -> bool {
        let plan = self.nav.plan();
        !self.filter.text().is_empty()
            || self.search.is_set()
            || plan.user.is_some()
            || plan.sort != Sort::default()
            || plan.scope != Scope::default()
            || plan.breadth != Breadth::default()
            || self.nav.follows()
            || self.delivery.problem.is_some()
            || !self.keep.faults().is_empty()
            || self.feed.not_saved().is_some()
            || self.keep.offer().is_some()
    }

    /// Returns how the lines of the screen are shared out.
    pub fn layout(&self) -> Layout {
        Layout::new(self.size.1, self.nav.rows().len(), &self.panes, self.has_mode())
    }

    fn say(&mut self, text: String) {
        self.status = Some(text);
    }

    /// Says something that ends in a path: its middle goes where the screen is narrow, its end stays.
    fn say_place(&mut self, before: &str, path: &str) {
        let room = usize::from(self.size.0)
            .saturating_sub(columns(before) + 2)
            .max(16);
        let path = truncate_middle(path, room, Glyphs::default()).into_owned();
        self.say(format!("{before}{path}"));
    }

    fn label(&self) -> String {
        self.selected().map_or_else(String::new, |(shown, node)| {
            cells::label(shown, node).into_string()
        })
    }

    /// Returns what is wrong with the filter that is being typed.
    pub fn filter_complaint(&self) -> Option<String> {
        let prompt = self.prompt.as_ref().filter(|prompt| prompt.is_filter())?;
        Query::complaint(prompt.text())
    }

    /// Lends the tree for changing, with what it is built from.
    fn parts(&mut self) -> Option<(&mut Nav, Shown<'_>, &Query, &Search)> {
        let shown = Shown {
            world: self.feed.shown()?,
            index: &self.index,
        };
        Some((&mut self.nav, shown, self.filter.query(), &self.search))
    }

    fn remember(&mut self) {
        if let Some((nav, shown, ..)) = self.parts() {
            nav.remember(shown);
        }
    }

    /// Lays out the rows anew.
    fn settle(&mut self, change: Change) {
        let Some((nav, shown, query, _)) = self.parts() else {
            return;
        };
        if let Some(said) = nav.settle(shown, query, change) {
            self.moved = Some(said.clone());
            self.say(said);
        }
    }

    /// Builds the tree and lays out the rows anew.
    fn rebuild(&mut self, change: Change) {
        let Some(world) = self.feed.shown().map(Arc::clone) else {
            return;
        };
        let redactor = Arc::clone(&self.options.redactor);
        let before = self.laid_out.replace(world);
        // A sample that shows it dead says little of it.
        let (alive, gone) = match self.nav.selected() {
            Some(RowId::Instance(id)) => (self.world_of(*id).map(Arc::clone), self.gone_since(*id)),
            _ => (None, None),
        };
        let before = alive.or(before).map(|world| Before {
            world,
            redactor,
            gone,
        });
        let Some((nav, shown, ..)) = self.parts() else {
            return;
        };
        let said = nav.rebuild(shown, change, before);
        self.settle(change);
        if let Some(said) = said {
            self.moved = Some(said.clone());
            self.say(said);
        }
    }

    fn take(&mut self, world: &Arc<World>) -> Vec<Effect> {
        let first = self.delivery.since.is_none();
        self.delivery.since.get_or_insert(world.sample.taken_at);
        self.delivery.problem = None;
        self.now = self.now.max(world.sample.taken_at);
        let mut effects = keep::look_back(self, world);
        effects.extend(keep::count(self, world));
        effects.extend(keep::look_at_clock(self, world));
        effects.extend(freeze::take(self, Arc::clone(world)));
        effects.extend(act::world(self, world));
        if first {
            effects.extend(keep::find_open(self));
        }
        effects
    }

    /// Returns a number for the next order to the desk.
    fn next_job(&mut self) -> JobId {
        self.jobs += 1;
        JobId(self.jobs)
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        // Behind a popup nobody reads that the selection has moved: it is still said when the popup goes.
        if self.popup.is_none() && self.prompt.is_none() {
            self.moved = None;
        }
        self.status = self.moved.clone();
        match key {
            Key::Ctrl('c') => return keep::interrupt(self),
            Key::Ctrl('l') => return vec![Effect::Redraw],
            Key::Ctrl('z') => return vec![Effect::Suspend],
            _ => {}
        }
        if let Some(popup) = self.popup.take() {
            popup::key(self, popup, key)
        } else if let Some(prompt) = self.prompt.take() {
            typing::key(self, prompt, key)
        } else {
            dispatch::key(self, key)
        }
    }

    fn paste(&mut self, text: &str) {
        if act::paste(self) {
            return;
        }
        if let Some(popup) = &mut self.popup {
            popup::paste(popup, text);
        } else if let Some(prompt) = self.prompt.take() {
            typing::paste(self, prompt, text);
        } else {
            self.say("pasted text is no command; / filters".to_owned());
        }
    }
}

/// Hands the desk's answer to the subject that gave the order.
fn done(app: &mut App, job: JobId, outcome: Outcome) -> Vec<Effect> {
    match outcome {
        Outcome::Saved(result) if act::saves(app, job) => return act::saved(app, job, result),
        Outcome::Saved(result) => freeze::done(app, job, result),
        Outcome::Opened(result) => {
            keep::opened(app, job, result);
            let mut effects = keep::gone(app);
            effects.extend(act::opened(app));
            return effects;
        }
        Outcome::Copied(said) => app.say(said),
        Outcome::Ran(result) => return keep::ran(app, job, result),
        Outcome::Written(result) if act::writes(app, job) => return act::written(app, result),
        Outcome::Written(result) => {
            let mut effects = keep::written(app, job, result);
            effects.extend(keep::gone(app));
            return effects;
        }
        Outcome::Found(offer) => keep::found(app, job, offer),
        Outcome::Elsewhere(offer) => {
            keep::elsewhere(app, job, offer);
            return act::opened(app);
        }
        Outcome::Followed(result) => {
            let mut effects = keep::followed(app, job, result);
            effects.extend(keep::gone(app));
            return effects;
        }
        Outcome::Refused(why) => keep::refused(app, job, &why),
        Outcome::Looked(looks) => act::looked(app, job, &looks),
        Outcome::Signalled(result) => return act::signalled(app, job, result),
        Outcome::Watched(watched) => return act::watched(app, job, watched),
    }
    Vec::new()
}

/// Changes the state by one event; answers with what the runtime has to do.
pub fn update(app: &mut App, event: Event) -> Vec<Effect> {
    let mut effects = match event {
        Event::Key(key) => {
            let effects = app.key(key);
            if app.nav.lay_ghost() {
                app.rebuild(Change::View);
            }
            app.burst.next();
            effects
        }
        Event::Together(due) => {
            app.burst = Burst { due, before: 0 };
            Vec::new()
        }
        Event::Paste(text) => {
            app.paste(&text);
            Vec::new()
        }
        Event::Resized { width, height } => {
            app.size = (width, height);
            Vec::new()
        }
        Event::World(world) => app.take(&world),
        Event::Problem(why) => {
            app.delivery.problem = Some(why);
            freeze::stalled(app)
        }
        Event::Incident(opened) => {
            keep::follow(app, opened);
            Vec::new()
        }
        Event::Done(job, outcome) => done(app, job, outcome),
        Event::Excerpt(what_for, text) => copy::excerpt(app, what_for, text),
        Event::Edited(result) => typing::edited(app, result),
        Event::Pace { refresh_ms, because } => {
            app.delivery.pace = Pace { refresh_ms, because };
            Vec::new()
        }
        Event::Tick(now) => {
            app.now = now;
            keep::tick(app)
        }
        Event::Leaving => keep::tally(app),
        Event::Resumed => vec![Effect::Redraw],
    };
    // What is gone gets no closer look.
    let selected = app.selected_process().filter(|_| app.nav.ghost().is_none());
    if selected != app.demanded {
        app.demanded = selected;
        effects.push(Effect::Demand(Demand { selected }));
    }
    effects
}
