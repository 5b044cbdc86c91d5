//! One server's entry in a configuration, in any of the forms that clients use.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Catalog;
use crate::model::bytes::OsBytes;
use crate::model::known::ConfiguredServer;

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) client: &'a str,
    pub(super) client_name: &'a str,
    pub(super) file: &'a OsBytes,
    pub(super) home: &'a OsBytes,
    pub(super) project: Option<&'a OsBytes>,
    pub(super) scope: &'a str,
    pub(super) guess: bool,
}

/// Command and arguments of an entry.
type Argv = (String, Vec<String>);

/// Reads an entry; `None` where it starts no process. `stars` are the keys on the way: the last
/// is the server's name, one before it a project's directory.
pub(super) fn read(
    catalog: &Catalog,
    stars: &[String],
    value: &Value,
    origin: Origin<'_>,
) -> Option<ConfiguredServer> {
    let outer = value.as_object()?;
    // Cline and Continue's older form nest what starts it.
    let map = match outer.get("transport") {
        Some(Value::Object(inner)) => inner,
        _ => outer,
    };
    let (command, args) = argv(map)?;
    if command.trim().is_empty() {
        return None;
    }
    let names = env_names(map);
    let name = match (outer.get("name").and_then(Value::as_str), stars.last()) {
        (Some(name), Some(index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        (_, Some(key)) => key,
        (Some(name), None) => name,
        (None, None) => "",
    };
    let project_key = stars
        .len()
        .checked_sub(2)
        .and_then(|at| stars.get(at))
        .filter(|key| key.starts_with('/'));
    let env = names
        .into_iter()
        .map(|(name, value)| {
            let kept = keeps_value(catalog, &name, &value, &command, &args);
            (name, if kept { value } else { String::new() })
        })
        .collect();
    Some(ConfiguredServer {
        client: origin.client.to_owned(),
        client_name: origin.client_name.to_owned(),
        file: origin.file.clone(),
        scope: origin.scope.to_owned(),
        name: name.into(),
        home: origin.home.clone(),
        project: project_key
            .map(|key| key.as_str().into())
            .or_else(|| origin.project.cloned()),
        command,
        args,
        cwd: ["cwd", "working_directory", "workingDirectory"]
            .iter()
            .find_map(|key| text(map.get(*key)?)),
        env,
        disabled: is_disabled(outer),
        guess: origin.guess,
    })
}

/// Names the one server of a bundle's manifest.
pub(super) fn name_by_manifest(found: &mut [ConfiguredServer], manifest: &Value) {
    let name = ["name", "display_name", "id"]
        .iter()
        .find_map(|key| manifest.get(*key)?.as_str());
    if let Some(name) = name {
        for server in found.iter_mut().filter(|server| server.name.is_empty()) {
            server.name = name.into();
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The forms of a command: a string with `args`, one array, Goose's `cmd`, Zed's object.
fn argv(map: &Map<String, Value>) -> Option<Argv> {
    let given = map.get("command").or_else(|| map.get("cmd"))?;
    match given {
        Value::String(command) => Some((command.clone(), args(map))),
        Value::Array(all) => {
            let mut words = all.iter().filter_map(text);
            let command = words.next()?;
            Some((command, words.chain(args(map)).collect()))
        }
        Value::Object(inner) => {
            let command = text(inner.get("path").or_else(|| inner.get("command"))?)?;
            Some((command, args(inner)))
        }
        _ => None,
    }
}

fn args(map: &Map<String, Value>) -> Vec<String> {
    match map.get("args").or_else(|| map.get("arguments")) {
        Some(Value::Array(all)) => all.iter().filter_map(text).collect(),
        Some(Value::String(line)) => shlex::split(line).unwrap_or_else(|| vec![line.clone()]),
        _ => Vec::new(),
    }
}

/// Variables that an entry sets, with their values, and those it passes on, without.
fn env_names(map: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for key in ["env", "environment", "envs"] {
        match map.get(key).or_else(|| map.get("command")?.get(key)) {
            Some(Value::Object(env)) => {
                names.extend(
                    env.iter()
                        .map(|(name, value)| (name.clone(), text(value).unwrap_or_default())),
                );
            }
            Some(Value::Array(all)) => {
                for one in all {
                    let pair = (
                        one.get("name").and_then(Value::as_str),
                        one.get("value").and_then(text),
                    );
                    if let (Some(name), value) = pair {
                        names.insert(name.to_owned(), value.unwrap_or_default());
                    }
                }
            }
            _ => {}
        }
    }
    for key in ["env_vars", "env_keys"] {
        let all = map.get(key).and_then(Value::as_array).into_iter().flatten();
        for name in all.filter_map(Value::as_str) {
            names.entry(name.to_owned()).or_default();
        }
    }
    names
}

/// A value is kept only where expansion needs it and its name does not say "secret".
fn keeps_value(catalog: &Catalog, name: &str, value: &str, command: &str, args: &[String]) -> bool {
    let used = |text: &str| {
        let mut rest = text;
        while let Some(at) = rest.find(name) {
            let before = &rest[..at];
            if before.ends_with('$') || before.ends_with("${") || before.ends_with("env:") {
                return true;
            }
            rest = &rest[at + name.len()..];
        }
        false
    };
    !name.is_empty()
        && value.len() <= 4096
        && catalog.credential_name(name.as_bytes()).is_none()
        && !value.contains("://")
        && (used(command) || args.iter().any(|argument| used(argument)))
}

fn is_disabled(map: &Map<String, Value>) -> bool {
    let is = |key: &str, wanted: bool| map.get(key).and_then(Value::as_bool) == Some(wanted);
    is("disabled", true) || is("enabled", false) || is("isActive", false) || is("active", false)
}
