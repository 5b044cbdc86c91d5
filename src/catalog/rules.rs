//! Rules on a program and its operands, by position.

use std::collections::HashMap;

use regex::Regex;
use toml::Spanned;

use super::load::{Evidence, NameFrom, RuleConfidence, RuleRole, RuleSpec, Source};
use super::names;
use super::verdict::CatalogError;
use super::words::Word;
use crate::model::instance::Confidence;

/// A compiled rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) role: RuleRole,
    pub(super) confidence: Confidence,
    pub(super) proxy: bool,
    pub(super) because: String,
    programs: Vec<String>,
    prefixes: Vec<String>,
    arguments: Vec<Vec<String>>,
    values: Vec<String>,
    any: Vec<String>,
    none: Vec<String>,
    pair: Vec<String>,
    without_arguments: bool,
    argument: Option<Regex>,
    operand: Option<Regex>,
    path: Option<Regex>,
    name: Option<String>,
    name_from: Option<NameFrom>,
    label: String,
}

/// That a rule fits.
struct Fit {
    /// The server's name, where the rule has or takes one.
    name: Option<String>,
}

/// A command as a rule sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command<'w, 'a> {
    /// Names it goes by: the program, the whole package name.
    pub(super) names: &'w [&'w str],
    /// Path or word as given.
    pub(super) path: &'w str,
    pub(super) arguments: &'w [Word<'a>],
    pub(super) joined: bool,
}

impl Rule {
    pub(super) fn compile(spec: Spanned<RuleSpec>, source: Source<'_>) -> Result<Self, CatalogError> {
        let span = spec.span();
        let spec = spec.into_inner();
        let regex = |key: &str, pattern: Option<String>| {
            pattern
                .map(|pattern| source.regex(&span, key, &pattern))
                .transpose()
        };
        if spec.programs.is_empty() && spec.prefixes.is_empty() && spec.path.is_none() {
            return Err(source.error(&span, "programs", "a rule needs `programs`, `prefixes` or `path`"));
        }
        if !(spec.pair.is_empty() || spec.pair.len() == 2) {
            return Err(source.error(&span, "pair", "a pair has two elements"));
        }
        if spec.id.trim().is_empty() || spec.because.trim().is_empty() {
            return Err(source.error(&span, "id", "`id` and `because` must say something"));
        }
        let confidence = match (spec.confidence, spec.role) {
            (Some(RuleConfidence::Likely), _) => Confidence::Likely,
            (Some(RuleConfidence::Known), _) if spec.evidence == Evidence::Guess => {
                return Err(source.error(&span, "confidence", "what is a guess is `likely` at most"));
            }
            (None, RuleRole::Server | RuleRole::Launcher) => {
                return Err(source.error(
                    &span,
                    "id",
                    "a server or launcher needs `confidence`: known or likely",
                ));
            }
            (Some(RuleConfidence::Known) | None, _) => Confidence::Known,
        };
        Ok(Self {
            confidence,
            argument: regex("argument", spec.argument)?,
            operand: regex("operand", spec.operand)?,
            path: regex("path", spec.path)?,
            id: spec.id,
            role: spec.role,
            proxy: spec.proxy,
            because: spec.because,
            programs: spec.programs,
            prefixes: spec.prefixes,
            arguments: spec.arguments,
            values: spec.values,
            any: spec.any,
            none: spec.none,
            pair: spec.pair,
            without_arguments: spec.without_arguments,
            name: spec.name,
            name_from: spec.name_from,
            label: spec.label.unwrap_or_default(),
        })
    }

    /// Returns the operands: arguments that are no options and no options' values.
    fn operands<'w>(&self, arguments: &'w [Word<'_>]) -> Vec<&'w str> {
        let wanted = self.arguments.len() + 2;
        let mut operands = Vec::with_capacity(wanted);
        let mut skip = false;
        for word in arguments {
            if std::mem::take(&mut skip) || operands.len() == wanted {
                continue;
            }
            if word.len() > 1 && word.starts_with('-') {
                skip = self.values.iter().any(|one| one == word);
            } else {
                operands.push(word.as_ref());
            }
        }
        operands
    }

    /// Returns whether the rule fits, and the server's name where the rule takes one from there.
    fn fit(&self, command: Command<'_, '_>) -> Option<Fit> {
        let arguments = command.arguments;
        if self.without_arguments && !arguments.is_empty() {
            return None;
        }
        let has = |word: &String| arguments.iter().any(|one| one == word);
        if !(self.any.is_empty() || self.any.iter().any(has)) || self.none.iter().any(has) {
            return None;
        }
        if let [first, second] = self.pair.as_slice()
            && !arguments
                .windows(2)
                .any(|two| two[0] == *first && two[1] == *second)
        {
            return None;
        }
        let operands = self.operands(arguments);
        for (at, alternatives) in self.arguments.iter().enumerate() {
            let operand = operands.get(at)?;
            if !alternatives.iter().any(|one| one == "*" || one == operand) {
                return None;
            }
        }
        if let Some(operand) = &self.operand
            && !operands.first().is_some_and(|first| operand.is_match(first))
        {
            return None;
        }
        if let Some(argument) = &self.argument {
            let whole = command.joined.then(|| {
                arguments
                    .iter()
                    .skip(1)
                    .map(AsRef::as_ref)
                    .collect::<Vec<_>>()
                    .join(" ")
            });
            let one = arguments.iter().any(|word| argument.is_match(word));
            if !one && !whole.is_some_and(|whole| argument.is_match(&whole)) {
                return None;
            }
        }
        let captured = match &self.path {
            Some(path) => Some(path.captures(command.path)?),
            None => None,
        };
        let captured = captured.and_then(|found| found.name("name").map(|name| name.as_str().to_owned()));
        let name = self
            .name
            .clone()
            .or_else(|| {
                let taken = self.take_name(&operands, arguments)?;
                Some(names::first_word(&taken).to_owned())
            })
            .or(captured);
        Some(Fit { name })
    }

    fn take_name(&self, operands: &[&str], arguments: &[Word<'_>]) -> Option<String> {
        match self.name_from? {
            NameFrom::Operand => {
                let star = self
                    .arguments
                    .iter()
                    .position(|one| one.iter().any(|word| word == "*"));
                let operand = operands.get(star.unwrap_or(self.arguments.len()))?;
                let file = operand.rsplit_once(':').map_or(*operand, |(file, object)| {
                    if object.contains(['/', '\\']) {
                        operand
                    } else {
                        file
                    }
                });
                Some(names::stem(names::clean_package(file)).to_owned())
            }
            NameFrom::Label => arguments
                .iter()
                .find_map(|word| word.strip_prefix(self.label.as_str()))
                .map(str::to_owned),
        }
    }
}

/// All rules, found by program.
#[derive(Debug, Default)]
pub(super) struct Rules {
    all: Vec<Rule>,
    by_program: HashMap<String, Vec<usize>>,
    by_prefix: Vec<(String, usize)>,
    by_path: Vec<usize>,
}

impl Rules {
    /// Adds rules; those that are there are asked after them where `before`.
    pub(super) fn add(&mut self, mut more: Vec<Rule>, before: bool) {
        if before {
            more.append(&mut self.all);
            self.all = more;
        } else {
            self.all.append(&mut more);
        }
        self.by_program.clear();
        self.by_prefix.clear();
        self.by_path.clear();
        for (index, rule) in self.all.iter().enumerate() {
            for program in &rule.programs {
                self.by_program.entry(program.clone()).or_default().push(index);
            }
            self.by_prefix
                .extend(rule.prefixes.iter().map(|prefix| (prefix.clone(), index)));
            if rule.programs.is_empty() && rule.prefixes.is_empty() {
                self.by_path.push(index);
            }
        }
    }

    /// Returns whether a rule has this program.
    pub(super) fn knows(&self, program: &str) -> bool {
        self.by_program.contains_key(program)
    }

    /// Returns the first rule that fits, and the name it gives.
    pub(super) fn find(&self, command: Command<'_, '_>) -> Option<(&Rule, Option<String>)> {
        let by_name = command
            .names
            .iter()
            .filter_map(|name| self.by_program.get(*name))
            .flatten()
            .copied();
        let by_prefix = self
            .by_prefix
            .iter()
            .filter(|(prefix, _)| command.names.iter().any(|name| name.starts_with(prefix.as_str())))
            .map(|(_, index)| *index);
        let by_path = self
            .by_path
            .iter()
            .copied()
            .filter(|_| command.path.len() <= 1024);
        by_name
            .chain(by_prefix)
            .chain(by_path)
            .filter_map(|index| self.all.get(index))
            .find_map(|rule| rule.fit(command).map(|fit| (rule, fit.name)))
    }

    /// Returns a rule of this program that wants other arguments, for the near misses.
    pub(super) fn near(&self, names: &[&str]) -> Option<&Rule> {
        let index = names
            .iter()
            .find_map(|name| self.by_program.get(*name))?
            .first()?;
        self.all.get(*index)
    }
}
