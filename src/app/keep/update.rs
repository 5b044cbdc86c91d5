//! Opening an incident, writing notes, and what the desk answers.

use super::close::{closed, closes};
use super::lasts;
use super::listed::left_open;
use super::others::find_open;
use super::tally::{self, tally};
use super::{Form, Incident, Offered, Waiting};
use crate::app::act::{self, Intent};
use crate::app::effect::{Effect, JobId, Offer, Opened, Order};
use crate::app::popup::{Content, Popup};
use crate::app::prompt::{Prompt, Purpose};
use crate::app::{App, Feed};
use crate::journal::{Entry, InstanceRef, Line, Story, Subject};
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::table::{Node, RowId, Shown};

/// A clock that moved by less is being slewed, or was read a moment later.
const CLOCK_SET_MS: i64 = 3_000;

/// What follows once an incident is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::app) enum Then {
    /// Nothing.
    Nothing,
    /// A note on these.
    Note(Vec<Subject>),
    /// The record of this one.
    Record(InstanceRef),
    /// The dialog before a signal.
    Signal(Box<Intent>),
}

/// Shows the incident; asks its title where none is open.
pub(in crate::app) fn open(app: &mut App) -> Vec<Effect> {
    if app.keep.is_open() {
        app.popup = Some(Popup::new(Content::Incident { at: 0 }));
        return Vec::new();
    }
    ask(app, Then::Nothing)
}

/// Asks the title of a new incident, once, and has the desk look anew which one could be gone on with.
pub(in crate::app) fn ask(app: &mut App, then: Then) -> Vec<Effect> {
    ask_title(app, then);
    find_open(app)
}

/// Shows the prompt for a title: says what for, and what an empty one means.
pub(super) fn ask_title(app: &mut App, then: Then) {
    let what = match &then {
        Then::Nothing => "An incident holds journal and snapshots.",
        Then::Note(_) => "A note is kept in an incident.",
        Then::Record(_) => "The record is kept in an incident.",
        Then::Signal(_) => "A signal is journalled first, in an incident.",
    };
    let offer = app.keep.offer().cloned();
    let empty = match (&app.keep.offer, &offer) {
        (_, Some(offer)) => format!("; empty: go on with {}", offer.title),
        (Offered::Unknown, None) => "; empty: your newest open one".to_owned(),
        (_, None) => String::new(),
    };
    app.prompt = Some(Prompt {
        purpose: Purpose::Title {
            then,
            offer,
            why: format!("{what} Enter: open{empty}; Esc: back"),
            doubted: None,
        },
        input: String::new().into(),
    });
}

/// Asks the title once more, with what was typed and what speaks against it.
pub(super) fn ask_again(app: &mut App, then: Then, typed: &str, doubt: String) {
    ask_title(app, then);
    if let Some(prompt) = &mut app.prompt
        && let Purpose::Title { why, doubted, .. } = &mut prompt.purpose
    {
        *why = doubt;
        *doubted = Some(typed.to_owned());
        prompt.input = typed.to_owned().into();
    }
}

/// Orders the incident, and goes on with what it was opened for. Without a title it is the newest one
/// that is open: a lost connection does not begin a new one. Digits alone are doubted once: they may have
/// been meant for a dialog. `shown` is the open one that the prompt has named.
pub(in crate::app) fn titled(
    app: &mut App,
    title: &str,
    then: Then,
    shown: Option<&Offer>,
    doubted: Option<&str>,
) -> Vec<Effect> {
    let title = title.trim();
    if title.is_empty() && app.keep.offer() != shown {
        // What was found while something was typed is not gone on with unseen.
        ask_title(app, then);
        return Vec::new();
    }
    let nothing = matches!(app.keep.offer, Offered::Nothing) && app.keep.looking.is_none();
    if title.is_empty() && nothing {
        let why = "A title is needed, such as a ticket number: no incident of yours is open; Esc: back";
        ask_again(app, then, "", why.to_owned());
        return Vec::new();
    }
    let digits = !title.is_empty() && title.bytes().all(|byte| byte.is_ascii_digit());
    if digits && doubted != Some(title) {
        let why = format!(
            "This is the TITLE of an incident: Enter again calls it {title}; Ctrl-U clears; Esc: back"
        );
        ask_again(app, then, title, why);
        return Vec::new();
    }
    let Some(world) = app.feed.shown().cloned() else {
        return Vec::new();
    };
    let job = app.next_job();
    let named = if title.is_empty() {
        shown.map(|offer| offer.title.clone())
    } else {
        Some(title.to_owned())
    };
    app.keep.opening = Some((job, named));
    let mut effects = vec![Effect::Desk(
        job,
        Order::Open {
            title: (!title.is_empty()).then(|| title.to_owned()),
            offered: shown.map(|offer| offer.path.clone()),
            on: world,
        },
    )];
    effects.extend(retry(app));
    match then {
        Then::Nothing => {}
        Then::Note(subjects) => ask_note(app, subjects),
        Then::Record(on) => show_record(app, on),
        Then::Signal(intent) => effects.extend(act::begin(app, *intent)),
    }
    effects
}

/// Asks for a note on the selected row; where it counts several, on the marked rows, and without any on
/// the incident as a whole.
pub(in crate::app) fn note(app: &mut App) -> Vec<Effect> {
    let subjects = subjects(app);
    if app.keep.is_open() {
        ask_note(app, subjects);
        return Vec::new();
    }
    ask(app, Then::Note(subjects))
}

fn ask_note(app: &mut App, subjects: Vec<Subject>) {
    let whole = subjects.is_empty();
    let complaint = "No single row is meant: this note is on the whole incident; Esc: back";
    app.prompt = Some(Prompt {
        purpose: Purpose::Note {
            on: subjects,
            whole,
            complaint: whole.then(|| complaint.to_owned()),
        },
        input: String::new().into(),
    });
}

/// Opens the record of the instance that the row is, or is a member of.
pub(in crate::app) fn record(app: &mut App) -> Vec<Effect> {
    let instance = app
        .selected()
        .and_then(|(shown, node)| shown.instance(node.instance?));
    let Some(on) = instance.map(InstanceRef::of) else {
        app.say("the record is one server's: select its row".to_owned());
        return Vec::new();
    };
    if app.keep.is_open() {
        show_record(app, on);
        return tally(app);
    }
    ask(app, Then::Record(on))
}

fn show_record(app: &mut App, on: InstanceRef) {
    if let Some(world) = app.world_of(on.id).or_else(|| app.feed.shown()).cloned() {
        let form = Form::new(on, world);
        app.popup = Some(Popup::new(Content::Record(Box::new(form))));
    }
}

/// What a note is about: the row; where it counts several, the marked rows. Nothing: the incident.
fn subjects(app: &App) -> Vec<Subject> {
    let row = app.selected();
    if let Some(one) = row.and_then(|(shown, node)| subject(shown, node)) {
        return vec![one];
    }
    let Some(shown) = app.shown() else {
        return Vec::new();
    };
    let marked = app.marked_nodes().into_iter();
    marked.filter_map(|node| subject(shown, node)).collect()
}

fn subject(shown: Shown<'_>, node: &Node) -> Option<Subject> {
    match &node.id {
        RowId::Instance(id) => shown.instance(*id).map(InstanceRef::of).map(Subject::Instance),
        RowId::Process(key) => shown.process(*key).map(|process| Subject::Process {
            key: *key,
            comm: process.comm.lossy().into_owned(),
        }),
        RowId::Owner(_) | RowId::Kind(..) => None,
    }
}

/// Returns how a subject is called.
pub(in crate::app) fn called(subject: &Subject) -> String {
    match subject {
        Subject::Instance(instance) => format!("{} {}", instance.name, instance.pid()),
        Subject::Process { key, comm } => format!("{comm} {}", key.pid),
        Subject::Other(text) => text.clone(),
    }
}

/// Turns a note between its rows and the incident as a whole.
pub(in crate::app) fn toggle_about(purpose: &mut Purpose) {
    if let Purpose::Note { on, whole, .. } = purpose {
        *whole = !*whole || on.is_empty();
    }
}

/// Writes a note. An empty one is none.
pub(in crate::app) fn take_note(app: &mut App, text: &str, on: Vec<Subject>, whole: bool) -> Vec<Effect> {
    let text = text.trim();
    if text.is_empty() {
        app.say("no note written: it is empty".to_owned());
        return Vec::new();
    }
    let about: Vec<Option<Subject>> = if whole {
        vec![None]
    } else {
        on.into_iter().map(Some).collect()
    };
    let mut effects = Vec::new();
    for on in about {
        let what = on.as_ref().map_or_else(
            || "the note on the incident".to_owned(),
            |on| format!("the note on {}", called(on)),
        );
        let text = text.to_owned();
        effects.extend(append(app, Entry::Note { on, text }, what));
    }
    effects
}

/// Orders an entry of the journal, behind those that could not be written before.
pub(in crate::app) fn append(app: &mut App, entry: Entry, what: String) -> Vec<Effect> {
    order(app, Order::Append(Box::new(entry)), what)
}

/// Gives an order that ends in the journal, behind those that failed before.
pub(in crate::app) fn order(app: &mut App, order: Order, what: String) -> Vec<Effect> {
    app.keep.unsaved.push(Waiting { order, what });
    retry(app)
}

/// Orders what is not on the disk once more.
pub(in crate::app) fn retry(app: &mut App) -> Vec<Effect> {
    let unsaved = std::mem::take(&mut app.keep.unsaved);
    unsaved
        .into_iter()
        .map(|waiting| {
            let job = app.next_job();
            let order = waiting.order.clone();
            app.keep.waiting.insert(job, waiting);
            Effect::Desk(job, order)
        })
        .collect()
}

/// Takes the desk's answer to the order to open.
pub(in crate::app) fn opened(app: &mut App, job: JobId, result: Result<Opened, String>) {
    if app
        .keep
        .opening
        .as_ref()
        .is_some_and(|(opening, _)| *opening == job)
    {
        app.keep.opening = None;
    }
    match result {
        Ok(opened) => {
            let said = format!("{}incident {} is open in ", took_in(&opened), opened.title);
            app.say_place(&said, &opened.path);
            let problem = opened.problem.clone();
            follow(app, opened);
            if let Some(problem) = problem {
                app.say(format!("the incident is open, but: {problem}"));
            }
        }
        Err(why) => app.say(format!("NO INCIDENT OPENED: {why}")),
    }
}

/// What is said of the snapshots that were copied in.
fn took_in(opened: &Opened) -> String {
    match &opened.copied[..] {
        [] => String::new(),
        [one] => format!("snapshot {}… copied in; ", &one.to_string()[..6]),
        many => format!("{} snapshots copied in; ", many.len()),
    }
}

/// Shows an incident as its journal is.
pub(in crate::app) fn follow(app: &mut App, opened: Opened) {
    let mut incident = Incident {
        path: opened.path,
        story: Story::default(),
        faults: opened.faults,
    };
    incident.add(&opened.lines);
    app.keep.incident = Some(incident);
    app.keep.saved.extend(opened.shown);
    lasts::read(app, &opened.evidence);
    tally::begin(app);
}

/// Adds lines that the desk has read.
pub(in crate::app) fn add(app: &mut App, lines: &[Line]) {
    if let Some(incident) = &mut app.keep.incident {
        incident.add(lines);
    }
    tally::begin(app);
}

/// Takes the desk's answer to an entry.
pub(in crate::app) fn written(app: &mut App, job: JobId, result: Result<Vec<Line>, String>) -> Vec<Effect> {
    let Some(waiting) = app.keep.waiting.remove(&job) else {
        return Vec::new();
    };
    if closes(&waiting.order) {
        let seq = |lines: Vec<Line>| lines.last().map_or(0, |line| line.seq);
        return closed(app, result.map(seq));
    }
    match result {
        Ok(lines) => {
            add(app, &lines);
            let head = app.keep.incident.as_ref().and_then(Incident::head);
            let seq = head.map_or(0, |head| head.seq);
            if !comes_by_itself(&waiting.order) {
                let less = if loses_secrets(app, &waiting.order) {
                    "; what looked like a secret is left out"
                } else {
                    ""
                };
                // Behind a line that does not join nothing is read, one's own entry neither.
                let place = if lines.is_empty() {
                    "on disk, behind what is not as it was written".to_owned()
                } else {
                    format!("on disk: entry {seq}")
                };
                app.say(format!("{place}: {}{less}", waiting.what));
            }
        }
        Err(why) => {
            app.say(format!(
                "NOT WRITTEN: {}: {why}; it is kept and tried again with the next",
                waiting.what
            ));
            app.keep.unsaved.push(waiting);
        }
    }
    Vec::new()
}

/// Takes the desk's answer that something cannot be done: it does not wait for a better time.
pub(in crate::app) fn refused(app: &mut App, job: JobId, why: &str) {
    if let Some(waiting) = app.keep.waiting.remove(&job) {
        app.say(format!("NOT DONE, nothing is pending: {}: {why}", waiting.what));
    }
}

/// Whether an order comes by itself: its answer is none to a key.
/// Returns whether an entry is on disk without something that it was given with.
fn loses_secrets(app: &App, order: &Order) -> bool {
    let loses = |entry: &Entry| entry.clone().redacted(&app.options.keep_redactor) != *entry;
    matches!(order, Order::Append(entry) if loses(entry))
}

fn comes_by_itself(order: &Order) -> bool {
    let by_itself = |entry: &Entry| {
        matches!(
            entry,
            Entry::SinceRevoked { .. } | Entry::ClientUnavailable { .. }
        )
    };
    matches!(order, Order::Append(entry) if by_itself(entry))
}

/// Has the journal say that the wall clock was set: it moved against the time since boot.
pub(in crate::app) fn look_at_clock(app: &mut App, world: &World) -> Vec<Effect> {
    let to = world.sample.taken_at;
    let since_boot = i64::try_from(world.sample.since_boot_ms).unwrap_or(i64::MAX);
    let offset = to.0.saturating_sub(since_boot);
    let known = *app.keep.clock_offset_ms.get_or_insert(offset);
    let moved = offset.saturating_sub(known);
    if app.options.origin.is_some() || moved.abs() < CLOCK_SET_MS {
        return Vec::new();
    }
    app.keep.clock_offset_ms = Some(offset);
    let from = UnixMillis(to.0.saturating_sub(moved));
    app.say(format!(
        "the wall clock was set from {} to {}",
        from.day_and_clock(),
        to.day_and_clock()
    ));
    if !app.keep.is_open() {
        return Vec::new();
    }
    append(
        app,
        Entry::ClockChanged { from, to },
        "the change of the clock".to_owned(),
    )
}

/// Ends the program; asks first where something would be lost or is left open.
pub(in crate::app) fn quit(app: &mut App) -> Vec<Effect> {
    // Nothing is sent behind the back of a question.
    let withdrawn = match act::withdraw(app) {
        0 => None,
        rest => Some(format!("withdrawn: nothing is sent to the {rest} that wait")),
    };
    let mut reasons = reasons_to_stay(app);
    reasons.extend(withdrawn);
    if reasons.is_empty() {
        return leave(app);
    }
    app.popup = Some(Popup::new(Content::Quit { reasons }));
    Vec::new()
}

/// Ctrl-C ends the program as `q` does; pressed again, it does not ask.
pub(in crate::app) fn interrupt(app: &mut App) -> Vec<Effect> {
    let asked = app
        .popup
        .as_ref()
        .is_some_and(|popup| matches!(popup.content, Content::Quit { .. }));
    if asked { leave(app) } else { quit(app) }
}

/// Ends the program, asked or not; what was counted is journalled first.
pub(in crate::app) fn leave(app: &mut App) -> Vec<Effect> {
    let mut effects = tally(app);
    effects.push(Effect::Quit);
    effects
}

/// What would be lost, and what is left open.
fn reasons_to_stay(app: &App) -> Vec<String> {
    let mut reasons: Vec<String> = app
        .keep
        .not_on_disk()
        .into_iter()
        .map(|what| format!("{what} is not on disk"))
        .collect();
    for name in app.keep.running.values() {
        reasons.push(format!(
            "{name} still runs: it would be ended, and its output lost"
        ));
    }
    let typed = app.prompt.as_ref();
    if typed.is_some_and(|prompt| prompt.is_note() && !prompt.text().trim().is_empty()) {
        reasons.push("the note that is being typed is not written".to_owned());
    }
    reasons.extend(act::reasons(app));
    reasons.extend(left_open(app));
    if matches!(app.feed, Feed::Freezing(_)) {
        reasons.push("the held sample is being saved".to_owned());
    }
    if let Some(why) = app.feed.not_saved() {
        reasons.push(format!("the held sample is not saved: {why}"));
    }
    reasons
}
