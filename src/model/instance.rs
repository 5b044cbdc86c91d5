//! One running MCP server as its client sees it, and the judgement of a whole sample.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes::OsBytes;
use super::finding::{Adopter, Container, Fact, Finding, Lead, Lineage, Managed, Network, Stdio, Via};
use super::identity::{InstanceId, Pid, ProcessKey};
use super::sample::Problem;

/// What a process is to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Talks to the server on its wire.
    Client,
    /// Starts the server and stays in between: npx, npm exec, sh -c, uv, docker run.
    Launcher,
    /// Speaks MCP.
    Server,
    /// Started by the server: browser, language server, ssh, watchdog.
    Helper,
    /// None of these.
    Other,
}

impl Role {
    /// Returns the word as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Launcher => "launcher",
            Self::Server => "server",
            Self::Helper => "helper",
            Self::Other => "other",
        }
    }
}

/// How sure the identification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// By shape: a wire to a client or to nobody, and a name that says MCP.
    Likely,
    /// By a rule on argv, by position.
    Known,
    /// Equals an entry of a client's configuration.
    Configured,
}

impl Confidence {
    /// Returns the word as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Known => "known",
            Self::Likely => "likely",
        }
    }
}

/// Why a process is taken for an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identification {
    /// How sure it is.
    pub confidence: Confidence,
    /// Id of the rule.
    pub rule: String,
    /// One sentence.
    pub because: String,
    /// Name of the client whose configuration it is in.
    pub client: Option<String>,
    /// Configuration file.
    pub file: Option<OsBytes>,
    /// Name of the server in that file.
    pub server_name: Option<OsBytes>,
}

/// What carries the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// A listening socket.
    Network,
    /// It could not be told.
    Unknown,
}

/// The client of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRef {
    /// Its process.
    pub process: ProcessKey,
    /// Id in the catalogue, such as `claude-code`; `None` for a client it does not know.
    pub id: Option<String>,
    /// Its name: the catalogue's, else the process's own.
    pub name: OsBytes,
    /// Its state letter.
    pub state: char,
    /// Whether it holds the other end of the wire; else it is only the nearest known client
    /// among the ancestors.
    pub on_wire: bool,
}

/// The row of the tree that an instance stands under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "owner", content = "of", rename_all = "snake_case")]
pub enum OwnerKey {
    /// The process that adopted it, with no live client.
    Adopter(ProcessKey),
    /// A client process, or the parent where no client is known.
    Process(ProcessKey),
    /// A user whose processes cannot be read.
    User(u32),
}

/// One instance, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Stays the same from sample to sample.
    pub id: InstanceId,
    /// Name: of the configuration, else by rule.
    pub name: OsBytes,
    /// Outermost member: a launcher, or the server.
    pub top: ProcessKey,
    /// The server; `None` while only launchers run.
    pub server: Option<ProcessKey>,
    /// Launchers, outermost first.
    pub launchers: Vec<ProcessKey>,
    /// Helpers, by pid.
    pub helpers: Vec<ProcessKey>,
    /// The row it stands under.
    pub owner: OwnerKey,
    /// The client.
    pub client: Option<ClientRef>,
    /// Why it is taken for an MCP server.
    pub identified_by: Identification,
    /// What carries the protocol.
    pub transport: Transport,
    /// Does it still belong to a live client connection?
    pub finding: Finding,
    /// What became of its parent.
    pub lineage: Lineage,
    /// Who adopted it.
    pub adopter: Option<Adopter>,
    /// Whether a service manager would restart it.
    pub managed: Option<Managed>,
    /// Whether it lives in a container.
    pub container: Option<Container>,
    /// Its client's own instance, where the client is an MCP server.
    pub via: Option<Via>,
    /// What a `network` instance is reached by.
    pub network: Option<Network>,
    /// The wire.
    pub stdio: Option<Stdio>,
    /// What it could still act through; `None`: nobody looked.
    pub reach: Option<Vec<Lead>>,
    /// What it does now, one sentence each.
    pub acts_now: Vec<Fact>,
    /// Servers with the same argv, working directory and client.
    pub twins: Vec<Pid>,
    /// Whether a younger generation of the same server exists under the same client.
    pub older_twin: bool,
    /// Number of its generation, 1 = oldest.
    pub generation: u32,
    /// Facts, the strongest first.
    pub facts: Vec<Fact>,
}

impl Instance {
    /// Returns the process that stands for the instance: the server, else the outermost launcher.
    pub fn lead_process(&self) -> ProcessKey {
        self.server.unwrap_or(self.top)
    }

    /// Returns all members: launchers, server, helpers.
    pub fn members(&self) -> impl Iterator<Item = (ProcessKey, Role)> + '_ {
        self.launchers
            .iter()
            .map(|key| (*key, Role::Launcher))
            .chain(self.server.map(|key| (key, Role::Server)))
            .chain(self.helpers.iter().map(|key| (*key, Role::Helper)))
    }
}

/// A process's part in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleOf {
    /// The instance.
    pub instance: InstanceId,
    /// The part.
    pub role: Role,
}

/// A process that the catalogue knows as an MCP client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownClient {
    /// Id in the catalogue.
    pub id: String,
    /// Name in the catalogue.
    pub name: String,
    /// Why it is taken for that client.
    pub because: String,
}

/// What was looked at, for empty and partial states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedAt {
    /// Configuration files that were read.
    pub files: u32,
    /// Entries in them.
    pub entries: u32,
    /// Entries that match a running process.
    pub running: u32,
}

/// The judgement of one sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Every instance, by id.
    pub instances: Vec<Instance>,
    /// The roles of each process that has one.
    #[serde(with = "role_entries")]
    pub roles: BTreeMap<ProcessKey, Vec<RoleOf>>,
    /// The known clients among the processes.
    #[serde(with = "role_entries")]
    pub clients: BTreeMap<ProcessKey, KnownClient>,
    /// What was looked at.
    pub looked_at: LookedAt,
    /// What went wrong outside the sample: configuration files.
    pub problems: Vec<Problem>,
}

impl Judged {
    /// Returns the instance with this id.
    pub fn instance(&self, id: InstanceId) -> Option<&Instance> {
        self.instances.iter().find(|instance| instance.id == id)
    }

    /// Returns the instances that a process is a member of (client excepted).
    pub fn instance_of(&self, key: ProcessKey) -> Option<InstanceId> {
        let roles = self.roles.get(&key)?;
        roles
            .iter()
            .find(|role| role.role != Role::Client)
            .map(|role| role.instance)
    }
}

/// Maps with a structured key as a list of pairs: JSON's own maps have text keys only.
mod role_entries {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::identity::ProcessKey;

    pub(super) fn serialize<S: Serializer, V: Serialize>(
        map: &BTreeMap<ProcessKey, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        map.iter().collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<ProcessKey, V>, D::Error> {
        Ok(Vec::<(ProcessKey, V)>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}
