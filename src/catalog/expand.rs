//! Replaces variables in an entry as its client does before it starts the server.

use super::load::Expands;
use super::verdict::Seen;
use super::words::basename;
use crate::model::known::ConfiguredServer;

/// Stands for any part of one element: what a variable held that is not known. No argument vector
/// has this byte in it.
pub(super) const WILD: u8 = 0;

/// Command and arguments of an entry after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) words: Vec<Vec<u8>>,
    /// A variable was not known.
    pub(super) lossy: bool,
}

/// Expands an entry with what is known of the owner's variables.
pub(super) fn expand(entry: &ConfiguredServer, expands: &[Expands], seen: &Seen<'_>) -> Wanted {
    let expander = Expander { entry, expands, seen };
    let words: Vec<Vec<u8>> = std::iter::once(&entry.command)
        .chain(&entry.args)
        .map(|word| expander.word(word))
        .collect();
    let lossy = words.iter().flatten().any(|byte| *byte == WILD);
    Wanted { words, lossy }
}

/// Returns whether a pattern with wildcards fits a text.
pub(super) fn fits(pattern: &[u8], text: &[u8]) -> bool {
    if pattern == text {
        return true;
    }
    // A pattern from a configuration is short; a huge element is no match for one.
    if !pattern.contains(&WILD) || text.len() > 64 * 1024 {
        return false;
    }
    let (mut at, mut from) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while from < text.len() {
        if pattern.get(at) == Some(&WILD) {
            retry = Some((at + 1, from));
            at += 1;
        } else if pattern.get(at) == Some(&text[from]) {
            at += 1;
            from += 1;
        } else if let Some((after, start)) = retry {
            retry = Some((after, start + 1));
            at = after;
            from = start + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == WILD)
}

struct Expander<'a> {
    entry: &'a ConfiguredServer,
    expands: &'a [Expands],
    seen: &'a Seen<'a>,
}

impl Expander<'_> {
    fn does(&self, kind: Expands) -> bool {
        self.expands.contains(&kind)
    }

    fn word(&self, word: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(word.len());
        let mut rest = word;
        if self.does(Expands::Tilde) && (word == "~" || word.starts_with("~/")) {
            self.home(&mut out);
            rest = &word[1..];
        }
        while let Some(at) = rest.find(['$', '{']) {
            out.extend_from_slice(&rest.as_bytes()[..at]);
            rest = &rest[at..];
            let used = self.variable(rest, &mut out);
            if used == 0 {
                out.push(rest.as_bytes()[0]);
                rest = &rest[1..];
            } else {
                rest = &rest[used..];
            }
        }
        out.extend_from_slice(rest.as_bytes());
        out
    }

    /// Expands what begins here; returns how many bytes it took, 0 where it is plain text.
    fn variable(&self, text: &str, out: &mut Vec<u8>) -> usize {
        for (kind, open, close) in [
            (Expands::Secrets, "${{", "}}"),
            (Expands::Mustache, "{{", "}}"),
            (Expands::Shell, "$(", ")"),
            (Expands::BraceEnv, "{file:", "}"),
        ] {
            if self.does(kind)
                && text.starts_with(open)
                && let Some(end) = text.find(close)
            {
                out.push(WILD);
                return end + close.len();
            }
        }
        if let Some(inside) = text.strip_prefix("${") {
            return self.braced(inside, out);
        }
        if self.does(Expands::BraceEnv)
            && let Some((name, _)) = text
                .strip_prefix("{env:")
                .and_then(|inside| inside.split_once('}'))
        {
            self.value(name, out);
            return "{env:}".len() + name.len();
        }
        if let Some(inside) = text.strip_prefix('$').filter(|_| self.does(Expands::Dollar)) {
            let length = inside
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                .count();
            if length > 0 && !inside.starts_with(|first: char| first.is_ascii_digit()) {
                self.value(&inside[..length], out);
                return length + 1;
            }
        }
        0
    }

    /// `${…}`; `inside` is what follows the brace.
    fn braced(&self, inside: &str, out: &mut Vec<u8>) -> usize {
        let Some((content, _)) = inside.split_once('}') else {
            return 0;
        };
        let used = "${}".len() + content.len();
        let known = if let Some(name) = content.strip_prefix("env:").filter(|_| self.does(Expands::Env)) {
            self.value(name, out);
            true
        } else if content.starts_with("cmd:") && self.does(Expands::Command) {
            out.push(WILD);
            true
        } else {
            self.folder(content, out) || self.bundle(content, out) || self.plain(content, out)
        };
        if known { used } else { 0 }
    }

    fn folder(&self, content: &str, out: &mut Vec<u8>) -> bool {
        if !self.does(Expands::Folder) {
            return false;
        }
        let project = self
            .entry
            .project
            .as_ref()
            .map(crate::model::bytes::OsBytes::lossy);
        match content.split(':').next().unwrap_or(content) {
            "userHome" => self.home(out),
            "pathSeparator" | "/" => out.push(b'/'),
            "workspaceFolder" | "workspacePath" if project.is_some() && !content.contains(':') => {
                out.extend_from_slice(project.unwrap_or_default().as_bytes());
            }
            "workspaceFolderBasename" if project.is_some() => {
                out.extend_from_slice(basename(&project.unwrap_or_default()).as_bytes());
            }
            "extensionPath" => self.directory(out),
            "workspaceFolder"
            | "workspacePath"
            | "workspaceFolderBasename"
            | "input"
            | "command"
            | "config" => {
                out.push(WILD);
            }
            _ => return false,
        }
        true
    }

    fn bundle(&self, content: &str, out: &mut Vec<u8>) -> bool {
        if content.starts_with("user_config.") && (self.does(Expands::Bundle) || self.does(Expands::Braces)) {
            out.push(WILD);
            return true;
        }
        if !self.does(Expands::Bundle) {
            return false;
        }
        match content {
            "__dirname" => self.directory(out),
            "pathSeparator" | "/" => out.push(b'/'),
            "HOME" => self.home(out),
            "DESKTOP" | "DOCUMENTS" | "DOWNLOADS" => out.push(WILD),
            _ => return false,
        }
        true
    }

    /// `${X}`, `${X:-default}`: which of the two it was is not known where `X` is not.
    fn plain(&self, content: &str, out: &mut Vec<u8>) -> bool {
        let name = content.split_once(":-").map_or(content, |(name, _)| name);
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || !(self.does(Expands::Braces) || self.does(Expands::Dollar)) {
            return false;
        }
        if name == "CLAUDE_PLUGIN_ROOT" {
            self.plugin_root(out);
        } else {
            self.value(name, out);
        }
        true
    }

    fn value(&self, name: &str, out: &mut Vec<u8>) {
        let seen = self
            .seen
            .variables
            .and_then(|all| all.get(name))
            .map(crate::model::bytes::OsBytes::as_bytes);
        let own = self
            .entry
            .env
            .get(name)
            .map(String::as_bytes)
            .filter(|value| !value.is_empty());
        match seen.or(own) {
            Some(value) => out.extend_from_slice(value),
            None if name == "HOME" => self.home(out),
            None => out.push(WILD),
        }
    }

    fn home(&self, out: &mut Vec<u8>) {
        let home = Some(&self.entry.home)
            .filter(|home| !home.is_empty())
            .or(self.seen.home);
        match home {
            Some(home) => out.extend_from_slice(home.as_bytes()),
            None => out.push(WILD),
        }
    }

    /// The directory of the configuration file.
    fn directory(&self, out: &mut Vec<u8>) {
        let file = self.entry.file.as_bytes();
        match file.iter().rposition(|byte| *byte == b'/') {
            Some(at) => out.extend_from_slice(&file[..at]),
            None => out.push(WILD),
        }
    }

    /// The plugin's directory, of which `.claude-plugin/plugin.json` lies one deeper.
    fn plugin_root(&self, out: &mut Vec<u8>) {
        let start = out.len();
        self.directory(out);
        if let Some(root) = out[start..].strip_suffix(b"/.claude-plugin").map(<[u8]>::len) {
            out.truncate(start + root);
        }
    }
}
