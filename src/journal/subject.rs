//! What an entry is about: an instance, a process, a lead, the target of a signal.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::finding::{Lead, LeadKind};
use crate::model::identity::{InstanceId, Pid, ProcessKey, StartKey};
use crate::model::instance::Instance;
use crate::text::width::{Glyphs, truncate};

/// An instance as the journal names it: readable without the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstanceRef {
    /// Its id, written `<pid>-<start key>`.
    #[serde(with = "written")]
    #[schemars(with = "String")]
    pub id: InstanceId,
    /// Its name.
    pub name: String,
}

impl InstanceRef {
    /// Returns the reference to an instance of a sample.
    pub fn of(instance: &Instance) -> Self {
        Self {
            id: instance.id,
            name: instance.name.lossy().into_owned(),
        }
    }

    /// Returns the pid in the id.
    pub fn pid(&self) -> Pid {
        self.id.0.pid
    }
}

/// What a note or a field is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// An instance.
    Instance(InstanceRef),
    /// A process that belongs to none.
    Process {
        /// Its key, written `<pid>-<start key>`.
        #[serde(with = "written")]
        key: ProcessKey,
        /// Its short name.
        comm: String,
    },
    /// A person, a remote job, a time: anything but the incident as a whole.
    Other(String),
}

/// A lead as it was when something was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeadRef {
    /// Its letter at that time.
    pub letter: String,
    /// What it is about.
    #[schemars(with = "String")]
    pub kind: LeadKind,
    /// Address, path, name or command.
    pub target: String,
}

impl LeadRef {
    /// Returns the reference to a lead of a sample.
    pub fn of(lead: &Lead) -> Self {
        Self {
            letter: lead.letter.clone(),
            kind: lead.kind,
            target: lead.target.lossy().into_owned(),
        }
    }

    /// Returns whether both mean the same authority: letters may move from sample to sample, kind and
    /// target do not.
    pub fn same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.target == other.target
    }
}

impl fmt::Display for LeadRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.letter, self.kind.word(), self.target)
    }
}

/// A process that is, or was, to be signalled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRef {
    /// Its key, written `<pid>-<start key>`.
    #[serde(with = "written")]
    #[schemars(with = "String")]
    pub key: ProcessKey,
    /// Inode of the pidfd that is kept of it.
    pub pidfd_inode: Option<u64>,
    /// Its command line.
    pub argv: Vec<String>,
    /// The instance it is a member of.
    pub instance: Option<InstanceRef>,
}

/// Whose child a process is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParentRef {
    /// Its key, written `<pid>-<start key>`.
    #[serde(with = "written")]
    #[schemars(with = "String")]
    pub key: ProcessKey,
    /// Its short name.
    pub comm: String,
}

impl TargetRef {
    /// Returns name, pid and key: `git 48271 (key 48271-8123411)`; of another member of its instance `chromium
    /// 4163 of git 48271 (key 4163-8123500)`.
    pub fn called(&self) -> String {
        let (key, pid) = (self.key, self.key.pid);
        let program = self.argv.first().and_then(|argv0| {
            let first = argv0.split_whitespace().next()?;
            first.rsplit('/').find(|part| !part.is_empty())
        });
        let program = program.unwrap_or("process");
        let program = truncate(program, PROGRAM, Glyphs::Unicode);
        match &self.instance {
            Some(on) if on.pid() == pid => format!("{} {pid} (key {key})", on.name),
            Some(on) => format!("{program} {pid} of {} {} (key {key})", on.name, on.pid()),
            None => format!("{program} {pid} (key {key})"),
        }
    }
}

/// Columns of the name of a program in a sentence.
const PROGRAM: usize = 40;

/// A key as text: `48271-8123411`, the same as in every published format.
trait Written: Sized + fmt::Display {
    fn from_key(key: ProcessKey) -> Self;
}

impl Written for ProcessKey {
    fn from_key(key: ProcessKey) -> Self {
        key
    }
}

impl Written for InstanceId {
    fn from_key(key: ProcessKey) -> Self {
        Self(key)
    }
}

/// Returns the key that `<pid>-<start key>` means.
pub fn parse_key(text: &str) -> Option<ProcessKey> {
    let (pid, start) = text.split_once('-')?;
    Some(ProcessKey {
        pid: Pid::new(pid.parse().ok()?)?,
        start: StartKey(start.parse().ok()?),
    })
}

mod written {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Written, parse_key};

    pub(super) fn serialize<T: Written, S: Serializer>(key: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(key)
    }

    pub(super) fn deserialize<'de, T: Written, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        let key = parse_key(&text).ok_or_else(|| D::Error::custom("a key is written PID-START"))?;
        Ok(T::from_key(key))
    }
}
