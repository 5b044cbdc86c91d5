//! TCP and UDP sockets: `inet_diag`, with `tcp_info` where there is a connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use super::message::{Malformed, attributes, number};
use crate::model::socket::{InetSocket, Protocol};

/// `INET_DIAG_INFO`, as an attribute and as a bit of the request.
const INFO: u16 = 2;
const HEADER_BYTES: usize = 72;
/// All states but `TIME-WAIT` and `NEW-SYN-RECV`, which belong to no descriptor.
const STATES: u32 = !((1 << 6) | (1 << 12));
const LISTEN: u8 = 10;

/// Address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Returns the body of the request.
pub(super) fn request(family: Family, protocol: Protocol) -> Vec<u8> {
    let family = match family {
        Family::V4 => 2,
        Family::V6 => 10,
    };
    let (protocol, extension) = match protocol {
        Protocol::Tcp => (6, 1 << (INFO - 1)),
        Protocol::Udp => (17, 0),
    };
    let mut body = vec![family, protocol, extension, 0];
    body.extend(STATES.to_ne_bytes());
    // Ports, addresses, interface: none asked for. The cookie is "any".
    body.extend([0; 40]);
    body.extend([0xff; 8]);
    body
}

/// Parses one socket; `None` for one that has no inode (nobody's descriptor).
pub(super) fn parse(body: &[u8], protocol: Protocol) -> Result<Option<(u64, InetSocket)>, Malformed> {
    if body.len() < HEADER_BYTES {
        return Err(Malformed::Truncated);
    }
    let word = |at| {
        number(body, at)
            .map(u32::from_ne_bytes)
            .ok_or(Malformed::Truncated)
    };
    let inode = u64::from(word(68)?);
    let [family, state, ..] = number::<4>(body, 0).ok_or(Malformed::Truncated)?;
    if inode == 0 || !matches!(family, 2 | 10) {
        return Ok(None);
    }
    let interface = word(40)?;
    let local = address(body, family, 4, 8, interface).ok_or(Malformed::Truncated)?;
    let remote = address(body, family, 6, 24, interface).ok_or(Malformed::Truncated)?;
    let info = attributes(body, HEADER_BYTES)
        .find(|(kind, _)| *kind == INFO)
        .filter(|_| state != LISTEN)
        .map(|(_, info)| Traffic::parse(info))
        .unwrap_or_default();
    let socket = InetSocket {
        protocol,
        local,
        remote: (remote.port() != 0).then_some(remote),
        state: state_name(state).into(),
        last_sent_ms: info.last_sent_ms,
        last_received_ms: info.last_received_ms,
        bytes_sent: info.bytes_sent,
        bytes_received: info.bytes_received,
    };
    Ok(Some((inode, socket)))
}

fn address(body: &[u8], family: u8, port_at: usize, at: usize, interface: u32) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(number(body, port_at)?);
    if family == 2 {
        return Some(SocketAddr::new(
            IpAddr::V4(Ipv4Addr::from(number::<4>(body, at)?)),
            port,
        ));
    }
    let address = Ipv6Addr::from(number::<16>(body, at)?);
    // Only a link-local address means nothing without its interface.
    let scope = if address.is_unicast_link_local() {
        interface
    } else {
        0
    };
    Some(SocketAddr::V6(SocketAddrV6::new(address, port, 0, scope)))
}

/// States as ss(8) spells them.
fn state_name(state: u8) -> &'static str {
    match state {
        1 => "ESTAB",
        2 => "SYN-SENT",
        3 | 12 => "SYN-RECV",
        4 => "FIN-WAIT-1",
        5 => "FIN-WAIT-2",
        6 => "TIME-WAIT",
        7 => "UNCONN",
        8 => "CLOSE-WAIT",
        9 => "LAST-ACK",
        10 => "LISTEN",
        11 => "CLOSING",
        _ => "UNKNOWN",
    }
}

/// What `struct tcp_info` (linux/tcp.h) tells; it grows at its end, so older kernels fill less of it.
#[derive(Default)]
struct Traffic {
    last_sent_ms: Option<u64>,
    last_received_ms: Option<u64>,
    bytes_sent: Option<u64>,
    bytes_received: Option<u64>,
}

impl Traffic {
    fn parse(info: &[u8]) -> Self {
        let word = |at| number(info, at).map(|bytes| u64::from(u32::from_ne_bytes(bytes)));
        let long = |at| number(info, at).map(u64::from_ne_bytes);
        let (acknowledged, received) = (long(120), long(128));
        // The opener's SYN counts as one acknowledged byte; what was sent once does not count it.
        let once = long(200)
            .zip(long(208))
            .map(|(sent, again)| sent.saturating_sub(again));
        let sent = acknowledged.map(|bytes| once.map_or(bytes, |once| once.min(bytes)));
        // The times run from the opening of the connection until there was data: no time then.
        let had_data = |bytes: Option<u64>| bytes.is_none_or(|bytes| bytes > 0);
        let any_sent = once.or(acknowledged);
        Self {
            last_sent_ms: word(44).filter(|_| had_data(any_sent)),
            last_received_ms: word(52).filter(|_| had_data(received)),
            bytes_sent: sent,
            bytes_received: received,
        }
    }
}
