//! Facts on processes: the same as ps(1) prints and the procfs crate reads.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use mcpwake::model::bytes::OsBytes;
use mcpwake::model::identity::Pid;
use mcpwake::model::process::Process;
use mcpwake::model::sample::Sample;
use mcpwake::platform::Source as _;

use super::support::{Ward, sample_until, source, tool};

fn ps(pid: Pid, field: &str) -> String {
    tool(
        "ps",
        "procps",
        &["-p", &pid.to_string(), "-o", &format!("{field}=")],
    )
    .trim()
    .to_owned()
}

fn number(pid: Option<Pid>) -> String {
    pid.map_or_else(|| "0".into(), |pid| pid.to_string())
}

fn is_listed(uid: u32) -> bool {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let uid = uid.to_string();
    users.lines().any(|line| line.split(':').nth(2) == Some(&uid))
}

fn assert_like_ps(process: &Process) {
    let pid = process.key.pid;
    assert_eq!(number(process.ppid), ps(pid, "ppid"), "ppid of {pid}");
    assert_eq!(number(process.pgid), ps(pid, "pgid"), "pgid of {pid}");
    assert_eq!(number(process.sid), ps(pid, "sid"), "sid of {pid}");
    assert_eq!(
        process.tty.as_deref().unwrap_or("?"),
        ps(pid, "tty"),
        "tty of {pid}"
    );
    assert_eq!(process.stat, ps(pid, "stat"), "stat of {pid}");
    assert_eq!(process.comm.lossy(), ps(pid, "comm"), "comm of {pid}");
    assert_eq!(
        process.uid.value().unwrap().to_string(),
        ps(pid, "ruid"),
        "uid of {pid}"
    );
    // ps(1) asks other sources too (`nsswitch.conf(5)`); whoever is not in the file goes by his number.
    let user = if is_listed(*process.uid.value().unwrap()) {
        ps(pid, "ruser:32")
    } else {
        ps(pid, "ruid")
    };
    assert_eq!(process.user.value().unwrap().lossy(), user, "user of {pid}");
    assert_eq!(process.threads.to_string(), ps(pid, "nlwp"), "threads of {pid}");
}

fn argv_by_procfs(pid: Pid) -> Vec<OsBytes> {
    let process = procfs::process::Process::new(i32::try_from(pid.get()).unwrap()).unwrap();
    process
        .cmdline()
        .unwrap()
        .into_iter()
        .map(OsBytes::from)
        .collect()
}

#[test]
fn a_sleeping_a_stopped_and_a_nice_child_read_as_ps_prints_them() {
    let sleeping = Ward::script("echo ready; read line", "sleeping");
    let stopped = Ward::script("echo ready; kill -STOP $$; read line", "stopped");
    let mut nice = Command::new("nice");
    let mut nice = Ward::start(nice.args(["-n", "5", "sh", "-c", "echo ready; read line", "nice"]));
    nice.wait_for_line();
    let mut source = source();
    for (ward, state) in [(&sleeping, 'S'), (&stopped, 'T'), (&nice, 'S')] {
        let sample = sample_until(&mut source, ward.pid(), |process| process.state == state);
        let process = sample.process(ward.pid()).unwrap();
        assert_like_ps(process);
        assert_eq!(process.args(), argv_by_procfs(ward.pid()));
        // However long ps(1) took to start: it was asked between two samples.
        let elapsed: u64 = ps(ward.pid(), "etimes").parse().unwrap();
        let after = source.sample().unwrap();
        let seconds = |sample: &Sample| sample.elapsed_ms(process) / 1000;
        assert!(seconds(&sample) <= elapsed + 1 && elapsed <= seconds(&after) + 1);
    }
}

#[test]
fn a_child_with_a_session_and_threads_carries_their_marks() {
    let script = "import os,threading,sys\nos.setsid()\nthreading.Thread(target=sys.stdin.read,daemon=True).start()\nprint('ready',flush=True)\nthreading.Event().wait()";
    let mut ward = Ward::start(Command::new("python3").args(["-c", script]));
    ward.wait_for_line();
    // With an `N` between where the tests run with a nice value.
    let rests = |process: &Process| process.state == 'S' && process.stat.ends_with("sl");
    let sample = sample_until(&mut source(), ward.pid(), rests);
    assert_like_ps(sample.process(ward.pid()).unwrap());
}

#[test]
fn hostile_names_and_arguments_are_read_byte_by_byte() {
    let mut command = Command::new("python3");
    // The name ends a stat line early for a reader that looks for the first parenthesis.
    let script = "import ctypes\nctypes.CDLL(None).prctl(15,b') R 1 (x\\n\\xff',0,0,0)\nprint('ready',flush=True)\ninput()";
    let arguments: [&std::ffi::OsStr; 5] = {
        use std::os::unix::ffi::OsStrExt as _;
        let raw = std::ffi::OsStr::from_bytes;
        [
            "-c".as_ref(),
            script.as_ref(),
            raw(b""),
            raw(b"\xff\xfe\x1b[31m\n"),
            "last".as_ref(),
        ]
    };
    let mut ward = Ward::start(command.args(arguments));
    ward.wait_for_line();
    let sample = sample_until(&mut source(), ward.pid(), |process| process.state == 'S');
    let process = sample.process(ward.pid()).unwrap();
    assert_eq!(process.comm.as_bytes(), b") R 1 (x\n\xff");
    assert_eq!(process.ppid, Pid::new(i64::from(std::process::id())));
    let argv: Vec<&[u8]> = process.args().iter().map(OsBytes::as_bytes).collect();
    assert_eq!(argv[3..], [b"".as_slice(), b"\xff\xfe\x1b[31m\n", b"last"]);
}

#[test]
fn a_command_line_of_megabytes_and_an_empty_one_are_whole() {
    let mut long = Command::new("sh");
    long.args(["-c", "echo ready; read line", "long"]);
    // One element is limited to 128 KiB, all of them to a quarter of the stack's limit.
    long.args((0..16).map(|n| n.to_string().repeat(100_000 / if n > 9 { 2 } else { 1 })));
    let mut ward = Ward::start(&mut long);
    ward.wait_for_line();
    let mut source = source();
    let sample = sample_until(&mut source, ward.pid(), |process| process.state == 'S');
    let argv = sample.process(ward.pid()).unwrap().args();
    assert_eq!(argv.len(), 20);
    assert_eq!(
        argv.iter().map(|element| element.as_bytes().len()).sum::<usize>(),
        1_600_000 + "sh-cecho ready; read linelong".len()
    );
    let mut empty = Ward::start(Command::new("sh").arg0("").args(["-c", "echo ready; read line"]));
    empty.wait_for_line();
    let sample = sample_until(&mut source, empty.pid(), |process| process.state == 'S');
    assert_eq!(sample.process(empty.pid()).unwrap().args()[0], OsBytes::from(""));
}

#[test]
fn exec_is_seen_under_the_same_key() {
    let script = "echo ready; read line; exec sh -c 'echo again; read line' after";
    let mut ward = Ward::script(script, "before");
    let mut source = source();
    let mut keys = Vec::new();
    // Old enough that nothing is read without a reason.
    for _ in 0..8 {
        let sample = source.sample().unwrap();
        let process = sample.process(ward.pid()).unwrap();
        assert_eq!(process.args().last(), Some(&OsBytes::from("before")));
        keys.push(process.key);
    }
    ward.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(ward.wait_for_line(), "again");
    let sample = source.sample().unwrap();
    let process = sample.process(ward.pid()).unwrap();
    assert_eq!(process.args().last(), Some(&OsBytes::from("after")));
    assert!(keys.iter().all(|key| *key == process.key));
}

#[test]
fn a_rewritten_title_is_seen_although_nothing_else_changes() {
    // Writes over its own arguments in place, as setproctitle(3) does where there is room.
    let script = "import ctypes,sys\nat=int(open('/proc/self/stat').read().rsplit(')',1)[1].split()[45])\n\
        print('ready',flush=True)\nsys.stdin.readline()\nctypes.memmove(at,b'a title\\0',8)\n\
        print('again',flush=True)\nsys.stdin.readline()";
    let mut ward = Ward::start(Command::new("python3").args(["-c", script]));
    ward.wait_for_line();
    let mut source = source();
    for _ in 0..8 {
        let sample = source.sample().unwrap();
        assert_ne!(
            sample.process(ward.pid()).unwrap().args()[0],
            OsBytes::from("a title")
        );
    }
    ward.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(ward.wait_for_line(), "again");
    let sample = source.sample().unwrap();
    assert_eq!(
        sample.process(ward.pid()).unwrap().args()[0],
        OsBytes::from("a title")
    );
}

#[test]
fn a_zombie_keeps_the_arguments_it_was_seen_with() {
    let mut ward = Ward::script("echo ready; read line; exit 3", "short");
    let mut source = source();
    let argv = source
        .sample()
        .unwrap()
        .process(ward.pid())
        .unwrap()
        .args()
        .to_vec();
    drop(ward.0.stdin.take());
    let sample = sample_until(&mut source, ward.pid(), Process::is_zombie);
    let process = sample.process(ward.pid()).unwrap();
    assert_eq!(process.args(), argv);
    assert!(process.argv_kept);
    assert_eq!(process.stat, ps(ward.pid(), "stat"));
    ward.0.wait().unwrap();
    assert!(source.sample().unwrap().process(ward.pid()).is_none());
}

#[test]
fn an_orphan_shows_its_new_parent_although_it_never_ran() {
    let mut ward = Ward::start(Command::new("sh").args([
        "-c",
        "sh -c 'echo $$; exec sleep 600' child & wait",
        "parent",
    ]));
    let child = Pid::new(ward.wait_for_line().parse().unwrap()).unwrap();
    let mut source = source();
    for _ in 0..8 {
        sample_until(&mut source, child, |process| process.ppid == Some(ward.pid()));
    }
    ward.0.kill().unwrap();
    ward.0.wait().unwrap();
    let sample = source.sample().unwrap();
    let process = sample.process(child).unwrap();
    assert_ne!(process.ppid, Some(ward.pid()));
    assert_eq!(number(process.ppid), ps(child, "ppid"));
    let end = rustix::process::pidfd_open(
        rustix::process::Pid::from_raw(i32::try_from(child.get()).unwrap()).unwrap(),
        rustix::process::PidfdFlags::empty(),
    );
    rustix::process::pidfd_send_signal(end.unwrap(), rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_process_that_rests_is_shared_with_the_sample_before() {
    let ward = Ward::script("echo ready; read line", "resting");
    let mut source = source();
    sample_until(&mut source, ward.pid(), |process| {
        process.state == 'S' && process.cpu_permille == Some(0)
    });
    let shared = (0..8).any(|_| {
        let (before, after) = (source.sample().unwrap(), source.sample().unwrap());
        Arc::ptr_eq(&before.processes[&ward.pid()], &after.processes[&ward.pid()])
    });
    assert!(shared);
}

#[test]
fn the_machine_and_the_observer_are_this_test() {
    let mut source = source();
    let sample = source.sample().unwrap();
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(sample.host.boot_id, boot_id.trim());
    assert_eq!(sample.observer.pid.get(), std::process::id());
    let own = sample.process(sample.observer.pid).unwrap();
    assert_eq!(sample.observer.ancestors.first(), own.ppid.as_ref());
    assert!(sample.host.memory_bytes > 0);
    assert!(sample.host.cpus > 0);
    assert!(sample.host.start_units_per_second > 0);
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let booted = stat.lines().find_map(|line| line.strip_prefix("btime "));
    let booted: i64 = booted.unwrap().parse().unwrap();
    assert!((sample.host.booted_at.0 / 1000).abs_diff(booted) <= 1);
}
