//! The kinds of entries of a journal. A later version may add kinds and fields; what was written
//! once keeps its meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::subject::{InstanceRef, LeadRef, ParentRef, Subject, TargetRef};
use crate::model::time::UnixMillis;

/// What happened. Free text in it is redacted before it is written, see [`Entry::redacted`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// The incident was opened: always the first entry.
    Opened {
        /// Format of the journal, `mcpwake.journal/1`.
        format: String,
        /// Random id, 32 hexadecimal digits.
        incident: String,
        /// Title, usually a ticket number.
        title: String,
        /// Host name.
        host: String,
        /// Boot id of the host: start keys count within it.
        boot_id: String,
        /// Program and version.
        program: String,
    },
    /// A note of the operator.
    Note {
        /// What it is about; `None`: the incident.
        on: Option<Subject>,
        /// The text.
        text: String,
    },
    /// A snapshot was saved.
    Snapshot {
        /// Which file, and its digest.
        file: FileRef,
        /// When its sample was taken.
        #[serde(with = "rfc3339")]
        taken_at: UnixMillis,
        /// Number of processes in it.
        processes: u64,
        /// Number of instances in it.
        instances: u64,
        /// What for.
        why: SnapshotReason,
    },
    /// Output made elsewhere, or by a configured command, was attached.
    Attached {
        /// Which file, and its digest.
        file: FileRef,
        /// What the operator calls it.
        label: String,
        /// What it is about.
        on: Option<Subject>,
        /// The lead it speaks of.
        lead: Option<LeadRef>,
        /// Where it came from.
        from: AttachedFrom,
    },
    /// A field of the record of an instance was filled.
    Field {
        /// The instance.
        on: InstanceRef,
        /// Which field.
        field: FieldName,
        /// The value; empty: what was entered before is withdrawn.
        value: String,
        /// Seen by the program, or entered by the operator.
        source: FieldSource,
    },
    /// Somebody revoked an authority.
    Revoked {
        /// The instance.
        on: InstanceRef,
        /// The authority.
        lead: LeadRef,
        /// When, as the operator says.
        #[serde(with = "rfc3339")]
        revoked_at: UnixMillis,
        /// Who did it, where it was not the operator.
        by: Option<String>,
        /// How.
        how: Option<String>,
        /// Who did it, where the operator says that somebody else did, or names a time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        done_by: Option<String>,
        /// When it was done, where the operator says so; `revoked_at` is then when that was typed.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339::optional")]
        done_at: Option<UnixMillis>,
    },
    /// A check showed that the authority is refused now.
    Denied {
        /// The instance.
        on: InstanceRef,
        /// The authority.
        lead: LeadRef,
        /// When, as the operator says.
        #[serde(with = "rfc3339")]
        denied_at: UnixMillis,
        /// The check and what it answered.
        how: Option<String>,
        /// Who made the check, where the operator says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        done_by: Option<String>,
        /// When it was made, where the operator says so; `denied_at` is then when that was typed.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339::optional")]
        done_at: Option<UnixMillis>,
    },
    /// A remote job was cancelled.
    JobCancelled {
        /// The instance that had started it.
        on: InstanceRef,
        /// Its id.
        job: String,
        /// When, as the operator says.
        #[serde(with = "rfc3339")]
        cancelled_at: UnixMillis,
        /// Who did it, where it was not the operator.
        by: Option<String>,
    },
    /// Between which times the client of an instance became unavailable.
    ClientUnavailable {
        /// The instance.
        on: InstanceRef,
        /// When it was last known to be there; `None`: not known.
        #[serde(with = "rfc3339::optional")]
        after: Option<UnixMillis>,
        /// When it was first seen to be gone; `None`: not seen yet.
        #[serde(with = "rfc3339::optional")]
        before: Option<UnixMillis>,
        /// What these times were taken from.
        basis: String,
        /// Seen by the program, or entered by the operator.
        source: FieldSource,
    },
    /// What the instance did since the first of its authorities was revoked.
    SinceRevoked {
        /// The instance.
        on: InstanceRef,
        /// The figures.
        counts: SinceRevoked,
    },
    /// A missing step was passed over on purpose.
    Override {
        /// The instance, where it is about one.
        on: Option<InstanceRef>,
        /// What was missing.
        missing: Vec<String>,
    },
    /// A signal is about to be sent: on disk before it goes out.
    AboutToSignal {
        /// `TERM`, `KILL`, `CONT`.
        signal: String,
        /// The processes.
        targets: Vec<TargetRef>,
        /// How it will be sent: `pidfd`, `kill`.
        way: String,
    },
    /// The signal was handed to the system, or refused by it.
    Sent {
        /// `TERM`, `KILL`, `CONT`.
        signal: String,
        /// The process.
        target: TargetRef,
        /// Which way was used: `pidfd`, `kill`.
        way: String,
        /// `None`: accepted; else the system's reason.
        refused: Option<String>,
        /// Number of the entry that announced it; `None`: the journal does not say.
        #[serde(default)]
        announced: Option<u64>,
    },
    /// What the second look found.
    Outcome {
        /// The signal it is the outcome of.
        signal: String,
        /// The process.
        target: TargetRef,
        /// What became of it.
        outcome: OutcomeKind,
        /// Milliseconds since the signal.
        after_ms: Option<u64>,
        /// The rest: what it is doing, its new pid, what survived.
        detail: Option<String>,
        /// Number of the entry that announced it; `None`: the journal does not say.
        #[serde(default)]
        announced: Option<u64>,
    },
    /// A process that had exited after a signal runs again, seen after the second look: told once.
    CameBack {
        /// The signal that it had exited after.
        signal: String,
        /// The process that was signalled.
        target: TargetRef,
        /// The process that is the same server again: same argv, same user, started after the signal.
        successor: TargetRef,
        /// Whose child that was when it was seen; `None`: not known.
        parent: Option<ParentRef>,
        /// When it had started.
        #[serde(with = "rfc3339")]
        started_at: UnixMillis,
        /// Milliseconds from the signal to that start; `None`: not known, as where the clock was set.
        after_ms: Option<u64>,
        /// When the sample was taken that showed it.
        #[serde(with = "rfc3339")]
        seen_at: UnixMillis,
        /// Number of the entry that announced the signal.
        announced: u64,
    },
    /// The wall clock was set while the incident was open.
    ClockChanged {
        /// What the clock showed last.
        #[serde(with = "rfc3339")]
        from: UnixMillis,
        /// What it shows now.
        #[serde(with = "rfc3339")]
        to: UnixMillis,
    },
    /// A last line that was never completed was moved out of the journal.
    TornTailMoved {
        /// The file it was moved to.
        to: String,
        /// Its bytes.
        bytes: u64,
        /// Their digest.
        sha256: Digest,
    },
    /// The terminal went away while the incident was open.
    TerminalLost {},
    /// The incident was closed.
    Closed {
        /// What is left to do.
        remaining: Option<String>,
    },
}

/// A file of the incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRef {
    /// Path from the incident's directory: `snapshots/…`, `attachments/…`.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Digest of its bytes.
    #[schemars(with = "String")]
    pub sha256: Digest,
}

/// What a snapshot was saved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotReason {
    /// The operator froze the screen.
    Freeze,
    /// A command asked for it.
    Command,
    /// A signal needs the evidence on disk.
    BeforeSignal,
    /// The second look after a signal.
    AfterSignal,
    /// It was saved before the incident was opened.
    CopiedIn,
}

/// Where an attachment came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachedFrom {
    /// Pasted by the operator.
    Pasted,
    /// A file.
    File {
        /// Its path.
        path: String,
    },
    /// A configured command.
    Command {
        /// The command, element by element.
        argv: Vec<String>,
        /// When it was started.
        #[serde(with = "rfc3339")]
        started_at: UnixMillis,
        /// When it ended, or was ended.
        #[serde(with = "rfc3339")]
        ended_at: UnixMillis,
        /// Exit status in words: `exited with 0`, `ended by signal 9`, `ran out of time`.
        status: String,
    },
}

/// The thirteen fields of the record of an instance, in the order of the procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldName {
    /// When it was seen, and in which snapshot.
    ObservedAt,
    /// The client's pid and command, or since when it is unavailable.
    Client,
    /// The server's pid and command.
    Server,
    /// Parent pid and process group.
    Parent,
    /// Session identifier.
    Session,
    /// Which of its authorities are revoked and denied.
    Authorization,
    /// When it last did something that succeeded.
    LastSuccess,
    /// When it last tried something.
    LastAttempt,
    /// What it acted on, and how.
    Action,
    /// Result, or id of a remote job.
    Result,
    /// Who revoked what, and when.
    Revocation,
    /// Signals sent and what came of them.
    Termination,
    /// What is left to do.
    FollowUp,
}

impl FieldName {
    /// All fields, in their order.
    pub const ALL: [Self; 13] = [
        Self::ObservedAt,
        Self::Client,
        Self::Server,
        Self::Parent,
        Self::Session,
        Self::Authorization,
        Self::LastSuccess,
        Self::LastAttempt,
        Self::Action,
        Self::Result,
        Self::Revocation,
        Self::Termination,
        Self::FollowUp,
    ];

    /// Returns the words of the form.
    pub fn title(self) -> &'static str {
        match self {
            Self::ObservedAt => "Observed at",
            Self::Client => "Client process PID and command",
            Self::Server => "MCP server PID and command",
            Self::Parent => "Parent PID and process group",
            Self::Session => "Session identifier",
            Self::Authorization => "Authorization state",
            Self::LastSuccess => "Last successful action time",
            Self::LastAttempt => "Last attempted action time",
            Self::Action => "Action target and operation",
            Self::Result => "Result or remote job identifier",
            Self::Revocation => "Revocation time and operator",
            Self::Termination => "Termination signal and exit result",
            Self::FollowUp => "Follow-up required",
        }
    }
}

/// Where the value of a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldSource {
    /// Seen by the program.
    Observed,
    /// Entered by the operator.
    Entered,
}

impl FieldSource {
    /// Returns the word as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Entered => "entered",
        }
    }
}

/// What an instance did since its first revocation; `None`: not known, which is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SinceRevoked {
    /// Connections opened.
    pub connections_opened: Option<u64>,
    /// Bytes sent.
    pub bytes_sent: Option<u64>,
    /// Calls attempted.
    pub calls_attempted: Option<u64>,
    /// Calls denied.
    pub calls_denied: Option<u64>,
    /// The first sample that is counted from; `None`: the journal does not say.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "rfc3339::optional")]
    #[schemars(with = "Option<String>")]
    pub since: Option<UnixMillis>,
}

impl SinceRevoked {
    /// Returns for each figure the greater one: each is the least that somebody saw.
    #[must_use]
    pub fn or_more(self, other: Self) -> Self {
        Self {
            connections_opened: self.connections_opened.max(other.connections_opened),
            bytes_sent: self.bytes_sent.max(other.bytes_sent),
            calls_attempted: self.calls_attempted.max(other.calls_attempted),
            calls_denied: self.calls_denied.max(other.calls_denied),
            since: match (self.since, other.since) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            },
        }
    }

    /// Returns the figures in words.
    pub fn words(&self) -> String {
        let figure = |count: Option<u64>, one: &str, many: &str| match count {
            Some(1) => format!("1 {one}"),
            Some(count) => format!("{count} {many}"),
            None => format!("{many}: not known"),
        };
        let mut parts = vec![
            figure(self.connections_opened, "connection opened", "connections opened"),
            figure(self.bytes_sent, "byte sent", "bytes sent"),
        ];
        if self.calls_attempted.is_none() && self.calls_denied.is_none() {
            parts.push("calls: not known".to_owned());
        } else {
            parts.push(figure(self.calls_attempted, "call attempted", "calls attempted"));
            parts.push(figure(self.calls_denied, "call denied", "calls denied"));
        }
        parts.join(", ")
    }
}

/// What became of a signalled process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It has exited.
    Exited,
    /// It is still there.
    StillThere,
    /// The system did not permit the signal.
    NotPermitted,
    /// It had exited before.
    AlreadyGone,
    /// Its pid belongs to another process now; nothing was sent.
    Replaced,
    /// A process with the same argv runs again under another pid.
    CameBack,
}

impl OutcomeKind {
    /// Returns the outcome in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::StillThere => "still there",
            Self::NotPermitted => "not permitted",
            Self::AlreadyGone => "already gone",
            Self::Replaced => "replaced by another process, nothing sent",
            Self::CameBack => "came back",
        }
    }

    /// Returns whether the process has ended.
    pub fn is_end(self) -> bool {
        self.is_resolved() || self == Self::CameBack
    }

    /// Returns whether nothing is left to be looked at.
    pub fn is_resolved(self) -> bool {
        matches!(self, Self::Exited | Self::AlreadyGone | Self::Replaced)
    }
}

/// Times as RFC 3339 text: a journal is read by people too.
pub mod rfc3339 {
    use chrono::DateTime;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::time::UnixMillis;

    /// Writes the time in UTC with milliseconds.
    pub fn serialize<S: Serializer>(time: &UnixMillis, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&time.rfc3339())
    }

    /// Reads what `serialize` wrote.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UnixMillis, D::Error> {
        let text = String::deserialize(deserializer)?;
        DateTime::parse_from_rfc3339(&text)
            .map(|time| UnixMillis(time.timestamp_millis()))
            .map_err(D::Error::custom)
    }

    /// The same for times that may not be known: `null`.
    pub mod optional {
        use super::{Deserialize, Deserializer, Serialize, Serializer, UnixMillis};

        #[derive(Serialize, Deserialize)]
        #[serde(transparent)]
        struct Text(#[serde(with = "super")] UnixMillis);

        /// Writes the time, or `null`.
        pub fn serialize<S: Serializer>(time: &Option<UnixMillis>, serializer: S) -> Result<S::Ok, S::Error> {
            time.map(Text).serialize(serializer)
        }

        /// Reads what `serialize` wrote.
        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<UnixMillis>, D::Error> {
            Ok(Option::<Text>::deserialize(deserializer)?.map(|text| text.0))
        }
    }
}
