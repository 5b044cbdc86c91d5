//! Descriptors, and who holds the other ends: the same as lsof(8) lists.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};

use mcpwake::model::bytes::OsBytes;
use mcpwake::model::descriptor::{Access, Descriptor, Holder, Target};
use mcpwake::model::identity::Pid;
use mcpwake::model::process::Process;
use mcpwake::model::sample::Sample;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::support::{Ward, inode, look, open, own_pid, sample_until, source, target, tool};

fn python(script: &str) -> Ward {
    let mut ward = Ward::start(Command::new("python3").args(["-c", script]));
    ward.wait_for_line();
    ward
}

fn holders_in(sample: &Sample, inode: u64, pid: Pid) -> Vec<(u32, Access)> {
    let of = |holder: &&Holder| holder.process.pid == pid;
    sample.holders[&inode]
        .iter()
        .filter(of)
        .map(|holder| (holder.fd, holder.access))
        .collect()
}

#[test]
fn a_pipe_has_this_test_at_its_other_end_until_it_is_closed() {
    let mut ward = python("import sys,time\nprint('ready',flush=True)\ntime.sleep(600)");
    let mut source = source();
    let sample = look(&mut source, &[ward.pid()]);
    let stdin = inode(&sample, ward.pid(), 0);
    assert!(matches!(target(&sample, ward.pid(), 0), Target::Pipe { .. }));
    let own = u32::try_from(ward.0.stdin.as_ref().unwrap().as_raw_fd()).unwrap();
    assert_eq!(holders_in(&sample, stdin, ward.pid()), [(0, Access::Read)]);
    assert_eq!(holders_in(&sample, stdin, own_pid()), [(own, Access::Write)]);
    drop(ward.0.stdin.take());
    let sample = look(&mut source, &[ward.pid()]);
    assert_eq!(holders_in(&sample, stdin, own_pid()), []);
    assert_eq!(holders_in(&sample, stdin, ward.pid()), [(0, Access::Read)]);
}

/// `lsof -F`: a line per field, the first letter names it; `f` begins a descriptor.
fn lsof(pid: Pid) -> BTreeMap<u32, BTreeMap<char, String>> {
    let text = tool("lsof", "lsof", &["-nP", "-p", &pid.to_string(), "-F", "ftain"]);
    let mut found: BTreeMap<u32, BTreeMap<char, String>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        let (letter, value) = line.split_at(1);
        if letter == "f" {
            current = value.parse::<u32>().ok();
        } else if let Some(fd) = current {
            found
                .entry(fd)
                .or_default()
                .insert(letter.chars().next().unwrap(), value.to_owned());
        }
    }
    found
}

fn assert_like_lsof(descriptor: &Descriptor, fields: &BTreeMap<char, String>) {
    let kind = fields[&'t'].as_str();
    let name = fields[&'n'].as_str();
    let same = match &descriptor.target {
        Target::Pipe { inode } => kind == "FIFO" && fields[&'i'] == inode.to_string(),
        Target::Fifo { path, inode } => {
            kind == "FIFO" && fields[&'i'] == inode.to_string() && name == path.lossy()
        }
        Target::Socket { .. } => matches!(kind, "unix" | "IPv4" | "IPv6" | "sock"),
        Target::Null => name == "/dev/null",
        Target::File { path, .. } => {
            matches!(kind, "REG" | "DIR" | "CHR") && name.starts_with(&*path.lossy())
        }
        Target::Anonymous { .. } => kind == "a_inode" || name.starts_with("/memfd:"),
        Target::Terminal { path, .. } => kind == "CHR" && name == path.lossy(),
        Target::PtyMaster { .. } => kind == "CHR" && name.ends_with("ptmx"),
        Target::Other { .. } => false,
    };
    assert!(same, "{descriptor:?} but lsof has {fields:?}");
    let access = descriptor.access.value().map(|access| match access {
        Access::Read => "r",
        Access::Write => "w",
        Access::Both => "u",
    });
    assert!(
        access.is_none_or(|access| fields[&'a'] == access),
        "{descriptor:?} but lsof has {fields:?}"
    );
}

#[test]
fn every_kind_of_descriptor_is_told_as_lsof_tells_it() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    let script = format!(
        "import os,socket,select,time\n\
         os.mkfifo('{fifo}')\n\
         keep=[os.open('{fifo}',os.O_RDWR),os.open('{directory}/file',os.O_CREAT|os.O_WRONLY),\n\
         os.open('{directory}',os.O_RDONLY),select.epoll(),os.open('/dev/zero',os.O_RDONLY),\n\
         socket.socket(),socket.socket(socket.AF_UNIX),socket.socketpair(),os.pipe(),os.memfd_create('m'),\n\
         os.openpty(),os.open('/etc/passwd',os.O_RDONLY)]\n\
         os.read(keep[-1],10)\n\
         print('ready',flush=True)\n\
         time.sleep(600)",
        fifo = fifo.display(),
        directory = directory.path().display(),
    );
    let ward = python(&script);
    let sample = look(&mut source(), &[ward.pid()]);
    let reference = lsof(ward.pid());
    let descriptors = open(&sample, ward.pid());
    assert_eq!(
        descriptors
            .iter()
            .map(|descriptor| descriptor.fd)
            .collect::<Vec<_>>(),
        reference.keys().copied().collect::<Vec<_>>()
    );
    for descriptor in descriptors {
        assert_like_lsof(descriptor, &reference[&descriptor.fd]);
    }
    let has = |wanted: fn(&Target) -> bool| descriptors.iter().any(|descriptor| wanted(&descriptor.target));
    assert!(has(|target| matches!(target, Target::Fifo { .. })));
    assert!(has(|target| matches!(
        target,
        Target::PtyMaster { index: Some(_) }
    )));
    assert!(has(|target| matches!(
        target,
        Target::Terminal { hung_up: false, .. }
    )));
    assert!(has(|target| matches!(target, Target::Anonymous { .. })));
    assert!(has(|target| matches!(target, Target::Null)));
}

#[test]
fn a_fifo_with_a_name_has_its_other_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wire");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let both = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let writer = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let reader = std::fs::File::open(&path).unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", "read line; sleep 600"])
        .stdin(Stdio::from(reader));
    let ward = Ward(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    drop((both, command));
    let mut source = source();
    sample_until(&mut source, ward.pid(), |process| {
        process.comm == OsBytes::from("sh")
    });
    let sample = look(&mut source, &[ward.pid()]);
    let wire = inode(&sample, ward.pid(), 0);
    assert!(matches!(target(&sample, ward.pid(), 0), Target::Fifo { .. }));
    let own = u32::try_from(writer.as_raw_fd()).unwrap();
    assert!(holders_in(&sample, wire, own_pid()).contains(&(own, Access::Write)));
    assert_eq!(holders_in(&sample, wire, ward.pid()), [(0, Access::Read)]);
}

#[test]
fn a_terminal_is_held_by_the_holder_of_its_master_and_hangs_up_with_it() {
    let pty = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new("python3");
    // By itself it would start in the home directory, which need not be there.
    command.cwd("/");
    command.args([
        "-c",
        "import signal,time\nsignal.signal(signal.SIGHUP,signal.SIG_IGN)\ntime.sleep(600)",
    ]);
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    let pid = Pid::new(i64::from(child.process_id().unwrap())).unwrap();
    let mut source = source();
    let ignores = |process: &Process| process.state == 'S' && process.comm == OsBytes::from("python3");
    sample_until(&mut source, pid, ignores);
    let mut until_ignored = || {
        let mut sample = look(&mut source, &[pid]);
        while sample.process(pid).unwrap().signals.value().unwrap().ignored & 1 == 0 {
            sample = look(&mut source, &[pid]);
        }
        sample
    };
    let sample = until_ignored();
    let Target::Terminal { path, hung_up: false } = target(&sample, pid, 0) else {
        panic!("no terminal")
    };
    let number: u32 = path
        .as_str()
        .unwrap()
        .strip_prefix("/dev/pts/")
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        sample.terminal_masters[&number]
            .iter()
            .all(|holder| holder.process.pid == own_pid())
    );
    assert!(!sample.terminal_masters[&number].is_empty());
    assert_eq!(sample.process(pid).unwrap().tty, Some(format!("pts/{number}")));
    drop(pty.master);
    let sample = look(&mut source, &[pid]);
    assert!(matches!(
        target(&sample, pid, 0),
        Target::Terminal { hung_up: true, .. }
    ));
    assert!(
        sample.terminal_masters[&number]
            .iter()
            .all(|holder| holder.process.pid != own_pid())
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_pipe_that_many_share_is_searched_once_and_told_completely() {
    let (reader, writer) = std::io::pipe().unwrap();
    let start = |_| {
        let (input, output) = (reader.try_clone().unwrap(), writer.try_clone().unwrap());
        Ward(
            Command::new("sleep")
                .arg("600")
                .stdin(input)
                .stdout(output)
                .spawn()
                .unwrap(),
        )
    };
    let wards: Vec<Ward> = (0..20).map(start).collect();
    let pids: Vec<Pid> = wards.iter().map(Ward::pid).collect();
    let mut source = source();
    for pid in &pids {
        sample_until(&mut source, *pid, |process| {
            process.comm == OsBytes::from("sleep")
        });
    }
    // The second look finds the same from what was kept.
    for _ in 0..2 {
        let sample = look(&mut source, &pids);
        let pipe = inode(&sample, pids[0], 0);
        for pid in &pids {
            assert_eq!(
                holders_in(&sample, pipe, *pid),
                [(0, Access::Read), (1, Access::Write)]
            );
        }
    }
}

#[test]
fn the_environment_keeps_names_and_identifiers_only() {
    let mut command = Command::new("sh");
    command
        .env_clear()
        .env("WARD_SESSION", "s-1")
        .env("API_TOKEN", "value that stays where it is");
    let mut ward = Ward::start(command.args(["-c", "echo ready; read line"]));
    ward.wait_for_line();
    let sample = look(&mut source(), &[ward.pid()]);
    let environment = sample.process(ward.pid()).unwrap().environment.value().unwrap();
    assert_eq!(
        environment.names,
        ["API_TOKEN", "WARD_SESSION"].map(OsBytes::from)
    );
    assert_eq!(
        environment.identifiers,
        [("WARD_SESSION".to_owned(), OsBytes::from("s-1"))].into()
    );
    assert!(!format!("{sample:?}").contains("value that stays"));
}

#[test]
fn signals_swap_namespaces_and_locks_are_those_of_the_process() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "import fcntl,signal,time\n\
         signal.signal(signal.SIGTERM,signal.SIG_IGN);signal.pthread_sigmask(signal.SIG_BLOCK,[signal.SIGUSR1])\n\
         a=open('{path}','r+');fcntl.flock(a,fcntl.LOCK_EX)\n\
         b=open('{path}','r+');fcntl.lockf(b,fcntl.LOCK_EX)\n\
         print('ready',flush=True)\ntime.sleep(600)",
        path = file.path().display()
    );
    let ward = python(&script);
    let sample = look(&mut source(), &[ward.pid()]);
    let process = sample.process(ward.pid()).unwrap();
    let reference = procfs::process::Process::new(i32::try_from(ward.pid().get()).unwrap()).unwrap();
    let status = reference.status().unwrap();
    let signals = process.signals.value().unwrap();
    assert_eq!(
        (signals.ignored, signals.blocked, signals.caught),
        (status.sigign, status.sigblk, status.sigcgt)
    );
    assert_ne!(signals.ignored & (1 << 14), 0);
    assert_eq!(
        process.swap_bytes.value().map(|bytes| bytes / 1024),
        status.vmswap
    );
    assert_eq!(process.namespace_pids.value(), Some(&vec![ward.pid().get()]));
    assert_eq!(
        process.pid_namespace.value().copied(),
        sample.observer.pid_namespace
    );
    assert_eq!(
        process.net_namespace.value().copied(),
        sample.observer.net_namespace
    );
    assert_eq!(
        process.cwd.value().unwrap().lossy(),
        reference.cwd().unwrap().to_string_lossy()
    );
    assert_eq!(
        process.exe.value().unwrap().lossy(),
        reference.exe().unwrap().to_string_lossy()
    );
    let locks: Vec<_> = process
        .locks
        .iter()
        .map(|lock| (lock.kind.as_str(), lock.mode.as_str(), lock.path.clone()))
        .collect();
    let path = Some(OsBytes::from(file.path().to_str().unwrap()));
    assert_eq!(
        locks,
        [("FLOCK", "WRITE", path.clone()), ("POSIX", "WRITE", path)]
    );
}

#[test]
fn the_pidfd_is_kept_and_its_inode_is_the_process_own() {
    let first = python("import time\nprint('ready',flush=True)\ntime.sleep(600)");
    let second = python("import time\nprint('ready',flush=True)\ntime.sleep(600)");
    let mut source = source();
    let sample = look(&mut source, &[first.pid(), second.pid()]);
    let key = sample.process(first.pid()).unwrap().key;
    let inodes = [&first, &second].map(|ward| sample.process(ward.pid()).unwrap().pidfd_inode);
    let kept = source.pidfds().get(key).unwrap();
    let on_pidfs = rustix::fs::fstatfs(&kept).unwrap().f_type == 0x5049_4446;
    if on_pidfs {
        assert_eq!(inodes[0], Some(rustix::fs::fstat(&kept).unwrap().st_ino));
        assert_ne!(inodes[0], inodes[1]);
    } else {
        assert_eq!(inodes, [None, None]);
    }
    drop(first);
    let _ = look(&mut source, &[second.pid()]);
    assert!(source.pidfds().get(key).is_none());
}

#[test]
fn a_descriptor_that_opens_between_two_looks_is_found() {
    let mut ward = python(
        "import os,sys,time\nprint('ready',flush=True)\nsys.stdin.readline()\n\
         os.dup2(0,50);os.close(0)\nprint('moved',flush=True)\ntime.sleep(600)",
    );
    let mut source = source();
    for _ in 0..6 {
        let sample = look(&mut source, &[ward.pid()]);
        assert_eq!(
            holders_in(&sample, inode(&sample, ward.pid(), 0), ward.pid()),
            [(0, Access::Read)]
        );
    }
    ward.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(ward.wait_for_line(), "moved");
    let sample = look(&mut source, &[ward.pid()]);
    let moved = inode(&sample, ward.pid(), 50);
    assert_eq!(holders_in(&sample, moved, ward.pid()), [(50, Access::Read)]);
}
