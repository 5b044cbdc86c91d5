//! What is typed into the form of the record, and what is not written at once.

use std::sync::Arc;

use super::super::testkit::{Journal, served};
use super::super::{Form, Typing};
use crate::app::App;
use crate::app::popup::{Content, Popup};
use crate::app::testkit::{NOW, app, live, press};
use crate::journal::Entry;
use crate::journal::entry::{FieldName, FieldSource};
use crate::journal::record::{Field, plain};
use crate::model::time::UnixMillis;

fn form(app: &App) -> &Form {
    match app.popup().map(Popup::content) {
        Some(Content::Record(form)) => form,
        other => panic!("{other:?}"),
    }
}

fn field(app: &App, name: FieldName) -> Field {
    let record = form(app).record(app);
    let field = record.fields.into_iter().find(|field| field.name == name);
    field.expect("every field is there")
}

/// The form of git in an incident that was opened when the clock showed [`NOW`].
fn filling(size: (u16, u16)) -> (App, Journal) {
    let world = live().world();
    let mut app = app(Arc::clone(&world), size.0, size.1);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "r OPS-1412 <enter>");
    (app, journal)
}

#[test]
fn what_the_program_puts_together_is_not_typed_over() {
    let (mut app, mut journal) = filling((80, 40));
    served(&mut app, &mut journal, "G v gateway <enter> g");
    let before = field(&app, FieldName::Revocation);
    assert!(plain(&before.value).contains("(gateway)"));
    let down = "<down> ".repeat(10);
    press(&mut app, &format!("{down} <enter>"));
    let typing = form(&app).typing().expect("a prompt");
    assert_eq!(typing.text(), "", "an empty line");
    let written = served(&mut app, &mut journal, "ticket <enter>");
    assert!(
        matches!(&written[..], [Entry::Field { field: FieldName::Revocation, value, .. }] if value == "ticket"),
        "{written:?}"
    );
    let after = field(&app, FieldName::Revocation);
    assert_eq!(after.value, before.value, "it stands beside it");
    assert_eq!(after.added.map(|added| added.value).as_deref(), Some("ticket"));
    press(&mut app, "<enter>");
    assert_eq!(form(&app).typing().map(Typing::text).as_deref(), Some("ticket"));
    press(&mut app, "<esc> g <enter>");
    assert_eq!(form(&app).typing().map(Typing::text).as_deref(), Some(""));
    served(&mut app, &mut journal, "by watch <enter>");
    let observed = field(&app, FieldName::ObservedAt);
    assert_eq!(observed.source, Some(FieldSource::Observed), "and stays observed");
}

#[test]
fn a_field_is_emptied_by_an_entry_and_an_empty_line_elsewhere_says_that_it_writes_nothing() {
    let (mut app, mut journal) = filling((80, 40));
    let success = "<down> ".repeat(6);
    assert_eq!(
        served(&mut app, &mut journal, &format!("{success} <enter> <enter>")),
        []
    );
    assert!(
        app.status()
            .is_some_and(|said| said.contains("nothing is written"))
    );
    served(&mut app, &mut journal, "<enter> noon <enter>");
    assert_eq!(plain(&field(&app, FieldName::LastSuccess).value), "noon");
    let written = served(&mut app, &mut journal, "<enter> <c-u> <enter>");
    assert!(matches!(&written[..], [Entry::Field { value, .. }] if value.is_empty()));
    let emptied = field(&app, FieldName::LastSuccess);
    assert!(emptied.value.is_empty() && emptied.source.is_none());
    let story = app.keep().incident().expect("one").story();
    let last = story.events.last().expect("an event");
    assert!(last.what.ends_with("withdrawn"), "{}", last.what);
}

#[test]
fn a_denial_without_a_check_is_asked_for_once_more() {
    let (mut app, mut journal) = filling((80, 40));
    assert_eq!(served(&mut app, &mut journal, "G d <enter>"), []);
    let hint = form(&app).typing().and_then(|typing| typing.hint());
    assert!(
        hint.is_some_and(|hint| hint.contains("No check named")),
        "{hint:?}"
    );
    press(&mut app, "<esc>");
    assert!(form(&app).typing().is_none());
    let written = served(&mut app, &mut journal, "d <enter> <enter>");
    assert!(
        matches!(&written[..], [.., Entry::Denied { how: None, .. }]),
        "{written:?}"
    );
}

#[test]
fn who_revoked_it_and_when_is_kept_apart_from_who_typed_it() {
    let (mut app, mut journal) = filling((80, 40));
    let type_in = |app: &mut App, text: &str| {
        for c in text.chars() {
            crate::app::update(app, crate::app::Event::Key(crate::app::Key::Char(c)));
        }
    };
    press(&mut app, "G v");
    type_in(&mut app, "by anna at 00:40Z console");
    assert_eq!(served(&mut app, &mut journal, "<enter>"), []);
    let hint = form(&app).typing().and_then(|typing| typing.hint());
    assert!(
        hint.is_some_and(|hint| hint.contains("before this incident was opened")),
        "{hint:?}"
    );
    let written = served(&mut app, &mut journal, "<enter>");
    let Entry::Revoked {
        done_by,
        done_at: Some(done_at),
        revoked_at,
        how,
        ..
    } = &written[0]
    else {
        panic!("{written:?}");
    };
    assert_eq!(
        (done_by.as_deref(), how.as_deref()),
        (Some("anna"), Some("console"))
    );
    assert_eq!(done_at.clock(), "00:40:00Z");
    assert_eq!(*revoked_at, UnixMillis(NOW), "when it was typed");
    let told = plain(&field(&app, FieldName::Revocation).value);
    assert!(told.contains("00:40Z by anna · entered 01:0"), "{told}");
    assert!(told.contains("counted only since "), "no sample of then: {told}");
    let record = form(&app).record(&app);
    assert_eq!(record.times.authority_revoked_first, Some(*done_at));
    // A time that is none stays text, and that is said.
    press(&mut app, "k v");
    type_in(&mut app, "at noon");
    let written = served(&mut app, &mut journal, "<enter>");
    assert!(
        matches!(&written[..], [Entry::Revoked { how: Some(how), done_at: None, .. }] if how == "at noon"),
        "{written:?}"
    );
    assert!(
        app.status()
            .is_some_and(|said| said.contains("\"noon\" is no time"))
    );
}

#[test]
fn keys_of_an_authority_take_the_only_one_and_else_say_where_they_are() {
    let (mut app, _) = filling((80, 40));
    for key in ["v", "d", "x"] {
        press(&mut app, key);
        let said = app.status().expect("why").to_owned();
        assert!(
            said.starts_with("move to an authority (Down, G) first: 3 "),
            "{said}"
        );
    }
    let world = {
        let mut scene = live();
        for instance in &mut scene.judged.instances {
            if let Some(leads) = &mut instance.reach {
                let mut seen = 0;
                leads.retain(|lead| {
                    seen += usize::from(lead.kind.is_authority());
                    !lead.kind.is_authority() || seen == 1
                });
            }
        }
        scene.world()
    };
    let mut app = crate::app::testkit::app(Arc::clone(&world), 80, 40);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "r OPS-1412 <enter> v");
    assert!(
        form(&app)
            .typing()
            .is_some_and(|typing| typing.label().contains("revoked"))
    );
}

#[test]
fn a_record_names_the_snapshot_that_holds_its_server() {
    let (mut app, _) = filling((80, 40));
    let told = |app: &App| plain(&field(app, FieldName::ObservedAt).value);
    assert!(told(&app).contains("not saved"), "{}", told(&app));
    let digest = crate::journal::Digest::of(b"a snapshot");
    let mut before = live();
    before.sample.taken_at = UnixMillis(before.sample.taken_at.0 - 60_000);
    super::super::saved(&mut app, &before.world(), Some(digest));
    let told = told(&app);
    assert!(
        told.contains("not saved; kept as of ") && told.contains(&digest.to_string()),
        "{told}"
    );
    let id = form(&app).on().id;
    assert!(app.progress(id).kept);
}
