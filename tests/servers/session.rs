//! A client with a server that it has started, up and connected.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tempfile::TempDir;

use crate::common::watched::{Watched, take_down};

/// Longer than an interpreter takes to start on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(90);

/// What a client does once it is connected.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Nothing.
    None,
    /// A call that is never answered.
    Call(&'static str),
    /// So many requests, one after the other.
    Requests(u32),
}

/// Everything that is up: the client, then what it has started, each the child of the one before.
pub(crate) struct Session {
    home: TempDir,
    pub(crate) client: Watched,
    /// Launchers, and the server last.
    pub(crate) chain: Vec<Watched>,
    /// What the client says after READY.
    pub(crate) lines: Receiver<String>,
}

impl Session {
    /// Starts a client, and waits until it is connected.
    pub(crate) fn up(command: &[String], folder: &Path, work: Work) -> Result<Self, String> {
        let home = tempfile::tempdir().unwrap();
        // The server's as well: a client of the SDK hands it on.
        let errors = home.path().join("stderr");
        let mut start = Command::new(&command[0]);
        start
            .args(&command[1..])
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&errors).unwrap())
            .process_group(0);
        match work {
            Work::None => {}
            Work::Call(call) => drop(start.env("MCPWAKE_TEST_CALL", call)),
            Work::Requests(number) => drop(start.env("MCPWAKE_TEST_REQUESTS", number.to_string())),
        }
        let mut child = start.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let client = Watched::new(child.id());
        let output = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            // Reads on to the end, so that the client never writes into a closed pipe.
            for line in output.lines().map_while(Result::ok) {
                // Nobody listens any more once the session is up.
                let _ = tell.send(line);
            }
        });
        let mut session = Self {
            home,
            client,
            chain: Vec::new(),
            lines,
        };
        loop {
            let line = session.lines.recv_timeout(DEADLINE).map_err(|why| {
                let said = std::fs::read_to_string(&errors).unwrap_or_default();
                format!("{command:?}: no READY: {why}\n{said}")
            })?;
            if line == "READY" {
                break;
            }
        }
        let mut parent = session.client.pid();
        while let [child] = children(parent)[..] {
            session.chain.push(Watched::new(child));
            parent = child;
        }
        Ok(session)
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the pids of the chain.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.chain.iter().map(Watched::pid).collect()
    }
}

/// Returns the children of a process.
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .ok()
            .and_then(|stat| stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok())
            == Some(parent)
    })
    .collect()
}

impl Drop for Session {
    fn drop(&mut self) {
        take_down(std::iter::once(&self.client).chain(&self.chain));
    }
}
