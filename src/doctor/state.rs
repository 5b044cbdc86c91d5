//! The state directory: where it is, who may use it, what fits, and whether a journal can be kept there.
//!
//! The probe is an incident of its own in a directory of its own, and is removed with everything that was
//! made for it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::journal::{Entry, Operator};
use crate::model::sample::Sample;
use crate::model::time::UnixMillis;
use crate::platform::{limits, wall_clock};
use crate::report::doctor::{Answer, Check};
use crate::store::incident::{Incident, Opening};
use crate::store::place::state_directory;
use crate::store::{Access, Receipt, Store, StoreError};
use crate::text::redact::Redactor;

/// Less than this is little for snapshots.
const LITTLE: u64 = 64 << 20;

/// What is needed to try it.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Whether anything may be written.
    pub(super) access: Access,
    /// The variables that say where it is.
    pub(super) state_home: Option<OsString>,
    /// Home directory.
    pub(super) home: Option<OsString>,
    /// Who runs the program.
    pub(super) uid: u32,
    /// Who runs the program, and where, for the probe's first entry.
    pub(super) operator: Operator,
    /// The same.
    pub(super) opening: Opening,
    /// A random word.
    pub(super) token: String,
}

impl Wanted {
    /// Takes the variables from this process's environment, the rest from a sample.
    pub(super) fn of(sample: &Sample, access: Access, token: &str) -> Self {
        Self {
            access,
            state_home: std::env::var_os("XDG_STATE_HOME"),
            home: std::env::var_os("HOME"),
            uid: sample.observer.uid,
            operator: Operator::from(&sample.observer),
            opening: Opening::on(&sample.host, "self-test"),
            token: token.to_owned(),
        }
    }

    /// Returns the directory in words that hold no user's name.
    fn place(&self) -> &'static str {
        let absolute = self
            .state_home
            .as_ref()
            .is_some_and(|path| Path::new(path).is_absolute());
        match (absolute, self.uid) {
            (true, _) => "$XDG_STATE_HOME/mcpwake",
            (false, 0) => "/var/lib/mcpwake",
            (false, _) => "~/.local/state/mcpwake",
        }
    }
}

/// An incident that is removed when dropped.
#[derive(Debug)]
pub(super) struct Probe {
    incident: Incident,
    /// Removes all of it.
    _made: Made,
}

/// What was made, the outermost first: removed in the opposite order.
#[derive(Debug)]
struct Made {
    probe: PathBuf,
    above: Vec<PathBuf>,
}

impl Probe {
    /// Appends an entry; answers when it is on disk, else in words without a path.
    pub(super) fn append(
        &self,
        entry: Entry,
        operator: &Operator,
        at: UnixMillis,
    ) -> Result<Receipt, String> {
        self.incident
            .append(entry, operator, at)
            .map_err(|error| words(&error))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // Nobody else's: its name holds a random word. An incident that is left is named after what it was.
        let _ = fs::remove_dir_all(&self.probe);
        for path in self.above.iter().rev() {
            // Only while it is empty.
            let _ = fs::remove_dir(path);
        }
    }
}

/// What was found.
#[derive(Debug)]
pub(super) struct Tried {
    /// The answers.
    pub(super) checks: Vec<Check>,
    /// The probe, else why there is none.
    pub(super) probe: Result<Probe, String>,
}

/// Tries the state directory.
pub(super) fn try_out(wanted: &Wanted) -> Tried {
    let check = |answer, seen: String| Check::new("state", "state directory", answer, seen);
    let Ok(root) = state_directory(wanted.uid, wanted.state_home.clone(), wanted.home.clone()) else {
        let why = "neither XDG_STATE_HOME nor HOME names a place";
        let check = check(Answer::Failed, why.to_owned()).advised("set one of them");
        return Tried {
            checks: vec![check],
            probe: Err(why.to_owned()),
        };
    };
    let place = wanted.place();
    let standing = standing(&root, wanted.uid);
    let space = space(&root);
    let (check, probe) = match standing {
        Err((why, advice)) => {
            let check = check(Answer::Failed, format!("{place}: {why}")).advised(advice);
            (check, Err(why))
        }
        Ok(standing) if wanted.access == Access::ReadOnly => {
            let why = "read-only holds, nothing was tried there";
            (
                check(Answer::Denied, format!("{place}, {standing}; {why}")),
                Err(why.to_owned()),
            )
        }
        Ok(standing) => match probe(&root, wanted) {
            Ok(probe) => {
                let seen = format!("{place}, {standing}; a journal was written there, synced and removed");
                (check(Answer::Works, seen), Ok(probe))
            }
            Err(why) => {
                let seen = format!("{place}, {standing}; a journal cannot be written there: {why}");
                let advice = "nothing can be kept, and so nothing is signalled: name another place with XDG_STATE_HOME";
                (check(Answer::Failed, seen).advised(advice), Err(why))
            }
        },
    };
    Tried {
        checks: vec![check, space],
        probe,
    }
}

/// Returns in words who may use the directory, or what is wrong with it and what to do.
fn standing(root: &Path, uid: u32) -> Result<String, (String, String)> {
    let metadata = match fs::metadata(root) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok("not there yet, made when it is needed".to_owned());
        }
        Err(error) => {
            return Err((
                error.kind().to_string(),
                "look at the directories above it".to_owned(),
            ));
        }
    };
    let mode = metadata.mode() & 0o7777;
    if !metadata.is_dir() {
        return Err(("it is no directory".to_owned(), "move it away".to_owned()));
    }
    if metadata.uid() != uid {
        let advice = "run as its owner, or name another place with XDG_STATE_HOME";
        return Err(("it belongs to another user".to_owned(), advice.to_owned()));
    }
    if mode & 0o077 != 0 {
        let advice = "make it 0700, and look who used it since";
        return Err((
            format!("its mode is {mode:04o}: others may use it"),
            advice.to_owned(),
        ));
    }
    Ok(format!("own, mode {mode:04o}"))
}

/// Returns the answer on free space, of the nearest directory that is there.
fn space(root: &Path) -> Check {
    let check = |answer, seen: String| Check::new("state.room", "  free space", answer, seen);
    let there = root
        .ancestors()
        .find(|path| path.is_dir())
        .unwrap_or(Path::new("/"));
    match limits::free_bytes(there) {
        Ok(bytes) if bytes < LITTLE => check(
            Answer::Failed,
            format!("{} MiB: little for snapshots", bytes >> 20),
        )
        .advised("make room, or name another place with XDG_STATE_HOME"),
        Ok(bytes) if bytes >> 30 > 0 => check(Answer::Works, format!("{} GiB", bytes >> 30)),
        Ok(bytes) => check(Answer::Works, format!("{} MiB", bytes >> 20)),
        Err(errno) => check(Answer::Failed, format!("it could not be asked for: {errno}")),
    }
}

fn probe(root: &Path, wanted: &Wanted) -> Result<Probe, String> {
    let missing = root
        .ancestors()
        .take_while(|path| path.symlink_metadata().is_err());
    let mut above: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    above.reverse();
    let made = Made {
        probe: root.join(format!(".doctor-{}", wanted.token)),
        above,
    };
    let redactor = Arc::new(Redactor::builtin().map_err(|_| "the built-in rules do not load".to_owned())?);
    let store = Store::new(made.probe.clone(), wanted.uid, wanted.access, redactor);
    let incident = store
        .create(&wanted.opening, &wanted.operator, wall_clock())
        .map_err(|error| words(&error))?;
    let probe = Probe {
        incident,
        _made: made,
    };
    let note = Entry::Note {
        on: None,
        text: "a second line, appended under the lock".to_owned(),
    };
    probe.append(note, &wanted.operator, wall_clock())?;
    Ok(probe)
}

/// Says what went wrong without naming a path.
fn words(error: &StoreError) -> String {
    match error {
        StoreError::Io {
            operation, reason, ..
        } => format!("{operation}: {}", reason.kind()),
        StoreError::ReadOnly { .. } => "read-only holds".to_owned(),
        StoreError::NotPrivate { mode, .. } => format!("mode {mode:04o}: others may use it"),
        StoreError::NotOwn { .. } => "it belongs to another user".to_owned(),
        StoreError::Vanished { .. } => "it vanished while it was used".to_owned(),
        _ => "the journal cannot be continued".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn wanted(state_home: &Path, access: Access) -> Wanted {
        let metadata = fs::metadata(state_home).expect("a directory");
        Wanted {
            access,
            state_home: Some(state_home.as_os_str().to_owned()),
            home: None,
            uid: metadata.uid(),
            operator: Operator {
                user: "deploy".to_owned(),
                uid: metadata.uid(),
                login_uid: None,
                ssh_from: None,
            },
            opening: Opening {
                title: "self-test".to_owned(),
                host: "devbox-7".to_owned(),
                boot_id: "c74705a8-8320-4a37-9307-737580fbee32".to_owned(),
                program: "mcpwake".to_owned(),
            },
            token: "0123".to_owned(),
        }
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).expect("a directory");
        entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect()
    }

    #[test]
    fn a_probe_is_written_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a directory");
        let above = folder.path().join("not/there/yet");
        let mut wanted = wanted(folder.path(), Access::ReadWrite);
        wanted.state_home = Some(above.clone().into());
        let tried = try_out(&wanted);
        assert_eq!(tried.checks[0].answer, Answer::Works, "{:?}", tried.checks);
        assert!(
            tried.checks[0]
                .seen
                .starts_with("$XDG_STATE_HOME/mcpwake, not there yet")
        );
        assert!(above.join("mcpwake/.doctor-0123/incidents").is_dir());
        drop(tried);
        assert_eq!(names(folder.path()), Vec::<OsString>::new());
    }

    #[test]
    fn what_was_there_stays() {
        let folder = tempfile::tempdir().expect("a directory");
        let state = folder.path().join("mcpwake");
        fs::create_dir(&state).expect("a directory");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("its owner");
        fs::write(state.join("kept"), "x").expect("a file");
        let tried = try_out(&wanted(folder.path(), Access::ReadWrite));
        assert!(
            tried.checks[0].seen.contains("own, mode 0700"),
            "{:?}",
            tried.checks
        );
        drop(tried);
        assert_eq!(names(&state), ["kept"]);
    }

    #[test]
    fn read_only_writes_nothing_and_says_so() {
        let folder = tempfile::tempdir().expect("a directory");
        let tried = try_out(&wanted(folder.path(), Access::ReadOnly));
        assert_eq!(tried.checks[0].answer, Answer::Denied);
        assert!(
            tried.checks[0].seen.contains("read-only holds"),
            "{:?}",
            tried.checks
        );
        assert!(tried.probe.is_err());
        assert_eq!(names(folder.path()), Vec::<OsString>::new());
    }

    #[test]
    fn what_cannot_be_used_is_said_without_its_path() {
        let folder = tempfile::tempdir().expect("a directory");
        let state = folder.path().join("mcpwake");
        let failed = |wanted: &Wanted, words: &str| {
            let tried = try_out(wanted);
            assert_eq!(
                tried.checks[0].answer,
                Answer::Failed,
                "{words}: {:?}",
                tried.checks
            );
            let said = &tried.checks[0].seen;
            assert!(said.contains(words), "{said}");
            assert!(!said.contains(&folder.path().display().to_string()), "{said}");
            assert!(tried.probe.is_err());
        };
        let wanted = wanted(folder.path(), Access::ReadWrite);
        fs::write(&state, "x").expect("a file");
        failed(&wanted, "no directory");
        fs::remove_file(&state).expect("a file");
        fs::create_dir(&state).expect("a directory");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("its owner");
        failed(&wanted, "mode is 0755");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("its owner");
        let stranger = Wanted {
            uid: wanted.uid + 1,
            ..wanted.clone()
        };
        failed(&stranger, "another user");
        let nowhere = Wanted {
            uid: 1000,
            state_home: None,
            home: None,
            ..wanted
        };
        failed(&nowhere, "names a place");
    }
}
