//! Every pair of what was seen and what is there.

use super::compare;
use crate::app::testkit::Scene;
use crate::model::act::{Difference, Standing, Target};
use crate::model::bytes::OsBytes;
use crate::model::process::{Argv, Process};
use crate::model::reading::Reading;

fn process(argv: Reading<Argv>, exe: Reading<OsBytes>) -> Process {
    let mut scene = Scene::new();
    let mut process = scene.process(300, 1, "deploy", 60, &["node"]).clone();
    process.argv = argv;
    process.exe = exe;
    process
}

fn words(line: &str) -> Reading<Argv> {
    Reading::Value(line.split(' ').map(OsBytes::from).collect())
}

fn file(path: &str) -> Reading<OsBytes> {
    Reading::Value(path.into())
}

fn failed<T>(why: &str) -> Reading<T> {
    Reading::Failed(why.to_owned())
}

/// Compares, and answers in a word.
fn told(seen: (Reading<Argv>, Reading<OsBytes>), now: (Reading<Argv>, Reading<OsBytes>)) -> String {
    let now = process(now.0, now.1);
    let target = Target {
        key: now.key,
        pidfd_inode: None,
        argv: seen.0,
        exe: seen.1,
        member: None,
    };
    match compare(&target, now, 1000) {
        Standing::Same(_) => "same".to_owned(),
        Standing::Changed(_, differences) => differences
            .iter()
            .map(|one| match one {
                Difference::Argv => "argv",
                Difference::Program => "program",
            })
            .collect::<Vec<_>>()
            .join("+"),
        Standing::Unread(why) => {
            assert!(why.contains("of 300 was readable"), "{why}");
            "unread".to_owned()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn argument_vectors() {
    let cases: [(Reading<Argv>, Reading<Argv>, &str); 15] = [
        (words("node a.js"), words("node a.js"), "same"),
        (words("node a.js"), words("node b.js"), "argv"),
        (words("node a.js"), words("node a.js x"), "argv"),
        (words("node a.js x"), words("node a.js"), "argv"),
        (words("node a.js"), Reading::Value(Vec::new()), "argv"),
        (Reading::Value(Vec::new()), words("node a.js"), "argv"),
        // It could not be read then either: nothing has changed as far as anybody could see.
        (Reading::Denied, Reading::Denied, "same"),
        (failed("one"), failed("another"), "same"),
        // What was confirmed is not what is there.
        (Reading::Denied, words("node a.js"), "argv"),
        (Reading::Gone, words("node a.js"), "argv"),
        (Reading::Denied, failed("one"), "argv"),
        // Nobody can say what is there.
        (words("node a.js"), Reading::Denied, "unread"),
        (words("node a.js"), Reading::Gone, "unread"),
        (words("node a.js"), failed("one"), "unread"),
        (words("node a.js"), Reading::Unread, "unread"),
    ];
    for (seen, now, wanted) in cases {
        let exe = file("/usr/bin/node");
        let found = told((seen.clone(), exe.clone()), (now.clone(), exe));
        assert_eq!(found, wanted, "{seen:?}, then {now:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_compared_as_bytes() {
    let argv = |bytes: &[u8]| Reading::Value(vec![OsBytes::from(bytes)]);
    let exe = || file("/usr/bin/node");
    assert_eq!(told((argv(b"a\xff"), exe()), (argv(b"a\xfe"), exe())), "argv");
    assert_eq!(told((argv(b"a\xff"), exe()), (argv(b"a\xff"), exe())), "same");
}

#[test]
fn program_files() {
    let cases: [(Reading<OsBytes>, Reading<OsBytes>, &str); 8] = [
        (file("/usr/bin/node"), file("/usr/bin/node"), "same"),
        (file("/usr/bin/node"), file("/usr/bin/python3"), "program"),
        // A package was upgraded beneath it.
        (file("/usr/bin/node"), file("/usr/bin/node (deleted)"), "same"),
        (file("/usr/bin/node (deleted)"), file("/usr/bin/node"), "same"),
        (
            file("/usr/bin/node (deleted)"),
            file("/usr/bin/sh (deleted)"),
            "program",
        ),
        (Reading::Denied, Reading::Denied, "same"),
        (Reading::Denied, file("/usr/bin/node"), "program"),
        (file("/usr/bin/node"), Reading::Denied, "unread"),
    ];
    for (seen, now, wanted) in cases {
        let argv = || words("node a.js");
        let found = told((argv(), seen.clone()), (argv(), now.clone()));
        assert_eq!(found, wanted, "{seen:?}, then {now:?}");
    }
}

#[test]
fn both_differences_are_told() {
    let seen = (words("sh -c x"), file("/bin/sh"));
    let now = (words("sleep 60"), file("/bin/sleep"));
    assert_eq!(told(seen, now), "argv+program");
}
