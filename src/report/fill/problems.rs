//! What could not be read: the sample's own list, and a row for the fields that are `null`.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::host::Lack;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::model::sample;
use crate::model::world::World;
use crate::report::inventory::Problem;
use crate::report::publish::Secrets;
use crate::report::word;

/// Returns what could not be read of the machine and of these processes: one row per process and
/// reason, with the keys in `what`; the kernel's own threads share one row per reason. `of` is the process
/// that the report is about, where it is about one: its descriptors count although it is in no instance.
pub(in crate::report) fn problems(
    world: &World,
    pids: &BTreeSet<Pid>,
    of: Option<ProcessKey>,
    secrets: Secrets<'_>,
) -> Vec<Problem> {
    let mut rows: Vec<Problem> = world
        .sample
        .problems
        .iter()
        .filter(|problem| problem.pid.is_none_or(|pid| pids.contains(&pid)))
        .chain(&world.judged.problems)
        .map(|problem| published(problem, secrets))
        .collect();
    let mut threads: BTreeMap<Absence, (BTreeSet<&'static str>, usize)> = BTreeMap::new();
    let mut first_sample = false;
    for process in pids.iter().filter_map(|pid| world.sample.process(*pid)) {
        first_sample |= process.cpu_permille.is_none();
        for (kind, (fields, why)) in missing(world, process, of) {
            if process.kernel_thread {
                let row = threads.entry(kind).or_default();
                row.0.extend(fields);
                row.1 += 1;
                continue;
            }
            rows.push(Problem {
                pid: Some(process.key.pid.get()),
                what: fields.join(", "),
                kind: word::absence(kind),
                detail: why.map_or_else(|| hint(world, process, kind), |why| secrets.line(&why)),
            });
        }
    }
    for (kind, (fields, count)) in threads {
        rows.push(Problem {
            pid: None,
            what: fields.into_iter().collect::<Vec<_>>().join(", "),
            kind: word::absence(kind),
            detail: format!("of {count} kernel threads: they run no program file"),
        });
    }
    if first_sample {
        rows.push(Problem {
            pid: None,
            what: "cpu_percent".to_owned(),
            kind: word::absence(Absence::Unsupported),
            detail: "null where a process was seen in one sample only: CPU use is the difference of two"
                .to_owned(),
        });
    }
    let mut seen = BTreeSet::new();
    rows.retain(|row| seen.insert((row.pid, row.what.clone(), row.kind, row.detail.clone())));
    rows
}

fn published(problem: &sample::Problem, secrets: Secrets<'_>) -> Problem {
    Problem {
        pid: problem.pid.map(Pid::get),
        what: secrets.line(&problem.what),
        kind: word::absence(problem.kind),
        detail: secrets.line(&problem.detail),
    }
}

type Missing = BTreeMap<Absence, (Vec<&'static str>, Option<String>)>;

/// Returns the fields of a process that have no value, by reason, with the text of a failure.
fn missing(world: &World, process: &Process, of: Option<ProcessKey>) -> Missing {
    let mut rows = Missing::new();
    note(&mut rows, "uid", &process.uid);
    note(&mut rows, "user", &process.user);
    note(&mut rows, "argv", &process.argv);
    note(&mut rows, "exe", &process.exe);
    note(&mut rows, "cwd", &process.cwd);
    if world.judged.roles.contains_key(&process.key) || of == Some(process.key) {
        note(&mut rows, "descriptors", &process.descriptors);
        note(&mut rows, "environment", &process.environment);
    }
    rows
}

fn note<T>(rows: &mut Missing, field: &'static str, reading: &Reading<T>) {
    let Some(kind) = reading.absence() else { return };
    let row = rows.entry(kind).or_default();
    row.0.push(field);
    if let Reading::Failed(why) = reading {
        match &mut row.1 {
            Some(text) => {
                text.push_str("; ");
                text.push_str(why);
            }
            none => *none = Some(why.clone()),
        }
    }
}

/// Returns what to know or do about an absence.
pub(in crate::report) fn hint(world: &World, process: &Process, kind: Absence) -> String {
    match kind {
        Absence::Denied if world.sample.lack() == Lack::Capability => {
            "refused even to root: CAP_SYS_PTRACE may be missing there, as in a container or another user \
             namespace, or a security module forbids it"
                .to_owned()
        }
        Absence::Denied if world.sample.lack() == Lack::Exempt => {
            "refused even to root: the system protects it".to_owned()
        }
        Absence::Denied if process.uid.value() == Some(&world.sample.observer.uid) => {
            "refused although it is this user's: it gave itself other rights or is not dumpable; read it as root"
                .to_owned()
        }
        Absence::Denied => "it belongs to another user; read it as root".to_owned(),
        Absence::Gone if process.is_zombie() => "it has exited and was not waited for: nothing is left to read".to_owned(),
        Absence::Gone => "it was gone when it was looked at".to_owned(),
        Absence::Unsupported => "this system does not tell".to_owned(),
        Absence::Failed => "reading failed".to_owned(),
    }
}
