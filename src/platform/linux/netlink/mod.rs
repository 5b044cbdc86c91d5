//! Socket diagnostics, `sock_diag(7)`: one dump of all unix, TCP and UDP sockets of the reader's network
//! namespace. A dump costs less than asking for one socket.

mod inet;
mod message;
mod unix;

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use self::message::{Answer, Malformed};
use crate::model::reading::Reading;
use crate::model::socket::{Protocol, Sockets, UnixSocket};

/// The kernel fills at most 32 KiB per part of a dump, more where it sees a larger buffer.
const BUFFER_BYTES: usize = 256 * 1024;
/// How often a dump that the kernel calls interrupted by a change is begun again.
const ATTEMPTS: u32 = 4;
/// A dump of the kernel answers at once; a blocked one must not block the sampling.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why there is no dump.
enum Trouble {
    System(Errno),
    Malformed(Malformed),
    /// Too many changes while it was taken.
    Interrupted,
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

impl From<Malformed> for Trouble {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

/// Dumps all sockets.
pub(super) fn sockets() -> Reading<Sockets> {
    match dump_all() {
        Ok(sockets) => Reading::Value(sockets),
        Err(Trouble::System(Errno::ACCESS | Errno::PERM)) => Reading::Denied,
        Err(Trouble::System(Errno::PROTONOSUPPORT | Errno::AFNOSUPPORT)) => Reading::Unsupported,
        Err(Trouble::System(errno)) => Reading::Failed(format!("sock_diag: {errno}")),
        Err(Trouble::Malformed(what)) => Reading::Failed(format!("sock_diag: {what}")),
        Err(Trouble::Interrupted) => {
            Reading::Failed("sock_diag: the dump was interrupted by changes again and again".into())
        }
    }
}

/// Dumps the unix sockets alone; `None` where there is no dump.
pub(super) fn unix_sockets() -> Option<BTreeMap<u64, UnixSocket>> {
    Link::open().and_then(|mut link| link.unix()).ok()
}

fn dump_all() -> Result<Sockets, Trouble> {
    let mut link = Link::open()?;
    let mut sockets = Sockets {
        unix: link.unix()?,
        ..Sockets::default()
    };
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        for family in [inet::Family::V4, inet::Family::V6] {
            let mut part = Vec::new();
            link.dump(
                &inet::request(family, protocol),
                &mut part,
                Vec::clear,
                |part, body| {
                    part.extend(inet::parse(body, protocol)?);
                    Ok(())
                },
            )?;
            sockets.inet.extend(part);
        }
    }
    Ok(sockets)
}

fn open() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(SOCK_DIAG))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    Ok(socket)
}

struct Link {
    socket: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Link {
    fn open() -> Result<Self, Trouble> {
        Ok(Self {
            socket: open()?,
            buffer: vec![0; BUFFER_BYTES],
            sequence: 0,
        })
    }

    fn unix(&mut self) -> Result<BTreeMap<u64, UnixSocket>, Trouble> {
        let mut found = unix::Found::default();
        self.dump(&unix::request(), &mut found, unix::Found::clear, unix::Found::add)?;
        Ok(found.finish())
    }

    /// Dumps one family, again from the start where the kernel says that it changed in between.
    ///
    /// A family whose module is missing has no sockets.
    fn dump<T>(
        &mut self,
        request: &[u8],
        into: &mut T,
        clear: impl Fn(&mut T),
        mut add: impl FnMut(&mut T, &[u8]) -> Result<(), Malformed>,
    ) -> Result<(), Trouble> {
        for _ in 0..ATTEMPTS {
            clear(into);
            self.sequence += 1;
            let text = message::request(self.sequence, request);
            let kernel = SocketAddrNetlink::new(0, 0);
            rustix::net::sendto(self.socket.as_fd(), &text, SendFlags::empty(), &kernel)?;
            match self.receive(|body| add(into, body)) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(Trouble::System(Errno::NOENT)) => {
                    clear(into);
                    return Ok(());
                }
                Err(trouble) => return Err(trouble),
            }
        }
        Err(Trouble::Interrupted)
    }

    /// Returns whether the dump is consistent.
    fn receive(&mut self, mut each: impl FnMut(&[u8]) -> Result<(), Malformed>) -> Result<bool, Trouble> {
        let mut consistent = true;
        loop {
            let received = rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::TRUNC);
            let (_, length) = match received {
                Err(Errno::INTR) => continue,
                outcome => outcome?,
            };
            let text = self.buffer.get(..length).ok_or(Malformed::Truncated)?;
            for answer in message::answers(text, self.sequence) {
                match answer? {
                    Answer::Body { body, interrupted } => {
                        consistent &= !interrupted;
                        each(body)?;
                    }
                    Answer::Done { interrupted } => return Ok(consistent && !interrupted),
                    Answer::Error(errno) => return Err(Errno::from_raw_os_error(errno).into()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
