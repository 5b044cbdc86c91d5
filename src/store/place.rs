//! Where incidents are, and which one is meant.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::append;
use super::error::StoreError;
use super::files::{self, Kept};
use super::incident::{Incident, JOURNAL, Opened, Opening, Parts, SNAPSHOTS, Summary};
use super::snapshot::Snapshot;
use crate::journal::{Entry, Operator};
use crate::model::time::UnixMillis;
use crate::text::redact::Redactor;
use crate::text::{Safe, shell};

/// Format of the journals that this version writes.
pub const FORMAT: &str = "mcpwake.journal/1";

/// Where root's incidents are: sudo leaves root with somebody else's home or none.
const ROOT_STATE: &str = "/var/lib/mcpwake";

/// Whether anything may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Yes.
    ReadWrite,
    /// No: `--read-only`.
    ReadOnly,
}

/// The state directory of one user.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    parts: Parts,
}

/// Returns the state directory: `$XDG_STATE_HOME/mcpwake`, as root without it `/var/lib/mcpwake`, else
/// `~/.local/state/mcpwake`. Relative paths in the variables do not count (XDG base directories).
pub fn state_directory(
    uid: u32,
    state_home: Option<OsString>,
    home: Option<OsString>,
) -> Result<PathBuf, StoreError> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(state) = absolute(state_home) {
        return Ok(state.join("mcpwake"));
    }
    if uid == 0 {
        return Ok(PathBuf::from(ROOT_STATE));
    }
    absolute(home)
        .map(|home| home.join(".local/state/mcpwake"))
        .ok_or(StoreError::NoPlace)
}

impl Store {
    /// Returns the store below `root` of the user who runs the program. Touches nothing.
    pub fn new(root: PathBuf, uid: u32, access: Access, redactor: Arc<Redactor>) -> Self {
        Self {
            root,
            parts: Parts {
                uid,
                access,
                redactor,
            },
        }
    }

    /// Returns the state directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether anything may be written.
    pub fn access(&self) -> Access {
        self.parts.access
    }

    fn incidents_directory(&self) -> PathBuf {
        self.root.join("incidents")
    }

    /// Opens a new incident: its directory with the first entry of its journal, on disk.
    pub fn create(
        &self,
        opening: &Opening,
        operator: &Operator,
        at: UnixMillis,
    ) -> Result<Incident, StoreError> {
        let incidents = self.incidents_directory();
        self.parts.demand_writable("create an incident in", &incidents)?;
        files::private_directory(&self.root, self.parts.uid)?;
        files::private_directory(&incidents, self.parts.uid)?;
        let title = self.parts.redactor.line(&opening.title);
        let name = format!("{}-{}-{}", stamp(at), slug(&opening.host), slug(&title));
        let directory = fresh(&incidents, &name)?;
        for inner in [SNAPSHOTS, "attachments"] {
            let path = directory.join(inner);
            files::new_directory(&path).map_err(StoreError::io("create", &path))?;
        }
        let entry = Entry::Opened {
            format: FORMAT.to_owned(),
            incident: files::random_id()?,
            title,
            host: opening.host.clone(),
            boot_id: opening.boot_id.clone(),
            program: opening.program.clone(),
        };
        let addition = append::Addition {
            at,
            operator,
            entry: &entry,
        };
        append::begin(&directory.join(JOURNAL), &addition)?;
        files::sync_directory(&directory)?;
        files::sync_directory(&incidents)?;
        files::sync_directory(&self.root)?;
        Ok(Incident::at(directory, self.parts.clone()))
    }

    /// Returns all incidents, the newest first; one that cannot be read says why.
    pub fn incidents(&self) -> Result<Vec<Summary>, StoreError> {
        let incidents = self.incidents_directory();
        let entries = match fs::read_dir(&incidents) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &incidents)(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io("list", &incidents))?.path();
            if path.is_dir() {
                found.push(Summary::read(path));
            }
        }
        // Names begin with the time of opening.
        found.sort_by(|a, b| b.path.cmp(&a.path));
        Ok(found)
    }

    /// Returns the incident that is meant: by its id or the beginning of it, by the name of its directory, by its
    /// title or the beginning of it, or by a path; without a word the newest open one of this operator.
    pub fn find(&self, wanted: Option<&str>, operator: &Operator) -> Result<Incident, StoreError> {
        let Some(wanted) = wanted else {
            return self.newest_open(operator);
        };
        let path = Path::new(wanted);
        if path.components().count() > 1 && path.join(JOURNAL).is_file() {
            return Ok(Incident::at(path.to_path_buf(), self.parts.clone()));
        }
        let all = self.incidents()?;
        let matching = meant(&all, wanted);
        match matching[..] {
            [one] => Ok(Incident::at(one.path.clone(), self.parts.clone())),
            [] => Err(self.no_incident(Safe::from_text(wanted).as_str(), LIST.to_owned())),
            [..] => Err(self.no_incident(
                &format!("{} alone", Safe::from_text(wanted)),
                format!(
                    "{} are called so, or begin like that; name one by its id: {}",
                    matching.len(),
                    candidates(&matching)
                ),
            )),
        }
    }

    fn newest_open(&self, operator: &Operator) -> Result<Incident, StoreError> {
        let all = self.incidents()?;
        if let Some(open) = all.iter().find(|summary| summary.is_open_of(operator)) {
            return Ok(Incident::at(open.path.clone(), self.parts.clone()));
        }
        let closed = all
            .iter()
            .filter_map(|summary| summary.opened.as_ref().ok())
            .find(|opened| opened.closed);
        let hint = closed.map_or_else(
            || LIST.to_owned(),
            |closed| {
                // A title that others have too, or that begins another one's, names nothing.
                let by_title = meant(&all, &closed.title).len() == 1;
                let name = if by_title { &closed.title } else { &closed.incident };
                format!(
                    "the newest closed one is {}, opened {}: name it with `{}`",
                    Safe::from_text(&closed.title),
                    closed.at.rfc3339(),
                    shell::line(&["--incident", name], usize::MAX)
                )
            },
        );
        Err(self.no_incident("that is open and of this operator", hint))
    }

    fn no_incident(&self, wanted: &str, hint: String) -> StoreError {
        StoreError::NoIncident {
            wanted: wanted.to_owned(),
            path: self.incidents_directory(),
            hint,
        }
    }

    /// Saves a snapshot that belongs to no incident yet.
    pub fn save_loose(&self, snapshot: &Snapshot) -> Result<Kept, StoreError> {
        let directory = self.root.join(SNAPSHOTS);
        self.parts.demand_writable("save a snapshot in", &directory)?;
        files::private_directory(&self.root, self.parts.uid)?;
        files::private_directory(&directory, self.parts.uid)?;
        snapshot.save(&directory)
    }
}

impl Store {
    /// Returns the snapshots that a new incident of this operator takes in, oldest first: those that the
    /// same person saved on this boot since they last opened or closed an incident, and that no incident
    /// has. While another of theirs is open none is: it may belong there.
    pub fn loose(&self, boot_id: &str, operator: &Operator) -> Result<Vec<PathBuf>, StoreError> {
        let incidents = self.incidents()?;
        let own = || incidents.iter().filter_map(|one| one.of(operator));
        if own().any(|opened| !opened.closed) {
            return Ok(Vec::new());
        }
        let since = own().map(|opened| opened.at.max(opened.last_at)).max();
        let belongs = |path: &PathBuf| {
            Snapshot::load(path).is_ok_and(|snapshot| {
                let sample = &snapshot.world().sample;
                sample.host.boot_id == boot_id
                    && Operator::from(&sample.observer).person() == operator.person()
                    && since.is_none_or(|since| snapshot.saved_at() > since)
            })
        };
        let mut loose = self.beside()?;
        loose.retain(|path| !is_taken(&incidents, path) && belongs(path));
        loose.sort();
        Ok(loose)
    }

    /// Returns those of these files that are there and that no incident has.
    pub fn untaken(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, StoreError> {
        let incidents = self.incidents()?;
        let untaken = paths
            .iter()
            .filter(|path| path.exists() && !is_taken(&incidents, path));
        Ok(untaken.cloned().collect())
    }

    /// The snapshots beside the incidents; an unfinished one is none.
    fn beside(&self) -> Result<Vec<PathBuf>, StoreError> {
        let directory = self.root.join(SNAPSHOTS);
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &directory)(error)),
        };
        let mut beside = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io("list", &directory))?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                beside.push(path);
            }
        }
        Ok(beside)
    }
}

/// What is said where nothing better is known.
const LIST: &str = "`mcpwake incident list` names those that are there";

/// So many candidates are named; the rest is counted.
const NAMED: usize = 8;

/// Returns the incidents that a word means: the first way of naming that any of them answers to.
fn meant<'a>(all: &'a [Summary], wanted: &str) -> Vec<&'a Summary> {
    type Way = fn(&Summary, &Opened, &str) -> bool;
    const WAYS: [Way; 3] = [
        |summary, opened, wanted| {
            opened.incident == wanted || summary.path.file_name().is_some_and(|name| name == wanted)
        },
        |_, opened, wanted| opened.title == wanted,
        |_, opened, wanted| opened.incident.starts_with(wanted) || opened.title.starts_with(wanted),
    ];
    if wanted.is_empty() {
        return Vec::new();
    }
    let by = |way: &Way| -> Vec<&'a Summary> {
        let is = |summary: &&Summary| {
            let opened = summary.opened.as_ref();
            opened.is_ok_and(|opened| way(summary, opened, wanted))
        };
        all.iter().filter(is).collect()
    };
    WAYS.iter()
        .map(by)
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Names incidents by id, title and time of opening, the newest first.
fn candidates(matching: &[&Summary]) -> String {
    let opened = matching.iter().filter_map(|summary| summary.opened.as_ref().ok());
    let named: Vec<String> = opened
        .take(NAMED)
        .map(|opened| {
            format!(
                "{} ({}, opened {}, {})",
                Safe::from_text(&opened.incident),
                Safe::from_text(&opened.title),
                opened.at.rfc3339(),
                if opened.closed { "closed" } else { "open" }
            )
        })
        .collect();
    match matching.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more: {LIST}", named.join(", ")),
    }
}

/// Returns whether one of these incidents has a snapshot. A file's name holds its digest: the same name is
/// the same file.
fn is_taken(incidents: &[Summary], path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let mut incidents = incidents.iter();
    incidents.any(|incident| incident.path.join(SNAPSHOTS).join(name).exists())
}

/// Makes a directory with this name, or with a number behind it where another one has it.
fn fresh(parent: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let mut number = 1;
    loop {
        let path = match number {
            1 => parent.join(name),
            _ => parent.join(format!("{name}-{number}")),
        };
        match files::new_directory(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(error) => return Err(StoreError::io("create", &path)(error)),
        }
    }
}

/// Returns a time for a file name: `20261201T010802.123Z`, which sorts as the times do.
pub(super) fn stamp(at: UnixMillis) -> String {
    at.rfc3339().replace(['-', ':'], "")
}

/// Returns text for a file name: letters, digits and single hyphens.
fn slug(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut slug = String::new();
    for character in text.chars() {
        if slug.len() >= LONGEST {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "untitled" } else { slug }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_follows_the_user() {
        let directory = |uid, state: Option<&str>, home: Option<&str>| {
            state_directory(uid, state.map(OsString::from), home.map(OsString::from))
                .map(|path| path.display().to_string())
                .ok()
        };
        let home = Some("/home/deploy");
        let user = Some("/home/deploy/.local/state/mcpwake".to_owned());
        assert_eq!(directory(1000, None, home), user);
        assert_eq!(directory(1000, Some(""), home), user);
        assert_eq!(directory(1000, Some("relative"), home), user);
        assert_eq!(directory(1000, Some("/s"), home), Some("/s/mcpwake".to_owned()));
        assert_eq!(directory(0, None, home), Some(ROOT_STATE.to_owned()));
        assert_eq!(directory(0, Some("/s"), home), Some("/s/mcpwake".to_owned()));
        assert_eq!(directory(1000, None, None), None);
    }

    #[test]
    fn a_slug_is_a_file_name_whatever_the_title_is() {
        let cases = [
            ("OPS-1412", "ops-1412"),
            ("../../etc/passwd", "etc-passwd"),
            ("  \u{1f41d} leftover: git!! ", "leftover-git"),
            ("", "untitled"),
            ("...", "untitled"),
        ];
        for (title, expected) in cases {
            assert_eq!(slug(title), expected);
        }
        assert!(slug(&"x".repeat(500)).len() <= 40);
    }

    #[test]
    fn stamps_sort_as_times_do() {
        assert_eq!(stamp(UnixMillis(1_796_087_282_123)), "20261201T010802.123Z");
    }
}
