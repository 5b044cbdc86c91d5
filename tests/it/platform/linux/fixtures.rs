//! Proc file systems made by hand: what no test machine offers at will.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use mcpwake::model::bytes::OsBytes;
use mcpwake::model::descriptor::{Access, Target};
use mcpwake::model::host::Visibility;
use mcpwake::model::identity::Pid;
use mcpwake::model::interest::Interest;
use mcpwake::model::reading::Reading;
use mcpwake::model::sample::Sample;
use mcpwake::platform::Source as _;
use mcpwake::platform::linux::{LinuxSource, Options};

use super::support::{inode, look_for, open, target};

/// A directory that looks like a proc file system, and a source that reads it.
struct Fixture {
    directory: tempfile::TempDir,
    source: LinuxSource,
}

impl Fixture {
    /// Builds the tree that a file of `tests/fixtures/proc` describes.
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // As the kernel writes it into `mountinfo`.
        let root = directory.path().to_str().unwrap().replace(' ', "\\040");
        let text = text.replace("PROC_ROOT", &root);
        let mut file: Option<(String, Vec<&str>)> = None;
        for line in text.lines().chain(["> end end"]) {
            let begins = line.starts_with("= ") || line.starts_with("> ");
            if begins && let Some((path, lines)) = file.take() {
                write(
                    directory.path(),
                    &path,
                    &lines.join(
                        "
",
                    ),
                );
            }
            if let Some(path) = line.strip_prefix("= ") {
                file = Some((path.to_owned(), Vec::new()));
            } else if let Some((path, to)) = line.strip_prefix("> ").and_then(|line| line.split_once(' ')) {
                link(directory.path(), path, to);
            } else if let Some((_, lines)) = &mut file {
                lines.push(line);
            }
        }
        let passwd = directory.path().join("passwd");
        std::fs::write(
            &passwd,
            "root:x:0:0::/root:/bin/sh\nop:x:1000:1000::/home/op:/bin/sh\n",
        )
        .unwrap();
        let options = Options {
            proc_root: directory.path().into(),
            passwd,
            live: false,
            ..Options::default()
        };
        let source = LinuxSource::new(options).unwrap();
        Self { directory, source }
    }

    fn write(&self, path: &str, text: &str) {
        write(self.directory.path(), path, text);
    }

    fn look(&mut self, pids: &[i64]) -> Sample {
        let pids: Vec<_> = pids.iter().map(|raw| pid(*raw)).collect();
        look_for(&mut self.source, &pids, "SESSION")
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text.replace("\\0", "\0")).unwrap();
}

fn link(root: &Path, path: &str, to: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(to.as_bytes()), path).unwrap();
}

fn pid(raw: i64) -> Pid {
    Pid::new(raw).unwrap()
}

fn client_and_servers() -> Fixture {
    Fixture::new(include_str!("../../../fixtures/proc/client-and-servers.txt"))
}

#[test]
fn a_made_system_is_read_as_it_was_made() {
    let sample = client_and_servers().look(&[]);
    assert_eq!(sample.host.boot_id, "11111111-2222-3333-4444-555555555555");
    assert_eq!(
        (sample.host.booted_at.0, sample.host.cpus),
        (1_700_000_000_000, 2)
    );
    let pids: Vec<u32> = sample.processes.keys().map(|pid| pid.get()).collect();
    assert_eq!(pids, [1, 2, 100, 200, 300, 400]);
    let server = sample.process(pid(200)).unwrap();
    assert_eq!(server.comm.as_bytes(), b") R 9 (evil\nname");
    assert_eq!(
        (server.ppid, server.stat.as_str(), server.tty.as_deref()),
        (Some(pid(100)), "Sl+", Some("pts/4"))
    );
    assert_eq!(
        server.args(),
        ["node", "/srv/mcp server.js", "", "--stdio"].map(OsBytes::from)
    );
    assert_eq!(server.user, Reading::Value("op".into()));
    assert_eq!(server.home, Some("/home/op".into()));
    assert_eq!((server.cpu_ms, server.cpu_permille), (70, None));
    let thread = sample.process(pid(2)).unwrap();
    assert!(thread.kernel_thread);
    assert_eq!((thread.ppid, thread.pgid, thread.sid), (None, None, None));
    assert_eq!(
        (&thread.argv, &thread.exe),
        (&Reading::Value(Vec::new()), &Reading::Unsupported)
    );
    let zombie = sample.process(pid(400)).unwrap();
    assert!(zombie.is_zombie() && !zombie.argv_kept);
    let leader = sample.process(pid(100)).unwrap();
    assert_eq!(leader.stat, "Ss+");
    assert_eq!((sample.visibility, sample.hidden), (Visibility::All, Some(0)));
}

#[test]
fn the_ends_of_a_made_wire_are_told_by_their_access() {
    let mut fixture = client_and_servers();
    let sample = fixture.look(&[100, 200]);
    let stdin = inode(&sample, pid(200), 0);
    let held = |inode: u64| -> Vec<(u32, u32, Access)> {
        sample.holders[&inode]
            .iter()
            .map(|h| (h.process.pid.get(), h.fd, h.access))
            .collect()
    };
    assert_eq!(
        held(stdin),
        [
            (100, 5, Access::Write),
            (200, 0, Access::Read),
            (300, 0, Access::Read)
        ]
    );
    // The lowest descriptor stands for several with the same access.
    assert_eq!(
        held(502),
        [
            (100, 6, Access::Read),
            (200, 1, Access::Write),
            (300, 3, Access::Write)
        ]
    );
    assert_eq!(held(900), [(200, 9, Access::Both)]);
    assert_eq!(target(&sample, pid(200), 2), &Target::Null);
    assert_eq!(open(&sample, pid(200)).len(), 4);
    // The master's number is unknown here: it is nobody's master rather than any terminal's.
    assert_eq!(sample.terminal_masters[&4], []);
    let environment = sample.process(pid(200)).unwrap().environment.value().unwrap();
    assert_eq!(
        environment.names,
        ["API_KEY", "HOME", "SESSION"].map(OsBytes::from)
    );
    assert_eq!(
        environment.identifiers,
        [("SESSION".to_owned(), OsBytes::from("s-7"))].into()
    );
}

#[test]
fn a_master_holds_its_terminal() {
    let mut fixture = client_and_servers();
    fixture.write(
        "100/fdinfo/7",
        "pos:\t0\nflags:\t0100002\nmnt_id:\t15\ntty-index:\t4\n",
    );
    let sample = fixture.look(&[100, 200]);
    let masters: Vec<u32> = sample.terminal_masters[&4]
        .iter()
        .map(|holder| holder.process.pid.get())
        .collect();
    assert_eq!(masters, [100]);
    assert_eq!(
        target(&sample, pid(100), 7),
        &Target::PtyMaster { index: Some(4) }
    );
}

#[test]
fn a_container_shows_by_its_namespaces_and_group() {
    let sample = client_and_servers().look(&[200, 300]);
    let [outside, inside] = [200, 300].map(|raw| sample.process(pid(raw)).unwrap());
    assert_eq!(inside.namespace_pids, Reading::Value(vec![300, 1]));
    assert_ne!(inside.pid_namespace, outside.pid_namespace);
    assert_eq!(inside.net_namespace, Reading::Value(4_026_532_999));
    assert_eq!(inside.cgroup, Reading::Value("/docker/abc".into()));
    assert_eq!(inside.exe, Reading::Value("/app/server (deleted)".into()));
    assert_eq!(inside.swap_bytes, Reading::Value(4096));
    assert_eq!(inside.signals.value().unwrap().ignored, 0x4000);
}

#[test]
fn the_main_process_of_a_service_is_the_one_that_systemd_started() {
    let mut fixture = client_and_servers();
    for raw in [100, 200] {
        fixture.write(&format!("{raw}/cgroup"), "0::/system.slice/agent.service");
        fixture.write(&format!("{raw}/environ"), "A=1\\0SYSTEMD_EXEC_PID=100\\0");
    }
    // The second look takes what was kept of the first.
    for _ in 0..2 {
        let sample = fixture.look(&[100, 200, 300]);
        let units: Vec<_> = sample
            .units
            .iter()
            .map(|unit| (unit.manager.as_str(), unit.name.as_str(), unit.main_pid))
            .collect();
        assert_eq!(units, [("systemd", "agent.service", Some(pid(100)))]);
    }
}

#[test]
fn a_process_that_starts_between_sample_and_look_is_found_as_a_holder() {
    let mut fixture = client_and_servers();
    let mut sample = fixture.source.sample().unwrap();
    std::fs::remove_dir_all(fixture.directory.path().join("100")).unwrap();
    fixture.write(
        "500/stat",
        "500 (late) S 1 100 100 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9000 1000000 3 0 1 1 1 0 0 0 0 0 0 0 0 0",
    );
    link(fixture.directory.path(), "500/fd/1", "pipe:[501]");
    fixture.write("500/fdinfo/1", "pos:\t0\nflags:\t0100001\n");
    let closely = [sample.process(pid(200)).unwrap().key].into();
    fixture.source.look_closer(
        &mut sample,
        &Interest {
            closely,
            ..Interest::default()
        },
    );
    let holds = sample.holders[&501]
        .iter()
        .find(|holder| holder.process.pid == pid(500))
        .unwrap();
    assert_eq!(holds.access, Access::Write);
    assert!(sample.get(holds.process).is_some());
    assert!(
        sample.holders[&501]
            .iter()
            .all(|holder| holder.process.pid != pid(100))
    );
}

#[test]
fn processor_time_is_counted_between_two_samples() {
    let mut fixture = client_and_servers();
    fixture.source.sample().unwrap();
    let ran = "100 (claude) R 1 100 100 34820 100 4194304 0 0 0 0 500 2 0 0 20 0 1 0 2000 1000000 300 0 1 1 1 \
               0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 1 1 1 140000 1 1 1 0";
    fixture.write("100/stat", ran);
    fixture.write("100/schedstat", "900000000000 200 9");
    let sample = fixture.source.sample().unwrap();
    assert!(
        sample
            .process(pid(100))
            .unwrap()
            .cpu_permille
            .is_some_and(|permille| permille > 1000)
    );
    assert_eq!(sample.process(pid(300)).unwrap().cpu_permille, Some(0));
    assert_eq!(sample.process(pid(100)).unwrap().state, 'R');
}

#[test]
fn a_pid_with_another_start_is_another_process() {
    let mut fixture = client_and_servers();
    let first = fixture.source.sample().unwrap();
    for _ in 0..6 {
        fixture.source.sample().unwrap();
    }
    let other = "300 (server) S 1 300 300 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9999 1000000 300 0 1 1 1 \
                 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 1 1 1 140000 1 1 1 0";
    fixture.write("300/stat", other);
    fixture.write("300/schedstat", "5 5 1");
    fixture.write("300/cmdline", "another\\0");
    let sample = fixture.source.sample().unwrap();
    let process = sample.process(pid(300)).unwrap();
    assert_ne!(process.key, first.process(pid(300)).unwrap().key);
    assert_eq!(
        (process.args(), process.cpu_permille),
        ([OsBytes::from("another")].as_slice(), None)
    );
    assert!(sample.get(first.process(pid(300)).unwrap().key).is_none());
}

#[test]
fn what_vanishes_is_simply_not_there() {
    let mut fixture = client_and_servers();
    assert!(fixture.source.sample().unwrap().process(pid(200)).is_some());
    std::fs::remove_dir_all(fixture.directory.path().join("200")).unwrap();
    // Listed, but gone when it is read.
    std::fs::remove_file(fixture.directory.path().join("300/stat")).unwrap();
    let sample = fixture.source.sample().unwrap();
    let pids: Vec<u32> = sample.processes.keys().map(|pid| pid.get()).collect();
    assert_eq!(pids, [1, 2, 100, 400]);
    assert!(sample.problems.is_empty());
}

#[test]
fn a_line_that_nobody_understands_is_a_problem_not_a_process() {
    let mut fixture = client_and_servers();
    fixture.write("300/stat", "300 (server) what");
    let sample = fixture.source.sample().unwrap();
    assert!(sample.process(pid(300)).is_none());
    assert_eq!(sample.problems.len(), 1);
    assert!(sample.problems[0].detail.starts_with("left out"));
}

#[test]
fn an_older_kernel_and_hidden_users_are_told() {
    let mut fixture = Fixture::new(include_str!("../../../fixtures/proc/older-kernel.txt"));
    for _ in 0..6 {
        let sample = fixture.look(&[700]);
        let process = sample.process(pid(700)).unwrap();
        assert_eq!(process.schedstat, Reading::Unsupported);
        assert_eq!(process.cgroup, Reading::Value("/system.slice/x.service".into()));
        assert_ne!(sample.visibility, Visibility::All);
        assert_eq!(sample.hidden, None);
        assert!(sample.problems[0].detail.contains("hidepid=2"));
        assert_eq!(sample.holders[&5].len(), 1);
    }
    // Without schedstat nothing proves that it has not run: everything is read each time.
    fixture.write("700/cmdline", "title\\0");
    assert_eq!(
        fixture.look(&[]).process(pid(700)).unwrap().args(),
        [OsBytes::from("title")]
    );
}

#[test]
fn a_directory_that_is_no_proc_file_system_is_refused_with_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        proc_root: directory.path().into(),
        ..Options::default()
    };
    let error = LinuxSource::new(options).err().unwrap().to_string();
    assert!(error.contains("boot_id"), "{error}");
    let options = Options {
        proc_root: directory.path().join("none"),
        ..Options::default()
    };
    let error = LinuxSource::new(options).err().unwrap().to_string();
    assert!(
        error.contains("open /") && error.contains("/none: ") && error.contains("mounted"),
        "{error}"
    );
}
