//! Compares the words of a process with those of an entry, and knows where package runners keep
//! what they run.

use sha2::{Digest, Sha512};

use super::expand::{WILD, Wanted, fits};
use super::names;
use super::verdict::Seen;
use super::words::Word;
use crate::model::bytes::OsBytes;
use crate::model::known::ConfiguredServer;

/// Elements at the front where a process and its entry must have something in common.
const FRONT: usize = 8;

/// A cheap test before anything is expanded: what equals an entry has at its front one of the
/// entry's words, or lies in a runner's cache.
pub(super) fn has_something_in_common(entry: &ConfiguredServer, argv: &[OsBytes]) -> bool {
    let variable = |word: &str| word.contains(['$', '{']) || word.starts_with('~');
    if variable(&entry.command) {
        return true;
    }
    let command = entry.command.rsplit('/').next().unwrap_or(&entry.command);
    argv.iter().take(FRONT).any(|element| {
        let bytes = element.as_bytes();
        let front = &bytes[..bytes.len().min(1024)];
        let has = |word: &str| contains(front, word.as_bytes());
        has(command)
            || has("npm exec")
            || has("/_npx/")
            || has("bunx-")
            || has("/pnpm/dlx/")
            || entry.args.iter().any(|word| {
                word.len() > 1 && !word.starts_with('-') && (variable(word) || has(last_name(word)))
            })
    })
}

/// The part of an argument that also shows where a runner writes it otherwise.
fn last_name(word: &str) -> &str {
    let word = word.split_whitespace().last().unwrap_or(word);
    names::clean_package(word.rsplit('/').next().unwrap_or(word))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// An entry that is variables alone would equal everything.
pub(super) fn says_enough(wanted: &Wanted) -> bool {
    let literal = |word: &Vec<u8>| word.iter().filter(|byte| **byte != WILD).count();
    let Some((command, arguments)) = wanted.words.split_first() else {
        return false;
    };
    // A path's slashes are not enough: `${A}/${B}`.
    let telling = command
        .iter()
        .filter(|byte| !matches!(**byte, WILD | b'/' | b'.'))
        .count()
        > 0;
    telling
        || !command.contains(&WILD)
        || arguments
            .iter()
            .any(|word| !word.starts_with(b"-") && literal(word) >= 4)
}

pub(super) fn without_padding(argv: &[OsBytes]) -> &[OsBytes] {
    let used = argv
        .iter()
        .rposition(|element| !element.is_empty())
        .map_or(0, |last| last + 1);
    &argv[..used]
}

pub(super) fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii_end()
}

pub(super) fn same(wanted: &[Vec<u8>], argv: &[OsBytes], seen: &Seen<'_>) -> bool {
    match (wanted, argv) {
        ([command, arguments @ ..], [first, rest @ ..]) => {
            all_fit(arguments, rest) && command_fits(command, first, seen)
        }
        _ => false,
    }
}

pub(super) fn all_fit(wanted: &[Vec<u8>], argv: &[OsBytes]) -> bool {
    wanted.len() == argv.len()
        && wanted
            .iter()
            .zip(argv)
            .all(|(want, is)| fits(want, is.as_bytes()))
}

pub(super) fn fits_word(wanted: &str, is: &str) -> bool {
    fits(wanted.as_bytes(), is.as_bytes())
}

pub(super) fn fit_words(wanted: &[Word<'_>], is: &[Word<'_>]) -> bool {
    wanted.len() == is.len() && wanted.iter().zip(is).all(|(want, is)| fits_word(want, is))
}

/// Compares an entry's command with `argv[0]`: as written, by its last part where the client
/// looks it up in PATH, resolved where it is relative, or by the executable.
pub(super) fn command_fits(wanted: &[u8], first: &OsBytes, seen: &Seen<'_>) -> bool {
    let shown = first.as_bytes();
    if fits(wanted, shown) {
        return true;
    }
    let bare = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().unwrap_or(path).to_vec();
    let name = bare(shown);
    if !wanted.contains(&b'/') {
        return name.strip_suffix(b".exe").is_some_and(|stem| stem == wanted) || fits(wanted, &name);
    }
    if !shown.contains(&b'/') {
        let exe = seen
            .exe
            .is_none_or(|exe| fits(&bare(wanted), exe.basename()) || fits(wanted, exe.as_bytes()));
        return exe && fits(&bare(wanted), shown);
    }
    let resolve = |path: &[u8]| plain_path(path, seen.cwd.map(OsBytes::as_bytes));
    let wanted = resolve(wanted);
    fits(&wanted, &resolve(shown)) || seen.exe.is_some_and(|exe| fits(&wanted, exe.as_bytes()))
}

/// A path without `.` and `..`, from the working directory where it is relative.
fn plain_path(path: &[u8], cwd: Option<&[u8]>) -> Vec<u8> {
    let start = if path.starts_with(b"/") {
        &b""[..]
    } else {
        cwd.unwrap_or_default()
    };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in start
        .split(|byte| *byte == b'/')
        .chain(path.split(|byte| *byte == b'/'))
    {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut plain = Vec::new();
    for part in parts {
        plain.push(b'/');
        plain.extend_from_slice(part);
    }
    plain
}

/// Returns the name of the cache directory that npx makes for packages.
pub(super) fn npx_directory(specs: &[&str]) -> String {
    use std::fmt::Write as _;
    let mut specs = specs.to_vec();
    specs.sort_unstable();
    let digest = Sha512::digest(specs.join("\n").as_bytes());
    digest
        .iter()
        .take(8)
        .fold(String::with_capacity(16), |mut name, byte| {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
            name
        })
}

pub(super) fn is_tool_directory(path: &str) -> bool {
    [
        "/archive-v0/",
        "/uv/tools/",
        "/environments-v2/",
        "/builds-v0/",
        "/pipx/venvs/",
        "/pipx/.cache/",
    ]
    .iter()
    .any(|place| path.contains(place))
}
