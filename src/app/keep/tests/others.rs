//! Other screens: the incident that one of them has opened, and what colleagues write into this one's.

use std::sync::Arc;

use super::super::testkit::{Journal, serve, served};
use crate::app::act::testkit::Bench;
use crate::app::effect::{Effect, Followed, JobId, Offer, Order, Outcome};
use crate::app::popup::{Content, Popup};
use crate::app::prompt::Prompt;
use crate::app::testkit::{NOW, app, live, press};
use crate::app::{App, Event, update};
use crate::journal::entry::OutcomeKind;
use crate::journal::{Entry, InstanceRef, LeadRef, Line, TargetRef};
use crate::model::time::UnixMillis;
use crate::model::world::World;

fn offer(title: &str) -> Offer {
    Offer {
        title: title.to_owned(),
        at: UnixMillis(NOW),
        path: format!("/incidents/{title}"),
    }
}

/// The one order of this kind among effects.
fn job(effects: &[Effect], is: impl Fn(&Order) -> bool) -> Option<JobId> {
    effects.iter().find_map(|effect| match effect {
        Effect::Desk(job, order) if is(order) => Some(*job),
        _ => None,
    })
}

fn looks(effects: &[Effect]) -> Option<JobId> {
    job(effects, |order| matches!(order, Order::FindOpen(_)))
}

fn follows(effects: &[Effect]) -> Option<JobId> {
    job(effects, |order| matches!(order, Order::Follow))
}

fn tick(app: &mut App, ms: i64) -> Vec<Effect> {
    update(app, Event::Tick(UnixMillis(NOW + ms)))
}

/// Has a tick follow the journal, and answers with these lines.
fn follow(app: &mut App, lines: Vec<Line>) -> Vec<Effect> {
    let job = follows(&tick(app, 1_000)).expect("the journal is followed");
    let followed = Followed {
        lines,
        ..Followed::default()
    };
    update(app, Event::Done(job, Outcome::Followed(Ok(followed))))
}

fn open_app() -> (App, Journal, Arc<World>) {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 100, 40);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "i OPS-1 <enter>");
    (app, journal, world)
}

fn git(world: &World) -> (InstanceRef, TargetRef) {
    let instances = &world.judged.instances;
    let instance = instances
        .iter()
        .find(|one| one.name.lossy() == "git")
        .expect("git");
    let on = InstanceRef::of(instance);
    let target = TargetRef {
        key: instance.lead_process(),
        pidfd_inode: None,
        instance: Some(on.clone()),
        argv: Vec::new(),
    };
    (on, target)
}

fn announced(target: &TargetRef) -> Entry {
    Entry::AboutToSignal {
        signal: "TERM".to_owned(),
        targets: vec![target.clone()],
        way: "pidfd".to_owned(),
    }
}

#[test]
fn what_another_screen_has_opened_is_looked_for_by_every_key_that_needs_an_incident() {
    for key in ["i", "m", "r", "T", "K", "<home> m"] {
        let mut app = app(live().world(), 80, 24);
        // As it was when this screen began.
        update(&mut app, Event::Done(JobId(1), Outcome::Found(None)));
        let effects = press(&mut app, key);
        let job = looks(&effects).unwrap_or_else(|| panic!("{key}: {effects:?}"));
        update(&mut app, Event::Done(job, Outcome::Found(Some(offer("OPS-7")))));
        let label = app.prompt().map(|prompt| prompt.label().as_str().to_owned());
        assert_eq!(label.as_deref(), Some("title (empty: OPS-7): "), "{key}");
        let effects = press(&mut app, "<enter>");
        let joins = job_of_open(&effects, None, Some("/incidents/OPS-7"));
        assert!(joins, "{key}: {effects:?}");
    }
}

fn job_of_open(effects: &[Effect], wanted: Option<&str>, seen: Option<&str>) -> bool {
    let is = |order: &Order| {
        matches!(order, Order::Open { title, offered, .. }
            if title.as_deref() == wanted && offered.as_deref() == seen)
    };
    job(effects, is).is_some()
}

#[test]
fn a_title_that_was_typed_before_the_answer_opens_no_second_incident() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    // All of it in one read of the terminal: no answer can come in between.
    let effects = press(&mut app, "m OPS-9 <enter>");
    assert!(job_of_open(&effects, Some("OPS-9"), None), "{effects:?}");
    let order = |order: &Order| matches!(order, Order::Open { .. });
    let open = job(&effects, order).expect("an order");
    update(&mut app, Event::Done(open, Outcome::Elsewhere(offer("OPS-7"))));
    assert!(!app.keep().is_open());
    let prompt = app.prompt().expect("a question");
    assert_eq!(prompt.text(), "OPS-9");
    let why = prompt.complaint().unwrap_or_default().to_owned();
    assert!(
        why.contains("OPS-7 is open") && why.contains("open OPS-9 too"),
        "{why}"
    );
    // Once it was seen, both are possible; the note is asked for behind either.
    let mut journal = Journal::of(&world);
    let effects = press(&mut app, "<enter>");
    assert!(
        job_of_open(&effects, Some("OPS-9"), Some("/incidents/OPS-7")),
        "{effects:?}"
    );
    serve(&mut app, &mut journal, effects);
    assert!(app.prompt().is_some_and(Prompt::is_note));
}

#[test]
fn the_other_answer_goes_on_with_what_is_open() {
    let mut app = app(live().world(), 80, 24);
    let effects = press(&mut app, "r OPS-9 <enter>");
    let open = job(&effects, |order| matches!(order, Order::Open { .. })).expect("an order");
    assert!(matches!(
        app.popup().map(Popup::content),
        Some(Content::Record(_))
    ));
    update(&mut app, Event::Done(open, Outcome::Elsewhere(offer("OPS-7"))));
    assert!(app.popup().is_none());
    let effects = press(&mut app, "<c-u> <enter>");
    assert!(
        job_of_open(&effects, None, Some("/incidents/OPS-7")),
        "{effects:?}"
    );
    assert!(matches!(
        app.popup().map(Popup::content),
        Some(Content::Record(_))
    ));
}

#[test]
fn without_an_incident_others_are_looked_for_now_and_then_and_one_order_at_a_time() {
    let mut app = app(live().world(), 80, 24);
    update(&mut app, Event::Done(JobId(1), Outcome::Found(None)));
    let began = app.now().0 - NOW;
    assert_eq!(looks(&tick(&mut app, began + 1_000)), None, "not with every tick");
    let job = looks(&tick(&mut app, began + 6_000)).expect("a look");
    assert_eq!(looks(&tick(&mut app, began + 60_000)), None, "the answer is due");
    update(&mut app, Event::Done(job, Outcome::Found(Some(offer("OPS-7")))));
    assert_eq!(
        app.keep().offer().map(|offer| offer.title.as_str()),
        Some("OPS-7")
    );
    assert!(app.has_mode(), "the header says so");
}

#[test]
fn what_a_colleague_writes_is_shown_with_the_next_tick() {
    let (mut app, mut journal, world) = open_app();
    let (on, target) = git(&world);
    let lead = LeadRef::of(
        &world
            .judged
            .instance(on.id)
            .expect("git")
            .reach
            .as_ref()
            .expect("leads")[0],
    );
    let lines = vec![
        journal.add(&Entry::Revoked {
            on: on.clone(),
            lead,
            revoked_at: UnixMillis(NOW),
            by: None,
            how: None,
            done_by: None,
            done_at: None,
        }),
        journal.add(&announced(&target)),
    ];
    let effects = follow(&mut app, lines);
    assert_eq!(follows(&effects), None);
    let story = app.keep().incident().expect("an incident").story();
    assert_eq!(story.head.map(|head| head.seq), Some(3));
    assert_eq!(app.progress(on.id).revoked, 1);
    assert_eq!(story.threads[&on.id].signals.len(), 1);
    let told = app.signals_of_others(target.key);
    assert!(matches!(&told[..], [state] if state.outcome.is_none() && app.is_under_way_elsewhere(state)));
    // Nothing is ordered twice while the desk is slow.
    let job = follows(&tick(&mut app, 2_000)).expect("followed again");
    assert_eq!(follows(&tick(&mut app, 3_000)), None);
    let why = "open /x: no such file".to_owned();
    update(&mut app, Event::Done(job, Outcome::Followed(Err(why))));
    assert!(app.keep().faults()[0].contains("no such file"));
    assert!(follows(&tick(&mut app, 4_000)).is_some());
}

#[test]
fn a_journal_that_is_another_one_now_is_told_from_its_beginning() {
    let (mut app, _, world) = open_app();
    let mut other = Journal::of(&world);
    let (first, _) = super::super::testkit::opened(&mut other, Some("OPS-2".to_owned()), &world);
    let mut again = Journal::of(&world);
    let lines = vec![again.add(&first)];
    follow(&mut app, lines);
    assert_eq!(
        app.keep().incident().map(super::super::Incident::title),
        Some("OPS-2")
    );
}

#[test]
fn a_confirmation_begun_before_a_colleague_signalled_does_not_count() {
    let mut bench = Bench::new(live());
    bench.press("T OPS-1412 <enter> o 27");
    let world = live().world();
    let (_, target) = git(&world);
    let line = bench.journal.add(&announced(&target));
    follow(&mut bench.app, vec![line]);
    let Some(Content::Act(dialog)) = bench.app.popup().map(Popup::content) else {
        panic!("a dialog");
    };
    assert_eq!(dialog.input(), "");
    assert!(
        bench.said().contains("signals 48271 now (TERM)"),
        "{}",
        bench.said()
    );
    bench.press("1 <enter>");
    assert!(bench.pids().is_empty());
}

#[test]
fn a_dialog_over_what_a_colleague_has_ended_is_closed_and_says_so() {
    let mut bench = Bench::new(live());
    bench.press("T OPS-1412 <enter> o 27");
    let world = live().world();
    let (_, target) = git(&world);
    let line = bench.journal.add(&announced(&target));
    let announced = Some(line.seq);
    follow(&mut bench.app, vec![line]);
    let outcome = Entry::Outcome {
        signal: "TERM".to_owned(),
        target,
        outcome: OutcomeKind::Exited,
        after_ms: Some(12),
        announced,
        detail: None,
    };
    let line = bench.journal.add(&outcome);
    follow(&mut bench.app, vec![line]);
    assert!(bench.app.popup().is_none());
    let said = bench.said();
    assert!(
        said.starts_with("TERM to 48271 by ") && said.ends_with(": exited"),
        "{said}"
    );
}

#[test]
fn an_incident_that_a_colleague_has_closed_is_left_once_nothing_is_on_its_way() {
    let (mut app, mut journal, _) = open_app();
    let note = press(&mut app, "m late <enter>");
    let closed = journal.add(&Entry::Closed { remaining: None });
    assert_eq!(
        job(&follow(&mut app, vec![closed]), is_leave),
        None,
        "a note is on its way"
    );
    assert!(app.keep().is_open());
    serve(&mut app, &mut journal, note);
    let closed = journal.add(&Entry::Closed { remaining: None });
    let effects = follow(&mut app, vec![closed]);
    assert!(job(&effects, is_leave).is_some(), "{effects:?}");
    assert!(!app.keep().is_open());
    assert!(
        app.status()
            .is_some_and(|said| said.contains("incident OPS-1 was closed by"))
    );
}

fn is_leave(order: &Order) -> bool {
    matches!(order, Order::Leave(_))
}

#[test]
fn an_outcome_of_a_colleague_ends_what_is_unresolved() {
    let (mut app, mut journal, world) = open_app();
    let (_, target) = git(&world);
    let line = journal.add(&announced(&target));
    let seq = line.seq;
    follow(&mut app, vec![line]);
    let outcome = Entry::Outcome {
        signal: "TERM".to_owned(),
        target: target.clone(),
        outcome: OutcomeKind::Exited,
        after_ms: Some(12),
        announced: Some(seq),
        detail: None,
    };
    let line = journal.add(&outcome);
    follow(&mut app, vec![line]);
    let told = app.signals_of_others(target.key);
    assert!(told[0].outcome.is_some() && !app.is_under_way_elsewhere(told[0]));
}
