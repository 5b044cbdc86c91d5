//! What a process of a situation does: says that it is there, starts its children, and stays until
//! the stage is gone, whatever happens to its wire.

use std::fs::File;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open, setsid};
use serde::{Deserialize, Serialize};

/// The part that a process plays, as JSON.
const PART: &str = "MCPWAKE_ACTOR_PART";
/// Socket to report to.
const REPORT: &str = "MCPWAKE_ACTOR_REPORT";
/// Pid of the stage.
const STAGE: &str = "MCPWAKE_ACTOR_STAGE";

/// How a part is connected with the part that starts it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Wire {
    /// `/dev/null` on 0 and 1.
    #[default]
    Nothing,
    /// Two pipes, as Python and Rust clients make them.
    Pipes,
    /// Two socket pairs, as Node clients make them.
    SocketPairs,
    /// The same ends as the part that starts it: what a launcher does.
    Same,
    /// Descriptor 0 is the writing end of the first child's stdin: what leaks into a sibling.
    FirstChildsWriter,
    /// First in a pipeline: stdin of the part that starts it, stdout into the next part.
    IntoNext,
    /// Last in a pipeline: stdin from the part before, stdout of the part that starts it.
    FromLast,
}

/// Which session a part is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Session {
    /// That of the part that starts it.
    #[default]
    Same,
    /// One that it leads, and its children are in.
    Own,
    /// One that it leads once its children are started: they stay behind.
    OwnLater,
}

/// One process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Unique in its situation.
    pub(crate) role: String,
    /// Name of the program: a link to this binary.
    pub(crate) program: String,
    /// Arguments.
    pub(crate) args: Vec<String>,
    pub(crate) wire: Wire,
    pub(crate) session: Session,
    /// Whether it closes its ends of its children's wires.
    pub(crate) lets_go: bool,
    /// Whether its descriptor 2 is the writing end of its own stdin.
    pub(crate) holds_own_stdin: bool,
    /// Whether it listens on a TCP port of loopback.
    pub(crate) listens: bool,
    pub(crate) children: Vec<Part>,
}

impl Part {
    /// Returns this part and all below it, a parent before its children.
    pub(crate) fn all(&self) -> Vec<&Self> {
        let mut parts = vec![self];
        parts.extend(self.children.iter().flat_map(Self::all));
        parts
    }
}

/// Returns the part that this process was started for.
pub(crate) fn of_this_process() -> Option<Part> {
    std::env::var(PART)
        .ok()
        .map(|part| serde_json::from_str(&part).unwrap())
}

/// Returns the command that starts a part.
pub(crate) fn command(part: &Part, report: &str, stage: u32) -> Command {
    let mut command = Command::new(&part.program);
    command
        .args(&part.args)
        .env(PART, serde_json::to_string(part).unwrap())
        .env(REPORT, report)
        .env(STAGE, stage.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    // The argument vector begins with the bare name, as a shell gives it.
    if let Some(name) = part.program.rsplit('/').next() {
        command.arg0(name);
    }
    command
}

/// The ends of a child's wire: its own two, and those that its parent keeps.
struct Ends {
    stdin: Stdio,
    stdout: Stdio,
    kept: Option<(OwnedFd, OwnedFd)>,
    /// What the next part of the pipeline reads from.
    next: Option<OwnedFd>,
}

/// Plays a part until the stage ends.
#[expect(
    clippy::zombie_processes,
    reason = "a client that does not wait for its children is the point"
)]
pub(crate) fn play(part: &Part) {
    let report = std::env::var(REPORT).unwrap();
    let stage = std::env::var(STAGE).unwrap().parse().unwrap();
    let watched = pidfd_open(Pid::from_raw(stage).unwrap(), PidfdFlags::empty()).unwrap();
    if part.session == Session::Own {
        setsid().unwrap();
    }
    let _listener = part.listens.then(|| TcpListener::bind("127.0.0.1:0").unwrap());
    let mut kept: Vec<(OwnedFd, OwnedFd)> = Vec::new();
    let mut last = None;
    for child in &part.children {
        let ends = connect(child.wire, &kept, last.take());
        last = ends.next;
        let mut command = command(child, &report, stage.unsigned_abs());
        command.stdin(ends.stdin).stdout(ends.stdout);
        if child.holds_own_stdin {
            let (writer, _) = ends.kept.as_ref().unwrap();
            command.stderr(Stdio::from(writer.try_clone().unwrap()));
        }
        command.spawn().unwrap();
        kept.extend(ends.kept);
    }
    if part.lets_go {
        kept.clear();
    }
    if part.session == Session::OwnLater {
        setsid().unwrap();
    }
    let mut socket = UnixStream::connect(&report).unwrap();
    writeln!(socket, "{} {}", part.role, std::process::id()).unwrap();
    drop(socket);
    // A pidfd can be read once the process has exited.
    while poll(&mut [PollFd::new(&watched, PollFlags::IN)], None) == Err(rustix::io::Errno::INTR) {}
    drop(kept);
}

fn connect(wire: Wire, siblings: &[(OwnedFd, OwnedFd)], last: Option<OwnedFd>) -> Ends {
    let ends = |stdin: Stdio, stdout: Stdio| Ends {
        stdin,
        stdout,
        kept: None,
        next: None,
    };
    match wire {
        Wire::Nothing => ends(Stdio::null(), Stdio::null()),
        Wire::Same => ends(Stdio::inherit(), Stdio::inherit()),
        Wire::IntoNext => {
            let (reader, writer) = std::io::pipe().unwrap();
            Ends {
                next: Some(reader.into()),
                ..ends(Stdio::inherit(), writer.into())
            }
        }
        Wire::FromLast => ends(last.unwrap().into(), Stdio::inherit()),
        Wire::Pipes => {
            let (stdin, writer) = std::io::pipe().unwrap();
            let (reader, stdout) = std::io::pipe().unwrap();
            Ends {
                kept: Some((writer.into(), reader.into())),
                ..ends(stdin.into(), stdout.into())
            }
        }
        Wire::SocketPairs => {
            let (stdin, writer) = UnixStream::pair().unwrap();
            let (reader, stdout) = UnixStream::pair().unwrap();
            Ends {
                kept: Some((writer.into(), reader.into())),
                ..ends(OwnedFd::from(stdin).into(), OwnedFd::from(stdout).into())
            }
        }
        Wire::FirstChildsWriter => {
            let (writer, _) = siblings.first().unwrap();
            let writer = File::from(writer.as_fd().try_clone_to_owned().unwrap());
            ends(writer.into(), Stdio::null())
        }
    }
}
