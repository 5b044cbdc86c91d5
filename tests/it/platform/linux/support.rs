//! Children that end with the test, and reference tools that must be installed.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcpwake::model::descriptor::{Descriptor, Target};
use mcpwake::model::identity::Pid;
use mcpwake::model::interest::Interest;
use mcpwake::model::process::Process;
use mcpwake::model::sample::Sample;
use mcpwake::platform::Source as _;
use mcpwake::platform::linux::{LinuxSource, Options};

/// A child that is killed and reaped when it goes out of scope.
pub(super) struct Ward(pub(super) Child);

impl Ward {
    /// Starts a child with pipes on its three standard descriptors.
    pub(super) fn start(command: &mut Command) -> Self {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")))
    }

    /// Starts `sh -c SCRIPT NAME` and waits until it has printed a line.
    pub(super) fn script(script: &str, name: &str) -> Self {
        let mut ward = Self::start(Command::new("/bin/sh").arg0("sh").args(["-c", script, name]));
        ward.wait_for_line();
        ward
    }

    /// Its pid.
    pub(super) fn pid(&self) -> Pid {
        Pid::new(i64::from(self.0.id())).unwrap()
    }

    /// Waits for one line on its stdout and returns it.
    pub(super) fn wait_for_line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        let out = self.0.stdout.as_mut().unwrap();
        while out.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A source over the live system.
pub(super) fn source() -> LinuxSource {
    LinuxSource::new(Options::default()).unwrap()
}

/// Samples until `holds` is true of the process; gives the sample it was true in.
pub(super) fn sample_until(source: &mut LinuxSource, pid: Pid, holds: impl Fn(&Process) -> bool) -> Sample {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let sample = source.sample().unwrap();
        if sample.process(pid).is_some_and(&holds) {
            return sample;
        }
        assert!(
            Instant::now() < deadline,
            "process {pid} never came to it: {:?}",
            sample.process(pid)
        );
        std::thread::yield_now();
    }
}

/// Runs a reference tool and returns what it printed; fails with the package's name where it is missing.
pub(super) fn tool(program: &str, package: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "{program} does not run ({error}): this test compares with it, install the package {package}"
            )
        });
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Takes a sample and looks closer at the processes.
pub(super) fn look(source: &mut LinuxSource, pids: &[Pid]) -> Sample {
    look_for(source, pids, "WARD_SESSION")
}

/// The same where a variable of this name holds an identifier.
pub(super) fn look_for(source: &mut LinuxSource, pids: &[Pid], identifier: &str) -> Sample {
    let mut sample = source.sample().unwrap();
    let closely = pids.iter().map(|pid| sample.process(*pid).unwrap().key).collect();
    let identifiers = [identifier.to_owned()].into();
    source.look_closer(
        &mut sample,
        &Interest {
            closely,
            identifiers,
            ..Interest::default()
        },
    );
    sample
}

/// Returns the descriptors of a process.
pub(super) fn open(sample: &Sample, pid: Pid) -> &[Descriptor] {
    sample.process(pid).unwrap().descriptors.value().unwrap()
}

/// Returns what a descriptor of a process leads to.
pub(super) fn target(sample: &Sample, pid: Pid, fd: u32) -> &Target {
    &open(sample, pid)
        .iter()
        .find(|descriptor| descriptor.fd == fd)
        .unwrap()
        .target
}

/// Returns the inode behind a descriptor of a process.
pub(super) fn inode(sample: &Sample, pid: Pid, fd: u32) -> u64 {
    target(sample, pid, fd).inode().unwrap()
}

/// The process of the test itself.
pub(super) fn own_pid() -> Pid {
    Pid::new(i64::from(std::process::id())).unwrap()
}
