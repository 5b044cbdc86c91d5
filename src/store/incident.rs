//! One incident directory: what is added to it, and what it says of itself.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::append::{self, Addition, Receipt};
use super::error::StoreError;
use super::files::{self, Kept};
use super::place::{Access, stamp};
use super::snapshot::{Snapshot, instances_of};
use crate::journal::entry::{AttachedFrom, FileRef, SnapshotReason};
use crate::journal::line::{LONGEST_LINE, Line};
use crate::journal::{Entry, LeadRef, Operator, Subject, Verified, record, verify};
use crate::model::host::Host;
use crate::model::identity::InstanceId;
use crate::model::time::UnixMillis;
use crate::text::redact::Redactor;

/// Name of the journal in its directory.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// Name of the directory for snapshots, of an incident and beside all of them.
pub(super) const SNAPSHOTS: &str = "snapshots";

/// What is told once, when an incident is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Title, usually a ticket number.
    pub title: String,
    /// Host name.
    pub host: String,
    /// Boot id of the host.
    pub boot_id: String,
    /// Program and version.
    pub program: String,
}

impl Opening {
    /// Returns what is told of an incident on a machine.
    pub fn on(host: &Host, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            host: host.hostname.lossy().into_owned(),
            boot_id: host.boot_id.clone(),
            program: format!("mcpwake {}", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// What every part of a store needs.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) uid: u32,
    pub(super) access: Access,
    pub(super) redactor: Arc<Redactor>,
}

impl Parts {
    pub(super) fn demand_writable(&self, operation: &'static str, path: &Path) -> Result<(), StoreError> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(StoreError::ReadOnly {
                operation,
                path: path.to_path_buf(),
            }),
        }
    }
}

/// An incident directory.
#[derive(Clone, Debug)]
pub struct Incident {
    directory: PathBuf,
    parts: Parts,
}

/// What is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// What the operator calls it.
    pub label: String,
    /// What it is about.
    pub on: Option<Subject>,
    /// The lead it speaks of.
    pub lead: Option<LeadRef>,
    /// Where it came from.
    pub from: AttachedFrom,
}

impl Incident {
    pub(super) fn at(directory: PathBuf, parts: Parts) -> Self {
        Self { directory, parts }
    }

    /// Returns an incident that may be anybody's, from anywhere: it is never written to.
    pub fn for_reading(directory: PathBuf) -> Self {
        let parts = Parts {
            uid: 0,
            access: Access::ReadOnly,
            redactor: Arc::new(Redactor::off()),
        };
        Self { directory, parts }
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Returns the journal.
    pub fn journal(&self) -> PathBuf {
        self.directory.join(JOURNAL)
    }

    /// Appends an entry, redacted; answers when it is on disk.
    pub fn append(&self, entry: Entry, operator: &Operator, at: UnixMillis) -> Result<Receipt, StoreError> {
        let journal = self.journal();
        self.parts.demand_writable("append to", &journal)?;
        let entry = entry.redacted(&self.parts.redactor);
        let addition = Addition {
            at,
            operator,
            entry: &entry,
        };
        append::append(&journal, self.parts.uid, &addition)
    }

    /// Appends an entry, redacted, where the lines of the journal say that it has its place there: they are
    /// shown to `place` from the newest back until it breaks with its answer. `None`: it was not appended.
    pub fn append_where(
        &self,
        entry: Entry,
        operator: &Operator,
        at: UnixMillis,
        place: &mut dyn FnMut(&Line) -> ControlFlow<bool>,
    ) -> Result<Option<Receipt>, StoreError> {
        let journal = self.journal();
        self.parts.demand_writable("append to", &journal)?;
        let entry = entry.redacted(&self.parts.redactor);
        let addition = Addition {
            at,
            operator,
            entry: &entry,
        };
        append::append_where(&journal, self.parts.uid, &addition, place)
    }

    /// Saves a snapshot here and says so in the journal.
    pub fn save(
        &self,
        snapshot: &Snapshot,
        why: SnapshotReason,
        operator: &Operator,
    ) -> Result<(Kept, Receipt), StoreError> {
        let directory = self.inner(SNAPSHOTS)?;
        let kept = snapshot.save(&directory)?;
        let receipt = self.append(entry(&kept, snapshot, why), operator, snapshot.saved_at())?;
        Ok((kept, receipt))
    }

    /// Copies a snapshot in, byte for byte, that was saved before the incident was opened.
    pub fn copy_in(
        &self,
        path: &Path,
        operator: &Operator,
        at: UnixMillis,
    ) -> Result<(Kept, Receipt), StoreError> {
        let directory = self.inner(SNAPSHOTS)?;
        let snapshot = Snapshot::load(path)?;
        let name = path.file_name().unwrap_or_default().to_owned();
        let mut write = |out: &mut dyn std::io::Write| {
            let mut file = File::open(path)?;
            std::io::copy(&mut file, out).map(|_| ())
        };
        let kept = files::write_whole(&directory, &mut write, &|_| name.clone())?;
        let entry = entry(&kept, &snapshot, SnapshotReason::CopiedIn);
        let receipt = self.append(entry, operator, at)?;
        Ok((kept, receipt))
    }

    /// Attaches bytes, exactly as they are, and says so in the journal.
    pub fn attach(
        &self,
        bytes: &mut dyn Read,
        attachment: Attachment,
        operator: &Operator,
        at: UnixMillis,
    ) -> Result<(Kept, Receipt), StoreError> {
        let directory = self.inner("attachments")?;
        let mut write = |out: &mut dyn std::io::Write| std::io::copy(bytes, out).map(|_| ());
        let kept = files::write_whole(&directory, &mut write, &|digest| {
            format!("{}-{digest}", stamp(at)).into()
        })?;
        let entry = Entry::Attached {
            file: reference("attachments", &kept),
            label: attachment.label,
            on: attachment.on,
            lead: attachment.lead,
            from: attachment.from,
        };
        let receipt = self.append(entry, operator, at)?;
        Ok((kept, receipt))
    }

    /// Writes a copy that leaves the screen into `copies`: no evidence, so that the journal does not
    /// name it.
    pub fn copy(&self, text: &str, ending: &str, at: UnixMillis) -> Result<PathBuf, StoreError> {
        let directory = self.directory.join("copies");
        self.parts.demand_writable("write to", &directory)?;
        files::demand_private(&self.directory, self.parts.uid)?;
        files::private_directory(&directory, self.parts.uid)?;
        let name = format!("{}.{ending}", stamp(at));
        let mut write = |out: &mut dyn std::io::Write| out.write_all(text.as_bytes());
        let kept = files::write_whole(&directory, &mut write, &|_| name.clone().into())?;
        Ok(kept.path)
    }

    /// Returns the instances of this boot that the snapshots show which these lines name, each with the
    /// newest that does. One that is not there any more shows nothing.
    pub fn shows(&self, lines: &[Line], boot_id: &str) -> BTreeMap<InstanceId, record::Kept> {
        let mut shown = BTreeMap::new();
        for line in lines {
            let Ok(Entry::Snapshot { file, taken_at, .. }) = &line.entry else {
                continue;
            };
            let mut parts = Path::new(&file.path).components();
            if !parts.all(|part| matches!(part, Component::Normal(_))) {
                continue;
            }
            let kept = record::Kept {
                taken_at: *taken_at,
                sha256: Some(file.sha256),
            };
            let instances = instances_of(&self.directory.join(&file.path), boot_id);
            shown.extend(instances.into_iter().map(|id| (id, kept)));
        }
        shown
    }

    fn inner(&self, name: &str) -> Result<PathBuf, StoreError> {
        let directory = self.directory.join(name);
        self.parts.demand_writable("write to", &directory)?;
        files::demand_private(&self.directory, self.parts.uid)?;
        files::demand_private(&directory, self.parts.uid)?;
        Ok(directory)
    }

    /// Reads the journal, entry by entry, as far as its chain holds.
    pub fn read(&self, visit: &mut dyn FnMut(&Line)) -> Result<Verified, StoreError> {
        let journal = self.journal();
        let file = File::open(&journal).map_err(StoreError::io("open", &journal))?;
        let mut pages = BufReader::with_capacity(1 << 16, file);
        verify(&mut pages, None, &mut |_, line| visit(line)).map_err(StoreError::io("read", &journal))
    }
}

fn entry(kept: &Kept, snapshot: &Snapshot, why: SnapshotReason) -> Entry {
    let world = snapshot.world();
    Entry::Snapshot {
        file: reference(SNAPSHOTS, kept),
        taken_at: world.sample.taken_at,
        processes: world.sample.processes.len() as u64,
        instances: world.judged.instances.len() as u64,
        why,
    }
}

fn reference(directory: &str, kept: &Kept) -> FileRef {
    let name = kept.path.file_name().unwrap_or_default().to_string_lossy();
    FileRef {
        path: format!("{directory}/{name}"),
        bytes: kept.bytes,
        sha256: kept.sha256,
    }
}

/// An incident as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its directory.
    pub path: PathBuf,
    /// What its journal says, or why that cannot be read.
    pub opened: Result<Opened, String>,
}

/// What the first and the last entry of a journal say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Random id.
    pub incident: String,
    /// Title.
    pub title: String,
    /// Host.
    pub host: String,
    /// When it was opened.
    pub at: UnixMillis,
    /// By whom.
    pub operator: Operator,
    /// Number of its last entry.
    pub entries: u64,
    /// When its last entry was written.
    pub last_at: UnixMillis,
    /// Whether the last entry closes it.
    pub closed: bool,
}

impl Summary {
    /// Returns whether it is open, and was opened by this person.
    pub fn is_open_of(&self, operator: &Operator) -> bool {
        self.of(operator).is_some_and(|opened| !opened.closed)
    }

    /// Returns what its journal says, where this person has opened it.
    pub(super) fn of(&self, operator: &Operator) -> Option<&Opened> {
        let opened = self.opened.as_ref().ok()?;
        (opened.operator.person() == operator.person()).then_some(opened)
    }

    pub(super) fn read(path: PathBuf) -> Self {
        let opened = Opened::read(&path.join(JOURNAL));
        Self { path, opened }
    }
}

impl Opened {
    /// Reads the first line and the end: not the whole journal.
    fn read(journal: &Path) -> Result<Self, String> {
        let named = |error: std::io::Error| format!("read {}: {error}", journal.display());
        if !fs::metadata(journal).map_err(named)?.is_file() {
            return Err(format!("{} is no regular file", journal.display()));
        }
        let mut file = File::open(journal).map_err(named)?;
        let mut first = Vec::new();
        BufReader::new(&file)
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut first)
            .map_err(named)?;
        let unreadable = || format!("{} has no readable first entry", journal.display());
        let first = Line::read(&first).map_err(|_| unreadable())?;
        let Ok(Entry::Opened {
            incident,
            title,
            host,
            ..
        }) = first.entry
        else {
            return Err(unreadable());
        };
        let last = last_line(&mut file).map_err(named)?;
        Ok(Self {
            incident,
            title,
            host,
            at: first.at,
            operator: first.operator,
            entries: last.as_ref().map_or(first.seq, |line| line.seq),
            last_at: last.as_ref().map_or(first.at, |line| line.at),
            closed: last.is_some_and(|line| matches!(line.entry, Ok(Entry::Closed { .. }))),
        })
    }
}

/// Returns the last complete line, where it is an entry.
fn last_line(file: &mut File) -> std::io::Result<Option<Line>> {
    let length = file.metadata()?.len();
    let window = length.min(2 * LONGEST_LINE as u64);
    file.seek(SeekFrom::Start(length - window))?;
    let mut bytes = Vec::new();
    file.take(window).read_to_end(&mut bytes)?;
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
        return Ok(None);
    };
    let start = bytes[..end]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    Ok(Line::read(&bytes[start..=end]).ok())
}
