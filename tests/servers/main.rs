//! Real servers from pinned lock files, in known situations.
