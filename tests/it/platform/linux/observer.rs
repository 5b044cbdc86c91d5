//! What looking does to those who are looked at: nothing.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::support::{Ward, look, own_pid, source, tool};
use crate::support::{DEADLINE, output_in_time};

/// Set for the run that is watched; names the process to look at.
const TARGET: &str = "MCPWAKE_WATCHED_TARGET";
/// So many times as long as others a run may take that stops at each of its thousands of calls.
const TRACED: u32 = 4;

#[test]
fn a_look_under_the_eyes_of_a_tracer() {
    let pid = std::env::var(TARGET).ok().and_then(|pid| pid.parse().ok());
    let pid = pid
        .and_then(mcpwake::model::identity::Pid::new)
        .unwrap_or_else(own_pid);
    let mut source = source();
    for _ in 0..3 {
        let sample = look(&mut source, &[pid]);
        assert!(sample.process(pid).unwrap().descriptors.value().is_some());
    }
}

#[test]
fn no_descriptor_of_another_process_is_opened_or_copied() {
    let script = "import os,time\na=os.open('/etc/passwd',os.O_RDONLY);b=os.pipe();c=os.openpty()\n\
                  print('ready',flush=True)\ntime.sleep(600)";
    let mut ward = Ward::start(Command::new("python3").args(["-c", script]));
    ward.wait_for_line();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let program = std::env::current_exe().unwrap();
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-o", trace.path().to_str().unwrap()])
        .arg(program)
        .args([
            "--exact",
            "platform::linux::observer::a_look_under_the_eyes_of_a_tracer",
        ])
        .env(TARGET, ward.pid().to_string())
        // With what it traces: both are ended where it takes too long.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("strace does not run ({error}): install the package strace"));
    let output = output_in_time(traced, DEADLINE * TRACED);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(trace.path()).unwrap();
    let target = format!("{}/", ward.pid());
    assert!(
        text.contains(&format!("\"{target}fd\"")),
        "the trace does not show the look"
    );
    let forbidden = [
        "pidfd_getfd",
        "ptrace(",
        "kcmp(",
        "process_vm_readv",
        "process_vm_writev",
        "kill(",
    ];
    for line in text.lines() {
        assert!(!forbidden.iter().any(|call| line.contains(call)), "{line}");
        // An entry of `fd` is only ever named in a readlinkat relative to that directory.
        let opens = line.contains("open(") || line.contains("openat(") || line.contains("statx(");
        assert!(!(opens && line.contains(&format!("{target}fd/"))), "{line}");
    }
    // Directories of descriptors are opened, their entries only read as links.
    let mut directories = std::collections::BTreeSet::new();
    for line in text.lines() {
        let call = line.split_once(' ').map_or(line, |(_, call)| call.trim_start());
        if let Some(rest) = call.strip_prefix("openat(") {
            let (from, rest) = rest.split_once(", ").unwrap();
            assert!(
                !directories.contains(from),
                "opened below a directory of descriptors: {line}"
            );
            if rest.contains("/fd\"") {
                let opened = call.rsplit("= ").next().unwrap();
                directories.insert(opened.split(' ').next().unwrap().to_owned());
            }
        } else if let Some(closed) = call.strip_prefix("close(") {
            directories.remove(closed.split(')').next().unwrap());
        }
    }
    assert!(!tool("lsof", "lsof", &["-nP", "-p", &ward.pid().to_string()]).is_empty());
}
