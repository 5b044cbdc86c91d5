//! Servers that were left behind: started through a process that adopts them, and takes them down.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{DEADLINE, Watch, pid};

/// How a server takes signals: its first argument.
#[derive(Clone, Copy)]
pub(crate) enum Nature {
    /// It ends on TERM.
    Plain,
    /// It ignores TERM.
    Deaf,
}

/// A process that adopts servers whose clients have gone, and ends them with the test.
pub(crate) struct Stage {
    home: TempDir,
    play: Child,
    orders: RefCell<Option<ChildStdin>>,
    answers: RefCell<BufReader<ChildStdout>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("stage.py"), include_str!("stage.py")).unwrap();
        std::fs::write(home.path().join("mcp-server-git"), include_str!("server.py")).unwrap();
        let mut play = Command::new("python3")
            .arg(home.path().join("stage.py"))
            .current_dir(home.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            orders: RefCell::new(play.stdin.take()),
            answers: RefCell::new(BufReader::new(play.stdout.take().unwrap())),
            play,
            home,
        }
    }

    /// Returns a server that has lost its client.
    pub(crate) fn severed(&self, nature: Nature) -> Leftover {
        self.order("client", nature, &json!({}));
        self.started()
    }

    /// Returns one with a credential in its environment: an authority to be revoked.
    pub(crate) fn severed_with_token(&self) -> Leftover {
        self.order("client", Nature::Plain, &json!({"GITHUB_TOKEN": "none"}));
        self.started()
    }

    /// Returns one that a supervisor starts again whenever it has ended.
    pub(crate) fn supervised(&self) -> Leftover {
        self.order("supervisor", Nature::Plain, &json!({}));
        self.started()
    }

    /// Waits for the next server to be ready.
    pub(crate) fn started(&self) -> Leftover {
        let mut line = String::new();
        self.answers.borrow_mut().read_line(&mut line).unwrap();
        Leftover::new(line.trim().parse().unwrap())
    }

    fn order(&self, by: &str, nature: Nature, env: &Value) {
        let role = match nature {
            Nature::Plain => "plain",
            Nature::Deaf => "deaf",
        };
        let script = self.home.path().join("mcp-server-git");
        let order = json!({"by": by, "words": ["python3", script, role], "env": env});
        let mut orders = self.orders.borrow_mut();
        writeln!(orders.as_mut().unwrap(), "{order}").unwrap();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The end of its input has it take everything down.
        self.orders.take();
        let _ = self.play.wait();
    }
}

/// A server, held by its pidfd.
pub(crate) struct Leftover {
    pub(crate) pid: u32,
    descriptor: OwnedFd,
    watch: Watch,
}

impl Leftover {
    pub(crate) fn new(number: u32) -> Self {
        Self {
            pid: number,
            descriptor: pidfd_open(pid(number), PidfdFlags::empty()).unwrap(),
            watch: Watch::new(number),
        }
    }

    pub(crate) fn lives(&self) -> bool {
        !self.watch.is_gone_within(std::time::Duration::ZERO)
    }

    /// Waits for its end.
    pub(crate) fn ends(&self) {
        assert!(self.watch.is_gone_within(DEADLINE), "{} lives on", self.pid);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.descriptor, signal).unwrap();
    }

    /// Stops it, and waits until it has stopped.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        until(|| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
            stat.rsplit_once(')')
                .is_some_and(|(_, rest)| rest.starts_with(" T"))
        });
    }

    /// Has it run another program, and waits until it does.
    pub(crate) fn becomes_another(&self) {
        self.signal(Signal::USR1);
        until(|| {
            let argv = std::fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap();
            argv.ends_with(b"\0another\0")
        });
    }
}

/// Waits for a condition outside the screen.
pub(crate) fn until(holds: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "it never came to it");
        std::thread::yield_now();
    }
}
