//! The published format `mcpwake.inventory/1`: what `list --json` prints.
//!
//! A format of its own, apart from the model: the model may change, this may only grow. Every key is
//! present in every document; `null` means that nothing is known, and `problems` says why where it
//! could not be read. Text that another process chose is exact, not escaped; where it is not UTF-8
//! the text has `\xNN` in place of the bytes and the key with `_base64` beside it has all of them.

use schemars::JsonSchema;
use serde::Serialize;

/// Name of the format, in `schema`.
pub const SCHEMA: &str = "mcpwake.inventory/1";

/// MCP server instances, the processes around them, and what could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "mcpwake.inventory/1")]
pub struct Inventory {
    /// Always `mcpwake.inventory/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// When the sample was begun, RFC 3339 UTC with milliseconds.
    pub taken_at: String,
    /// The machine and who looked.
    pub host: Host,
    /// The instances, in trouble first.
    pub instances: Vec<Instance>,
    /// Processes with a part in an instance, their ancestors, groups and sessions; or all.
    pub processes: Vec<Process>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// The machine and who looked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Host {
    /// Host name.
    pub hostname: String,
    /// Operating system.
    #[schemars(extend("enum" = ["linux", "macos"]))]
    pub os: &'static str,
    /// Kernel release.
    pub kernel: String,
    /// Id of this boot.
    pub boot_id: String,
    /// When it was booted, RFC 3339 UTC.
    pub booted_at: String,
    /// Name of the user who looked.
    pub user: String,
    /// Effective user id of who looked.
    pub uid: u32,
    /// `all`: every process could be read in full; `own`: only the observer's; `partial`: between.
    #[schemars(extend("enum" = ["all", "own", "partial"]))]
    pub visibility: &'static str,
    /// How many processes there are.
    pub processes: usize,
    /// How many of them could be read in full.
    pub readable: u32,
}

/// One running MCP server as its client sees it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Instance {
    /// `<pid>-<start key>`, the same from sample to sample.
    pub id: String,
    /// Name: of the configuration, else by rule.
    pub name: String,
    /// Bytes of `name` in base64, only where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_base64: Option<String>,
    /// What carries the protocol.
    #[schemars(extend("enum" = ["stdio", "network", "unknown"]))]
    pub transport: &'static str,
    /// Does it still belong to a live client connection?
    #[schemars(extend("enum" = ["severed", "held", "wedged", "defunct", "unknown", "network", "attached"]))]
    pub finding: &'static str,
    /// What became of its parent.
    #[schemars(extend("enum" = ["child", "reparented", "unknown"]))]
    pub lineage: &'static str,
    /// The process that adopted it.
    pub adopter: Option<Adopter>,
    /// The service manager that would restart it.
    pub managed: Option<Managed>,
    /// The container it lives in.
    pub container: Option<Container>,
    /// Its client's own instance, where the client is an MCP server.
    pub via: Option<Via>,
    /// What a network server is reached by.
    pub network: Option<Network>,
    /// The server; null while only launchers run.
    pub server_pid: Option<u32>,
    /// Launchers, outermost first.
    pub launcher_pids: Vec<u32>,
    /// Helpers that the server started.
    pub helper_pids: Vec<u32>,
    /// The client.
    pub client: Option<Client>,
    /// Why it is taken for an MCP server.
    pub identified_by: Identification,
    /// Its wire.
    pub stdio: Option<Stdio>,
    /// What it could still act through; null where nobody looked.
    pub reach: Option<Vec<Lead>>,
    /// Servers with the same command, directory and client.
    pub twins: Vec<u32>,
    /// Whether a younger generation of it exists under the same client.
    pub older_twin: bool,
    /// Observations, the strongest first.
    pub facts: Vec<Fact>,
    /// What records of clients say of its calls; null: none were read.
    pub activity: Option<Activity>,
}

/// What records say of an instance's calls. Nothing is read yet: always null.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Activity {}

/// The process that adopted an instance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Adopter {
    /// Its pid.
    pub pid: u32,
    /// What it is.
    #[schemars(extend("enum" = ["init", "user-manager", "subreaper", "container-init", "other"]))]
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

/// A service manager.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Managed {
    /// Which one.
    pub by: String,
    /// Unit or job.
    pub unit: String,
}

/// A container.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Container {
    /// Engine.
    pub engine: String,
    /// Container id.
    pub id: String,
}

/// A client that is itself an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Via {
    /// Id of that instance.
    pub instance: String,
    /// Its finding.
    pub finding: &'static str,
}

/// What a network server is reached by.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Network {
    /// Listening addresses and paths.
    pub listens: Vec<String>,
    /// Connected peers.
    pub peers: Vec<String>,
}

/// The client of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Client {
    /// Its pid.
    pub pid: u32,
    /// Its id in the catalogue; null for a client that it does not know.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// Its state letter.
    pub state: String,
    /// Whether it holds the other end of the wire; else it is a label: the nearest known client
    /// among the ancestors.
    pub on_wire: bool,
}

/// Why an instance is taken for an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Identification {
    /// How sure it is.
    #[schemars(extend("enum" = ["configured", "known", "likely"]))]
    pub confidence: &'static str,
    /// Id of the rule.
    pub rule: String,
    /// One sentence.
    pub because: String,
    /// Configuration file it stands in.
    pub file: Option<String>,
    /// Its name in that file.
    pub server_name: Option<String>,
}

/// The wire of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stdio {
    /// Where it reads requests.
    pub stdin: Option<End>,
    /// Where it writes answers.
    pub stdout: Option<End>,
    /// Where it logs.
    pub stderr: Option<End>,
}

/// One end of a wire, and who holds the other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct End {
    /// Descriptor number; null where it is closed.
    pub fd: Option<u32>,
    /// The member that has it.
    pub pid: u32,
    /// What it is.
    #[schemars(extend("enum" = ["pipe", "socket", "tty", "null", "file", "closed", "other"]))]
    pub kind: &'static str,
    /// Inode of pipe or socket.
    pub inode: Option<u64>,
    /// How it was opened.
    #[schemars(extend("enum" = ["r", "w", "rw", null]))]
    pub access: Option<&'static str>,
    /// Who holds the other end.
    #[schemars(extend("enum" = ["held", "none", "own", "hidden", "not-applicable"]))]
    pub peer: &'static str,
    /// Holders of the other end, the client first, at most eight.
    pub holders: Vec<Holder>,
    /// How many holders there are in all.
    pub holder_count: u32,
}

/// A process that holds the other end.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Holder {
    /// Its pid.
    pub pid: u32,
    /// Its descriptor.
    pub fd: u32,
    /// How that was opened.
    #[schemars(extend("enum" = ["r", "w", "rw"]))]
    pub access: &'static str,
    /// How it is related to the instance.
    #[schemars(extend("enum" = ["client", "ancestor", "member", "other"]))]
    pub relation: &'static str,
}

/// One way in which an instance could still act.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Lead {
    /// Its name in this instance.
    pub letter: String,
    /// What it is about.
    #[schemars(extend("enum" = ["tcp", "udp", "listener", "unix-socket", "ssh", "file", "credential-file",
        "credential-name", "credential-argument", "child"]))]
    pub kind: &'static str,
    /// Address, path, name or command, redacted.
    pub target: String,
    /// Bytes of `target` in base64, redacted, only where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_base64: Option<String>,
    /// State, where it has one.
    pub state: Option<String>,
    /// The member that has it.
    pub pid: u32,
    /// Its descriptor.
    pub fd: Option<u32>,
    /// What it may mean.
    pub meaning: String,
    /// Milliseconds since data was last sent, before `taken_at`.
    pub last_sent_ms: Option<u64>,
    /// Milliseconds since data was last received, before `taken_at`.
    pub last_received_ms: Option<u64>,
}

/// One observation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    /// Stable word for scripts.
    pub code: String,
    /// One sentence.
    pub text: String,
    /// Path or call that it was read from.
    pub source: String,
    /// `strong` decides the finding, `supporting` never decides alone.
    #[schemars(extend("enum" = ["strong", "supporting", "context"]))]
    pub weight: &'static str,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Current parent; null for the first process.
    pub ppid: Option<u32>,
    /// Process group; null where its leader lives in another pid namespace.
    pub pgid: Option<u32>,
    /// Session; null where its leader lives in another pid namespace.
    pub sid: Option<u32>,
    /// Controlling terminal; null: none.
    pub tty: Option<String>,
    /// State letter of the kernel.
    pub state: String,
    /// State with the marks of ps(1).
    pub stat: String,
    /// Real user id.
    pub uid: Option<u32>,
    /// Login name of that user.
    pub user: Option<String>,
    /// Bytes of `user` in base64, only where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_base64: Option<String>,
    /// When it started, RFC 3339 UTC; moves when the clock is set.
    pub start_time: String,
    /// When it started, in the kernel's unit: with the pid its identity during one boot.
    pub start_key: u64,
    /// Seconds since it started, by the boot clock.
    pub elapsed_s: f64,
    /// CPU use between two samples, per cent of one CPU; null in the first sample.
    pub cpu_percent: Option<f64>,
    /// Resident memory.
    pub rss_bytes: u64,
    /// Short name.
    pub comm: String,
    /// Bytes of `comm` in base64, only where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comm_base64: Option<String>,
    /// Argument vector, element by element, redacted; null where it could not be read.
    pub argv: Option<Vec<String>>,
    /// Every element of `argv` in base64, redacted, where one of them is not UTF-8; else null.
    pub argv_base64: Option<Vec<String>>,
    /// Program file.
    pub exe: Option<String>,
    /// Bytes of `exe` in base64, only where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exe_base64: Option<String>,
    /// Working directory.
    pub cwd: Option<String>,
    /// Bytes of `cwd` in base64, only where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd_base64: Option<String>,
    /// Its parts in instances.
    pub roles: Vec<RoleOf>,
}

/// A part in an instance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RoleOf {
    /// Id of the instance.
    pub instance: String,
    /// The part.
    #[schemars(extend("enum" = ["client", "launcher", "server", "helper", "other"]))]
    pub role: &'static str,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// The process, where it is about one.
    pub pid: Option<u32>,
    /// What was being read: keys of the process, a path, a call.
    pub what: String,
    /// Why it was not.
    #[schemars(extend("enum" = ["denied", "gone", "unsupported", "failed"]))]
    pub kind: &'static str,
    /// What to know or do.
    pub detail: String,
}
