//! Shares what may be read among clients and homes: many files of one crowd out no file of another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use crate::model::bytes::OsBytes;

/// Files of one client in one home that are read at most.
pub(super) const PER_CLIENT: usize = 200;
/// Files that are read at most.
pub(super) const MAX_FILES: usize = 2000;

/// Whose files share one budget.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// A running client names them on its command line: they come first.
    Named,
    /// Those of a client, by its name, in a home.
    Client {
        /// Name of the client.
        name: String,
        /// The home; empty where none is known.
        home: OsBytes,
    },
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named => f.write_str("files that running clients name"),
            Self::Client { name, home } if home.is_empty() => write!(f, "files of {name}"),
            Self::Client { name, home } => write!(f, "files of {name} in {}", home.lossy()),
        }
    }
}

/// The files that were found, by group, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Shares(BTreeMap<Group, Vec<PathBuf>>);

/// What is read, and how many of each group are not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) read: BTreeSet<PathBuf>,
    pub(super) left_out: BTreeMap<Group, usize>,
}

impl Shares {
    /// Adds a file.
    pub(super) fn add(&mut self, group: &Group, path: PathBuf) {
        self.0.entry(group.clone()).or_default().push(path);
    }

    /// Deals out the budget: one file to each group in turn, and to none more than its share.
    pub(super) fn deal(mut self) -> Shared {
        for paths in self.0.values_mut() {
            let mut seen = BTreeSet::new();
            paths.retain(|path| seen.insert(path.clone()));
        }
        let longest = self.0.values().map(Vec::len).max().unwrap_or(0);
        let mut shared = Shared::default();
        for turn in 0..longest {
            for (group, paths) in &self.0 {
                let Some(path) = paths.get(turn) else { continue };
                let in_share = turn < PER_CLIENT || *group == Group::Named;
                if shared.read.contains(path) {
                    continue;
                }
                if in_share && shared.read.len() < MAX_FILES {
                    shared.read.insert(path.clone());
                } else {
                    *shared.left_out.entry(group.clone()).or_default() += 1;
                }
            }
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str, home: &str) -> Group {
        Group::Client {
            name: name.to_owned(),
            home: home.into(),
        }
    }

    fn of(shared: &Shared, start: &str) -> usize {
        shared.read.iter().filter(|path| path.starts_with(start)).count()
    }

    #[test]
    fn one_client_gets_its_share_and_no_more() {
        let mut shares = Shares::default();
        for at in 0..3000 {
            shares.add(&client("Loud", "/h"), format!("/loud/{at}").into());
            shares.add(&client("Loud", "/h"), format!("/loud/{at}").into());
        }
        shares.add(&client("Quiet", "/h"), "/quiet/1".into());
        shares.add(&Group::Named, "/named/1".into());
        let dealt = shares.deal();
        assert_eq!(
            (of(&dealt, "/loud"), of(&dealt, "/quiet"), of(&dealt, "/named")),
            (PER_CLIENT, 1, 1)
        );
        assert_eq!(
            dealt.left_out,
            BTreeMap::from([(client("Loud", "/h"), 3000 - PER_CLIENT)])
        );
    }

    #[test]
    fn many_clients_share_the_whole() {
        let mut shares = Shares::default();
        for home in 0..20 {
            for at in 0..PER_CLIENT {
                shares.add(
                    &client("Loud", &format!("/{home}")),
                    format!("/{home}/{at}").into(),
                );
            }
        }
        shares.add(&client("Zed", "/z"), "/z/1".into());
        let dealt = shares.deal();
        assert_eq!(dealt.read.len(), MAX_FILES);
        assert_eq!(of(&dealt, "/z"), 1);
        for home in 0..20 {
            assert!(of(&dealt, &format!("/{home}")) >= MAX_FILES / 21, "{home}");
        }
    }
}
