//! The schema of redaction rules, and what makes a rule file valid.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

/// Rules as read from a file, validated but for their regular expressions, which
/// [`Redactor::new`](super::Redactor::new) compiles.
#[derive(Clone, Debug)]
pub struct Rules {
    file: String,
    text: String,
    document: Document,
}

/// A rule file that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {key}: {what}")]
pub struct RuleError {
    /// File, as given.
    pub file: String,
    /// Line, from 1; 0 where none is known.
    pub line: usize,
    /// Key or table.
    pub key: String,
    /// What is wrong, and what to do.
    pub what: String,
}

/// The file. `assets/redaction.toml` says what each list means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    version: Spanned<u32>,
    pub(super) names: NameLists,
    pub(super) values: Values,
    pub(super) flags: Flags,
    pub(super) headers: Headers,
    pub(super) url: Url,
    pub(super) json: Json,
    pub(super) chance: Chance,
    pub(super) program: Vec<Program>,
    pub(super) shape: Vec<Shape>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NameLists {
    pub(super) strong: Vec<String>,
    pub(super) weak: Vec<String>,
    pub(super) endings: Vec<String>,
    pub(super) anywhere: Vec<String>,
    pub(super) harmless: Vec<String>,
    pub(super) about: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Values {
    pub(super) placeholders: Vec<Spanned<String>>,
    pub(super) ordinary: Vec<String>,
    pub(super) ordinary_weak: Vec<String>,
    pub(super) file_endings: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flags {
    pub(super) environment: Vec<String>,
    pub(super) code_after_e: Vec<String>,
    pub(super) headers: Vec<String>,
    pub(super) shell: Vec<String>,
    pub(super) logins: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Headers {
    pub(super) names: Vec<String>,
    pub(super) words: Vec<String>,
    pub(super) schemes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Url {
    pub(super) parameters: Vec<String>,
    pub(super) login_schemes: Vec<String>,
    pub(super) logins: Vec<String>,
    pub(super) path_min_length: usize,
    pub(super) uuid_after: Vec<String>,
    pub(super) commit_after: Vec<String>,
    pub(super) commit_hosts: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Json {
    pub(super) maps: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chance {
    pub(super) words: Vec<String>,
    pub(super) min_length: usize,
}

/// What the short flags of some programs mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) next: Vec<String>,
    #[serde(default)]
    pub(super) attached: Vec<String>,
    #[serde(default)]
    pub(super) needs_pair: bool,
    #[serde(default)]
    pub(super) user_is_other: bool,
}

/// The shape of one kind of token.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    pub(super) id: Spanned<String>,
    pub(super) regex: Spanned<String>,
    #[serde(default)]
    pub(super) check: Check,
}

/// What a match must have beside its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Check {
    /// Nothing.
    #[default]
    None,
    /// A digit, or a capital behind a small letter.
    Mixed,
    /// Letters and digits in turn.
    Random,
}

impl Rules {
    /// Reads rules; `file` is the name that errors give.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, RuleError> {
        let document = toml::from_str(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            RuleError {
                file: file.to_owned(),
                line: error.span().map_or(0, |_| line_of(text, &span)),
                key: key_at(text, &span),
                what: error.message().to_owned(),
            }
        })?;
        let rules = Self {
            file: file.to_owned(),
            text: text.to_owned(),
            document,
        };
        rules.validate()?;
        Ok(rules)
    }

    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// Compiles an expression of the file: bytes, ASCII classes, since most text is not promised
    /// to be UTF-8 and Unicode classes are slow on what is not ASCII.
    pub(super) fn compile(&self, expression: &Spanned<String>, key: &str) -> Result<Regex, RuleError> {
        let regex = ascii_regex(expression.get_ref())
            .map_err(|error| self.error(expression.span(), key, &error.to_string()))?;
        if regex.is_match(b"") {
            return Err(self.error(
                expression.span(),
                key,
                "matches the empty text: it would match everywhere",
            ));
        }
        Ok(regex)
    }

    fn validate(&self) -> Result<(), RuleError> {
        let document = &self.document;
        if *document.version.get_ref() != 1 {
            return Err(self.error(document.version.span(), "version", "this program reads version 1"));
        }
        for (key, list) in document.phrases() {
            for phrase in list {
                let plain = phrase
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b' ');
                if !plain || phrase.trim() != phrase || phrase.is_empty() {
                    let what = format!("{phrase:?} is no name: small letters, words parted by one blank");
                    return Err(self.error(self.find_in_text(phrase), key, &what));
                }
            }
        }
        for shape in &document.shape {
            let id = shape.id.get_ref();
            if id.is_empty()
                || !id
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            {
                let what = format!("{id:?} is no id: small letters, digits and dashes");
                return Err(self.error(shape.id.span(), "shape.id", &what));
            }
        }
        for (key, length) in [
            ("url.path_min_length", document.url.path_min_length),
            ("chance.min_length", document.chance.min_length),
        ] {
            if length < 8 {
                let what = format!("{length} is too short to tell chance from a word: at least 8");
                return Err(self.error(self.find_in_text(&length.to_string()), key, &what));
            }
        }
        Ok(())
    }

    /// An error that no single line makes: everything compiled together.
    pub(super) fn whole_file(&self, what: &str) -> RuleError {
        RuleError {
            file: self.file.clone(),
            line: 0,
            key: "shape".to_owned(),
            what: what.to_owned(),
        }
    }

    fn error(&self, span: Range<usize>, key: &str, what: &str) -> RuleError {
        RuleError {
            file: self.file.clone(),
            line: line_of(&self.text, &span),
            key: key.to_owned(),
            what: what.to_owned(),
        }
    }

    fn find_in_text(&self, value: &str) -> Range<usize> {
        let at = self.text.find(value).unwrap_or(0);
        at..at + value.len()
    }
}

impl Document {
    /// Lists that are compared with the words of a name.
    fn phrases(&self) -> [(&'static str, &[String]); 11] {
        [
            ("names.strong", &self.names.strong),
            ("names.weak", &self.names.weak),
            ("names.endings", &self.names.endings),
            ("names.anywhere", &self.names.anywhere),
            ("names.harmless", &self.names.harmless),
            ("names.about", &self.names.about),
            ("headers.names", &self.headers.names),
            ("headers.words", &self.headers.words),
            ("url.parameters", &self.url.parameters),
            ("json.maps", &self.json.maps),
            ("chance.words", &self.chance.words),
        ]
    }
}

/// Compiles an expression over bytes with ASCII classes.
pub(super) fn ascii_regex(expression: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(expression).unicode(false).build()
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    let before = text.as_bytes().get(..span.start).unwrap_or(text.as_bytes());
    before
        .iter()
        .fold(1, |line, byte| line + usize::from(*byte == b'\n'))
}

/// Returns the key on the line of an error, else the whole line's start.
fn key_at(text: &str, span: &Range<usize>) -> String {
    let line = text
        .lines()
        .nth(line_of(text, span).saturating_sub(1))
        .unwrap_or("");
    let key = line.split('=').next().unwrap_or("").trim();
    if key.is_empty() {
        "file".to_owned()
    } else {
        key.chars().take(40).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BUILTIN, BUILTIN_NAME, Redactor};
    use super::*;

    fn error_of(from: &str, to: &str) -> RuleError {
        assert!(BUILTIN.contains(from), "{from}");
        let text = BUILTIN.replacen(from, to, 1);
        Rules::from_toml("x.toml", &text)
            .and_then(|rules| Redactor::new(&rules))
            .unwrap_err()
    }

    fn line_with(text: &str) -> usize {
        BUILTIN.lines().position(|line| line.contains(text)).unwrap() + 1
    }

    #[test]
    fn the_builtin_rules_are_valid() {
        Redactor::builtin().unwrap();
        assert!(Rules::from_toml(BUILTIN_NAME, BUILTIN).is_ok());
    }

    #[test]
    fn errors_name_line_and_key() {
        let error = error_of("regex = 'github_pat_", "regex = '(github_pat_");
        assert_eq!(
            (error.line, error.key.as_str()),
            (line_with("github_pat_"), "shape.regex")
        );
        let error = error_of("'[xX]{3,}'", "'[xX]*'");
        assert_eq!(error.key, "values.placeholders");
        assert!(error.what.contains("empty"), "{error}");
        let error = error_of("version = 1", "version = 2");
        assert_eq!(
            (error.line, error.key.as_str()),
            (line_with("version = 1"), "version")
        );
        let error = error_of("id = \"jwt\"", "id = \"a jwt\"");
        assert_eq!(
            (error.line, error.key.as_str()),
            (line_with("id = \"jwt\""), "shape.id")
        );
        let error = error_of("\"passcode\"", "\"Pass-Code\"");
        assert_eq!(
            (error.line, error.key.as_str()),
            (line_with("\"passcode\""), "names.strong")
        );
        let error = error_of("min_length = 20", "min_lenght = 20");
        assert_eq!(
            (error.line, error.key.as_str()),
            (line_with("min_length = 20"), "min_lenght")
        );
        let error = error_of("path_min_length = 24", "path_min_length = 2");
        assert_eq!(error.key, "url.path_min_length");
        assert!(error.to_string().starts_with("x.toml:"), "{error}");
    }
}
