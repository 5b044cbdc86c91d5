//! A machine in the making that answers in the kernel's structures.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use crate::model::bytes::OsBytes;
use crate::model::identity::Pid;
use crate::platform::macos::kernel::{Clocks, Kernel, Own};
use crate::platform::macos::layout::{
    BsdInfo, FDPIPEINFO, FDPSEMINFO, FDPSHMINFO, FDSOCKETINFO, FDVNODEINFO, FDVNODEPATHINFO, FdInfo,
    InSockInfo, KinfoProc, PIDLISTFDS, PIDTASKINFO, PIDTBSDINFO, PIDUNIQIDENTIFIERINFO, PIDVNODEPATHINFO,
    PipeFdInfo, PsemFdInfo, PshmFdInfo, SockbufInfo, SocketFdInfo, TYPE_KQUEUE, TYPE_PIPE, TYPE_PSEM,
    TYPE_PSHM, TYPE_SOCKET, TYPE_VNODE, TaskInfo, TcpSockInfo, UnSockInfo, UniqueIdentifier, VinfoStat,
    VnodeFdInfo, VnodeFdInfoWithPath, VnodeInfo, VnodeInfoPath, VnodePathInfo,
};

/// When the machine was booted, seconds since the epoch.
pub(super) const BOOTED: i64 = 1_790_000_000;
/// The user of everything that is not root's.
pub(super) const USER: u32 = 501;
const OWN_PID: u32 = 90_000;

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

/// What a descriptor is.
#[derive(Clone, Debug)]
pub(super) enum Open {
    /// One end of a pipe, by its handle; the other end's handle.
    Pipe {
        own: u64,
        other: u64,
        writes: bool,
    },
    /// One end of a unix connection; a listener has no other.
    Unix {
        own: u64,
        other: u64,
        path: Option<&'static str>,
        listens: bool,
    },
    /// A TCP connection, or a listener.
    Tcp {
        own: u64,
        local: ([u8; 4], u16),
        remote: ([u8; 4], u16),
        state: i32,
    },
    /// A vnode: kind, device number, inode, path, open flags.
    Vnode {
        kind: i32,
        device: u32,
        inode: u64,
        path: &'static str,
        flags: u32,
    },
    Semaphore(&'static str),
    Memory(&'static str),
    Kqueue,
    /// A vnode that answers `EBADF`: it was revoked.
    Revoked,
}

/// One process.
#[derive(Clone, Debug)]
pub(super) struct Proc {
    pub(super) pid: u32,
    pub(super) ppid: u32,
    pub(super) pgid: u32,
    pub(super) sid: u32,
    pub(super) uid: u32,
    pub(super) started: u64,
    pub(super) unique: u64,
    pub(super) born_under: u64,
    pub(super) stat: u8,
    pub(super) flags: u32,
    pub(super) comm: String,
    pub(super) arguments: Vec<u8>,
    pub(super) cwd: &'static str,
    pub(super) times: u64,
    pub(super) running: i32,
    pub(super) terminal: u32,
    pub(super) nice: i8,
    pub(super) open: BTreeMap<u32, Open>,
}

/// The machine.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) processes: BTreeMap<u32, Proc>,
    /// Who looks.
    pub(super) uid: u32,
    pub(super) since_boot_ns: u64,
    next: u64,
}

/// Builds a buffer of `kern.procargs2`.
pub(super) fn procargs(
    count: i32,
    program: &str,
    argv: &[&str],
    environment: &[&str],
    loader: bool,
) -> Vec<u8> {
    let mut buffer = count.to_ne_bytes().to_vec();
    buffer.extend(program.as_bytes());
    buffer.push(0);
    while !buffer.len().is_multiple_of(8) {
        buffer.push(0);
    }
    let own = [
        "ptr_munge=",
        "main_stack=",
        "executable_file=0x1a01000011,0x7b",
        "th_port=0x203",
    ];
    let own = own.iter().filter(|_| loader);
    for string in argv.iter().chain(environment).chain(own) {
        buffer.extend(string.as_bytes());
        buffer.push(0);
    }
    buffer
}

impl Machine {
    /// A machine with launchd, looked at by root.
    pub(super) fn new() -> Self {
        let mut machine = Self {
            processes: BTreeMap::new(),
            uid: 0,
            since_boot_ns: 5_000_000_000_000,
            next: 0x00ff_0000_0000_0000,
        };
        machine.add(1, 0, 0, "/sbin/launchd", &["/sbin/launchd"]);
        machine
    }

    /// Adds a process that its parent has started; in its group and session unless that is launchd.
    pub(super) fn add(&mut self, pid: u32, parent: u32, uid: u32, program: &str, argv: &[&str]) -> &mut Proc {
        let family = self.processes.get(&parent).filter(|_| parent > 1);
        let (group, session) = family.map_or((pid, pid), |one| (one.pgid, one.sid));
        let count = i32::try_from(argv.len()).unwrap();
        let home = if uid == 0 {
            "HOME=/var/root"
        } else {
            "HOME=/Users/op"
        };
        let environment = ["PATH=/usr/bin:/bin", home, "SECRET_TOKEN=hunter2"];
        let process = Proc {
            pid,
            ppid: parent,
            pgid: group,
            sid: session,
            uid,
            started: u64::from(pid) * 1_000_000,
            unique: 100_000 + u64::from(pid),
            born_under: 100_000 + u64::from(parent),
            stat: 2,
            flags: 0x4,
            comm: program.rsplit('/').next().unwrap().chars().take(16).collect(),
            arguments: procargs(count, program, argv, &environment, true),
            cwd: "/Users/op/project",
            times: 24_000_000,
            running: 0,
            terminal: u32::MAX,
            nice: 0,
            open: BTreeMap::new(),
        };
        self.processes.entry(pid).insert_entry(process).into_mut()
    }

    pub(super) fn process(&mut self, pid: u32) -> &mut Proc {
        self.processes.get_mut(&pid).expect("a process that was added")
    }

    pub(super) fn open(&mut self, pid: u32, fd: u32, open: Open) {
        self.process(pid).open.insert(fd, open);
    }

    fn handle(&mut self) -> u64 {
        self.next += 0x1_0001;
        self.next
    }

    /// Makes a pipe from one process to another; returns the handles of the ends that are read and written.
    pub(super) fn pipe(&mut self, from: (u32, u32), to: (u32, u32)) -> (u64, u64) {
        let (read, write) = (self.handle(), self.handle());
        self.open(
            from.0,
            from.1,
            Open::Pipe {
                own: write,
                other: read,
                writes: true,
            },
        );
        self.open(
            to.0,
            to.1,
            Open::Pipe {
                own: read,
                other: write,
                writes: false,
            },
        );
        (read, write)
    }

    /// Connects two processes by a unix connection; `path` is what the first end is bound to.
    pub(super) fn unix(
        &mut self,
        one: (u32, u32),
        other: (u32, u32),
        path: Option<&'static str>,
    ) -> (u64, u64) {
        let (first, second) = (self.handle(), self.handle());
        let end = |own, other, path| Open::Unix {
            own,
            other,
            path,
            listens: false,
        };
        self.open(one.0, one.1, end(first, second, path));
        self.open(other.0, other.1, end(second, first, None));
        (first, second)
    }

    /// Wires a server to a client by two pipes on 0 and 1.
    pub(super) fn wire_pipes(&mut self, client: u32, server: u32) {
        self.pipe((client, 20), (server, 0));
        self.pipe((server, 1), (client, 21));
    }

    /// Wires a server to a client by two socketpairs on 0 and 1, as libuv does.
    pub(super) fn wire_sockets(&mut self, client: u32, server: u32) {
        self.unix((client, 20), (server, 0), None);
        self.unix((client, 21), (server, 1), None);
    }

    /// Ends a process that its parent waits for: its descriptors close, its children go to launchd.
    pub(super) fn end(&mut self, pid: u32) {
        self.processes.remove(&pid);
        for process in self.processes.values_mut().filter(|one| one.ppid == pid) {
            process.ppid = 1;
        }
    }

    fn held(&self, handle: u64) -> bool {
        self.processes.values().any(|one| {
            one.open.values().any(|open| match open {
                Open::Pipe { own, .. } | Open::Unix { own, .. } => *own == handle,
                _ => false,
            })
        })
    }

    fn path_of(&self, handle: u64) -> Option<&'static str> {
        let all = self.processes.values().flat_map(|one| one.open.values());
        all.into_iter().find_map(|open| match open {
            Open::Unix { own, path, .. } if *own == handle => *path,
            _ => None,
        })
    }

    fn readable(&self, process: &Proc) -> Result<(), Errno> {
        if self.uid == 0 || self.uid == process.uid {
            Ok(())
        } else {
            Err(Errno::PERM)
        }
    }

    fn find(&self, pid: Pid) -> Result<&Proc, Errno> {
        self.processes.get(&pid.get()).ok_or(Errno::SRCH)
    }
}

/// The machine as it is asked; the test keeps the other handle on it.
#[derive(Clone)]
pub(super) struct Asked(pub(super) Arc<Mutex<Machine>>);

impl Asked {
    pub(super) fn new(machine: Machine) -> Self {
        Self(Arc::new(Mutex::new(machine)))
    }

    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Machine) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }
}

impl Kernel for Asked {
    fn processes(&mut self) -> Result<Vec<u8>, Errno> {
        self.change(|machine| Ok(machine.processes.values().flat_map(|one| kinfo(one).0).collect()))
    }

    fn process_info(&mut self, pid: Pid, flavour: i32, arg: u64, bytes: usize) -> Result<Vec<u8>, Errno> {
        self.change(|machine| {
            let process = machine.find(pid)?;
            let knows_zombies = matches!(flavour, PIDTBSDINFO | PIDUNIQIDENTIFIERINFO);
            if process.stat == 5 && !(knows_zombies && arg != 0) {
                return Err(Errno::SRCH);
            }
            if flavour != PIDUNIQIDENTIFIERINFO {
                machine.readable(process)?;
            }
            let mut answer = match flavour {
                PIDTBSDINFO => bsd(process).0,
                PIDTASKINFO => task(process).0,
                PIDVNODEPATHINFO => directory(process).0,
                PIDUNIQIDENTIFIERINFO => unique(process).0,
                PIDLISTFDS => {
                    let mut list: Vec<u8> = process
                        .open
                        .iter()
                        .flat_map(|(fd, open)| listed(*fd, open).0)
                        .collect();
                    list.truncate(bytes / size_of::<FdInfo>() * size_of::<FdInfo>());
                    list
                }
                _ => return Err(Errno::INVAL),
            };
            if flavour != PIDLISTFDS && bytes < answer.len() {
                return Err(Errno::NOMEM);
            }
            answer.truncate(bytes);
            Ok(answer)
        })
    }

    fn descriptor_info(&mut self, pid: Pid, fd: u32, flavour: i32, bytes: usize) -> Result<Vec<u8>, Errno> {
        self.change(|machine| {
            let process = machine.find(pid)?;
            machine.readable(process)?;
            let open = process.open.get(&fd).ok_or(Errno::BADF)?;
            let answer = descriptor(machine, open, flavour)?.0;
            if bytes < answer.len() {
                return Err(Errno::NOMEM);
            }
            Ok(answer)
        })
    }

    fn arguments(&mut self, pid: Pid) -> Result<Vec<u8>, Errno> {
        self.change(|machine| {
            let process = machine.find(pid).map_err(|_| Errno::INVAL)?;
            if process.stat == 5 || machine.readable(process).is_err() {
                return Err(Errno::INVAL);
            }
            Ok(process.arguments.clone())
        })
    }

    fn path(&mut self, pid: Pid) -> Result<Vec<u8>, Errno> {
        self.change(|machine| {
            let process = machine.find(pid)?;
            if process.stat == 5 {
                return Err(Errno::SRCH);
            }
            let text = &process.arguments[4..];
            Ok(text[..text.iter().position(|byte| *byte == 0).unwrap()].to_vec())
        })
    }

    fn session(&mut self, pid: Pid) -> Result<Option<Pid>, Errno> {
        self.change(|machine| Ok(Pid::new(i64::from(machine.find(pid)?.sid))))
    }

    fn named(&mut self, name: &str) -> Result<Vec<u8>, Errno> {
        match name {
            "kern.bootsessionuuid" => Ok(b"2C0E2A51-8F0E-4B6A-9C55-0B1D2F3A4C5D\0".to_vec()),
            "kern.osrelease" => Ok(b"25.1.0\0".to_vec()),
            "kern.hostname" => Ok(b"ops-mac.local\0".to_vec()),
            "kern.boottime" => Ok([&BOOTED.to_ne_bytes()[..], &250_000_i32.to_ne_bytes(), &[0; 4]].concat()),
            "hw.ncpu" => Ok(10_i32.to_ne_bytes().to_vec()),
            "hw.memsize" => Ok((32_u64 << 30).to_ne_bytes().to_vec()),
            "vm.loadavg" => {
                let averages = [3072_u32, 2048, 1024].map(u32::to_ne_bytes).concat();
                Ok([&averages[..], &[0; 4], &2048_i64.to_ne_bytes()].concat())
            }
            _ => Err(Errno::NOENT),
        }
    }

    fn user(&mut self, uid: u32) -> Option<(OsBytes, OsBytes)> {
        match uid {
            0 => Some(("root".into(), "/var/root".into())),
            USER => Some(("op".into(), "/Users/op".into())),
            _ => None,
        }
    }

    fn timebase(&mut self) -> (u32, u32) {
        (125, 3)
    }

    fn clocks(&mut self) -> Clocks {
        self.change(|machine| Clocks {
            wall_ms: BOOTED * 1000 + i64::try_from(machine.since_boot_ns / 1_000_000).unwrap(),
            since_boot_ns: machine.since_boot_ns,
            own_cpu_us: 0,
        })
    }

    fn own(&mut self) -> Own {
        self.change(|machine| Own {
            pid: Pid::new(i64::from(OWN_PID)).unwrap(),
            uid: machine.uid,
            program: "mcpwake".into(),
            ssh_connection: None,
            sudo_uid: Some(USER),
        })
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

fn bsd(process: &Proc) -> Answer {
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

fn task(process: &Proc) -> Answer {
    Answer::of::<TaskInfo>()
        .put(offset_of!(TaskInfo, resident_size), (48_u64 << 20).to_ne_bytes())
        .put(offset_of!(TaskInfo, total_user), process.times.to_ne_bytes())
        .put(offset_of!(TaskInfo, threads), 7_i32.to_ne_bytes())
        .put(offset_of!(TaskInfo, running), process.running.to_ne_bytes())
}

fn directory(process: &Proc) -> Answer {
    let at = offset_of!(VnodePathInfo, cdir) + offset_of!(VnodeInfoPath, path);
    Answer::of::<VnodePathInfo>().put(at, process.cwd)
}

fn unique(process: &Proc) -> Answer {
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

fn descriptor(machine: &Machine, open: &Open, flavour: i32) -> Result<Answer, Errno> {
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
            FDVNODEPATHINFO,
        ) => vnode(*kind, *device, *inode, path, *flags),
        (
            Open::Vnode {
                kind,
                device,
                inode,
                path,
                flags,
            },
            FDVNODEINFO,
        ) => {
            let mut answer = vnode(*kind, *device, *inode, path, *flags);
            answer.0.truncate(size_of::<VnodeFdInfo>());
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
