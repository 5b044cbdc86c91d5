//! The words of the published formats for the values of the model that carry none themselves.

use crate::model::descriptor::Access;
use crate::model::finding::{EndKind, Lineage, PeerState, Relation, Weight};
use crate::model::host::{Os, Visibility};
use crate::model::instance::Transport;
use crate::model::reading::Absence;

/// Returns the word of `Host::os`.
pub(super) fn os(os: Os) -> &'static str {
    match os {
        Os::Linux => "linux",
        Os::Macos => "macos",
    }
}

/// Returns the word of `Host::visibility`.
pub(super) fn visibility(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::All => "all",
        Visibility::Own => "own",
        Visibility::Partial => "partial",
    }
}

/// Returns the word of `Instance::transport`.
pub(super) fn transport(transport: Transport) -> &'static str {
    match transport {
        Transport::Stdio => "stdio",
        Transport::Network => "network",
        Transport::Unknown => "unknown",
    }
}

/// Returns the word of `Instance::lineage`.
pub(super) fn lineage(lineage: Lineage) -> &'static str {
    match lineage {
        Lineage::Child => "child",
        Lineage::Reparented => "reparented",
        Lineage::Unknown => "unknown",
    }
}

/// Returns the word of `Fact::weight`.
pub(super) fn weight(weight: Weight) -> &'static str {
    match weight {
        Weight::Strong => "strong",
        Weight::Supporting => "supporting",
        Weight::Context => "context",
    }
}

/// Returns the word of `End::kind`.
pub(super) fn end_kind(kind: EndKind) -> &'static str {
    match kind {
        EndKind::Pipe => "pipe",
        EndKind::Socket => "socket",
        EndKind::Tty => "tty",
        EndKind::Null => "null",
        EndKind::File => "file",
        EndKind::Closed => "closed",
        EndKind::Other => "other",
    }
}

/// Returns the word of `End::peer`.
pub(super) fn peer(peer: PeerState) -> &'static str {
    match peer {
        PeerState::Held => "held",
        PeerState::None => "none",
        PeerState::Own => "own",
        PeerState::Hidden => "hidden",
        PeerState::NotApplicable => "not-applicable",
    }
}

/// Returns the word of `Holder::relation`.
pub(super) fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Client => "client",
        Relation::Ancestor => "ancestor",
        Relation::Member => "member",
        Relation::Other => "other",
    }
}

/// Returns the word of `End::access`.
pub(super) fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "r",
        Access::Write => "w",
        Access::Both => "rw",
    }
}

/// Returns the word of `Problem::kind`.
pub(super) fn absence(absence: Absence) -> &'static str {
    match absence {
        Absence::Denied => "denied",
        Absence::Gone => "gone",
        Absence::Unsupported => "unsupported",
        Absence::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    /// The model's serde names are the snapshot's; a script that reads both must find one word.
    fn same<T: Serialize + Copy>(all: &[T], word: fn(T) -> &'static str) {
        for value in all {
            assert_eq!(serde_json::to_value(value).unwrap(), word(*value));
        }
    }

    #[test]
    fn one_word_in_the_snapshot_and_in_the_inventory() {
        same(&[Os::Linux, Os::Macos], os);
        same(
            &[Visibility::All, Visibility::Own, Visibility::Partial],
            visibility,
        );
        same(
            &[Transport::Stdio, Transport::Network, Transport::Unknown],
            transport,
        );
        same(&[Lineage::Child, Lineage::Reparented, Lineage::Unknown], lineage);
        same(&[Weight::Strong, Weight::Supporting, Weight::Context], weight);
        same(
            &[EndKind::Pipe, EndKind::Socket, EndKind::Tty, EndKind::Null],
            end_kind,
        );
        same(&[EndKind::File, EndKind::Closed, EndKind::Other], end_kind);
        same(
            &[
                PeerState::Held,
                PeerState::None,
                PeerState::Own,
                PeerState::Hidden,
            ],
            peer,
        );
        same(&[PeerState::NotApplicable], peer);
        same(
            &[
                Relation::Client,
                Relation::Ancestor,
                Relation::Member,
                Relation::Other,
            ],
            relation,
        );
        same(&[Access::Read, Access::Write, Access::Both], access);
        same(
            &[
                Absence::Denied,
                Absence::Gone,
                Absence::Unsupported,
                Absence::Failed,
            ],
            absence,
        );
    }
}
