//! What is read of own processes: the list, argv, program, working directory, environment, descriptors.

use super::{Found, absent, check, works, wrong};
use crate::doctor::part::Kind;
use crate::doctor::truth::{Part, Truth};
use crate::model::descriptor::{Access, Descriptor, Target};
use crate::model::identity::Pid;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::sample::Sample;
use crate::report::doctor::{Answer, Check};

/// A child of this program's that is being looked at was not started longer ago than this.
const YOUNG_MS: u64 = 60_000;

/// Returns the answers.
pub(super) fn checks(truth: &Truth, sample: &Sample) -> Vec<Check> {
    let each = |id, title, look: &dyn Fn(&Part, &Process) -> Found| {
        check(id, title, over_parts(truth, sample, look))
    };
    vec![
        each("processes.own", "own processes", &|part, process| {
            listed(truth, sample, part, process)
        }),
        each("processes.argv", "  command lines", &|part, process| {
            equal(&process.argv, &part.argv, "byte for byte")
        }),
        each("processes.exe", "  program files", &|_, process| {
            equal(&process.exe, &truth.program, "the path is right")
        }),
        each("processes.cwd", "  working directories", &|_, process| {
            equal(&process.cwd, &truth.cwd, "the path is right")
        }),
        each("processes.environment", "  environment names", &|_, process| {
            environment(truth, process)
        }),
        each("processes.descriptors", "  open descriptors", &|part, process| {
            descriptors(part.kind, process)
        }),
    ]
}

/// Looks at every part; the worst answer counts.
fn over_parts(truth: &Truth, sample: &Sample, look: &dyn Fn(&Part, &Process) -> Found) -> Found {
    let all: Vec<Found> = truth
        .parts
        .iter()
        .map(|part| match truth.find(sample, part) {
            Some(process) => look(part, process),
            None => wrong("it runs, and is not among the processes"),
        })
        .collect();
    let Some((answer, words)) = all.iter().max_by_key(|(answer, _)| *answer) else {
        let why = truth.missing.values().next().cloned().unwrap_or_default();
        return (Answer::Failed, format!("no child could be started: {why}"));
    };
    let as_many = all.iter().filter(|(one, _)| one == answer).count();
    let missing = truth.missing.len();
    let rest = match missing {
        0 => String::new(),
        _ => format!("; {missing} more could not be started"),
    };
    (
        *answer,
        format!("{as_many} of {} own children: {words}{rest}", all.len()),
    )
}

fn listed(truth: &Truth, sample: &Sample, part: &Part, process: &Process) -> Found {
    let parent = process.ppid.map(Pid::get);
    if truth.counts_alike(sample) && parent != Some(part.parent) {
        return wrong(format!(
            "the parent is {}, {} was seen",
            part.parent,
            seen(parent)
        ));
    }
    let uid = process.uid.value();
    if uid != Some(&sample.observer.uid) {
        return wrong(format!(
            "the user id is {}, {} was seen",
            sample.observer.uid,
            seen(uid)
        ));
    }
    let age = sample.elapsed_ms(process);
    if age > YOUNG_MS {
        return wrong(format!(
            "it was started just now, its age is given as {} s",
            age / 1000
        ));
    }
    works("listed, with parent, user and start")
}

fn seen<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn equal<T: PartialEq>(read: &Reading<T>, truth: &T, words: &str) -> Found {
    match read.value() {
        Some(value) if value == truth => works(words),
        Some(_) => wrong("it is another than the one that was given"),
        None => absent(read),
    }
}

fn environment(truth: &Truth, process: &Process) -> Found {
    let Some(found) = process.environment.value() else {
        return absent(&process.environment);
    };
    if !found.names.contains(&truth.variable) {
        return wrong("the variable that it was given is not among them");
    }
    let of_ours = |name: &String| name.as_bytes() == truth.variable.as_bytes();
    if found.identifiers.keys().any(of_ours) {
        return wrong("the value of a variable was kept that is no identifier");
    }
    works("names only, no values")
}

/// What every part has open on 0, 1 and 2.
fn descriptors(kind: Kind, process: &Process) -> Found {
    let Some(list) = process.descriptors.value() else {
        return absent(&process.descriptors);
    };
    let unread = list.iter().find(|one| one.fd < 3 && one.access.value().is_none());
    if let Some(one) = unread {
        let (answer, words) = absent(&one.access);
        return (answer, format!("how number {} was opened: {words}", one.fd));
    }
    let is = |fd: u32, right: &dyn Fn(&Descriptor) -> bool| list.iter().any(|one| one.fd == fd && right(one));
    let pipe = |one: &Descriptor, access: Access| {
        matches!(one.target, Target::Pipe { .. }) && one.access.value() == Some(&access)
    };
    let socket = |one: &Descriptor| matches!(one.target, Target::Socket { .. });
    let stdin = is(0, &|one| match kind {
        Kind::Sockets => socket(one),
        _ => pipe(one, Access::Read),
    });
    let stdout = is(1, &|one| match kind {
        Kind::Sockets => socket(one),
        Kind::Orphan => one.target == Target::Null,
        _ => pipe(one, Access::Write),
    });
    let wrong_ones: Vec<&str> = [(stdin, "0"), (stdout, "1"), (is(2, &socket), "2")]
        .into_iter()
        .filter_map(|(right, number)| (!right).then_some(number))
        .collect();
    if wrong_ones.is_empty() {
        works("numbers 0 to 2 with kind and access")
    } else {
        wrong(format!(
            "number {} is something else, or not seen",
            wrong_ones.join(", ")
        ))
    }
}
