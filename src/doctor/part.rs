//! A process that the self-test starts: says what it is, waits, and ends with the one that started it.
//!
//! It holds on to one socket, its standard error. Nothing else ends it: when the program that started it
//! is gone, however it went, the socket is closed and the read ends.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, parent_id};
use std::path::Path;
use std::process::Command;

/// The hidden command by which the program starts itself as a part.
pub const COMMAND: &str = "doctor-part";

/// The name that parts go by, as their first argument: the self-test's own rule knows it, no other does.
pub(super) const NAME: &str = "mcpwake-doctor-part";

/// What a part is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Has pipes on its standard input and output.
    Pipes,
    /// Has socketpairs there.
    Sockets,
    /// Connects to an address, given last.
    Connects,
    /// Starts `Orphan` and exits.
    Parent,
    /// Was left by its parent; nobody writes to its standard input.
    Orphan,
    /// Exits when told to, and is not waited for.
    Exits,
    /// Takes a signal.
    Target,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Pipes,
        Self::Sockets,
        Self::Connects,
        Self::Parent,
        Self::Orphan,
        Self::Exits,
        Self::Target,
    ];

    /// Returns the word on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pipes => "pipes",
            Self::Sockets => "sockets",
            Self::Connects => "connects",
            Self::Parent => "parent",
            Self::Orphan => "orphan",
            Self::Exits => "exits",
            Self::Target => "target",
        }
    }
}

/// Returns the arguments of a part behind the program's name. Two of them are there to be read exactly:
/// one is empty, one is no text.
pub(super) fn arguments(kind: Kind, token: &str, address: Option<&str>) -> Vec<OsString> {
    let odd = OsStr::from_bytes(b"two words\n\xff");
    let mut arguments: Vec<OsString> = vec![COMMAND.into(), kind.word().into(), "".into(), odd.into()];
    arguments.push(token.into());
    arguments.extend(address.map(Into::into));
    arguments
}

/// Returns the command that starts a part.
pub(super) fn command(program: &Path, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.arg0(NAME).args(arguments);
    command
}

/// Plays a part; returns when its part is over. `arguments` are those behind the hidden command.
pub fn play(arguments: &[OsString]) -> io::Result<()> {
    // A copy of standard error that can be read from.
    let mut control = UnixStream::from(io::stderr().as_fd().try_clone_to_owned()?);
    let result = prepare(arguments);
    let line = match &result {
        Ok(Prepared::Done) => return Ok(()),
        Ok(Prepared::Waits | Prepared::Connected(_)) => format!("ready {}\n", std::process::id()),
        Err(error) => format!("failed {error}\n"),
    };
    control.write_all(line.as_bytes())?;
    let mut asked = [0];
    while control.read(&mut asked)? > 0 {
        control.write_all(format!("{}\n", parent_id()).as_bytes())?;
    }
    if let Ok(Prepared::Connected(stream)) = result {
        drop(stream);
    }
    Ok(())
}

/// How a part goes on.
enum Prepared {
    /// It is done already.
    Done,
    /// It waits.
    Waits,
    /// It waits, and keeps this connection up.
    Connected(TcpStream),
}

fn prepare(arguments: &[OsString]) -> io::Result<Prepared> {
    let [kind, _, _, token, rest @ ..] = arguments else {
        return Err(io::Error::other("no part of that name"));
    };
    let kind = Kind::ALL.into_iter().find(|one| kind == one.word());
    match kind.ok_or_else(|| io::Error::other("no part of that name"))? {
        Kind::Parent => {
            let program = std::env::current_exe()?;
            let token = token.to_string_lossy();
            command(&program, &self::arguments(Kind::Orphan, &token, None)).spawn()?;
            Ok(Prepared::Done)
        }
        Kind::Connects => {
            let address = rest
                .first()
                .and_then(|address| address.to_str())
                .unwrap_or_default();
            TcpStream::connect(address).map(Prepared::Connected)
        }
        Kind::Pipes | Kind::Sockets | Kind::Orphan | Kind::Exits | Kind::Target => Ok(Prepared::Waits),
    }
}
