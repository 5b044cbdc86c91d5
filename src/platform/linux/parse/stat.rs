//! `/proc/PID/stat` (`proc_pid_stat(5)`), `schedstat`, and what ps(1) makes of them.

use super::{decimal, signed, words};
use crate::model::identity::{Pid, StartKey};

/// `PF_KTHREAD`: the task is a thread of the kernel.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// `PF_FORKNOEXEC`: forked, and no exec since.
const FORKED_NO_EXEC: u64 = 0x40;

/// `PF_EXITING`: it is on its way out; memory and descriptors go first.
const EXITING: u64 = 0x4;

/// The fields of a stat line that this program uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform::linux) struct Stat {
    pub(in crate::platform::linux) pid: Pid,
    pub(in crate::platform::linux) comm: Vec<u8>,
    pub(in crate::platform::linux) state: char,
    pub(in crate::platform::linux) ppid: Option<Pid>,
    pub(in crate::platform::linux) pgid: Option<Pid>,
    pub(in crate::platform::linux) sid: Option<Pid>,
    /// Device number of the terminal; 0: none.
    pub(in crate::platform::linux) tty: u32,
    /// Foreground process group of the terminal.
    pub(in crate::platform::linux) tpgid: Option<Pid>,
    flags: u64,
    /// User and system time, clock ticks.
    pub(in crate::platform::linux) cpu_ticks: u64,
    pub(in crate::platform::linux) nice: i64,
    pub(in crate::platform::linux) threads: u32,
    pub(in crate::platform::linux) start: StartKey,
    pub(in crate::platform::linux) rss_pages: u64,
    /// Addresses that a new program image moves; 0 or 1 without ptrace-level permission.
    pub(in crate::platform::linux) image: (u64, u64),
}

impl Stat {
    /// Parses a line. The name in parentheses may hold any byte, so it ends at the last `)`.
    pub(in crate::platform::linux) fn parse(line: &[u8]) -> Option<Self> {
        let open = line.iter().position(|byte| *byte == b'(')?;
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let comm = line.get(open + 1..close)?.to_vec();
        let pid = Pid::new(signed(line.get(..open)?.trim_ascii())?)?;
        let fields: Vec<&[u8]> = words(line.get(close + 1..)?).collect();
        // Field 3 of the manual page is the first here.
        let field = |number: usize| fields.get(number - 3).copied();
        let whole = |number: usize| field(number).and_then(signed);
        let unsigned = |number: usize| field(number).and_then(decimal);
        let id = |number: usize| whole(number).map(Pid::new);
        let state = match field(3)? {
            [letter] if letter.is_ascii_alphabetic() => char::from(*letter),
            _ => return None,
        };
        Some(Self {
            pid,
            comm,
            state,
            ppid: id(4)?,
            pgid: id(5)?,
            sid: id(6)?,
            // The kernel prints a signed number; the bits are what counts.
            tty: u32::try_from(whole(7)? & 0xffff_ffff).ok()?,
            tpgid: id(8)?,
            flags: unsigned(9)?,
            cpu_ticks: unsigned(14)?.checked_add(unsigned(15)?)?,
            nice: whole(19)?,
            threads: u32::try_from(unsigned(20)?).ok()?,
            start: StartKey(unsigned(22)?),
            rss_pages: u64::try_from(whole(24)?).unwrap_or(0),
            image: (unsigned(26).unwrap_or(0), unsigned(48).unwrap_or(0)),
        })
    }

    /// Returns whether it is a thread of the kernel.
    pub(in crate::platform::linux) fn kernel_thread(&self) -> bool {
        self.flags & KERNEL_THREAD != 0
    }

    /// Returns whether it has given its memory back, as one that exits does before it is a zombie: the start
    /// of its code reads 0 then, and 1 where that may not be told (`do_task_stat` in `fs/proc/array.c`).
    pub(in crate::platform::linux) fn has_no_memory(&self) -> bool {
        self.image.0 == 0
    }

    /// Returns whether it has run no exec since it was forked.
    pub(in crate::platform::linux) fn forked_no_exec(&self) -> bool {
        self.flags & FORKED_NO_EXEC != 0
    }

    /// Returns whether it is on its way out.
    pub(in crate::platform::linux) fn exiting(&self) -> bool {
        self.flags & EXITING != 0
    }

    /// Returns whether it has exited and waits for its parent.
    pub(in crate::platform::linux) fn has_exited(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Returns the state with ps(1)'s marks, in its order.
    pub(in crate::platform::linux) fn marks(&self, pages_locked: bool) -> String {
        let mut text = String::from(self.state);
        let marks = [
            (self.nice < 0, '<'),
            (self.nice > 0, 'N'),
            (pages_locked, 'L'),
            (self.sid == Some(self.pid), 's'),
            (self.threads > 1, 'l'),
            (self.pgid.is_some() && self.pgid == self.tpgid, '+'),
        ];
        text.extend(
            marks
                .into_iter()
                .filter(|(holds, _)| *holds)
                .map(|(_, mark)| mark),
        );
        text
    }
}

/// Returns the three numbers of a `schedstat` line: time on a processor and waiting for one (nanoseconds),
/// and how often it was given one. `None` also where the kernel keeps no such figures and prints zeros.
pub(in crate::platform::linux) fn schedstat(line: &[u8]) -> Option<[u64; 3]> {
    let mut numbers = words(line).map(decimal);
    let all = [numbers.next()??, numbers.next()??, numbers.next()??];
    (all != [0, 0, 0]).then_some(all)
}

/// Returns a terminal's name from its device number, as ps(1) prints it; `None` for 0.
///
/// Majors by the kernel's list of devices; an unknown one is `major:minor`.
pub(in crate::platform::linux) fn terminal_name(device: u32) -> Option<String> {
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & 0x000f_ff00);
    Some(match (major, minor) {
        _ if device == 0 => return None,
        (136..=143, _) => format!("pts/{}", (major - 136) * 256 + minor),
        (4, 0..=63) => format!("tty{minor}"),
        (4, _) => format!("ttyS{}", minor - 64),
        (5, 1) => "console".into(),
        (166, _) => format!("ttyACM{minor}"),
        (188, _) => format!("ttyUSB{minor}"),
        (204, 64..=79) => format!("ttyAMA{}", minor - 64),
        (229, _) => format!("hvc{minor}"),
        _ => format!("{major}:{minor}"),
    })
}
