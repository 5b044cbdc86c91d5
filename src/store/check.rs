//! The offline check of an incident: the chain of its journal, then every file that it names. Needs no
//! privilege, writes nothing, runs on any machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::incident::JOURNAL;
use crate::journal::entry::FileRef;
use crate::journal::line::Line;
use crate::journal::{Digest, Digester, Entry, Head, Verified, verify};

const FOLDERS: [&str; 2] = ["snapshots", "attachments"];

/// What the check of an incident showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The journal.
    pub journal: PathBuf,
    /// What following its chain showed.
    pub verified: Verified,
    /// Files that are not as an entry says, in the order of the entries.
    pub faults: Vec<FileFault>,
    /// Number of files that are as an entry says.
    pub sound_files: u64,
    /// Files that no entry names: a writer was ended between file and entry, or somebody put them
    /// there.
    pub unnamed: Vec<String>,
    /// The head that was expected.
    pub expected: Option<Head>,
}

/// What it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is as it was written.
    Sound,
    /// As far as entries are complete; something unfinished or unnamed lies beside them.
    Warning,
    /// Something was changed, or the expected end is not there whole.
    Failed,
}

/// A file that is not as an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// Line of the entry in the journal, from 1.
    pub line: u64,
    /// Path as the entry has it.
    pub path: String,
    /// In which way.
    pub kind: FileFaultKind,
}

/// In which way a file is not as an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFaultKind {
    /// It is not there.
    Missing,
    /// Its bytes are others.
    Changed {
        /// Their digest.
        found: Digest,
    },
    /// It is no regular file, or its path leads out of the incident.
    NoFile,
    /// It could not be read.
    Unreadable(String),
}

impl FileFaultKind {
    /// Returns what is wrong, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Missing => "missing".to_owned(),
            Self::Changed { found } => format!("changed: its sha256 is {found} now"),
            Self::NoFile => "is no regular file of this incident".to_owned(),
            Self::Unreadable(why) => format!("could not be read: {why}"),
        }
    }
}

impl Checked {
    /// Returns what it comes to. A torn last line is a warning, but not where a head is expected: then
    /// the end is what was asked for.
    pub fn outcome(&self) -> Outcome {
        let torn = self.verified.torn.is_some();
        if self.verified.fault.is_some() || !self.faults.is_empty() || (torn && self.expected.is_some()) {
            Outcome::Failed
        } else if torn || !self.unnamed.is_empty() {
            Outcome::Warning
        } else {
            Outcome::Sound
        }
    }
}

/// Checks an incident directory, or the journal in it.
pub fn check(path: &Path, expected: Option<Head>) -> Result<Checked, StoreError> {
    let journal = if path.is_dir() {
        path.join(JOURNAL)
    } else {
        path.to_path_buf()
    };
    // Opening a FIFO would wait for a writer.
    let metadata = fs::metadata(&journal).map_err(StoreError::io("open", &journal))?;
    if !metadata.is_file() {
        return Err(StoreError::WrongKind {
            path: journal,
            expected: "regular file",
        });
    }
    let file = File::open(&journal).map_err(StoreError::io("open", &journal))?;
    let directory = journal.parent().unwrap_or(Path::new(".")).to_path_buf();
    let mut files = Files::new(&directory);
    let mut pages = BufReader::with_capacity(1 << 16, file);
    let verified = verify(&mut pages, expected, &mut |number, line| files.look(number, line))
        .map_err(StoreError::io("read", &journal))?;
    // Behind a fault nothing is read: what is named there would look unnamed.
    let unnamed = if verified.fault.is_none() {
        files.unnamed()
    } else {
        Vec::new()
    };
    let sound_files = files.sound.len() as u64;
    Ok(Checked {
        journal,
        verified,
        sound_files,
        faults: files.faults,
        unnamed,
        expected,
    })
}

/// Grows with the number of files, not with the journal.
struct Files<'a> {
    directory: &'a Path,
    sound: BTreeMap<String, Digest>,
    named: BTreeSet<String>,
    faults: Vec<FileFault>,
}

impl<'a> Files<'a> {
    fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            sound: BTreeMap::new(),
            named: BTreeSet::new(),
            faults: Vec::new(),
        }
    }

    fn look(&mut self, number: u64, line: &Line) {
        if let Ok(Entry::Snapshot { file, .. } | Entry::Attached { file, .. }) = &line.entry
            && let Err(kind) = self.file(file)
        {
            self.faults.push(FileFault {
                line: number,
                path: file.path.clone(),
                kind,
            });
        }
    }

    fn file(&mut self, file: &FileRef) -> Result<(), FileFaultKind> {
        if !is_inside(&file.path) {
            return Err(FileFaultKind::NoFile);
        }
        self.named.insert(file.path.clone());
        let found = match self.sound.get(&file.path) {
            Some(digest) => *digest,
            None => digest_of(&self.directory.join(&file.path))?,
        };
        if found != file.sha256 {
            return Err(FileFaultKind::Changed { found });
        }
        self.sound.insert(file.path.clone(), found);
        Ok(())
    }

    fn unnamed(&self) -> Vec<String> {
        let mut unnamed = BTreeSet::new();
        for folder in FOLDERS {
            let entries = fs::read_dir(self.directory.join(folder)).into_iter().flatten();
            for entry in entries.flatten() {
                let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
                if !self.named.contains(&path) {
                    unnamed.insert(path);
                }
            }
        }
        unnamed.into_iter().collect()
    }
}

/// A journal may come from anywhere: it must not make its reader open other files.
fn is_inside(path: &str) -> bool {
    path.split_once('/').is_some_and(|(folder, name)| {
        FOLDERS.contains(&folder) && !name.contains(['/', '\0']) && !matches!(name, "" | "." | "..")
    })
}

fn digest_of(path: &Path) -> Result<Digest, FileFaultKind> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FileFaultKind::Missing,
        _ => FileFaultKind::Unreadable(error.to_string()),
    };
    if !fs::symlink_metadata(path).map_err(unreadable)?.is_file() {
        return Err(FileFaultKind::NoFile);
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let mut digester = Digester::default();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(digester.finish()),
            Ok(read) => digester.update(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}
