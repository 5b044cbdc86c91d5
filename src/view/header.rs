//! The header: machine, operator, clock, state of the feed; counts per finding; what is unusual.

use super::paint::{Drawn, Segments, lit, safe, say};
use super::popup;
use super::theme::{Theme, Tone};
use crate::app::freeze::{Freezing, Frozen, Saved, Stage};
use crate::app::{App, Feed};
use crate::model::finding::Finding;
use crate::model::host::{Observer, Visibility};
use crate::model::identity::ProcessKey;
use crate::model::world::World;
use crate::table::tree::{Breadth, Scope};
use crate::table::{Figures, Sort, cells};
use crate::text::{Safe, format};

/// From this width on nothing has to be shortened to fit with the rest.
const WIDE: usize = 100;

/// Width of a usual terminal.
const USUAL_WIDTH: usize = 78;

/// Up to so many pids, and findings, are listed one by one.
const FEW: usize = 4;

/// Machine, operator, clock, state of the feed.
pub(super) fn first(app: &App, width: usize, theme: Theme) -> Drawn {
    let mut line = Segments::default();
    line.add(9, lit("mcpwake", Tone::Strong));
    if let Some(world) = app.world() {
        let sample = &world.sample;
        line.add(
            7,
            safe(Safe::from_bytes(sample.host.hostname.as_bytes()), Tone::Plain),
        );
        line.add(6, safe(operator(&sample.observer, width), Tone::Plain));
        line.add(
            2,
            say(
                &format!("up {}", format::elapsed(sample.since_boot_ms)),
                Tone::Dim,
            ),
        );
        line.add(1, say(&load(world), Tone::Dim));
    }
    line.add(9, say(&app.now().clock(), Tone::Plain));
    if app.options().read_only {
        // Outlasts the name of the host, which can be 64 columns long.
        line.add(8, lit("READ-ONLY", Tone::Strong));
    }
    match app.feed() {
        Feed::Freezing(freezing) => line.add(10, say(&freezing_words(freezing), Tone::Warning)),
        Feed::Frozen(frozen) => held(&mut line, app, frozen, width),
        Feed::Saved(world) => {
            line.add(11, say(&saved_words(app, world), Tone::Warning));
            line.add(3, safe(origin_name(app), Tone::Plain));
        }
        Feed::Waiting | Feed::Live(_) => line.add(9, feed(app)),
    }
    if let Some(world) = app.world().filter(|_| app.feed().is_live()) {
        line.add(
            5,
            say(&format!("own {}", cost(world.sample.cost_us, width)), Tone::Dim),
        );
    }
    line.fit(width, theme)
}

/// Who looks: user, and where the line has room the login uid behind sudo and the SSH origin.
fn operator(observer: &Observer, width: usize) -> Safe {
    let user = Safe::from_bytes(observer.user.as_bytes());
    let origin = origin(observer);
    if origin.is_empty() || width < USUAL_WIDTH {
        return user;
    }
    Safe::join([user, Safe::from_text(&origin)], " ")
}

fn origin(observer: &Observer) -> String {
    let uid = observer
        .login_uid
        .filter(|uid| *uid != observer.uid)
        .map(|uid| format!("uid {uid}"));
    let from = observer.ssh_from.as_ref().map(|from| format!("from {from}"));
    let parts: Vec<String> = uid.into_iter().chain(from).collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("({})", parts.join(" "))
    }
}

fn load(world: &World) -> String {
    let [one, five, fifteen] = world
        .sample
        .host
        .load_centi
        .map(|centi| format!("{}.{:02}", centi / 100, centi % 100));
    format!("load {one} {five} {fifteen}")
}

fn cost(us: u64, width: usize) -> String {
    if width < WIDE {
        format!("{}ms", us.div_ceil(1000))
    } else if us < 10_000 {
        format!("{}.{} ms", us / 1000, us % 1000 / 100)
    } else {
        format!("{} ms", us / 1000)
    }
}

fn feed(app: &App) -> super::paint::Piece {
    if app.problem().is_some() {
        return lit("STALLED", Tone::Alarm);
    }
    if app.world().is_none() {
        return lit("waiting for the first sample", Tone::Plain);
    }
    let pace = app.pace();
    let every = if pace.refresh_ms.is_multiple_of(1000) {
        format!("{}s", pace.refresh_ms / 1000)
    } else {
        format!("{}.{}s", pace.refresh_ms / 1000, pace.refresh_ms % 1000 / 100)
    };
    match &pace.because {
        Some(because) => say(&format!("LIVE {every} ({because})"), Tone::Warning),
        None => say(&format!("LIVE {every}"), Tone::Good),
    }
}

/// A sample on its way to the disk.
fn freezing_words(freezing: &Freezing) -> String {
    let at = freezing.shown().sample.taken_at.clock();
    match freezing.stage() {
        Stage::Completing => format!("FREEZING {at}: completing the sample"),
        Stage::Saving(_) => format!("FREEZING {at}: saving"),
    }
}

/// A sample from the disk: of when, and from where.
fn saved_words(app: &App, world: &World) -> String {
    let at = world.sample.taken_at;
    let ago = u64::try_from(app.now().0.saturating_sub(at.0)).unwrap_or(0);
    format!("SAVED {} ({} ago)", at.day_and_clock(), format::elapsed(ago))
}

/// The file that a saved sample is from, without its directories.
fn origin_name(app: &App) -> Safe {
    let origin = app.options().origin.as_deref().unwrap_or_default();
    Safe::from_text(origin.rsplit('/').next().unwrap_or(origin))
}

/// A held sample: since when, and where it is kept.
fn held(line: &mut Segments, app: &App, frozen: &Frozen, width: usize) {
    let at = frozen.held().sample.taken_at;
    let mut since = format!("FROZEN {}", at.clock());
    if width >= WIDE {
        let ago = u64::try_from(app.now().0.saturating_sub(at.0)).unwrap_or(0);
        since = format!("{since} ({} ago)", format::elapsed(ago));
    }
    line.add(11, say(&since, Tone::Warning));
    line.add(
        10,
        match frozen.saved() {
            Saved::File(file) => {
                let digest = file.sha256.to_string();
                say(&format!("saved sha256 {}…", &digest[..6]), Tone::Good)
            }
            Saved::ReadOnly => lit("in memory only", Tone::Warning),
            Saved::Failed(_) => lit("NOT SAVED", Tone::Alarm),
        },
    );
    line.add(6, lit("Z thaws", Tone::Plain));
}

/// What has changed behind a held sample.
fn since_then(frozen: &Frozen, width: usize, theme: Theme) -> Drawn {
    let since = frozen.since();
    let mut line = Segments::default();
    if since.is_empty() {
        let seen = frozen.live().sample.taken_at.clock();
        let text = format!("since then: no server gone, new or found otherwise (as of {seen})");
        line.add(9, say(&text, Tone::Plain));
        return line.fit(width, theme);
    }
    let pids = |keys: &[ProcessKey]| keys.iter().map(|key| key.pid.to_string()).collect::<Vec<_>>();
    let changes: Vec<String> = since
        .changed
        .iter()
        .map(|one| format!("{} {} -> {}", one.pid, one.from.word(), one.to.word()))
        .collect();
    let mut since_then = "since then: ";
    for (weight, word, what, tone) in [
        (10, "gone", pids(&since.gone), Tone::Alarm),
        (7, "new", pids(&since.new), Tone::Warning),
        (8, "finding changed", changes, Tone::Warning),
    ] {
        let text = counted(word, &what);
        if !text.is_empty() {
            // What the line begins with stays longest.
            let weight = if since_then.is_empty() { weight } else { 10 };
            line.add(weight, say(&format!("{since_then}{text}"), tone));
            since_then = "";
        }
    }
    line.fit(width, theme)
}

/// Returns `gone 2 (2290, 2310)`; where there are many, their number alone.
fn counted(word: &str, what: &[String]) -> String {
    match what.len() {
        0 => String::new(),
        1..=FEW => format!("{word} {} ({})", what.len(), what.join(", ")),
        many => format!("{word} {many}"),
    }
}

/// Counts per finding, and how much could be read; of a held sample, what has changed since.
pub(super) fn second(app: &App, width: usize, theme: Theme) -> Drawn {
    if let Feed::Frozen(frozen) = app.feed() {
        return since_then(frozen, width, theme);
    }
    let mut line = Segments::default();
    let Some(world) = app.world() else {
        return line.fit(width, theme);
    };
    let figures = sums(world);
    line.add(9, say(&cells::servers(figures.instances), Tone::Strong));
    for finding in Finding::ALL {
        let count = figures.count(finding);
        if count > 0 {
            let weight = if finding.is_trouble() { 10 } else { 7 };
            line.add(
                weight,
                say(
                    &format!("{count} {}", cells::finding_word(finding)),
                    Tone::of(finding),
                ),
            );
        }
    }
    if figures.count(Finding::Severed) == 0 && world.sample.visibility != Visibility::All {
        line.add(8, lit("0 severed among those readable", Tone::Plain));
    }
    if figures.older > 0 {
        let noun = if width < WIDE {
            "older"
        } else if figures.older == 1 {
            "older twin"
        } else {
            "older twins"
        };
        line.add(6, say(&format!("{} {noun}", figures.older), Tone::Warning));
    }
    if !app.marks().is_empty() {
        let hidden = match app.hidden_marks().count() {
            0 => String::new(),
            count => format!(", {count} not visible"),
        };
        let text = format!("{} marked{hidden}", app.marks().len());
        line.add(9, say(&text, Tone::Strong));
    }
    let problems = popup::problem_count(world);
    if !problems.is_empty() {
        line.add(5, say(&format!("{problems} (!)"), Tone::Warning));
    }
    if let Some(hidden) = world.sample.hidden.filter(|hidden| *hidden > 0) {
        line.add(8, say(&format!("{hidden} not visible"), Tone::Warning));
    }
    let all = world.sample.processes.len();
    let readable = world.sample.readable;
    line.add(
        4,
        say(&format!("{all} processes, {readable} read in full"), Tone::Dim),
    );
    line.fit(width, theme)
}

/// Returns the figures of all instances together.
pub(super) fn sums(world: &World) -> Figures {
    let mut figures = Figures::default();
    for instance in &world.judged.instances {
        figures.add(&Figures::of_instance(world, instance));
    }
    figures
}

/// What makes the tree other than usual.
pub(super) fn mode(app: &App, width: usize, theme: Theme) -> Drawn {
    let mut line = Segments::default();
    if let Some(problem) = app.problem() {
        line.add(9, say(&format!("no newer sample: {problem}"), Tone::Alarm));
    }
    if let Some(text) = super::keep::fault_line(app.keep().faults()) {
        line.add(10, say(&text, Tone::Alarm));
    }
    if let Some(why) = app.feed().not_saved() {
        line.add(9, say(&format!("not saved: {why}"), Tone::Alarm));
    }
    if let Some(offer) = app.keep().offer() {
        let text = if width < USUAL_WIDTH {
            format!("{} is open: i goes on", offer.title)
        } else {
            format!(
                "incident {} is open, not on this screen: i goes on with it",
                offer.title
            )
        };
        line.add(7, say(&text, Tone::Warning));
    }
    let plan = app.nav().plan();
    if !app.filter().text().is_empty() {
        line.add(8, say(&format!("filter: {}", app.filter().text()), Tone::Warning));
    }
    if app.search().is_set() {
        line.add(
            5,
            say(&format!("search: {} (n N)", app.search().text()), Tone::Plain),
        );
    }
    if let Some(user) = &plan.user {
        line.add(7, say(&format!("user: {user}"), Tone::Warning));
    }
    if plan.scope == Scope::Everything {
        line.add(6, lit("all processes", Tone::Plain));
    }
    match plan.breadth {
        Breadth::Owners => {}
        Breadth::Ancestors => line.add(6, lit("every ancestor", Tone::Plain)),
        Breadth::Flat => line.add(6, lit("flat", Tone::Plain)),
    }
    if plan.sort != Sort::default() {
        line.add(6, say(&format!("sort: {}", plan.sort.words()), Tone::Plain));
    }
    if app.nav().follows()
        && let Some((shown, node)) = app.selected()
    {
        line.add(
            4,
            safe(
                Safe::join([Safe::literal("following"), cells::label(shown, node)], " "),
                Tone::Plain,
            ),
        );
    }
    line.fit(width, theme)
}
