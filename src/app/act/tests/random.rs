//! Random keys, pastes and samples: no signal without the exact confirmation, and the exact
//! confirmation always sends.

use std::cell::RefCell;

use proptest::prelude::*;

use super::super::testkit::Bench;
use crate::app::popup::{Content, Popup};
use crate::app::testkit::{Scene, pid};
use crate::app::{Event, Key};
use crate::model::finding::Finding;
use crate::model::instance::OwnerKey;

/// Something that happens to the dialog.
#[derive(Clone, Debug)]
enum Step {
    Key(Key),
    Paste(String),
    World(u8),
}

/// A small machine: one server with a helper, another one, and no authority that is open.
fn small() -> Scene {
    let mut scene = Scene::new();
    let init = scene.key(1);
    scene.process(4_711, 1, "root", 1000, &["mcp-server-a"]);
    scene.process(4_712, 4_711, "root", 900, &["ssh", "host"]);
    scene.process(5_777, 1, "root", 800, &["mcp-server-b"]);
    let helper = scene.key(4_712);
    scene
        .instance("a", 4_711, OwnerKey::Adopter(init), Finding::Severed)
        .helpers = vec![helper];
    scene.instance("b", 5_777, OwnerKey::Adopter(init), Finding::Severed);
    scene
}

fn keys() -> impl Strategy<Value = Key> {
    prop_oneof![
        12 => prop::sample::select(vec!['7', '1', '2', '4', '5']).prop_map(Key::Char),
        8 => Just(Key::Enter),
        1 => Just(Key::Backspace),
        2 => prop::sample::select(vec![' ', 'o', 'c', 'T', 'K', 'y', 'L']).prop_map(Key::Char),
        2 => prop::sample::select(vec![Key::Up, Key::Down, Key::PageDown, Key::Tab, Key::Ctrl('u'), Key::F(9)]),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => keys().prop_map(Step::Key),
        1 => prop::sample::select(vec!["711\n", "711", "4711\n", "o", "\n"]).prop_map(|text| Step::Paste(text.to_owned())),
        1 => (0u8..4).prop_map(Step::World),
    ];
    prop::collection::vec(step, 1..24)
}

/// What has to be typed for these ticked pids, reckoned anew.
fn wanted(ticked: &[u32], kill: bool) -> Option<String> {
    let last = ticked.last()?.to_string();
    let digits = if kill { &last[..] } else { &last[last.len() - 3..] };
    let count = if ticked.len() > 1 {
        ticked.len().to_string()
    } else {
        String::new()
    };
    Some(format!("{count}{digits}"))
}

/// Reckons what the keys amount to, by nothing but the rules.
struct Model {
    items: Vec<(u32, bool)>,
    at: usize,
    scrolled: bool,
    typed: String,
    passed_over: Option<Vec<u32>>,
    kill: bool,
}

impl Model {
    fn ticked(&self) -> Vec<u32> {
        self.items
            .iter()
            .filter(|(_, ticked)| *ticked)
            .map(|(pid, _)| *pid)
            .collect()
    }

    /// Answers with whom a key signals first.
    fn key(&mut self, key: Key) -> Option<u32> {
        match key {
            Key::Char(digit) if digit.is_ascii_digit() => self.typed.push(digit),
            Key::Backspace => {
                self.typed.pop();
            }
            Key::Enter => {
                let typed = std::mem::take(&mut self.typed);
                let right = wanted(&self.ticked(), self.kill)? == typed;
                let ready = !self.kill || self.passed_over == Some(self.ticked());
                return (right && ready).then(|| self.ticked()[0]);
            }
            Key::Char(' ') => {
                self.typed.clear();
                if !std::mem::take(&mut self.scrolled) {
                    self.items[self.at].1 = !self.items[self.at].1;
                }
            }
            Key::Char('o') => {
                self.typed.clear();
                let ticked = Some(self.ticked()).filter(|ticked| !ticked.is_empty());
                if ticked.is_some() {
                    let again = self.passed_over == ticked;
                    self.passed_over = ticked.filter(|_| !again);
                }
            }
            Key::Char(_) | Key::Ctrl('u') => self.typed.clear(),
            Key::Up => {
                self.at = self.at.saturating_sub(1);
                self.scrolled = false;
            }
            Key::Down | Key::Tab => {
                self.at = (self.at + 1).min(self.items.len() - 1);
                self.scrolled = false;
            }
            Key::PageDown => self.scrolled = true,
            _ => {}
        }
        None
    }
}

thread_local! {
    /// How many signals the cases sent: a test in which none is sent shows nothing.
    static SENT: RefCell<u32> = const { RefCell::new(0) };
}

fn run(kill: bool, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut bench = Bench::new(small());
    bench.press(if kill { "K X <enter>" } else { "T X <enter>" });
    let mut model = Model {
        items: vec![(4_711, true), (4_712, false)],
        at: 0,
        scrolled: false,
        typed: String::new(),
        passed_over: None,
        kill,
    };
    for step in steps {
        let before = bench.signals.len();
        prop_assert_eq!(before, 0);
        let expected = match step {
            Step::Key(key) => {
                let expected = model.key(key);
                bench.event(Event::Key(key));
                expected
            }
            Step::Paste(text) => {
                model.typed.clear();
                bench.event(Event::Paste(text));
                None
            }
            Step::World(which) => {
                let mut scene = small();
                if which == 1 {
                    scene.sample.processes.remove(&pid(4_711));
                    scene.judged.instances.remove(0);
                } else if which == 2 {
                    scene.process(4_711, 1, "root", 3, &["stranger"]);
                }
                bench.later(i64::from(which) * 1000 + 1000, scene);
                None
            }
        };
        prop_assert_eq!(bench.pids().first().copied(), expected, "{:?}", model.typed);
        if expected.is_some() {
            let signal = &bench.signals[0];
            prop_assert_eq!(signal.target.key, small().key(expected.unwrap_or(0)));
            SENT.with(|sent| *sent.borrow_mut() += 1);
            break;
        }
    }
    Ok(())
}

/// Cases in all; more by `MCPWAKE_CASES`.
fn cases() -> u32 {
    let asked = std::env::var("MCPWAKE_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(5_000)
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases())
    }
}

/// Random steps around words that nearly, or exactly, confirm.
fn scripts(words: &'static [&'static str]) -> impl Strategy<Value = Vec<Step>> {
    let words = prop::collection::vec(prop::sample::select(words), 1..8).prop_map(|words| {
        let keys = words.concat();
        let keys = keys
            .chars()
            .map(|c| if c == '\n' { Key::Enter } else { Key::Char(c) });
        keys.map(Step::Key).collect::<Vec<_>>()
    });
    (steps(), words, steps()).prop_map(|(mut before, words, after)| {
        before.truncate(6);
        before.extend(words);
        before.extend(after);
        before
    })
}

fn check(kill: bool, words: &'static [&'static str]) {
    let mut runner = proptest::test_runner::TestRunner::new(config());
    runner.run(&scripts(words), |steps| run(kill, steps)).unwrap();
    let sent = SENT.with(|sent| *sent.borrow());
    assert!(sent > cases() / 50, "{sent} of {} sent", cases());
}

#[test]
fn random_keys_send_only_by_the_exact_confirmation_of_term() {
    check(
        false,
        &[
            "711\n", "2712\n", "712\n", "71", "1\n", "4711\n", "\n", " ", "2711\n",
        ],
    );
}

#[test]
fn random_keys_send_only_by_the_exact_confirmation_of_kill() {
    check(
        true,
        &[
            "4711\n", "24712\n", "4712\n", "711\n", "471", "\n", "o", " ", "o4711\n",
        ],
    );
}

/// Keys of the whole screen, from anywhere.
fn anything() -> impl Strategy<Value = Vec<Step>> {
    let keys = prop::sample::select(vec![
        Key::Char('T'),
        Key::Char('K'),
        Key::F(9),
        Key::Char(' '),
        Key::Char('U'),
        Key::Char('Z'),
        Key::Char('o'),
        Key::Char('1'),
        Key::Char('7'),
        Key::Char('a'),
        Key::Char('/'),
        Key::Char(':'),
        Key::Char('y'),
        Key::Char('m'),
        Key::Char('r'),
        Key::Enter,
        Key::Esc,
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::Ctrl('c'),
    ]);
    let step = prop_oneof![
        20 => keys.prop_map(Step::Key),
        1 => Just(Step::Paste("711\n4711\n".to_owned())),
        2 => (0u8..4).prop_map(Step::World),
    ];
    prop::collection::vec(step, 1..40)
}

#[test]
fn wherever_one_is_only_enter_in_the_dialog_sends_and_only_to_whom_it_lists() {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(300)
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let scripts = (
        anything(),
        scripts(&["711\n", "T", "X\n", "4711\n", "o", "777\n"]),
    );
    runner
        .run(&scripts, |(mut steps, more)| {
            steps.extend(more);
            let mut bench = Bench::new(small());
            for step in steps {
                let before = bench.signals.len();
                let listed: Vec<_> = match bench.app.popup().map(Popup::content) {
                    Some(Content::Act(dialog)) => dialog.ticked(),
                    _ => Vec::new(),
                };
                let is_enter = matches!(step, Step::Key(Key::Enter));
                match step {
                    Step::Key(key) => bench.event(Event::Key(key)),
                    Step::Paste(text) => bench.event(Event::Paste(text)),
                    Step::World(which) => bench.later(i64::from(which) * 1000, small()),
                }
                for signal in &bench.signals[before..] {
                    prop_assert!(is_enter && listed.contains(&signal.target.key), "{signal:?}");
                }
            }
            Ok(())
        })
        .unwrap();
}
