//! Judges an argument vector by itself: peels shapes, then asks rules and names.

use std::borrow::Cow;

use super::Catalog;
use super::leaf::Kind;
use super::load::{RuleRole, ShapeKind};
use super::names::{self, Grade};
use super::rules::{Command, Rule};
use super::shape::Opened;
use super::verdict::{NearMiss, Verdict};
use super::words::{self, Word, Words, basename, program, shell_commands, unversioned};
use crate::model::bytes::OsBytes;
use crate::model::instance::{Confidence, Role};

/// Layers that are peeled, and commands of shell strings that are looked at, in all.
const STEPS: u8 = 24;
/// Layers one within the other.
const LAYERS: u8 = 8;

/// What is known of the layers around a command.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts on the way to one command"
)]
pub(super) struct Outer {
    depth: u8,
    /// A runner, container, wrapper or remote login is around it.
    pub(super) launched: bool,
    /// A package runner or container is around it, or it lies where installed tools lie.
    pub(super) installed: bool,
    /// An interpreter's script is looked at.
    pub(super) script: bool,
    joined: bool,
}

/// The answer on one command.
#[derive(Debug)]
pub(super) enum Answer {
    Mcp {
        role: Role,
        confidence: Confidence,
        rule: String,
        name: Option<String>,
        because: String,
        proxy: bool,
    },
    Role {
        role: Role,
        rule: Option<String>,
        because: String,
    },
    Nothing {
        because: String,
        undecided: bool,
    },
}

impl Answer {
    pub(super) fn nothing(because: impl Into<String>) -> Self {
        Self::Nothing {
            because: because.into(),
            undecided: false,
        }
    }

    fn is_mcp(&self) -> bool {
        matches!(self, Self::Mcp { .. })
    }
}

impl Catalog {
    /// Judges an argument vector by itself, by position.
    pub fn verdict(&self, argv: &[OsBytes]) -> Verdict {
        self.judge(words::of_argv(argv))
    }

    /// Judges a command line as `ps` shows it: elements joined by spaces, quotes perhaps lost.
    pub fn verdict_line(&self, line: &str) -> Verdict {
        self.judge(words::of_line(line))
    }

    /// Returns whether a command only starts another and stays: what it starts is what counts.
    pub fn is_transparent(&self, argv: &[OsBytes]) -> bool {
        let Words { words, joined } = words::of_argv(argv);
        self.transparent(&words, joined, 0)
    }

    pub(super) fn transparent(&self, words: &[Word<'_>], joined: bool, depth: u8) -> bool {
        let Some(first) = words.first() else { return false };
        if depth >= LAYERS {
            return false;
        }
        let head = unversioned(program(first)).to_owned();
        for shape in self.shapes_of(&head) {
            match (shape.kind, shape.open(words, joined)) {
                (_, None) => {}
                (ShapeKind::Loader, Some(Opened::Command(rest))) => {
                    return self.transparent(&rest, joined, depth + 1);
                }
                (ShapeKind::Interpreter, Some(Opened::Script(script, rest))) => {
                    let Some(inner) = self.tool_of(&script) else {
                        return false;
                    };
                    let words: Vec<Word<'_>> = std::iter::once(Cow::Owned(inner.to_owned()))
                        .chain(rest)
                        .collect();
                    return self.transparent(&words, joined, depth + 1);
                }
                (ShapeKind::Interpreter, Some(_)) | (_, Some(Opened::Nothing(_))) => return false,
                (_, Some(_)) => return true,
            }
        }
        false
    }

    fn judge(&self, words: Words<'_>) -> Verdict {
        let mut judge = Judge {
            catalog: self,
            steps: STEPS,
            near: Vec::new(),
            hint: None,
        };
        let outer = Outer {
            joined: words.joined,
            ..Outer::default()
        };
        let answer = judge.top(words.words, outer);
        let (near_misses, hint) = (judge.near, judge.hint);
        let empty = Verdict {
            mcp: false,
            role: Role::Other,
            confidence: None,
            rule: None,
            name: None,
            because: String::new(),
            near_misses,
            undecided: false,
            hint: None,
            proxy: false,
        };
        match answer {
            Answer::Mcp {
                role,
                confidence,
                rule,
                name,
                because,
                proxy,
            } => Verdict {
                mcp: true,
                role,
                confidence: Some(confidence),
                rule: Some(rule),
                name,
                because,
                proxy,
                ..empty
            },
            Answer::Role { role, rule, because } => Verdict {
                role,
                rule,
                because,
                ..empty
            },
            Answer::Nothing { because, undecided } => Verdict {
                because,
                undecided,
                hint,
                ..empty
            },
        }
    }
}

pub(super) struct Judge<'c> {
    pub(super) catalog: &'c Catalog,
    steps: u8,
    near: Vec<NearMiss>,
    /// The short name of what has mcp in its name and is not known by it.
    pub(super) hint: Option<String>,
}

impl Judge<'_> {
    fn top(&mut self, mut words: Vec<Word<'_>>, outer: Outer) -> Answer {
        let Some(first) = words.first() else {
            return Answer::nothing(
                "it has no command line: a kernel thread, a zombie, or one that cleared it",
            );
        };
        if first.starts_with('[') && words.last().is_some_and(|last| last.ends_with(']')) {
            return Answer::nothing(
                "a name in brackets: a kernel thread, or a process without a command line",
            );
        }
        if outer.joined {
            if let Some((_, name)) = self.catalog.client_of_title(&words) {
                return Answer::Role {
                    role: Role::Client,
                    rule: None,
                    because: format!("its title is one of {name}"),
                };
            }
            if first.ends_with(':') {
                return Answer::nothing("a title that the process wrote itself; what follows is its state");
            }
            if words.get(1).is_some_and(|word| word == "(deleted)") {
                words.remove(1);
            }
        }
        self.command(&words, outer)
    }

    fn command(&mut self, words: &[Word<'_>], outer: Outer) -> Answer {
        let Some(first) = words.first() else {
            return Answer::nothing("there is no command behind it");
        };
        if self.steps == 0 || outer.depth >= LAYERS {
            return Answer::nothing("it is nested too deeply to be looked into");
        }
        self.steps -= 1;
        let first = forward(first.clone());
        let head = program(&first).to_owned();
        let plain = unversioned(&head);
        let all = [head.as_str(), plain];
        let known: &[&str] = if plain == head { &all[..1] } else { &all };
        let arguments = &words[1..];
        if let Some(answer) = self.by_rule(known, &first, arguments, outer) {
            return answer;
        }
        if let Some(answer) = self.by_client(&head, &first, arguments) {
            return answer;
        }
        for shape in self.catalog.shapes_of(plain) {
            if let Some(opened) = shape.open(words, outer.joined) {
                return self.opened(&shape.id, shape.kind, opened, outer);
            }
        }
        if self.catalog.stops(&head) || self.catalog.stops(plain) {
            return Answer::nothing(format!(
                "the arguments of `{head}` are data, nobody looks into them"
            ));
        }
        if names::has_source_ending(&first) && !first.ends_with(".exe") {
            return self.script(&first, arguments, outer, false);
        }
        self.leaf(Kind::Program, &[&first], arguments, outer)
    }

    fn opened(&mut self, shape: &str, kind: ShapeKind, opened: Opened<'_>, outer: Outer) -> Answer {
        let launches = !matches!(kind, ShapeKind::Interpreter | ShapeKind::Loader);
        let inner = Outer {
            depth: outer.depth + 1,
            launched: outer.launched || launches,
            installed: outer.installed || (launches && matches!(kind, ShapeKind::Container)),
            ..outer
        };
        match opened {
            Opened::Nothing(why) => Answer::nothing(format!("{why} ({shape})")),
            Opened::Command(words) => self.command(&words, inner),
            Opened::Shell(script, rest) => self.shell(&script, &rest, inner),
            Opened::Package(word, more, rest) => self.package(
                &word,
                &more,
                rest,
                Outer {
                    installed: true,
                    ..inner
                },
            ),
            Opened::Image(image, rest) => self.image(&image, &rest, inner),
            Opened::Script(script, rest) => self.interpreted(shape, &script, &rest, inner),
            Opened::Module(module, rest) => self.module(&module, &rest, inner),
            Opened::Target(target, rest) => self.leaf(Kind::Target, &[&target], &rest, inner),
        }
    }

    fn shell(&mut self, script: &str, rest: &[Word<'_>], outer: Outer) -> Answer {
        if script.contains("\"$@\"") && !outer.joined {
            // `sh -c 'exec "$@"' sh CMD …`
            return self.command(rest.get(1..).unwrap_or_default(), outer);
        }
        let mut last = Answer::nothing("a shell's text that is more than simple commands");
        for command in shell_commands(script) {
            let words: Vec<Word<'_>> = command.into_iter().map(Cow::Owned).collect();
            // What a shell starts is a vector again: its quotes were there.
            let answer = self.command(
                &words,
                Outer {
                    depth: outer.depth,
                    ..outer
                },
            );
            if answer.is_mcp() {
                return answer;
            }
            if !matches!(last, Answer::Nothing { undecided: true, .. }) {
                last = answer;
            }
        }
        last
    }

    fn package(&mut self, word: &str, more: &[Word<'_>], rest: Vec<Word<'_>>, outer: Outer) -> Answer {
        let name = names::clean_package(word);
        if let Some(answer) = self.by_rule(&[name], name, &rest, outer) {
            return answer;
        }
        let scoped = name.starts_with('@');
        if !scoped && self.catalog.is_tool(name) {
            let words: Vec<Word<'_>> = std::iter::once(Cow::Owned(name.to_owned())).chain(rest).collect();
            return self.command(
                &words,
                Outer {
                    depth: outer.depth + 1,
                    ..outer
                },
            );
        }
        if let Some(client) = self.catalog.client_of_package(name) {
            return Answer::Role {
                role: Role::Client,
                rule: None,
                because: format!("a package of {client}"),
            };
        }
        if !scoped && names::has_source_ending(word) {
            return self.script(word, &rest, outer, false);
        }
        let cleaned: Vec<&str> = std::iter::once(name)
            .chain(more.iter().map(|spec| names::clean_package(spec)))
            .collect();
        self.leaf(Kind::Package, &cleaned, &rest, outer)
    }

    fn image(&mut self, image: &str, rest: &[Word<'_>], outer: Outer) -> Answer {
        let name = names::clean_image(image);
        let last = basename(name);
        let names = [name, last];
        let known = if last == "mcp" { &names[..1] } else { &names[..] };
        if let Some(answer) = self.by_rule(known, image, rest, outer) {
            return answer;
        }
        let candidates = if name.contains('/') && last != "mcp" {
            vec![name, last]
        } else {
            vec![name]
        };
        let answer = self.leaf(Kind::Image, &candidates, &[], outer);
        if answer.is_mcp() || rest.first().is_none_or(|first| first.starts_with('-')) {
            return answer;
        }
        self.command(
            rest,
            Outer {
                installed: false,
                ..outer
            },
        )
    }

    fn interpreted(&mut self, shape: &str, script: &str, rest: &[Word<'_>], outer: Outer) -> Answer {
        if script.starts_with("npm:") || script.starts_with("jsr:") || script.starts_with("https://") {
            return self.package(
                script,
                &[],
                rest.to_vec(),
                Outer {
                    installed: true,
                    ..outer
                },
            );
        }
        let script = forward(Cow::Borrowed(script));
        let script = script.as_ref();
        if let Some(tool) = self.catalog.tool_of(script) {
            let words: Vec<Word<'_>> = std::iter::once(Cow::Owned(tool.to_owned()))
                .chain(rest.iter().cloned())
                .collect();
            // The path counts for rules on it, before the tool's name does.
            if let Some(answer) = self.by_rule(&[], script, rest, outer) {
                return answer;
            }
            return self.command(&words, outer);
        }
        self.script(script, rest, outer, shape == "shell-script")
    }

    fn module(&mut self, module: &str, rest: &[Word<'_>], outer: Outer) -> Answer {
        let module = module.split(':').next().unwrap_or(module);
        let top = module.split('.').next().unwrap_or(module);
        if self.catalog.is_tool(module) || (self.catalog.is_tool(top) && module == top) {
            let words: Vec<Word<'_>> = std::iter::once(Cow::Owned(module.to_owned()))
                .chain(rest.iter().cloned())
                .collect();
            return self.command(
                &words,
                Outer {
                    depth: outer.depth + 1,
                    ..outer
                },
            );
        }
        if self.catalog.stops(top) {
            return Answer::nothing(format!("the arguments of the module `{top}` are data"));
        }
        let mut path = module;
        while let Some((parent, last)) = path.rsplit_once('.') {
            if !self.catalog.names.is_generic(last) {
                break;
            }
            path = parent;
        }
        let last = path.rsplit('.').next().unwrap_or(path);
        if self.catalog.names.is_chore(last) {
            return Answer::nothing(format!(
                "the module `{last}` does something about servers, by its name"
            ));
        }
        self.leaf(Kind::Module, &[last, path, top], rest, outer)
    }

    /// A script that an interpreter, or the system itself, runs.
    fn script(&mut self, script: &str, rest: &[Word<'_>], outer: Outer, shell: bool) -> Answer {
        let names = self.script_names(script);
        if let Some(answer) = self.by_rule(&names, script, rest, outer) {
            return answer;
        }
        if let Some(client) = self.catalog.client_of_script(script) {
            return Answer::Role {
                role: Role::Client,
                rule: None,
                because: format!("a script of {client}"),
            };
        }
        let outer = Outer {
            script: true,
            ..outer
        };
        if shell || names::is_shell_source(script) {
            return self.shell_script(script, outer);
        }
        self.leaf(Kind::Script, &[script], rest, outer)
    }

    /// The names a script goes by in rules: its stem, its package, the directory of a file whose
    /// stem says nothing.
    fn script_names<'p>(&self, script: &'p str) -> Vec<&'p str> {
        let stem = names::stem(script);
        let mut found = vec![stem];
        if let Some((package, _)) = names::node_package(script) {
            found.push(package);
        } else if self.catalog.names.is_generic(stem) {
            found.extend(self.catalog.names.telling_directory(script));
        }
        // A directory, a package or a source file `mcp` is not the command `mcp`.
        let command = !names::has_source_ending(script);
        found.retain(|name| (command && *name == stem) || !matches!(*name, "mcp" | "fastmcp"));
        found
    }

    /// A shell script stays between the client and what it starts, so it can be a launcher at most.
    fn shell_script(&mut self, script: &str, outer: Outer) -> Answer {
        let stem = names::stem(script);
        let grade = self.catalog.names.grade(stem);
        if self.catalog.names.is_chore(stem) || grade.is_none_or(|grade| grade < Grade::Medium) {
            return Answer::nothing("a shell script; what it does its name does not say");
        }
        match self.leaf(Kind::Script, &[script], &[], outer) {
            Answer::Mcp { rule, because, .. } => {
                let verb = ["start-", "run-", "launch-", "serve-"]
                    .iter()
                    .find_map(|verb| stem.strip_prefix(verb));
                let short = verb.map(|rest| self.catalog.names.short(rest));
                Answer::Mcp {
                    role: Role::Launcher,
                    confidence: Confidence::Likely,
                    rule,
                    name: Some(short.unwrap_or_else(|| self.catalog.names.short(stem))),
                    because,
                    proxy: false,
                }
            }
            other => other,
        }
    }

    fn by_rule(
        &mut self,
        names: &[&str],
        path: &str,
        arguments: &[Word<'_>],
        outer: Outer,
    ) -> Option<Answer> {
        let command = Command {
            names,
            path,
            arguments,
            joined: outer.joined,
        };
        let Some((rule, name)) = self.catalog.rules.find(command) else {
            if let Some(rule) = self.catalog.rules.near(names) {
                let why = format!(
                    "`{}` is its program; its other conditions do not hold",
                    names.first().unwrap_or(&path)
                );
                self.near(&rule.id, why);
            }
            return None;
        };
        Some(self.answer_of(rule, name, names.first().copied().unwrap_or(path), outer))
    }

    fn answer_of(&self, rule: &Rule, name: Option<String>, program: &str, outer: Outer) -> Answer {
        let part = match rule.role {
            RuleRole::Server if outer.launched => Role::Launcher,
            RuleRole::Server => Role::Server,
            RuleRole::Launcher => Role::Launcher,
            RuleRole::Helper => Role::Helper,
            RuleRole::Client => Role::Client,
            RuleRole::Management if self.catalog.is_client_program(program) => Role::Client,
            RuleRole::Management | RuleRole::Other => Role::Other,
        };
        let because = rule.because.clone();
        if matches!(part, Role::Server | Role::Launcher) {
            Answer::Mcp {
                role: part,
                confidence: rule.confidence,
                rule: rule.id.clone(),
                name: name.or_else(|| Some(self.catalog.names.short(names::stem(program)))),
                because,
                proxy: rule.proxy,
            }
        } else {
            Answer::Role {
                role: part,
                rule: Some(rule.id.clone()),
                because,
            }
        }
    }

    fn by_client(&self, head: &str, path: &str, arguments: &[Word<'_>]) -> Option<Answer> {
        let name = self.catalog.client_of_command(head, path, arguments)?;
        Some(Answer::Role {
            role: Role::Client,
            rule: None,
            because: format!("`{head}` is a program of {name}"),
        })
    }

    pub(super) fn near(&mut self, rule: &str, why: String) {
        if self.near.len() < 8 && !self.near.iter().any(|miss| miss.rule == rule) {
            self.near.push(NearMiss {
                rule: rule.to_owned(),
                why,
            });
        }
    }
}

/// A Windows path with the separators of the others.
fn forward(path: Word<'_>) -> Word<'_> {
    if words::is_windows(&path) {
        Cow::Owned(path.replace('\\', "/"))
    } else {
        path
    }
}
