//! What was read of each file, kept while the file stays the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Problems;
use super::budget::Group;
use super::file::{Load, Stamp, Trouble};
use super::hands::{Hands, Late};
use super::plan::{Plan, Target, Use, bytes_of};
use crate::catalog::{Catalog, CatalogError};
use crate::model::bytes::OsBytes;
use crate::model::host::Os;
use crate::model::known::{Configured, ConfiguredServer};

/// Files whose bytes are held at the same time.
const LOADED_AT_ONCE: usize = 8;
/// Bytes that one pass reads at most; what is left is read in the next pass.
const PASS_BYTES: usize = 128 * 1024 * 1024;
/// Files of one client in one home whose trouble is told one by one; the rest is counted.
const NAMED_TROUBLES: usize = 20;
/// Time stamps of files are this coarse: within it, a second write may leave them as they were.
const STAMP_GRAIN: Duration = Duration::from_millis(100);

/// All files that were read.
#[derive(Debug, Default)]
pub(super) struct Kept {
    files: BTreeMap<PathBuf, File>,
}

/// What is known of one file.
#[derive(Debug, Default)]
struct File {
    /// The reading that `entries` come from; `None` before the first and after a failure.
    reading: Option<Reading>,
    entries: BTreeMap<Use, Entries>,
    /// Why the file could not be read when it was tried last.
    trouble: Option<Trouble>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    stamp: Stamp,
    at: Instant,
    /// Whether it was read again after `STAMP_GRAIN`, with the same stamp.
    confirmed: bool,
}

/// The entries of one file, read in one way.
#[derive(Debug, Default)]
struct Entries {
    /// Those of the last good reading.
    servers: Vec<ConfiguredServer>,
    /// What was wrong with the last reading.
    wrong: Option<String>,
}

impl File {
    fn needs_reading(&self, stamp: Stamp, target: &Target) -> bool {
        let Some(reading) = self.reading.filter(|reading| reading.stamp == stamp) else {
            return true;
        };
        let unconfirmed = !reading.confirmed && reading.at.elapsed() >= STAMP_GRAIN;
        unconfirmed
            || target
                .uses
                .iter()
                .any(|wanted| !self.entries.contains_key(wanted))
    }

    fn understand(&mut self, path: &Path, stamp: Stamp, bytes: &[u8], target: &Target, catalog: &Catalog) {
        let now = Instant::now();
        let confirmed = self.reading.is_some_and(|last| {
            last.stamp == stamp && (last.confirmed || now.duration_since(last.at) >= STAMP_GRAIN)
        });
        self.reading = Some(Reading {
            stamp,
            at: now,
            confirmed,
        });
        self.trouble = None;
        self.entries.retain(|known, _| target.uses.contains(known));
        let path = bytes_of(path);
        for wanted in &target.uses {
            let parsed =
                catalog.parse_config(wanted.index, &path, &wanted.home, wanted.project.as_ref(), bytes);
            let entries = self.entries.entry(wanted.clone()).or_default();
            entries.wrong = parsed
                .map(|servers| entries.servers = servers)
                .err()
                .map(|error| sentence(&error));
        }
    }

    /// Says what became of the entries of a file that could not be read or understood.
    fn consequence(&self) -> String {
        match self
            .entries
            .values()
            .map(|entries| entries.servers.len())
            .sum::<usize>()
        {
            0 => "what it configures is not known".to_owned(),
            1 => "the entry that was read from it before is still compared with".to_owned(),
            count => format!("the {count} entries that were read from it before are still compared with"),
        }
    }

    fn is_troubled(&self) -> bool {
        self.trouble.is_some() || self.entries.values().any(|entries| entries.wrong.is_some())
    }

    fn report(&self, path: &OsBytes, problems: &mut Problems) {
        let broken = self
            .entries
            .values()
            .filter_map(|entries| entries.wrong.clone())
            .map(Trouble::failed);
        for mut trouble in self.trouble.clone().into_iter().chain(broken) {
            trouble.detail = format!("{}; {}", trouble.detail, self.consequence());
            problems.add(path, trouble);
        }
    }
}

fn sentence(error: &CatalogError) -> String {
    let key = if error.key == "(file)" {
        String::new()
    } else {
        format!("{}: ", error.key)
    };
    match error.line {
        0 => format!("{key}{}", error.what),
        line => format!("line {line}: {key}{}", error.what),
    }
}

impl Kept {
    /// Reads the files of the plan that changed; forgets those that are not in it.
    pub(super) fn refresh(
        &mut self,
        plan: &Plan,
        catalog: &Catalog,
        os: Os,
        hands: &mut Hands,
        problems: &mut Problems,
    ) {
        self.files.retain(|path, _| plan.files.contains_key(path));
        let changed = self.changed(plan);
        let mut read = 0;
        for (pass, paths) in changed.chunks(LOADED_AT_ONCE).enumerate() {
            if read > PASS_BYTES {
                let left = changed.len() - pass * LOADED_AT_ONCE;
                let detail = format!(
                    "{left} are not read yet, because the others are so large: the next look goes on"
                );
                problems.add(&"configuration files".into(), Trouble::failed(detail));
                break;
            }
            let loads: Arc<[Load]> = paths
                .iter()
                .map(|path| Load {
                    path: path.clone(),
                    os,
                })
                .collect();
            for (load, answer) in loads.iter().zip(hands.run(&loads)) {
                let Some(target) = plan.files.get(&load.path) else {
                    continue;
                };
                read += self.take(&load.path, answer, target, catalog, problems);
            }
        }
        self.report(plan, problems);
    }

    /// Tells what was wrong with files; of a client with many such files, some and how many more.
    fn report(&self, plan: &Plan, problems: &mut Problems) {
        let mut told: BTreeMap<&Group, usize> = BTreeMap::new();
        for (path, file) in self.files.iter().filter(|(_, file)| file.is_troubled()) {
            let Some(target) = plan.files.get(path) else {
                continue;
            };
            let told = told.entry(&target.group).or_default();
            *told += 1;
            if *told <= NAMED_TROUBLES {
                file.report(&bytes_of(path), problems);
            }
        }
        for (group, count) in told {
            if count > NAMED_TROUBLES {
                let detail = format!(
                    "{} more of them could not be read: what they configure is not known",
                    count - NAMED_TROUBLES
                );
                problems.add(&group.to_string().into_bytes().into(), Trouble::failed(detail));
            }
        }
    }

    /// Notes what was seen of each file; returns those to be read.
    fn changed(&mut self, plan: &Plan) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, target) in &plan.files {
            let file = self.files.entry(path.clone()).or_default();
            match &target.seen {
                Ok(stamp) if file.needs_reading(*stamp, target) => changed.push(path.clone()),
                Ok(_) => {}
                Err(trouble) => {
                    file.reading = None;
                    file.trouble = Some(trouble.clone());
                }
            }
        }
        changed
    }

    /// Takes what was read of a file; returns the number of bytes.
    fn take(
        &mut self,
        path: &Path,
        answer: Result<Result<(Stamp, Vec<u8>), Trouble>, Late>,
        target: &Target,
        catalog: &Catalog,
        problems: &mut Problems,
    ) -> usize {
        let file = self.files.entry(path.to_owned()).or_default();
        match answer {
            Ok(Ok((stamp, bytes))) => {
                file.understand(path, stamp, &bytes, target, catalog);
                return bytes.len();
            }
            Ok(Err(trouble)) => file.trouble = Some(trouble),
            Err(late) => {
                file.trouble = None;
                problems.add_late(&bytes_of(path), &late, &file.consequence());
            }
        }
        file.reading = None;
        0
    }

    /// Returns all entries, in the order of the catalogue, and the files that were understood.
    pub(super) fn configured(&self, plan: &Plan) -> Configured {
        let mut servers: Vec<(&Use, &Path, &[ConfiguredServer])> = Vec::new();
        let mut files = Vec::new();
        for (path, file) in &self.files {
            if file.reading.is_some() && file.entries.values().all(|entries| entries.wrong.is_none()) {
                files.push(bytes_of(path));
            }
            servers.extend(
                file.entries
                    .iter()
                    .map(|(known, entries)| (known, path.as_path(), &entries.servers[..])),
            );
        }
        servers.sort_by_key(|(known, path, _)| (known.index, *path, *known));
        let servers = servers
            .into_iter()
            .flat_map(|(_, _, servers)| servers.iter().cloned());
        Configured {
            servers: servers.chain(plan.inline.iter().cloned()).collect(),
            files,
            problems: Vec::new(),
        }
    }
}
