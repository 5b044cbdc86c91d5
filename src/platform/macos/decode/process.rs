//! `kinfo_proc`, `proc_bsdinfo`, `proc_taskinfo`, `proc_uniqidentifierinfo`, `proc_vnodepathinfo`.

use std::mem::{offset_of, size_of};

use super::{i32_at, i64_at, text_at, u32_at, u64_at, until_nul};
use crate::model::bytes::OsBytes;
use crate::model::identity::{Pid, ProcessKey, StartKey};
use crate::platform::macos::layout::{
    BsdInfo, KinfoProc, PATH_BYTES, TaskInfo, UniqueIdentifier, VnodeInfoPath, VnodePathInfo,
};

/// `sys/proc.h`: values of `p_stat`.
const STOPPED: u8 = 4;
const ZOMBIE: u8 = 5;
/// `sys/proc.h`: `P_SYSTEM`, `P_TRACED`, `P_WEXIT`.
const SYSTEM: u32 = 0x200;
const TRACED: u32 = 0x800;
const EXITING: u32 = 0x2000;
/// `sys/sysctl.h`: `EPROC_SLEADER`.
const SESSION_LEADER: u32 = 0x2;
/// No device (`NODEV`).
const NO_DEVICE: u32 = u32::MAX;

/// One process as `kern.proc` shows it to everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Listed {
    pub(in crate::platform::macos) key: ProcessKey,
    pub(in crate::platform::macos) ppid: Option<Pid>,
    pub(in crate::platform::macos) pgid: Option<Pid>,
    /// Real user id.
    pub(in crate::platform::macos) uid: u32,
    /// Effective user id: the one that the kernel compares with the reader's.
    pub(in crate::platform::macos) effective_uid: u32,
    pub(in crate::platform::macos) comm: OsBytes,
    pub(in crate::platform::macos) nice: i8,
    /// Device number of the terminal.
    pub(in crate::platform::macos) terminal: Option<u32>,
    /// Foreground process group of the terminal.
    pub(in crate::platform::macos) foreground: Option<Pid>,
    pub(in crate::platform::macos) session_leader: bool,
    state: u8,
    flags: u32,
}

impl Listed {
    fn decode(answer: &[u8]) -> Option<Self> {
        let pid = |at| i32_at(answer, at).map(|raw| Pid::new(i64::from(raw)));
        let flags = u32_at(answer, offset_of!(KinfoProc, flag))?;
        let seconds = u64::try_from(i64_at(answer, offset_of!(KinfoProc, start_seconds))?).ok()?;
        let microseconds = u64::try_from(i32_at(answer, offset_of!(KinfoProc, start_microseconds))?).ok()?;
        Some(Self {
            key: ProcessKey {
                pid: pid(offset_of!(KinfoProc, pid))??,
                start: start(seconds, microseconds)?,
            },
            ppid: pid(offset_of!(KinfoProc, ppid))?,
            pgid: pid(offset_of!(KinfoProc, pgid))?,
            uid: u32_at(answer, offset_of!(KinfoProc, real_uid))?,
            effective_uid: u32_at(answer, offset_of!(KinfoProc, uid))?,
            comm: text_at(answer, offset_of!(KinfoProc, comm), 17)?,
            nice: answer.get(offset_of!(KinfoProc, nice))?.cast_signed(),
            terminal: u32_at(answer, offset_of!(KinfoProc, tdev)).filter(|device| *device != NO_DEVICE),
            foreground: pid(offset_of!(KinfoProc, tpgid))?,
            session_leader: u32_at(answer, offset_of!(KinfoProc, eproc_flag))? & SESSION_LEADER != 0,
            state: *answer.get(offset_of!(KinfoProc, stat))?,
            flags,
        })
    }

    /// Returns whether it has exited and was not yet waited for.
    pub(in crate::platform::macos) fn zombie(&self) -> bool {
        self.state == ZOMBIE
    }

    /// Returns whether it is on its way out.
    pub(in crate::platform::macos) fn exiting(&self) -> bool {
        self.flags & EXITING != 0
    }

    /// Returns whether it is the kernel's own.
    pub(in crate::platform::macos) fn system(&self) -> bool {
        self.flags & SYSTEM != 0
    }

    /// Returns the state letter. The kernel calls every living process runnable; whether it sleeps is known by
    /// its threads alone, so `?` where those may not be read.
    pub(in crate::platform::macos) fn letter(&self, task: Option<Task>) -> char {
        match (self.state, task) {
            (ZOMBIE, _) => 'Z',
            (STOPPED, _) if self.flags & TRACED != 0 => 't',
            (STOPPED, _) => 'T',
            (_, Some(task)) if task.running > 0 => 'R',
            (_, Some(_)) => 'S',
            (_, None) => '?',
        }
    }

    /// Returns the state with ps(1)'s marks: `<` and `N` for the nice value, `E` exiting, `s` session leader,
    /// `+` in the foreground of its terminal.
    pub(in crate::platform::macos) fn marks(&self, letter: char) -> String {
        let marks = [
            (self.nice < 0, '<'),
            (self.nice > 0, 'N'),
            (self.exiting() && !self.zombie(), 'E'),
            (self.session_leader, 's'),
            (
                self.terminal.is_some() && self.pgid.is_some() && self.pgid == self.foreground,
                '+',
            ),
        ];
        let marks = marks
            .into_iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, mark)| mark);
        std::iter::once(letter).chain(marks).collect()
    }
}

/// Returns all processes of an array of `kinfo_proc`. The kernel's own (pid 0) and a cut-off last one are left out.
pub(in crate::platform::macos) fn listed(answer: &[u8]) -> impl Iterator<Item = Listed> {
    answer
        .chunks_exact(size_of::<KinfoProc>())
        .filter_map(Listed::decode)
}

/// What `proc_bsdinfo` is asked for: the size of the table of descriptors, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Bsd {
    pub(in crate::platform::macos) start: StartKey,
    /// Size of its table of descriptors (`pbi_nfiles`), not the number that are open.
    pub(in crate::platform::macos) table_size: u32,
}

/// Decodes a `proc_bsdinfo`.
pub(in crate::platform::macos) fn bsd(answer: &[u8]) -> Option<Bsd> {
    Some(Bsd {
        start: start(
            u64_at(answer, offset_of!(BsdInfo, start_seconds))?,
            u64_at(answer, offset_of!(BsdInfo, start_microseconds))?,
        )?,
        table_size: u32_at(answer, offset_of!(BsdInfo, nfiles))?,
    })
}

/// Microseconds since the epoch.
fn start(seconds: u64, microseconds: u64) -> Option<StartKey> {
    seconds
        .checked_mul(1_000_000)?
        .checked_add(microseconds)
        .map(StartKey)
}

/// What `proc_taskinfo` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Task {
    pub(in crate::platform::macos) resident_bytes: u64,
    /// User and system time, in units of the timebase.
    pub(in crate::platform::macos) times: u64,
    pub(in crate::platform::macos) threads: u32,
    pub(in crate::platform::macos) running: u32,
}

impl Task {
    /// Returns the CPU time in nanoseconds.
    pub(in crate::platform::macos) fn cpu_ns(self, (numerator, denominator): (u32, u32)) -> u64 {
        let scaled = u128::from(self.times) * u128::from(numerator) / u128::from(denominator.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

/// Decodes a `proc_taskinfo`.
pub(in crate::platform::macos) fn task(answer: &[u8]) -> Option<Task> {
    let count = |at| u32::try_from(i32_at(answer, at)?).ok();
    Some(Task {
        resident_bytes: u64_at(answer, offset_of!(TaskInfo, resident_size))?,
        times: u64_at(answer, offset_of!(TaskInfo, total_user))?
            .checked_add(u64_at(answer, offset_of!(TaskInfo, total_system))?)?,
        threads: count(offset_of!(TaskInfo, threads))?,
        running: count(offset_of!(TaskInfo, running))?,
    })
}

/// What `proc_uniqidentifierinfo` tells. Neither number is given twice in one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform::macos) struct Unique {
    /// The process, from its fork to its end: exec keeps it.
    pub(in crate::platform::macos) id: u64,
    /// The process that was its parent at its fork or last exec; being adopted does not change it.
    pub(in crate::platform::macos) parent: u64,
    /// The program that the pid runs: exec gives a new one.
    pub(in crate::platform::macos) version: i32,
}

/// Decodes a `proc_uniqidentifierinfo`.
pub(in crate::platform::macos) fn unique(answer: &[u8]) -> Option<Unique> {
    Some(Unique {
        id: u64_at(answer, offset_of!(UniqueIdentifier, unique_id))?,
        parent: u64_at(answer, offset_of!(UniqueIdentifier, parent_unique_id))?,
        version: i32_at(answer, offset_of!(UniqueIdentifier, pid_version))?,
    })
}

/// Returns the working directory in a `proc_vnodepathinfo`; empty where the kernel knows no path of it.
pub(in crate::platform::macos) fn working_directory(answer: &[u8]) -> Option<OsBytes> {
    let at = offset_of!(VnodePathInfo, cdir) + offset_of!(VnodeInfoPath, path);
    text_at(answer, at, PATH_BYTES)
}

/// Returns the path in an answer of `proc_pidpath`.
pub(in crate::platform::macos) fn path(answer: &[u8]) -> Option<OsBytes> {
    let path = until_nul(answer);
    (!path.is_empty()).then(|| path.into())
}

/// Returns a terminal's name from its device number (`dev_t`: eight bits major, 24 minor).
///
/// The kernel gives out the majors of pseudo-terminals at boot, from 15 on: the masters' first, then the slaves'
/// (`tty_ptmx.c`). Another one is written `major:minor`.
pub(in crate::platform::macos) fn terminal_name(device: u32) -> String {
    let (major, minor) = (device >> 24, device & 0x00ff_ffff);
    match (major, minor) {
        (16, _) => format!("ttys{minor:03}"),
        (0, 0) => "console".into(),
        _ => format!("{major}:{minor}"),
    }
}
