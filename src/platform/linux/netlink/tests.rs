//! Answers of a kernel (Linux 6.18, 64 bits, little-endian) as bytes, whole, cut short and falsified.

use proptest::prelude::*;

use super::message::{Answer, Malformed, answers, attributes, request};
use super::{inet, unix};
use crate::model::bytes::OsBytes;
use crate::model::socket::{Protocol, UnixKind};

/// The sequence number that the captured answers carry.
const SEQUENCE: u32 = 7;

/// One end of a socketpair.
const PAIR: &str = "\
    3c0000001400020007000000875900000101010045101000a80e00000000000008000200461010000c00040000000000\
    000000000500060000000000";
/// The other end of it.
const OTHER: &str = "\
    3c0000001400020007000000875900000101010046101000a60e00000000000008000200451010000c00040000000000\
    000000000500060000000000";
/// An end whose other end was closed.
const CLOSED: &str = "\
    3c0000001400020007000000875900000101010047101000a50e00000000000008000200000000000c00040000000000\
    000000000500060003000000";
/// A listener with an abstract name, and one connection that waits.
const LISTENER: &str = "\
    5000000014000200070000008759000001010a0049101000a90e000000000000110000000077616b652d666978747572\
    65000000080003004a1010000c00040001000000040000000500060000000000";
/// The connection that waits.
const WAITING: &str = "\
    3c000000140002000700000087590000010101004a101000a70e00000000000008000200000000000c00040000000000\
    000000000500060000000000";
/// The end of the dump.
const DONE: &str = "\
    1400000003000200070000008759000000000000";
/// A TCP listener.
const TLISTEN: &str = "\
    98010000140002000700000087590000020a0000ac9300007f0000010000000000000000000000000000000000000000\
    000000000000000000000000aa0e000000000000000000000000000080000000000000004c1010000500080000000000\
    08000f00000000000c001500010000000000000006001600520000001c0102000a000000000000000000000000000000\
    000000000000000000000000800000000000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000a0000000000000003000000000000000000000000000000ffffffffffffffff\
    ffffffffffffffff00000000000000000000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000";
/// The opener of a TCP connection that has sent five bytes.
const TCLIENT: &str = "\
    9801000014000200070000008759000002010000ce5aac937f0000010000000000000000000000007f00000100000000\
    000000000000000000000000af0e000000000000000000000000000000000000000000004d1010000500080000000000\
    08000f00000000000c001500010000000000000006001600520000001c010200010000000007aa01e01c030000000000\
    008000001802000000000000000000000000000000000000000000002c010000000000002c0100002c010000ffff0000\
    d7ff00001b0000000f000000ffffff7f0b000000cbff00000300000000000000d7ff00000000000064190c4307000000\
    ffffffffffffffff06000000000000000000000000000000030000000200000000000000080000000000000001000000\
    000024f40000000000000000000000000000000000000000000000000000000002000000000000000500000000000000\
    000000000000000000000000000000000000000000000100000001000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000";
/// A TCP listener on `::1`.
const T6: &str = "\
    a00100001400020007000000875900000a0a0000b5070000000000000000000000000000000000010000000000000000\
    000000000000000000000000b00e00000000000000000000000000008000000000000000871010000500080000000000\
    05000b000100000008000f00000000000c001500010000000000000006001600120000001c0102000a00000000000000\
    000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000a0000000000000003000000000000000000000000000000\
    ffffffffffffffffffffffffffffffff0000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}

fn body(hex: &str) -> Vec<u8> {
    bytes(hex)[16..].to_vec()
}

fn unix_sockets(parts: &[&str]) -> std::collections::BTreeMap<u64, crate::model::socket::UnixSocket> {
    let mut found = unix::Found::default();
    for part in parts {
        found.add(&body(part)).unwrap();
    }
    found.finish()
}

#[test]
fn both_ends_of_a_pair_name_each_other() {
    let sockets = unix_sockets(&[PAIR, OTHER]);
    assert_eq!(sockets[&1_052_741].peer, Some(1_052_742));
    assert_eq!(sockets[&1_052_742].peer, Some(1_052_741));
    assert_eq!(sockets[&1_052_741].kind, UnixKind::Stream);
    assert_eq!(sockets[&1_052_741].unread, Some(0));
    assert_eq!(sockets[&1_052_741].path, None);
}

#[test]
fn a_closed_end_is_zero_and_a_waiting_one_leads_to_its_listener() {
    assert_eq!(unix_sockets(&[CLOSED])[&1_052_743].peer, Some(0));
    for order in [[LISTENER, WAITING], [WAITING, LISTENER]] {
        let sockets = unix_sockets(&order);
        assert_eq!(sockets[&1_052_746].peer, Some(1_052_745));
        assert!(sockets[&1_052_745].listening);
        assert_eq!(sockets[&1_052_745].peer, None);
        assert_eq!(sockets[&1_052_745].unread, Some(1));
        assert_eq!(sockets[&1_052_745].path, Some(OsBytes::from("@wake-fixture")));
    }
    // Alone, it cannot be told from one whose other end was closed.
    assert_eq!(unix_sockets(&[WAITING])[&1_052_746].peer, Some(0));
}

#[test]
fn a_connection_has_addresses_and_traffic_and_a_listener_has_neither() {
    let (inode, socket) = inet::parse(&body(TCLIENT), Protocol::Tcp).unwrap().unwrap();
    assert_eq!(inode, 1_052_749);
    assert_eq!(socket.local, "127.0.0.1:52826".parse().unwrap());
    assert_eq!(socket.remote, Some("127.0.0.1:44179".parse().unwrap()));
    assert_eq!(socket.state, "ESTAB");
    assert_eq!((socket.bytes_sent, socket.bytes_received), (Some(5), Some(0)));
    assert_eq!(socket.last_sent_ms, Some(300));
    assert_eq!(socket.last_received_ms, None);
    let (_, listener) = inet::parse(&body(TLISTEN), Protocol::Tcp).unwrap().unwrap();
    assert_eq!((listener.state.as_str(), listener.remote), ("LISTEN", None));
    assert_eq!((listener.bytes_sent, listener.last_sent_ms), (None, None));
    let (_, six) = inet::parse(&body(T6), Protocol::Tcp).unwrap().unwrap();
    assert_eq!(six.local, "[::1]:46343".parse().unwrap());
}

#[test]
fn a_dump_ends_and_answers_to_another_request_are_passed_over() {
    let text = [bytes(PAIR), bytes(DONE)].concat();
    let all: Vec<_> = answers(&text, SEQUENCE).collect();
    assert_eq!(
        all,
        [
            Ok(Answer::Body {
                body: &text[16..60],
                interrupted: false
            }),
            Ok(Answer::Done { interrupted: false }),
        ]
    );
    assert_eq!(answers(&text, SEQUENCE + 1).count(), 0);
}

#[test]
fn an_interrupted_dump_and_a_refusal_are_told() {
    let mut interrupted = bytes(PAIR);
    interrupted[6] |= 0x10;
    let first = answers(&interrupted, SEQUENCE).next();
    assert!(matches!(
        first,
        Some(Ok(Answer::Body {
            interrupted: true,
            ..
        }))
    ));
    let mut refusal = bytes(DONE);
    refusal[4] = 2;
    refusal[16..20].copy_from_slice(&(-2_i32).to_ne_bytes());
    assert_eq!(answers(&refusal, SEQUENCE).next(), Some(Ok(Answer::Error(2))));
    let mut lost = bytes(DONE);
    lost[4] = 4;
    assert_eq!(answers(&lost, SEQUENCE).next(), Some(Err(Malformed::Overrun)));
}

#[test]
fn a_message_cut_anywhere_is_malformed() {
    let whole = bytes(TCLIENT);
    for length in 1..whole.len() {
        assert_eq!(
            answers(&whole[..length], SEQUENCE).next(),
            Some(Err(Malformed::Truncated)),
            "{length}"
        );
    }
    let mut short = whole.clone();
    short[..4].copy_from_slice(&15_u32.to_ne_bytes());
    assert_eq!(answers(&short, SEQUENCE).next(), Some(Err(Malformed::Length)));
    for length in 0..72 {
        assert!(inet::parse(&whole[16..16 + length], Protocol::Tcp).is_err());
    }
    for length in 0..16 {
        assert!(unix::Found::default().add(&bytes(PAIR)[16..16 + length]).is_err());
    }
}

#[test]
fn an_older_kernel_tells_less_and_nothing_false() {
    // The attribute with the traffic is the last one; `struct tcp_info` ended before the counters once.
    let whole = body(TCLIENT);
    let at = whole
        .windows(4)
        .position(|head| head == [0x1c, 0x01, 0x02, 0x00])
        .unwrap();
    let mut older = whole[..at + 4 + 104].to_vec();
    older[at..at + 2].copy_from_slice(&108_u16.to_ne_bytes());
    let (_, socket) = inet::parse(&older, Protocol::Tcp).unwrap().unwrap();
    assert_eq!((socket.bytes_sent, socket.bytes_received), (None, None));
    assert_eq!(socket.last_sent_ms, Some(300));
}

#[test]
fn a_request_is_as_long_as_it_says() {
    for body in [unix::request(), inet::request(inet::Family::V6, Protocol::Udp)] {
        let text = request(7, &body);
        assert_eq!(
            u32::from_ne_bytes(text[..4].try_into().unwrap()) as usize,
            text.len()
        );
    }
    assert_eq!(unix::request().len(), 24);
    assert_eq!(inet::request(inet::Family::V4, Protocol::Tcp).len(), 56);
}

proptest! {
    #[test]
    fn any_bytes_are_taken_without_harm(text in proptest::collection::vec(any::<u8>(), 0..600), header in 0_usize..100) {
        for answer in answers(&text, SEQUENCE) {
            if let Ok(Answer::Body { body, .. }) = answer {
                let _ = unix::Found::default().add(body);
                let _ = inet::parse(body, Protocol::Tcp);
            }
        }
        let _ = unix::Found::default().add(&text);
        let _ = inet::parse(&text, Protocol::Udp);
        for (_, value) in attributes(&text, header) {
            prop_assert!(value.len() <= text.len());
        }
    }

    #[test]
    fn a_falsified_answer_ends(at in 0_usize..424, to in any::<u8>()) {
        let mut text = [bytes(TCLIENT), bytes(DONE)].concat();
        text[at % 424] = to;
        prop_assert!(answers(&text, SEQUENCE).count() <= text.len() / 16 + 1);
    }
}
