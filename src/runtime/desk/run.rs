//! Runs a command that was configured and confirmed: without a shell, without a terminal, with a limit of
//! time and of output. Beside the desk's thread: other orders do not wait for it.

use std::io::{PipeReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::Answer;
use crate::app::{Attach, JobId, Material, Outcome, Run};
use crate::journal::entry::AttachedFrom;
use crate::platform::{own, wall_clock};
use crate::store::Access;

/// Output beyond this is not kept, bytes.
const LONGEST: usize = 1 << 20;

/// How often it is looked whether the command has ended.
const STEP: Duration = Duration::from_millis(20);

/// Between the request to end and the end by force.
const GRACE: Duration = Duration::from_secs(2);

/// Output may still be under way when the command has ended, and a process that it left behind may hold
/// the pipe for ever.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// Whether the program ends; commands end with it.
#[derive(Default)]
pub(super) struct Ending {
    ends: Mutex<bool>,
    changed: Condvar,
}

impl Ending {
    /// Tells it.
    pub(super) fn begin(&self) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for it, at most so long; returns whether it has begun.
    fn wait(&self, at_most: Duration) -> bool {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(ends, at_most, |ends| !*ends);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Runs commands, each on a thread of its own.
pub(super) struct Runner {
    access: Access,
    ending: Arc<Ending>,
}

impl Runner {
    pub(super) fn new(access: Access, ending: Arc<Ending>) -> Self {
        Self { access, ending }
    }

    /// Starts a command; the answer comes when it has ended.
    pub(super) fn start(&self, job: JobId, run: Run, answers: &UnboundedSender<Answer>) {
        let answer = {
            let answers = answers.clone();
            move |outcome| {
                // Nobody listens any more when the screen has ended.
                let _ = answers.send(Answer {
                    job,
                    outcome: Outcome::Ran(outcome),
                    terminal: None,
                });
            }
        };
        if self.access == Access::ReadOnly {
            return answer(Err("read-only: nothing is run".to_owned()));
        }
        let ending = Arc::clone(&self.ending);
        let failed = answer.clone();
        let started = std::thread::Builder::new()
            .name("command".to_owned())
            .spawn(move || answer(carry_out(run, &ending)));
        if let Err(error) = started {
            failed(Err(format!("start a thread: {error}")));
        }
    }
}

/// Runs a command to its end; answers with its output and how it ended.
fn carry_out(run: Run, ending: &Ending) -> Result<(Box<Attach>, String), String> {
    let Run {
        label,
        argv,
        timeout_s,
        on,
        lead,
    } = run;
    let started_at = wall_clock();
    let (mut child, pipe) = start(&argv)?;
    let output = Output::collect(pipe)?;
    let limit = Duration::from_secs(timeout_s);
    let end = wait(&mut child, limit, ending).map_err(|error| format!("wait for {}: {error}", argv[0]))?;
    let ended_at = wall_clock();
    let (bytes, dropped) = output.take();
    let mut status = end.words();
    if dropped > 0 {
        status = format!("{status}, {dropped} bytes of output beyond {LONGEST} not kept");
    }
    let attach = Attach {
        material: Material::Output {
            bytes,
            from: AttachedFrom::Command {
                argv,
                started_at,
                ended_at,
                status: status.clone(),
            },
        },
        label,
        on,
        lead,
    };
    Ok((Box::new(attach), status))
}

fn start(argv: &[String]) -> Result<(Child, PipeReader), String> {
    let (program, arguments) = argv.split_first().ok_or("it names no program")?;
    let named = |error: std::io::Error| format!("start {program}: {error}");
    let (pipe, out) = std::io::pipe().map_err(named)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(out.try_clone().map_err(named)?)
        .stdout(out);
    own::without_terminal(&mut command);
    // The command's own ends of the pipe close with it.
    command.spawn().map(|child| (child, pipe)).map_err(named)
}

/// How a command ended.
enum End {
    ByItself(ExitStatus),
    OutOfTime,
    WithTheProgram,
}

impl End {
    fn words(&self) -> String {
        match self {
            Self::ByItself(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exited with {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".to_owned(),
            },
            Self::OutOfTime => "ran out of time".to_owned(),
            Self::WithTheProgram => "was ended with mcpwake".to_owned(),
        }
    }
}

/// Waits for the end, and brings it about where the time is over.
fn wait(child: &mut Child, limit: Duration, ending: &Ending) -> std::io::Result<End> {
    let begun = Instant::now();
    let why = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::ByItself(status));
        }
        if begun.elapsed() >= limit {
            break End::OutOfTime;
        }
        if ending.wait(STEP) {
            break End::WithTheProgram;
        }
    };
    // Nobody has waited for the child yet: its pid, and so its group's number, is still its own. Once
    // somebody has, the group may be another's.
    own::ask_group_to_end(child.id());
    let asked = Instant::now();
    while asked.elapsed() < GRACE && !own::has_exited(child.id()) && !ending.wait(STEP) {}
    own::end_group(child.id());
    child.wait()?;
    Ok(why)
}

/// The beginning of the output, and how much more there was.
#[derive(Default)]
struct Taken {
    bytes: Vec<u8>,
    dropped: u64,
}

/// Output as it comes, standard output and standard error in the order in which they were written.
struct Output {
    taken: Arc<Mutex<Taken>>,
    /// Closed when there is no more.
    ended: Receiver<()>,
}

impl Output {
    fn collect(mut pipe: PipeReader) -> Result<Self, String> {
        let taken = Arc::new(Mutex::new(Taken::default()));
        let (end, ended) = channel::<()>();
        let shared = Arc::clone(&taken);
        let read = move || {
            let mut buffer = [0; 1 << 13];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut taken = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let room = LONGEST.saturating_sub(taken.bytes.len()).min(count);
                taken.bytes.extend_from_slice(&buffer[..room]);
                taken.dropped += (count - room) as u64;
            }
            drop(end);
        };
        std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(read)
            .map_err(|error| format!("start a thread: {error}"))?;
        Ok(Self { taken, ended })
    }

    fn take(self) -> (Vec<u8>, u64) {
        // Nothing is ever sent: it ends when the pipe does.
        let _ = self.ended.recv_timeout(LAST_OUTPUT);
        let taken = std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner));
        (taken.bytes, taken.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(argv: &[&str], timeout_s: u64, ending: &Ending) -> Result<(Vec<u8>, String), String> {
        let run = Run {
            label: "output of a test".to_owned(),
            argv: argv.iter().map(|one| (*one).to_owned()).collect(),
            timeout_s,
            on: None,
            lead: None,
        };
        carry_out(run, ending).map(|(attach, status)| match attach.material {
            Material::Output {
                bytes,
                from:
                    AttachedFrom::Command {
                        started_at,
                        ended_at,
                        status: journalled,
                        ..
                    },
            } => {
                assert!(started_at <= ended_at);
                assert_eq!(journalled, status);
                (bytes, status)
            }
            other => panic!("{other:?}"),
        })
    }

    fn go() -> Ending {
        Ending::default()
    }

    #[test]
    fn output_is_exact_in_its_order_and_status_is_said() {
        let script = "printf 'a\\0\\377'; printf b >&2; printf c; tty; cat; exit 3";
        let (bytes, status) = run(&["/bin/sh", "-c", script], 20, &go()).unwrap();
        assert_eq!(bytes, b"a\0\xffbcnot a tty\n");
        assert_eq!(status, "exited with 3");
        let (_, status) = run(&["/bin/sh", "-c", "kill -9 $$"], 20, &go()).unwrap();
        assert_eq!(status, "ended by signal 9");
    }

    #[test]
    fn no_shell_reads_the_arguments() {
        let (bytes, _) = run(&["/bin/echo", "$HOME; exit 1 | cat"], 20, &go()).unwrap();
        assert_eq!(bytes, b"$HOME; exit 1 | cat\n");
        assert!(
            run(&["/nowhere/x"], 1, &go())
                .unwrap_err()
                .contains("start /nowhere/x")
        );
    }

    #[test]
    fn what_runs_out_of_time_is_ended_with_its_children() {
        let begun = Instant::now();
        // A child that ignores the request, and says its pid.
        let script = "trap '' TERM; (trap '' TERM; sleep 600) & echo $!; wait; sleep 600";
        let (bytes, status) = run(&["/bin/sh", "-c", script], 1, &go()).unwrap();
        assert_eq!(status, "ran out of time");
        assert!(begun.elapsed() < Duration::from_secs(20));
        let child = String::from_utf8(bytes).unwrap();
        let state = Command::new("ps")
            .args(["-o", "stat=", "-p", child.trim()])
            .output()
            .unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        assert!(state.is_empty() || state.starts_with('Z'), "{child} is {state}");
    }

    #[test]
    fn it_ends_with_the_program_and_output_is_bounded() {
        let ending = go();
        ending.begin();
        let (_, status) = run(&["/bin/sleep", "600"], 600, &ending).unwrap();
        assert_eq!(status, "was ended with mcpwake");
        let script = "head -c 1100000 /dev/zero";
        let (bytes, status) = run(&["/bin/sh", "-c", script], 20, &go()).unwrap();
        assert_eq!(bytes.len(), LONGEST);
        assert!(status.starts_with("exited with 0, 51424 bytes"), "{status}");
    }
}
