//! Shapes: where in an argument vector the name of what runs is.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::load::{Payload, ShapeKind, ShapeSpec, Source};
use super::verdict::CatalogError;
use super::words::{self, Word, is_assignment};

/// A compiled shape.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) id: String,
    pub(super) kind: ShapeKind,
    pub(super) programs: Vec<String>,
    pub(super) prefixes: Vec<String>,
    commands: Vec<Vec<String>>,
    commands_optional: bool,
    payload: Payload,
    global: HashSet<String>,
    values: HashSet<String>,
    package: Vec<String>,
    shell: Vec<String>,
    module: Vec<String>,
    script: Vec<String>,
    target: Vec<String>,
    reject: Vec<String>,
    reject_words: Vec<String>,
    needs: Vec<String>,
    refuse: Vec<String>,
    words: Vec<String>,
    suffixes: Vec<String>,
    skip: usize,
    assignments: bool,
}

/// What a shape lays open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Opened<'a> {
    /// A command.
    Command(Vec<Word<'a>>),
    /// A shell's string, with the words behind it.
    Shell(Word<'a>, Vec<Word<'a>>),
    /// A package (or its program) with further packages by option, and arguments.
    Package(Word<'a>, Vec<Word<'a>>, Vec<Word<'a>>),
    /// An image, and arguments.
    Image(Word<'a>, Vec<Word<'a>>),
    /// A script, and arguments.
    Script(Word<'a>, Vec<Word<'a>>),
    /// A module, and arguments.
    Module(Word<'a>, Vec<Word<'a>>),
    /// A build target, and arguments.
    Target(Word<'a>, Vec<Word<'a>>),
    /// The shape fits, and there is nothing to look at; says why.
    Nothing(&'static str),
}

/// What options said before the payload.
#[derive(Default)]
struct Found<'a> {
    packages: Vec<Word<'a>>,
    target: Option<Word<'a>>,
    needed: bool,
    refused: bool,
}

impl Shape {
    pub(super) fn compile(
        spec: ShapeSpec,
        lists: &BTreeMap<String, Vec<String>>,
        source: Source<'_>,
        span: &std::ops::Range<usize>,
    ) -> Result<Self, CatalogError> {
        let collect = |key: &str, names: &[String]| {
            let mut all = HashSet::new();
            for name in names {
                let Some(list) = lists.get(name) else {
                    return Err(source.error(span, key, &format!("there is no list `{name}` in [options]")));
                };
                all.extend(list.iter().cloned());
            }
            Ok(all)
        };
        let mut values = collect("options", &spec.options)?;
        values.extend(spec.values);
        Ok(Self {
            global: collect("global", &spec.global)?,
            values,
            id: spec.id,
            kind: spec.kind,
            programs: spec.programs,
            prefixes: spec.prefixes,
            commands: spec.commands,
            commands_optional: spec.commands_optional,
            payload: spec.payload,
            package: spec.package,
            shell: spec.shell,
            module: spec.module,
            script: spec.script,
            target: spec.target,
            reject: spec.reject,
            reject_words: spec.reject_words,
            needs: spec.needs,
            refuse: spec.refuse,
            words: spec.words,
            suffixes: spec.suffixes,
            skip: spec.skip,
            assignments: spec.assignments,
        })
    }

    /// Opens a command whose program is one of this shape's; `None` where the shape does not fit.
    /// `joined`: the words come from one string, so that a shell's string goes on to the end.
    pub(super) fn open<'a>(&self, words: &[Word<'a>], joined: bool) -> Option<Opened<'a>> {
        let mut at = 1;
        if !self.commands.is_empty() {
            match self.after_commands(words) {
                Some(next) => at = next,
                None if self.commands_optional => {}
                None => return None,
            }
        }
        match self.payload {
            Payload::AfterDashes => {
                let dashes = words.iter().position(|word| word == "--")?;
                if !self.needs.is_empty() && !words[at..dashes].iter().any(|word| self.is_needed(word)) {
                    return Some(Opened::Nothing("its standard input is not passed on"));
                }
                return Some(Opened::Command(words[dashes + 1..].to_vec()));
            }
            Payload::AfterWord => return self.after_word(words),
            _ => {}
        }
        self.scan(words, at, joined)
    }

    /// Skips options before the sub-command, then the sub-command's words.
    fn after_commands(&self, words: &[Word<'_>]) -> Option<usize> {
        let mut at = 1;
        for alternatives in &self.commands {
            loop {
                let word = words.get(at)?;
                if word.len() > 1 && word.starts_with('-') {
                    let valued = if self.global.is_empty() {
                        &self.values
                    } else {
                        &self.global
                    };
                    at += if valued.contains(word.as_ref()) { 2 } else { 1 };
                } else if alternatives.iter().any(|one| one == word) {
                    at += 1;
                    break;
                } else {
                    return None;
                }
            }
        }
        Some(at)
    }

    fn after_word<'a>(&self, words: &[Word<'a>]) -> Option<Opened<'a>> {
        let at = words
            .iter()
            .position(|word| self.words.iter().any(|one| one == word))?;
        let rest = &words[at + 1..];
        match rest {
            [one] if one.contains(' ') => {
                let split = words::shell_commands(one).into_iter().next().unwrap_or_default();
                Some(Opened::Command(split.into_iter().map(Cow::Owned).collect()))
            }
            _ => Some(Opened::Command(rest.to_vec())),
        }
    }

    fn scan<'a>(&self, words: &[Word<'a>], mut at: usize, joined: bool) -> Option<Opened<'a>> {
        let mut found = Found::default();
        let mut operands = 0;
        let mut options = true;
        while let Some(word) = words.get(at) {
            let rest = || words.get(at + 1..).unwrap_or_default().to_vec();
            if options && word == "--" {
                options = false;
                at += 1;
                continue;
            }
            if options && word.len() > 1 && word.starts_with('-') {
                match self.option(words, at, joined, &mut found) {
                    Step::Skip(count) => at += count,
                    Step::Opened(opened) => return Some(opened),
                }
                continue;
            }
            if self.assignments && is_assignment(word) {
                at += 1;
                continue;
            }
            if operands < self.skip {
                operands += 1;
                at += 1;
                continue;
            }
            if self.reject_words.iter().any(|one| one == word) {
                return Some(Opened::Nothing("the sub-command runs no program"));
            }
            return self.payload(word.clone(), rest(), words, at, found);
        }
        self.at_end(found)
    }

    /// Nothing but options: a package by option (`npx -p X`), a target (`cargo run --bin X`).
    fn at_end<'a>(&self, found: Found<'a>) -> Option<Opened<'a>> {
        if let Some(target) = found.target {
            return Some(Opened::Target(target, Vec::new()));
        }
        match found.packages.into_iter().next() {
            Some(package) => Some(Opened::Package(package, Vec::new(), Vec::new())),
            // A shell or an interpreter without a script, a container without an image.
            None if self.payload == Payload::None => None,
            None => Some(Opened::Nothing("nothing is named that it runs")),
        }
    }

    fn payload<'a>(
        &self,
        word: Word<'a>,
        rest: Vec<Word<'a>>,
        words: &[Word<'a>],
        at: usize,
        found: Found<'a>,
    ) -> Option<Opened<'a>> {
        if found.refused {
            return Some(Opened::Nothing("it starts it in the background and ends"));
        }
        if !self.needs.is_empty() && !found.needed {
            return Some(Opened::Nothing("its standard input is not passed on"));
        }
        if let Some(target) = found.target {
            return Some(Opened::Target(target, words[at..].to_vec()));
        }
        Some(match self.payload {
            Payload::Package => Opened::Package(word, found.packages, rest),
            Payload::Image => Opened::Image(word, rest),
            Payload::Script
                if !self.suffixes.is_empty() && !self.suffixes.iter().any(|end| word.ends_with(end)) =>
            {
                return None;
            }
            Payload::Script => Opened::Script(word, rest),
            Payload::Module => Opened::Module(word, rest),
            Payload::Target => Opened::Target(word, rest),
            Payload::Remote => {
                // ssh joins its words with spaces and hands them to the other host's shell.
                Opened::Shell(Cow::Owned(words[at..].join(" ")), Vec::new())
            }
            Payload::None => return None,
            Payload::Command | Payload::AfterDashes | Payload::AfterWord => {
                Opened::Command(words[at..].to_vec())
            }
        })
    }

    fn option<'a>(&self, words: &[Word<'a>], at: usize, joined: bool, found: &mut Found<'a>) -> Step<'a> {
        let word = &words[at];
        let has = |list: &[String]| list.iter().any(|one| one == word);
        let next = || words.get(at + 1).cloned();
        let rest = || words.get(at + 2..).unwrap_or_default().to_vec();
        found.needed |= self.is_needed(word);
        found.refused |= self.refuse.iter().any(|one| one == word);
        if let Some((option, text)) = word.split_once('=')
            && option.starts_with("--")
            && self.shell.iter().any(|one| one == option)
        {
            return Step::Opened(Opened::Shell(
                Cow::Owned(text.to_owned()),
                words[at + 1..].to_vec(),
            ));
        }
        if has(&self.shell) || self.ends_in_shell(word) {
            let Some(script) = next() else {
                return Step::Opened(Opened::Nothing("its command is missing"));
            };
            let string = if joined {
                Cow::Owned(words[at + 1..].join(" "))
            } else {
                script
            };
            return Step::Opened(Opened::Shell(string, rest()));
        }
        if let Some(opened) = self.named(words, at) {
            return Step::Opened(opened);
        }
        if has(&self.reject) {
            let why = match self.kind {
                ShapeKind::Interpreter => "it evaluates a text or runs tests",
                _ => "it looks at what runs already",
            };
            return Step::Opened(Opened::Nothing(why));
        }
        if let Some((option, value)) = word.split_once('=') {
            let value: Word<'a> = Cow::Owned(value.to_owned());
            if self.package.iter().any(|one| one == option) {
                found.packages.push(value);
            } else if self.target.iter().any(|one| one == option) {
                found.target.get_or_insert(value);
            }
            return Step::Skip(1);
        }
        if has(&self.package) {
            found.packages.extend(next());
            return Step::Skip(2);
        }
        if has(&self.target) {
            if let Some(target) = next() {
                found.target.get_or_insert(target);
            }
            return Step::Skip(2);
        }
        Step::Skip(if self.values.contains(word.as_ref()) { 2 } else { 1 })
    }

    /// `-m MODULE`, also at the end of joined short options (`-um`), and `-jar FILE`.
    fn named<'a>(&self, words: &[Word<'a>], at: usize) -> Option<Opened<'a>> {
        let word = words.get(at)?;
        let rest = || words.get(at + 2..).unwrap_or_default().to_vec();
        if self.script.iter().any(|one| one == word) {
            return Some(Opened::Script(words.get(at + 1)?.clone(), rest()));
        }
        if self.module.is_empty() {
            return None;
        }
        let cluster =
            self.id == "python" && !word.starts_with("--") && word.ends_with('m') && word.len() <= 8;
        if cluster || self.module.iter().any(|one| one == word) {
            return Some(Opened::Module(words.get(at + 1)?.clone(), rest()));
        }
        None
    }

    /// Joined short options of which the last takes a shell's string: `script -qefc TEXT`.
    fn ends_in_shell(&self, word: &str) -> bool {
        let Some(letters) = word.strip_prefix('-').filter(|rest| rest.len() > 1) else {
            return false;
        };
        let takes =
            |letter: char, list: &[String]| list.iter().any(|one| one.len() == 2 && one.ends_with(letter));
        letters.chars().all(|letter| letter.is_ascii_alphabetic())
            && letters
                .chars()
                .last()
                .is_some_and(|last| takes(last, &self.shell))
            && !letters
                .chars()
                .any(|letter| self.values.contains(&format!("-{letter}")))
    }

    /// `-i`, `--interactive`, `--interactive=true`, and `-it`.
    fn is_needed(&self, word: &str) -> bool {
        let plain = word.split('=').next().unwrap_or(word);
        self.needs.iter().any(|one| {
            one == plain
                || (one.len() == 2
                    && word.len() <= 4
                    && word.starts_with('-')
                    && !word.starts_with("--")
                    && word[1..].contains(&one[1..]))
        })
    }
}

enum Step<'a> {
    Skip(usize),
    Opened(Opened<'a>),
}
