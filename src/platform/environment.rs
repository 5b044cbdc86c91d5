//! What is kept of an environment: all names, and the values of named identifiers only.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::bytes::OsBytes;
use crate::model::process::Environment;

/// Keeps the names, and the values of `identifiers` only.
///
/// Elements without `=` (a process may write what it likes there) are dropped.
pub(super) fn keep<'a>(
    elements: impl Iterator<Item = &'a [u8]>,
    identifiers: &BTreeSet<String>,
) -> Environment {
    let mut names = BTreeSet::new();
    let mut values = BTreeMap::new();
    for element in elements {
        let Some((name, value)) = split(element) else {
            continue;
        };
        let identifier = std::str::from_utf8(name)
            .ok()
            .filter(|name| identifiers.contains(*name));
        if let Some(name) = identifier {
            // getenv(3) takes the first of several.
            values
                .entry(name.to_owned())
                .or_insert_with(|| OsBytes::from(value));
        }
        names.insert(OsBytes::from(name));
    }
    Environment {
        names: names.into_iter().collect(),
        identifiers: values,
    }
}

/// Splits `NAME=value`; `None` where there is no name.
pub(super) fn split(element: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = element
        .iter()
        .position(|byte| *byte == b'=')
        .filter(|at| *at > 0)?;
    Some((element.get(..equals)?, element.get(equals + 1..)?))
}
