//! Compares a process with a configuration entry, element by element, and knows what the usual
//! launchers make of a command.

use std::borrow::Cow;

use super::Catalog;
use super::expand::{Wanted, expand, fits};
use super::fit::{
    all_fit, command_fits, fit_words, fits_word, has_something_in_common, is_tool_directory, npx_directory,
    same, says_enough, trim, without_padding,
};
use super::load::ShapeKind;
use super::names;
use super::shape::{Opened, Shape};
use super::verdict::{EntryMatch, MatchedAs, Seen};
use super::words::{self, Word, Words, program, shell_commands, unversioned};
use crate::model::bytes::OsBytes;
use crate::model::known::ConfiguredServer;

/// Layers of an entry's own wrappers that are taken off.
const LAYERS: u8 = 5;

/// A way in which a process equals an entry.
#[derive(Clone, Copy)]
struct Found {
    part: MatchedAs,
    rule: &'static str,
    how: &'static str,
    lossy: bool,
}

/// A package that a runner was told to run.
struct Package<'a> {
    family: Family,
    word: Word<'a>,
    more: Vec<Word<'a>>,
    rest: Vec<Word<'a>>,
}

/// Runners that are the same program under another name, or take each other's place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Npm,
    Bun,
    Pnpm,
    Python,
    Other,
}

impl Family {
    fn of(shape: &Shape) -> Self {
        match shape.id.as_str() {
            "npx" | "npm-exec" => Self::Npm,
            "bunx" | "bun-x" => Self::Bun,
            "pnpm-dlx" | "pnpx" => Self::Pnpm,
            "uvx" | "uv-tool-run" | "pipx-run" => Self::Python,
            _ => Self::Other,
        }
    }
}

impl Catalog {
    /// Returns how a process equals an entry, after the client's expansion of variables.
    pub fn matches(&self, entry: &ConfiguredServer, seen: &Seen<'_>) -> Option<EntryMatch> {
        if seen.argv.is_empty() || !has_something_in_common(entry, seen.argv) {
            return None;
        }
        let client = self.clients.all.iter().find(|client| client.id == entry.client);
        let wanted = expand(
            entry,
            client.map_or(&[], |client| client.expands.as_slice()),
            seen,
        );
        if !says_enough(&wanted) {
            return None;
        }
        let found = self.compare(&wanted.words, seen, seen.argv, 0)?;
        let lossy = found.lossy || wanted.lossy;
        let loss = if wanted.lossy {
            "; a variable in it is not known"
        } else {
            ""
        };
        Some(EntryMatch {
            part: found.part,
            rule: found.rule.to_owned(),
            because: format!(
                "{} the entry `{}` of {}{loss}",
                found.how,
                entry.name.lossy(),
                entry.client_name
            ),
            lossy,
        })
    }

    fn compare(&self, wanted: &[Vec<u8>], seen: &Seen<'_>, argv: &[OsBytes], depth: u8) -> Option<Found> {
        let part = || {
            let words: Vec<Word<'_>> = wanted.iter().map(|word| String::from_utf8_lossy(word)).collect();
            if self.transparent(&words, false, 0) {
                MatchedAs::Launcher
            } else {
                MatchedAs::Server
            }
        };
        if same(wanted, argv, seen) || same(wanted, without_padding(argv), seen) {
            let rule = if depth == 0 {
                "configured-exact"
            } else {
                "configured-payload"
            };
            let how = if depth == 0 {
                "its command line equals"
            } else {
                "its command line is what is started by"
            };
            return Some(Found {
                part: part(),
                rule,
                how,
                lossy: false,
            });
        }
        if let [first, rest @ ..] = argv
            && first.basename() == b"disclaimer"
            && same(wanted, rest, seen)
        {
            let how = "the helper of Claude Desktop around";
            return Some(Found {
                part: MatchedAs::Launcher,
                rule: "configured-wrapped",
                how,
                lossy: false,
            });
        }
        if self.by_shebang(wanted, seen, argv) {
            let how = "an interpreter runs, by the script's first line, the command of";
            return Some(Found {
                part: part(),
                rule: "configured-shebang",
                how,
                lossy: false,
            });
        }
        if depth >= LAYERS {
            return None;
        }
        self.inside(wanted, seen, argv, depth)
    }

    /// Opens the entry's own launcher and compares what it starts.
    fn inside(&self, wanted: &[Vec<u8>], seen: &Seen<'_>, argv: &[OsBytes], depth: u8) -> Option<Found> {
        let words: Vec<Word<'_>> = wanted.iter().map(|word| String::from_utf8_lossy(word)).collect();
        let head = unversioned(program(words.first()?)).to_owned();
        for shape in self
            .shapes_of(&head)
            .filter(|shape| shape.kind != ShapeKind::Interpreter)
        {
            let opened = shape.open(&words, false);
            let inner: Vec<Vec<Word<'_>>> = match opened {
                None => continue,
                Some(Opened::Package(word, more, rest)) => {
                    let package = Package {
                        family: Family::of(shape),
                        word,
                        more,
                        rest,
                    };
                    return self.by_package(&package, seen, argv);
                }
                // Inside a container or on another host the vector is another machine's.
                Some(_) if matches!(shape.kind, ShapeKind::Container | ShapeKind::Remote) => return None,
                Some(Opened::Command(rest)) => vec![rest],
                Some(Opened::Module(module, rest)) => {
                    let lead = [Cow::Borrowed("python"), Cow::Borrowed("-m"), module];
                    vec![lead.into_iter().chain(rest).collect()]
                }
                Some(Opened::Shell(script, _)) => shell_commands(&script)
                    .into_iter()
                    .map(|command| {
                        let exec = usize::from(command.first().is_some_and(|first| first == "exec"));
                        command.into_iter().skip(exec).map(Cow::Owned).collect()
                    })
                    .collect(),
                Some(Opened::Script(script, rest)) => vec![std::iter::once(script).chain(rest).collect()],
                Some(_) => return None,
            };
            for command in inner.into_iter().filter(|command| !command.is_empty()) {
                let bytes: Vec<Vec<u8>> = command.iter().map(|word| word.as_bytes().to_vec()).collect();
                let telling = says_enough(&Wanted {
                    words: bytes.clone(),
                    lossy: false,
                });
                if let Some(found) = telling
                    .then(|| self.compare(&bytes, seen, argv, depth + 1))
                    .flatten()
                {
                    return Some(found);
                }
            }
            return None;
        }
        None
    }

    /// `python …/bin/mcp-server-git A` for the command `mcp-server-git A`.
    fn by_shebang(&self, wanted: &[Vec<u8>], seen: &Seen<'_>, argv: &[OsBytes]) -> bool {
        let Some((script, rest)) = self.script_of(argv) else {
            return false;
        };
        let [command, arguments @ ..] = wanted else {
            return false;
        };
        let alias = matches!(words::basename(&script), "npx-cli.js") && command == b"npx";
        let fits_script = alias || command_fits(command, &OsBytes::from(&*script), seen);
        fits_script && all_fit(arguments, &argv[rest..])
    }

    /// Returns the script that an interpreter runs, and where its arguments begin.
    fn script_of<'a>(&self, argv: &'a [OsBytes]) -> Option<(Word<'a>, usize)> {
        let Words { words, joined: false } = words::of_argv(argv) else {
            return None;
        };
        let head = unversioned(program(words.first()?)).to_owned();
        let interpreters = self
            .shapes_of(&head)
            .filter(|shape| shape.kind == ShapeKind::Interpreter);
        for shape in interpreters {
            if let Some(Opened::Script(script, rest)) = shape.open(&words, false) {
                // Counted from the front: elements beyond those looked at belong to the rest.
                let at = words.len().checked_sub(rest.len())?;
                return Some((script, at));
            }
        }
        None
    }

    fn by_package(&self, wanted: &Package<'_>, seen: &Seen<'_>, argv: &[OsBytes]) -> Option<Found> {
        by_title(wanted, argv)
            .or_else(|| self.by_same_runner(wanted, argv))
            .or_else(|| self.by_runner_shell(wanted, argv))
            .or_else(|| self.by_place(wanted, argv))
            .or_else(|| self.by_module_tool(wanted, seen, argv))
    }

    /// `uv tool uvx X A` for `uvx X A`, `bun x P` for `bunx P`, `node …/npx-cli.js -y P` for `npx -y P`.
    fn by_same_runner(&self, wanted: &Package<'_>, argv: &[OsBytes]) -> Option<Found> {
        let Words {
            mut words,
            joined: false,
        } = words::of_argv(argv)
        else {
            return None;
        };
        if let Some((script, rest)) = self.script_of(argv)
            && let Some(tool) = self.tool_of(&script).map(str::to_owned)
        {
            words = std::iter::once(Cow::Owned(tool))
                .chain(words.split_off(rest.min(words.len())))
                .collect();
        }
        let head = program(words.first()?).to_owned();
        for shape in self
            .shapes_of(&head)
            .filter(|shape| Family::of(shape) == wanted.family)
        {
            let Some(Opened::Package(word, more, rest)) = shape.open(&words, false) else {
                continue;
            };
            let equal = fits_word(&wanted.word, &word)
                && fit_words(&wanted.rest, &rest)
                && wanted.family != Family::Other
                && fit_words(&wanted.more, &more);
            if equal {
                let how = "the same runner, in its own writing, runs the package of";
                return Some(Found {
                    part: MatchedAs::Launcher,
                    rule: "configured-runner",
                    how,
                    lossy: false,
                });
            }
        }
        None
    }

    /// The shell that npm starts: `sh -c "'BIN' A"`.
    fn by_runner_shell(&self, wanted: &Package<'_>, argv: &[OsBytes]) -> Option<Found> {
        let [shell, option, script] = argv else {
            return None;
        };
        if wanted.family != Family::Npm || option.as_bytes() != b"-c" {
            return None;
        }
        if !matches!(program(&shell.lossy()), "sh" | "bash" | "dash" | "zsh") {
            return None;
        }
        let commands = shell_commands(script.as_str().filter(|script| script.len() <= 64 * 1024)?);
        let [command] = commands.as_slice() else {
            return None;
        };
        let (bin, arguments) = command.split_first()?;
        let equal = wanted.rest.len() == arguments.len()
            && wanted
                .rest
                .iter()
                .zip(arguments)
                .all(|(want, is)| fits(want.as_bytes(), is.as_bytes()));
        let how = "the shell that npm starts for";
        (equal && self.is_program_of(bin, &wanted.word)).then_some(Found {
            part: MatchedAs::Launcher,
            rule: "configured-npm-shell",
            how,
            lossy: true,
        })
    }

    /// Whether a program may be the one of a package, by its name.
    fn is_program_of(&self, bin: &str, package: &str) -> bool {
        let package = names::clean_package(package);
        let last = words::basename(package);
        bin == package || bin == last || self.names.short(bin) == self.names.short(package)
    }

    /// What a runner became: a program in the directory that the runner keeps for that package.
    fn by_place(&self, wanted: &Package<'_>, argv: &[OsBytes]) -> Option<Found> {
        let (path, rest) = match self.script_of(argv) {
            Some((script, rest)) => (script.into_owned(), rest),
            None => (argv.first()?.lossy().into_owned(), 1),
        };
        let arguments = argv.get(rest..).unwrap_or_default();
        let equal = wanted.rest.len() == arguments.len()
            && wanted
                .rest
                .iter()
                .zip(arguments)
                .all(|(want, is)| fits(want.as_bytes(), is.as_bytes()));
        if !equal {
            return None;
        }
        let name = names::clean_package(&wanted.word);
        let (rule, how, lossy) = match wanted.family {
            Family::Npm if is_npx_directory(&path, wanted) => (
                "configured-npx-join",
                "it lies in the cache directory that npx keeps for",
                false,
            ),
            Family::Bun if path.contains("bunx-") && path.contains(&format!("{name}@")) => (
                "configured-bunx-join",
                "it lies in the cache directory that bunx keeps for",
                false,
            ),
            Family::Pnpm
                if path.contains("/pnpm/dlx/") && path.contains(&format!("/node_modules/{name}/")) =>
            {
                (
                    "configured-pnpm-join",
                    "it lies in a directory of pnpm dlx with the package of",
                    true,
                )
            }
            Family::Python if is_tool_directory(&path) && names::stem(&path) == name => (
                "configured-uvx-join",
                "it lies in a tool directory with the program of",
                wanted.word != name,
            ),
            _ => return None,
        };
        Some(Found {
            part: MatchedAs::Server,
            rule,
            how,
            lossy,
        })
    }

    /// `uvx --from P python -m M`, `npx tsx FILE`: the package's program runs something else.
    fn by_module_tool(&self, wanted: &Package<'_>, seen: &Seen<'_>, argv: &[OsBytes]) -> Option<Found> {
        let name = names::clean_package(&wanted.word);
        if name.starts_with('@') || !self.shapes_by_program.contains_key(name) {
            return None;
        }
        let command: Vec<Vec<u8>> = std::iter::once(name.as_bytes().to_vec())
            .chain(wanted.rest.iter().map(|word| word.as_bytes().to_vec()))
            .collect();
        self.compare(&command, seen, argv, LAYERS)
    }
}

/// npm writes `npm exec PKG ARGS` over its command line as one string.
fn by_title(wanted: &Package<'_>, argv: &[OsBytes]) -> Option<Found> {
    let [title] = without_padding(argv) else {
        return None;
    };
    if wanted.family != Family::Npm {
        return None;
    }
    let mut shown = b"npm exec".to_vec();
    for word in std::iter::once(&wanted.word).chain(&wanted.rest) {
        shown.push(b' ');
        shown.extend_from_slice(word.as_bytes());
    }
    let how = "its title, which npm wrote, is that of";
    fits(trim(&shown), trim(title.as_bytes())).then_some(Found {
        part: MatchedAs::Launcher,
        rule: "configured-title",
        how,
        lossy: true,
    })
}

/// Returns whether a path lies in the directory that npx keeps for these packages: 16 digits of
/// SHA-512 over their sorted specs, one a line.
fn is_npx_directory(path: &str, wanted: &Package<'_>) -> bool {
    let Some((_, inside)) = path.rsplit_once("/_npx/") else {
        return false;
    };
    let Some((directory, _)) = inside.split_once('/') else {
        return false;
    };
    let specs: Vec<&str> = if wanted.more.is_empty() {
        vec![&wanted.word]
    } else {
        wanted.more.iter().map(AsRef::as_ref).collect()
    };
    directory == npx_directory(&specs)
}
