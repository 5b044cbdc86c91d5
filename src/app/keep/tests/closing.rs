//! Titles, attachments that cannot be read, clients that are seen to go, and the end of an incident.

use std::sync::Arc;

use super::super::testkit::{Journal, opened, serve, served};
use super::{jobs, live_app};
use crate::app::effect::{Effect, Offer, Order, Outcome};
use crate::app::popup::{Content, Popup};
use crate::app::prompt::Prompt;
use crate::app::testkit::{app, live, press};
use crate::app::{App, Event, Key, update};
use crate::journal::entry::{FieldSource, OutcomeKind};
use crate::journal::{Entry, InstanceRef, TargetRef};
use crate::model::identity::Pid;
use crate::model::time::UnixMillis;
use crate::model::world::World;

fn found(app: &mut App, offer: Option<&str>) {
    let offer = offer.map(|title| Offer {
        title: title.to_owned(),
        at: UnixMillis(0),
        path: format!("/incidents/{title}"),
    });
    let job = app.next_job();
    let job = app.keep.looking.unwrap_or(job);
    update(app, Event::Done(job, Outcome::Found(offer)));
}

/// Presses keys, and returns what they order but for looking which incident is open.
fn ordered(app: &mut App, script: &str) -> Vec<Effect> {
    let mut effects = press(app, script);
    effects.retain(|effect| !matches!(effect, Effect::Desk(_, Order::FindOpen(_))));
    effects
}

fn asked(app: &App) -> (String, String) {
    let prompt = app.prompt().expect("a prompt");
    let label = prompt.label().as_str().to_owned();
    (label, prompt.complaint().unwrap_or_default().to_owned())
}

#[test]
fn the_title_is_asked_with_its_reason_and_what_an_empty_one_goes_on_with() {
    for (key, why) in [
        ("i", "An incident holds journal and snapshots."),
        ("m", "A note is kept in an incident."),
        ("r", "The record is kept in an incident."),
        ("T", "A signal is journalled first, in an incident."),
    ] {
        let mut app = live_app();
        found(&mut app, Some("OPS-7"));
        press(&mut app, key);
        let wanted = format!("{why} Enter: open; empty: go on with OPS-7; Esc: back");
        assert_eq!(asked(&app), ("title (empty: OPS-7): ".to_owned(), wanted));
        press(&mut app, "<esc>");
        press(&mut app, key);
        found(&mut app, None);
        let wanted = format!("{why} Enter: open; Esc: back");
        assert_eq!(asked(&app), ("title of a new incident: ".to_owned(), wanted));
        // Nothing is there to go on with.
        assert_eq!(press(&mut app, "<enter>"), []);
        let (_, why) = asked(&app);
        assert!(why.contains("no incident of yours is open"), "{why}");
        assert!(!app.keep().is_open());
    }
}

#[test]
fn what_is_found_late_is_offered_where_no_title_was_begun() {
    let mut app = live_app();
    press(&mut app, "i");
    assert_eq!(asked(&app).0, "title of a new incident: ");
    found(&mut app, Some("OPS-7"));
    assert_eq!(asked(&app).0, "title (empty: OPS-7): ");
    press(&mut app, "<esc> i X");
    found(&mut app, Some("OPS-8"));
    assert_eq!(asked(&app).0, "title (empty: OPS-7): ");
    assert_eq!(
        app.prompt().map(|prompt| prompt.text().to_owned()).as_deref(),
        Some("X")
    );
}

#[test]
fn digits_alone_are_a_title_only_when_they_are_meant() {
    let mut app = live_app();
    found(&mut app, None);
    assert_eq!(ordered(&mut app, "T 260 <enter>"), []);
    let (_, why) = asked(&app);
    assert!(
        why.contains("the TITLE of an incident: Enter again calls it 260"),
        "{why}"
    );
    assert_eq!(app.prompt().map(Prompt::text), Some("260"));
    // Others are doubted anew.
    assert_eq!(press(&mut app, "1 <enter>"), []);
    let effects = press(&mut app, "<enter>");
    assert!(
        matches!(&effects[0], Effect::Desk(_, Order::Open { title: Some(title), .. }) if title == "2601"),
        "{effects:?}"
    );
}

#[test]
fn the_list_of_the_open_incident_takes_every_letter() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "i T <enter>");
    let effects = press(&mut app, "i OPS-q-incident-T-Z-m");
    assert_eq!(effects, []);
    assert!(matches!(
        app.popup().map(Popup::content),
        Some(Content::Incident { .. })
    ));
    assert!(app.status().is_some_and(|said| said.contains("Esc closes")));
    press(&mut app, "<enter>");
    assert!(app.popup().is_none() && app.prompt().is_none());
}

#[test]
fn an_attachment_that_cannot_be_read_is_not_pending() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "r T <enter>");
    let effects = press(&mut app, "a nosuch <enter>");
    let why = "open nosuch: No such file or directory".to_owned();
    update(&mut app, Event::Done(jobs(&effects)[0], Outcome::Refused(why)));
    let said = app.status().unwrap_or_default();
    assert!(
        said.starts_with("NOT DONE, nothing is pending: the output on git 48271: open nosuch"),
        "{said}"
    );
    assert!(app.keep().not_on_disk().is_empty());
    let written = served(&mut app, &mut journal, "<esc> m later <enter>");
    assert!(matches!(&written[..], [Entry::Note { .. }]), "{written:?}");
}

fn target(world: &World) -> TargetRef {
    let git = world
        .judged
        .instances
        .iter()
        .find(|one| one.name.lossy() == "git");
    let git = git.expect("git");
    TargetRef {
        key: git.lead_process(),
        pidfd_inode: None,
        argv: Vec::new(),
        instance: Some(InstanceRef::of(git)),
    }
}

/// An incident with a TERM to git that nobody saw the end of.
fn unresolved(boot_id: Option<&str>) -> (App, Journal, Arc<World>) {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    let mut there = World::clone(&world);
    if let Some(boot_id) = boot_id {
        there.sample.host.boot_id = boot_id.to_owned();
    }
    let (_, mut answer) = opened(&mut journal, Some("OPS".to_owned()), &there);
    for entry in [
        Entry::AboutToSignal {
            signal: "TERM".to_owned(),
            targets: vec![target(&world)],
            way: "pidfd".to_owned(),
        },
        Entry::Sent {
            signal: "TERM".to_owned(),
            target: target(&world),
            way: "pidfd".to_owned(),
            refused: None,
            announced: None,
        },
    ] {
        answer.lines.push(journal.add(&entry));
    }
    update(&mut app, Event::Incident(answer));
    (app, journal, world)
}

fn without(number: u32) -> Arc<World> {
    let mut scene = live();
    scene.seq += 1;
    scene
        .sample
        .processes
        .remove(&Pid::new(i64::from(number)).expect("a pid"));
    scene
        .judged
        .instances
        .retain(|one| one.lead_process().pid.get() != number);
    scene.world()
}

#[test]
fn a_signal_without_an_outcome_is_looked_at_again_by_a_key_and_never_by_itself() {
    let (mut app, mut journal, _) = unresolved(None);
    let written = served(&mut app, &mut journal, "<a-l>");
    let [
        Entry::Outcome {
            outcome: OutcomeKind::StillThere,
            after_ms: None,
            ..
        },
    ] = &written[..]
    else {
        panic!("{written:?}")
    };
    let effects = update(&mut app, Event::World(without(48_271)));
    assert_eq!(serve(&mut app, &mut journal, effects), [], "not by itself");
    let written = served(&mut app, &mut journal, "<a-l>");
    let [
        Entry::Outcome {
            outcome: OutcomeKind::AlreadyGone,
            after_ms: None,
            detail: Some(detail),
            ..
        },
    ] = &written[..]
    else {
        panic!("{written:?}")
    };
    assert_eq!(
        detail,
        "gone when looked at again at 2026-12-01T01:07:12.000Z; when it ended was not seen"
    );
    assert_eq!(press(&mut app, "<a-l>"), []);
    assert!(
        app.status()
            .is_some_and(|said| said.contains("no signal of this incident"))
    );
    assert_eq!(press(&mut app, "q"), []);
    let Some(Content::Quit { reasons }) = app.popup().map(Popup::content) else {
        panic!("a question");
    };
    let left = "git 48271 (exited): 2 of 3 leads not shown to be denied";
    assert_eq!(reasons[..], [left], "the signal has its outcome");
}

#[test]
fn what_another_boot_or_a_partial_view_shows_is_no_outcome() {
    let (mut app, _, _) = unresolved(Some("another"));
    assert_eq!(press(&mut app, "<a-l>"), []);
    assert!(app.status().is_some_and(|said| said.contains("another boot")));
    let (mut app, _, _) = unresolved(None);
    let mut world = World::clone(&without(48_271));
    world.sample.hidden = Some(3);
    update(&mut app, Event::World(Arc::new(world)));
    assert_eq!(press(&mut app, "<a-l>"), []);
    assert!(
        app.status()
            .is_some_and(|said| said.contains("hidden from this user"))
    );
}

#[test]
fn an_incident_is_closed_with_what_is_left_and_nothing_is_written_behind_it() {
    let (mut app, mut journal, _) = unresolved(None);
    press(&mut app, "<a-i>");
    let (label, why) = asked(&app);
    assert_eq!(label, "close, what is left: ");
    assert!(
        why.starts_with("Enter: close all the same. LEFT OPEN: git 48271: ")
            && why.contains("1 signal without an outcome")
            && why.ends_with("; 2 servers (held 1, wedged 1) seen and not handled"),
        "{why}"
    );
    let effects = press(&mut app, "the-remote <enter>");
    let [Effect::Desk(_, Order::Append(entry))] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(
        **entry,
        Entry::Closed {
            remaining: Some("the-remote".to_owned())
        }
    );
    serve(&mut app, &mut journal, effects);
    assert!(!app.keep().is_open());
    assert_eq!(app.status(), Some("on disk: entry 4: incident OPS is closed"));
    assert_eq!(press(&mut app, "q"), [Effect::Quit]);
    let mut app = live_app();
    press(&mut app, "<a-i>");
    assert!(
        app.status()
            .is_some_and(|said| said.contains("no incident is open"))
    );
}

#[test]
fn what_could_not_be_closed_stays_open_and_is_not_tried_again() {
    let (mut app, mut journal, _) = unresolved(None);
    let effects = press(&mut app, "<a-i> <enter>");
    let why = Outcome::Written(Err("disk full".to_owned()));
    update(&mut app, Event::Done(jobs(&effects)[0], why));
    assert_eq!(app.status(), Some("NOT CLOSED: disk full"));
    assert!(app.keep().is_open());
    let written = served(&mut app, &mut journal, "m x <enter>");
    assert!(matches!(&written[..], [Entry::Note { .. }]), "{written:?}");
    // What is not on the disk would be lost.
    press(&mut app, "m y <enter> <a-i>");
    assert!(app.prompt().is_none());
    assert!(
        app.status()
            .is_some_and(|said| said.starts_with("not closed yet"))
    );
}

/// The live world, where the client of so many is gone with its parenthood.
#[test]
fn a_client_that_was_seen_to_go_is_in_the_record_and_in_the_journal() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    let instance = world.judged.instances.iter().find(|one| one.client.is_some());
    let instance = instance.expect("one with a client").clone();
    let client = instance.client.as_ref().expect("a client").process;
    let mut later = World::clone(&world);
    later.sample.taken_at = UnixMillis(world.sample.taken_at.0 + 2000);
    later.sample.since_boot_ms += 2000;
    later.sample.processes.remove(&client.pid);
    for one in &mut later.judged.instances {
        if one.client.as_ref().is_some_and(|one| one.process == client) {
            one.client = None;
        }
    }
    update(&mut app, Event::World(Arc::new(later)));
    let record = app.record(instance.id).expect("a record");
    let unavailable = record.times.client_unavailable.expect("an interval");
    assert_eq!(
        (unavailable.after, unavailable.before),
        (
            Some(world.sample.taken_at),
            Some(UnixMillis(world.sample.taken_at.0 + 2000))
        )
    );
    let told = crate::journal::record::plain(&record.fields[1].value);
    assert!(
        told.starts_with(&client.pid.to_string()) && told.contains("gone since"),
        "{told}"
    );
    // Once the incident tells of the server, the interval is journalled, once.
    let (_, mut answer) = opened(&mut journal, None, &world);
    let note = Entry::Note {
        on: Some(crate::journal::Subject::Instance(InstanceRef::of(&instance))),
        text: "x".to_owned(),
    };
    answer.lines.push(journal.add(&note));
    let effects = press(&mut app, "i T <enter>");
    let effects = update(
        &mut app,
        Event::Done(jobs(&effects)[0], Outcome::Opened(Ok(answer))),
    );
    let written = serve(&mut app, &mut journal, effects);
    let [
        Entry::ClientUnavailable {
            on,
            after,
            source: FieldSource::Observed,
            basis,
            ..
        },
    ] = &written[..]
    else {
        panic!("{written:?}")
    };
    assert_eq!((on.id, *after), (instance.id, Some(world.sample.taken_at)));
    assert!(basis.starts_with(&format!("client {} (", client.pid)), "{basis}");
    assert!(
        !app.status().unwrap_or_default().contains("unavailable"),
        "nobody asked"
    );
    let written = served(&mut app, &mut journal, "m y <enter>");
    assert!(matches!(&written[..], [Entry::Note { .. }]), "{written:?}");
}

#[test]
fn a_copy_while_the_incident_is_being_opened_names_it() {
    let mut app = live_app();
    press(&mut app, "i OPS-9 <enter>");
    for (key, wanted) in [('y', "OPS-9 (being opened)"), ('Y', "OPS-9 (being opened)")] {
        let effects = update(&mut app, Event::Key(Key::Char(key)));
        let copy = effects.iter().find_map(|effect| match effect {
            Effect::Desk(_, Order::Copy(copy)) => Some(copy),
            _ => None,
        });
        let text = &copy.expect("a copy").text;
        assert!(text.contains(wanted) && !text.contains("no incident"), "{text}");
    }
}

#[test]
fn a_message_with_a_path_keeps_its_end() {
    let mut app = live_app();
    let mut journal = Journal::of(&live().world());
    let (_, mut answer) = opened(&mut journal, Some("OPS-2".to_owned()), &live().world());
    answer.path = format!(
        "/var/lib/{}/incidents/20261201T010802.123Z-devbox-7-ops-2",
        "x".repeat(80)
    );
    let effects = press(&mut app, "i OPS-2 <enter>");
    update(
        &mut app,
        Event::Done(jobs(&effects)[0], Outcome::Opened(Ok(answer))),
    );
    let said = app.status().unwrap_or_default();
    assert!(said.starts_with("incident OPS-2 is open in /var/lib/"), "{said}");
    assert!(
        said.ends_with("-devbox-7-ops-2") && said.chars().count() < 80,
        "{said}"
    );
}
