//! Copies of a record, read back as they are shown: one table a record, notes in blocks, no token in any.

use std::sync::Arc;

use mcpwake::journal::entry::SnapshotReason;
use mcpwake::journal::story::Thread;
use mcpwake::journal::{Evidence, InstanceRef, Record, markdown};
use mcpwake::text::Safe;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::kit::{self, State};
use super::record::ARGV;

/// The tables of a text as GitHub would show them: rows of cells as plain text; and all code spans.
fn read_back(text: &str) -> (Vec<Vec<Vec<String>>>, Vec<String>) {
    let mut tables: Vec<Vec<Vec<String>>> = Vec::new();
    let mut code = Vec::new();
    let mut html_code: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        let cell = tables
            .last_mut()
            .and_then(|table| table.last_mut())
            .and_then(|row| row.last_mut());
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => tables.last_mut().unwrap().push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                tables.last_mut().unwrap().last_mut().unwrap().push(String::new());
            }
            Event::Text(text) => {
                if let Some(html) = &mut html_code {
                    html.push_str(&text);
                }
                if let Some(cell) = cell {
                    cell.push_str(&text);
                }
            }
            Event::Code(text) => {
                code.push(text.to_string());
                if let Some(cell) = cell {
                    cell.push_str(&text);
                }
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock) => {
                panic!("markup in {text}")
            }
            Event::InlineHtml(html) if &*html == "<code>" => html_code = Some(String::new()),
            Event::InlineHtml(html) if &*html == "</code>" => code.extend(html_code.take()),
            // The comment that keeps a sign and a word apart.
            Event::InlineHtml(html) => assert_eq!(&*html, "<!-- -->"),
            _ => {}
        }
    }
    (tables, code)
}

fn copy_of(argv: &[&str], title: &str) -> String {
    let world = Arc::new(kit::severed(argv));
    let thread = Thread::new(InstanceRef::of(&world.judged.instances[0]));
    let evidence = Evidence {
        file: None,
        kept: None,
        program: "mcpwake".to_owned(),
        world,
    };
    let origin = markdown::Origin {
        title,
        host: "devbox-7",
        path: "/var/lib/mcpwake/incidents/x",
        head: None,
    };
    let record = Record::new(&thread, Some(&evidence), &kit::redactor());
    markdown::record(&record, &origin)
}

#[test]
fn an_exported_incident_reads_back_as_one_table_a_record() {
    let state = State::new();
    let incident = state.incident();
    incident
        .save(
            &kit::snapshot(&kit::severed(&ARGV)),
            SnapshotReason::Freeze,
            &kit::operator(),
        )
        .unwrap();
    let receipt = incident
        .append(
            kit::note("| a | b |\n|---|---|\n| *x* | <script> @ana #12 www.example.org |"),
            &kit::operator(),
            kit::NOW,
        )
        .unwrap();
    let text = markdown::incident(&incident.tell().unwrap().export(&kit::redactor()));
    let (tables, code) = read_back(&text);
    assert_eq!(tables.len(), 1, "{text}");
    assert_eq!(tables[0].len(), 14, "{text}");
    assert!(code.iter().any(|span| span == &receipt.head().hash.to_string()));
    let command = format!(
        "mcpwake verify {} --expect-head {}",
        shlex::try_quote(incident.path().to_str().unwrap()).unwrap(),
        receipt.head()
    );
    assert!(code.contains(&command), "{text}");
    for title in ["Done", "Open leads", "Unresolved signals", "Next step"] {
        assert!(text.contains(&format!("**{title}**")), "{text}");
    }
}

#[test]
fn a_note_of_several_lines_is_one_block_whatever_is_in_it() {
    let state = State::new();
    let incident = state.incident();
    let note = "first ``` line\n```\n| a | b |\n|---|---|\n\n# *x* @ana\u{1b}[31m\n````";
    incident
        .append(kit::note(note), &kit::operator(), kit::NOW)
        .unwrap();
    let text = markdown::incident(&incident.tell().unwrap().export(&kit::redactor()));
    let mut blocks = Vec::new();
    let mut open = false;
    for event in Parser::new_ext(&text, Options::all()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                open = true;
                blocks.push(String::new());
            }
            Event::End(pulldown_cmark::TagEnd::CodeBlock) => open = false,
            Event::Text(part) if open => blocks.last_mut().unwrap().push_str(&part),
            Event::Start(
                Tag::Table(_)
                | Tag::Heading {
                    level: pulldown_cmark::HeadingLevel::H3,
                    ..
                },
            ) => {
                panic!("{text}")
            }
            _ => {}
        }
    }
    assert_eq!(blocks.len(), 1, "{text}");
    assert_eq!(blocks[0].lines().count(), note.lines().count(), "{text}");
    for (shown, line) in blocks[0].lines().zip(note.lines()) {
        assert!(line.contains('\u{1b}') || shown == line, "{shown:?} for {line:?}");
        assert!(!shown.contains('\u{1b}'));
    }
}

#[test]
fn a_token_is_in_no_copy() {
    let token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    let text = copy_of(&["node", "server.js", "--token", token], "x");
    assert!(!text.contains(token), "{text}");
}

proptest! {
    /// Whatever a command line and a title hold, the copy is one table of two columns, and the command is
    /// there letter by letter.
    #[test]
    fn a_copy_is_one_table_and_exact(word in "([ -~\u{a0}-\u{24f}\n\t\\\\|`]|\\\\|\\||`){1,24}", title in "[ -~|`\n]{0,20}") {
        let text = copy_of(&["server", &word], &title);
        let (tables, code) = read_back(&text);
        prop_assert_eq!(tables.len(), 1);
        prop_assert!(tables[0].iter().all(|row| row.len() == 2), "{}", text);
        prop_assert_eq!(tables[0].len(), 14);
        let redacted = kit::redactor().argv(&["server", &word]);
        let expected = mcpwake::text::shell::line(&redacted, usize::MAX);
        prop_assert!(code.iter().any(|span| span == expected.as_str()), "{text}\n{expected:?}");
    }

    #[test]
    fn words_are_words(text in "\\PC{0,40}") {
        let cell = format!("| | |\n|---|---|\n| a | x{} |\n", markdown::words(&text));
        let (tables, code) = read_back(&cell);
        let shown = tables[0][1][1].clone();
        let expected = format!("x{}", Safe::from_text(&text));
        prop_assert_eq!(shown.trim_end(), expected.trim_end());
        prop_assert!(code.is_empty());
    }
}
