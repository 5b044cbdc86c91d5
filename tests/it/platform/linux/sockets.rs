//! Sockets and their peers: the same as ss(8) shows.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};

use mcpwake::model::bytes::OsBytes;
use mcpwake::model::descriptor::Target;
use mcpwake::model::sample::Sample;
use mcpwake::model::socket::{InetSocket, Protocol, UnixKind, UnixSocket};

use super::support::{Ward, inode, look, own_pid, source, tool};
use crate::support::short;

fn ward_on(socket: &UnixStream) -> Ward {
    let end = OwnedFd::from(socket.try_clone().unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", "echo ready >&2; read line; sleep 600"])
        .stdin(Stdio::from(end));
    Ward(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    )
}

fn own_inode(sample: &Sample, socket: &impl std::os::fd::AsRawFd) -> u64 {
    inode(sample, own_pid(), u32::try_from(socket.as_raw_fd()).unwrap())
}

fn unix(sample: &Sample, inode: u64) -> &UnixSocket {
    &sample.sockets.value().unwrap().unix[&inode]
}

fn inet(sample: &Sample, inode: u64) -> &InetSocket {
    &sample.sockets.value().unwrap().inet[&inode]
}

#[test]
fn the_two_ends_of_a_socketpair_name_each_other_and_a_closed_one_is_zero() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let ward = ward_on(&theirs);
    drop(theirs);
    let mut source = source();
    let sample = look(&mut source, &[ward.pid(), own_pid()]);
    let stdin = inode(&sample, ward.pid(), 0);
    let own = own_inode(&sample, &ours);
    assert_eq!(unix(&sample, stdin).peer, Some(own));
    assert_eq!(unix(&sample, own).peer, Some(stdin));
    assert_eq!(unix(&sample, stdin).kind, UnixKind::Stream);
    assert_eq!(unix(&sample, stdin).path, None);
    assert!(
        sample.holders[&own]
            .iter()
            .any(|holder| holder.process.pid == own_pid())
    );
    let line = tool("ss", "iproute2", &["-xpH"])
        .lines()
        .find(|line| line.split_whitespace().nth(5) == Some(&stdin.to_string()))
        .unwrap()
        .to_owned();
    assert_eq!(
        line.split_whitespace().nth(7),
        Some(own.to_string().as_str()),
        "{line}"
    );
    assert!(line.contains(&format!("pid={}", ward.pid())), "{line}");
    drop(ours);
    let sample = look(&mut source, &[ward.pid()]);
    assert_eq!(unix(&sample, stdin).peer, Some(0));
}

#[test]
fn a_listener_has_no_peer_and_is_the_peer_of_what_it_has_not_accepted() {
    let directory = short::directory();
    let path = directory.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let waiting = UnixStream::connect(&path).unwrap();
    let lonely = rustix::net::socket(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::STREAM,
        None,
    );
    let lonely = lonely.unwrap();
    let mut source = source();
    let sample = look(&mut source, &[own_pid()]);
    let listening = own_inode(&sample, &listener);
    assert!(unix(&sample, listening).listening);
    assert_eq!(unix(&sample, listening).peer, None);
    assert_eq!(unix(&sample, listening).unread, Some(1));
    assert_eq!(
        unix(&sample, listening).path,
        Some(OsBytes::from(path.to_str().unwrap()))
    );
    assert_eq!(unix(&sample, own_inode(&sample, &waiting)).peer, Some(listening));
    assert_eq!(unix(&sample, own_inode(&sample, &lonely)).peer, None);
    let (accepted, _) = listener.accept().unwrap();
    let sample = look(&mut source, &[own_pid()]);
    let peer = own_inode(&sample, &accepted);
    assert_eq!(unix(&sample, own_inode(&sample, &waiting)).peer, Some(peer));
    assert_eq!(
        unix(&sample, peer).path,
        Some(OsBytes::from(path.to_str().unwrap()))
    );
}

#[test]
fn unread_bytes_of_a_socketpair_are_counted() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(b"1234567").unwrap();
    let sample = look(&mut source(), &[own_pid()]);
    assert_eq!(unix(&sample, own_inode(&sample, &theirs)).unread, Some(7));
    assert_eq!(unix(&sample, own_inode(&sample, &ours)).unread, Some(0));
}

/// Returns whether loopback is there: a new network namespace has it switched off.
#[expect(clippy::print_stdout, reason = "what was not tried is said")]
fn has_loopback() -> bool {
    let tried = TcpListener::bind("127.0.0.1:0").and_then(|to| TcpStream::connect(to.local_addr()?));
    if let Err(why) = &tried {
        println!("not tried: no loopback here: {why}");
    }
    tried.is_ok()
}

#[test]
fn a_tcp_connection_within_the_machine_has_both_ends_and_its_traffic() {
    if !has_loopback() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut connected = TcpStream::connect(address).unwrap();
    let (mut accepted, _) = listener.accept().unwrap();
    connected.write_all(b"hello").unwrap();
    accepted.read_exact(&mut [0; 5]).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sample = look(&mut source(), &[own_pid()]);
    let end = inet(&sample, own_inode(&sample, &connected));
    assert_eq!((end.protocol, end.state.as_str()), (Protocol::Tcp, "ESTAB"));
    assert_eq!(
        (end.local, end.remote),
        (connected.local_addr().unwrap(), Some(address))
    );
    assert_eq!((end.bytes_sent, end.bytes_received), (Some(5), Some(0)));
    assert!(end.last_sent_ms.is_some_and(|ms| ms < 60_000));
    assert_eq!(end.last_received_ms, None);
    let other = inet(&sample, own_inode(&sample, &accepted));
    assert_eq!((other.bytes_sent, other.bytes_received), (Some(0), Some(5)));
    assert_eq!(inet(&sample, own_inode(&sample, &listener)).state, "LISTEN");
    assert_eq!(inet(&sample, own_inode(&sample, &listener)).remote, None);
    assert_eq!(
        inet(&sample, own_inode(&sample, &udp)).local,
        udp.local_addr().unwrap()
    );
    assert_eq!(inet(&sample, own_inode(&sample, &udp)).state, "UNCONN");
    let reference = tool("ss", "iproute2", &["-tunapH"]);
    let own = format!("pid={},", std::process::id());
    for socket in [end, other, inet(&sample, own_inode(&sample, &udp))] {
        let found = reference.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            line.contains(&own)
                && fields[1] == socket.state
                && fields[4] == socket.local.to_string()
                && socket.remote.is_none_or(|remote| fields[5] == remote.to_string())
        });
        assert!(found, "{socket:?} is not in\n{reference}");
    }
}

#[test]
fn the_other_end_of_a_tcp_connection_is_searched_for_its_holder() {
    if !has_loopback() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "import socket,time\ns=socket.create_connection(('127.0.0.1',{}))\nprint('ready',flush=True)\ntime.sleep(600)",
        listener.local_addr().unwrap().port()
    );
    let mut ward = Ward::start(Command::new("python3").args(["-c", &script]));
    ward.wait_for_line();
    let (accepted, _) = listener.accept().unwrap();
    let mut source = source();
    let sample = look(&mut source, &[ward.pid()]);
    let socket = sample.process(ward.pid()).unwrap().descriptors.value().unwrap();
    assert!(
        socket
            .iter()
            .any(|descriptor| matches!(descriptor.target, Target::Socket { .. }))
    );
    let own = look(&mut source, &[own_pid()]);
    let held = &sample.holders[&own_inode(&own, &accepted)];
    assert!(held.iter().any(|holder| holder.process.pid == own_pid()));
}
