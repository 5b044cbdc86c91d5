//! Which files are there to be read, and for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::budget::{Group, Shares};
use super::file::{Stamp, Trouble};
use super::glob::Look;
use super::hands::Hands;
use super::places::Survey;
use super::{Problems, Wanted};
use crate::catalog::{ArgvConfig, Catalog, ConfigFile};
use crate::model::bytes::OsBytes;
use crate::model::host::Os;
use crate::model::known::ConfiguredServer;
use crate::model::reading::Absence;

/// Project directories that are looked into at most.
const MAX_DIRECTORIES: usize = 256;

/// As what a file is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    /// Number of the file's definition in the catalogue.
    pub(super) index: usize,
    /// Home directory that its variables are expanded with.
    pub(super) home: OsBytes,
    /// Project directory.
    pub(super) project: Option<OsBytes>,
}

/// A file that is there.
#[derive(Debug)]
pub(super) struct Target {
    /// Its metadata, or why there are none.
    pub(super) seen: Result<Stamp, Trouble>,
    /// As what it is read.
    pub(super) uses: BTreeSet<Use>,
    /// Whose budget it is read from.
    pub(super) group: Group,
}

/// What is to be read.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The files.
    pub(super) files: BTreeMap<PathBuf, Target>,
    /// Entries that command lines hold themselves.
    pub(super) inline: Vec<ConfiguredServer>,
}

/// Returns the path that these bytes are.
pub(super) fn path_of(bytes: &OsBytes) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes.as_bytes())).to_owned()
}

/// Returns the bytes of a path.
pub(super) fn bytes_of(path: &Path) -> OsBytes {
    path.as_os_str().as_bytes().into()
}

/// The directories that are looked into.
#[derive(Debug, Default)]
struct Places {
    /// Every home wanted.
    homes: BTreeSet<OsBytes>,
    /// Those that can be entered.
    open: Vec<OsBytes>,
    /// Project directories.
    projects: BTreeSet<PathBuf>,
}

/// A search, and as what its files are read.
struct Search {
    look: Look,
    uses: Vec<Use>,
    /// Whose budget the files are read from.
    group: Group,
}

impl Plan {
    /// Looks which of the wanted files are there.
    pub(super) fn new(
        catalog: &Catalog,
        os: Os,
        wanted: &Wanted,
        hands: &mut Hands,
        problems: &mut Problems,
    ) -> Self {
        let mut plan = Self::default();
        if wanted.is_empty() {
            return plan;
        }
        let places = Places::find(wanted, hands, problems);
        let mut searches: Vec<Search> = catalog
            .config_files(os)
            .iter()
            .flat_map(|file| places.searches(file))
            .collect();
        for (client, argv, cwd, home) in &wanted.clients {
            for config in catalog.parse_client_argv(client, argv) {
                plan.given(config, cwd, home, &mut searches);
            }
        }
        plan.search(&searches, hands, problems);
        plan
    }

    /// Adds what a command line names.
    fn given(&mut self, config: ArgvConfig, cwd: &OsBytes, home: &OsBytes, searches: &mut Vec<Search>) {
        let project = (!cwd.is_empty()).then(|| cwd.clone());
        match config {
            ArgvConfig::File { path, index } => {
                let path = path_of(cwd).join(path_of(&path));
                // A relative path of a client whose working directory is not known is nowhere.
                if path.is_absolute() {
                    let home = home.clone();
                    searches.push(Search {
                        look: Look::new(&path, ""),
                        uses: vec![Use { index, home, project }],
                        group: Group::Named,
                    });
                }
            }
            ArgvConfig::Inline(servers) => self.inline.extend(servers.into_iter().map(|mut server| {
                server.home = home.clone();
                server.project.clone_from(&project);
                server
            })),
        }
    }

    fn search(&mut self, searches: &[Search], hands: &mut Hands, problems: &mut Problems) {
        let looks: Arc<[Look]> = searches.iter().map(|search| search.look.clone()).collect();
        let answers = hands.run(&looks);
        let mut all = Vec::new();
        let mut shares = Shares::default();
        for (search, answer) in searches.iter().zip(answers) {
            let path = || bytes_of(search.look.place());
            let found = match answer {
                Ok(found) => found,
                Err(late) => {
                    problems.add_late(&path(), &late, "what it configures is not known");
                    continue;
                }
            };
            if search.group == Group::Named && found.is_empty() {
                let detail = "a running client names it on its command line, and it is not there \
                              (any more, or not outside the client's container): what it configures is not known";
                problems.add(
                    &path(),
                    Trouble {
                        kind: Absence::Gone,
                        detail: detail.to_owned(),
                    },
                );
            }
            for (path, seen) in found {
                shares.add(&search.group, path.clone());
                all.push((search, path, seen));
            }
        }
        let dealt = shares.deal();
        for (search, path, seen) in all {
            if !dealt.read.contains(&path) {
                continue;
            }
            let target = self.files.entry(path).or_insert_with(|| Target {
                seen,
                uses: BTreeSet::new(),
                group: search.group.clone(),
            });
            target.uses.extend(search.uses.iter().cloned());
        }
        for (group, count) in dealt.left_out {
            let detail =
                format!("{count} more than are read of one client: what they configure is not known");
            problems.add(&group.to_string().into_bytes().into(), Trouble::failed(detail));
        }
    }
}

impl Places {
    fn find(wanted: &Wanted, hands: &mut Hands, problems: &mut Problems) -> Self {
        let clients = wanted.clients.iter().map(|(_, _, _, home)| home);
        let absolute = |path: &&OsBytes| path.as_bytes().first() == Some(&b'/');
        let homes: BTreeSet<OsBytes> = wanted
            .homes
            .iter()
            .map(|(_, home)| home)
            .filter(absolute)
            .cloned()
            .collect();
        let mut places = Self {
            homes,
            ..Self::default()
        };
        let mut names: Vec<PathBuf> = places
            .homes
            .iter()
            .chain(clients.filter(absolute))
            .map(path_of)
            .collect();
        let surveys = places
            .homes
            .iter()
            .map(|home| Survey::Home(path_of(home)))
            .collect();
        for (home, answer) in places.homes.iter().zip(hands.run(&surveys)) {
            let follows = "no configuration file of this user is looked at";
            match answer {
                Ok(Ok(resolved)) => {
                    names.extend(resolved);
                    places.open.push(home.clone());
                }
                Ok(Err(mut trouble)) => {
                    trouble.detail = format!("home directory: {}; {follows}", trouble.detail);
                    problems.add(home, trouble);
                }
                Err(late) => problems.add_late(home, &late, follows),
            }
        }
        places.survey_projects(wanted, &names, hands, problems);
        places
    }

    fn survey_projects(
        &mut self,
        wanted: &Wanted,
        homes: &[PathBuf],
        hands: &mut Hands,
        problems: &mut Problems,
    ) {
        let cwds = || {
            wanted
                .projects
                .iter()
                .filter(|cwd| cwd.as_bytes().first() == Some(&b'/'))
        };
        let homes: Arc<[PathBuf]> = homes.into();
        let surveys = cwds()
            .map(|cwd| Survey::Project(path_of(cwd), Arc::clone(&homes)))
            .collect();
        for (cwd, answer) in cwds().zip(hands.run(&surveys)) {
            let follows = "no configuration file of this project is looked at";
            match answer {
                Ok(Ok(directories)) => self.projects.extend(directories),
                Ok(Err(mut trouble)) => {
                    trouble.detail = format!("working directory: {}; {follows}", trouble.detail);
                    problems.add(cwd, trouble);
                }
                Err(late) => problems.add_late(cwd, &late, follows),
            }
        }
        let all = self.projects.len();
        if all > MAX_DIRECTORIES {
            self.projects = std::mem::take(&mut self.projects)
                .into_iter()
                .take(MAX_DIRECTORIES)
                .collect();
            let detail = format!("{all} directories, more than {MAX_DIRECTORIES}: the rest is not looked at");
            problems.add(&"project directories".into(), Trouble::failed(detail));
        }
    }

    /// Homes that a file outside any home is read for: that which holds it, else every one, for
    /// any of these users may run the client that reads it.
    fn homes_of(&self, path: &Path) -> Vec<OsBytes> {
        let holds = |home: &&OsBytes| home.as_bytes() != b"/" && path.starts_with(path_of(home));
        match self
            .homes
            .iter()
            .filter(holds)
            .max_by_key(|home| home.as_bytes().len())
        {
            Some(home) => vec![home.clone()],
            None if self.homes.is_empty() => vec![OsBytes::default()],
            None => self.homes.iter().cloned().collect(),
        }
    }

    fn searches(&self, file: &ConfigFile) -> Vec<Search> {
        let search = |base: &Path, pattern: &str, homes: Vec<OsBytes>, project: Option<OsBytes>| {
            let one = |home| Use {
                index: file.index,
                home,
                project: project.clone(),
            };
            Search {
                look: Look::new(base, pattern),
                group: Group::Client {
                    name: file.client_name.clone(),
                    home: homes.first().cloned().unwrap_or_default(),
                },
                uses: homes.into_iter().map(one).collect(),
            }
        };
        if let Some(pattern) = file.path.strip_prefix("~/") {
            let homes = self.open.iter();
            return homes
                .map(|home| search(&path_of(home), pattern, vec![home.clone()], None))
                .collect();
        }
        if let Some(pattern) = file.path.strip_prefix("{project}/") {
            let directories = self.projects.iter();
            return directories
                .map(|base| search(base, pattern, self.homes_of(base), Some(bytes_of(base))))
                .collect();
        }
        let root = Path::new("/");
        let pattern = file.path.trim_start_matches('/');
        vec![search(root, pattern, self.homes_of(&root.join(pattern)), None)]
    }
}
