//! Reads clients' configuration files: JSON with comments, TOML and YAML, by pointer.

use serde_json::Value;

use super::Catalog;
use super::entry::{self, Origin};
use super::load::{Evidence, FileSpec, Format};
use super::verdict::{CatalogError, ConfigFile};
use crate::model::bytes::OsBytes;
use crate::model::host::Os;
use crate::model::known::ConfiguredServer;

/// Deepest nesting of a configuration file.
const DEPTH: usize = 96;
/// Most entries taken from one file.
const ENTRIES: usize = 2048;

impl Catalog {
    /// Returns the configuration files that clients may have on a system, in the order of the
    /// catalogue.
    pub fn config_files(&self, os: Os) -> Vec<ConfigFile> {
        let on = |spec: &FileSpec| spec.systems.is_empty() || spec.systems.contains(&os);
        let files = self.clients.files.iter().enumerate();
        files
            .filter(|(_, file)| !file.spec.path.is_empty() && on(&file.spec))
            .map(|(index, file)| {
                let client = &self.clients.all[file.client];
                ConfigFile {
                    client: client.id.clone(),
                    client_name: client.name.clone(),
                    path: file.spec.path.clone(),
                    scope: file.spec.scope.clone(),
                    guess: file.spec.evidence == Evidence::Guess,
                    index,
                }
            })
            .collect()
    }

    /// Returns the servers that a configuration file names and that are started as processes.
    ///
    /// `index` is that of `config_files` or of `ArgvConfig::File`. A file without the key has no
    /// servers; an entry without a command (a remote server) is left out. A text that does not
    /// parse is an error with its line.
    pub fn parse_config(
        &self,
        index: usize,
        file: &OsBytes,
        home: &OsBytes,
        project: Option<&OsBytes>,
        bytes: &[u8],
    ) -> Result<Vec<ConfiguredServer>, CatalogError> {
        let error = |line: usize, key: &str, what: String| CatalogError {
            file: file.lossy().into_owned(),
            line,
            key: key.to_owned(),
            what,
        };
        let Some(definition) = self.clients.files.get(index) else {
            return Err(error(
                0,
                "(file)",
                format!("there is no file definition {index} in the catalogue"),
            ));
        };
        let text = std::str::from_utf8(bytes).map_err(|bad| {
            let line = line_of(bytes, bad.valid_up_to());
            error(line, "(file)", "it is not UTF-8".to_owned())
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let format = format_of(definition.spec.format, file);
        let value = parse(format, text).map_err(|(line, what)| error(line, "(file)", what))?;
        let client = &self.clients.all[definition.client];
        let origin = Origin {
            client: &client.id,
            client_name: &client.name,
            file,
            home,
            project,
            scope: &definition.spec.scope,
            guess: definition.spec.evidence == Evidence::Guess,
        };
        Ok(self.servers(&definition.spec.pointers, &value, origin))
    }

    /// Returns the entries that the first fitting pointer finds.
    pub(super) fn servers(
        &self,
        pointers: &[String],
        value: &Value,
        origin: Origin<'_>,
    ) -> Vec<ConfiguredServer> {
        for pointer in pointers {
            let mut found = Vec::new();
            let keys: Vec<&str> = pointer.split('/').skip(1).collect();
            walk(value, &keys, &mut Vec::new(), &mut |stars, value| {
                if found.len() < ENTRIES {
                    found.extend(entry::read(self, stars, value, origin));
                }
            });
            if !found.is_empty() {
                let whole = pointer.contains('*').then_some(()).is_none();
                if whole {
                    entry::name_by_manifest(&mut found, value);
                }
                return found;
            }
        }
        Vec::new()
    }
}

/// A file named `*.json` is JSON whatever its definition says (Continue reads both).
fn format_of(format: Format, file: &OsBytes) -> Format {
    let name = file.as_bytes();
    if format == Format::Yaml && name.ends_with(b".json") {
        return Format::Json;
    }
    if name.ends_with(b".toml") && format == Format::Json {
        return Format::Toml;
    }
    format
}

/// Parses a text; an error has its line, 0 where none is known.
pub(super) fn parse(format: Format, text: &str) -> Result<Value, (usize, String)> {
    match format {
        Format::Json => parse_json(text),
        Format::Toml => toml::from_str::<Value>(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = line_of(text.as_bytes(), at);
            (line, one_line(error.message()))
        }),
        Format::Yaml => serde_saphyr::from_str::<Value>(text).map_err(|error| {
            let line = error
                .location()
                .and_then(|location| usize::try_from(location.line()).ok());
            (line.unwrap_or(0), one_line(&error.to_string()))
        }),
    }
}

/// The line, from 1, of a place in a text.
fn line_of(text: &[u8], at: usize) -> usize {
    text.iter()
        .take(at)
        .fold(1, |line, byte| line + usize::from(*byte == b'\n'))
}

/// JSON with comments and trailing commas; nothing else is let through.
fn parse_json(text: &str) -> Result<Value, (usize, String)> {
    // The parser recurses without a limit; those of TOML and YAML have one.
    if let Some(line) = too_deep(text) {
        return Err((line, format!("it is nested more than {DEPTH} levels deep")));
    }
    let options = jsonc_parser::ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: true,
        allow_unary_plus_numbers: true,
        ..jsonc_parser::ParseOptions::default()
    };
    jsonc_parser::parse_to_serde_value::<Value>(text, &options)
        .map_err(|error| (error.line_display(), one_line(&error.kind().to_string())))
}

/// A parser's message, without the part of the text it quotes: that may be a secret.
fn one_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or("").trim();
    line.split(['`', '"'])
        .next()
        .unwrap_or(line)
        .trim_end_matches([' ', ':', ','])
        .to_owned()
}

/// Returns the line where brackets nest too deeply for a recursive parser; strings and comments
/// do not count.
fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                at += 1;
                while let Some(inside) = bytes.get(at).filter(|inside| **inside != b'"') {
                    at += if *inside == b'\\' { 2 } else { 1 };
                }
            }
            (b'/', Some(b'/')) => at += text[at..].find('\n').unwrap_or(text.len()),
            (b'/', Some(b'*')) => at += text[at + 2..].find("*/").map_or(text.len(), |end| end + 3),
            (b'{' | b'[', _) => depth += 1,
            (b'}' | b']', _) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH {
            return Some(line_of(bytes, at));
        }
        at += 1;
    }
    None
}

/// Goes along a pointer; hands over what each `*` stood for, and the value.
fn walk<'v>(
    value: &'v Value,
    keys: &[&str],
    stars: &mut Vec<String>,
    found: &mut impl FnMut(&[String], &'v Value),
) {
    let Some((key, rest)) = keys.split_first() else {
        found(stars, value);
        return;
    };
    if *key != "*" {
        if let Some(next) = value.get(*key) {
            walk(next, rest, stars, found);
        }
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, next) in map {
                stars.push(name.clone());
                walk(next, rest, stars, found);
                stars.pop();
            }
        }
        Value::Array(all) => {
            for (at, next) in all.iter().enumerate() {
                stars.push(at.to_string());
                walk(next, rest, stars, found);
                stars.pop();
            }
        }
        _ => {}
    }
}
