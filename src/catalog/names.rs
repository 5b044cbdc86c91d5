//! What the name of one thing (package, program, script, module, image) says, and the short name
//! made of it.

use std::collections::HashSet;

use regex::{Regex, RegexSet};

use super::load::{NamesSpec, Source};
use super::verdict::CatalogError;
use super::words::{basename, is_windows};

/// How much a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    /// It has `mcp` in it as a word.
    Weak,
    /// Most things of such a name are servers.
    Medium,
    /// Things of such a name are servers.
    Strong,
    /// A known server.
    Exact,
}

/// Longest identifier that is looked at.
const LONGEST: usize = 256;
/// Endings of source and archive files.
const SOURCE: [&str; 22] = [
    ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".py", ".pyw", ".pyz", ".rb", ".php",
    ".phar", ".pl", ".lua", ".jar", ".dll", ".ps1", ".sh", ".bash", ".exe",
];

/// What build tools put behind the name of an archive that holds everything it needs.
const CLASSIFIERS: [&str; 7] = [
    "-all",
    "-fat",
    "-uber",
    "-shaded",
    "-runner",
    "-standalone",
    "-jar-with-dependencies",
];

/// Compiled tests on names.
#[derive(Debug)]
pub(super) struct Names {
    never: RegexSet,
    chores: RegexSet,
    exact: HashSet<String>,
    strong: RegexSet,
    medium: RegexSet,
    weak: RegexSet,
    script_path: Regex,
    platform: Regex,
    generic: HashSet<String>,
    skip: HashSet<String>,
}

impl Names {
    pub(super) fn compile(
        spec: &NamesSpec,
        source: Source<'_>,
        span: &std::ops::Range<usize>,
    ) -> Result<Self, CatalogError> {
        let set = |key: &str, patterns: &[String]| {
            for pattern in patterns {
                source.regex(span, key, pattern)?;
            }
            RegexSet::new(patterns).map_err(|error| source.error(span, key, &error.to_string()))
        };
        Ok(Self {
            never: set("never", &spec.never)?,
            chores: set("chores", &spec.chores)?,
            exact: spec.exact.iter().cloned().collect(),
            strong: set("strong", &spec.strong)?,
            medium: set("medium", &spec.medium)?,
            weak: set("weak", &spec.weak)?,
            script_path: source.regex(span, "script_path", &spec.script_path)?,
            platform: source.regex(span, "platform", &spec.platform)?,
            generic: spec.generic.iter().cloned().collect(),
            skip: spec.skip_directories.iter().cloned().collect(),
        })
    }

    /// Grades one clean identifier.
    pub(super) fn grade(&self, identifier: &str) -> Option<Grade> {
        if identifier.len() > LONGEST {
            return None;
        }
        let lower = identifier.to_ascii_lowercase();
        if self.exact.contains(&lower) {
            return Some(Grade::Exact);
        }
        if !(lower.contains("mcp") || lower.contains("modelcontextprotocol")) || self.never.is_match(&lower) {
            return None;
        }
        let bare = self.platform.replace(&lower, "");
        if self.strong.is_match(&bare) {
            Some(Grade::Strong)
        } else if self.medium.is_match(&bare) {
            Some(Grade::Medium)
        } else {
            self.weak.is_match(&bare).then_some(Grade::Weak)
        }
    }

    /// Returns whether a script of this stem does something about servers, and is none.
    pub(super) fn is_chore(&self, stem: &str) -> bool {
        stem.len() <= LONGEST && self.chores.is_match(&stem.to_ascii_lowercase())
    }

    /// Returns whether a stem says nothing of what it is.
    pub(super) fn is_generic(&self, stem: &str) -> bool {
        self.generic.contains(&stem.to_ascii_lowercase())
    }

    /// Returns whether a script's path is that of a server in a directory `mcp`.
    pub(super) fn is_server_path(&self, path: &str) -> bool {
        path.len() <= 1024 && self.script_path.is_match(path)
    }

    /// Returns the nearest directory above a file that says something.
    pub(super) fn telling_directory<'p>(&self, path: &'p str) -> Option<&'p str> {
        let separator = if is_windows(path) { '\\' } else { '/' };
        path.rsplit(separator)
            .skip(1)
            .take(6)
            .take_while(|part| *part != "node_modules")
            .find(|part| !self.says_nothing(part))
    }

    fn says_nothing(&self, directory: &str) -> bool {
        let version = directory.trim_start_matches('v');
        directory.is_empty()
            || directory == "."
            || directory == ".."
            || self.skip.contains(directory)
            || version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    }

    /// Returns the short name of a server: `git` for `mcp-server-git` and
    /// `@modelcontextprotocol/server-git`; what would leave nothing stays as it is.
    ///
    /// A rewritten title (`server --api-key …`) is cut at its first blank, and what looks like a token keeps
    /// its signs, so that redaction still knows it.
    pub(super) fn short(&self, identifier: &str) -> String {
        let identifier = first_word(identifier);
        if has_token(identifier) {
            return identifier.to_owned();
        }
        let bare = self.platform.replace(identifier, "");
        let bare = bare.as_ref();
        if let Some(name) = bare.strip_prefix("@modelcontextprotocol/server-") {
            return name.to_owned();
        }
        let (scope, name) = match bare.rsplit_once('/') {
            Some((scope, name)) => (basename(scope).trim_start_matches('@'), name),
            None => ("", bare),
        };
        let name = name.replace('_', "-");
        let short = strip_affixes(&name);
        if !short.is_empty() {
            return short.to_owned();
        }
        if scope.is_empty() || scope.eq_ignore_ascii_case("mcp") {
            name
        } else {
            scope.to_owned()
        }
    }
}

/// Returns a name up to its first blank: what follows in a rewritten title are arguments.
pub(super) fn first_word(name: &str) -> &str {
    name.split(|c: char| c.is_whitespace() || c.is_control())
        .find(|word| !word.is_empty())
        .unwrap_or("")
}

/// Returns whether a part of a name is as long as a token and mixes letters and digits as one.
fn has_token(name: &str) -> bool {
    const LONG: usize = 16;
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
        part.len() >= LONG
            && part.bytes().any(|byte| byte.is_ascii_digit())
            && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// Takes off what says only "MCP server".
fn strip_affixes(name: &str) -> &str {
    for prefix in ["mcp-server-", "mcp.server.", "mcp-servers-"] {
        if let Some(rest) = strip_prefix_ignoring_case(name, prefix) {
            return rest;
        }
    }
    for suffix in [
        "-mcp-server",
        "-mcp-servers",
        ".mcp-server",
        "-mcpserver",
        "-mcp-server-stdio",
        "-mcp-stdio",
        "-mcp",
        ".mcp",
    ] {
        if let Some(rest) = strip_suffix_ignoring_case(name, suffix) {
            return rest;
        }
    }
    if ["mcp", "mcp-server", "mcp-servers", "mcpserver"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word))
    {
        return "";
    }
    if let Some(rest) = strip_prefix_ignoring_case(name, "mcp-") {
        return rest;
    }
    strip_suffix_ignoring_case(name, "mcp").unwrap_or(name)
}

fn strip_prefix_ignoring_case<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let head = name.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &name[prefix.len()..])
}

fn strip_suffix_ignoring_case<'n>(name: &'n str, suffix: &str) -> Option<&'n str> {
    let at = name.len().checked_sub(suffix.len())?;
    let tail = name.get(at..)?;
    tail.eq_ignore_ascii_case(suffix).then(|| &name[..at])
}

/// Returns a package's name without version, extras, protocol and host: `@playwright/mcp` for
/// `npm:@playwright/mcp@latest`, `serena` for `git+https://host/oraios/serena@main`.
pub(super) fn clean_package(spec: &str) -> &str {
    let mut spec = spec.trim();
    for prefix in ["npm:", "jsr:", "github:", "gitlab:", "file:"] {
        spec = spec.strip_prefix(prefix).unwrap_or(spec);
    }
    let url = spec.contains("://") || spec.starts_with("git+") || spec.starts_with("git@");
    if let Some((name, _)) = spec.split_once(" @ ") {
        spec = name;
    } else if url {
        spec = last_of_url(spec);
    } else if spec.starts_with(['/', '.', '~']) || is_windows(spec) {
        spec = basename(spec);
    }
    let scoped = usize::from(spec.starts_with('@'));
    let end = spec[scoped..]
        .find(['@', '[', '=', '<', '>', '~', '!', ';', '#', '?', ' '])
        .map_or(spec.len(), |at| at + scoped);
    let name = spec[..end].trim_end_matches(".git").trim_end_matches('/');
    let name = if !name.starts_with('@') && name.contains('/') && !url {
        unscoped_path(name)
    } else {
        name
    };
    let archive = [".tgz", ".tar.gz", ".whl"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix));
    archive.unwrap_or(name)
}

/// `owner/name` and `host/owner/name` (Go, nix, GitHub short form): the part that says something.
fn unscoped_path(name: &str) -> &str {
    let mut parts = name
        .rsplit('/')
        .filter(|part| !matches!(*part, "cmd" | "server" | "main" | "..." | ""));
    parts.next().unwrap_or(name)
}

fn last_of_url(url: &str) -> &str {
    let url = url.split(['#', '?']).next().unwrap_or(url).trim_end_matches('/');
    let url = url.strip_prefix("git+").unwrap_or(url);
    basename(url)
}

/// Returns an image's name without registry host, tag and digest.
pub(super) fn clean_image(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    let image = match image.split_once('/') {
        Some((host, rest)) if host.contains(['.', ':']) || host == "localhost" => rest,
        _ => image,
    };
    let tag = image.rfind(':').filter(|at| !image[*at..].contains('/'));
    tag.map_or(image, |at| &image[..at])
}

/// Returns a file's name without the ending of a source or archive file, and without the version that build
/// tools put into an archive's name.
pub(super) fn stem(path: &str) -> &str {
    let name = basename(path);
    let ending = SOURCE
        .iter()
        .find(|ending| strip_suffix_ignoring_case(name, ending).is_some());
    match ending {
        Some(ending) if name.len() > ending.len() => {
            let stem = &name[..name.len() - ending.len()];
            if is_archive(name) {
                unversioned_archive(stem)
            } else {
                stem
            }
        }
        _ => name,
    }
}

/// Maven and Gradle name an archive `NAME-VERSION-CLASSIFIER`; a version begins with a digit.
fn unversioned_archive(stem: &str) -> &str {
    let of_version =
        |(at, _): &(usize, &str)| *at > 0 && stem.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit);
    let name = match stem.match_indices('-').find(of_version) {
        Some((at, _)) => &stem[..at],
        None => stem,
    };
    let classifier = CLASSIFIERS.iter().find_map(|ending| name.strip_suffix(ending));
    classifier.filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Returns whether a file is a shell's script by its ending.
pub(super) fn is_shell_source(path: &str) -> bool {
    strip_suffix_ignoring_case(path, ".sh").is_some() || strip_suffix_ignoring_case(path, ".bash").is_some()
}

/// Returns whether a file is a Java archive by its ending.
pub(super) fn is_archive(path: &str) -> bool {
    strip_suffix_ignoring_case(path, ".jar").is_some()
}

/// Returns whether a word is a source file by its ending.
pub(super) fn has_source_ending(path: &str) -> bool {
    stem(path).len() != basename(path).len()
}

/// Returns the package whose file a path is, by the last `node_modules` in it, and whether the
/// path is that of an installed program (`.bin/NAME`).
pub(super) fn node_package(path: &str) -> Option<(&str, bool)> {
    let path = path.trim_end_matches('/');
    let windows = is_windows(path);
    let separator = if windows { '\\' } else { '/' };
    let marker = if windows {
        "node_modules\\"
    } else {
        "node_modules/"
    };
    let inside = &path[path.rfind(marker)? + marker.len()..];
    let mut parts = inside.split(separator);
    match parts.next()? {
        ".bin" => {
            let next = parts.next()?;
            if next != ".." {
                return Some((next, true));
            }
            // `.bin/../pkg/dist/index.js`: a link that was followed by text.
            let rest = inside.strip_prefix(".bin/../")?;
            Some((package_head(rest, '/'), false))
        }
        _ => Some((package_head(inside, separator), false)),
    }
}

fn package_head(inside: &str, separator: char) -> &str {
    let first = inside.find(separator).unwrap_or(inside.len());
    if !inside.starts_with('@') {
        return &inside[..first];
    }
    let second = inside.get(first + 1..).and_then(|rest| rest.find(separator));
    second.map_or(inside, |at| &inside[..first + 1 + at])
}
