//! `kern.procargs2`: argument vector and environment in one buffer.
//!
//! It holds argc (a C int), the path of the program, NULs as padding, argc strings, the environment's strings, and
//! the strings that the kernel hands to the dynamic loader. For a program that system integrity protects the
//! kernel ends the buffer after argv: then the loader's strings are missing too, which tells a withheld
//! environment from an empty one.
//!
//! It is the process's own memory: a title that was rewritten stands in the place of argv. One that is longer
//! than that place runs on into the environment, whose rest would be taken for arguments.

use std::collections::BTreeSet;

use super::i32_at;
use crate::model::bytes::OsBytes;
use crate::model::process::{Argv, Environment};
use crate::platform::environment;

const ARGC_BYTES: usize = 4;

/// Names of the loader's strings (`exec_add_apple_strings`): those that every program gets, or that are so
/// particular that no user sets them.
const LOADER: [&[u8]; 12] = [
    b"ptr_munge",
    b"main_stack",
    b"stack_guard",
    b"malloc_entropy",
    b"executable_file",
    b"dyld_file",
    b"executable_cdhash",
    b"executable_boothash",
    b"dyld_flags",
    b"th_port",
    b"pfz",
    b"arm64e_abi",
];
/// Further ones, whose names a user may set too.
const ALSO_LOADER: [&[u8]; 5] = [
    b"MallocNanoZone",
    b"MallocExperiment",
    b"HardenedRuntime",
    b"subsystem_root_path",
    b"vm_force_4k_pages",
];
/// Variables that nearly every process has: among the arguments, and missing from the environment, they say that a
/// title ran into it.
const COMMON: [&[u8]; 15] = [
    b"PATH",
    b"HOME",
    b"USER",
    b"LOGNAME",
    b"SHELL",
    b"TMPDIR",
    b"PWD",
    b"OLDPWD",
    b"SHLVL",
    b"TERM",
    b"LANG",
    b"SSH_AUTH_SOCK",
    b"XPC_FLAGS",
    b"XPC_SERVICE_NAME",
    b"__CF_USER_TEXT_ENCODING",
];

/// What became of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) enum Surroundings {
    /// All of it.
    Whole(Environment),
    /// The kernel keeps it back.
    Withheld,
    /// A rewritten title has run into it.
    Overwritten,
    /// The buffer ends before it.
    CutOff,
}

/// The decoded buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Arguments {
    /// Path of the program, as it was given to exec.
    pub(in crate::platform::macos) program: OsBytes,
    /// Without empty elements at its end: they pad a rewritten title.
    pub(in crate::platform::macos) argv: Argv,
    /// The environment.
    pub(in crate::platform::macos) environment: Surroundings,
}

/// Decodes a buffer; `None` where it does not even hold argc. Values are kept of `identifiers` only.
pub(in crate::platform::macos) fn decode(buffer: &[u8], identifiers: &BTreeSet<String>) -> Option<Arguments> {
    let count = usize::try_from(i32_at(buffer, 0)?).unwrap_or(0);
    let text = buffer.get(ARGC_BYTES..)?;
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let program = OsBytes::from(text.get(..end).unwrap_or_default());
    let padded = text.get(end..).unwrap_or_default();
    let begin = padded.iter().position(|byte| *byte != 0);
    // With an empty first argument nothing tells the padding from it.
    let strings = Strings(begin.map_or(&[][..], |begin| padded.get(begin..).unwrap_or_default()));
    let mut strings = strings.peekable();
    let mut argv = Vec::new();
    let mut whole = true;
    while argv.len() < count {
        let Some((string, ended)) = strings.next() else {
            whole = false;
            break;
        };
        whole &= ended;
        argv.push(string);
    }
    let rest: Vec<&[u8]> = strings.map(|(string, _)| string).collect();
    let (argv, environment) = separate(program.as_bytes(), argv, &rest, whole, identifiers);
    Some(Arguments {
        program,
        argv: argv.into_iter().map(OsBytes::from).collect(),
        environment,
    })
}

/// Strings of a buffer, each with whether its NUL is there.
struct Strings<'a>(&'a [u8]);

impl<'a> Iterator for Strings<'a> {
    type Item = (&'a [u8], bool);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|byte| *byte == 0);
        let string = self.0.get(..end.unwrap_or(self.0.len()))?;
        self.0 = end.and_then(|end| self.0.get(end + 1..)).unwrap_or_default();
        Some((string, end.is_some()))
    }
}

fn separate<'a>(
    program: &[u8],
    mut argv: Vec<&'a [u8]>,
    rest: &[&[u8]],
    whole: bool,
    identifiers: &BTreeSet<String>,
) -> (Vec<&'a [u8]>, Surroundings) {
    let words = argv.len();
    let used = argv
        .iter()
        .rposition(|string| !string.is_empty())
        .map_or(0, |last| last + 1);
    argv.truncate(used);
    let padded = words > used;
    let (variables, loader) = without_loader(rest);
    if ran_over(program, &argv, &variables) {
        argv.truncate(1);
        return (argv, Surroundings::Overwritten);
    }
    if !whole {
        return (argv, Surroundings::CutOff);
    }
    if variables.is_empty() && !loader {
        return (argv, Surroundings::Withheld);
    }
    // A title with padding behind it: what follows is the environment only if it is whole strings of it.
    let first_is_whole = variables.first().is_some_and(|first| is_variable(first));
    if padded && used == 1 && !first_is_whole {
        return (argv, Surroundings::Overwritten);
    }
    let kept = environment::keep(variables.into_iter(), identifiers);
    (argv, Surroundings::Whole(kept))
}

/// Returns the strings of the environment, and whether the loader's stand behind them.
fn without_loader<'a>(rest: &[&'a [u8]]) -> (Vec<&'a [u8]>, bool) {
    let strings: Vec<&[u8]> = rest.iter().filter(|string| !string.is_empty()).copied().collect();
    let name = |string: &&'a [u8]| environment::split(string).map(|(name, _)| name);
    let of_loader = |string: &&'a [u8]| {
        name(string).is_some_and(|name| LOADER.contains(&name) || ALSO_LOADER.contains(&name))
            // Hashes that are too long for a name, and what the kernel leaves empty.
            || string.starts_with(b"0x")
    };
    let from = strings
        .iter()
        .rposition(|string| !of_loader(string))
        .map_or(0, |last| last + 1);
    let (variables, loader) = strings.split_at(from);
    let certain = loader
        .iter()
        .any(|string| name(string).is_some_and(|name| LOADER.contains(&name)));
    if certain {
        (variables.to_vec(), true)
    } else {
        (strings, false)
    }
}

/// Returns whether what stands among the arguments was the environment: a common variable that the rest does not
/// have, a string of the loader, or, behind a title that is not the program's name, any variable that the rest does
/// not have.
fn ran_over(program: &[u8], argv: &[&[u8]], variables: &[&[u8]]) -> bool {
    let Some((title, arguments)) = argv.split_first() else {
        return false;
    };
    let is_title = *title != program && title.contains(&b' ');
    let among_rest = |name: &[u8]| {
        variables
            .iter()
            .filter_map(|variable| environment::split(variable))
            .any(|(other, _)| other == name)
    };
    arguments.iter().any(|argument| {
        environment::split(argument).is_some_and(|(name, _)| {
            LOADER.contains(&name)
                || !among_rest(name) && (COMMON.contains(&name) || is_title && is_name(name))
        })
    })
}

fn is_variable(string: &[u8]) -> bool {
    environment::split(string).is_some_and(|(name, _)| is_name(name))
}

/// Returns whether it looks like the name of a variable.
fn is_name(name: &[u8]) -> bool {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    name.iter().all(word) && !name.first().is_some_and(u8::is_ascii_digit)
}
