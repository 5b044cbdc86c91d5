//! `socket_fdinfo`: unix, TCP and UDP sockets, and the name of every other kind.
//!
//! What the kernel gives for the other end of a unix socket (`fill_socketinfo`, `unp_disconnect`):
//!
//! | situation | `unsi_conn_so` | `soi_state` | here |
//! | --- | --- | --- | --- |
//! | connected | the other end's handle | connected | `Some(handle)` |
//! | the other end was closed | 0 | disconnected | `Some(0)` |
//! | listening, never connected | 0 | neither | `None` |
//!
//! A connection that nobody has accepted yet has a peer that is nobody's descriptor.

use std::mem::offset_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use super::{bytes, i16_at, i32_at, u32_at, u64_at, until_nul};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::Target;
use crate::model::socket::{InetSocket, Protocol, UnixKind, UnixSocket};
use crate::platform::macos::layout::{InSockInfo, SockbufInfo, SocketFdInfo, TcpSockInfo, UnSockInfo};

/// `sys/socket.h`: families and types.
const UNIX: i32 = 1;
const INET: i32 = 2;
const INET6: i32 = 30;
const STREAM: i32 = 1;
const DATAGRAM: i32 = 2;
const PACKET: i32 = 5;
/// `netinet/in.h`: `IPPROTO_UDP`.
const UDP: i32 = 17;
/// `SOCKINFO_IN`, `SOCKINFO_TCP`, `SOCKINFO_UN`.
const INFO_IN: i32 = 1;
const INFO_TCP: i32 = 2;
const INFO_UN: i32 = 3;
/// `SO_ACCEPTCONN`: it listens.
const LISTENS: i16 = 0x2;
/// `SOI_S_ISDISCONNECTED`.
const DISCONNECTED: i16 = 0x2000;
/// `INI_IPV4`, `INI_IPV6`.
const V4: u8 = 1;
const V6: u8 = 2;

/// One socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Socket {
    /// Hash of its kernel address: the same in every answer of one boot. It stands where Linux has an inode.
    pub(in crate::platform::macos) handle: u64,
    pub(in crate::platform::macos) what: What,
}

/// What a socket is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) enum What {
    /// A unix socket, with the path that its other end is bound to.
    Unix(UnixSocket, Option<OsBytes>),
    /// A TCP or UDP socket.
    Inet(InetSocket),
    /// Any other, by family.
    Other(i32),
}

impl Socket {
    /// Decodes a `socket_fdinfo`.
    pub(in crate::platform::macos) fn decode(answer: &[u8]) -> Option<Self> {
        let handle = u64_at(answer, offset_of!(SocketFdInfo, socket))?;
        let family = i32_at(answer, offset_of!(SocketFdInfo, family))?;
        let what = match i32_at(answer, offset_of!(SocketFdInfo, info_kind))? {
            INFO_UN => unix(answer),
            INFO_TCP => inet(answer, family, Protocol::Tcp),
            INFO_IN if is_udp(answer)? => inet(answer, family, Protocol::Udp),
            INFO_IN if i32_at(answer, offset_of!(SocketFdInfo, kind))? == STREAM => {
                inet(answer, family, Protocol::Tcp)
            }
            _ => None,
        };
        Some(Self {
            handle,
            what: what.unwrap_or(What::Other(family)),
        })
    }

    /// Returns what a descriptor on it leads to.
    pub(in crate::platform::macos) fn target(&self) -> Target {
        let name = match self.what {
            What::Unix(..) | What::Inet(_) | What::Other(UNIX | INET | INET6) => {
                return Target::Socket { inode: self.handle };
            }
            What::Other(17) => "socket route".to_owned(),
            What::Other(27) => "socket ndrv".to_owned(),
            What::Other(32) => "socket system".to_owned(),
            What::Other(40) => "socket vsock".to_owned(),
            What::Other(family) => format!("socket of family {family}"),
        };
        Target::Anonymous {
            name: name.into(),
            pid: None,
        }
    }
}

fn is_udp(answer: &[u8]) -> Option<bool> {
    let protocol = i32_at(answer, offset_of!(SocketFdInfo, protocol))?;
    let kind = i32_at(answer, offset_of!(SocketFdInfo, kind))?;
    Some(protocol == UDP || protocol == 0 && kind == DATAGRAM)
}

fn unix(answer: &[u8]) -> Option<What> {
    let kind = match i32_at(answer, offset_of!(SocketFdInfo, kind))? {
        STREAM => UnixKind::Stream,
        DATAGRAM => UnixKind::Datagram,
        PACKET => UnixKind::Packet,
        _ => return None,
    };
    let listening = i16_at(answer, offset_of!(SocketFdInfo, options))? & LISTENS != 0;
    let state = i16_at(answer, offset_of!(SocketFdInfo, state))?;
    let part = offset_of!(SocketFdInfo, part);
    let peer = match u64_at(answer, part + offset_of!(UnSockInfo, peer))? {
        0 if state & DISCONNECTED != 0 && kind != UnixKind::Datagram => Some(0),
        0 => None,
        peer => Some(peer),
    };
    let unread = if listening {
        let waiting = i16_at(answer, offset_of!(SocketFdInfo, queued))?;
        u32::try_from(waiting).ok()
    } else {
        u32_at(
            answer,
            offset_of!(SocketFdInfo, receive) + offset_of!(SockbufInfo, bytes),
        )
    };
    let socket = UnixSocket {
        peer,
        path: bound(answer, part + offset_of!(UnSockInfo, address)),
        kind,
        listening,
        unread,
    };
    let peer_path = bound(answer, part + offset_of!(UnSockInfo, peer_address));
    Some(What::Unix(socket, peer_path))
}

/// Returns the path in a `sockaddr_un`: length, family, then at most as many bytes as the length says.
fn bound(answer: &[u8], at: usize) -> Option<OsBytes> {
    let [length, family] = bytes(answer, at)?;
    let length = usize::from(length).min(255).checked_sub(2)?;
    let path = until_nul(answer.get(at + 2..at + 2 + length)?);
    (i32::from(family) == UNIX && !path.is_empty()).then(|| path.into())
}

fn inet(answer: &[u8], family: i32, protocol: Protocol) -> Option<What> {
    if !matches!(family, INET | INET6) {
        return None;
    }
    let part = offset_of!(SocketFdInfo, part);
    let version = *answer.get(part + offset_of!(InSockInfo, version))?;
    // A socket of both families holds an IPv6 address, which may be one that carries an IPv4 address.
    let four = family == INET || version & (V4 | V6) == V4;
    let end = |address_at: usize, number_at: usize| {
        let number = port_at(answer, part + number_at)?;
        let address: [u8; 16] = bytes(answer, part + address_at)?;
        Some(if four {
            let [.., a, b, c, d] = address;
            SocketAddr::new(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), number)
        } else {
            v6(address, number)
        })
    };
    let local = end(offset_of!(InSockInfo, local), offset_of!(InSockInfo, local_port))?;
    let remote = end(
        offset_of!(InSockInfo, foreign),
        offset_of!(InSockInfo, foreign_port),
    )?;
    let remote = (remote.port() != 0).then_some(remote);
    let state = match protocol {
        Protocol::Udp if remote.is_some() => "ESTAB",
        Protocol::Tcp if i32_at(answer, offset_of!(SocketFdInfo, info_kind))? == INFO_TCP => {
            tcp_state(i32_at(answer, part + offset_of!(TcpSockInfo, state))?)
        }
        Protocol::Udp | Protocol::Tcp => "UNCONN",
    };
    Some(What::Inet(InetSocket {
        protocol,
        local,
        remote,
        state: state.into(),
        last_sent_ms: None,
        last_received_ms: None,
        bytes_sent: None,
        bytes_received: None,
    }))
}

/// A port stands in network order in the first two bytes of a C int.
fn port_at(answer: &[u8], at: usize) -> Option<u16> {
    bytes(answer, at).map(u16::from_be_bytes)
}

/// The kernel puts the interface of a link-local address into its second 16 bits.
fn v6(mut address: [u8; 16], port: u16) -> SocketAddr {
    let mut scope = 0;
    if Ipv6Addr::from(address).is_unicast_link_local() {
        let [_, _, high, low, ..] = &mut address;
        scope = u32::from(u16::from_be_bytes([*high, *low]));
        (*high, *low) = (0, 0);
    }
    SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::from(address), port, 0, scope))
}

/// `TSI_S_*`, as ss(8) spells them.
fn tcp_state(state: i32) -> &'static str {
    match state {
        0 => "UNCONN",
        1 => "LISTEN",
        2 => "SYN-SENT",
        3 => "SYN-RECV",
        4 => "ESTAB",
        5 => "CLOSE-WAIT",
        6 => "FIN-WAIT-1",
        7 => "CLOSING",
        8 => "LAST-ACK",
        9 => "FIN-WAIT-2",
        10 => "TIME-WAIT",
        _ => "UNKNOWN",
    }
}
