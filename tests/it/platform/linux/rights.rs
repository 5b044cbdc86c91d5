//! What another user may not see is told as denied, never as absent or empty.

use std::process::Command;

use mcpwake::model::host::Visibility;
use mcpwake::model::identity::Pid;
use mcpwake::model::interest::Interest;
use mcpwake::model::reading::{Absence, Reading};
use mcpwake::platform::Source as _;

use super::support::{Ward, inode, look, own_pid, source};
use crate::support::public::Public;
use crate::support::wait_for_exit;

/// Set for the run as another user; names a process of the first one.
const TARGET: &str = "MCPWAKE_CLOSED_TARGET";

/// Runs as `nobody` when the test below starts it, and has nothing to look at otherwise.
#[test]
fn a_process_of_another_user_is_denied_not_empty() {
    let Some(pid) = std::env::var(TARGET)
        .ok()
        .and_then(|pid| Pid::new(pid.parse().ok()?))
    else {
        return;
    };
    let mut source = source();
    for _ in 0..5 {
        let sample = look(&mut source, &[pid, own_pid()]);
        let process = sample.process(pid).unwrap();
        assert_eq!(process.uid, Reading::Value(0));
        assert!(process.exe.is_denied() && process.cwd.is_denied());
        assert!(process.descriptors.is_denied() && process.environment.is_denied());
        assert!(process.net_namespace.is_denied());
        // Anyone may see these.
        assert_eq!(
            process
                .args()
                .last()
                .map(|argument| argument.lossy().into_owned()),
            Some("closed".into())
        );
        assert!(process.signals.value().is_some());
        assert_eq!(process.locks.len(), 1);
        assert_eq!(
            (process.locks[0].kind.as_str(), &process.locks[0].path),
            ("FLOCK", &None)
        );
        let closed = sample
            .unsearched
            .iter()
            .find(|unsearched| unsearched.process == process.key);
        assert_eq!(closed.unwrap().why, Absence::Denied);
        assert_ne!(sample.visibility, Visibility::All);
        assert!((sample.readable as usize) < sample.processes.len());
        let own = sample.process(own_pid()).unwrap();
        assert!(own.exe.value().is_some() && own.descriptors.value().is_some());
        assert!(sample.sockets.value().is_some());
    }
}

/// Returns whether the system hides the first process from this user (`hidepid`): then nothing can be said of it.
#[expect(clippy::print_stdout, reason = "what was not tried is said")]
fn init_is_hidden() -> bool {
    let hidden = !std::path::Path::new("/proc/1").exists();
    if hidden {
        println!("not tried: the first process is hidden here");
    }
    hidden
}

/// Init of a container lists its descriptors to its own root and lets nobody read where they lead.
#[test]
fn a_list_whose_links_are_refused_is_denied() {
    let refused = |pid: i64| {
        let links = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        let errors: Option<Vec<_>> = links
            .map(|entry| std::fs::read_link(entry.ok()?.path()).err().map(|why| why.kind()))
            .collect();
        errors.filter(|errors| {
            !errors.is_empty()
                && errors
                    .iter()
                    .all(|kind| *kind == std::io::ErrorKind::PermissionDenied)
        })
    };
    if init_is_hidden() {
        return;
    }
    let is_refused = refused(1).is_some();
    let sample = look(&mut source(), &[Pid::INIT]);
    let first = sample.process(Pid::INIT).unwrap();
    if is_refused {
        assert!(first.descriptors.is_denied(), "{:?}", first.descriptors);
    } else if let Some(all) = first.descriptors.value() {
        assert!(!all.is_empty(), "a list that was read holds what is open");
    }
}

#[test]
fn without_the_right_to_look_everything_says_so() {
    if !rustix::process::geteuid().is_root() {
        // Only root can start a process as somebody else; then this user's own view is the test: root's
        // first process is closed to it.
        if init_is_hidden() {
            return;
        }
        let mut source = source();
        let sample = look(&mut source, &[Pid::INIT]);
        let first = sample.process(Pid::INIT).unwrap();
        assert_eq!(first.descriptors.is_denied(), first.exe.is_denied());
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let script = "import fcntl,sys,time\nf=open(sys.argv[1],'r+');fcntl.flock(f,fcntl.LOCK_EX)\nprint('ready',flush=True)\ntime.sleep(600)";
    let mut ward = Ward::start(
        Command::new("python3")
            .args(["-c", script])
            .arg(file.path())
            .arg("closed"),
    );
    ward.wait_for_line();
    let another = match Public::copy(&std::env::current_exe().unwrap(), "--list") {
        Ok(another) => another,
        Err(why) => {
            println!("not tried: {why}");
            return;
        }
    };
    let output = another
        .command()
        .args([
            "--exact",
            "platform::linux::rights::a_process_of_another_user_is_denied_not_empty",
        ])
        .env(TARGET, ward.pid().to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_wire_into_a_process_that_may_not_be_looked_into_is_not_without_holder() {
    let mut ward = Ward::start(Command::new("python3").args([
        "-c",
        "import ctypes,time\nctypes.CDLL(None).prctl(4,0,0,0,0)\nprint('ready',flush=True)\ntime.sleep(600)",
    ]));
    ward.wait_for_line();
    let mut source = source();
    let sample = source.sample().unwrap();
    if sample.process(ward.pid()).is_none() {
        // Under `hidepid` it is not even listed, and that is told.
        assert_eq!(sample.hidden, None);
        return;
    }
    let sample = look(&mut source, &[ward.pid(), own_pid()]);
    let own = std::os::fd::AsRawFd::as_raw_fd(ward.0.stdin.as_ref().unwrap());
    let wire = inode(&sample, own_pid(), u32::try_from(own).unwrap());
    let seen = sample.holders[&wire]
        .iter()
        .any(|holder| holder.process.pid == ward.pid());
    let told = sample
        .unsearched
        .iter()
        .any(|unsearched| unsearched.process.pid == ward.pid());
    // Root sees it, another user is told that it could not look: one of the two, never neither.
    assert!(seen != told);
    assert_eq!(told, sample.process(ward.pid()).unwrap().descriptors.is_denied());
}

/// The kernel refuses a user the descriptors of his own processes from when they have given their memory back.
#[test]
fn what_ends_between_the_list_and_the_look_is_gone_not_closed() {
    let mut ward = Ward::start(Command::new("sleep").arg("600"));
    let mut source = source();
    let mut sample = source.sample().unwrap();
    let key = sample.process(ward.pid()).unwrap().key;
    ward.0.kill().unwrap();
    // It stays a zombie until the end of the test.
    wait_for_exit(ward.0.id());
    let own = sample.process(own_pid()).unwrap().key;
    let interest = Interest {
        closely: [own, key].into(),
        ..Interest::default()
    };
    source.look_closer(&mut sample, &interest);
    assert!(!sample.process(ward.pid()).unwrap().descriptors.is_denied());
    let told = sample.unsearched.iter().find(|one| one.process == key);
    assert!(told.is_none(), "{told:?}");
    // Root is refused nothing.
    if let Ok(another) = Public::copy(&std::env::current_exe().unwrap(), "--list") {
        let test = "platform::linux::rights::what_ends_between_the_list_and_the_look_is_gone_not_closed";
        let output = another.command().args(["--exact", test]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{said}");
    }
}

/// Set for the run without the right to trace; names a process that has it.
const UNTRACED: &str = "MCPWAKE_UNTRACED_TARGET";

/// Runs as root without `CAP_SYS_PTRACE` when the test below starts it, and has nothing to look at otherwise.
#[test]
fn links_that_are_refused_are_denied_though_their_directory_can_be_listed() {
    let pid = std::env::var(UNTRACED).ok().and_then(|pid| pid.parse().ok());
    let Some(pid) = pid.and_then(Pid::new) else {
        return;
    };
    let sample = look(&mut source(), &[pid]);
    let process = sample.process(pid).unwrap();
    let refused = process.exe.is_denied();
    assert_eq!(process.descriptors.is_denied(), refused);
    let mut unsearched = sample.unsearched.iter();
    assert_eq!(unsearched.any(|one| one.process == process.key), refused);
}

#[test]
fn root_without_the_right_to_trace_is_told_what_it_cannot_see() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let script = "print('ready',flush=True)\nimport time\ntime.sleep(600)";
    let mut ward = Ward::start(Command::new("python3").args(["-c", script]));
    ward.wait_for_line();
    let output = Command::new("setpriv")
        .args(["--bounding-set", "-sys_ptrace", "--inh-caps", "-all"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "platform::linux::rights::links_that_are_refused_are_denied_though_their_directory_can_be_listed",
        ])
        .env(UNTRACED, ward.pid().to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Set for the run behind a mount that hides processes: whether they are hidden from that run.
const HIDDEN: &str = "MCPWAKE_HIDDEN_PROCESSES";

/// Runs behind such a mount when the test below starts it, and has nothing to look at otherwise.
#[test]
fn hidden_processes_are_counted_as_such() {
    let Ok(hidden) = std::env::var(HIDDEN) else {
        return;
    };
    let sample = source().sample().unwrap();
    let told = sample
        .problems
        .iter()
        .any(|problem| problem.detail.contains("hidepid"));
    assert_eq!(
        (sample.hidden, told),
        if hidden == "yes" {
            (None, true)
        } else {
            (Some(0), false)
        }
    );
}

/// The group of the mount, by default root's, is exempt without any capability; but for `hidepid=4`.
#[test]
fn a_mount_that_hides_nothing_from_this_user_hides_nothing() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let untraced = "setpriv --bounding-set -sys_ptrace --inh-caps -all";
    for (options, rights, hidden) in [
        ("hidepid=2", "", "no"),
        ("hidepid=2", untraced, "no"),
        ("hidepid=2,gid=77", untraced, "yes"),
        ("hidepid=4", untraced, "yes"),
    ] {
        let script = format!(
            "mount -t proc -o {options} proc /proc && exec {rights} \"$0\" --exact \
             platform::linux::rights::hidden_processes_are_counted_as_such"
        );
        let output = Command::new("unshare")
            .args(["-m", "--propagation", "private", "sh", "-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env(HIDDEN, hidden)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let no_namespace = output.stdout.is_empty();
        assert!(
            no_namespace || text.contains("1 passed"),
            "{options} {rights}: {text}"
        );
    }
}
