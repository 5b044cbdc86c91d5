//! The kernel's structures as the 64-bit Apple targets lay them out: used for offsets and sizes only.
//!
//! Names and order follow the headers that each part names. Both targets, aarch64 and `x86_64`, have the same
//! layout (LP64); the asserts hold on every 64-bit system, so that the decoders run on Linux too.

use std::mem::{offset_of, size_of};

// Flavours of `proc_pidinfo`, `sys/proc_info.h`; the last one is in `sys/proc_info_private.h`.
pub(super) const PIDLISTFDS: i32 = 1;
pub(super) const PIDTBSDINFO: i32 = 3;
pub(super) const PIDTASKINFO: i32 = 4;
pub(super) const PIDVNODEPATHINFO: i32 = 9;
pub(super) const PIDUNIQIDENTIFIERINFO: i32 = 17;

// Flavours of `proc_pidfdinfo`, `sys/proc_info.h`.
pub(super) const FDVNODEINFO: i32 = 1;
pub(super) const FDVNODEPATHINFO: i32 = 2;
pub(super) const FDSOCKETINFO: i32 = 3;
pub(super) const FDPSEMINFO: i32 = 4;
pub(super) const FDPSHMINFO: i32 = 5;
pub(super) const FDPIPEINFO: i32 = 6;

// Kinds of descriptors, `PROX_FDTYPE_*`.
pub(super) const TYPE_ATALK: u32 = 0;
pub(super) const TYPE_VNODE: u32 = 1;
pub(super) const TYPE_SOCKET: u32 = 2;
pub(super) const TYPE_PSHM: u32 = 3;
pub(super) const TYPE_PSEM: u32 = 4;
pub(super) const TYPE_KQUEUE: u32 = 5;
pub(super) const TYPE_PIPE: u32 = 6;
pub(super) const TYPE_FSEVENTS: u32 = 7;
pub(super) const TYPE_NETPOLICY: u32 = 9;
pub(super) const TYPE_CHANNEL: u32 = 10;
pub(super) const TYPE_NEXUS: u32 = 11;

/// `MAXPATHLEN`.
pub(super) const PATH_BYTES: usize = 1024;

/// `sys/sysctl.h`: `struct kinfo_proc`, flattened; parts that are not read are one array each.
#[repr(C)]
pub(super) struct KinfoProc {
    pub(super) start_seconds: i64,
    pub(super) start_microseconds: i32,
    start_padding: i32,
    pointers: [u64; 2],
    pub(super) flag: i32,
    pub(super) stat: i8,
    pub(super) pid: i32,
    between_pid_and_nice: [u8; 198],
    pub(super) nice: i8,
    pub(super) comm: [u8; 17],
    rest_of_proc: [u64; 4],
    eproc_pointers: [u64; 2],
    pcred_lock: [u64; 10],
    pub(super) real_uid: u32,
    saved_uid: u32,
    groups_and_count: [u32; 4],
    ucred_reference: i32,
    pub(super) uid: u32,
    groups: [u32; 17],
    address_space: [u64; 8],
    pub(super) ppid: i32,
    pub(super) pgid: i32,
    jobs: i16,
    pub(super) tdev: u32,
    pub(super) tpgid: i32,
    tty_session: u64,
    wait_message: [u8; 8],
    text_sizes: [u32; 3],
    pub(super) eproc_flag: i32,
    login_and_spare: [u8; 28],
}

/// `sys/proc_info.h`: `struct proc_bsdinfo`.
#[repr(C)]
pub(super) struct BsdInfo {
    pub(super) flags: u32,
    pub(super) status: u32,
    pub(super) xstatus: u32,
    pub(super) pid: u32,
    pub(super) ppid: u32,
    pub(super) uid: u32,
    gid: u32,
    pub(super) ruid: u32,
    rgid: u32,
    svuid: u32,
    svgid: u32,
    reserved: u32,
    pub(super) comm: [u8; 16],
    pub(super) name: [u8; 32],
    pub(super) nfiles: u32,
    pub(super) pgid: u32,
    jobs: u32,
    pub(super) tdev: u32,
    pub(super) tpgid: u32,
    pub(super) nice: i32,
    pub(super) start_seconds: u64,
    pub(super) start_microseconds: u64,
}

/// `struct proc_taskinfo`.
#[repr(C)]
pub(super) struct TaskInfo {
    virtual_size: u64,
    pub(super) resident_size: u64,
    pub(super) total_user: u64,
    pub(super) total_system: u64,
    threads_times: [u64; 2],
    counters: [i32; 9],
    pub(super) threads: i32,
    pub(super) running: i32,
    priority: i32,
}

/// `sys/proc_info_private.h`: `struct proc_uniqidentifierinfo`.
#[repr(C)]
pub(super) struct UniqueIdentifier {
    executable_uuid: [u8; 16],
    pub(super) unique_id: u64,
    pub(super) parent_unique_id: u64,
    pub(super) pid_version: i32,
    parent_pid_version: i32,
    reserved: [u64; 2],
}

/// `struct proc_fdinfo`.
#[repr(C)]
pub(super) struct FdInfo {
    pub(super) fd: i32,
    pub(super) kind: u32,
}

/// `struct proc_fileinfo`.
#[repr(C)]
pub(super) struct FileInfo {
    pub(super) open_flags: u32,
    status: u32,
    offset: i64,
    kind: i32,
    guard_flags: u32,
}

/// `struct vinfo_stat`.
#[repr(C)]
pub(super) struct VinfoStat {
    pub(super) dev: u32,
    pub(super) mode: u16,
    pub(super) nlink: u16,
    pub(super) ino: u64,
    owner: [u32; 2],
    times: [i64; 8],
    size: i64,
    blocks: i64,
    block_size: i32,
    flags: u32,
    generation: u32,
    pub(super) rdev: u32,
    spare: [i64; 2],
}

/// `struct vnode_info`.
#[repr(C)]
pub(super) struct VnodeInfo {
    pub(super) stat: VinfoStat,
    pub(super) kind: i32,
    padding: i32,
    fsid: [i32; 2],
}

/// `struct vnode_info_path`.
#[repr(C)]
pub(super) struct VnodeInfoPath {
    pub(super) info: VnodeInfo,
    pub(super) path: [u8; PATH_BYTES],
}

/// `struct vnode_fdinfo`.
#[repr(C)]
pub(super) struct VnodeFdInfo {
    pub(super) file: FileInfo,
    pub(super) vnode: VnodeInfo,
}

/// `struct vnode_fdinfowithpath`.
#[repr(C)]
pub(super) struct VnodeFdInfoWithPath {
    pub(super) file: FileInfo,
    pub(super) vnode: VnodeInfoPath,
}

/// `struct proc_vnodepathinfo`.
#[repr(C)]
pub(super) struct VnodePathInfo {
    pub(super) cdir: VnodeInfoPath,
    pub(super) rdir: VnodeInfoPath,
}

/// `struct pipe_fdinfo`.
#[repr(C)]
pub(super) struct PipeFdInfo {
    pub(super) file: FileInfo,
    stat: VinfoStat,
    pub(super) handle: u64,
    pub(super) peer_handle: u64,
    status: i32,
    reserved: i32,
}

/// `struct psem_fdinfo`.
#[repr(C)]
pub(super) struct PsemFdInfo {
    pub(super) file: FileInfo,
    stat: VinfoStat,
    pub(super) name: [u8; PATH_BYTES],
}

/// `struct pshm_fdinfo`.
#[repr(C)]
pub(super) struct PshmFdInfo {
    pub(super) file: FileInfo,
    stat: VinfoStat,
    address: u64,
    pub(super) name: [u8; PATH_BYTES],
}

/// `struct sockbuf_info`.
#[repr(C)]
pub(super) struct SockbufInfo {
    pub(super) bytes: u32,
    limits: [u32; 4],
    flags: i16,
    timeout: i16,
}

/// `struct in_sockinfo`; addresses are 16 bytes, an IPv4 one in the last four.
#[repr(C)]
pub(super) struct InSockInfo {
    pub(super) foreign_port: i32,
    pub(super) local_port: i32,
    generation: u64,
    flags: u32,
    flow: u32,
    pub(super) version: u8,
    ttl: u8,
    reserved: u32,
    pub(super) foreign: [u32; 4],
    pub(super) local: [u32; 4],
    service: u8,
    v6: [u32; 3],
}

/// `struct tcp_sockinfo`.
#[repr(C)]
pub(super) struct TcpSockInfo {
    internet: InSockInfo,
    pub(super) state: i32,
    timers: [i32; 4],
    segment: i32,
    flags: u32,
    reserved: u32,
    control_block: u64,
}

/// `struct un_sockinfo`; an address is a `sockaddr_un` in `SOCK_MAXADDRLEN` bytes.
#[repr(C)]
pub(super) struct UnSockInfo {
    pub(super) peer: u64,
    pub(super) peer_pcb: u64,
    pub(super) address: [u8; 255],
    pub(super) peer_address: [u8; 255],
}

/// `struct socket_fdinfo` up to its union, whose parts begin at its end; the largest is `kern_ctl_info` or
/// `un_sockinfo`.
#[repr(C)]
pub(super) struct SocketFdInfo {
    pub(super) file: FileInfo,
    stat: VinfoStat,
    pub(super) socket: u64,
    pub(super) pcb: u64,
    pub(super) kind: i32,
    pub(super) protocol: i32,
    pub(super) family: i32,
    pub(super) options: i16,
    linger: i16,
    pub(super) state: i16,
    pub(super) queued: i16,
    incomplete: i16,
    pub(super) queue_limit: i16,
    timeout: i16,
    error: u16,
    out_of_band: u32,
    pub(super) receive: SockbufInfo,
    send: SockbufInfo,
    pub(super) info_kind: i32,
    reserved: u32,
    pub(super) part: UnSockInfo,
}

/// `sys/resource.h`, `vm.loadavg`: `struct loadavg`.
#[repr(C)]
pub(super) struct LoadAverage {
    pub(super) averages: [u32; 3],
    pub(super) scale: i64,
}

macro_rules! layout {
    ($type:ty, $size:literal $(, $field:ident $(. $inner:ident)* = $offset:literal)* $(,)?) => {
        const _: () = {
            assert!(size_of::<$type>() == $size);
            $(assert!(offset_of!($type, $field $(. $inner)*) == $offset);)*
        };
    };
}

layout!(
    KinfoProc,
    648,
    flag = 32,
    stat = 36,
    pid = 40,
    nice = 242,
    comm = 243,
    real_uid = 392,
    uid = 420,
    ppid = 560,
    pgid = 564,
    tdev = 572,
    tpgid = 576,
    eproc_flag = 612,
);
layout!(
    BsdInfo,
    136,
    comm = 48,
    name = 64,
    nfiles = 96,
    pgid = 100,
    tdev = 108,
    nice = 116,
    start_seconds = 120,
    start_microseconds = 128,
);
layout!(
    TaskInfo,
    96,
    resident_size = 8,
    total_user = 16,
    threads = 84,
    running = 88
);
layout!(
    UniqueIdentifier,
    56,
    unique_id = 16,
    parent_unique_id = 24,
    pid_version = 32
);
layout!(FdInfo, 8, kind = 4);
layout!(FileInfo, 24);
layout!(VinfoStat, 136, mode = 4, nlink = 6, ino = 8, rdev = 116);
layout!(VnodeInfo, 152, kind = 136);
layout!(VnodeInfoPath, 1176, path = 152);
layout!(VnodeFdInfo, 176, vnode = 24);
layout!(VnodeFdInfoWithPath, 1200, vnode = 24);
layout!(VnodePathInfo, 2352, rdir = 1176);
layout!(PipeFdInfo, 184, handle = 160, peer_handle = 168);
layout!(PsemFdInfo, 1184, name = 160);
layout!(PshmFdInfo, 1192, name = 168);
layout!(SockbufInfo, 24);
layout!(InSockInfo, 80, version = 24, foreign = 32, local = 48);
layout!(TcpSockInfo, 120, state = 80);
layout!(UnSockInfo, 528, address = 16, peer_address = 271);
layout!(
    SocketFdInfo,
    792,
    socket = 160,
    family = 184,
    state = 192,
    queued = 194,
    receive = 208,
    info_kind = 256,
    part = 264,
);
layout!(LoadAverage, 24, scale = 16);
