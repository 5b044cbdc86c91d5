//! Lists of descriptors, and what they lead to.

use super::answers::{listed, pipe, vnode};
use super::mac::Open;
use crate::model::descriptor::{Access, PipeEnds, Target};
use crate::platform::macos::decode::descriptor::{
    Listed, Pipe, Vnode, list, slave_number, unnamed, vnode_path,
};

#[test]
fn lists_are_ordered_and_a_cut_off_entry_is_left_out() {
    let mut bytes = listed(7, &Open::Kqueue).0;
    bytes.extend(listed(0, &Open::Revoked).0);
    bytes.extend(listed(7, &Open::Kqueue).0);
    bytes.extend(listed(u32::MAX, &Open::Kqueue).0);
    let both = [Listed { fd: 0, kind: 1 }, Listed { fd: 7, kind: 5 }];
    assert_eq!(list(&bytes), both);
    bytes.extend([9, 0, 0, 0, 6]);
    assert_eq!(list(&bytes), both);
    assert_eq!(list(&bytes[..15]), [Listed { fd: 7, kind: 5 }]);
    assert_eq!(list(&[]), []);
}

#[test]
fn both_ends_of_a_pipe_have_one_number() {
    let (reader, writer) = (0x51, 0x77);
    let read = Pipe::decode(&pipe(reader, writer, 1).0).unwrap();
    let write = Pipe::decode(&pipe(writer, reader, 2).0).unwrap();
    assert_eq!((read.access, write.access), (Access::Read, Access::Write));
    assert_eq!((read.number(), write.number()), (reader, reader));
    let open = PipeEnds {
        reader: Some(true),
        writer: Some(true),
    };
    assert_eq!((read.ends(), write.ends()), (open, open));
}

#[test]
fn a_closed_end_is_known_from_the_other() {
    let read = Pipe::decode(&pipe(0x51, 0, 1).0).unwrap();
    assert_eq!(read.number(), 0x51);
    assert_eq!(
        (read.ends().reader, read.ends().writer),
        (Some(true), Some(false))
    );
    // Whose reader is gone has only its own number.
    let write = Pipe::decode(&pipe(0x77, 0, 2).0).unwrap();
    assert_eq!(write.number(), 0x77);
    assert_eq!(
        (write.ends().reader, write.ends().writer),
        (Some(false), Some(true))
    );
    assert_eq!(Pipe::decode(&pipe(1, 2, 0).0), None);
}

#[test]
fn vnodes_lead_to_files_devices_terminals_and_fifos() {
    let target = |kind: i32, number: u32, path: &str| {
        let answer = vnode(kind, number, 815, path, 3).0;
        Vnode::decode(&answer)
            .unwrap()
            .target(vnode_path(&answer).unwrap())
    };
    let file = |path: &str| Target::File {
        path: path.into(),
        deleted: false,
    };
    assert_eq!(target(1, 0, "/etc/hosts"), file("/etc/hosts"));
    assert_eq!(target(4, 0x0300_0002, "/dev/null"), Target::Null);
    // A regular file of that name is one.
    assert_eq!(target(1, 0, "/dev/null"), file("/dev/null"));
    assert_eq!(
        target(4, 0x1000_0003, "/dev/ttys003"),
        Target::Terminal {
            path: "/dev/ttys003".into(),
            hung_up: false
        }
    );
    assert_eq!(
        target(4, 0x0f00_0003, "/dev/ptmx"),
        Target::PtyMaster { index: Some(3) }
    );
    assert_eq!(target(4, 1, "/dev/random"), file("/dev/random"));
    assert_eq!(
        target(7, 0, "/tmp/wire"),
        Target::Fifo {
            path: "/tmp/wire".into(),
            inode: 815
        }
    );
    assert!(matches!(target(1, 0, ""), Target::Other { .. }));
}

#[test]
fn slaves_are_told_by_number() {
    for (path, number) in [
        ("/dev/ttys003", Some(3)),
        ("/dev/ttys000", Some(0)),
        ("/dev/ttys", None),
        ("/dev/ttys+3", None),
        ("/dev/ttys99999999999", None),
        ("/dev/console", None),
    ] {
        assert_eq!(slave_number(path.as_bytes()), number, "{path}");
    }
}

#[test]
fn every_kind_has_a_name() {
    for kind in [0, 5, 7, 9, 10, 11] {
        assert!(matches!(unnamed(kind), Target::Anonymous { .. }), "{kind}");
    }
    let new = Target::Other {
        link: "descriptor of kind 12".into(),
    };
    assert_eq!(unnamed(12), new);
}
