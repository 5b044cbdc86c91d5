//! Unix sockets: `unix_diag`.
//!
//! What the kernel gives for the other end, seen on Linux 6.18 for stream and packet sockets:
//!
//! | situation | state | `UNIX_DIAG_PEER` | here |
//! | --- | --- | --- | --- |
//! | connected, both ends open | 1 | inode of the other end | `Some(inode)` |
//! | the other end was closed | 1 | 0 | `Some(0)` |
//! | connected, not yet accepted | 1 | 0; the listener's `UNIX_DIAG_ICONS` names this socket | the listener |
//! | listening | 10 | absent | `None` |
//! | never connected | 7 | absent | `None` |
//!
//! A datagram socket keeps its state when the other end closes and loses the peer when it next uses it.

use std::collections::BTreeMap;

use super::message::{Malformed, attributes, number};
use crate::model::bytes::OsBytes;
use crate::model::socket::{UnixKind, UnixSocket};

/// `AF_UNIX`.
const FAMILY: u8 = 1;
/// `UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_ICONS | UDIAG_SHOW_RQLEN`.
const SHOW: u32 = 0x1 | 0x4 | 0x8 | 0x10;
const NAME: u16 = 0;
const PEER: u16 = 2;
const PENDING: u16 = 3;
const QUEUE: u16 = 4;
const HEADER_BYTES: usize = 16;
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

/// Returns the body of the request.
pub(super) fn request() -> Vec<u8> {
    let mut body = vec![FAMILY, 0, 0, 0];
    // States, inode, what to show, cookie.
    for word in [u32::MAX, 0, SHOW, u32::MAX, u32::MAX] {
        body.extend(word.to_ne_bytes());
    }
    body
}

/// The sockets of a dump so far.
#[derive(Default)]
pub(super) struct Found {
    sockets: BTreeMap<u64, UnixSocket>,
    /// Sockets that wait to be accepted, with the listener that they wait for.
    pending: Vec<(u64, u64)>,
}

impl Found {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.sockets.clear();
        self.pending.clear();
    }

    /// Adds one socket. One without an inode (the kernel's own end of a connection that nobody has accepted)
    /// is nobody's descriptor and left out.
    pub(super) fn add(&mut self, body: &[u8]) -> Result<(), Malformed> {
        let [_, kind, state, _] = number(body, 0).ok_or(Malformed::Truncated)?;
        let inode = number(body, 4)
            .map(u32::from_ne_bytes)
            .ok_or(Malformed::Truncated)?;
        let inode = u64::from(inode);
        if body.len() < HEADER_BYTES {
            return Err(Malformed::Truncated);
        }
        let kind = match kind {
            1 => UnixKind::Stream,
            2 => UnixKind::Datagram,
            5 => UnixKind::Packet,
            // No other type can be made.
            _ => return Ok(()),
        };
        if inode == 0 {
            return Ok(());
        }
        let mut socket = UnixSocket {
            peer: None,
            path: None,
            kind,
            listening: state == LISTEN,
            unread: None,
        };
        for (attribute, value) in attributes(body, HEADER_BYTES) {
            match attribute {
                NAME => socket.path = name(value),
                PEER => socket.peer = number(value, 0).map(|inode| u64::from(u32::from_ne_bytes(inode))),
                QUEUE => socket.unread = number(value, 0).map(u32::from_ne_bytes),
                PENDING => self.pending.extend(value.chunks_exact(4).filter_map(|waiting| {
                    let waiting = u64::from(u32::from_ne_bytes(number(waiting, 0)?));
                    (waiting != 0).then_some((waiting, inode))
                })),
                _ => {}
            }
        }
        if socket.peer.is_none() && state == ESTABLISHED && kind != UnixKind::Datagram {
            socket.peer = Some(0);
        }
        self.sockets.insert(inode, socket);
        Ok(())
    }

    /// Returns all sockets by inode, with the listener as the peer of what it has not accepted yet.
    pub(super) fn finish(self) -> BTreeMap<u64, UnixSocket> {
        let mut sockets = self.sockets;
        for (waiting, listener) in self.pending {
            if let Some(socket) = sockets.get_mut(&waiting) {
                socket.peer = Some(listener);
            }
        }
        sockets
    }
}

/// Abstract names begin with a NUL and may hold more of them; paths may end in one.
fn name(value: &[u8]) -> Option<OsBytes> {
    match value {
        [] => None,
        [0, rest @ ..] => Some([b"@", rest].concat().into()),
        path => {
            let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
            Some(path.get(..end).unwrap_or_default().into())
        }
    }
}
