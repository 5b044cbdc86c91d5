//! Servers that a client was given on its own command line.

use serde_json::{Map, Value};

use super::Catalog;
use super::clients::ClientOption;
use super::config;
use super::entry::Origin;
use super::load::{Evidence, Format, Takes};
use super::verdict::ArgvConfig;
use crate::model::bytes::OsBytes;
use crate::model::known::ConfiguredServer;

/// Longest JSON on a command line that is read.
const JSON_BYTES: usize = 256 * 1024;

impl Catalog {
    /// Returns the servers that a client's own command line names: files to read, or entries.
    ///
    /// Entries have no home directory: the process has one.
    pub fn parse_client_argv(&self, client: &str, argv: &[OsBytes]) -> Vec<ArgvConfig> {
        let Some(at) = self.clients.all.iter().position(|one| one.id == client) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for option in self.clients.options.iter().filter(|option| option.client == at) {
            let values = values_of(option, argv);
            if option.spec.takes == Takes::TomlAssignment {
                found.extend(self.assignments(option, &values));
            } else {
                found.extend(values.iter().filter_map(|value| self.file_or_json(option, value)));
            }
        }
        found
    }

    fn file_or_json(&self, option: &ClientOption, value: &OsBytes) -> Option<ArgvConfig> {
        let bytes = value.as_bytes();
        if bytes.first() == Some(&b'{') {
            let text = value.as_str().filter(|text| text.len() <= JSON_BYTES)?;
            let value = config::parse(Format::Json, text).ok()?;
            let servers = self.inline(option, &value);
            return (!servers.is_empty()).then_some(ArgvConfig::Inline(servers));
        }
        let path = match (option.spec.takes, bytes.strip_prefix(b"@")) {
            (Takes::JsonOrAtFile, Some(path)) => path,
            (Takes::JsonOrAtFile, None) => return None,
            _ => bytes,
        };
        (!path.is_empty()).then(|| ArgvConfig::File {
            path: path.into(),
            index: option.file,
        })
    }

    fn inline(&self, option: &ClientOption, value: &Value) -> Vec<ConfiguredServer> {
        let client = &self.clients.all[option.client];
        let shown = format!(
            "(command line, {})",
            option.spec.options.first().map_or("", String::as_str)
        );
        let origin = Origin {
            client: &client.id,
            client_name: &client.name,
            file: &shown.into(),
            home: &OsBytes::default(),
            project: None,
            scope: "invocation",
            guess: option.spec.evidence == Evidence::Guess,
        };
        self.servers(&option.spec.pointers, value, origin)
    }

    /// `-c mcp_servers.NAME.command="npx" -c mcp_servers.NAME.args=["-y", "x"]` together.
    fn assignments(&self, option: &ClientOption, values: &[OsBytes]) -> Option<ArgvConfig> {
        let mut root = Value::Object(Map::new());
        for value in values {
            let Some((path, text)) = value.as_str().and_then(|value| value.split_once('=')) else {
                continue;
            };
            // The right side is TOML; what is not, is a string.
            let parsed = toml::from_str::<Map<String, Value>>(&format!("x = {text}"));
            let parsed = parsed.ok().and_then(|mut table| table.remove("x"));
            set(
                &mut root,
                &dotted(path.trim()),
                parsed.unwrap_or_else(|| Value::String(text.to_owned())),
            );
        }
        let servers = self.inline(option, &root);
        (!servers.is_empty()).then_some(ArgvConfig::Inline(servers))
    }
}

/// Values of an option: `--o=V`, `--o V`, and where several may follow, all up to the next option.
fn values_of(option: &ClientOption, argv: &[OsBytes]) -> Vec<OsBytes> {
    let mut values = Vec::new();
    let mut taking = false;
    for element in argv.iter().skip(1) {
        let bytes = element.as_bytes();
        if bytes == b"--" {
            break;
        }
        let names = || option.spec.options.iter().map(String::as_bytes);
        if names().any(|name| name == bytes) {
            taking = true;
        } else if let Some(value) = names().find_map(|name| bytes.strip_prefix(name)?.strip_prefix(b"=")) {
            values.push(value.into());
            taking = false;
        } else if bytes.first() == Some(&b'-') {
            taking = false;
        } else if taking {
            values.push(element.clone());
            taking = option.spec.takes == Takes::FilesOrJson;
        }
    }
    values
}

/// Splits a dotted key; a part may be in quotes.
fn dotted(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in path.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '.') if parts.len() < 16 => parts.push(String::new()),
            (_, c) => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    parts
}

fn set(root: &mut Value, path: &[String], value: Value) {
    let mut at = root;
    for key in path {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Some(map) = at.as_object_mut() else { return };
        at = map.entry(key.clone()).or_insert(Value::Null);
    }
    *at = value;
}
