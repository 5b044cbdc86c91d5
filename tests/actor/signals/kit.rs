//! A signaller with a journal to announce in, and processes to signal.

use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use mcpwake::journal::{Entry, Operator, TargetRef};
use mcpwake::model::act::{Look, Sent, Signal, Standing, Target};
use mcpwake::model::identity::{Pid, ProcessKey};
use mcpwake::model::interest::Interest;
use mcpwake::model::process::Process;
use mcpwake::model::sample::Sample;
use mcpwake::platform::linux::kernel::{Opens, Running, Sends};
use mcpwake::platform::linux::{LinuxSignaller, LinuxSource, Options};
use mcpwake::platform::{Signaller as _, Source as _, Watch, wall_clock};
use mcpwake::store::{Access, Incident, Opening, Receipt, Store};
use mcpwake::text::redact::Redactor;
use tempfile::TempDir;

/// Longer than anything takes on a loaded machine.
pub(super) const LONG: Duration = Duration::from_mins(1);
/// What is still there after this has not taken the signal.
pub(super) const SHORT: Duration = Duration::from_millis(150);

/// Names a function that fails where something is not as it should be.
pub(super) fn trial(name: &str, play: fn()) -> Trial {
    Trial::test(name, move || {
        play();
        Ok(())
    })
}

/// An incident whose entries are receipts.
pub(super) struct Book {
    incident: Incident,
    operator: Operator,
    _directory: TempDir,
}

impl Book {
    pub(super) fn new() -> Self {
        // In memory where that is possible: a disk that syncs would let the time pass within which two
        // processes have the same start time.
        let directory = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let redactor = Arc::new(Redactor::builtin().unwrap());
        let store = Store::new(directory.path().join("mcpwake"), uid, Access::ReadWrite, redactor);
        let operator = Operator {
            user: "test".to_owned(),
            uid,
            login_uid: None,
            ssh_from: None,
        };
        let opening = Opening {
            title: "signals".to_owned(),
            host: "here".to_owned(),
            boot_id: "now".to_owned(),
            program: "a test".to_owned(),
        };
        let incident = store.create(&opening, &operator, wall_clock()).unwrap();
        Self {
            incident,
            operator,
            _directory: directory,
        }
    }

    pub(super) fn append(&self, entry: Entry) -> Receipt {
        self.incident.append(entry, &self.operator, wall_clock()).unwrap()
    }

    pub(super) fn announce(&self, signal: Signal, target: &Target) -> Receipt {
        self.append(Entry::AboutToSignal {
            signal: signal.word().to_owned(),
            targets: vec![TargetRef {
                key: target.key,
                pidfd_inode: target.pidfd_inode,
                argv: Vec::new(),
                instance: None,
            }],
            way: "a test".to_owned(),
        })
    }
}

/// What a test signals with.
pub(super) struct Bench {
    pub(super) source: LinuxSource,
    pub(super) signaller: LinuxSignaller,
    pub(super) book: Book,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(Arc::new(Running), Box::new(Running))
    }

    /// With another kernel in between.
    pub(super) fn with(opens: Arc<dyn Opens>, sends: Box<dyn Sends>) -> Self {
        Self::on(Options::default(), opens, sends)
    }

    /// With another view of the processes too.
    pub(super) fn on(options: Options, opens: Arc<dyn Opens>, sends: Box<dyn Sends>) -> Self {
        let source = LinuxSource::on(options, opens).unwrap();
        let signaller = source.signaller_through(sends).unwrap();
        Self {
            source,
            signaller,
            book: Book::new(),
        }
    }

    /// Samples, and looks closely at these processes: their pidfds are kept from then.
    pub(super) fn sample(&mut self, pids: &[u32]) -> Sample {
        let mut sample = self.source.sample().unwrap();
        let keys = pids
            .iter()
            .filter_map(|pid| Some(sample.process(pid_of(*pid))?.key));
        let interest = Interest {
            closely: keys.collect(),
            ..Interest::default()
        };
        self.source.look_closer(&mut sample, &interest);
        sample
    }

    /// Returns a process as it is seen.
    pub(super) fn see(&mut self, pid: u32) -> Target {
        let sample = self.sample(&[pid]);
        let key = sample.process(pid_of(pid)).unwrap().key;
        Target::of(&sample, key, None).unwrap()
    }

    pub(super) fn look(&mut self, target: &Target) -> Look {
        self.signaller.look(target)
    }

    /// Looks, and answers with the process where it is the same.
    pub(super) fn same(&mut self, target: &Target) -> Box<Process> {
        match self.look(target).standing {
            Standing::Same(process) => process,
            other => panic!("{other:?}"),
        }
    }

    /// Announces and sends.
    pub(super) fn send(&mut self, target: &Target, signal: Signal) -> Sent {
        let receipt = self.book.announce(signal, target);
        self.signaller.send(target, signal, receipt)
    }

    pub(super) fn watch(&self, target: &Target) -> Box<dyn Watch> {
        self.signaller.watch(target)
    }
}

/// A proc file system that shows few processes: whoever reads all of them takes longer than two processes
/// can have the same start time.
pub(super) struct Narrow(TempDir);

impl Narrow {
    pub(super) fn new() -> Self {
        let narrow = Self(tempfile::tempdir().unwrap());
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if !name.starts_with(|letter: char| letter.is_ascii_digit()) {
                narrow.show(&name);
            }
        }
        narrow.show(&std::process::id().to_string());
        narrow
    }

    pub(super) fn options(&self) -> Options {
        Options {
            proc_root: self.0.path().to_path_buf(),
            ..Options::default()
        }
    }

    pub(super) fn show(&self, name: &str) {
        symlink(format!("/proc/{name}"), self.0.path().join(name)).unwrap();
    }

    pub(super) fn hide(&self, pid: u32) {
        std::fs::remove_file(self.0.path().join(pid.to_string())).unwrap();
    }
}

/// A process that is killed and reaped when the test is over.
pub(super) struct Ward(pub(super) Child);

impl Ward {
    pub(super) fn start(command: &mut Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// A process that ends on TERM, and by itself after a while. It has left the shape in which it was
    /// forked once it is returned.
    pub(super) fn sleeper() -> Self {
        let ward = Self::start(Command::new("sleep").arg("300"));
        until(|| std::fs::read(format!("/proc/{}/comm", ward.pid())).is_ok_and(|comm| comm == b"sleep\n"));
        ward
    }

    /// A shell that has run its script up to its first line of output; it ends when its input does.
    pub(super) fn script(script: &str) -> Self {
        let mut ward = Self::start(Command::new("sh").args(["-c", script]));
        ward.line();
        ward
    }

    /// A Python program, likewise.
    pub(super) fn python(script: &str) -> Self {
        let mut ward = Self::start(Command::new("python3").args(["-c", script]));
        ward.line();
        ward
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Reads one line that it prints.
    pub(super) fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        let out = self.0.stdout.as_mut().unwrap();
        while out.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }

    pub(super) fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    pub(super) fn end(&mut self) -> ExitStatus {
        self.0.wait().unwrap()
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn pid_of(pid: u32) -> Pid {
    Pid::new(i64::from(pid)).unwrap()
}

/// Returns state and start time of whoever has a pid.
pub(super) fn stat(pid: u32) -> Option<(char, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// Waits for a condition.
pub(super) fn until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "it never came to it");
        std::thread::yield_now();
    }
}

pub(super) fn until_state(pid: u32, wanted: char) {
    until(|| stat(pid).is_some_and(|(state, _)| state == wanted));
}

/// Takes what a refusal says.
pub(super) fn unread(sent: Sent) -> String {
    match sent {
        Sent::Withheld(Standing::Unread(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// Returns a target whose start time is another's.
pub(super) fn earlier(target: &Target) -> Target {
    let mut start = target.key.start;
    start.0 -= 1;
    Target {
        key: ProcessKey { start, ..target.key },
        ..target.clone()
    }
}
