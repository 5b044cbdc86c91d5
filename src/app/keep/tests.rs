//! What keys keep: incidents, notes, marks; what is not on the disk; what stands against quitting.

mod closing;
mod filling;
mod leaving;
mod others;

use std::sync::Arc;

use proptest::prelude::*;

use super::testkit::{Journal, served};
use crate::app::effect::{Effect, JobId, Material, Order, Outcome};
use crate::app::popup::Content;
use crate::app::testkit::{app, app_with, live, options, press, selected};
use crate::app::{App, Event, Key, update};
use crate::journal::entry::{FieldName, FieldSource, FileRef};
use crate::journal::{Digest, Entry, Subject};
use crate::model::time::UnixMillis;
use crate::model::world::World;

fn live_app() -> App {
    app(live().world(), 80, 24)
}

fn jobs(effects: &[Effect]) -> Vec<JobId> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Desk(job, _) => Some(*job),
            _ => None,
        })
        .collect()
}

#[test]
fn the_first_note_asks_for_a_title_once() {
    let world: Arc<World> = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    let written = served(&mut app, &mut journal, "m OPS-1412 <enter> seen <enter>");
    let [Entry::Opened { title, .. }, Entry::Note { on: Some(on), text }] = &written[..] else {
        panic!("{written:?}");
    };
    assert_eq!((title.as_str(), text.as_str()), ("OPS-1412", "seen"));
    assert!(matches!(on, Subject::Instance(one) if one.name == "git" && one.pid().get() == 48_271));
    let written = served(&mut app, &mut journal, "m more <enter>");
    assert!(matches!(&written[..], [Entry::Note { .. }]), "no second title");
    let incident = app.keep().incident().expect("an incident");
    assert_eq!(incident.title(), "OPS-1412");
    assert_eq!(incident.head().map(|head| head.seq), Some(3));
    assert_eq!(app.status(), Some("on disk: entry 3: the note on git 48271"));
}

#[test]
fn an_entry_that_is_not_read_back_is_not_given_the_number_of_another() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    let _ = served(&mut app, &mut journal, "m T <enter> one <enter>");
    let effects = press(&mut app, "m two <enter>");
    let Some(Effect::Desk(job, Order::Append(_))) = effects.into_iter().next() else {
        panic!("a note is appended");
    };
    update(&mut app, Event::Done(job, Outcome::Written(Ok(Vec::new()))));
    let said = "on disk, behind what is not as it was written: the note on git 48271";
    assert_eq!(app.status(), Some(said));
}

#[test]
fn it_is_said_that_a_secret_was_left_out() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    let _ = served(&mut app, &mut journal, "m T <enter> token:s3cr3t-7f <enter>");
    let said = "on disk: entry 2: the note on git 48271; what looked like a secret is left out";
    assert_eq!(app.status(), Some(said));
    let _ = served(&mut app, &mut journal, "m token:401 <enter>");
    assert_eq!(app.status(), Some("on disk: entry 3: the note on git 48271"));
}

#[test]
fn a_note_is_turned_to_the_incident_by_tab() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    let written = served(&mut app, &mut journal, "m T <enter> <tab> all <enter>");
    assert!(matches!(&written[1], Entry::Note { on: None, text } if text == "all"));
}

#[test]
fn rows_that_count_several_take_the_marked_rows() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    press(&mut app, "<home> y");
    assert!(app.prompt().is_none());
    assert!(app.status().is_some_and(|said| said.contains("Space")));
    press(&mut app, "<down> <space> <space>");
    assert_eq!(selected(&app), "scrape 50113");
    assert_eq!(app.marks().len(), 2);
    let written = served(&mut app, &mut journal, "<home> m T <enter> both <enter>");
    assert_eq!(written.len(), 3, "{written:?}");
    press(&mut app, "U");
    assert!(app.marks().is_empty());
}

#[test]
fn on_a_row_that_counts_several_a_note_is_on_the_incident_and_says_so() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "<home> m T <enter>");
    let prompt = app.prompt().expect("a prompt");
    assert_eq!(prompt.label().as_str(), "note on the incident: ");
    let said = prompt.complaint().unwrap_or_default().to_owned();
    assert!(said.contains("whole incident"), "{said}");
    // There is no row to turn it to.
    let written = served(&mut app, &mut journal, "<tab> q K <enter>");
    assert!(
        matches!(&written[..], [Entry::Note { on: None, text }] if text == "qK"),
        "{written:?}"
    );
}

#[test]
fn an_empty_note_is_not_written_and_an_empty_title_goes_on_with_the_open_incident() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    let effects = press(&mut app, "i <space> <enter>");
    assert!(matches!(
        &effects[..],
        [
            Effect::Desk(_, Order::FindOpen(_)),
            Effect::Desk(_, Order::Open { title: None, .. })
        ]
    ));
    super::testkit::serve(&mut app, &mut journal, effects);
    assert_eq!(app.keep().incident().map(super::Incident::title), Some("OPEN-1"));
    assert!(served(&mut app, &mut journal, "m <enter>").is_empty());
}

#[test]
fn what_could_not_be_written_is_kept_and_tried_again() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "i T <enter>");
    let effects = press(&mut app, "m first <enter>");
    let why = "append to /x: no space left on device".to_owned();
    update(
        &mut app,
        Event::Done(jobs(&effects)[0], Outcome::Written(Err(why))),
    );
    assert_eq!(app.keep().not_on_disk(), ["the note on git 48271"]);
    let written = served(&mut app, &mut journal, "m second <enter>");
    let texts: Vec<&str> = written
        .iter()
        .filter_map(|entry| match entry {
            Entry::Note { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["first", "second"]);
    assert!(app.keep().not_on_disk().is_empty());
}

#[test]
fn quitting_asks_while_something_is_not_on_disk() {
    let mut app = live_app();
    assert_eq!(press(&mut app, "q"), [Effect::Quit]);
    press(&mut app, "m T <enter> lost? <enter>");
    assert_eq!(press(&mut app, "q"), []);
    assert!(
        app.popup()
            .is_some_and(|popup| matches!(popup.content(), Content::Quit { reasons } if reasons.len() == 1))
    );
    assert_eq!(press(&mut app, "q"), [], "another key stays");
    assert!(app.popup().is_none());
    assert_eq!(press(&mut app, "q y"), [Effect::Quit]);
    assert_eq!(press(&mut app, "<c-c>"), []);
    assert_eq!(press(&mut app, "<c-c>"), [Effect::Quit]);
}

#[test]
fn quitting_names_the_leads_that_were_begun_with_and_are_left_open() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "r T <enter> <esc>");
    assert_eq!(press(&mut app, "q"), [Effect::Quit], "nothing was begun");
    for (keys, open) in [("r G d <enter> <enter> <esc>", 3), ("r G d 401 <enter> <esc>", 2)] {
        served(&mut app, &mut journal, keys);
        assert_eq!(press(&mut app, "q"), []);
        let Some(Content::Quit { reasons }) = app.popup().map(crate::app::popup::Popup::content) else {
            panic!("a question");
        };
        let wanted = format!("git 48271: {open} of 3 leads not shown to be denied");
        assert_eq!(reasons[..], [wanted], "a denial without a check is a claim");
        press(&mut app, "<esc>");
    }
}

#[test]
fn a_note_that_is_being_typed_is_not_lost_to_an_interrupt() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "i T <enter>");
    assert_eq!(press(&mut app, "m half <c-c>"), []);
    press(&mut app, "<esc>");
    assert_eq!(app.prompt().map(crate::app::prompt::Prompt::text), Some("half"));
}

#[test]
fn read_only_opens_and_writes_nothing() {
    let mut options = options();
    options.read_only = true;
    let mut app = app_with(options, live().world(), 80, 24);
    for key in ['i', 'm'] {
        assert_eq!(update(&mut app, Event::Key(Key::Char(key))), []);
        assert!(app.prompt().is_none());
        assert!(app.status().is_some_and(|said| said.contains("read-only")));
    }
}

#[test]
fn lines_of_another_operator_are_taken_and_none_twice() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "i T <enter>");
    let theirs = journal.add(&Entry::Snapshot {
        file: FileRef {
            path: "snapshots/1.json".to_owned(),
            bytes: 3,
            sha256: Digest::of(b"abc"),
        },
        taken_at: UnixMillis(0),
        processes: 1,
        instances: 1,
        why: crate::journal::entry::SnapshotReason::Command,
    });
    let effects = press(&mut app, "m mine <enter>");
    let Some(Effect::Desk(job, Order::Append(entry))) = effects.into_iter().next() else {
        panic!("an order");
    };
    let mine = journal.add(&entry);
    let lines = vec![theirs.clone(), mine];
    update(&mut app, Event::Done(job, Outcome::Written(Ok(lines))));
    super::add(&mut app, &[theirs]);
    let story = app.keep().incident().expect("an incident").story();
    assert_eq!(story.snapshots.len(), 1);
    assert_eq!(story.events.len(), 2);
}

#[test]
fn the_record_is_filled_and_leads_are_marked_within_few_keys() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "r OPS-1412 <enter>");
    let written = served(
        &mut app,
        &mut journal,
        "G v gateway <enter> d 401 <enter> k v <enter> g <end> k k k <enter> later <enter>",
    );
    let [
        Entry::Revoked { lead, how, .. },
        Entry::Denied { .. },
        Entry::Revoked {
            lead: second,
            how: None,
            ..
        },
        Entry::Field {
            field, value, source, ..
        },
    ] = &written[..]
    else {
        panic!("{written:?}");
    };
    assert_eq!((lead.letter.as_str(), how.as_deref()), ("c", Some("gateway")));
    assert_eq!(second.letter, "b");
    assert_eq!((*field, value.as_str()), (FieldName::FollowUp, "later"));
    assert_eq!(*source, FieldSource::Entered);
    let id = world
        .judged
        .instances
        .iter()
        .find(|one| one.name.lossy() == "git")
        .expect("git")
        .id;
    let progress = app.progress(id);
    assert_eq!((progress.leads, progress.revoked, progress.denied), (3, 2, 1));
    press(&mut app, "<esc>");
    assert!(app.popup().is_none());
}

#[test]
fn output_is_attached_as_it_was_pasted() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "r T <enter>");
    press(&mut app, "G a");
    let output = "line 1\nq\ty\n";
    update(&mut app, Event::Paste(output.to_owned()));
    let effects = press(&mut app, "<enter>");
    let [Effect::Desk(_, Order::Attach(attach))] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(attach.material, Material::Pasted(output.to_owned()));
    assert_eq!(attach.lead.as_ref().map(|lead| lead.letter.as_str()), Some("c"));
    press(&mut app, "a /tmp/x");
    let effects = press(&mut app, "<enter>");
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Desk(_, Order::Attach(attach)) if attach.material == Material::File("/tmp/x".to_owned())
    )));
}

#[test]
fn a_member_opens_the_record_of_its_server_and_a_row_of_several_says_why_not() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    press(&mut app, "<home> r");
    assert!(app.prompt().is_none() && app.popup().is_none());
    assert!(app.status().is_some_and(|said| said.contains("one server")));
    served(&mut app, &mut journal, "<down> <down> r T <enter>");
    assert!(
        app.popup()
            .is_some_and(|popup| matches!(popup.content(), Content::Record(form) if form.on().name == "git"))
    );
}

/// Whether something would be done outside the screen.
fn acts(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| !matches!(effect, Effect::Demand(_)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is open, and whatever is pasted: no command runs, and no popup or prompt opens or closes.
    #[test]
    fn pasted_text_never_triggers_a_command(
        keys in prop::sample::select(vec!["", "m T <enter>", "m", "i", "r T <enter>", "r T <enter> a", "r T <enter> <enter>", "/", ":", "?", "Z", "<enter>"]),
        text in "(?s)[ZfimrqyYU 0-9\\n\\r\\t\u{1b}\u{3}a-z/:?]{0,40}",
    ) {
        let world = live().world();
        let mut app = app(Arc::clone(&world), 80, 24);
        let mut journal = Journal::of(&world);
        served(&mut app, &mut journal, keys);
        let before = (app.popup().is_some(), app.prompt().is_some(), app.feed().is_live(), app.panes().shown());
        let effects = update(&mut app, Event::Paste(text));
        prop_assert!(!acts(&effects), "{effects:?}");
        let after = (app.popup().is_some(), app.prompt().is_some(), app.feed().is_live(), app.panes().shown());
        prop_assert_eq!(before, after);
        prop_assert!(app.marks().is_empty());
    }
}

#[test]
fn a_note_from_the_editor_has_its_lines_and_without_anything_new_is_none() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "m T <enter> typed");
    assert_eq!(
        press_key(&mut app, Key::Ctrl('e')),
        [Effect::Edit("typed".to_owned())]
    );
    for (result, said) in [
        (Ok("typed\n".to_owned()), "unchanged"),
        (Ok(" \n\n".to_owned()), "empty"),
        (
            Err("vi ended with exit status: 1".to_owned()),
            "NO NOTE WRITTEN: vi ended",
        ),
    ] {
        assert_eq!(update(&mut app, Event::Edited(result)), []);
        let complaint = app.prompt().and_then(|prompt| prompt.complaint());
        assert!(
            complaint.is_some_and(|complaint| complaint.contains(said)),
            "{complaint:?}"
        );
        assert_eq!(
            app.prompt().map(|prompt| prompt.text().to_owned()).as_deref(),
            Some("typed")
        );
    }
    let effects = update(&mut app, Event::Edited(Ok("typed\n\n  and more\n".to_owned())));
    assert!(app.prompt().is_none());
    let written = super::testkit::serve(&mut app, &mut journal, effects);
    assert!(matches!(&written[..], [Entry::Note { text, .. }] if text == "typed\n\n  and more"));
    // Elsewhere the key moves the cursor, as ever.
    press(&mut app, "/");
    assert_eq!(press_key(&mut app, Key::Ctrl('e')), []);
}

fn press_key(app: &mut App, key: Key) -> Vec<Effect> {
    update(app, Event::Key(key))
}
