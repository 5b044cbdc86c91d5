//! A machine in the making: its processes, and what they have open.

use std::collections::BTreeMap;

use rustix::io::Errno;

use crate::model::identity::Pid;

/// When the machine was booted, seconds since the epoch.
pub(super) const BOOTED: i64 = 1_790_000_000;
/// The user of everything that is not root's.
pub(super) const USER: u32 = 501;

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

impl Open {
    /// A terminal, by the device number of its side.
    pub(super) fn terminal(device: u32, path: &'static str) -> Self {
        Self::Vnode {
            kind: 4,
            device,
            inode: 5,
            path,
            flags: 3,
        }
    }
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

    pub(super) fn held(&self, handle: u64) -> bool {
        self.processes.values().any(|one| {
            one.open.values().any(|open| match open {
                Open::Pipe { own, .. } | Open::Unix { own, .. } => *own == handle,
                _ => false,
            })
        })
    }

    pub(super) fn path_of(&self, handle: u64) -> Option<&'static str> {
        let all = self.processes.values().flat_map(|one| one.open.values());
        all.into_iter().find_map(|open| match open {
            Open::Unix { own, path, .. } if *own == handle => *path,
            _ => None,
        })
    }

    pub(super) fn readable(&self, process: &Proc) -> Result<(), Errno> {
        if self.uid == 0 || self.uid == process.uid {
            Ok(())
        } else {
            Err(Errno::PERM)
        }
    }

    pub(super) fn find(&self, pid: Pid) -> Result<&Proc, Errno> {
        self.processes.get(&pid.get()).ok_or(Errno::SRCH)
    }
}
