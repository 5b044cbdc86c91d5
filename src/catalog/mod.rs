//! What is known of MCP clients and servers: launch rules, client definitions, configuration
//! formats. Pure: works on bytes and on the text of `assets/`, reads no file itself.

pub mod verdict;

use crate::model::bytes::OsBytes;
use crate::model::host::Os;
use crate::model::known::ConfiguredServer;
use crate::text::redact::Redactor;

pub use verdict::{CatalogError, ClientMatch, ConfigFile, EntryMatch, MatchedAs, NearMiss, Seen, Verdict};

/// Launch rules, client definitions, redaction rules and credential leads, validated.
#[derive(Debug)]
pub struct Catalog {}
