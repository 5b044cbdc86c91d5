//! What the next closer look is to read, and where configuration files are to be looked for.

use std::collections::BTreeSet;

use crate::model::bytes::OsBytes;
use crate::model::identity::ProcessKey;
use crate::model::interest::Interest;
use crate::model::process::Argv;
use crate::model::sample::Sample;

use super::Known;
use super::identify::{self, Identities};
use super::masters;
use super::relay::RELAY_DEPTH;
use super::tree::Tree;
use super::wire;

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

/// Returns which processes the next closer look is to read: candidates with their ancestors and
/// descendants, known clients, ssh masters, the selected process, and what passes on requests to a candidate, as
/// far as `looked` (this sample or the one before, after its own closer look) tells.
pub fn interest(
    sample: &Sample,
    looked: &Sample,
    known: &Known,
    identities: &Identities,
    selected: Option<ProcessKey>,
) -> Interest {
    let tree = Tree::new(sample);
    let mut closely: BTreeSet<ProcessKey> = selected.into_iter().collect();
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
        add_relays(looked, key, RELAY_DEPTH, &mut closely);
    }
    let masters = sample
        .processes
        .values()
        .filter(|process| masters::is_one(process));
    closely.extend(masters.map(|process| process.key));
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

/// Adds what passes on requests to a server (`tee | server`): a process of the same parent or group
/// that holds the other end of its stdin, and what passes on to that one in turn.
fn add_relays(looked: &Sample, key: ProcessKey, depth: u8, closely: &mut BTreeSet<ProcessKey>) {
    let Some(process) = looked.get(key).filter(|_| depth > 0) else {
        return;
    };
    let Some(stdin) = wire::stdin(looked, process) else {
        return;
    };
    for holder in wire::other_end(looked, stdin).holders() {
        let beside = looked.get(holder.process).is_some_and(|other| {
            let same_parent = other.ppid.is_some() && other.ppid == process.ppid;
            let same_group = other.pgid.is_some() && other.pgid == process.pgid;
            same_parent || same_group
        });
        if beside && closely.insert(holder.process) {
            add_relays(looked, holder.process, depth - 1, closely);
        }
    }
}
