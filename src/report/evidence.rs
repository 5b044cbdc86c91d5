//! The published format `mcpwake.evidence/1`: what `show PID --json` prints, everything that is known
//! of one process.

use schemars::JsonSchema;
use serde::Serialize;

use super::inventory::{Host, Instance, Problem, Process};

/// Name of the format, in `schema`.
pub const SCHEMA: &str = "mcpwake.evidence/1";

/// The evidence on one process and the instances it has a part in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "mcpwake.evidence/1")]
pub struct Evidence {
    /// Always `mcpwake.evidence/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// When the sample was begun, RFC 3339 UTC with milliseconds.
    pub taken_at: String,
    /// The machine and who looked.
    pub host: Host,
    /// The process that was asked for.
    pub process: Process,
    /// How it is identified.
    pub identification: Identified,
    /// The instances it has a part in, in trouble first.
    pub instances: Vec<Instance>,
    /// Its open descriptors; null where they could not be read.
    pub descriptors: Option<Vec<Descriptor>>,
    /// The sockets among them.
    pub sockets: Vec<Socket>,
    /// Who else a signal to its group or the end of its session would reach.
    pub group: Group,
    /// How it treats signals; null where that could not be read.
    pub signals: Option<Signals>,
    /// The processes named above: ancestors, members, groups and sessions.
    pub processes: Vec<Process>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// How a process is identified, or why it is not.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Identified {
    /// What it is taken for.
    pub headline: String,
    /// What decided.
    pub because: Vec<String>,
    /// What nearly matched, and why it did not.
    pub near_misses: Vec<String>,
}

/// One open descriptor.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Descriptor {
    /// Its number.
    pub fd: u32,
    /// What it leads to.
    #[schemars(extend("enum" = ["pipe", "fifo", "socket", "terminal", "pty-master", "null", "file",
        "anonymous", "other"]))]
    pub kind: &'static str,
    /// Path or name, redacted; of pipes and sockets as the kernel writes it, `pipe:[88121]`.
    pub target: String,
    /// Bytes of `target` in base64, only where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_base64: Option<String>,
    /// Inode of pipe or socket.
    pub inode: Option<u64>,
    /// How it was opened; null where that could not be read.
    #[schemars(extend("enum" = ["r", "w", "rw", null]))]
    pub access: Option<&'static str>,
    /// `stdin`, `stdout` or `stderr` of the wire of an instance.
    pub wire: Option<&'static str>,
    /// Who holds the other end; empty: nobody visible; null: it has none, or nobody searched.
    pub other_end: Option<Vec<OtherEnd>>,
}

/// A process that holds the other end of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherEnd {
    /// Its pid.
    pub pid: u32,
    /// Its descriptor.
    pub fd: u32,
    /// How that was opened.
    #[schemars(extend("enum" = ["r", "w", "rw"]))]
    pub access: &'static str,
}

/// One socket.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Socket {
    /// The descriptor.
    pub fd: u32,
    /// Its inode.
    pub inode: u64,
    /// Protocol.
    #[schemars(extend("enum" = ["unix", "tcp", "udp", "unknown"]))]
    pub protocol: &'static str,
    /// State as ss(8) spells it; null where it is not known.
    pub state: Option<String>,
    /// Own address or path.
    pub local: Option<String>,
    /// Address of the other end; of a unix socket the path of the other end where it is bound to one.
    pub remote: Option<String>,
    /// Bytes that wait to be read; of a listener, connections that wait.
    pub unread: Option<u32>,
    /// Milliseconds since data was last sent, before `taken_at`.
    pub last_sent_ms: Option<u64>,
    /// Milliseconds since data was last received, before `taken_at`.
    pub last_received_ms: Option<u64>,
    /// Bytes sent and acknowledged.
    pub bytes_sent: Option<u64>,
    /// Bytes received.
    pub bytes_received: Option<u64>,
    /// Letter of the lead it is, in the instance.
    pub lead: Option<String>,
}

/// Process group and session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// The process group.
    pub pgid: Option<u32>,
    /// All its members.
    pub members: Vec<u32>,
    /// The session.
    pub sid: Option<u32>,
    /// All its members.
    pub session_members: Vec<u32>,
    /// Ids of instances, other than its own, with members in that group: a signal to the group would
    /// hit them too.
    pub other_instances: Vec<String>,
}

/// Signals by name, without `SIG`; by number where this program has no name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Signals {
    /// Sent and not yet delivered.
    pub pending: Vec<String>,
    /// Blocked by the main thread.
    pub blocked: Vec<String>,
    /// Ignored.
    pub ignored: Vec<String>,
    /// Caught by a handler.
    pub caught: Vec<String>,
}
