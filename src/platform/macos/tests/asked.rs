//! A machine in the making as it is asked: by the calls of the kernel.

use std::mem::size_of;
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use super::answers::{bsd, descriptor, directory, kinfo, listed, task, unique};
use super::mac::{BOOTED, Machine, USER};
use crate::model::bytes::OsBytes;
use crate::model::identity::Pid;
use crate::platform::macos::kernel::{Clocks, Kernel, Own};
use crate::platform::macos::layout::{
    FdInfo, PIDLISTFDS, PIDTASKINFO, PIDTBSDINFO, PIDUNIQIDENTIFIERINFO, PIDVNODEPATHINFO,
};

const OWN_PID: u32 = 90_000;

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
