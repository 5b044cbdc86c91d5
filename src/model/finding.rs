//! The words of a judgement: finding, lineage, marks, facts, leads.

use serde::{Deserialize, Serialize};

use super::bytes::OsBytes;
use super::descriptor::Access;
use super::identity::{InstanceId, Pid};

/// Does the instance still belong to a live client connection?
///
/// The order is that of trouble: the worst first, as the tree sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// Nobody can talk on its wire any more.
    Severed,
    /// The other end is held, but by no client.
    Held,
    /// The client that holds the other end cannot act: stopped, traced, or stuck in the kernel.
    Wedged,
    /// The server has exited and its parent has not waited for it.
    Defunct,
    /// It cannot be said; the facts name what could not be read.
    Unknown,
    /// It listens and needs no wire.
    Network,
    /// A live client holds the other end.
    Attached,
}

impl Finding {
    /// All values, worst first.
    pub const ALL: [Self; 7] = [
        Self::Severed,
        Self::Held,
        Self::Wedged,
        Self::Defunct,
        Self::Unknown,
        Self::Network,
        Self::Attached,
    ];

    /// Returns the word as in JSON and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Severed => "severed",
            Self::Held => "held",
            Self::Wedged => "wedged",
            Self::Defunct => "defunct",
            Self::Unknown => "unknown",
            Self::Network => "network",
            Self::Attached => "attached",
        }
    }

    /// Returns the finding that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|finding| finding.word() == word)
    }

    /// Returns whether an operator should look at it first.
    pub fn is_trouble(self) -> bool {
        matches!(self, Self::Severed | Self::Held | Self::Wedged | Self::Defunct)
    }
}

/// What became of the parent pointer at the top of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lineage {
    /// Still the child of what started it, as far as can be seen.
    Child,
    /// Its parent has exited; an adopter is its parent now.
    Reparented,
    /// It cannot be said.
    Unknown,
}

/// The process that adopted a re-parented instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopter {
    /// Its pid.
    pub pid: Pid,
    /// What it is.
    pub kind: AdopterKind,
    /// Its name.
    pub name: OsBytes,
    /// How we know.
    pub because: String,
}

/// Kinds of adopters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdopterKind {
    /// Pid 1 of the machine.
    Init,
    /// `systemd --user`.
    UserManager,
    /// A process that asked for it (`PR_SET_CHILD_SUBREAPER`).
    Subreaper,
    /// Pid 1 of a container.
    ContainerInit,
    /// Something else.
    Other,
}

impl AdopterKind {
    /// Returns the word as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::UserManager => "user-manager",
            Self::Subreaper => "subreaper",
            Self::ContainerInit => "container-init",
            Self::Other => "other",
        }
    }
}

/// A service manager would restart it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Managed {
    /// Which manager: `systemd`, `systemd --user`, `launchd`.
    pub by: String,
    /// Unit or job.
    pub unit: String,
}

/// It lives in a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// `docker`, `podman`, `containerd`, `kubernetes`, `lxc`, or `unknown`.
    pub engine: String,
    /// Container id.
    pub id: String,
}

/// The client is itself an MCP server (proxy, gateway): what is found there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Via {
    /// The instance that the client is part of.
    pub instance: InstanceId,
    /// Its finding.
    pub finding: Finding,
}

/// What a `network` instance is reached by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Listening addresses and paths.
    pub listens: Vec<String>,
    /// Connected peers.
    pub peers: Vec<String>,
}

/// How much a fact carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Decides the finding.
    Strong,
    /// Speaks for it; never decides alone.
    Supporting,
    /// Good to know.
    Context,
}

/// One observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Stable word for scripts, such as `stdin_no_writer`.
    pub code: String,
    /// One sentence. Text of other processes in it is escaped where it is shown.
    pub text: String,
    /// Path or call that it was read from.
    pub source: String,
    /// How much it carries.
    pub weight: Weight,
}

/// What a lead is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeadKind {
    /// An established TCP or a connected UDP connection.
    Tcp,
    /// A connected UDP socket.
    Udp,
    /// A socket that listens, with peers.
    Listener,
    /// A connected unix socket whose path has a meaning (agent, engine, bus, control path).
    UnixSocket,
    /// An ssh child with target and control path.
    Ssh,
    /// A lock, or an open database or journal.
    File,
    /// An open credential file.
    CredentialFile,
    /// The name of an environment variable that usually holds a credential.
    CredentialName,
    /// A secret in a command line, by its place: a flag, a name, the number of the argument.
    CredentialArgument,
    /// A live child or helper.
    Child,
}

impl LeadKind {
    /// Returns whether somebody can take it away: a lock, a child or an open port is no authority.
    pub fn is_authority(self) -> bool {
        !matches!(self, Self::Listener | Self::File | Self::Child)
    }

    /// Returns the word as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Listener => "listener",
            Self::UnixSocket => "unix-socket",
            Self::Ssh => "ssh",
            Self::File => "file",
            Self::CredentialFile => "credential-file",
            Self::CredentialName => "credential-name",
            Self::CredentialArgument => "credential-argument",
            Self::Child => "child",
        }
    }
}

/// One way in which an instance could still act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    /// `a`, `b`, … `z`, `aa`: its name in this instance.
    pub letter: String,
    /// What it is about.
    pub kind: LeadKind,
    /// Address, path, name or command.
    pub target: OsBytes,
    /// State, where it has one: `ESTAB`, `LISTEN`, `connected`.
    pub state: Option<String>,
    /// The member that has it.
    pub pid: Pid,
    /// Its descriptor.
    pub fd: Option<u32>,
    /// What it may mean, and what is not known.
    pub meaning: String,
    /// The usual check and revocation, as text: never run by this program.
    pub advice: Option<String>,
    /// Milliseconds since data was last sent.
    pub last_sent_ms: Option<u64>,
    /// Milliseconds since data was last received.
    pub last_received_ms: Option<u64>,
}

/// What one end of a wire is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndKind {
    /// A pipe or FIFO.
    Pipe,
    /// A unix socket.
    Socket,
    /// A terminal.
    Tty,
    /// `/dev/null`.
    Null,
    /// A file.
    File,
    /// No such descriptor.
    Closed,
    /// Something else.
    Other,
}

/// Who holds the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerState {
    /// A process outside the instance.
    Held,
    /// Nobody.
    None,
    /// Only members of the instance.
    Own,
    /// Somebody that the reader may not see, or may be somebody: nobody that can be seen.
    Hidden,
    /// The end has no other end.
    NotApplicable,
}

/// How a holder is related to the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The client.
    Client,
    /// An ancestor that is not the client.
    Ancestor,
    /// A member of the instance.
    Member,
    /// None of these.
    Other,
}

/// A holder of the other end of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndHolder {
    /// Its pid.
    pub pid: Pid,
    /// Its descriptor.
    pub fd: u32,
    /// How that was opened.
    pub access: Access,
    /// How it is related to the instance.
    pub relation: Relation,
}

/// One end of the wire of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Descriptor number; `None` where it is closed.
    pub fd: Option<u32>,
    /// The member that has it.
    pub pid: Pid,
    /// What it is.
    pub kind: EndKind,
    /// Inode of pipe or socket.
    pub inode: Option<u64>,
    /// How it was opened.
    pub access: Option<Access>,
    /// Who holds the other end.
    pub peer: PeerState,
    /// The holders of the other end, the client first, at most eight.
    pub holders: Vec<EndHolder>,
    /// How many holders there are in all.
    pub holder_count: u32,
}

/// The wire of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stdio {
    /// Where it reads requests.
    pub stdin: Option<End>,
    /// Where it writes answers.
    pub stdout: Option<End>,
    /// Where it logs.
    pub stderr: Option<End>,
}
