//! What each process is by itself: MCP server or launcher, client, or neither; before any wire is
//! looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::{ClientMatch, EntryMatch, MatchedAs, Seen, Verdict};
use crate::model::bytes::OsBytes;
use crate::model::identity::ProcessKey;
use crate::model::instance::{Confidence, Identification, Role};
use crate::model::known::ConfiguredServer;
use crate::model::process::{Argv, Process};
use crate::model::reading::Reading;
use crate::model::sample::Sample;

use super::Known;

/// What one process is by itself.
#[derive(Debug)]
pub struct Identity {
    /// What argv says.
    pub verdict: Verdict,
    /// The client that it is.
    pub client: Option<ClientMatch>,
    /// The configuration entries that it equals, best first.
    pub entries: Vec<(usize, EntryMatch)>,
    basis: Basis,
    /// What it was by an earlier command line, where it has overwritten that one and it said more.
    before_title: Option<Arc<Identity>>,
}

/// What an identity was made from: while it is unchanged, so is the identity.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Basis {
    argv: Argv,
    exe: Option<OsBytes>,
    cwd: Option<OsBytes>,
    variables: BTreeMap<String, OsBytes>,
    image: Option<(u64, u64)>,
}

/// The identity of every process that has an argv.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    by_key: BTreeMap<ProcessKey, Arc<Identity>>,
    configured: Option<Arc<crate::model::known::Configured>>,
}

/// What a process is taken for, before wires are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// `Server` or `Launcher`.
    pub(crate) role: Role,
    /// How sure that is.
    pub(crate) confidence: Confidence,
}

impl Identities {
    /// Identifies every process; what did not change since `before` is taken from there.
    pub fn of(sample: &Sample, known: &Known, before: &Self) -> Self {
        let same_files = before
            .configured
            .as_ref()
            .is_some_and(|configured| Arc::ptr_eq(configured, &known.configured));
        let mut by_key = BTreeMap::new();
        for process in sample.processes.values() {
            let earlier = before.by_key.get(&process.key);
            let nameless = process.args().is_empty() && process.exe.value().is_none();
            if process.kernel_thread || nameless && earlier.is_none() {
                continue;
            }
            let kept = earlier.filter(|one| same_files && one.basis.is_of(process));
            let identity = kept.map_or_else(
                || {
                    let fresh = Identity::of(process, known);
                    Arc::new(match earlier {
                        Some(earlier) => fresh.with_title_of(earlier, process, known, same_files),
                        None => fresh,
                    })
                },
                Arc::clone,
            );
            by_key.insert(process.key, identity);
        }
        Self {
            by_key,
            configured: Some(Arc::clone(&known.configured)),
        }
    }

    /// Returns the identity of a process.
    pub fn get(&self, key: ProcessKey) -> Option<&Identity> {
        self.by_key.get(&key).map(AsRef::as_ref)
    }

    /// Returns every identity.
    pub fn iter(&self) -> impl Iterator<Item = (ProcessKey, &Identity)> {
        self.by_key
            .iter()
            .map(|(key, identity)| (*key, identity.as_ref()))
    }

    /// Returns the number of configuration entries that equal a running process.
    pub(crate) fn running_entries(&self) -> usize {
        let mut running: Vec<usize> = self
            .by_key
            .values()
            .flat_map(|one| one.entries.iter().map(|(index, _)| *index))
            .collect();
        running.sort_unstable();
        running.dedup();
        running.len()
    }
}

impl Basis {
    fn of(process: &Process) -> Self {
        Self {
            argv: process.args().to_vec(),
            exe: process.exe.value().cloned(),
            cwd: process.cwd.value().cloned(),
            variables: process
                .environment
                .value()
                .map(|read| read.identifiers.clone())
                .unwrap_or_default(),
            image: process.image,
        }
    }

    /// Returns whether `later` is still the same program, by its file and, where that may be read, by its
    /// memory image: one that was executed anew has another.
    fn is_same_program(&self, later: &Self) -> bool {
        let same_image = match (self.image, later.image) {
            (Some(before), Some(now)) => before == now,
            _ => true,
        };
        let same_file = match (&self.exe, &later.exe) {
            (Some(before), Some(now)) => program(before) == program(now),
            _ => false,
        };
        same_image && same_file
    }

    fn is_of(&self, process: &Process) -> bool {
        let identifiers = process.environment.value().map(|read| &read.identifiers);
        self.argv == process.args()
            && self.image == process.image
            && self.exe.as_ref() == process.exe.value()
            && self.cwd.as_ref() == process.cwd.value()
            && identifiers.map_or(self.variables.is_empty(), |read| *read == self.variables)
    }
}

impl Identity {
    fn of(process: &Process, known: &Known) -> Self {
        Self::by(Basis::of(process), process, known)
    }

    fn by(basis: Basis, process: &Process, known: &Known) -> Self {
        let home = home(process);
        let seen = Seen {
            argv: &basis.argv,
            exe: basis.exe.as_ref(),
            cwd: basis.cwd.as_ref(),
            home,
            variables: (!basis.variables.is_empty()).then_some(&basis.variables),
        };
        let client = known.catalog.client(&seen);
        let mut verdict = known.catalog.verdict(&basis.argv);
        let plain = verdict.role == Role::Other && verdict.rule.is_none() && client.is_none();
        if plain && let Some(found) = by_file(&basis, known) {
            verdict = found;
        }
        if verdict.undecided {
            verdict = by_place(process, known).unwrap_or(verdict);
        }
        Self {
            verdict,
            client,
            entries: entries(&seen, known),
            basis,
            before_title: None,
        }
    }

    /// Takes over what an earlier command line said, where the process has overwritten it and says less now.
    fn with_title_of(
        mut self,
        earlier: &Arc<Self>,
        process: &Process,
        known: &Known,
        same_files: bool,
    ) -> Self {
        if !earlier.basis.is_same_program(&self.basis) {
            return self;
        }
        self.client = self.client.or_else(|| earlier.client.clone());
        let earlier = earlier.before_title.as_ref().unwrap_or(earlier);
        let confidence = |one: &Self| one.mark().map(|mark| mark.confidence);
        if earlier.basis.argv == self.basis.argv || confidence(earlier) <= confidence(&self) {
            return self;
        }
        let before_title = if same_files {
            Arc::clone(earlier)
        } else {
            Arc::new(Self::by(earlier.basis.clone(), process, known))
        };
        Self {
            before_title: Some(before_title),
            ..self
        }
    }

    /// Returns whether what it is taken for was said by a command line that it has overwritten since.
    pub(crate) fn is_overwritten(&self) -> bool {
        self.before_title.is_some()
    }

    /// Returns the short name of the server.
    pub(crate) fn name(&self) -> Option<&str> {
        if let Some(before) = &self.before_title {
            return before.name();
        }
        self.verdict.name.as_deref().or(self.verdict.hint.as_deref())
    }

    /// Returns what the process is taken for.
    pub(crate) fn mark(&self) -> Option<Mark> {
        if let Some(before) = &self.before_title {
            return before.mark();
        }
        if let Some((_, entry)) = self.entries.first() {
            let role = match entry.part {
                MatchedAs::Launcher => Role::Launcher,
                MatchedAs::Server => Role::Server,
            };
            return Some(Mark {
                role,
                confidence: Confidence::Configured,
            });
        }
        let role = Some(self.verdict.role).filter(|role| matches!(role, Role::Launcher | Role::Server));
        if !self.verdict.mcp && self.verdict.hint.is_some() && self.client.is_none() {
            return Some(Mark {
                role: Role::Server,
                confidence: Confidence::Likely,
            });
        }
        let confidence = self.verdict.confidence.filter(|_| self.verdict.mcp);
        Some(Mark {
            role: role?,
            confidence: confidence?,
        })
    }

    /// Returns the identification in the words of the published formats. `client` is preferred
    /// where the entries of several clients are equal.
    pub(crate) fn identification(&self, known: &Known, client: Option<&str>) -> Identification {
        if let Some(before) = &self.before_title {
            return before.identification(known, client);
        }
        let entry = |(index, how): &(usize, EntryMatch)| {
            known
                .configured
                .servers
                .get(*index)
                .map(|server| configured(server, how))
        };
        let of_client = |(index, _): &&(usize, EntryMatch)| {
            known
                .configured
                .servers
                .get(*index)
                .is_some_and(|server| Some(server.client.as_str()) == client)
        };
        self.entries
            .iter()
            .find(of_client)
            .or_else(|| self.entries.first())
            .and_then(entry)
            .unwrap_or_else(|| self.by_argv())
    }

    /// The identification that argv gives, by itself or with the wire.
    fn by_argv(&self) -> Identification {
        let verdict = &self.verdict;
        let (rule, because) = match (&verdict.rule, &verdict.hint) {
            (Some(rule), _) => (rule.clone(), verdict.because.clone()),
            (None, Some(hint)) => (
                "shape".to_owned(),
                format!(
                    "`{hint}` has mcp in its name, and its wire leads to a known client, or to nobody that can be seen"
                ),
            ),
            (None, None) => ("wire".to_owned(), verdict.because.clone()),
        };
        Identification {
            confidence: verdict.confidence.unwrap_or(Confidence::Likely),
            rule,
            because,
            client: None,
            file: None,
            server_name: None,
        }
    }
}

/// Returns the program file, whether or not it was deleted or replaced since.
fn program(exe: &OsBytes) -> &[u8] {
    let exe = exe.as_bytes();
    exe.strip_suffix(b" (deleted)").unwrap_or(exe)
}

/// Returns the home directory of the process's user, from its own environment where that was
/// read: a client started with another `HOME` reads its configuration there.
pub(crate) fn home(process: &Process) -> Option<&OsBytes> {
    let own = process
        .environment
        .value()
        .and_then(|read| read.identifiers.get("HOME"));
    own.or(process.home.as_ref())
}

fn configured(server: &ConfiguredServer, how: &EntryMatch) -> Identification {
    Identification {
        confidence: Confidence::Configured,
        rule: how.rule.clone(),
        because: how.because.clone(),
        client: Some(server.client_name.clone()),
        file: Some(server.file.clone()),
        server_name: Some(server.name.clone()),
    }
}

fn entries(seen: &Seen<'_>, known: &Known) -> Vec<(usize, EntryMatch)> {
    let mut found: Vec<(usize, EntryMatch)> = known
        .configured
        .servers
        .iter()
        .enumerate()
        .filter(|(_, server)| {
            seen.home
                .is_none_or(|home| *home == server.home || server.scope == "managed")
        })
        .filter_map(|(index, server)| Some((index, known.catalog.matches(server, seen)?)))
        .collect();
    // Equal without loss first, then the file's own client before one that borrows it, then what is known of the
    // client's file for sure.
    found.sort_by_key(|(index, how)| {
        let server = &known.configured.servers[*index];
        (
            how.lossy,
            server.disabled,
            server.scope == "borrowed",
            server.guess,
            *index,
        )
    });
    found
}

/// Asks again with the program file for a first element that is empty or another name: `execve` takes any, and
/// `exec -a NAME` gives one. Arguments count only where nothing else names the program: behind another name they
/// may be those of a program that does many things.
fn by_file(basis: &Basis, known: &Known) -> Option<Verdict> {
    let file: OsBytes = program(basis.exe.as_ref()?).to_vec().into();
    let first = basis.argv.first().filter(|first| !first.is_empty());
    if first.is_some_and(|first| first.basename() == file.basename()) {
        return None;
    }
    let rest = match first {
        Some(_) => &[][..],
        None => basis.argv.get(1..).unwrap_or_default(),
    };
    let argv: Argv = std::iter::once(file).chain(rest.iter().cloned()).collect();
    let verdict = known.catalog.verdict(&argv);
    let how = if first.is_some() {
        "its first argument is another name"
    } else {
        "its first argument is empty"
    };
    verdict.mcp.then(|| Verdict {
        because: format!("{}, by its program file: {how}", verdict.because),
        ..verdict
    })
}

/// Asks again with the working directory in front of a relative script: `node dist/index.js` says
/// nothing, `/srv/github-mcp/dist/index.js` does. Never more than likely.
fn by_place(process: &Process, known: &Known) -> Option<Verdict> {
    let Reading::Value(cwd) = &process.cwd else {
        return None;
    };
    let argv: Argv = process
        .args()
        .iter()
        .enumerate()
        .map(|(index, element)| {
            let bytes = element.as_bytes();
            let looks_like_script = [&b".js"[..], b".mjs", b".cjs", b".ts", b".mts", b".py"]
                .iter()
                .any(|ending| bytes.ends_with(ending));
            if index == 0 || !looks_like_script || bytes.starts_with(b"/") {
                return element.clone();
            }
            let tail = bytes.strip_prefix(b"./").unwrap_or(bytes);
            [cwd.as_bytes(), b"/", tail].concat().into()
        })
        .collect();
    let verdict = known.catalog.verdict(&argv);
    verdict.mcp.then(|| Verdict {
        confidence: Some(Confidence::Likely),
        because: format!("{}, by the directory it was started in", verdict.because),
        ..verdict
    })
}
