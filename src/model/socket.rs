//! Sockets as the kernel's socket diagnostics give them (`sock_diag`(7)).

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::bytes::OsBytes;

/// All sockets of the reader's network namespace, by inode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sockets {
    /// Unix sockets.
    pub unix: BTreeMap<u64, UnixSocket>,
    /// TCP and UDP sockets.
    pub inet: BTreeMap<u64, InetSocket>,
}

/// A unix socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnixSocket {
    /// Inode of the other end; `Some(0)`: it was closed; `None`: it never had one.
    pub peer: Option<u64>,
    /// Path or abstract name (with a leading `@` in place of the NUL) that it is bound to.
    pub path: Option<OsBytes>,
    /// Stream, datagram or sequenced packet.
    pub kind: UnixKind,
    /// Whether it listens.
    pub listening: bool,
    /// Bytes that wait to be read; for a listener, connections that wait to be accepted.
    pub unread: Option<u32>,
}

/// Type of a unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnixKind {
    /// `SOCK_STREAM`.
    Stream,
    /// `SOCK_DGRAM`.
    Datagram,
    /// `SOCK_SEQPACKET`.
    Packet,
}

/// A TCP or UDP socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InetSocket {
    /// Protocol.
    pub protocol: Protocol,
    /// Own address and port.
    pub local: SocketAddr,
    /// The other end's; `None` where not connected.
    pub remote: Option<SocketAddr>,
    /// State, as ss(8) spells it: `ESTAB`, `LISTEN`, `CLOSE-WAIT`, …
    pub state: String,
    /// Milliseconds since data was last sent, before the sample (`tcpi_last_data_sent`).
    pub last_sent_ms: Option<u64>,
    /// Milliseconds since data was last received (`tcpi_last_data_recv`).
    pub last_received_ms: Option<u64>,
    /// Bytes sent and acknowledged.
    pub bytes_sent: Option<u64>,
    /// Bytes received.
    pub bytes_received: Option<u64>,
}

/// Transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}
