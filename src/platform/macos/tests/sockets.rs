//! Sockets of each family.

use super::answers::{inet6, other, tcp, unix};
use crate::model::descriptor::Target;
use crate::model::socket::{InetSocket, Protocol, UnixKind, UnixSocket};
use crate::platform::macos::decode::socket::{Socket, What};

fn unix_of(answer: &[u8]) -> (UnixSocket, Option<String>) {
    match Socket::decode(answer).unwrap().what {
        What::Unix(socket, path) => (socket, path.map(|path| path.lossy().into_owned())),
        other => panic!("{other:?}"),
    }
}

fn inet_of(answer: &[u8]) -> InetSocket {
    match Socket::decode(answer).unwrap().what {
        What::Inet(socket) => socket,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_other_end_of_a_unix_socket_is_there_closed_or_never_was() {
    let (connected, path) = unix_of(&unix(5, 6, 0x2, false, None, Some("/var/run/agent")).0);
    assert_eq!(connected.peer, Some(6));
    assert_eq!((connected.kind, connected.unread), (UnixKind::Stream, Some(17)));
    assert_eq!((connected.path, path), (None, Some("/var/run/agent".to_owned())));
    let (closed, _) = unix_of(&unix(5, 0, 0x2030, false, None, None).0);
    assert_eq!(closed.peer, Some(0));
    let (fresh, _) = unix_of(&unix(5, 0, 0, false, None, None).0);
    assert_eq!((fresh.peer, fresh.listening), (None, false));
    let (listening, _) = unix_of(&unix(5, 0, 0, true, Some("/tmp/s"), None).0);
    assert_eq!((listening.peer, listening.listening), (None, true));
    assert_eq!(listening.path, Some("/tmp/s".into()));
    assert_eq!(listening.unread, Some(0));
}

#[test]
fn tcp_has_addresses_and_state() {
    let far = inet_of(&tcp(7, ([10, 0, 0, 2], 50_000), ([93, 184, 216, 34], 443), 4).0);
    assert_eq!(far.protocol, Protocol::Tcp);
    assert_eq!(far.local.to_string(), "10.0.0.2:50000");
    assert_eq!(far.remote.unwrap().to_string(), "93.184.216.34:443");
    let spelled = [
        "UNCONN",
        "LISTEN",
        "SYN-SENT",
        "SYN-RECV",
        "ESTAB",
        "CLOSE-WAIT",
        "FIN-WAIT-1",
        "CLOSING",
        "LAST-ACK",
        "FIN-WAIT-2",
        "TIME-WAIT",
        "UNKNOWN",
    ];
    for (state, name) in (0..).zip(spelled) {
        let socket = inet_of(&tcp(7, ([127, 0, 0, 1], 1), ([0; 4], 0), state).0);
        assert_eq!((socket.state.as_str(), socket.remote), (name, None));
    }
}

#[test]
fn addresses_of_ipv6_are_told_with_their_interface() {
    let mut local = [0; 16];
    local[..4].copy_from_slice(&[0xfe, 0x80, 0, 4]);
    local[15] = 1;
    let udp = inet_of(&inet6(2, 17, 2, (&local, 5353), (&[0; 16], 0)).0);
    assert_eq!(udp.protocol, Protocol::Udp);
    assert_eq!(udp.local.to_string(), "[fe80::1%4]:5353");
    assert_eq!((udp.remote, udp.state.as_str()), (None, "UNCONN"));
    let connected = inet_of(&inet6(2, 17, 2, (&local, 1), (&[1; 16], 53)).0);
    assert_eq!(connected.state, "ESTAB");
    let both = inet_of(&inet6(1, 6, 3, (&[0; 16], 8080), (&[0; 16], 0)).0);
    assert_eq!(both.local.to_string(), "[::]:8080");
    // Connected over IPv4 through a socket of IPv6.
    let mut four = [0; 16];
    four[12..].copy_from_slice(&[127, 0, 0, 1]);
    let mapped = inet_of(&inet6(1, 6, 1, (&four, 8080), (&four, 9)).0);
    assert_eq!(mapped.local.to_string(), "127.0.0.1:8080");
}

#[test]
fn other_families_are_named() {
    for (family, name) in [
        (17, "socket route"),
        (32, "socket system"),
        (40, "socket vsock"),
        (99, "socket of family 99"),
    ] {
        let target = Socket::decode(&other(family).0).unwrap().target();
        let expected = Target::Anonymous {
            name: name.into(),
            pid: None,
        };
        assert_eq!(target, expected);
    }
    // An unix or inet socket on its way out has no more to tell than its handle.
    let bare = Socket::decode(&other(2).0).unwrap();
    assert_eq!(
        (bare.target(), bare.what),
        (Target::Socket { inode: 11 }, What::Other(2))
    );
}

#[test]
fn raw_sockets_are_no_udp() {
    let raw = Socket::decode(&inet6(3, 58, 2, (&[0; 16], 0), (&[0; 16], 0)).0).unwrap();
    assert_eq!(raw.what, What::Other(30));
}
