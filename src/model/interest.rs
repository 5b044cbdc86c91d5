//! What the next closer look is to read: asked by the judgement, answered by the platform.

use std::collections::BTreeSet;

use super::identity::ProcessKey;

/// Which processes deserve a closer look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    /// The processes: members of instances, their clients and relays, the selected one.
    pub closely: BTreeSet<ProcessKey>,
    /// Names of environment variables whose values are identifiers and may be kept.
    pub identifiers: BTreeSet<String>,
    /// Pipes and sockets whose holders are searched beyond those that the processes of `closely` have
    /// open.
    pub inodes: BTreeSet<u64>,
}
