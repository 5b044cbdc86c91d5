//! Reads clients' configuration files, on a thread of its own; never waits for a file that hangs.

mod budget;
mod file;
mod glob;
mod hands;
mod keep;
mod places;
mod plan;
mod thread;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::catalog::Catalog;
use crate::model::bytes::OsBytes;
use crate::model::host::Os;
use crate::model::known::Configured;
use crate::model::process::Argv;
use crate::model::reading::Absence;
use crate::model::sample::Problem;

use file::Trouble;
use hands::Hands;
use keep::Kept;

pub use thread::IntakeThread;

/// Time that one operation on one path may take.
const DEADLINE: Duration = Duration::from_millis(500);

/// Whose configuration is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Users with candidates: user id and home directory. No other home is looked into.
    pub homes: BTreeSet<(u32, OsBytes)>,
    /// Working directories of candidates.
    pub projects: BTreeSet<OsBytes>,
    /// Running clients, whose command lines may name servers: id in the catalogue, argument
    /// vector, working directory, home directory.
    pub clients: Vec<(String, Argv, OsBytes, OsBytes)>,
}

impl Wanted {
    /// Returns whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.homes.is_empty() && self.projects.is_empty() && self.clients.is_empty()
    }
}

/// Reads configuration files; keeps what it read while a file's metadata stay the same.
#[derive(Debug)]
pub struct Intake {
    catalog: Arc<Catalog>,
    os: Os,
    hands: Hands,
    kept: Kept,
    latest: Arc<Configured>,
}

impl Intake {
    /// Returns an intake that has read nothing yet.
    pub fn new(catalog: Arc<Catalog>, os: Os) -> Self {
        Self {
            catalog,
            os,
            hands: Hands::new(DEADLINE),
            kept: Kept::default(),
            latest: Arc::default(),
        }
    }

    /// Reads what is wanted, as far as it changed. Returns the same `Arc` while the result is the
    /// same.
    ///
    /// A file, directory or home that could not be read is a problem in the result; a file of the
    /// catalogue that does not exist is none.
    pub fn read(&mut self, wanted: &Wanted) -> Arc<Configured> {
        let mut problems = Problems::default();
        let plan = plan::Plan::new(&self.catalog, self.os, wanted, &mut self.hands, &mut problems);
        self.kept
            .refresh(&plan, &self.catalog, self.os, &mut self.hands, &mut problems);
        let mut configured = self.kept.configured(&plan);
        configured.problems = problems.into_rows();
        if configured != *self.latest {
            self.latest = Arc::new(configured);
        }
        Arc::clone(&self.latest)
    }
}

/// What went wrong in one pass, each thing once.
#[derive(Debug, Default)]
struct Problems {
    rows: Vec<Problem>,
    not_tried: usize,
}

impl Problems {
    fn add(&mut self, what: &OsBytes, trouble: Trouble) {
        let row = Problem {
            pid: None,
            what: what.lossy().into_owned(),
            kind: trouble.kind,
            detail: trouble.detail,
        };
        if !self.rows.contains(&row) {
            self.rows.push(row);
        }
    }

    /// Adds an operation without an answer, and what follows from that.
    fn add_late(&mut self, what: &OsBytes, late: &hands::Late, follows: &str) {
        if *late == hands::Late::TooMany {
            self.not_tried += 1;
            return;
        }
        self.add(
            what,
            Trouble::failed(format!("{}; {follows}", late.sentence(DEADLINE))),
        );
    }

    fn into_rows(mut self) -> Vec<Problem> {
        if self.not_tried > 0 {
            self.rows.push(Problem {
                pid: None,
                what: "configuration files".to_owned(),
                kind: Absence::Failed,
                detail: format!(
                    "{} paths: {}",
                    self.not_tried,
                    hands::Late::TooMany.sentence(DEADLINE)
                ),
            });
        }
        self.rows
    }
}

#[cfg(test)]
mod tests;
