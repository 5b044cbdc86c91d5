//! Removes secrets from command lines; the rules come as a parameter.
//!
//! Each secret becomes `<redacted:RULE:len=N>`, N being its bytes. What is not a secret stays byte
//! for byte. Works in time linear to the text, whatever the text is; doing it twice changes nothing.

mod edits;
mod encoded;
mod engine;
mod json;
mod leaf;
mod names;
mod plain;
mod programs;
mod rules;
mod words;

use std::fmt;
use std::sync::{Arc, OnceLock};

use edits::{Edits, View};
use engine::{Engine, Expect};
use programs::Follow;
pub use rules::{RuleError, Rules};

/// Rules that every build brings.
const BUILTIN: &str = include_str!("../../assets/redaction.toml");
const BUILTIN_NAME: &str = "assets/redaction.toml";

/// Where replacements of different kinds overlap, taking them out can bring two words together that
/// were apart; so what was changed is looked at again. One more walk is the rule.
const MAX_PASSES: usize = 8;

/// Compiled redaction rules; cloning shares them.
#[derive(Clone)]
pub struct Redactor {
    engine: Option<Arc<Engine>>,
}

impl Redactor {
    /// Compiles rules.
    pub fn new(rules: &Rules) -> Result<Self, RuleError> {
        Ok(Self {
            engine: Some(Arc::new(Engine::new(rules)?)),
        })
    }

    /// Returns the rules that every build brings; they are compiled once.
    pub fn builtin() -> Result<Self, RuleError> {
        static COMPILED: OnceLock<Result<Redactor, RuleError>> = OnceLock::new();
        let compile = || Self::new(&Rules::from_toml(BUILTIN_NAME, BUILTIN)?);
        COMPILED.get_or_init(compile).clone()
    }

    /// Returns one that changes nothing.
    pub fn off() -> Self {
        Self { engine: None }
    }

    /// Returns the argument vector with every secret replaced; the number of elements stays.
    pub fn argv(&self, argv: &[impl AsRef<[u8]>]) -> Vec<Vec<u8>> {
        let mut elements: Vec<Vec<u8>> = argv.iter().map(|element| element.as_ref().to_vec()).collect();
        let Some(engine) = &self.engine else {
            return elements;
        };
        for _ in 0..MAX_PASSES {
            // First as seen: a rule that found the part before an unseen character would leave the rest.
            let as_seen = pass(engine, &mut elements, Reading::AsSeen);
            if !pass(engine, &mut elements, Reading::AsWritten) && !as_seen {
                break;
            }
        }
        elements
    }

    /// Returns a line (a title, a `sh -c` string, a URL, JSON) with every secret replaced.
    pub fn line(&self, line: &str) -> String {
        let redacted = self.bytes(line.as_bytes());
        match String::from_utf8(redacted) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }

    /// Returns a line that may not be UTF-8 with every secret replaced.
    pub fn bytes(&self, line: &[u8]) -> Vec<u8> {
        if is_bare_name(line) {
            return line.to_vec();
        }
        self.argv(&[line]).pop().unwrap_or_default()
    }
}

/// Whether a text is too short and too plain for any rule, as most names of programs are.
fn is_bare_name(text: &[u8]) -> bool {
    const SHORTEST_SECRET: usize = 12;
    text.len() < SHORTEST_SECRET
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// How the elements are read in one walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Byte for byte.
    AsWritten,
    /// As a person reads them: see [`plain`].
    AsSeen,
}

/// Replaces what is found in one walk over the elements; returns whether anything changed.
fn pass(engine: &Engine, elements: &mut [Vec<u8>], reading: Reading) -> bool {
    if reading == Reading::AsSeen && elements.iter().all(|element| plain::normal(element).is_none()) {
        return false;
    }
    // A first element with blanks is a title, or the only thing there is: read as a line.
    let mut expect = Expect::Line;
    let mut so_far = Follow::default();
    let mut changed = false;
    for element in elements {
        let mut edits = Edits::default();
        let seen = (reading == Reading::AsSeen)
            .then(|| plain::normal(element))
            .flatten();
        let view = seen.unwrap_or_else(|| View::plain(element, 0));
        let mut inner = Edits::default();
        engine.follow(&mut so_far, &view.bytes, &mut inner);
        expect = engine.step(expect, &view.bytes, 0, &mut inner);
        edits.extend_from(inner, &view);
        drop(view);
        if !edits.is_empty() {
            let redacted = edits.apply(element);
            changed |= redacted != *element;
            *element = redacted;
        }
    }
    changed
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.engine.is_some() {
            "Redactor(on)"
        } else {
            "Redactor(off)"
        })
    }
}

#[cfg(test)]
mod tests;
