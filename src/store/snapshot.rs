//! The file of a snapshot, `mcpwake.snapshot/1`: readings of the whole machine, the configured entries
//! that were seen, and the judgement made then, with the versions of program and rules.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::files::{self, Kept};
use super::place::stamp;
use super::redact::Removal;
use crate::journal::Digest;
use crate::journal::entry::rfc3339;
use crate::model::identity::InstanceId;
use crate::model::known::ConfiguredServer;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::text::redact::Redactor;

/// Schema of the files that this version writes.
pub const SCHEMA: &str = "mcpwake.snapshot/1";

/// Largest file that is read: some hundred thousand processes.
const LARGEST: u64 = 1 << 31;

/// A snapshot without secrets: no other kind can be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    schema: String,
    program: String,
    rules: String,
    #[serde(with = "rfc3339")]
    saved_at: UnixMillis,
    configured: Vec<ConfiguredServer>,
    world: Arc<World>,
}

impl Snapshot {
    /// Returns what is to be saved of a world: command lines, titles, paths and configured entries lose
    /// their secrets here. `rules` names the version of the rules that judged it.
    pub fn new(
        world: &World,
        configured: &[ConfiguredServer],
        rules: &str,
        saved_at: UnixMillis,
        redactor: &Redactor,
    ) -> Self {
        let mut removal = Removal::new(redactor);
        Self {
            schema: SCHEMA.to_owned(),
            program: format!("mcpwake {}", env!("CARGO_PKG_VERSION")),
            rules: rules.to_owned(),
            saved_at,
            configured: configured.iter().map(|entry| removal.configured(entry)).collect(),
            world: Arc::new(removal.world(world)),
        }
    }

    /// Returns sample and judgement.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Returns the configured entries that were seen.
    pub fn configured(&self) -> &[ConfiguredServer] {
        &self.configured
    }

    /// Returns program and version that saved it.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Returns the version of the rules that judged it.
    pub fn rules(&self) -> &str {
        &self.rules
    }

    /// Returns when it was saved.
    pub fn saved_at(&self) -> UnixMillis {
        self.saved_at
    }

    /// Writes it as one line of JSON.
    pub fn write(&self, mut out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")
    }

    /// Writes it into a directory, whole or not at all.
    pub(super) fn save(&self, directory: &Path) -> Result<Kept, StoreError> {
        files::write_whole(directory, &mut |out| self.write(out), &|digest| {
            format!("{}-{digest}.json", stamp(self.saved_at)).into()
        })
    }

    /// Writes it under a name that the operator chose: whole or not at all where that is a file; a
    /// device or a pipe is written to as it is.
    pub fn save_as(&self, path: &Path) -> Result<(), StoreError> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            let mut out = OpenOptions::new()
                .write(true)
                .open(path)
                .map_err(StoreError::io("open", path))?;
            return self.write(&mut out).map_err(StoreError::io("write", path));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let name = path.file_name().unwrap_or_default();
        let directory = parent.unwrap_or(Path::new("."));
        files::write_whole(directory, &mut |out| self.write(out), &|_| name.to_owned())?;
        Ok(())
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, StoreError> {
        let mut file = File::open(path).map_err(StoreError::io("open", path))?;
        Self::read(&mut file, &path.display().to_string())
    }

    /// Reads a file of an incident, which must have this digest.
    pub(super) fn load_exactly(path: &Path, sha256: Digest) -> Result<Self, StoreError> {
        let name = path.display().to_string();
        let metadata = fs::symlink_metadata(path).map_err(StoreError::io("open", path))?;
        if !metadata.is_file() {
            return Err(StoreError::WrongKind {
                path: path.to_path_buf(),
                expected: "regular file",
            });
        }
        let mut file = File::open(path).map_err(StoreError::io("open", path))?;
        let bytes = whole(&mut file, &name)?;
        if Digest::of(&bytes) != sha256 {
            return Err(refuse(&name, "its bytes are not those that the journal names"));
        }
        Self::parse(&bytes, &name)
    }

    /// Reads from a file or a pipe; `name` is for messages.
    pub fn read(source: &mut dyn Read, name: &str) -> Result<Self, StoreError> {
        Self::parse(&whole(source, name)?, name)
    }

    fn parse(bytes: &[u8], name: &str) -> Result<Self, StoreError> {
        let head: Head =
            serde_json::from_slice(bytes).map_err(|error| refuse(name, format!("no snapshot: {error}")))?;
        if head.schema != SCHEMA {
            return Err(refuse(
                name,
                format!(
                    "its schema is {}, this version reads {SCHEMA}; it was written by {}",
                    head.schema,
                    head.program.as_deref().unwrap_or("another program")
                ),
            ));
        }
        serde_json::from_slice(bytes).map_err(|error| refuse(name, format!("a damaged {SCHEMA}: {error}")))
    }
}

/// Reads to the end, but not without end.
fn whole(source: &mut dyn Read, name: &str) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    source
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refuse(name, error.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(refuse(
            name,
            format!("more than {LARGEST} bytes: no snapshot is that large"),
        ));
    }
    Ok(bytes)
}

fn refuse(name: &str, what: impl Into<String>) -> StoreError {
    StoreError::NoSnapshot {
        path: name.to_owned(),
        what: what.into(),
    }
}

/// Returns the instances that a snapshot of this boot shows, without reading the rest of it; none where
/// the file cannot be read.
pub(super) fn instances_of(path: &Path, boot_id: &str) -> Vec<InstanceId> {
    // Opening a FIFO would wait for a writer.
    if !fs::symlink_metadata(path).is_ok_and(|there| there.is_file()) {
        return Vec::new();
    }
    let read = File::open(path).map_err(serde_json::Error::io).and_then(|file| {
        let pages = BufReader::with_capacity(1 << 16, file.take(LARGEST));
        serde_json::from_reader::<_, Glance>(pages)
    });
    match read {
        Ok(glance) if glance.world.sample.host.boot_id == boot_id => {
            let instances = glance.world.judged.instances.iter();
            instances.map(|instance| instance.id).collect()
        }
        _ => Vec::new(),
    }
}

/// The little of a snapshot that says which instances it shows.
#[derive(Deserialize)]
struct Glance {
    world: WorldGlance,
}

#[derive(Deserialize)]
struct WorldGlance {
    sample: SampleGlance,
    judged: JudgedGlance,
}

#[derive(Deserialize)]
struct SampleGlance {
    host: HostGlance,
}

#[derive(Deserialize)]
struct HostGlance {
    boot_id: String,
}

#[derive(Deserialize)]
struct JudgedGlance {
    instances: Vec<InstanceGlance>,
}

#[derive(Deserialize)]
struct InstanceGlance {
    id: InstanceId,
}

/// What every version of the file begins with.
#[derive(Deserialize)]
struct Head {
    schema: String,
    program: Option<String>,
}
