//! A pid changes hands, to a process with the same argument vector and, nearly always, the same start
//! time: at each moment between seeing and signalling. No other process is ever hit.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use libtest_mimic::Trial;
use mcpwake::model::act::{Look, Sent, Signal, Standing, Target, Way};
use mcpwake::model::identity::Pid;
use mcpwake::platform::linux::kernel::{Opens, Running, Sends};
use rustix::io::Errno;
use tempfile::TempDir;

use super::kit::{Bench, Narrow, pid_of, stat, trial, unread};

const ROUNDS: usize = 100;
/// How a process ends that nothing has hit: by its own parent.
const UNHURT: &str = "10";

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("reuse_never_hits_another", never_hits_another),
        trial("control_a_twin_that_is_hit_is_found", a_twin_that_is_hit_is_found),
        trial(
            "control_the_one_that_was_seen_is_hit",
            the_one_that_was_seen_is_hit,
        ),
    ]
}

/// Why a pid did not change hands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unswapped {
    Taken,
    Refused(String),
}

/// The program that makes processes with pids of choice.
#[derive(Debug)]
struct Twins {
    program: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    _place: TempDir,
}

impl Twins {
    fn start() -> Self {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("twins.py");
        std::fs::write(&script, include_str!("twins.py")).unwrap();
        let mut program = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            commands: program.stdin.take().unwrap(),
            answers: BufReader::new(program.stdout.take().unwrap()),
            program,
            _place: place,
        }
    }

    fn ask(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }

    fn first(&mut self) -> u32 {
        self.ask("first").parse().unwrap()
    }

    /// Puts another process in the place of one that nothing has hit.
    fn replace(&mut self, pid: u32) -> Result<(), Unswapped> {
        let answer = self.ask(&format!("twin {pid}"));
        match answer.split_once(' ') {
            Some((UNHURT, twin)) if twin == pid.to_string() => Ok(()),
            // Somebody else on this machine was given the pid.
            Some((UNHURT, "EEXIST")) => Err(Unswapped::Taken),
            Some((UNHURT, name)) if name.starts_with('E') => Err(Unswapped::Refused(name.to_owned())),
            _ => panic!("{pid}: {answer}"),
        }
    }

    fn end(&mut self, pid: u32) -> String {
        self.ask(&format!("end {pid}"))
    }
}

impl Drop for Twins {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// When the pid changes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    /// Between seeing and the dialog.
    Seen,
    /// Likewise; and the sampler has seen the other one since.
    SampledAgain,
    /// Between opening the pidfd and reading the process again.
    Opened,
    /// Between the dialog and the signal.
    Confirmed,
    /// Between the last reading and the call that signals.
    Reread,
}

const MOMENTS: [When; 5] = [
    When::Seen,
    When::SampledAgain,
    When::Opened,
    When::Confirmed,
    When::Reread,
];

/// A kernel in which a pid changes hands at a call.
#[derive(Clone, Debug)]
struct Swapping {
    twins: Arc<Mutex<Twins>>,
    /// Whose pid, at which moment; taken when it has happened, with what came of it.
    armed: Arc<Mutex<Option<(When, u32)>>>,
    swapped: Arc<Mutex<Option<Result<(), Unswapped>>>>,
    /// Whether pidfds have inodes of their own: not before Linux 6.9.
    inodes: bool,
}

impl Swapping {
    fn new(twins: &Arc<Mutex<Twins>>, inodes: bool) -> Self {
        Self {
            twins: Arc::clone(twins),
            armed: Arc::default(),
            swapped: Arc::default(),
            inodes,
        }
    }

    fn arm(&self, when: When, pid: u32) {
        *self.swapped.lock().unwrap() = None;
        *self.armed.lock().unwrap() = Some((when, pid));
    }

    /// The moment has come: the pid changes hands where it was armed for this one.
    fn at(&self, when: When) {
        let mut armed = self.armed.lock().unwrap();
        if let Some((_, pid)) = armed.take_if(|(wanted, _)| *wanted == when) {
            *self.swapped.lock().unwrap() = Some(self.twins.lock().unwrap().replace(pid));
        }
    }

    /// Returns what came of it; it has happened.
    fn swapped(&self) -> Result<(), Unswapped> {
        self.swapped.lock().unwrap().take().expect("the moment came")
    }
}

impl Opens for Swapping {
    fn open(&self, pid: Pid) -> Result<OwnedFd, Errno> {
        let opened = Running.open(pid);
        self.at(When::Opened);
        opened
    }

    fn inode(&self, pidfd: &OwnedFd) -> Option<u64> {
        self.inodes.then(|| Running.inode(pidfd)).flatten()
    }
}

impl Sends for Swapping {
    fn send(&self, pidfd: &OwnedFd, signal: Signal) -> Result<(), Errno> {
        self.at(When::Reread);
        Running.send(pidfd, signal)
    }

    fn kill(&self, _: Pid, _: Signal) -> Result<(), Errno> {
        panic!("this kernel has pidfds");
    }
}

/// A bench in a kernel that swaps.
struct Stand {
    kernel: Swapping,
    bench: Bench,
    narrow: Narrow,
}

impl Stand {
    fn new(twins: &Arc<Mutex<Twins>>, inodes: bool) -> Self {
        let kernel = Swapping::new(twins, inodes);
        let narrow = Narrow::new();
        let bench = Bench::on(
            narrow.options(),
            Arc::new(kernel.clone()),
            Box::new(kernel.clone()),
        );
        Self {
            kernel,
            bench,
            narrow,
        }
    }

    fn replace(&self, when: When, pid: u32) {
        self.kernel.arm(when, pid);
        self.kernel.at(when);
    }

    /// Sees a process as the screen does; for a pidfd that is opened for the dialog, as it is seen before
    /// any closer look.
    fn see(&mut self, when: When, pid: u32) -> Target {
        self.narrow.show(&pid.to_string());
        if when != When::Opened {
            return self.bench.see(pid);
        }
        let sample = self.bench.sample(&[]);
        let key = sample.process(pid_of(pid)).unwrap().key;
        Target::of(&sample, key, None).unwrap()
    }

    /// Plays one round; answers with what was found when the dialog opened, and what became of the signal.
    fn play(&mut self, when: When, target: &Target, signal: Signal) -> (Look, Sent) {
        let pid = target.key.pid.get();
        match when {
            When::Seen | When::SampledAgain => self.replace(when, pid),
            When::Opened => self.kernel.arm(when, pid),
            When::Confirmed | When::Reread => {}
        }
        if when == When::SampledAgain {
            self.bench.sample(&[pid]);
        }
        let look = self.bench.look(target);
        if when == When::Confirmed {
            self.replace(when, pid);
        } else if when == When::Reread {
            self.kernel.arm(when, pid);
        }
        (look, self.bench.send(target, signal))
    }
}

/// Rounds of one moment: how many were played, and in how many both had the same start time.
#[derive(Default)]
struct Tally {
    rounds: usize,
    same_start: usize,
}

fn never_hits_another() {
    let rounds = std::env::var("MCPWAKE_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let rounds: usize = rounds.unwrap_or(ROUNDS);
    let twins = Arc::new(Mutex::new(Twins::start()));
    let mut stands = [Stand::new(&twins, true), Stand::new(&twins, false)];
    let mut tallies: BTreeMap<(When, bool), Tally> = BTreeMap::new();
    let (mut round, mut same) = (0, 0);
    // A busy machine lets the time pass: more rounds, until some had what makes them hard.
    while round < rounds || (same == 0 && round < 10 * rounds) {
        let when = MOMENTS[round % MOMENTS.len()];
        let stand = &mut stands[round / MOMENTS.len() % 2];
        let signal = [Signal::Term, Signal::Kill][round / (2 * MOMENTS.len()) % 2];
        round += 1;
        let pid = twins.lock().unwrap().first();
        let target = stand.see(when, pid);
        let (look, sent) = stand.play(when, &target, signal);
        stand.narrow.hide(pid);
        match stand.kernel.swapped() {
            Ok(()) => {}
            Err(Unswapped::Taken) => continue,
            Err(Unswapped::Refused(errno)) => {
                println!("not tried: clone3(2) may not choose a pid here ({errno}): root may, on Linux 5.5");
                return;
            }
        }
        let start = stat(pid).map(|(_, start)| start);
        let end = twins.lock().unwrap().end(pid);
        let told = format!("round {round}, {when:?}: {look:?}, {sent:?}");
        assert_eq!(end, UNHURT, "hit: {told}");
        assert_told(when, &look, &sent, &told);
        let tally = tallies.entry((when, stand.kernel.inodes)).or_default();
        tally.rounds += 1;
        let same_start = usize::from(start == Some(target.key.start.0));
        tally.same_start += same_start;
        same += same_start;
    }
    for ((when, inodes), Tally { rounds, same_start }) in &tallies {
        println!("{when:?}, inodes {inodes}: {rounds} rounds, {same_start} with the same start time");
    }
    let played: usize = tallies.values().map(|tally| tally.rounds).sum();
    assert!(played * 2 >= rounds, "{played} of {rounds} rounds were played");
    if same == 0 {
        println!("not met: two with the same start time; a loaded machine lets a tick pass between them");
    }
}

/// What must be said of a process whose pid changed hands.
fn assert_told(when: When, look: &Look, sent: &Sent, told: &str) {
    let seen = matches!(look.standing, Standing::Same(_));
    match when {
        When::Seen | When::SampledAgain | When::Opened => {
            assert_eq!(look.standing, Standing::Replaced, "{told}");
            assert!(matches!(sent, Sent::Withheld(_)), "{told}");
        }
        When::Confirmed => {
            assert!(seen && look.way == Way::KeptPidfd, "{told}");
            assert_eq!(*sent, Sent::Withheld(Standing::Replaced), "{told}");
        }
        When::Reread => {
            assert!(seen && look.way == Way::KeptPidfd, "{told}");
            assert_eq!(*sent, Sent::Withheld(Standing::Gone), "{told}");
        }
    }
}

/// A signal to the bare pid, as other programs send it, hits the twin, and the test above would see it.
fn a_twin_that_is_hit_is_found() {
    let mut twins = Twins::start();
    let pid = twins.first();
    if let Err(why) = twins.replace(pid) {
        println!("not tried: {why:?}");
        return;
    }
    twins.ask(&format!("term {pid}"));
    assert_eq!(twins.end(pid), "15");
}

/// Without a change of hands, the same calls end the process.
fn the_one_that_was_seen_is_hit() {
    let twins = Arc::new(Mutex::new(Twins::start()));
    for inodes in [true, false] {
        let mut stand = Stand::new(&twins, inodes);
        let pid = twins.lock().unwrap().first();
        let target = stand.see(When::Seen, pid);
        let why = unread(stand.bench.send(&target, Signal::Term));
        assert!(why.contains("look at it first"), "{why}");
        stand.bench.same(&target);
        assert_eq!(stand.bench.send(&target, Signal::Term), Sent::Accepted);
        assert_eq!(twins.lock().unwrap().end(pid), "15");
    }
}
