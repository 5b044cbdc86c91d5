//! Nothing is missing and nothing stale while processes come, exec and go.

use std::collections::BTreeMap;
use std::process::Command;

use mcpwake::model::bytes::OsBytes;
use mcpwake::model::identity::{Pid, ProcessKey, StartKey};
use mcpwake::platform::Source as _;

use super::support::{Ward, source};

/// Starts a session in which shells fork, exec under the same pid, leave orphans and end all the time. It adopts
/// the orphans itself and waits for them, which the first process of a container need not do: thousands would be
/// left. The shell ends with it (`PR_SET_CHILD_SUBREAPER`, `PR_SET_PDEATHSIG`).
const CHURN: &str = "import ctypes, os, signal
prctl = ctypes.CDLL(None).prctl
os.setsid()
prctl(36, 1, 0, 0, 0)
if os.fork():
    while True:
        os.wait()
prctl(1, signal.SIGKILL, 0, 0, 0)
os.execvp('sh',['sh','-c','''echo ready
while :; do
  for i in 1 2 3; do
    ( exec sh -c \"exec sleep 0.0$i\" exec-$i ) &
    sh -c \"sleep 0.1; exec sleep 0.1\" later-$i &
    ( sh -c \"sleep 0.9 & sleep 0.4\" orphan-$i & )
  done
  sleep 0.05
done'''])";

/// `PF_EXITING`.
const EXITING: u32 = 4;

/// What does not flicker: a state does.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    ppid: i32,
    /// `None` for one that has ended or is about to: it has none left.
    argv: Option<Vec<OsBytes>>,
}

/// Reads the processes of a session in full, by the other reader.
fn in_full(session: Pid) -> BTreeMap<ProcessKey, Facts> {
    let session = i32::try_from(session.get()).unwrap();
    let read = |process: procfs::process::Process| {
        let stat = process.stat().ok().filter(|stat| stat.session == session)?;
        let mut argv: Vec<OsBytes> = process.cmdline().ok()?.into_iter().map(OsBytes::from).collect();
        while argv.last().is_some_and(OsBytes::is_empty) {
            argv.pop();
        }
        let key = ProcessKey {
            pid: Pid::new(stat.pid.into())?,
            start: StartKey(stat.starttime),
        };
        Some((
            key,
            Facts {
                ppid: stat.ppid,
                argv: (stat.state != 'Z' && stat.flags & EXITING == 0).then_some(argv),
            },
        ))
    };
    procfs::process::all_processes()
        .unwrap()
        .flatten()
        .filter_map(read)
        .collect()
}

#[test]
fn a_sample_lies_between_two_full_reads() {
    let mut ward = Ward::start(Command::new("python3").args(["-c", CHURN]));
    ward.wait_for_line();
    let mut source = source();
    let (mut compared, mut wrong) = (0, Vec::new());
    for _ in 0..100 {
        let before = in_full(ward.pid());
        let sample = source.sample().unwrap();
        let after = in_full(ward.pid());
        // What was the same on both sides of the sample was so during it.
        for (key, facts) in before.iter().filter(|(key, facts)| after.get(key) == Some(facts)) {
            compared += 1;
            let seen = sample.get(*key).map(|process| Facts {
                ppid: process.ppid.map_or(0, |pid| i32::try_from(pid.get()).unwrap()),
                argv: facts.argv.as_ref().map(|_| process.args().to_vec()),
            });
            if seen.as_ref() != Some(facts) {
                wrong.push(format!("{key}: {seen:?}, but {facts:?}"));
            }
        }
    }
    assert!(compared > 300, "only {compared} comparisons");
    assert!(
        wrong.is_empty(),
        "{} of {compared}: {}",
        wrong.len(),
        wrong.join("\n")
    );
}
