//! What the next closer look is to read, and where configuration files are to be looked for.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::bytes::OsBytes;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::interest::Interest;
use crate::model::process::Argv;
use crate::model::sample::Sample;

use super::Known;
use super::identify::{self, Identities};
use super::tree::Tree;

/// Of a group or of siblings larger than this only the instance itself is looked at closely: a
/// relay stands beside its server, not among hundreds.
const FEW: usize = 64;

/// The variable that says where a client reads its configuration; a path, never a secret.
const HOME: &str = "HOME";

/// Where configuration files of running clients and servers may lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Home directories of users with candidates, with the user's id.
    pub homes: BTreeSet<(u32, OsBytes)>,
    /// Working directories of candidates and clients.
    pub projects: BTreeSet<OsBytes>,
    /// Clients that run: id, argv, working directory, home.
    pub clients: Vec<(String, Argv, OsBytes, OsBytes)>,
}

/// Returns which processes the next closer look is to read: candidates, their ancestors,
/// descendants and neighbours, known clients, and the selected process.
pub fn interest(
    sample: &Sample,
    known: &Known,
    identities: &Identities,
    selected: Option<ProcessKey>,
) -> Interest {
    let tree = Tree::new(sample);
    let mut closely: BTreeSet<ProcessKey> = selected.into_iter().collect();
    let mut neighbours = Neighbours::new(sample);
    for (key, identity) in identities.iter() {
        if identity.client.is_some() {
            closely.insert(key);
        }
        if identity.mark().is_none() {
            continue;
        }
        closely.insert(key);
        closely.extend(tree.ancestors(key.pid).map(|ancestor| ancestor.key));
        closely.extend(
            tree.descendants(key.pid)
                .into_iter()
                .filter_map(|pid| Some(sample.process(pid)?.key)),
        );
        closely.extend(neighbours.of(&tree, key));
    }
    let mut identifiers = known.catalog.env_identifiers();
    identifiers.insert(HOME.to_owned());
    Interest {
        closely,
        identifiers,
        inodes: BTreeSet::new(),
    }
}

/// Returns where configuration files are to be looked for.
pub fn places(sample: &Sample, identities: &Identities) -> Places {
    let mut places = Places::default();
    for (key, identity) in identities.iter() {
        let Some(process) = sample.get(key) else { continue };
        let counts = identity.client.is_some() || identity.mark().is_some() || identity.verdict.undecided;
        if !counts {
            continue;
        }
        let home = identify::home(process);
        if let (Some(home), Some(uid)) = (home, process.uid.value()) {
            places.homes.insert((*uid, home.clone()));
        }
        if identity.client.is_none() && identity.mark().is_none() {
            continue;
        }
        let cwd = process.cwd.value();
        places.projects.extend(cwd.cloned());
        if let (Some(client), Some(cwd), Some(home)) = (&identity.client, cwd, home) {
            places.clients.push((
                client.id.clone(),
                process.args().to_vec(),
                cwd.clone(),
                home.clone(),
            ));
        }
    }
    places
}

/// Processes of the same parent or group: a relay (`tee | server`) stands there.
struct Neighbours<'a> {
    sample: &'a Sample,
    groups: BTreeMap<Pid, Vec<ProcessKey>>,
}

impl<'a> Neighbours<'a> {
    fn new(sample: &'a Sample) -> Self {
        let mut groups: BTreeMap<Pid, Vec<ProcessKey>> = BTreeMap::new();
        for process in sample.processes.values() {
            if let Some(group) = process.pgid {
                groups.entry(group).or_default().push(process.key);
            }
        }
        Self { sample, groups }
    }

    fn of(&mut self, tree: &Tree<'_>, key: ProcessKey) -> Vec<ProcessKey> {
        let Some(process) = self.sample.get(key) else {
            return Vec::new();
        };
        let few = |keys: &[ProcessKey]| {
            if keys.len() <= FEW {
                keys.to_vec()
            } else {
                Vec::new()
            }
        };
        let mut found = process
            .pgid
            .and_then(|group| self.groups.get(&group))
            .map_or_else(Vec::new, |keys| few(keys));
        let siblings: Vec<ProcessKey> = process
            .ppid
            .filter(|parent| *parent != Pid::INIT)
            .map_or(&[][..], |parent| tree.children(parent))
            .iter()
            .filter_map(|pid| Some(self.sample.process(*pid)?.key))
            .collect();
        found.extend(few(&siblings));
        found
    }
}
