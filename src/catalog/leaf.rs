//! Judges the one thing that is left when all shapes are peeled: by its name, sub-command or flag.

use super::judge::{Answer, Judge, Outer};
use super::names::{self, Grade};
use super::words::{Word, program};
use crate::model::instance::{Confidence, Role};

/// What kind of thing an identifier names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Program,
    Script,
    Module,
    Package,
    Image,
    Target,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Script => "script",
            Self::Module => "module",
            Self::Package => "package",
            Self::Image => "image",
            Self::Target => "build target",
        }
    }
}

/// An identifier with where it comes from.
#[derive(Clone, Debug)]
struct Candidate<'w> {
    identifier: &'w str,
    /// It is the name of a directory above the file, which is less than the file's own.
    directory: bool,
    installed: bool,
}

impl Judge<'_> {
    /// The end of the layers: one thing with a name.
    pub(super) fn leaf(
        &mut self,
        kind: Kind,
        identifiers: &[&str],
        arguments: &[Word<'_>],
        outer: Outer,
    ) -> Answer {
        let candidates: Vec<Candidate<'_>> = identifiers
            .iter()
            .flat_map(|identifier| self.candidates(kind, identifier, outer))
            .collect();
        let mut best: Option<(Confidence, Grade, &Candidate<'_>)> = None;
        for candidate in &candidates {
            let Some(grade) = self.catalog.names.grade(candidate.identifier) else {
                continue;
            };
            let Some(confidence) = self.weigh(kind, candidate, grade, outer) else {
                continue;
            };
            if best.is_none_or(|(known, ..)| confidence > known) {
                best = Some((confidence, grade, candidate));
            }
        }
        if let Some((confidence, _, candidate)) = best {
            return self.named(kind, candidate, confidence, outer);
        }
        if let Some(answer) = self.by_words(kind, identifiers, &candidates, arguments, outer) {
            return answer;
        }
        self.unnamed(kind, identifiers, &candidates, outer)
    }

    fn candidates<'w>(&self, kind: Kind, identifier: &'w str, outer: Outer) -> Vec<Candidate<'w>> {
        let names = &self.catalog.names;
        let plain = |identifier, directory, installed| Candidate {
            identifier,
            directory,
            installed,
        };
        if matches!(kind, Kind::Package | Kind::Image | Kind::Module) {
            return vec![plain(identifier, false, outer.installed)];
        }
        // A script without an ending in a directory `bin` is an installed command.
        let command =
            kind == Kind::Script && identifier.contains("/bin/") && !names::has_source_ending(identifier);
        let installed = outer.installed || command || is_installed(identifier);
        let stem = if kind == Kind::Script {
            names::stem(identifier)
        } else {
            names::stem(program(identifier))
        };
        let mut found = Vec::new();
        match names::node_package(identifier) {
            Some((bin, true)) => return vec![plain(bin, false, true)],
            Some((package, false)) => {
                let own = !names.is_generic(stem);
                if own {
                    found.push(plain(stem, false, installed));
                }
                found.push(plain(package, own, installed));
                return found;
            }
            None => {}
        }
        found.push(plain(stem, false, installed));
        if (names.is_generic(stem) || (kind == Kind::Script && stem == "mcp"))
            && let Some(directory) = names.telling_directory(identifier)
        {
            found.push(plain(directory, true, false));
        }
        found
    }

    /// Returns how sure a name makes it, or `None` with a near miss.
    fn weigh(
        &mut self,
        kind: Kind,
        candidate: &Candidate<'_>,
        grade: Grade,
        outer: Outer,
    ) -> Option<Confidence> {
        let identifier = candidate.identifier;
        if outer.script && self.catalog.names.is_chore(identifier) {
            self.near(
                "name",
                format!("`{identifier}` does something about servers, by its name"),
            );
            return None;
        }
        match grade {
            Grade::Exact | Grade::Strong if candidate.directory => Some(Confidence::Likely),
            Grade::Exact | Grade::Strong => Some(Confidence::Known),
            Grade::Medium if !candidate.directory => Some(Confidence::Likely),
            Grade::Weak if candidate.installed && !candidate.directory => Some(Confidence::Likely),
            Grade::Weak if kind == Kind::Program && starts_with_mcp(identifier) => Some(Confidence::Likely),
            Grade::Medium | Grade::Weak => {
                self.near(
                    "name",
                    format!(
                        "`{identifier}` has mcp in it, which says too little for a {}",
                        kind.word()
                    ),
                );
                self.hint = Some(self.catalog.names.short(identifier));
                None
            }
        }
    }

    fn named(&self, kind: Kind, candidate: &Candidate<'_>, confidence: Confidence, outer: Outer) -> Answer {
        let place = if candidate.directory {
            "lies in"
        } else {
            "is named"
        };
        Answer::Mcp {
            role: role(outer),
            confidence,
            rule: "name".to_owned(),
            name: Some(self.catalog.names.short(candidate.identifier)),
            because: format!("the {} {place} `{}`", kind.word(), candidate.identifier),
            proxy: false,
        }
    }

    /// Sub-commands and flags of programs that serve MCP besides other things, and a server's
    /// script in a directory `mcp`.
    fn by_words(
        &mut self,
        kind: Kind,
        identifiers: &[&str],
        candidates: &[Candidate<'_>],
        arguments: &[Word<'_>],
        outer: Outer,
    ) -> Option<Answer> {
        let given = *identifiers.first()?;
        let name = candidates.last().map_or(given, |candidate| candidate.identifier);
        let likely = |rule: &str, name: String, because: String| {
            Some(Answer::Mcp {
                role: role(outer),
                confidence: Confidence::Likely,
                rule: rule.to_owned(),
                name: Some(name),
                because,
                proxy: false,
            })
        };
        if kind == Kind::Script && (self.catalog.names.is_server_path(given) || is_mcp_source(given)) {
            let stem = names::stem(given);
            if !self.catalog.names.is_chore(stem) {
                let name = if stem == "mcp" { name } else { stem };
                return likely(
                    "script-path",
                    self.catalog.names.short(name),
                    format!("the script `{given}` is a server's by its path"),
                );
            }
        }
        if names::is_archive(given) || kind == Kind::Image {
            return None;
        }
        if let Some(word) = self.serving_command(arguments) {
            let name = word.strip_suffix(":mcp").unwrap_or(name);
            return likely(
                "subcommand",
                self.catalog.names.short(name),
                format!("its sub-command `{word}` serves MCP"),
            );
        }
        let at = arguments
            .iter()
            .position(|word| self.catalog.words.flags.contains(word.as_ref()))?;
        if arguments.get(at + 1).is_some_and(|next| !next.starts_with('-')) {
            self.near(
                "flag",
                format!(
                    "`{}` has a value, so it may name a server to talk to",
                    arguments[at]
                ),
            );
            return None;
        }
        likely(
            "flag",
            self.catalog.names.short(name),
            format!("its option `{}` serves MCP", arguments[at]),
        )
    }

    /// The sub-command, where it and what follows it say "serve MCP".
    fn serving_command(&mut self, arguments: &[Word<'_>]) -> Option<String> {
        let words = &self.catalog.words;
        let first = arguments.first()?;
        let (word, rest) = if words.commands.contains(first.as_ref()) {
            (first, &arguments[1..])
        } else {
            let second = arguments.get(1).filter(|word| word.contains(':'))?;
            if !words.commands.contains(second.as_ref()) || first.starts_with('-') {
                return None;
            }
            (second, &arguments[2..])
        };
        let follows = rest.first().map_or("", AsRef::as_ref);
        let help = rest
            .iter()
            .any(|word| word == "--help" || word == "-h" || word == "--version");
        let path = follows.contains(['/', '.']);
        if !help
            && (follows.is_empty() || follows.starts_with('-') || path || words.serving.contains(follows))
        {
            return Some(word.to_string());
        }
        if word.contains(':') && !help {
            return Some(word.to_string());
        }
        self.near("subcommand", format!("`{word} {follows}` is not known to serve"));
        None
    }

    fn unnamed(
        &mut self,
        kind: Kind,
        identifiers: &[&str],
        candidates: &[Candidate<'_>],
        outer: Outer,
    ) -> Answer {
        let given = identifiers.first().copied().unwrap_or("");
        let name = candidates.first().map_or(given, |candidate| candidate.identifier);
        if kind == Kind::Script && self.is_anonymous(given, name) {
            let because = format!(
                "the name of the script `{given}` does not say what it is: a configuration, its package or its wire must"
            );
            return Answer::Nothing {
                because,
                undecided: true,
            };
        }
        let what = if outer.launched {
            "what it starts is no known MCP server"
        } else {
            "no known MCP server"
        };
        Answer::nothing(format!("{what}: the {} `{name}`", kind.word()))
    }

    /// An own script (not an installed tool's), whose name names no known thing of another kind.
    fn is_anonymous(&self, path: &str, name: &str) -> bool {
        let names = &self.catalog.names;
        if names.is_generic(names::stem(path)) || name == "mcp" {
            return true;
        }
        let lower = name.to_ascii_lowercase();
        let other = [
            "lsp",
            "language",
            "langserver",
            "eslint",
            "debug",
            "dap",
            "test",
            "worker",
            "lint",
            "daemon",
        ];
        names::has_source_ending(path)
            && !is_installed(path)
            && !other.iter().any(|word| lower.contains(word))
            && !names.is_chore(name)
            && !lower.starts_with("mcp2")
    }
}

fn role(outer: Outer) -> Role {
    if outer.launched {
        Role::Launcher
    } else {
        Role::Server
    }
}

fn starts_with_mcp(identifier: &str) -> bool {
    let lower = identifier.to_ascii_lowercase();
    lower
        .strip_prefix("mcp")
        .is_some_and(|rest| rest.len() > 1 && rest.starts_with(['-', '_']))
}

/// `mcp.ts`, `mcp.py`, `mcp.js`: a source file named for the protocol.
fn is_mcp_source(path: &str) -> bool {
    names::stem(path) == "mcp" && !names::is_archive(path) && names::has_source_ending(path)
}

/// Directories where package runners and tool installers put what they run.
fn is_installed(path: &str) -> bool {
    const PLACES: [&str; 10] = [
        "/_npx/",
        "/.bunx-",
        "/bunx-",
        "/pnpm/dlx/",
        "/archive-v0/",
        "/builds-v0/",
        "/environments-v2/",
        "/uv/tools/",
        "/pipx/venvs/",
        "/node_modules/",
    ];
    PLACES.iter().any(|place| path.contains(place)) || path.starts_with("node_modules/")
}
