//! Builds samples for tests: processes with descriptors; who holds what follows from them, as the
//! platform's search would find it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Descriptor, Holder, Target, Unlisted};
use crate::model::host::{Observer, Visibility};
use crate::model::identity::Pid;
use crate::model::instance::{Instance, Judged};
use crate::model::known::Configured;
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::model::sample::{Sample, Unsearched};
use crate::model::socket::Sockets;
use crate::model::testkit;
use crate::model::time::UnixMillis;
use crate::model::world::World;

use super::{Known, Memory, judge};

pub(crate) use crate::model::testkit::pid;

/// A machine in the making.
pub(crate) struct Machine {
    pub(crate) processes: BTreeMap<u32, Process>,
    pub(crate) sockets: Sockets,
    pub(crate) masters: BTreeMap<u32, Vec<Holder>>,
    pub(crate) units: Vec<crate::model::sample::Unit>,
    pub(crate) since_boot_ms: u64,
    /// Processes that are not shown; `None`: nobody knows how many.
    pub(crate) hidden: Option<u32>,
    /// Who looks.
    pub(crate) observer_uid: u32,
    /// What may hold ends without a descriptor.
    pub(crate) unlisted: Vec<Unlisted>,
    unreadable: BTreeSet<u32>,
}

impl Machine {
    /// A machine with pid 1, seen by root.
    pub(crate) fn new() -> Self {
        let mut machine = Self {
            processes: BTreeMap::new(),
            sockets: Sockets::default(),
            masters: BTreeMap::new(),
            units: Vec::new(),
            since_boot_ms: 1_000_000,
            hidden: Some(0),
            observer_uid: 0,
            unlisted: Vec::new(),
            unreadable: BTreeSet::new(),
        };
        machine.add(1, 0, "/sbin/init");
        machine
    }

    /// Adds a process with the words of `line` as argv; in its parent's group and session, or its
    /// own where the parent is pid 1. Starts `pid` ticks after boot.
    pub(crate) fn add(&mut self, number: u32, parent: u32, line: &str) -> &mut Process {
        let argv: Vec<OsBytes> = line
            .split('\u{1f}')
            .flat_map(|part| part.split(' '))
            .map(Into::into)
            .collect();
        self.add_argv(number, parent, argv)
    }

    /// Adds a process with these elements as argv.
    pub(crate) fn add_argv(&mut self, number: u32, parent: u32, argv: Vec<OsBytes>) -> &mut Process {
        let (group, session) = match self.processes.get(&parent) {
            Some(parent) if parent.key.pid != Pid::INIT => (parent.pgid, parent.sid),
            _ => (Some(pid(number)), Some(pid(number))),
        };
        let process = Process {
            pgid: group,
            sid: session,
            stat: "S".to_owned(),
            user: Reading::Value("user".into()),
            home: Some("/home/user".into()),
            cwd: Reading::Value("/home/user".into()),
            cgroup: Reading::Value("/user.slice".into()),
            rss_bytes: 1 << 20,
            schedstat: Reading::Value((0, 0)),
            ..testkit::process(testkit::key(number, u64::from(number)), parent, argv)
        };
        self.processes.entry(number).insert_entry(process).into_mut()
    }

    pub(crate) fn process(&mut self, number: u32) -> &mut Process {
        self.processes.get_mut(&number).expect("a process that was added")
    }

    /// Ends a process: its children go to `adopter`.
    pub(crate) fn end(&mut self, number: u32, adopter: u32) {
        self.processes.remove(&number);
        for process in self.processes.values_mut() {
            if process.ppid == Some(pid(number)) {
                process.ppid = Some(pid(adopter));
            }
        }
        let held: BTreeSet<u64> = self
            .processes
            .values()
            .flat_map(|one| {
                one.descriptors
                    .value()
                    .into_iter()
                    .flatten()
                    .filter_map(|fd| fd.target.inode())
            })
            .collect();
        for socket in self.sockets.unix.values_mut() {
            if socket.peer.is_some_and(|peer| peer != 0 && !held.contains(&peer)) {
                socket.peer = Some(0);
            }
        }
    }

    /// The reader may not look into this process.
    pub(crate) fn hide(&mut self, number: u32) {
        self.unreadable.insert(number);
        self.process(number).descriptors = Reading::Denied;
    }

    pub(crate) fn open(&mut self, number: u32, fd: u32, target: Target, access: Access) {
        if let Reading::Value(list) = &mut self.process(number).descriptors {
            list.retain(|one| one.fd != fd);
            list.push(testkit::descriptor(fd, target, access));
            list.sort_by_key(|one| one.fd);
        }
    }

    /// Opens one end of a pipe.
    pub(crate) fn pipe(&mut self, number: u32, fd: u32, inode: u64, access: Access) {
        self.open(number, fd, Target::Pipe { inode }, access);
    }

    /// Opens one end of a socketpair; `inode` is its own end, `peer` the other.
    pub(crate) fn socket(&mut self, number: u32, fd: u32, inode: u64, peer: u64) {
        self.open(number, fd, Target::Socket { inode }, Access::Both);
        for (own, other) in [(inode, peer), (peer, inode)] {
            let end = testkit::stream(Some(other));
            self.sockets.unix.entry(own).or_insert(end);
        }
    }

    /// Wires a server to a client by two pipes (Python, Rust, Go) on fd 0 and 1.
    pub(crate) fn wire_pipes(&mut self, client: u32, server: u32, inode: u64) {
        self.pipe(server, 0, inode, Access::Read);
        self.pipe(client, 10, inode, Access::Write);
        self.pipe(server, 1, inode + 1, Access::Write);
        self.pipe(client, 11, inode + 1, Access::Read);
    }

    /// Wires a server to a client by two socketpairs (libuv) on fd 0 and 1.
    pub(crate) fn wire_sockets(&mut self, client: u32, server: u32, inode: u64) {
        self.socket(server, 0, inode, inode + 1);
        self.socket(client, 10, inode + 1, inode);
        self.socket(server, 1, inode + 2, inode + 3);
        self.socket(client, 11, inode + 3, inode + 2);
    }

    /// Gives a process the same descriptors 0 to 2 as another has.
    pub(crate) fn inherit(&mut self, from: u32, to: u32) {
        let own: Vec<Descriptor> = self
            .process(from)
            .descriptors
            .value()
            .cloned()
            .unwrap_or_default();
        for one in own.into_iter().filter(|one| one.fd < 3) {
            let access = one.access.value().copied().unwrap_or(Access::Both);
            self.open(to, one.fd, one.target, access);
        }
    }

    /// Opens a TCP socket; without `remote` it listens.
    pub(crate) fn tcp(&mut self, number: u32, fd: u32, inode: u64, local: &str, remote: Option<&str>) {
        self.open(number, fd, Target::Socket { inode }, Access::Both);
        self.sockets.inet.insert(inode, testkit::tcp(local, remote));
    }

    /// Returns the sample that the platform would take.
    pub(crate) fn sample(&self) -> Sample {
        let mut holders: BTreeMap<u64, Vec<Holder>> = BTreeMap::new();
        for process in self.processes.values() {
            for one in process.descriptors.value().into_iter().flatten() {
                let (Some(inode), Some(access)) = (one.target.inode(), one.access.value()) else {
                    continue;
                };
                let holder = testkit::holder(process.key, one.fd, *access);
                holders.entry(inode).or_default().push(holder);
            }
        }
        let unsearched = self.unreadable.iter().filter_map(|number| {
            let process = self.processes.get(number)?;
            Some(Unsearched {
                process: process.key,
                why: Absence::Denied,
            })
        });
        let machine = testkit::sample(UnixMillis(1_790_000_000_000), 1_000_000);
        Sample {
            // A test moves this alone: the machine's boot and clock stay.
            since_boot_ms: self.since_boot_ms,
            observer: Observer {
                uid: self.observer_uid,
                ..machine.observer
            },
            visibility: if self.unreadable.is_empty() {
                Visibility::All
            } else {
                Visibility::Partial
            },
            readable: u32::try_from(self.processes.len() - self.unreadable.len()).unwrap_or(0),
            hidden: self.hidden,
            processes: self
                .processes
                .values()
                .map(|one| (one.key.pid, Arc::new(one.clone())))
                .collect(),
            sockets: Reading::Value(self.sockets.clone()),
            holders,
            terminal_masters: self.masters.clone(),
            units: self.units.clone(),
            unsearched: unsearched.collect(),
            unlisted: self.unlisted.clone(),
            ..machine
        }
    }
}

/// A run of the program: samples judged one after the other.
pub(crate) struct Run {
    pub(crate) known: Known,
    memory: Memory,
    previous: Option<World>,
}

impl Run {
    /// A run with the built-in catalogue and no configuration.
    pub(crate) fn new() -> Self {
        let catalog = Catalog::builtin().expect("the built-in catalogue");
        let known = Known {
            catalog: Arc::new(catalog),
            configured: Arc::new(Configured::default()),
        };
        Self {
            known,
            memory: Memory::default(),
            previous: None,
        }
    }

    /// Judges the machine as it is now.
    pub(crate) fn judge(&mut self, machine: &Machine) -> Judged {
        let sample = machine.sample();
        let judged = judge(&sample, self.previous.as_ref(), &self.known, &mut self.memory);
        let seq = self.previous.as_ref().map_or(1, |world| world.seq + 1);
        self.previous = Some(testkit::world(seq, sample, judged.clone()));
        judged
    }

    /// Returns whether the last judgement asks for a second look.
    pub(crate) fn needs_second(&self) -> bool {
        self.memory.needs_second()
    }
}

/// Judges a machine once.
pub(crate) fn once(machine: &Machine) -> Judged {
    Run::new().judge(machine)
}

/// Returns the one instance whose server or top is this pid.
pub(crate) fn instance(judged: &Judged, number: u32) -> &Instance {
    judged
        .instances
        .iter()
        .find(|one| one.lead_process().pid == pid(number))
        .unwrap_or_else(|| panic!("no instance {number} among {:#?}", judged.instances))
}

/// Returns the codes of an instance's facts.
pub(crate) fn codes(instance: &Instance) -> Vec<&str> {
    instance.facts.iter().map(|fact| fact.code.as_str()).collect()
}

/// The second sample of a machine that has not changed, judged.
pub(crate) fn world(machine: &Machine) -> World {
    let mut run = Run::new();
    run.judge(machine);
    let judged = run.judge(machine);
    testkit::world(2, machine.sample(), judged)
}
