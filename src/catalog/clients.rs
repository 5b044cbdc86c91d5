//! Which processes are clients: by program, path, script and title.

use std::collections::HashMap;

use regex::RegexSet;
use toml::Spanned;

use super::Catalog;
use super::load::{
    ArgumentSpec, ClientSpec, Evidence, Expands, FileSpec, Identifies, MarkerSpec, ProcessSpec, RuleRole,
    ShapeKind, Source,
};
use super::names;
use super::rules::Command;
use super::shape::Opened;
use super::verdict::{CatalogError, ClientCall, ClientMatch, Seen};
use super::words::{self, Word, Words, program, unversioned};

/// A client, without its files and patterns.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) gateway: bool,
    pub(super) expands: Vec<Expands>,
    pub(super) markers: Vec<MarkerSpec>,
}

/// A file that a client may have; without a path where its own command line names it.
#[derive(Debug)]
pub(super) struct File {
    pub(super) client: usize,
    pub(super) spec: FileSpec,
}

/// An option of a client that names servers.
#[derive(Debug)]
pub(super) struct ClientOption {
    pub(super) client: usize,
    pub(super) spec: ArgumentSpec,
    /// The file definition that reads what it names.
    pub(super) file: usize,
}

#[derive(Debug)]
struct Pattern {
    client: usize,
    arguments: Vec<String>,
    guess: bool,
}

/// All clients.
#[derive(Debug, Default)]
pub(super) struct Clients {
    pub(super) all: Vec<Client>,
    pub(super) files: Vec<File>,
    pub(super) options: Vec<ClientOption>,
    patterns: Vec<Pattern>,
    programs: HashMap<String, Vec<usize>>,
    scripts: HashMap<String, Vec<usize>>,
    packages: HashMap<String, usize>,
    titles: Vec<(String, usize)>,
    path_globs: Vec<(String, usize)>,
    script_globs: Vec<(String, usize)>,
    paths: RegexSet,
    script_paths: RegexSet,
}

impl Clients {
    /// Adds clients; a client that is there already gets the additional facts.
    pub(super) fn add(
        &mut self,
        specs: Vec<Spanned<ClientSpec>>,
        source: Source<'_>,
    ) -> Result<(), CatalogError> {
        for spec in specs {
            let span = spec.span();
            let spec = spec.into_inner();
            if spec.id.trim().is_empty() || spec.name.trim().is_empty() {
                return Err(source.error(&span, "id", "`id` and `name` must say something"));
            }
            for file in &spec.files {
                check_file(file).map_err(|what| source.error(&span, "files", &what))?;
            }
            let client = self.client(&spec);
            for file in spec.files {
                self.files.push(File { client, spec: file });
            }
            for process in spec.processes {
                if process.is_empty() {
                    return Err(source.error(
                        &span,
                        "processes",
                        "a process needs programs, paths, scripts, titles or packages",
                    ));
                }
                self.process(client, process);
            }
            for argument in spec.arguments {
                let spec = FileSpec {
                    path: String::new(),
                    systems: Vec::new(),
                    format: super::load::Format::Json,
                    pointers: argument.pointers.clone(),
                    scope: "invocation".to_owned(),
                    evidence: argument.evidence,
                };
                self.files.push(File { client, spec });
                self.options.push(ClientOption {
                    client,
                    spec: argument,
                    file: self.files.len() - 1,
                });
            }
        }
        let compile = |globs: &[(String, usize)]| {
            RegexSet::new(globs.iter().map(|(glob, _)| glob_pattern(glob)))
                .map_err(|error| source.error(&(0..0), "paths", &error.to_string()))
        };
        self.paths = compile(&self.path_globs)?;
        self.script_paths = compile(&self.script_globs)?;
        Ok(())
    }

    fn client(&mut self, spec: &ClientSpec) -> usize {
        let markers = spec.markers.clone();
        if let Some(at) = self.all.iter().position(|client| client.id == spec.id) {
            self.all[at].markers.extend(markers);
            self.all[at].expands.extend(&spec.expands);
            return at;
        }
        self.all.push(Client {
            id: spec.id.clone(),
            name: spec.name.clone(),
            gateway: spec.gateway,
            expands: spec.expands.clone(),
            markers,
        });
        self.all.len() - 1
    }

    fn process(&mut self, client: usize, spec: ProcessSpec) {
        let index = self.patterns.len();
        self.patterns.push(Pattern {
            client,
            arguments: spec.arguments,
            guess: spec.evidence == Evidence::Guess,
        });
        for program in spec.programs {
            self.programs.entry(program).or_default().push(index);
        }
        for script in spec.scripts {
            self.scripts.entry(script).or_default().push(index);
        }
        for package in spec.packages {
            self.packages.insert(package, index);
        }
        self.titles
            .extend(spec.titles.into_iter().map(|title| (title, index)));
        self.path_globs
            .extend(spec.paths.into_iter().map(|glob| (glob, index)));
        self.script_globs
            .extend(spec.script_paths.into_iter().map(|glob| (glob, index)));
    }

    /// Whether an interpreter's script of this name, or a program, is a client's.
    pub(super) fn is_client_script(&self, name: &str) -> bool {
        self.scripts.contains_key(name) || self.programs.contains_key(name)
    }

    fn fits(&self, pattern: usize, arguments: &[Word<'_>]) -> Option<&Pattern> {
        let pattern = self.patterns.get(pattern)?;
        let mut operands = arguments.iter().filter(|word| !word.starts_with('-'));
        pattern
            .arguments
            .iter()
            .all(|wanted| operands.next().is_some_and(|word| word == wanted))
            .then_some(pattern)
    }

    fn by_program(&self, name: &str, arguments: &[Word<'_>]) -> Option<&Pattern> {
        self.programs
            .get(name)?
            .iter()
            .find_map(|index| self.fits(*index, arguments))
    }

    fn by_path(&self, path: &str, arguments: &[Word<'_>]) -> Option<&Pattern> {
        if !path.contains('/') || path.len() > 1024 {
            return None;
        }
        let found = self.paths.matches(path);
        found
            .iter()
            .find_map(|at| self.fits(self.path_globs[at].1, arguments))
    }

    fn by_script(&self, path: &str) -> Option<&Pattern> {
        let name = words::basename(path);
        let by_name = self.scripts.get(name).and_then(|all| all.first());
        if let Some(index) = by_name {
            return self.patterns.get(*index);
        }
        if path.len() > 1024 || !path.contains('/') {
            return None;
        }
        let at = self.script_paths.matches(path).iter().next()?;
        self.patterns.get(self.script_globs[at].1)
    }
}

impl ProcessSpec {
    fn is_empty(&self) -> bool {
        [
            &self.programs,
            &self.paths,
            &self.scripts,
            &self.script_paths,
            &self.titles,
            &self.packages,
        ]
        .into_iter()
        .all(Vec::is_empty)
    }
}

fn check_file(file: &FileSpec) -> Result<(), String> {
    if !["/", "~/", "{project}/"]
        .iter()
        .any(|start| file.path.starts_with(start))
    {
        return Err(format!(
            "the path `{}` must begin with /, ~/ or {{project}}/",
            file.path
        ));
    }
    match file.pointers.iter().find(|pointer| !pointer.starts_with('/')) {
        Some(pointer) => Err(format!("the pointer `{pointer}` must begin with /")),
        None if file.pointers.is_empty() => Err(format!("`{}` needs a pointer", file.path)),
        None => Ok(()),
    }
}

/// A glob whose `*` also matches `/`, as a regular expression.
fn glob_pattern(glob: &str) -> String {
    let parts: Vec<String> = glob.split('*').map(regex::escape).collect();
    format!("^{}$", parts.join(".*"))
}

/// A client's process, and the arguments it was given.
struct Found<'c, 'w, 'a> {
    pattern: &'c Pattern,
    because: String,
    name: String,
    arguments: &'w [Word<'a>],
}

impl Catalog {
    /// Returns which client a process is. A call that only edits or lists a configuration, and
    /// one that serves MCP itself, are clients too, and marked.
    pub fn client(&self, seen: &Seen<'_>) -> Option<ClientMatch> {
        let Words { words, joined } = words::of_argv(seen.argv);
        let rest = words.get(1..).unwrap_or_default();
        let exe = seen.exe.map(|exe| exe.lossy().into_owned());
        let by_exe = exe.as_deref().and_then(|exe| self.found("executable", exe, rest));
        let by_name = || {
            self.found("program", words.first()?, rest)
                .or_else(|| self.found_script(&words))
        };
        // What was seen or documented of the program outweighs a guess on the executable's path.
        let found = match by_exe {
            Some(found) if !found.pattern.guess => Some(found),
            guessed => by_name().or(guessed),
        };
        let Some(found) = found else {
            let (pattern, _) = self
                .clients
                .titles
                .iter()
                .filter(|_| joined)
                .find_map(|(title, index)| {
                    let shown = words.join(" ");
                    shown
                        .starts_with(title.as_str())
                        .then(|| (self.clients.patterns.get(*index), title))
                        .and_then(|(pattern, title)| pattern.map(|pattern| (pattern, title)))
                })?;
            return Some(self.matched(pattern, "its title is the client's".to_owned(), None));
        };
        let command = Command {
            names: &[&found.name],
            path: &found.name,
            arguments: found.arguments,
            joined,
        };
        let role = self.rules.find(command).map(|(rule, _)| rule.role);
        Some(self.matched(found.pattern, found.because, role))
    }

    fn matched(&self, pattern: &Pattern, because: String, role: Option<RuleRole>) -> ClientMatch {
        let client = &self.clients.all[pattern.client];
        ClientMatch {
            id: client.id.clone(),
            name: client.name.clone(),
            because,
            guess: pattern.guess,
            call: match role {
                Some(RuleRole::Management) => ClientCall::Management,
                Some(RuleRole::Server) => ClientCall::Serving,
                _ => ClientCall::Session,
            },
            gateway: client.gateway,
        }
    }

    fn found<'c, 'w, 'a>(
        &'c self,
        what: &str,
        path: &str,
        arguments: &'w [Word<'a>],
    ) -> Option<Found<'c, 'w, 'a>> {
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        let name = program(path);
        let pattern = self
            .clients
            .by_program(name, arguments)
            .or_else(|| self.clients.by_path(path, arguments))?;
        let because = format!("the {what} is `{path}`");
        Some(Found {
            pattern,
            because,
            name: name.to_owned(),
            arguments,
        })
    }

    /// A client that an interpreter runs: `node …/bin/gemini`.
    fn found_script<'c, 'w, 'a>(&'c self, words: &'w [Word<'a>]) -> Option<Found<'c, 'w, 'a>> {
        let head = unversioned(program(words.first()?)).to_owned();
        for shape in self
            .shapes_of(&head)
            .filter(|shape| shape.kind == ShapeKind::Interpreter)
        {
            let Some(Opened::Script(script, rest)) = shape.open(words, false) else {
                continue;
            };
            let pattern = self.clients.by_script(&script)?;
            let name = names::stem(&script).to_owned();
            let because = format!("the script is `{script}`");
            let arguments = words.get(words.len() - rest.len()..).unwrap_or_default();
            return Some(Found {
                pattern,
                because,
                name,
                arguments,
            });
        }
        None
    }

    /// Returns the client that a title belongs to: its id and name.
    pub(super) fn client_of_title(&self, words: &[Word<'_>]) -> Option<(&str, &str)> {
        let first = words.first()?;
        let near = self
            .clients
            .titles
            .iter()
            .filter(|(title, _)| title.starts_with(first.as_ref()));
        let mut shown = None;
        for (title, index) in near {
            let shown = shown.get_or_insert_with(|| words.join(" "));
            if shown.starts_with(title.as_str()) {
                let client = &self.clients.all[self.clients.patterns.get(*index)?.client];
                return Some((&client.id, &client.name));
            }
        }
        None
    }

    /// Returns the name of the client that a command is.
    pub(super) fn client_of_command(&self, head: &str, path: &str, arguments: &[Word<'_>]) -> Option<&str> {
        let pattern = self
            .clients
            .by_program(head, arguments)
            .or_else(|| self.clients.by_path(path, arguments))?;
        Some(&self.clients.all[pattern.client].name)
    }

    /// Returns the name of the client that a script is.
    pub(super) fn client_of_script(&self, path: &str) -> Option<&str> {
        let pattern = self.clients.by_script(path)?;
        Some(&self.clients.all[pattern.client].name)
    }

    /// Returns the name of the client that a package holds.
    pub(super) fn client_of_package(&self, name: &str) -> Option<&str> {
        let pattern = self.clients.patterns.get(*self.clients.packages.get(name)?)?;
        Some(&self.clients.all[pattern.client].name)
    }

    /// Returns whether a program is a client's.
    pub(super) fn is_client_program(&self, name: &str) -> bool {
        let Some(all) = self.clients.programs.get(name) else {
            return self.clients.scripts.contains_key(name);
        };
        // `docker` is one only with certain arguments.
        all.iter().any(|index| {
            self.clients
                .patterns
                .get(*index)
                .is_some_and(|one| one.arguments.is_empty())
        })
    }

    /// Returns the environment variables whose values identify a session, a client or a socket,
    /// and hold no secret.
    pub fn env_identifiers(&self) -> std::collections::BTreeSet<String> {
        let markers = self.clients.all.iter().flat_map(|client| &client.markers);
        let kept = markers.filter(|marker| {
            matches!(
                marker.identifies,
                Some(Identifies::Session | Identifies::Pid | Identifies::Directory | Identifies::Socket)
            )
        });
        kept.map(|marker| marker.name.clone())
            .chain(self.leads.identifiers())
            .collect()
    }

    /// Returns the client whose marks an environment has: id and name. A mark that several
    /// clients set decides nothing.
    pub fn client_of_environment(&self, names: &[crate::model::bytes::OsBytes]) -> Option<(&str, &str)> {
        let has = |marker: &&MarkerSpec| names.iter().any(|name| name.as_bytes() == marker.name.as_bytes());
        let marked = |client: &&Client| {
            client
                .markers
                .iter()
                .filter(|marker| !marker.shared)
                .any(|marker| has(&marker))
        };
        // With marks of two clients one was started by the other, and nobody knows which.
        let mut found = self.clients.all.iter().filter(marked);
        let client = found.next()?;
        found
            .next()
            .is_none()
            .then_some((client.id.as_str(), client.name.as_str()))
    }
}
