//! Servers that have ended: their rows, their records, and what is left open of them.

use std::sync::Arc;

use super::super::Standing;
use super::super::testkit::{Journal, opened, served};
use crate::app::effect::{Effect, Followed, Order, Outcome};
use crate::app::popup::{Content, Popup};
use crate::app::testkit::{NOW, app, app_with, live, options, pid, press, selected};
use crate::app::{App, Event, update};
use crate::journal::entry::OutcomeKind;
use crate::journal::export::Export;
use crate::journal::line::Line;
use crate::journal::{Entry, Evidence, Subject};
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// The live world without git, a second later.
fn without_git() -> Arc<World> {
    let mut scene = live();
    scene.seq += 1;
    scene.sample.taken_at = UnixMillis(scene.sample.taken_at.0 + 1000);
    scene.sample.processes.remove(&pid(48_271));
    let instances = &mut scene.judged.instances;
    instances.retain(|one| one.lead_process().pid != pid(48_271));
    scene.world()
}

/// An incident with one lead of git revoked, after which git has ended.
fn ended() -> (App, Journal) {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(
        &mut app,
        &mut journal,
        "r OPS-1412 <enter> G v gateway <enter> <esc>",
    );
    update(&mut app, Event::World(without_git()));
    (app, journal)
}

fn reasons(app: &App) -> Vec<String> {
    match app.popup().map(Popup::content) {
        Some(Content::Quit { reasons }) => reasons.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_record_of_a_server_that_has_ended_is_reached_from_the_incident_and_filled() {
    let (mut app, mut journal) = ended();
    press(&mut app, "<down>");
    assert_ne!(selected(&app), "git 48271");
    press(&mut app, "i");
    let listed = app.listed();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].standing, listed[0].counts()),
        (Standing::Exited, (1, 0, 3))
    );
    let written = served(
        &mut app,
        &mut journal,
        "<enter> G d 401 <enter> k v console <enter> m looked <enter> g <enter> text <enter>",
    );
    let kinds: Vec<&str> = written
        .iter()
        .filter_map(|entry| match entry {
            Entry::Denied { .. } => Some("denied"),
            Entry::Revoked { .. } => Some("revoked"),
            Entry::Note { .. } => Some("note"),
            Entry::Field { .. } => Some("field"),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["denied", "revoked", "note", "field"]);
    press(&mut app, "<esc>");
    assert!(matches!(
        app.popup().map(Popup::content),
        Some(Content::Incident { at: 0 })
    ));
    assert_eq!(app.listed()[0].counts(), (2, 1, 3));
    press(&mut app, "<esc>");
    assert!(app.popup().is_none());
}

#[test]
fn a_server_that_ended_behind_a_held_sample_keeps_its_record_after_the_thaw() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let git = app.selected().and_then(|(_, node)| node.instance).expect("git");
    assert_eq!(app.progress(git).leads, 3);
    press(&mut app, "Z <down>");
    update(&mut app, Event::World(without_git()));
    let mut later = World::clone(&without_git());
    later.seq += 1;
    later.sample.taken_at.0 += 60_000;
    update(&mut app, Event::World(Arc::new(later)));
    press(&mut app, "<up>");
    assert_eq!(selected(&app), "git 48271");
    press(&mut app, "Z");
    let ghost = app.nav().ghost().expect("its row");
    assert_eq!(ghost.gone(), without_git().sample.taken_at);
    assert_eq!(app.progress(git).leads, 3);
}

#[test]
fn a_signal_that_came_too_late_does_not_hide_the_one_that_ended_it() {
    let (mut app, mut journal) = ended();
    let on = app.listed()[0].record.instance.clone();
    let target = crate::journal::TargetRef {
        key: on.id.0,
        pidfd_inode: None,
        argv: Vec::new(),
        instance: Some(on),
    };
    let about = Entry::AboutToSignal {
        signal: "TERM".to_owned(),
        targets: vec![target.clone()],
        way: "pidfd".to_owned(),
    };
    let first = journal.add(&about);
    let second = journal.add(&about);
    let sent = journal.add(&Entry::Sent {
        signal: "TERM".to_owned(),
        target: target.clone(),
        way: "pidfd".to_owned(),
        refused: None,
        announced: Some(first.seq),
    });
    let outcome = |outcome, after_ms, announced: &Line| Entry::Outcome {
        signal: "TERM".to_owned(),
        target: target.clone(),
        outcome,
        after_ms,
        detail: None,
        announced: Some(announced.seq),
    };
    let late = journal.add(&outcome(OutcomeKind::AlreadyGone, None, &second));
    let end = journal.add(&outcome(OutcomeKind::Exited, Some(7), &first));
    let followed = Followed {
        lines: vec![first, second, sent, late, end],
        ..Followed::default()
    };
    let job = update(&mut app, Event::Tick(UnixMillis(NOW + 1_000)))
        .into_iter()
        .find_map(|effect| match effect {
            Effect::Desk(job, Order::Follow) => Some(job),
            _ => None,
        })
        .expect("the journal is followed");
    update(&mut app, Event::Done(job, Outcome::Followed(Ok(followed))));
    assert_eq!(
        app.listed()[0].outcome().as_deref(),
        Some("TERM exited after 7 ms")
    );
}

#[test]
fn what_a_server_held_is_not_forgotten_by_a_sample_that_shows_it_dead() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(
        &mut app,
        &mut journal,
        "r OPS-1412 <enter> G v gateway <enter> <esc>",
    );
    let mut dead = live();
    dead.seq += 1;
    let process = dead.sample.processes.get_mut(&pid(48_271)).expect("git");
    Arc::make_mut(process).state = 'Z';
    for instance in &mut dead.judged.instances {
        if instance.lead_process().pid == pid(48_271) {
            instance.reach = Some(Vec::new());
        }
    }
    for next in [dead.world(), without_git()] {
        update(&mut app, Event::World(next));
        assert_eq!(app.listed()[0].counts(), (1, 0, 3));
    }
    let (shown, node) = app.selected().expect("a row");
    let instance = node.instance.and_then(|id| shown.instance(id)).expect("git");
    assert_eq!(
        instance.reach.as_ref().map(Vec::len),
        Some(3),
        "as it was seen alive"
    );
    assert_eq!(press(&mut app, "q"), []);
    assert_eq!(
        reasons(&app),
        ["git 48271 (exited): 3 of 3 leads not shown to be denied"]
    );
}

#[test]
fn quitting_and_closing_name_what_the_export_names_of_servers_that_have_ended() {
    let (mut app, _) = ended();
    assert_eq!(press(&mut app, "q"), []);
    let wanted = "git 48271 (exited): 3 of 3 leads not shown to be denied";
    assert_eq!(reasons(&app), [wanted]);
    press(&mut app, "<esc> <a-i>");
    let why = app.prompt().and_then(|prompt| prompt.complaint());
    assert!(why.is_some_and(|why| why.contains(wanted)), "{why:?}");
    let story = app.keep().incident().expect("an incident").story().clone();
    let seen = Evidence {
        file: None,
        kept: None,
        program: "mcpwake".to_owned(),
        world: live().world(),
    };
    let redactor = &options().keep_redactor;
    let export = Export::new(&story, &[seen], "/one", Vec::new(), redactor);
    assert_eq!(export.first_page.open_leads.len(), 3);
}

#[test]
fn no_key_acts_on_a_row_that_nobody_chose() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    update(&mut app, Event::World(without_git()));
    assert_eq!(selected(&app), "git 48271");
    let written = served(&mut app, &mut journal, "m OPS <enter> gone <enter>");
    assert!(
        matches!(&written[1], Entry::Note { on: Some(Subject::Instance(on)), .. } if on.pid() == pid(48_271)),
        "{written:?}"
    );
    let effects = press(&mut app, "y");
    let copied = effects.iter().find_map(|effect| match effect {
        Effect::Desk(_, Order::Copy(copy)) => Some(copy.text.clone()),
        _ => None,
    });
    assert!(copied.is_some_and(|text| text.contains("48271") && !text.contains("50113")));
    press(&mut app, "T");
    assert!(app.popup().is_none(), "no dialog");
    assert!(app.status().is_some_and(|said| said.contains("gone")));
    press(&mut app, "<space>");
    assert!(app.marks().is_empty());
    served(&mut app, &mut journal, "r G v gateway <enter> <esc>");
    let thread = app
        .keep()
        .incident()
        .expect("one")
        .story()
        .threads
        .values()
        .next();
    assert_eq!(thread.map(|thread| thread.leads.len()), Some(1));
    assert_eq!(app.listed()[0].record.leads.len(), 3);
}

#[test]
fn a_second_run_fills_the_record_from_the_snapshots() {
    let world = live().world();
    let (first, mut journal) = ended();
    let (_, mut answer) = opened(&mut journal, Some("OPS-1412".to_owned()), &world);
    let on = first.listed()[0].record.instance.clone();
    let lead = first.listed()[0].record.leads[0].lead.clone();
    let revoked = Entry::Revoked {
        on,
        lead,
        revoked_at: UnixMillis(0),
        by: None,
        how: None,
        done_by: None,
        done_at: None,
    };
    answer.lines = vec![journal.add(&revoked)];
    answer.evidence = vec![world];
    let mut second = app_with(options(), without_git(), 80, 24);
    update(&mut second, Event::Incident(answer));
    let listed = second.listed();
    assert_eq!(
        (listed[0].standing, listed[0].counts()),
        (Standing::NotSeen, (1, 0, 3)),
        "nobody saw it end"
    );
    press(&mut second, "i <enter>");
    let Some(Content::Record(form)) = second.popup().map(Popup::content) else {
        panic!("a form");
    };
    assert!(form.record(&second).fields[2].value.len() > 1, "pid and command");
}

#[test]
fn read_only_looks_at_records_and_writes_nothing() {
    let world = live().world();
    let (first, mut journal) = ended();
    let mut options = options();
    options.read_only = true;
    options.origin = Some("/incident".to_owned());
    let mut app = app_with(options, Arc::clone(&world), 80, 24);
    let (_, mut answer) = opened(&mut journal, Some("OPS-1412".to_owned()), &world);
    let on = first.listed()[0].record.instance.clone();
    let text = "seen".to_owned();
    answer.lines.push(journal.add(&Entry::Note {
        on: Some(Subject::Instance(on)),
        text,
    }));
    update(&mut app, Event::Incident(answer));
    press(&mut app, "i");
    assert_eq!(app.listed()[0].standing, Standing::InSample);
    press(&mut app, "<enter>");
    for key in ["<enter>", "G", "v", "d", "a", "x", "m", "e"] {
        let effects = press(&mut app, key);
        assert_eq!(effects, [], "{key}");
        let Some(Content::Record(form)) = app.popup().map(Popup::content) else {
            panic!("a form");
        };
        assert!(form.typing().is_none(), "{key}");
        assert!(
            key == "G" || app.status().is_some_and(|said| said.contains("read-only")),
            "{key}"
        );
    }
}
