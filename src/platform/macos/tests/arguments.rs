//! Arguments and environments as `kern.procargs2` gives them.

use std::collections::BTreeSet;

use super::mac::procargs;
use crate::model::bytes::OsBytes;
use crate::platform::macos::decode::arguments::{Arguments, Surroundings, decode};

const ENVIRONMENT: [&str; 4] = [
    "PATH=/usr/bin:/bin",
    "HOME=/Users/op",
    "CLAUDE_CODE_SESSION=7f3a",
    "API_KEY=hunter2",
];

fn read(buffer: &[u8]) -> Arguments {
    let identifiers = BTreeSet::from(["CLAUDE_CODE_SESSION".to_owned()]);
    decode(buffer, &identifiers).expect("argc")
}

fn argv(arguments: &Arguments) -> Vec<String> {
    arguments
        .argv
        .iter()
        .map(|one| one.lossy().into_owned())
        .collect()
}

fn names(arguments: &Arguments) -> Vec<String> {
    match &arguments.environment {
        Surroundings::Whole(environment) => environment
            .names
            .iter()
            .map(|name| name.lossy().into_owned())
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_and_identifiers_are_kept_and_no_other_value() {
    let buffer = procargs(
        3,
        "/usr/local/bin/node",
        &["node", "server.js", "--stdio"],
        &ENVIRONMENT,
        true,
    );
    let found = read(&buffer);
    assert_eq!(found.program, OsBytes::from("/usr/local/bin/node"));
    assert_eq!(argv(&found), ["node", "server.js", "--stdio"]);
    assert_eq!(names(&found), ["API_KEY", "CLAUDE_CODE_SESSION", "HOME", "PATH"]);
    let Surroundings::Whole(environment) = &found.environment else {
        panic!("{found:?}");
    };
    let values: Vec<&OsBytes> = environment.identifiers.values().collect();
    assert_eq!(values, [&OsBytes::from("7f3a")]);
    assert!(!format!("{found:?}").contains("hunter2"));
}

#[test]
fn empty_arguments_are_arguments() {
    let buffer = procargs(4, "/bin/sh", &["sh", "-c", "", "x"], &ENVIRONMENT, true);
    assert_eq!(argv(&read(&buffer)), ["sh", "-c", "", "x"]);
    assert_eq!(names(&read(&buffer)).len(), 4);
    // At the end they cannot be told from the padding of a title, as everywhere in this program.
    let buffer = procargs(3, "/bin/sh", &["sh", "", ""], &ENVIRONMENT, true);
    assert_eq!(argv(&read(&buffer)), ["sh"]);
    assert_eq!(names(&read(&buffer)).len(), 4);
    let buffer = procargs(0, "/bin/sh", &[], &ENVIRONMENT, true);
    assert_eq!(argv(&read(&buffer)), [""; 0]);
    assert_eq!(names(&read(&buffer)).len(), 4);
}

#[test]
fn variables_among_the_arguments_are_arguments() {
    let call = ["env", "PATH=/opt/bin", "TERM=dumb", "node", "x.js"];
    let environment = ["PATH=/usr/bin", "TERM=xterm", "HOME=/Users/op"];
    let found = read(&procargs(5, "/usr/bin/env", &call, &environment, true));
    assert_eq!(argv(&found), call);
    assert_eq!(names(&found), ["HOME", "PATH", "TERM"]);
    // Not a common one, behind a program's name: nothing speaks for a title.
    let call = ["make", "CC=clang", "all"];
    let found = read(&procargs(3, "/usr/bin/make", &call, &environment, true));
    assert_eq!(argv(&found), call);
}

#[test]
fn a_title_that_fits_leaves_the_environment_whole() {
    // libuv writes the title over argv and zeros up to its end.
    let padded = ["npm exec git", "", "", "", ""];
    let found = read(&procargs(3, "/usr/local/bin/node", &padded, &ENVIRONMENT, true));
    assert_eq!(argv(&found), ["npm exec git"]);
    assert_eq!(names(&found).len(), 4);
}

#[test]
fn a_title_that_runs_into_the_environment_takes_it_along() {
    let title = "worker: a title that is much longer than the arguments were";
    for (why, argv_and_rest, environment) in [
        // Zeros up to the end of the environment.
        ("all overwritten", vec![title, "", ""], vec![]),
        // Zeros up to the middle of a variable.
        (
            "a torn variable",
            vec![title, "", ""],
            vec!["/bin:/usr/bin", "HOME=/Users/op"],
        ),
        // No zeros: the next strings are the environment's.
        (
            "variables for arguments",
            vec![title, "usr/bin:/bin", "HOME=/Users/op"],
            vec!["API_KEY=hunter2"],
        ),
        (
            "an uncommon variable",
            vec![title, "AWS_SECRET_ACCESS_KEY=hunter2", "B=1"],
            vec!["C=2"],
        ),
        (
            "the loader's",
            vec![title, "ptr_munge=", "main_stack=0x7ff7,0x1"],
            vec!["executable_file=0x1,0x2"],
        ),
    ] {
        let found = read(&procargs(3, "/usr/bin/ruby", &argv_and_rest, &environment, true));
        assert_eq!(argv(&found), [title], "{why}");
        assert_eq!(found.environment, Surroundings::Overwritten, "{why}");
        assert!(!format!("{found:?}").contains("hunter2"), "{why}");
    }
}

#[test]
fn a_withheld_environment_is_not_an_empty_one() {
    let withheld = read(&procargs(1, "/usr/bin/ssh", &["ssh"], &[], false));
    assert_eq!(withheld.environment, Surroundings::Withheld);
    let empty = read(&procargs(1, "/usr/bin/ssh", &["ssh"], &[], true));
    assert_eq!(names(&empty), [""; 0]);
}

#[test]
fn a_cut_off_buffer_gives_what_it_holds() {
    let whole = procargs(2, "/bin/cat", &["cat", "/etc/hosts"], &ENVIRONMENT, true);
    assert_eq!(decode(&whole[..3], &BTreeSet::new()), None);
    for length in 4..whole.len() {
        let found = read(&whole[..length]);
        assert!("/bin/cat".starts_with(&*found.program.lossy()), "{length}");
        let given = argv(&found);
        for (one, full) in given.iter().zip(["cat", "/etc/hosts"]) {
            assert!(full.starts_with(one.as_str()), "{length}: {given:?}");
        }
        let first = whole.windows(4).position(|part| part == b"PATH").unwrap();
        if length < first {
            assert_eq!(found.environment, Surroundings::CutOff, "{length}");
        }
    }
}

#[test]
fn a_false_argc_takes_no_more_than_there_is() {
    let arguments = ["cat", "x"];
    let many = read(&procargs(i32::MAX, "/bin/cat", &arguments, &[], false));
    assert_eq!(argv(&many), arguments);
    assert_eq!(many.environment, Surroundings::CutOff);
    let negative = read(&procargs(-1, "/bin/cat", &arguments, &ENVIRONMENT, true));
    assert_eq!(argv(&negative), [""; 0]);
}
