//! What the desk does for an order: snapshots and journal, through the store.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::act::{Hand, Signalled, Wait, returned};
use crate::app::freeze::SavedFile;
use crate::app::{Attach, Copy, Followed, Material, Offer, Opened, Order, Outcome, Signalling};
use crate::journal::entry::{AttachedFrom, SnapshotReason};
use crate::journal::returned::Place;
use crate::journal::{Digest, Entry, Line, Operator, Story};
use crate::model::host::Observer;
use crate::model::world::World;
use crate::platform::{Signaller, wall_clock};
use crate::store::files::Kept;
use crate::store::place::state_directory;
use crate::store::{Access, Attachment, Incident, Opening, Receipt, Snapshot, Store, StoreError, Tail};
use crate::text::redact::Redactor;

use crate::runtime::clipboard::{Clipboard, Surroundings};
use crate::runtime::collector::Knowledge;

const NOT_OPEN: &str = "no incident is open";

/// What the desk works with.
pub(in crate::runtime) struct Work {
    access: Access,
    redactor: Arc<Redactor>,
    knowledge: Knowledge,
    /// Which rules judge, for snapshots.
    rules: String,
    state_home: Option<OsString>,
    home: Option<OsString>,
    open: Option<Open>,
    /// Snapshots that this screen saved while no incident was open on it, and that no incident has yet.
    beside: Vec<PathBuf>,
    clipboard: Clipboard,
    signaller: Box<dyn Signaller>,
}

/// What an order leaves to be done.
pub(super) enum After {
    /// Nothing.
    Nothing,
    /// These bytes have to reach the terminal, where that is a way to a clipboard.
    Terminal(Vec<u8>),
    /// The end of a process is waited for, and then told.
    Wait(Wait),
}

/// The incident that is open.
pub(super) struct Open {
    incident: Incident,
    operator: Operator,
    /// How far the screen knows the journal.
    tail: Tail,
    /// Whether the journal did not simply go on, which nobody has looked at yet.
    doubtful: bool,
    /// Boot of the machine that is looked at.
    boot_id: String,
    /// What happened and could not be written: it goes before the next entry.
    owed: Vec<Entry>,
}

impl Work {
    /// Returns a desk that has done nothing yet; finds the state directory by this process's
    /// environment.
    pub(in crate::runtime) fn new(
        access: Access,
        redactor: Arc<Redactor>,
        knowledge: Knowledge,
        rules: String,
        signaller: Box<dyn Signaller>,
    ) -> Self {
        Self {
            access,
            redactor,
            knowledge,
            rules,
            state_home: std::env::var_os("XDG_STATE_HOME"),
            home: std::env::var_os("HOME"),
            open: None,
            beside: Vec::new(),
            clipboard: Clipboard::new(Surroundings::of_this_process()),
            signaller,
        }
    }

    /// Returns whether anything may be written or run.
    pub(super) fn access(&self) -> Access {
        self.access
    }

    /// Carries out one order; answers with what became of it, and what it leaves to be done.
    pub(super) fn carry_out(&mut self, order: Order) -> (Outcome, After) {
        let outcome = match order {
            Order::Copy(copy) => {
                let (said, terminal) = self.copy(&copy);
                return (
                    Outcome::Copied(said),
                    terminal.map_or(After::Nothing, After::Terminal),
                );
            }
            Order::Save { world, why } => Outcome::Saved(said(self.save(&world, why))),
            Order::Open { title, offered, on } => match title {
                Some(title) => self.open_beside(&title, offered.as_deref(), &on),
                None => Outcome::Opened(said(self.join(offered.as_deref(), &on))),
            },
            Order::FindOpen(on) => Outcome::Found(self.newest_open(&on)),
            Order::Follow => Outcome::Followed(match &mut self.open {
                Some(open) => said(open.follow()),
                None => Ok(Followed::default()),
            }),
            Order::Leave(on) => {
                self.open = None;
                Outcome::Found(self.newest_open(&on))
            }
            Order::Append(entry) => match Place::of(&entry) {
                Some(place) => self.came_back(place, *entry),
                None => Outcome::Written(self.append(*entry)),
            },
            // The desk gives it to another thread before it comes here.
            Order::Run(_) => Outcome::Ran(Err("the desk itself runs nothing".to_owned())),
            Order::Attach(attach) => match &mut self.open {
                Some(open) => open.attach(*attach),
                None => Outcome::Written(Err(NOT_OPEN.to_owned())),
            },
            Order::Look(targets) => {
                Outcome::Looked(targets.iter().map(|target| self.signaller.look(target)).collect())
            }
            Order::Signal(order) => {
                let (outcome, wait) = self.signal(&order);
                return (
                    Outcome::Signalled(outcome),
                    wait.map_or(After::Nothing, After::Wait),
                );
            }
        };
        (outcome, After::Nothing)
    }

    /// Appends an entry; one that closes the incident is its last.
    fn append(&mut self, entry: Entry) -> Result<Vec<Line>, String> {
        let Some(open) = &mut self.open else {
            return Err(NOT_OPEN.to_owned());
        };
        let closes = matches!(entry, Entry::Closed { .. });
        let lines = said(open.append(entry))?;
        if closes {
            self.open = None;
        }
        Ok(lines)
    }

    fn came_back(&mut self, place: Place, entry: Entry) -> Outcome {
        match &mut self.open {
            Some(open) => returned::journal(open, place, entry),
            None => Outcome::Refused(NOT_OPEN.to_owned()),
        }
    }

    /// Returns the newest open incident of this operator.
    fn newest_open(&self, on: &World) -> Option<Offer> {
        let operator = Operator::from(&on.sample.observer);
        let summaries = self
            .store(&on.sample.observer)
            .and_then(|store| store.incidents());
        // One that cannot be listed is said when one is opened.
        let newest = summaries
            .ok()?
            .into_iter()
            .find(|one| one.is_open_of(&operator))?;
        let opened = newest.opened.ok()?;
        Some(Offer {
            title: opened.title,
            at: opened.at,
            path: newest.path.display().to_string(),
        })
    }

    /// Opens an incident, unless one of this operator is open that was not offered: two screens would write
    /// two records of one thing.
    fn open_beside(&mut self, title: &str, offered: Option<&str>, on: &World) -> Outcome {
        match self.newest_open(on) {
            Some(open) if offered != Some(&open.path) => Outcome::Elsewhere(open),
            _ => Outcome::Opened(said(self.open(title, on))),
        }
    }

    fn signal(&mut self, order: &Signalling) -> Signalled {
        let Some(journal) = &mut self.open else {
            return (Err(format!("nothing was sent: {NOT_OPEN}")), None);
        };
        let signaller = self.signaller.as_mut();
        Hand {
            signaller,
            journal,
            order,
        }
        .signal()
    }

    fn copy(&mut self, copy: &Copy) -> (String, Option<Vec<u8>>) {
        if copy.on.sample.observer.ssh_from.is_some() {
            self.clipboard.over_ssh();
        }
        let placed = self.clipboard.place(&copy.text);
        let file = match &self.open {
            Some(open) => match open.incident.copy(&copy.text, copy.ending, wall_clock()) {
                Ok(path) => {
                    let name = path.file_name().unwrap_or_default();
                    format!("; file copies/{}", name.to_string_lossy())
                }
                Err(error) => format!("; NO FILE: {error}"),
            },
            None => String::new(),
        };
        (format!("{}: {}{file}", copy.what, placed.said), placed.terminal)
    }

    fn store(&self, observer: &Observer) -> Result<Store, StoreError> {
        let root = state_directory(observer.uid, self.state_home.clone(), self.home.clone())?;
        Ok(Store::new(
            root,
            observer.uid,
            self.access,
            Arc::clone(&self.redactor),
        ))
    }

    fn save(&mut self, world: &World, why: SnapshotReason) -> Result<(SavedFile, Vec<Line>), StoreError> {
        let configured = self.knowledge.known().configured;
        let snapshot = Snapshot::new(
            world,
            &configured.servers,
            &self.rules,
            wall_clock(),
            &self.redactor,
        );
        let file = |kept: Kept| SavedFile {
            path: kept.path.display().to_string(),
            sha256: kept.sha256,
        };
        if let Some(open) = &mut self.open {
            let (kept, _) = open.incident.save(&snapshot, why, &open.operator)?;
            return Ok((file(kept), open.new_lines()?));
        }
        let kept = self.store(&world.sample.observer)?.save_loose(&snapshot)?;
        self.beside.push(kept.path.clone());
        Ok((file(kept), Vec::new()))
    }

    /// Opens an incident and copies in what was saved for it before: by this screen, and by others of the
    /// same operator since their last incident.
    fn open(&mut self, title: &str, on: &World) -> Result<Opened, StoreError> {
        let observer = &on.sample.observer;
        let operator = Operator::from(observer);
        let opening = Opening::on(&on.sample.host, title);
        let store = self.store(observer)?;
        let loose = store.loose(&on.sample.host.boot_id, &operator);
        let incident = store.create(&opening, &operator, wall_clock())?;
        self.take(incident, operator, on, loose)
    }

    /// Goes on with an incident of this operator that is open; what this screen saved before is copied in.
    fn join(&mut self, offered: Option<&str>, on: &World) -> Result<Opened, StoreError> {
        let observer = &on.sample.observer;
        let operator = Operator::from(observer);
        let store = self.store(observer)?;
        // What was offered is meant, whatever was opened elsewhere since; unless it was closed.
        let offered = offered.and_then(|path| {
            let mut summaries = store.incidents().ok()?.into_iter();
            summaries.find(|one| one.path == Path::new(path) && one.is_open_of(&operator))
        });
        let offered = offered.map(|one| one.path.display().to_string());
        let incident = store.find(offered.as_deref(), &operator)?;
        self.take(incident, operator, on, Ok(Vec::new()))
    }

    /// Copies the snapshots of this screen, and these, into an incident; their bytes, and with them their
    /// digests, stay the same.
    fn copy_in(
        &mut self,
        incident: &Incident,
        operator: &Operator,
        on: &World,
        others: Result<Vec<PathBuf>, StoreError>,
    ) -> (Vec<Digest>, Option<StoreError>) {
        let mut copied = Vec::new();
        let all = others.and_then(|mut paths| {
            paths.extend(self.store(&on.sample.observer)?.untaken(&self.beside)?);
            Ok(paths)
        });
        let mut paths = match all {
            Ok(paths) => paths,
            Err(error) => return (copied, Some(error)),
        };
        // Names begin with the time.
        paths.sort();
        paths.dedup();
        for path in paths {
            match incident.copy_in(&path, operator, wall_clock()) {
                Ok((kept, _)) => copied.push(kept.sha256),
                Err(error) => return (copied, Some(error)),
            }
        }
        self.beside.clear();
        (copied, None)
    }

    /// Takes an incident as the open one, with these snapshots and those of this screen.
    fn take(
        &mut self,
        incident: Incident,
        operator: Operator,
        on: &World,
        loose: Result<Vec<PathBuf>, StoreError>,
    ) -> Result<Opened, StoreError> {
        let (copied, problem) = self.copy_in(&incident, &operator, on, loose);
        let mut open = Open {
            incident,
            operator,
            tail: Tail::default(),
            doubtful: false,
            boot_id: on.sample.host.boot_id.clone(),
            owed: Vec::new(),
        };
        let lines = open.new_lines()?;
        open.doubtful = false;
        let title = lines.iter().find_map(|line| match &line.entry {
            Ok(Entry::Opened { title, .. }) => Some(title.clone()),
            _ => None,
        });
        let mut story = Story::default();
        for line in &lines {
            story.add(line);
        }
        let (evidence, _) = open.incident.evidence(&story);
        let opened = Opened {
            evidence: evidence.into_iter().map(|one| one.world).collect(),
            title: title.unwrap_or_default(),
            path: open.incident.path().display().to_string(),
            shown: open.incident.shows(&lines, &on.sample.host.boot_id),
            lines,
            copied,
            problem: problem.map(|error| error.to_string()),
            faults: open.incident.problems()?,
        };
        self.open = Some(open);
        Ok(opened)
    }
}

impl Open {
    fn append(&mut self, entry: Entry) -> Result<Vec<Line>, StoreError> {
        self.write(entry)?;
        self.new_lines()
    }

    /// Appends an entry, behind those that are owed.
    pub(super) fn write(&mut self, entry: Entry) -> Result<Receipt, StoreError> {
        self.pay()?;
        self.incident.append(entry, &self.operator, wall_clock())
    }

    /// Appends an entry, behind those that are owed, where the lines of the journal say that it has its
    /// place there.
    pub(super) fn write_where(
        &mut self,
        entry: Entry,
        place: &mut dyn FnMut(&Line) -> ControlFlow<bool>,
    ) -> Result<Option<Receipt>, StoreError> {
        self.pay()?;
        self.incident
            .append_where(entry, &self.operator, wall_clock(), place)
    }

    fn pay(&mut self) -> Result<(), StoreError> {
        while let Some(owed) = self.owed.first() {
            self.incident.append(owed.clone(), &self.operator, wall_clock())?;
            self.owed.remove(0);
        }
        Ok(())
    }

    /// Keeps what happened and could not be written, for the next time.
    pub(super) fn owe(&mut self, entry: Entry) {
        self.owed.push(entry);
    }

    /// Attaches output; a file that cannot be read is not waited for.
    fn attach(&mut self, attach: Attach) -> Outcome {
        let Attach {
            material,
            label,
            on,
            lead,
        } = attach;
        let (mut bytes, from): (Box<dyn Read>, AttachedFrom) = match material {
            Material::Pasted(text) => (Box::new(Cursor::new(text)), AttachedFrom::Pasted),
            Material::File(path) => match regular(&path) {
                Ok(file) => (Box::new(file), AttachedFrom::File { path }),
                Err(why) => return Outcome::Refused(why),
            },
            Material::Output { bytes, from } => (Box::new(Cursor::new(bytes)), from),
        };
        let attachment = Attachment {
            label,
            on,
            lead,
            from,
        };
        let attached = self
            .incident
            .attach(&mut bytes, attachment, &self.operator, wall_clock());
        Outcome::Written(said(attached.and_then(|_| self.new_lines())))
    }

    /// Reads what was added since, by anybody.
    pub(super) fn new_lines(&mut self) -> Result<Vec<Line>, StoreError> {
        let added = self.tail.read(&self.incident.journal())?;
        self.doubtful |= added.anew || added.turn.is_some();
        Ok(added.lines)
    }

    /// Reads what others have added. All of it is checked only where the journal did not simply go on.
    fn follow(&mut self) -> Result<Followed, StoreError> {
        let lines = self.new_lines().inspect_err(|_| self.doubtful = true)?;
        let faults = self.doubtful.then(|| self.incident.problems()).transpose()?;
        self.doubtful = false;
        Ok(Followed {
            shown: self.incident.shows(&lines, &self.boot_id),
            lines,
            faults,
        })
    }
}

/// Opens a file to attach: a pipe or a device would never end.
fn regular(path: &str) -> Result<File, String> {
    let named = |error: io::Error| format!("open {path}: {error}");
    if !fs::metadata(path).map_err(named)?.is_file() {
        return Err(format!("open {path}: it is no regular file"));
    }
    File::open(path).map_err(named)
}

fn said<T>(result: Result<T, StoreError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

#[cfg(test)]
pub(super) mod tests;
