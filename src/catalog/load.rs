//! Reads rules and client definitions from TOML; every error names file, line and key.

use regex::Regex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use super::verdict::CatalogError;

/// How a fact is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Evidence {
    /// Seen by running it.
    Run,
    /// Its own source, or its help text.
    Source,
    /// Its maker's page.
    Docs,
    /// A maintained list.
    List,
    /// An issue or a third-party page.
    Report,
    /// General knowledge, not confirmed.
    Guess,
}

/// `rules.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RulesFile {
    pub(super) options: std::collections::BTreeMap<String, Vec<String>>,
    pub(super) shapes: Vec<Spanned<ShapeSpec>>,
    pub(super) stop: StopSpec,
    pub(super) names: Spanned<NamesSpec>,
    pub(super) words: WordsSpec,
    pub(super) rules: Vec<Spanned<RuleSpec>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StopSpec {
    pub(super) programs: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordsSpec {
    pub(super) commands: Vec<String>,
    pub(super) serving: Vec<String>,
    pub(super) flags: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamesSpec {
    pub(super) never: Vec<String>,
    pub(super) chores: Vec<String>,
    pub(super) exact: Vec<String>,
    pub(super) strong: Vec<String>,
    pub(super) medium: Vec<String>,
    pub(super) weak: Vec<String>,
    pub(super) script_path: String,
    pub(super) platform: String,
    pub(super) generic: Vec<String>,
    pub(super) skip_directories: Vec<String>,
}

/// What a shape's programs do with what they start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ShapeKind {
    /// Fetches a package, or prepares an environment, and starts what is in it.
    Runner,
    /// Starts something in a container.
    Container,
    /// Starts another command here.
    Wrapper,
    /// Starts something on another host.
    Remote,
    /// Runs a script or module in its own process.
    Interpreter,
    /// The system's program loader: the same process.
    Loader,
}

/// What stands behind a shape's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Payload {
    /// A package or its program, then arguments.
    Package,
    /// A command.
    Command,
    /// A command behind a lone `--`.
    AfterDashes,
    /// A command behind one of `words`.
    AfterWord,
    /// A container image, then perhaps a command.
    Image,
    /// A script file.
    Script,
    /// A module, perhaps with `:attribute`.
    Module,
    /// A build target named by an option.
    Target,
    /// The words of a command line for another host's shell.
    Remote,
    /// Nothing: only the options say it.
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShapeSpec {
    pub(super) id: String,
    pub(super) kind: ShapeKind,
    pub(super) programs: Vec<String>,
    #[serde(default)]
    pub(super) prefixes: Vec<String>,
    #[serde(default)]
    pub(super) commands: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) commands_optional: bool,
    pub(super) payload: Payload,
    #[serde(default)]
    pub(super) global: Vec<String>,
    #[serde(default)]
    pub(super) options: Vec<String>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    #[serde(default)]
    pub(super) package: Vec<String>,
    #[serde(default)]
    pub(super) shell: Vec<String>,
    #[serde(default)]
    pub(super) module: Vec<String>,
    #[serde(default)]
    pub(super) script: Vec<String>,
    #[serde(default)]
    pub(super) target: Vec<String>,
    #[serde(default)]
    pub(super) reject: Vec<String>,
    #[serde(default)]
    pub(super) reject_words: Vec<String>,
    #[serde(default)]
    pub(super) needs: Vec<String>,
    #[serde(default)]
    pub(super) refuse: Vec<String>,
    #[serde(default)]
    pub(super) words: Vec<String>,
    #[serde(default)]
    pub(super) suffixes: Vec<String>,
    #[serde(default)]
    pub(super) skip: usize,
    #[serde(default)]
    pub(super) assignments: bool,
    #[expect(dead_code, reason = "required in the file, for its readers")]
    pub(super) evidence: Evidence,
}

/// What a rule says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleRole {
    /// Speaks MCP.
    Server,
    /// Starts a server and stays.
    Launcher,
    /// A server's helper.
    Helper,
    /// A client.
    Client,
    /// Edits or lists a configuration.
    Management,
    /// None of these.
    Other,
}

/// How sure a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleConfidence {
    /// By position, exactly.
    Known,
    /// By shape.
    Likely,
}

/// Where a rule takes the server's name from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NameFrom {
    /// The operand behind `arguments` (its stem), or the last of `arguments` where that is `*`.
    Operand,
    /// The argument that starts with `label`.
    Label,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSpec {
    pub(super) id: String,
    pub(super) role: RuleRole,
    pub(super) confidence: Option<RuleConfidence>,
    #[serde(default)]
    pub(super) programs: Vec<String>,
    #[serde(default)]
    pub(super) prefixes: Vec<String>,
    #[serde(default)]
    pub(super) arguments: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    #[serde(default)]
    pub(super) any: Vec<String>,
    #[serde(default)]
    pub(super) none: Vec<String>,
    #[serde(default)]
    pub(super) pair: Vec<String>,
    #[serde(default)]
    pub(super) without_arguments: bool,
    pub(super) argument: Option<String>,
    pub(super) operand: Option<String>,
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) proxy: bool,
    pub(super) name: Option<String>,
    pub(super) name_from: Option<NameFrom>,
    pub(super) label: Option<String>,
    pub(super) because: String,
    pub(super) evidence: Evidence,
}

/// `clients.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientsFile {
    pub(super) clients: Vec<Spanned<ClientSpec>>,
}

/// What the user's configuration adds; its other keys belong to others.
#[derive(Debug, Default, Deserialize)]
pub(super) struct UserFile {
    #[serde(default)]
    pub(super) rules: Vec<Spanned<RuleSpec>>,
    #[serde(default)]
    pub(super) clients: Vec<Spanned<ClientSpec>>,
}

/// Which variables a client replaces in `command` and `args`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Expands {
    /// `${X}`, `${X:-default}`.
    Braces,
    /// `$X`.
    Dollar,
    /// `${env:X}`.
    Env,
    /// `{env:X}`, `{file:PATH}`.
    BraceEnv,
    /// `${workspaceFolder}`, `${userHome}`, `${input:X}`, …
    Folder,
    /// A leading `~/`.
    Tilde,
    /// `${__dirname}`, `${user_config.KEY}`.
    Bundle,
    /// `${{ secrets.X }}`.
    Secrets,
    /// `{{X}}`.
    Mustache,
    /// `$(command)`.
    Shell,
    /// `${cmd: command}`.
    Command,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientSpec {
    pub(super) id: String,
    pub(super) name: String,
    #[expect(dead_code, reason = "required in the file, for its readers")]
    pub(super) evidence: Evidence,
    #[serde(default)]
    pub(super) gateway: bool,
    #[serde(default)]
    pub(super) expands: Vec<Expands>,
    #[serde(default)]
    pub(super) files: Vec<FileSpec>,
    #[serde(default)]
    pub(super) processes: Vec<ProcessSpec>,
    #[serde(default)]
    pub(super) markers: Vec<MarkerSpec>,
    #[serde(default)]
    pub(super) arguments: Vec<ArgumentSpec>,
}

/// Format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSpec {
    pub(super) path: String,
    #[serde(default)]
    pub(super) systems: Vec<crate::model::host::Os>,
    pub(super) format: Format,
    pub(super) pointers: Vec<String>,
    pub(super) scope: String,
    pub(super) evidence: Evidence,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProcessSpec {
    #[serde(default)]
    pub(super) programs: Vec<String>,
    #[serde(default)]
    pub(super) paths: Vec<String>,
    #[serde(default)]
    pub(super) scripts: Vec<String>,
    #[serde(default)]
    pub(super) script_paths: Vec<String>,
    #[serde(default)]
    pub(super) titles: Vec<String>,
    #[serde(default)]
    pub(super) packages: Vec<String>,
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    pub(super) evidence: Evidence,
}

/// What the value of a variable says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Identifies {
    /// A session id.
    Session,
    /// The client's pid.
    Pid,
    /// A directory.
    Directory,
    /// A socket path.
    Socket,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkerSpec {
    pub(super) name: String,
    #[serde(default)]
    pub(super) shared: bool,
    pub(super) identifies: Option<Identifies>,
    #[expect(dead_code, reason = "required in the file, for its readers")]
    pub(super) evidence: Evidence,
}

/// What the value of a client's option holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Takes {
    /// One or more files or JSON texts.
    FilesOrJson,
    /// JSON, or `@FILE`.
    JsonOrAtFile,
    /// `key.key=value` in TOML.
    TomlAssignment,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArgumentSpec {
    pub(super) options: Vec<String>,
    pub(super) takes: Takes,
    pub(super) pointers: Vec<String>,
    pub(super) evidence: Evidence,
}

/// A file that is being read, for its errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// Reads the text into `T`.
    pub(super) fn parse<T: DeserializeOwned>(self) -> Result<T, CatalogError> {
        toml::from_str(self.text).map_err(|error| {
            let at = error.span().map(|span| span.start);
            CatalogError {
                file: self.file.to_owned(),
                line: at.map_or(0, |at| self.line(at)),
                key: self.key(at, error.message()),
                what: error.message().to_owned(),
            }
        })
    }

    /// Compiles a regular expression that stands under `key` in the table at `span`.
    pub(super) fn regex(
        self,
        span: &std::ops::Range<usize>,
        key: &str,
        pattern: &str,
    ) -> Result<Regex, CatalogError> {
        regex::RegexBuilder::new(pattern)
            .size_limit(1 << 21)
            .build()
            .map_err(|error| {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or("not a regular expression").trim();
                self.error(
                    span,
                    key,
                    &format!("`{pattern}` is no regular expression: {reason}"),
                )
            })
    }

    /// An error at `key` in the table at `span`.
    pub(super) fn error(self, span: &std::ops::Range<usize>, key: &str, what: &str) -> CatalogError {
        // The span of a table in an array is that of its header: the table goes on to the next one.
        let start = span.start.min(self.text.len());
        let rest = self.text.get(start..).unwrap_or("");
        let inside = rest.find("\n[").map_or(rest, |end| &rest[..end]);
        let offset = inside
            .match_indices(key)
            .find(|(at, _)| inside[at + key.len()..].trim_start().starts_with('='))
            .map_or(0, |(at, _)| at);
        CatalogError {
            file: self.file.to_owned(),
            line: self.line(start + offset),
            key: key.to_owned(),
            what: what.to_owned(),
        }
    }

    fn line(self, at: usize) -> usize {
        1 + self
            .text
            .as_bytes()
            .iter()
            .take(at)
            .filter(|byte| **byte == b'\n')
            .count()
    }

    /// The key on the line of an error; the parser itself only tells the place.
    fn key(self, at: Option<usize>, message: &str) -> String {
        if let Some(name) = message.split('`').nth(1)
            && (message.starts_with("unknown field") || message.starts_with("missing field"))
        {
            return name.to_owned();
        }
        let Some(at) = at else { return "(file)".to_owned() };
        let line = self.text.lines().nth(self.line(at) - 1).unwrap_or("").trim();
        let key = line.split_once('=').map_or(line, |(key, _)| key.trim());
        if key.is_empty() {
            "(file)".to_owned()
        } else {
            key.trim_start_matches("{ ").to_owned()
        }
    }
}
