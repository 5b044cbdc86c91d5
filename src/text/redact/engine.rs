//! Walks the elements of a command line: what one of them says of the next, and what each says of
//! itself.

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::edits::{Edits, View};
use super::leaf::{Anywhere, looks_random};
use super::names::{Meaning, Names};
use super::programs::{Follow, cluster_ends};
use super::rules::{Check, Document, RuleError, Rules};
use super::{json, words};

pub(super) const JSON_RULE: &str = "json";
const FLAG: &str = "flag";
const ENVIRONMENT: &str = "env";
const VARIABLE: &str = "variable";
const HEADER: &str = "header";
const CHANCE: &str = "chance";

/// How deep text in text is followed: JSON in a shell string in JSON. Each level is one pass.
pub(super) const MAX_DEPTH: usize = 6;

/// How surely a place holds a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// A file or a plain choice stays.
    Weak,
    /// Everything but a placeholder goes.
    Strong,
}

/// What an element says of the one behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    /// Nothing.
    Nothing,
    /// It is a line, or the text of a shell: read by words.
    Line,
    /// It is a secret.
    Secret(Strength),
    /// It is a header.
    Header,
    /// It is the value of a header, or the scheme in front of the value.
    HeaderValue,
    /// If it is a semicolon, a cookie goes on behind it.
    HeaderMore,
    /// It is `NAME=value`.
    Variable,
    /// It is one of any number of `NAME=value`.
    Variables,
    /// It is a secret if it looks random.
    Chance,
    /// It belongs to a program that reads a program text behind `-e`.
    Interpreter,
}

/// What is known of a text that may be a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// A flag says that it is one.
    Header,
    /// Nothing: `auth:v1` may as well be an image.
    Nothing,
}

/// A compiled shape.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) id: String,
    pub(super) regex: Regex,
    pub(super) check: Check,
}

/// Everything that is compiled from rules.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) document: Document,
    pub(super) names: Names,
    pub(super) shapes: Vec<Shape>,
    pub(super) shape_set: RegexSet,
    pub(super) anywhere: Anywhere,
    pub(super) chance_length: usize,
    placeholder: Regex,
}

impl Engine {
    pub(super) fn new(rules: &Rules) -> Result<Self, RuleError> {
        let document = rules.document().clone();
        let mut shapes = Vec::new();
        for shape in &document.shape {
            shapes.push(Shape {
                id: shape.id.get_ref().clone(),
                regex: rules.compile(&shape.regex, "shape.regex")?,
                check: shape.check,
            });
        }
        for placeholder in &document.values.placeholders {
            rules.compile(placeholder, "values.placeholders")?;
        }
        let whole = |error: regex::Error| rules.whole_file(&error.to_string());
        let shape_set = RegexSetBuilder::new(shapes.iter().map(|shape| shape.regex.as_str()))
            .unicode(false)
            .build()
            .map_err(whole)?;
        let placeholders: Vec<&str> = document
            .values
            .placeholders
            .iter()
            .map(|text| text.get_ref().as_str())
            .collect();
        let placeholder = format!(r"<redacted:[a-z0-9-]+:len=[0-9]+>|{}", placeholders.join("|"));
        Ok(Self {
            names: Names::new(&document),
            anywhere: Anywhere::new(&document)?,
            chance_length: document.chance.min_length,
            placeholder: RegexBuilder::new(&placeholder)
                .unicode(false)
                .build()
                .map_err(whole)?,
            document,
            shapes,
            shape_set,
        })
    }

    /// Finds the secrets of one element; returns what it says of the next.
    pub(super) fn step<'r>(
        &'r self,
        expect: Expect,
        text: &[u8],
        depth: usize,
        edits: &mut Edits<'r>,
    ) -> Expect {
        match expect {
            Expect::Secret(strength) if !is_flag(text) => {
                return self.expected_secret(text, strength, FLAG, depth, edits);
            }
            Expect::HeaderValue if self.is_scheme(text) => return Expect::HeaderValue,
            Expect::HeaderValue => {
                let more = text.ends_with(b";");
                self.expected_secret(text, Strength::Strong, HEADER, depth, edits);
                return if more {
                    Expect::HeaderValue
                } else {
                    Expect::HeaderMore
                };
            }
            Expect::HeaderMore if text == b";" => return Expect::HeaderValue,
            Expect::Header if json::is_whole(text) => {
                json::scan_map(self, text, depth, edits);
                return Expect::Nothing;
            }
            Expect::Header => {
                if let Some(next) = self.header(text, Named::Header, edits) {
                    return next;
                }
                // Some programs take name and value as two elements.
                if self.names.of_told_header(text) != Meaning::Plain {
                    return Expect::HeaderValue;
                }
            }
            Expect::Variable if self.variable(text, edits) => return Expect::Nothing,
            // `-e NAME`: the value stays in the environment, and what follows is something else.
            Expect::Variable if is_name(text) => return Expect::Nothing,
            Expect::Variables if self.variable(text, edits) || text.starts_with(b"-") => {
                return Expect::Variables;
            }
            Expect::Interpreter if text.iter().all(u8::is_ascii_digit) => return Expect::Interpreter,
            Expect::Interpreter if text.starts_with(b"-") => {
                return match self.element(text, false, depth, edits) {
                    Expect::Variable => Expect::Nothing,
                    Expect::Nothing => Expect::Interpreter,
                    next => next,
                };
            }
            Expect::Chance
                if text.len() >= self.chance_length
                    && text.iter().all(|byte| is_token(*byte))
                    && looks_random(text) =>
            {
                edits.add(0..text.len(), CHANCE);
                return Expect::Nothing;
            }
            _ => {}
        }
        self.element(text, expect == Expect::Line, depth, edits)
    }

    /// Returns whether a value, by its place a secret, is one: no placeholder, no plain choice.
    pub(super) fn is_secret(&self, value: &[u8], strength: Strength) -> bool {
        let value = self.without_scheme(value.trim_ascii());
        if value.is_empty() || is_one_of(&self.document.values.ordinary, value) {
            return false;
        }
        if strength == Strength::Weak
            && (is_one_of(&self.document.values.ordinary_weak, value) || self.is_file(value))
        {
            return false;
        }
        if self.is_bare_address(value) {
            return false;
        }
        let rest = self.placeholder.replace_all(value, b"".as_slice());
        // Beside placeholders only punctuation: `${USER}:${PASSWORD}`.
        rest.len() == value.len()
            || rest
                .iter()
                .any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
    }

    fn expected_secret<'r>(
        &'r self,
        text: &[u8],
        strength: Strength,
        rule: &'r str,
        depth: usize,
        edits: &mut Edits<'r>,
    ) -> Expect {
        if self.is_secret(text, strength) {
            edits.add(0..text.len(), rule);
            Expect::Nothing
        } else {
            self.element(text, false, depth, edits)
        }
    }

    fn element<'r>(&'r self, text: &[u8], is_line: bool, depth: usize, edits: &mut Edits<'r>) -> Expect {
        if depth >= MAX_DEPTH {
            self.leaf(text, depth, edits);
            return Expect::Nothing;
        }
        if json::is_whole(text) {
            json::scan(self, text, depth, edits);
            return Expect::Nothing;
        }
        let blanks = text.iter().any(u8::is_ascii_whitespace);
        if !(is_line && blanks)
            && let Some(next) = self.by_structure(text, blanks, depth, edits)
        {
            return next;
        }
        json::scan(self, text, depth, edits);
        if blanks {
            let mut expect = Expect::Nothing;
            let mut so_far = Follow::default();
            for word in words::split(text) {
                let mut inner = Edits::default();
                self.follow(&mut so_far, &word.bytes, &mut inner);
                expect = self.step(expect, &word.bytes, depth + 1, &mut inner);
                edits.extend_from(inner, &word);
            }
        }
        self.leaf(text, depth, edits);
        if blanks {
            Expect::Nothing
        } else {
            self.of_word(text)
        }
    }

    /// Reads a flag, an assignment or a header; `None` where it is none of them.
    fn by_structure<'r>(
        &'r self,
        text: &[u8],
        blanks: bool,
        depth: usize,
        edits: &mut Edits<'r>,
    ) -> Option<Expect> {
        if text.starts_with(b"-") {
            return self.flag(text, blanks, depth, edits);
        }
        if let Some((name_len, value)) = assignment(text) {
            let strength = strength_of(self.names.of_variable(&text[..name_len]));
            if strength.is_some_and(|strength| self.is_secret(value, strength)) {
                edits.add(name_len + 1..text.len(), VARIABLE);
            } else {
                self.part(text, name_len + 1, depth, edits);
                // What ends in `=` may be base64 as well.
                self.shapes(&text[..name_len], edits);
                self.base64(text, depth, edits);
            }
            return Some(Expect::Nothing);
        }
        self.header(text, Named::Nothing, edits)
    }

    fn flag<'r>(&'r self, text: &[u8], blanks: bool, depth: usize, edits: &mut Edits<'r>) -> Option<Expect> {
        if let Some(next) = self.attached(text, edits) {
            return Some(next);
        }
        let Some(equals) = text.iter().position(|byte| matches!(byte, b'=' | b':')) else {
            return if blanks { None } else { self.bare_flag(text) };
        };
        let flag = &text[..equals];
        if !flag
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'[' | b']'))
        {
            return None;
        }
        let mut inner = Edits::default();
        let value = View::plain(&text[equals + 1..], equals + 1);
        let expect = match self.bare_flag(flag) {
            Some(expect) if expect != Expect::Nothing => expect,
            _ => Expect::Nothing,
        };
        match expect {
            Expect::Secret(strength) if self.is_secret(&value.bytes, strength) => {
                inner.add(0..value.bytes.len(), FLAG);
            }
            Expect::Secret(_) => {
                self.step(Expect::Nothing, &value.bytes, depth + 1, &mut inner);
            }
            _ => {
                self.step(expect, &value.bytes, depth + 1, &mut inner);
            }
        }
        edits.extend_from(inner, &value);
        Some(Expect::Nothing)
    }

    /// What a flag without `=` says of the next element.
    fn bare_flag(&self, flag: &[u8]) -> Option<Expect> {
        let flags = &self.document.flags;
        let is = |list: &[String]| list.iter().any(|known| known.as_bytes() == flag);
        if is(&flags.environment) {
            return Some(Expect::Variable);
        }
        if is(&flags.headers) || cluster_ends(flag, &flags.headers) {
            return Some(Expect::Header);
        }
        if is(&flags.shell) {
            return Some(Expect::Line);
        }
        let name = &flag[flag.iter().take_while(|byte| **byte == b'-').count()..];
        strength_of(self.names.of_flag(name)).map(Expect::Secret)
    }

    /// `-eNAME=value`, `-HName: value`.
    fn attached<'r>(&'r self, text: &[u8], edits: &mut Edits<'r>) -> Option<Expect> {
        let flags = &self.document.flags;
        let rest_behind = |list: &[String]| {
            let short = list
                .iter()
                .find(|flag| flag.len() == 2 && text.starts_with(flag.as_bytes()))?;
            Some(View::plain(&text[short.len()..], short.len())).filter(|view| !view.bytes.is_empty())
        };
        let mut inner = Edits::default();
        if let Some(view) = rest_behind(&flags.environment)
            && view.bytes.first().is_some_and(u8::is_ascii_uppercase)
            && self.variable(&view.bytes, &mut inner)
        {
            edits.extend_from(inner, &view);
            return Some(Expect::Nothing);
        }
        let view = rest_behind(&flags.headers)?;
        let next = self.header(&view.bytes, Named::Header, &mut inner)?;
        edits.extend_from(inner, &view);
        Some(next)
    }

    /// `NAME=value` where every value goes; returns whether it is one.
    fn variable<'r>(&'r self, text: &[u8], edits: &mut Edits<'r>) -> bool {
        let Some((name_len, value)) = assignment(text) else {
            return false;
        };
        if self.is_secret(value, Strength::Strong) {
            edits.add(name_len + 1..text.len(), ENVIRONMENT);
        }
        true
    }

    /// `Name: value` whose name says so; `None` where it is no such header.
    fn header<'r>(&'r self, text: &[u8], named: Named, edits: &mut Edits<'r>) -> Option<Expect> {
        let colon = text.iter().take(128).position(|byte| *byte == b':')?;
        let name = &text[..colon];
        if name.is_empty()
            || !name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        {
            return None;
        }
        let strength = strength_of(match named {
            Named::Header => self.names.of_told_header(name),
            Named::Nothing => self.names.of_header(name),
        })?;
        let behind = &text[colon + 1..];
        if behind.starts_with(b"//") {
            return None;
        }
        let blanks = behind
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let value = &behind[blanks..];
        if value.is_empty() {
            return Some(Expect::HeaderValue);
        }
        if self.is_scheme(value) {
            return Some(Expect::HeaderValue);
        }
        if self.is_secret(value, strength) {
            edits.add(colon + 1 + blanks..text.len(), HEADER);
        }
        Some(Expect::Nothing)
    }

    fn part<'r>(&'r self, text: &[u8], start: usize, depth: usize, edits: &mut Edits<'r>) {
        let view = View::plain(&text[start..], start);
        let mut inner = Edits::default();
        self.step(Expect::Nothing, &view.bytes, depth + 1, &mut inner);
        edits.extend_from(inner, &view);
    }

    /// What a word that is no flag says of the next.
    fn of_word(&self, word: &[u8]) -> Expect {
        let program = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
        if program == b"env" {
            Expect::Variables
        } else if self
            .document
            .flags
            .code_after_e
            .iter()
            .any(|name| name.as_bytes() == program)
        {
            Expect::Interpreter
        } else if word.contains(&b'_') && is_name(word) && self.names.of_variable(word) == Meaning::Strong {
            // `configure set aws_secret_access_key VALUE`.
            Expect::Secret(Strength::Weak)
        } else if self.names.is_telling(word) {
            Expect::Chance
        } else {
            Expect::Nothing
        }
    }

    fn is_scheme(&self, word: &[u8]) -> bool {
        is_one_of(&self.document.headers.schemes, word)
    }

    fn without_scheme<'a>(&self, value: &'a [u8]) -> &'a [u8] {
        match value.iter().position(u8::is_ascii_whitespace) {
            Some(blank) if self.is_scheme(&value[..blank]) => value[blank..].trim_ascii_start(),
            _ => value,
        }
    }

    /// Returns whether a value is the address of a database or a host, without login and parameters.
    fn is_bare_address(&self, value: &[u8]) -> bool {
        let Some(colon) = value.windows(3).take(32).position(|window| window == b"://") else {
            return false;
        };
        is_one_of(&self.document.url.login_schemes, &value[..colon])
            && !value
                .iter()
                .any(|byte| matches!(byte, b'@' | b'?' | b'#' | b';' | b'&'))
    }

    fn is_file(&self, value: &[u8]) -> bool {
        let rooted = [b"/".as_slice(), b"./", b"../", b"~/", b"file:"]
            .iter()
            .any(|root| value.starts_with(root));
        let named = self
            .document
            .values
            .file_endings
            .iter()
            .any(|ending| value.ends_with(ending.as_bytes()));
        (rooted || named) && !value.iter().any(|byte| matches!(byte, b'+' | b'=' | b'@'))
    }
}

fn is_one_of(list: &[String], value: &[u8]) -> bool {
    list.iter()
        .any(|word| word.as_bytes().eq_ignore_ascii_case(value))
}

fn strength_of(meaning: Meaning) -> Option<Strength> {
    match meaning {
        Meaning::Plain => None,
        Meaning::Weak => Some(Strength::Weak),
        Meaning::Strong => Some(Strength::Strong),
    }
}

/// Returns the length of the name and the value of `name=value`.
fn assignment(text: &[u8]) -> Option<(usize, &[u8])> {
    let equals = text.iter().take(128).position(|byte| *byte == b'=')?;
    let name = &text[..equals];
    let named = name
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    named.then(|| (equals, &text[equals + 1..]))
}

/// Returns whether an element is the next flag rather than the value of the one before: secrets
/// may begin with a dash.
pub(super) fn is_flag(text: &[u8]) -> bool {
    let Some(name) = text.strip_prefix(b"-") else {
        return false;
    };
    let name = name.strip_prefix(b"-").unwrap_or(name);
    let name = name.split(|byte| *byte == b'=').next().unwrap_or(name);
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && !looks_random(name)
}

/// Returns whether a word is the name of a variable.
fn is_name(word: &[u8]) -> bool {
    word.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'=' | b'-')
}
