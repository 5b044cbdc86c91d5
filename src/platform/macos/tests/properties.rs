//! No bytes stop a decoder, and each gives the same for an answer as for its own beginning with more behind it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::answers::{kinfo, pipe, tcp, unix, vnode};
use super::mac::{Machine, procargs};
use crate::platform::macos::decode::{arguments, descriptor, process, socket, system};

/// Gives the bytes to every decoder.
fn decode_all(bytes: &[u8]) {
    let _ = arguments::decode(bytes, &BTreeSet::from(["HOME".to_owned()]));
    let _ = descriptor::list(bytes);
    let _ = descriptor::access(bytes);
    let _ = descriptor::Pipe::decode(bytes).map(|pipe| (pipe.number(), pipe.ends()));
    let path = descriptor::vnode_path(bytes);
    let _ = descriptor::Vnode::decode(bytes).map(|vnode| {
        let target = path.map(|path| vnode.target(path));
        (vnode.fifo(), vnode.device_minor(), target)
    });
    let _ = descriptor::semaphore(bytes);
    let _ = descriptor::shared_memory(bytes);
    let _ = descriptor::slave_number(bytes);
    let _ = socket::Socket::decode(bytes).map(|socket| socket.target());
    for listed in process::listed(bytes) {
        let letter = listed.letter(process::task(bytes));
        let _ = (listed.marks(letter), listed.terminal.map(process::terminal_name));
    }
    let _ = process::bsd(bytes);
    let _ = process::task(bytes).map(|task| (task.cpu_ns((125, 3)), task.cpu_ns((u32::MAX, 0))));
    let _ = process::unique(bytes);
    let _ = process::working_directory(bytes);
    let _ = process::path(bytes);
    let _ = system::boot_time(bytes);
    let _ = system::load_centi(bytes);
    let _ = (system::number(bytes), system::text(bytes));
}

/// One answer of each kind.
fn answers() -> Vec<Vec<u8>> {
    let mut machine = Machine::new();
    vec![
        procargs(2, "/bin/cat", &["cat", "x"], &["HOME=/Users/op"], true),
        kinfo(machine.process(1)).0,
        pipe(1, 2, 1).0,
        vnode(4, 0x1000_0003, 7, "/dev/ttys003", 3).0,
        unix(5, 6, 2, false, Some("/tmp/a"), Some("/tmp/b")).0,
        tcp(7, ([127, 0, 0, 1], 80), ([127, 0, 0, 1], 90), 4).0,
    ]
}

#[test]
fn every_answer_may_end_at_any_byte() {
    for answer in answers() {
        for length in 0..=answer.len() {
            decode_all(&answer[..length]);
        }
    }
}

#[test]
fn a_structure_that_is_cut_off_is_none() {
    let [_, kinfo, pipe, vnode, unix, tcp] = answers().try_into().unwrap();
    assert_eq!(process::listed(&kinfo[..647]).count(), 0);
    assert_eq!(process::listed(&kinfo).count(), 1);
    assert_eq!(descriptor::Pipe::decode(&pipe[..175]), None);
    assert_eq!(descriptor::vnode_path(&vnode[..1199]), None);
    // Shorter than its union: the socket is known, what it is not.
    for answer in [unix, tcp] {
        let cut = socket::Socket::decode(&answer[..264]).unwrap();
        assert!(matches!(cut.what, socket::What::Other(_)), "{cut:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_stop_a_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        decode_all(&bytes);
    }

    #[test]
    fn no_flipped_byte_stops_a_decoder(which in 0..6_usize, at in any::<prop::sample::Index>(), to in any::<[u8; 8]>()) {
        let mut answer = answers().swap_remove(which);
        let at = at.index(answer.len());
        for (place, byte) in answer[at..].iter_mut().zip(to) {
            *place = byte;
        }
        decode_all(&answer);
    }

    #[test]
    fn arguments_never_hold_more_than_the_buffer(
        count in any::<i32>(),
        text in proptest::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..400),
    ) {
        let buffer = [&count.to_ne_bytes()[..], &text].concat();
        let found = arguments::decode(&buffer, &BTreeSet::new()).unwrap();
        let bytes: usize = found.argv.iter().map(|one| one.as_bytes().len() + 1).sum();
        prop_assert!(bytes <= buffer.len() + 1);
        for one in &found.argv {
            prop_assert!(!one.as_bytes().contains(&0));
        }
    }
}
