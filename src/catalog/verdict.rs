//! Questions to the catalogue and its answers.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use crate::model::bytes::OsBytes;
use crate::model::instance::{Confidence, Role};
use crate::model::known::ConfiguredServer;

/// What is seen of one process, to be compared with rules and configurations.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Argument vector.
    pub argv: &'a [OsBytes],
    /// Program file, where it could be read.
    pub exe: Option<&'a OsBytes>,
    /// Working directory, where it could be read.
    pub cwd: Option<&'a OsBytes>,
    /// Home directory of its user, where known.
    pub home: Option<&'a OsBytes>,
    /// Values of the owner's variables, where known; a variable that is not in it matches any one
    /// element's part.
    pub variables: Option<&'a BTreeMap<String, OsBytes>>,
}

/// What argv alone says of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is, or starts, an MCP server.
    pub mcp: bool,
    /// `Server` or `Launcher` where `mcp`; `Client` or `Helper` where a rule says so; else `Other`.
    pub role: Role,
    /// `Known` or `Likely` where `mcp`.
    pub confidence: Option<Confidence>,
    /// Id of the rule that decided.
    pub rule: Option<String>,
    /// Name of the server, from the package, script, module or image: `git` for
    /// `mcp-server-git`.
    pub name: Option<String>,
    /// One sentence that says what decided.
    pub because: String,
    /// What else nearly matched, and why it did not.
    pub near_misses: Vec<NearMiss>,
    /// Whether argv alone cannot decide: an interpreter with a script whose name says nothing
    /// (`node dist/index.js`), where configuration, package or wire must.
    pub undecided: bool,
    /// The short name of a program or script that has mcp in its name, where that name says too
    /// little by itself: together with a wire to a known client or to nobody it is likely a server.
    pub hint: Option<String>,
    /// Whether the program is a relay towards another server or a network service by its
    /// arguments (proxy, gateway).
    pub proxy: bool,
}

/// A rule that nearly matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    /// Id of the rule.
    pub rule: String,
    /// Why it did not match.
    pub why: String,
}

/// A client that a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMatch {
    /// Id, such as `claude-code`.
    pub id: String,
    /// Name.
    pub name: String,
    /// One sentence.
    pub because: String,
    /// Whether the pattern is a guess, not seen or documented.
    pub guess: bool,
    /// What this call of it does.
    pub call: ClientCall,
    /// Whether it is a gateway: a server to its own client.
    pub gateway: bool,
}

/// What a call of a client's program does; a client stays a client in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCall {
    /// Anything else: a session.
    Session,
    /// Edits or lists the configuration (`claude mcp list`).
    Management,
    /// Serves MCP itself (`claude mcp serve`).
    Serving,
}

/// What the path of a unix socket means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketMeaning {
    /// What listens there: `SSH agent`.
    pub meaning: String,
    /// How its authority is usually withdrawn; text for a person, nothing runs it.
    pub advice: Option<String>,
}

/// Servers that a client was given on its own command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgvConfig {
    /// A file, to be read and handed to `parse_config` with this index.
    File {
        /// Path as given; relative to the client's working directory.
        path: OsBytes,
        /// Number of the file's definition.
        index: usize,
    },
    /// The entries themselves.
    Inline(Vec<ConfiguredServer>),
}

/// As which part of a launch chain a process equals a configuration entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedAs {
    /// The command itself, which is a launcher (npx, uvx, docker, sh …).
    Launcher,
    /// The command itself, which is the server; or what a launcher of that entry became, by an
    /// exact join (npx cache directory, uv tool directory).
    Server,
}

/// How a process equals a configuration entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryMatch {
    /// Which part of the chain.
    pub part: MatchedAs,
    /// Id of the way of comparing: `configured-exact`, `configured-title`, `configured-npx-join`, …
    pub rule: String,
    /// One sentence.
    pub because: String,
    /// Whether something was lost on the way (a rewritten title, a variable not known).
    pub lossy: bool,
}

/// A configuration file that a client may have: what intake looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Id of the client.
    pub client: String,
    /// Name of the client.
    pub client_name: String,
    /// Path with `~` (home of the user), `{project}` (a directory from a working directory up to
    /// the root of its repository), `*` and `**` (plugins), or an absolute path.
    pub path: String,
    /// `user`, `project`, …
    pub scope: String,
    /// Whether what we know of it is a guess.
    pub guess: bool,
    /// Number of this file in the catalogue, to hand its bytes back to.
    pub index: usize,
}

/// A rule, client or configuration text that is not valid: names file, line and key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {key}: {what}")]
pub struct CatalogError {
    /// File, as given.
    pub file: String,
    /// Line, from 1; 0 where none is known.
    pub line: usize,
    /// Key or table.
    pub key: String,
    /// What is wrong, and what to do.
    pub what: String,
}
