//! Starts the processes of the self-test, has them say what they are, and sees to it that none is left.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::part::{self, Kind};
use super::truth::{Part, Truth};
use super::within::pause;
use crate::model::bytes::OsBytes;

/// How long a part may take for an answer.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Where every part works.
const CWD: &str = "/";

/// The one variable in every part's environment.
pub(super) const VARIABLE: &str = "MCPWAKE_DOCTOR_PART";

/// A part that was started.
struct Player {
    part: Part,
    /// The process, where it is this program's own child.
    child: Option<Child>,
    control: BufReader<UnixStream>,
    /// This program's ends of what the part has open.
    ends: Vec<OwnedFd>,
}

/// All of them.
pub(super) struct Stage {
    program: PathBuf,
    token: String,
    value: String,
    players: Vec<Player>,
    missing: BTreeMap<&'static str, String>,
}

/// What a part has on its standard input and output, and this program's ends of it.
struct Ends {
    stdin: Stdio,
    stdout: Stdio,
    ours: Vec<OwnedFd>,
}

impl Stage {
    /// Starts every part. `token` is a random word; `value` stands in their environment.
    pub(super) fn set(program: PathBuf, token: &str, value: &str) -> Self {
        let mut stage = Self {
            program,
            token: token.to_owned(),
            value: value.to_owned(),
            players: Vec::new(),
            missing: BTreeMap::new(),
        };
        stage.add(Kind::Pipes, |stage| stage.start(Kind::Pipes, pipes()?, None));
        stage.add(Kind::Sockets, |stage| {
            stage.start(Kind::Sockets, socketpairs()?, None)
        });
        stage.add(Kind::Connects, Self::connected);
        stage.add(Kind::Orphan, Self::orphan);
        stage.add(Kind::Exits, |stage| stage.start(Kind::Exits, pipes()?, None));
        stage.add(Kind::Target, |stage| stage.start(Kind::Target, pipes()?, None));
        stage
    }

    fn add(&mut self, kind: Kind, start: impl FnOnce(&Self) -> io::Result<Player>) {
        match start(self) {
            Ok(player) => self.players.push(player),
            Err(error) => {
                self.missing.insert(kind.word(), error.to_string());
            }
        }
    }

    /// Returns what is known of the parts.
    pub(super) fn truth(&self) -> Truth {
        Truth {
            own_pid: std::process::id(),
            program: self.program.clone().into_os_string().into_vec().into(),
            cwd: CWD.into(),
            variable: VARIABLE.into(),
            parts: self.players.iter().map(|player| player.part.clone()).collect(),
            missing: self.missing.clone(),
        }
    }

    /// Has the part that exits do so; it is not waited for, and stays as a zombie.
    pub(super) fn let_exit(&mut self) {
        for player in self
            .players
            .iter_mut()
            .filter(|player| player.part.kind == Kind::Exits)
        {
            player.dismiss();
        }
    }

    fn start(&self, kind: Kind, ends: Ends, address: Option<&str>) -> io::Result<Player> {
        let (mut child, mut control) = self.spawn(kind, ends.stdin, ends.stdout, address)?;
        let pid = ready(&mut control)?;
        let parent = ask(&mut control)?;
        Ok(Player {
            part: self.part(kind, pid, parent, address),
            child: child.0.take(),
            control,
            ends: ends.ours,
        })
    }

    fn part(&self, kind: Kind, pid: u32, parent: u32, address: Option<&str>) -> Part {
        let arguments = part::arguments(kind, &self.token, address);
        let elements = arguments.into_iter().map(|argument| argument.into_vec().into());
        Part {
            kind,
            pid,
            parent,
            argv: std::iter::once(OsBytes::from(part::NAME))
                .chain(elements)
                .collect(),
            connection: None,
        }
    }

    fn spawn(
        &self,
        kind: Kind,
        stdin: Stdio,
        stdout: Stdio,
        address: Option<&str>,
    ) -> io::Result<(Reaped, BufReader<UnixStream>)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        let arguments = part::arguments(kind, &self.token, address);
        // The command holds copies of the part's ends: it must be gone before anything is read.
        let child = part::command(&self.program, &arguments)
            .env_clear()
            .env(VARIABLE, &self.value)
            .current_dir(CWD)
            .stdin(stdin)
            .stdout(stdout)
            .stderr(OwnedFd::from(theirs))
            .spawn()?;
        // What is dropped first is the socket: then the child ends by itself.
        Ok((Reaped(Some(child)), BufReader::new(ours)))
    }

    fn connected(&self) -> io::Result<Player> {
        let (listener, address) = listen()?;
        let mut player = self.start(Kind::Connects, pipes()?, Some(&address.to_string()))?;
        // It has connected before it said that it is ready.
        listener.set_nonblocking(true)?;
        let (stream, theirs) = listener.accept()?;
        player.part.connection = Some((theirs, stream.local_addr()?));
        player.ends.push(stream.into());
        Ok(player)
    }

    /// Starts a part that starts another and exits: the other one has lost its parent, and nobody has the
    /// write end of its standard input.
    fn orphan(&self) -> io::Result<Player> {
        let (reader, writer) = io::pipe()?;
        let stdin = OwnedFd::from(reader).into();
        let (mut parent, mut control) = self.spawn(Kind::Parent, stdin, Stdio::null(), None)?;
        drop(writer);
        let pid = ready(&mut control)?;
        parent.end();
        // Its parent has exited and was waited for: what it says now is whose child it has become.
        let adopter = ask(&mut control)?;
        Ok(Player {
            part: self.part(Kind::Orphan, pid, adopter, None),
            child: None,
            control,
            ends: Vec::new(),
        })
    }
}

impl Player {
    /// Tells it to exit, and waits until it has let go of everything; not for the process itself.
    fn dismiss(&mut self) {
        // Where it has gone already, there is nothing to be told.
        let _ = self.control.get_ref().shutdown(Shutdown::Write);
        let mut rest = Vec::new();
        let _ = self.control.read_to_end(&mut rest);
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.dismiss();
        drop(Reaped(self.child.take()));
    }
}

/// A child that is waited for in any case.
struct Reaped(Option<Child>);

impl Reaped {
    fn end(&mut self) {
        let Some(mut child) = self.0.take() else {
            return;
        };
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            pause(Duration::from_millis(5));
        }
        // An own child that nobody has waited for: its pid is nobody else's.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        self.end();
    }
}

fn pipes() -> io::Result<Ends> {
    let (stdin, to_stdin) = io::pipe()?;
    let (from_stdout, stdout) = io::pipe()?;
    Ok(Ends {
        stdin: OwnedFd::from(stdin).into(),
        stdout: OwnedFd::from(stdout).into(),
        ours: vec![to_stdin.into(), from_stdout.into()],
    })
}

fn socketpairs() -> io::Result<Ends> {
    let (stdin, to_stdin) = UnixStream::pair()?;
    let (stdout, from_stdout) = UnixStream::pair()?;
    Ok(Ends {
        stdin: OwnedFd::from(stdin).into(),
        stdout: OwnedFd::from(stdout).into(),
        ours: vec![to_stdin.into(), from_stdout.into()],
    })
}

/// Listens on loopback, where it can be reached too: a new network namespace has it switched off.
fn listen() -> io::Result<(TcpListener, SocketAddr)> {
    let mut first = None;
    for ip in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
        let tried = TcpListener::bind(SocketAddr::new(ip, 0)).and_then(|listener| {
            let address = listener.local_addr()?;
            let probe = TcpStream::connect_timeout(&address, PATIENCE)?;
            drop(listener.accept()?);
            drop(probe);
            Ok((listener, address))
        });
        match tried {
            Ok(found) => return Ok(found),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| io::Error::other("no loopback address")))
}

/// Reads a part's first line; returns its pid.
fn ready(control: &mut BufReader<UnixStream>) -> io::Result<u32> {
    let line = line(control)?;
    match line.split_once(' ') {
        Some(("ready", pid)) => pid.trim().parse().map_err(io::Error::other),
        Some(("failed", why)) => Err(io::Error::other(why.trim().to_owned())),
        _ => Err(io::Error::other("it ended before it was ready")),
    }
}

/// Asks a part for its parent's pid.
fn ask(control: &mut BufReader<UnixStream>) -> io::Result<u32> {
    control.get_mut().write_all(b"?")?;
    line(control)?.trim().parse().map_err(io::Error::other)
}

fn line(control: &mut BufReader<UnixStream>) -> io::Result<String> {
    let mut line = String::new();
    control.read_line(&mut line).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            io::Error::other(format!("it said nothing within {} ms", PATIENCE.as_millis()))
        }
        _ => error,
    })?;
    Ok(line)
}

/// Returns the program's own file.
pub(super) fn own_program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    if Path::is_file(&program) {
        Ok(program)
    } else {
        Err(io::Error::other(
            "the program's file was replaced or removed since it was started",
        ))
    }
}
