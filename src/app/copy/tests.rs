//! What is copied: whole, without secrets, with its source.

use std::sync::Arc;

use super::Format;
use crate::app::effect::{Copy, Effect, Excerpt, Order, Outcome, Use};
use crate::app::freeze::SavedFile;
use crate::app::keep::testkit::{Journal, served};
use crate::app::testkit::{app, app_with, live, options, press};
use crate::app::{App, Event, Key, Options, update};
use crate::journal::Digest;
use crate::model::bytes::OsBytes;
use crate::model::reading::Reading;
use crate::text::redact::Redactor;

/// Made for this test; the shape is that of a GitHub token.
const TOKEN: &str = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

fn copied(effects: &[Effect]) -> Copy {
    match effects {
        [Effect::Desk(_, Order::Copy(copy))] => Copy::clone(copy),
        _ => panic!("{effects:?}"),
    }
}

/// Presses a key, and returns what it copies.
fn copy(app: &mut App, key: char) -> Copy {
    copied(&update(app, Event::Key(Key::Char(key))))
}

/// Presses the key for tab-separated values, and returns what it copies.
fn copy_tsv(app: &mut App) -> Copy {
    copied(&update(app, Event::Key(Key::Alt('y'))))
}

/// The rows of the one table in a text, cell by cell; escaped bars do not end a cell.
fn table(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.map(|row| {
        let row = row.replace("\\|", "\u{1}");
        let inner = row.trim_matches('|');
        inner
            .split('|')
            .map(|cell| cell.trim().replace('\u{1}', "\\|"))
            .collect()
    })
    .collect()
}

#[test]
fn rows_are_copied_as_one_table_with_whole_ids() {
    let mut app = app(live().world(), 80, 24);
    let instances = &app.world().unwrap().judged.instances;
    let git = instances.iter().find(|one| one.name.lossy() == "git");
    let id = git.unwrap().id.to_string();
    press(&mut app, "<space> <space>");
    let copy = copy(&mut app, 'y');
    let table = table(&copy.text);
    assert_eq!(table.len(), 4, "{}", copy.text);
    assert!(table.iter().all(|row| row.len() == 13));
    assert!(
        copy.text.contains(&id) || copy.text.contains("48271-"),
        "{}",
        copy.text
    );
    assert!(
        copy.text.contains("a tcp 10.2.0.4:443; b ssh deploy@"),
        "{}",
        copy.text
    );
    assert_eq!((copy.what.as_str(), copy.ending), ("2 rows", "md"));
}

#[test]
fn a_copy_names_title_snapshot_and_head_in_full() {
    let world = live().world();
    let mut app = app(Arc::clone(&world), 80, 24);
    let mut journal = Journal::of(&world);
    served(&mut app, &mut journal, "i OPS-1412 <enter>");
    let effects = press(&mut app, "Z");
    let Some(Effect::Desk(job, _)) = effects.first() else {
        panic!("{effects:?}");
    };
    let file = SavedFile {
        path: "/x.json".to_owned(),
        sha256: Digest::of(b"abc"),
    };
    update(
        &mut app,
        Event::Done(*job, Outcome::Saved(Ok((file, Vec::new())))),
    );
    let head = app.keep().incident().unwrap().head().unwrap().to_string();
    for text in [copy(&mut app, 'y').text, {
        press(&mut app, "<esc>");
        copy_tsv(&mut app).text
    }] {
        assert!(text.contains("OPS-1412"), "{text}");
        assert!(text.contains(&Digest::of(b"abc").to_string()), "{text}");
        assert!(text.contains(&head), "{text}");
    }
}

#[test]
fn tab_separated_values_have_a_value_for_each_head() {
    let mut app = app(live().world(), 80, 24);
    let copied = copy(&mut app, 'y');
    let copy = copy_tsv(&mut app);
    assert_eq!(copy.ending, Format::Tsv.ending());
    assert_eq!(copy.what, format!("{}, tab-separated", copied.what));
    let lines: Vec<&str> = copy.text.lines().collect();
    assert_eq!(lines.len(), 3, "{}", copy.text);
    let columns = lines[0].split('\t').count();
    assert_eq!(lines[1].split('\t').count(), columns);
    assert!(lines[2].starts_with("# "));
    // It copied, and changed nothing for the other key.
    assert_eq!(self::copy(&mut app, 'y'), copied);
}

#[test]
fn the_record_is_copied_with_its_thirteen_fields() {
    let mut app = app(live().world(), 80, 24);
    let copy = copy(&mut app, 'Y');
    assert_eq!(table(&copy.text).len(), 15, "{}", copy.text);
    assert!(copy.text.contains("Termination signal and exit result"));
    assert_eq!(copy.what, "the record of git 48271");
}

#[test]
fn rows_that_count_several_are_not_copied_for_themselves() {
    let mut app = app(live().world(), 80, 24);
    press(&mut app, "<home>");
    assert_eq!(press(&mut app, "y"), []);
    assert!(app.status().is_some_and(|said| said.contains("Space")));
}

#[test]
fn a_copy_holds_no_secret_and_no_control_character_whatever_the_screen_shows() {
    let mut scene = live();
    let argv = ["server", "--token", TOKEN, "a|b\u{1b}]52;c;x\u{7}\u{202e}`c`"];
    scene.edit(48_271).argv = Reading::Value(argv.iter().map(|one| OsBytes::from(*one)).collect());
    let mut options = options();
    options.redactor = Arc::new(Redactor::off());
    let mut app = crate::app::testkit::app_with(options, scene.world(), 80, 24);
    for key in ['y', 'Y'] {
        let text = copy(&mut app, key).text;
        assert!(!text.contains(TOKEN), "{text}");
        assert!(text.contains("<redacted:") || text.contains("redacted"), "{text}");
        assert!(
            text.chars().all(|c| c == '\n' || !c.is_control()) && !text.contains('\u{202e}'),
            "{text:?}"
        );
    }
}

#[test]
fn a_long_command_line_is_not_shortened() {
    let mut scene = live();
    let long = "x".repeat(20_000);
    let argv = ["server", long.as_str()];
    scene.edit(48_271).argv = Reading::Value(argv.iter().map(|one| OsBytes::from(*one)).collect());
    let mut app = app(scene.world(), 80, 24);
    assert!(copy(&mut app, 'y').text.contains(&long));
}

#[test]
fn the_line_of_a_pane_that_has_the_keys_is_copied_but_marked_rows_come_first() {
    let mut app = app(live().world(), 80, 24);
    press(&mut app, "<enter>");
    let effects = update(&mut app, Event::Key(Key::Char('y')));
    assert_eq!(effects, [Effect::Excerpt(Excerpt::Line, Use::Copy)]);
    let line = "lead c  GITHUB_TOKEN (name only)".to_owned();
    let effects = update(&mut app, Event::Excerpt(Use::Copy, Some(line.clone())));
    let copy = copied(&effects);
    assert_eq!((copy.text, copy.ending), (line, "txt"));
    let effects = update(&mut app, Event::Key(Key::Char('P')));
    assert_eq!(effects, [Effect::Excerpt(Excerpt::Pane, Use::Plain)]);
    press(&mut app, "<esc> <space> <enter>");
    assert!(
        copied(&update(&mut app, Event::Key(Key::Char('y'))))
            .text
            .starts_with("###")
    );
    press(&mut app, "<esc>");
    let effects = update(&mut app, Event::Key(Key::Char('P')));
    let [Effect::Plain(text)] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert!(text.contains("\nPID       48271\n"), "{text}");
    assert!(
        text.contains("COMMAND   python -m mcp_server_git --repository /srv/app\n"),
        "{text}"
    );
}

#[test]
fn a_screen_that_shows_secrets_copies_and_shows_plain_none() {
    let shown = Options {
        redactor: Arc::new(Redactor::off()),
        ..options()
    };
    let mut app = app_with(shown, live().world(), 80, 24);
    let line = format!("server --token {TOKEN}");
    let copy = copied(&update(&mut app, Event::Excerpt(Use::Copy, Some(line.clone()))));
    assert!(
        !copy.text.contains(TOKEN) && copy.text.contains("server"),
        "{}",
        copy.text
    );
    let effects = update(&mut app, Event::Excerpt(Use::Plain, Some(format!("a\n{line}"))));
    assert!(
        matches!(&effects[..], [Effect::Plain(text)] if !text.contains(TOKEN) && text.starts_with("a\n"))
    );
}
