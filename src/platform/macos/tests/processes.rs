//! Whole samples of a constructed machine.

use std::collections::BTreeSet;

use super::asked::Asked;
use super::mac::{BOOTED, Machine, Open, USER, procargs};
use crate::model::descriptor::{Access, Target};
use crate::model::host::{Os, Visibility};
use crate::model::identity::{Pid, StartKey};
use crate::model::interest::Interest;
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::model::sample::Sample;
use crate::platform::Source as _;
use crate::platform::macos::MacosSource;

fn pid(raw: u32) -> Pid {
    Pid::new(i64::from(raw)).unwrap()
}

fn source(machine: Machine) -> (MacosSource, Asked) {
    let asked = Asked::new(machine);
    (MacosSource::on(Box::new(asked.clone())).unwrap(), asked)
}

fn process(sample: &Sample, raw: u32) -> &Process {
    sample.process(pid(raw)).unwrap()
}

fn look(source: &mut MacosSource, sample: &mut Sample, pids: &[u32]) {
    let interest = Interest {
        closely: pids.iter().map(|raw| process(sample, *raw).key).collect(),
        identifiers: BTreeSet::from(["HOME".to_owned()]),
        inodes: BTreeSet::new(),
    };
    source.look_closer(sample, &interest);
}

fn argv(process: &Process) -> Vec<String> {
    process
        .args()
        .iter()
        .map(|one| one.lossy().into_owned())
        .collect()
}

#[test]
fn the_machine_and_who_looks() {
    let (mut source, _) = source(Machine::new());
    let sample = source.sample().unwrap();
    let host = &sample.host;
    assert_eq!((host.os, host.start_units_per_second), (Os::Macos, 1_000_000));
    assert_eq!(host.hostname, "ops-mac.local".into());
    assert_eq!(host.kernel, "25.1.0");
    assert_eq!(host.boot_id, "2C0E2A51-8F0E-4B6A-9C55-0B1D2F3A4C5D");
    assert_eq!(host.booted_at.0, BOOTED * 1000 + 250);
    assert_eq!((host.cpus, host.memory_bytes), (10, 32 << 30));
    assert_eq!(host.load_centi, [150, 100, 50]);
    assert_eq!(sample.observer.login_uid, Some(USER));
    assert_eq!(sample.observer.user, "root".into());
    assert_eq!(
        (sample.visibility, sample.readable, sample.hidden),
        (Visibility::All, 1, Some(0))
    );
    assert!(sample.problems.iter().any(|problem| problem.what == "containers"));
}

#[test]
fn a_process_is_read_in_full_by_root() {
    let mut machine = Machine::new();
    let server = machine.add(700, 1, USER, "/usr/local/bin/node", &["node", "server.js"]);
    server.started = 700_123_456;
    server.terminal = 0x1000_0003;
    server.nice = 5;
    let (mut source, _) = source(machine);
    let sample = source.sample().unwrap();
    let launchd = process(&sample, 1);
    assert_eq!((launchd.ppid, launchd.comm.clone()), (None, "launchd".into()));
    let server = process(&sample, 700);
    let start = u64::try_from(BOOTED).unwrap() * 1_000_000 + 700_123_456;
    assert_eq!(server.key.start, StartKey(start));
    assert_eq!(
        (server.ppid, server.pgid, server.sid),
        (Some(pid(1)), Some(pid(700)), Some(pid(700)))
    );
    assert_eq!(server.tty.as_deref(), Some("ttys003"));
    assert_eq!((server.state, server.stat.as_str()), ('S', "SNs+"));
    assert_eq!(
        (server.uid.clone(), server.user.clone()),
        (Reading::Value(USER), Reading::Value("op".into()))
    );
    assert_eq!(server.home, Some("/Users/op".into()));
    assert_eq!(argv(server), ["node", "server.js"]);
    assert_eq!(server.exe, Reading::Value("/usr/local/bin/node".into()));
    assert_eq!(server.cwd, Reading::Value("/Users/op/project".into()));
    assert_eq!((server.threads, server.rss_bytes), (7, 48 << 20));
    // 24 million units of 125/3 nanoseconds.
    assert_eq!((server.cpu_ms, server.cpu_permille), (1000, None));
    assert_eq!(sample.elapsed_ms(server), 5_000_000 - 700_123);
    for absent in [
        server.swap_bytes.absence(),
        server.signals.absence(),
        server.cgroup.absence(),
    ] {
        assert_eq!(absent, Some(Absence::Unsupported));
    }
}

#[test]
fn other_users_processes_are_listed_and_closed() {
    let mut machine = Machine::new();
    machine.uid = USER;
    machine.add(700, 1, USER, "/usr/local/bin/node", &["node"]);
    machine.add(710, 1, 502, "/usr/bin/python3", &["python3"]);
    let (mut source, _) = source(machine);
    let mut sample = source.sample().unwrap();
    assert_eq!((sample.visibility, sample.readable), (Visibility::Own, 1));
    assert_eq!(process(&sample, 700).cwd.absence(), None);
    let other = process(&sample, 710).clone();
    assert_eq!(
        (other.state, other.user.clone()),
        ('?', Reading::Value("502".into()))
    );
    assert!(other.argv.is_denied() && other.cwd.is_denied());
    // The program file is everybody's to see.
    assert_eq!(other.exe, Reading::Value("/usr/bin/python3".into()));
    let closed = |problem: &&crate::model::sample::Problem| problem.kind == Absence::Denied;
    let problem = sample.problems.iter().find(closed).unwrap();
    assert!(
        problem.detail.starts_with("2 processes of other users"),
        "{problem:?}"
    );
    look(&mut source, &mut sample, &[700, 710]);
    let other = process(&sample, 710);
    assert!(other.descriptors.is_denied() && other.environment.is_denied());
    assert_eq!(other.pidfd_inode, Some(100_710));
    let unsearched: Vec<u32> = sample
        .unsearched
        .iter()
        .map(|one| one.process.pid.get())
        .collect();
    assert_eq!(unsearched, [710, 1]);
}

#[test]
fn states_are_told_as_far_as_they_are_known() {
    let mut machine = Machine::new();
    for (raw, stat, flags, running) in [
        (701, 2, 0, 1),
        (702, 2, 0, 0),
        (703, 4, 0, 0),
        (704, 4, 0x800, 0),
        (705, 2, 0x2000, 0),
    ] {
        let one = machine.add(raw, 1, USER, "/bin/cat", &["cat"]);
        (one.stat, one.flags, one.running, one.sid) = (stat, flags, running, 1);
    }
    let (mut source, _) = source(machine);
    let sample = source.sample().unwrap();
    let stats: Vec<&str> = (701..706)
        .map(|raw| process(&sample, raw).stat.as_str())
        .collect();
    assert_eq!(stats, ["R", "S", "T", "t", "SE"].map(|one| one));
}

#[test]
fn a_zombie_keeps_what_was_read_while_it_lived() {
    let mut machine = Machine::new();
    machine.add(700, 1, USER, "/usr/local/bin/node", &["node", "server.js"]);
    let (mut source, asked) = source(machine);
    source.sample().unwrap();
    asked.change(|machine| {
        machine.process(700).stat = 5;
        machine.add(701, 1, USER, "/bin/cat", &["cat"]).stat = 5;
    });
    let mut sample = source.sample().unwrap();
    let zombie = process(&sample, 700);
    assert!(zombie.is_zombie() && zombie.argv_kept);
    assert_eq!(argv(zombie), ["node", "server.js"]);
    assert_eq!(zombie.exe, Reading::Value("/usr/local/bin/node".into()));
    assert_eq!(zombie.cwd, Reading::Gone);
    let unseen = process(&sample, 701);
    assert!(unseen.is_zombie() && !unseen.argv_kept && unseen.args().is_empty());
    look(&mut source, &mut sample, &[700]);
    assert_eq!(process(&sample, 700).descriptors, Reading::Gone);
    assert_eq!(process(&sample, 700).pidfd_inode, Some(100_700));
}

#[test]
fn arguments_are_read_anew_when_it_has_run() {
    let mut machine = Machine::new();
    machine.add(700, 1, USER, "/usr/local/bin/node", &["node"]);
    let (mut source, asked) = source(machine);
    source.sample().unwrap();
    let title = procargs(
        1,
        "/usr/local/bin/node",
        &["npm exec x"],
        &["HOME=/Users/op"],
        true,
    );
    asked.change(|machine| machine.process(700).arguments = title);
    assert_eq!(argv(process(&source.sample().unwrap(), 700)), ["node"]);
    asked.change(|machine| {
        machine.process(700).times += 24_000_000;
        machine.since_boot_ns += 2_000_000_000;
    });
    let sample = source.sample().unwrap();
    assert_eq!(argv(process(&sample, 700)), ["npm exec x"]);
    assert_eq!(process(&sample, 700).cpu_permille, Some(500));
}

#[test]
fn a_pid_that_is_anothers_by_now_is_not_read() {
    let mut machine = Machine::new();
    machine.add(700, 1, USER, "/bin/cat", &["cat"]);
    let (mut source, asked) = source(machine);
    let mut sample = source.sample().unwrap();
    asked.change(|machine| {
        machine.process(700).started += 1;
        machine.open(700, 0, Open::Kqueue);
    });
    look(&mut source, &mut sample, &[700]);
    assert_eq!(process(&sample, 700).descriptors, Reading::Gone);
    let next = source.sample().unwrap();
    assert_ne!(process(&next, 700).key, process(&sample, 700).key);
}

#[test]
fn every_descriptor_is_told_with_its_access() {
    let mut machine = Machine::new();
    machine.add(700, 1, USER, "/bin/cat", &["cat"]);
    machine.add(701, 1, USER, "/bin/cat", &["cat"]);
    let file = |kind, device, inode, path, flags| Open::Vnode {
        kind,
        device,
        inode,
        path,
        flags,
    };
    machine.open(700, 0, file(4, 0x0300_0002, 1, "/dev/null", 3));
    machine.open(700, 1, file(1, 0, 2, "/tmp/log", 2));
    machine.open(700, 2, file(7, 0, 3, "/tmp/fifo", 1));
    machine.open(700, 3, Open::Revoked);
    machine.open(700, 4, Open::Semaphore("/lock"));
    machine.open(700, 5, Open::Memory("/shm"));
    machine.open(700, 6, Open::Kqueue);
    machine.open(701, 9, file(7, 0, 3, "/tmp/fifo", 2));
    let (read, _) = machine.pipe((701, 4), (700, 7));
    // More than the margin, all of one kind.
    for fd in 100..400 {
        machine.open(700, fd, Open::Kqueue);
    }
    let (mut source, _) = source(machine);
    let mut sample = source.sample().unwrap();
    look(&mut source, &mut sample, &[700]);
    let open = process(&sample, 700).descriptors.value().unwrap();
    assert_eq!(open.len(), 308);
    let target = |fd: u32| &open.iter().find(|one| one.fd == fd).unwrap().target;
    assert_eq!(target(0), &Target::Null);
    assert!(matches!(target(1), Target::File { deleted: false, .. }));
    assert_eq!(open[1].access, Reading::Value(Access::Write));
    assert!(matches!(target(2), Target::Fifo { inode: 3, .. }));
    assert!(matches!(target(3), Target::Other { .. }));
    assert_eq!(open[3].access.absence(), Some(Absence::Failed));
    let name = |text: &str| Target::Anonymous {
        name: text.into(),
        pid: None,
    };
    assert_eq!(target(4), &name("semaphore /lock"));
    assert_eq!(target(5), &name("shared memory /shm"));
    assert_eq!(target(6), &name("kqueue"));
    assert_eq!(target(7), &Target::Pipe { inode: read });
    let held = |number: u64| -> Vec<(u32, u32, Access)> {
        let holders = sample.holders[&number].iter();
        holders
            .map(|one| (one.process.pid.get(), one.fd, one.access))
            .collect()
    };
    assert_eq!(held(read), [(700, 7, Access::Read), (701, 4, Access::Write)]);
    assert_eq!(held(3), [(700, 2, Access::Read), (701, 9, Access::Write)]);
}

#[test]
fn the_master_of_a_terminal_is_found_by_its_number() {
    let mut machine = Machine::new();
    machine.add(600, 1, USER, "/Applications/Terminal", &["Terminal"]);
    machine.add(700, 1, USER, "/bin/cat", &["cat"]);
    machine.open(600, 8, Open::terminal(0x0f00_0003, "/dev/ptmx"));
    machine.open(600, 9, Open::terminal(0x0f00_0004, "/dev/ptmx"));
    machine.open(700, 0, Open::terminal(0x1000_0003, "/dev/ttys003"));
    let (mut source, _) = source(machine);
    let mut sample = source.sample().unwrap();
    look(&mut source, &mut sample, &[700]);
    let masters: Vec<(u32, u32, u32)> = sample
        .terminal_masters
        .iter()
        .flat_map(|(number, holders)| holders.iter().map(|one| (*number, one.process.pid.get(), one.fd)))
        .collect();
    assert_eq!(masters, [(3, 600, 8)]);
}

#[test]
fn a_title_over_the_environment_is_said() {
    let mut machine = Machine::new();
    let title = ["worker: a title that is much longer than its place", "", ""];
    let server = machine.add(700, 1, USER, "/usr/bin/ruby", &["ruby", "a.rb", "b"]);
    server.arguments = procargs(3, "/usr/bin/ruby", &title, &[], true);
    let (mut source, _) = source(machine);
    let mut sample = source.sample().unwrap();
    look(&mut source, &mut sample, &[700]);
    let Reading::Failed(why) = &process(&sample, 700).environment else {
        panic!("{:?}", process(&sample, 700).environment);
    };
    assert!(why.contains("title was rewritten"), "{why}");
}
