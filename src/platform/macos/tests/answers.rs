//! What the kernel answers of a machine in the making, in its own structures.

use std::mem::{offset_of, size_of};

use rustix::io::Errno;

use super::mac::{BOOTED, Machine, Open, Proc};
use crate::platform::macos::layout::{
    BsdInfo, FDPIPEINFO, FDPSEMINFO, FDPSHMINFO, FDSOCKETINFO, FDVNODEINFO, FDVNODEPATHINFO, FdInfo,
    InSockInfo, KinfoProc, PipeFdInfo, PsemFdInfo, PshmFdInfo, SockbufInfo, SocketFdInfo, TYPE_KQUEUE,
    TYPE_PIPE, TYPE_PSEM, TYPE_PSHM, TYPE_SOCKET, TYPE_VNODE, TaskInfo, TcpSockInfo, UnSockInfo,
    UniqueIdentifier, VinfoStat, VnodeFdInfo, VnodeFdInfoWithPath, VnodeInfo, VnodeInfoPath, VnodePathInfo,
};

/// Bytes of a structure in the making.
pub(super) struct Answer(pub(super) Vec<u8>);

impl Answer {
    pub(super) fn of<T>() -> Self {
        Self(vec![0; size_of::<T>()])
    }

    pub(super) fn put(mut self, at: usize, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }
}

pub(super) fn kinfo(process: &Proc) -> Answer {
    let leader = process.sid == process.pid;
    let start = process.started;
    Answer::of::<KinfoProc>()
        .put(
            offset_of!(KinfoProc, start_seconds),
            (BOOTED + i64::try_from(start / 1_000_000).unwrap()).to_ne_bytes(),
        )
        .put(
            offset_of!(KinfoProc, start_microseconds),
            i32::try_from(start % 1_000_000).unwrap().to_ne_bytes(),
        )
        .put(offset_of!(KinfoProc, flag), process.flags.to_ne_bytes())
        .put(offset_of!(KinfoProc, stat), [process.stat])
        .put(offset_of!(KinfoProc, pid), process.pid.to_ne_bytes())
        .put(offset_of!(KinfoProc, nice), process.nice.to_ne_bytes())
        .put(offset_of!(KinfoProc, comm), process.comm.as_bytes())
        .put(offset_of!(KinfoProc, real_uid), process.uid.to_ne_bytes())
        .put(offset_of!(KinfoProc, uid), process.uid.to_ne_bytes())
        .put(offset_of!(KinfoProc, ppid), process.ppid.to_ne_bytes())
        .put(offset_of!(KinfoProc, pgid), process.pgid.to_ne_bytes())
        .put(offset_of!(KinfoProc, tdev), process.terminal.to_ne_bytes())
        .put(offset_of!(KinfoProc, tpgid), process.pgid.to_ne_bytes())
        .put(
            offset_of!(KinfoProc, eproc_flag),
            (i32::from(leader) * 2).to_ne_bytes(),
        )
}

pub(super) fn bsd(process: &Proc) -> Answer {
    let start = u64::try_from(BOOTED).unwrap() * 1_000_000 + process.started;
    Answer::of::<BsdInfo>()
        .put(offset_of!(BsdInfo, pid), process.pid.to_ne_bytes())
        .put(offset_of!(BsdInfo, nfiles), 32_u32.to_ne_bytes())
        .put(
            offset_of!(BsdInfo, start_seconds),
            (start / 1_000_000).to_ne_bytes(),
        )
        .put(
            offset_of!(BsdInfo, start_microseconds),
            (start % 1_000_000).to_ne_bytes(),
        )
}

pub(super) fn task(process: &Proc) -> Answer {
    Answer::of::<TaskInfo>()
        .put(offset_of!(TaskInfo, resident_size), (48_u64 << 20).to_ne_bytes())
        .put(offset_of!(TaskInfo, total_user), process.times.to_ne_bytes())
        .put(offset_of!(TaskInfo, threads), 7_i32.to_ne_bytes())
        .put(offset_of!(TaskInfo, running), process.running.to_ne_bytes())
}

pub(super) fn directory(process: &Proc) -> Answer {
    let at = offset_of!(VnodePathInfo, cdir) + offset_of!(VnodeInfoPath, path);
    Answer::of::<VnodePathInfo>().put(at, process.cwd)
}

pub(super) fn unique(process: &Proc) -> Answer {
    Answer::of::<UniqueIdentifier>()
        .put(
            offset_of!(UniqueIdentifier, unique_id),
            process.unique.to_ne_bytes(),
        )
        .put(
            offset_of!(UniqueIdentifier, parent_unique_id),
            process.born_under.to_ne_bytes(),
        )
}

pub(super) fn listed(fd: u32, open: &Open) -> Answer {
    let kind = match open {
        Open::Pipe { .. } => TYPE_PIPE,
        Open::Unix { .. } | Open::Tcp { .. } => TYPE_SOCKET,
        Open::Vnode { .. } | Open::Revoked => TYPE_VNODE,
        Open::Semaphore(_) => TYPE_PSEM,
        Open::Memory(_) => TYPE_PSHM,
        Open::Kqueue => TYPE_KQUEUE,
    };
    Answer::of::<FdInfo>()
        .put(offset_of!(FdInfo, fd), fd.to_ne_bytes())
        .put(offset_of!(FdInfo, kind), kind.to_ne_bytes())
}

pub(super) fn descriptor(machine: &Machine, open: &Open, flavour: i32) -> Result<Answer, Errno> {
    Ok(match (open, flavour) {
        (Open::Pipe { own, other, writes }, FDPIPEINFO) => {
            let peer = if machine.held(*other) { *other } else { 0 };
            pipe(*own, peer, if *writes { 2 } else { 1 })
        }
        (
            Open::Unix {
                own,
                other,
                path,
                listens,
            },
            FDSOCKETINFO,
        ) => {
            let connected = *other != 0 && machine.held(*other);
            let state = match (connected, listens) {
                (true, _) => 0x2,
                (false, true) => 0,
                (false, false) => 0x2030,
            };
            let peer = if connected { *other } else { 0 };
            unix(*own, peer, state, *listens, *path, machine.path_of(peer))
        }
        (
            Open::Tcp {
                own,
                local,
                remote,
                state,
            },
            FDSOCKETINFO,
        ) => tcp(*own, *local, *remote, *state),
        (
            Open::Vnode {
                kind,
                device,
                inode,
                path,
                flags,
            },
            FDVNODEPATHINFO | FDVNODEINFO,
        ) => {
            let mut answer = vnode(*kind, *device, *inode, path, *flags);
            if flavour == FDVNODEINFO {
                answer.0.truncate(size_of::<VnodeFdInfo>());
            }
            answer
        }
        (Open::Semaphore(name), FDPSEMINFO) => {
            Answer::of::<PsemFdInfo>().put(offset_of!(PsemFdInfo, name), name)
        }
        (Open::Memory(name), FDPSHMINFO) => {
            Answer::of::<PshmFdInfo>().put(offset_of!(PshmFdInfo, name), name)
        }
        (_, FDSOCKETINFO) => return Err(Errno::NOTSOCK),
        _ => return Err(Errno::BADF),
    })
}

pub(super) fn pipe(own: u64, peer: u64, flags: u32) -> Answer {
    Answer::of::<PipeFdInfo>()
        .put(0, flags.to_ne_bytes())
        .put(offset_of!(PipeFdInfo, handle), own.to_ne_bytes())
        .put(offset_of!(PipeFdInfo, peer_handle), peer.to_ne_bytes())
}

pub(super) fn vnode(kind: i32, number: u32, inode: u64, path: &str, flags: u32) -> Answer {
    let info = offset_of!(VnodeFdInfo, vnode);
    let stat = info + offset_of!(VnodeInfo, stat);
    let at = offset_of!(VnodeFdInfoWithPath, vnode) + offset_of!(VnodeInfoPath, path);
    Answer::of::<VnodeFdInfoWithPath>()
        .put(0, flags.to_ne_bytes())
        .put(info + offset_of!(VnodeInfo, kind), kind.to_ne_bytes())
        .put(stat + offset_of!(VinfoStat, dev), 16_777_233_u32.to_ne_bytes())
        .put(stat + offset_of!(VinfoStat, ino), inode.to_ne_bytes())
        .put(stat + offset_of!(VinfoStat, nlink), 1_u16.to_ne_bytes())
        .put(stat + offset_of!(VinfoStat, rdev), number.to_ne_bytes())
        .put(at, path)
}

fn address(path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len() + 3).unwrap();
    [&[length, 1], path.as_bytes()].concat()
}

fn socket(own: u64, kind: i32, family: i32, info: i32) -> Answer {
    Answer::of::<SocketFdInfo>()
        .put(0, 3_u32.to_ne_bytes())
        .put(offset_of!(SocketFdInfo, socket), own.to_ne_bytes())
        .put(offset_of!(SocketFdInfo, kind), kind.to_ne_bytes())
        .put(offset_of!(SocketFdInfo, family), family.to_ne_bytes())
        .put(offset_of!(SocketFdInfo, info_kind), info.to_ne_bytes())
}

pub(super) fn unix(
    own: u64,
    peer: u64,
    state: i16,
    listens: bool,
    path: Option<&str>,
    peer_path: Option<&str>,
) -> Answer {
    let part = offset_of!(SocketFdInfo, part);
    let mut answer = socket(own, 1, 1, 3)
        .put(offset_of!(SocketFdInfo, state), state.to_ne_bytes())
        .put(
            offset_of!(SocketFdInfo, options),
            (i16::from(listens) * 2).to_ne_bytes(),
        )
        .put(part + offset_of!(UnSockInfo, peer), peer.to_ne_bytes())
        .put(
            offset_of!(SocketFdInfo, receive) + offset_of!(SockbufInfo, bytes),
            17_u32.to_ne_bytes(),
        );
    if let Some(path) = path {
        answer = answer.put(part + offset_of!(UnSockInfo, address), address(path));
    }
    if let Some(path) = peer_path {
        answer = answer.put(part + offset_of!(UnSockInfo, peer_address), address(path));
    }
    answer
}

/// A TCP socket of IPv4.
pub(super) fn tcp(own: u64, local: ([u8; 4], u16), remote: ([u8; 4], u16), state: i32) -> Answer {
    let four = |address: [u8; 4]| [&[0; 12], &address[..]].concat();
    inet(
        socket(own, 1, 2, 2),
        1,
        (&four(local.0), local.1),
        (&four(remote.0), remote.1),
    )
    .put(
        offset_of!(SocketFdInfo, part) + offset_of!(TcpSockInfo, state),
        state.to_ne_bytes(),
    )
}

/// A socket of IPv6 or of both: kind, protocol, `insi_vflag`, 16 bytes of address.
pub(super) fn inet6(
    kind: i32,
    protocol: i32,
    version: u8,
    local: (&[u8; 16], u16),
    remote: (&[u8; 16], u16),
) -> Answer {
    let answer = socket(9, kind, 30, 1).put(offset_of!(SocketFdInfo, protocol), protocol.to_ne_bytes());
    inet(answer, version, (local.0, local.1), (remote.0, remote.1))
}

fn inet(answer: Answer, version: u8, local: (&[u8], u16), remote: (&[u8], u16)) -> Answer {
    let part = offset_of!(SocketFdInfo, part);
    answer
        .put(part + offset_of!(InSockInfo, version), [version])
        .put(part + offset_of!(InSockInfo, local), local.0)
        .put(part + offset_of!(InSockInfo, local_port), local.1.to_be_bytes())
        .put(part + offset_of!(InSockInfo, foreign), remote.0)
        .put(
            part + offset_of!(InSockInfo, foreign_port),
            remote.1.to_be_bytes(),
        )
}

/// A socket of another family.
pub(super) fn other(family: i32) -> Answer {
    socket(11, 3, family, 0)
}
