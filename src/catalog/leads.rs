//! Where authority may live: variables, files, sockets and ports, by name.

use std::collections::{BTreeMap, HashMap};

use regex::bytes::{Regex as BytesRegex, RegexSet as BytesRegexSet};
use serde::Deserialize;
use toml::Spanned;

use super::Catalog;
use super::load::Source;
use super::verdict::{CatalogError, SocketMeaning};

/// Longest path that is looked at.
const PATH_BYTES: usize = 4096;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeadsFile {
    variables: Vec<VariablesSpec>,
    generic: Spanned<GenericSpec>,
    files: Vec<PathsSpec>,
    sockets: Vec<PathsSpec>,
    ports: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariablesSpec {
    service: String,
    names: Vec<String>,
    #[serde(default)]
    identifier: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GenericSpec {
    service: String,
    except: Vec<String>,
    pattern: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathsSpec {
    meaning: String,
    advice: Option<String>,
    paths: Vec<String>,
}

/// Meanings of paths, the first that fits.
#[derive(Debug, Default)]
struct Paths {
    set: BytesRegexSet,
    of: Vec<usize>,
    meanings: Vec<(String, Option<String>)>,
}

impl Paths {
    fn compile(specs: Vec<PathsSpec>, key: &str, source: Source<'_>) -> Result<Self, CatalogError> {
        let mut patterns = Vec::new();
        let mut of = Vec::new();
        let mut meanings = Vec::new();
        for spec in specs {
            for path in &spec.paths {
                patterns.push(path_pattern(path));
                of.push(meanings.len());
            }
            meanings.push((spec.meaning, spec.advice));
        }
        let set =
            BytesRegexSet::new(patterns).map_err(|error| source.error(&(0..0), key, &error.to_string()))?;
        Ok(Self { set, of, meanings })
    }

    fn find(&self, path: &[u8]) -> Option<&(String, Option<String>)> {
        if path.len() > PATH_BYTES {
            return None;
        }
        let first = self.set.matches(path).iter().next()?;
        self.meanings.get(*self.of.get(first)?)
    }
}

/// `~` is any home, `*` a part of one name, `**` anything; a bare name is the end of a path.
fn path_pattern(path: &str) -> String {
    let (start, rest) = match (path.strip_prefix('~'), path.starts_with('/')) {
        (Some(rest), _) => ("^(?:/home/[^/]+|/Users/[^/]+|/root|/var/home/[^/]+|/.*)", rest),
        (None, true) => ("^", path),
        (None, false) => ("^(?:.*/)?", path),
    };
    let mut pattern = format!("(?s-u){start}");
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        pattern.push_str(&regex::escape(part));
        match parts.peek() {
            Some(next) if next.is_empty() && rest.contains("**") => {
                pattern.push_str(".*");
                parts.next();
                if let Some(after) = parts.next() {
                    // `**/x` also means `x` itself.
                    let after = after.strip_prefix('/').unwrap_or(after);
                    pattern.push_str(&regex::escape(after));
                }
            }
            Some(_) => pattern.push_str("[^/]*"),
            None => {}
        }
    }
    pattern.push('$');
    pattern
}

/// Compiled leads.
#[derive(Debug)]
pub(super) struct Leads {
    services: HashMap<Vec<u8>, String>,
    prefixes: Vec<(Vec<u8>, String)>,
    identifiers: Vec<String>,
    except: Vec<Vec<u8>>,
    generic: BytesRegex,
    generic_service: String,
    files: Paths,
    sockets: Paths,
    ports: HashMap<u16, String>,
}

impl Leads {
    pub(super) fn compile(source: Source<'_>) -> Result<Self, CatalogError> {
        let file: LeadsFile = source.parse()?;
        let span = file.generic.span();
        let generic = file.generic.into_inner();
        let pattern = BytesRegex::new(&generic.pattern)
            .map_err(|error| source.error(&span, "pattern", &error.to_string()))?;
        let mut services = HashMap::new();
        let mut prefixes = Vec::new();
        let mut identifiers = Vec::new();
        for spec in file.variables {
            for name in spec.names {
                if spec.identifier {
                    identifiers.push(name.clone());
                }
                match name.strip_suffix('*') {
                    Some(prefix) => prefixes.push((prefix.as_bytes().to_vec(), spec.service.clone())),
                    None => {
                        services.insert(name.into_bytes(), spec.service.clone());
                    }
                }
            }
        }
        let mut ports = HashMap::new();
        for (port, name) in file.ports {
            let number = port.parse().map_err(|_| {
                source.error(&(0..source.text.len()), &port, "a port is a number up to 65535")
            })?;
            ports.insert(number, name);
        }
        Ok(Self {
            services,
            prefixes,
            identifiers,
            except: generic.except.into_iter().map(String::into_bytes).collect(),
            generic: pattern,
            generic_service: generic.service,
            files: Paths::compile(file.files, "files", source)?,
            sockets: Paths::compile(file.sockets, "sockets", source)?,
            ports,
        })
    }

    pub(super) fn identifiers(&self) -> impl Iterator<Item = String> {
        self.identifiers.iter().cloned()
    }
}

impl Catalog {
    /// Returns the service whose credential an environment variable of this name holds, or points
    /// to; `credential` where only the name's shape says so.
    pub fn credential_name(&self, name: &[u8]) -> Option<String> {
        let leads = &self.leads;
        if let Some(service) = leads.services.get(name) {
            return Some(service.clone());
        }
        if let Some((_, service)) = leads.prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            return Some(service.clone());
        }
        let fits =
            name.len() <= 256 && !leads.except.iter().any(|one| one == name) && leads.generic.is_match(name);
        fits.then(|| leads.generic_service.clone())
    }

    /// Returns what an open file is, where it is a known place of credentials.
    pub fn credential_file(&self, path: &[u8]) -> Option<String> {
        self.leads.files.find(path).map(|(meaning, _)| meaning.clone())
    }

    /// Returns what a unix socket's path means, and how its authority is usually withdrawn.
    pub fn socket_meaning(&self, path: &[u8]) -> Option<SocketMeaning> {
        let (meaning, advice) = self.leads.sockets.find(path)?;
        let shown = String::from_utf8_lossy(path);
        let advice = advice
            .as_ref()
            .map(|advice| advice.replace("{path}", &quote(&shown)));
        Some(SocketMeaning {
            meaning: meaning.clone(),
            advice,
        })
    }

    /// Returns the usual service of a port.
    pub fn port_name(&self, port: u16) -> Option<&str> {
        self.leads.ports.get(&port).map(String::as_str)
    }
}

/// Quotes a path for a shell; a path that cannot be quoted is left out.
fn quote(path: &str) -> String {
    shlex::try_quote(path).map_or_else(|_| "PATH".to_owned(), std::borrow::Cow::into_owned)
}
