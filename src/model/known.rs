//! What clients' configuration files say: the entries that running processes are compared with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes::OsBytes;
use super::sample::Problem;

/// One server in a client's configuration, as written there: nothing is expanded yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfiguredServer {
    /// Id of the client in the catalogue.
    pub client: String,
    /// Name of the client.
    pub client_name: String,
    /// The file.
    pub file: OsBytes,
    /// Where the file applies: `user`, `project`, `managed`, …
    pub scope: String,
    /// Name of the server in that file.
    pub name: OsBytes,
    /// Home directory of the user whose file it is; variables are expanded with it.
    pub home: OsBytes,
    /// Project directory, for a project's file or a project's key.
    pub project: Option<OsBytes>,
    /// Program.
    pub command: String,
    /// Arguments.
    pub args: Vec<String>,
    /// Working directory, where the entry gives one.
    pub cwd: Option<String>,
    /// Names of the environment variables it sets, and the values of those that hold no secret
    /// and occur in `command` or `args`.
    pub env: BTreeMap<String, String>,
    /// Whether the entry is switched off there.
    pub disabled: bool,
    /// Whether what we know of this client's file is a guess, not seen or documented.
    pub guess: bool,
}

/// All entries that were read, with what went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configured {
    /// The entries, in the order of the catalogue.
    pub servers: Vec<ConfiguredServer>,
    /// The files that were read.
    pub files: Vec<OsBytes>,
    /// The files that could not be read, or not be understood.
    pub problems: Vec<Problem>,
}
