//! The calls on a Mac: each fills a buffer and returns the bytes that the kernel wrote, or its errno.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::ptr;

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use super::ffi::{self, Passwd, Timebase};
use super::kernel::{Clocks, Kernel, Own};
use super::layout::PATH_BYTES;
use super::signaller::Sends;
use crate::model::act::Signal;
use crate::model::bytes::OsBytes;
use crate::model::identity::Pid;

/// `sys/sysctl.h`: `CTL_KERN`, and in it `KERN_PROC` with `KERN_PROC_ALL`, and `KERN_PROCARGS2`.
const KERN: c_int = 1;
const PROC: c_int = 14;
const PROC_ALL: c_int = 0;
const PROCARGS2: c_int = 49;
/// Room for the processes that start between the two calls that a list takes.
const SLACK_BYTES: usize = 64 * 1024;
/// How often a list that has grown is asked for again.
const ATTEMPTS: u32 = 8;
/// Most bytes of an entry of the user database.
const PASSWD_BYTES: usize = 16 * 1024;
/// `sys/syslimits.h`: `ARG_MAX`; the kernel refuses a larger buffer.
const ARG_MAX: usize = 1024 * 1024;

/// `sys/proc_info.h`: `PROC_PIDPATHINFO_MAXSIZE`.
const LONGEST_PATH_BYTES: usize = 4 * PATH_BYTES;

/// The running system.
#[derive(Debug, Default)]
pub(super) struct SystemCalls {
    arguments: Vec<u8>,
}

impl Kernel for SystemCalls {
    fn processes(&mut self) -> Result<Vec<u8>, Errno> {
        let mut name = [KERN, PROC, PROC_ALL];
        for _ in 0..ATTEMPTS {
            let mut buffer = vec![0; sysctl(&mut name, &mut [])? + SLACK_BYTES];
            match sysctl(&mut name, &mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Ok(buffer);
                }
                Err(Errno::NOMEM) => {}
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::NOMEM)
    }

    fn process_info(&mut self, pid: Pid, flavour: i32, arg: u64, bytes: usize) -> Result<Vec<u8>, Errno> {
        fill(bytes, |buffer, length| {
            // SAFETY: the kernel writes at most `length` bytes to `buffer`, which has as many.
            unsafe { ffi::proc_pidinfo(raw(pid), flavour, arg, buffer, length) }
        })
    }

    fn descriptor_info(&mut self, pid: Pid, fd: u32, flavour: i32, bytes: usize) -> Result<Vec<u8>, Errno> {
        let fd = c_int::try_from(fd).map_err(|_| Errno::BADF)?;
        fill(bytes, |buffer, length| {
            // SAFETY: the kernel writes at most `length` bytes to `buffer`, which has as many.
            unsafe { ffi::proc_pidfdinfo(raw(pid), fd, flavour, buffer, length) }
        })
    }

    fn arguments(&mut self, pid: Pid) -> Result<Vec<u8>, Errno> {
        // A buffer that is too small gets the end of the answer: always the largest.
        self.arguments.resize(ARG_MAX, 0);
        let length = sysctl(&mut [KERN, PROCARGS2, raw(pid)], &mut self.arguments)?;
        Ok(self.arguments.get(..length).unwrap_or_default().to_vec())
    }

    fn path(&mut self, pid: Pid) -> Result<Vec<u8>, Errno> {
        fill(LONGEST_PATH_BYTES, |buffer, length| {
            // SAFETY: the kernel writes at most `length` bytes to `buffer`, which has as many.
            unsafe { ffi::proc_pidpath(raw(pid), buffer, length.unsigned_abs()) }
        })
    }

    fn session(&mut self, pid: Pid) -> Result<Option<Pid>, Errno> {
        let session = rustix::process::getsid(rustix::process::Pid::from_raw(raw(pid)))?;
        Ok(Pid::new(i64::from(session.as_raw_nonzero().get())))
    }

    fn named(&mut self, name: &str) -> Result<Vec<u8>, Errno> {
        let name = CString::new(name).map_err(|_| Errno::INVAL)?;
        let mut length = 0;
        by_name(&name, ptr::null_mut(), &mut length)?;
        let mut buffer = vec![0_u8; length];
        by_name(&name, buffer.as_mut_ptr().cast(), &mut length)?;
        buffer.truncate(length);
        Ok(buffer)
    }

    fn user(&mut self, uid: u32) -> Option<(OsBytes, OsBytes)> {
        let mut entry = MaybeUninit::<Passwd>::uninit();
        let mut found: *mut Passwd = ptr::null_mut();
        let mut text = vec![0 as c_char; PASSWD_BYTES];
        // SAFETY: all three places are writable, `text` has as many bytes as are named.
        let failed = unsafe {
            ffi::getpwuid_r(
                uid,
                entry.as_mut_ptr(),
                text.as_mut_ptr(),
                text.len(),
                &raw mut found,
            )
        };
        if failed != 0 || found.is_null() {
            return None;
        }
        // SAFETY: without failure and with a result, `entry` is filled.
        let entry = unsafe { entry.assume_init() };
        let text_of = |text: *const c_char| {
            if text.is_null() {
                return OsBytes::default();
            }
            // SAFETY: a field that is not null is a text with a NUL in `text`, which lives until the end.
            OsBytes::from(unsafe { CStr::from_ptr(text) }.to_bytes())
        };
        Some((text_of(entry.name), text_of(entry.directory)))
    }

    fn timebase(&mut self) -> (u32, u32) {
        let mut base = Timebase::default();
        // SAFETY: writes both fields of a structure that is there.
        let failed = unsafe { ffi::mach_timebase_info(&raw mut base) };
        if failed != 0 || base.denominator == 0 {
            return (1, 1);
        }
        (base.numerator, base.denominator)
    }

    fn clocks(&mut self) -> Clocks {
        let wall = clock_gettime(ClockId::Realtime);
        Clocks {
            wall_ms: wall
                .tv_sec
                .saturating_mul(1000)
                .saturating_add(wall.tv_nsec / 1_000_000),
            // Sleep is included here, unlike on Linux.
            since_boot_ns: nanoseconds(ClockId::Monotonic),
            own_cpu_us: nanoseconds(ClockId::ThreadCPUTime) / 1000,
        }
    }

    fn own(&mut self) -> Own {
        let program = std::env::args_os().next().map(OsStringExt::into_vec);
        Own {
            pid: Pid::new(i64::from(std::process::id())).unwrap_or(Pid::INIT),
            uid: rustix::process::geteuid().as_raw(),
            program: program.unwrap_or_default().into(),
            ssh_connection: std::env::var("SSH_CONNECTION").ok(),
            sudo_uid: std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok()),
        }
    }
}

impl Sends for SystemCalls {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one way of a kernel without pidfds; it is said, and journalled"
    )]
    fn kill(&self, pid: Pid, signal: Signal) -> Result<(), Errno> {
        let signal = match signal {
            Signal::Term => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
            Signal::Cont => rustix::process::Signal::CONT,
        };
        let pid = rustix::process::Pid::from_raw(raw(pid)).ok_or(Errno::SRCH)?;
        rustix::process::kill_process(pid, signal)
    }
}

fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

fn raw(pid: Pid) -> c_int {
    // A pid has at most 22 bits.
    c_int::try_from(pid.get()).unwrap_or(0)
}

fn last_error() -> Errno {
    let number = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Errno::from_raw_os_error(number)
}

/// Gives a call of libproc a buffer. It returns how many bytes it has filled; 0 also where it failed, which errno
/// tells from an empty answer.
fn fill(bytes: usize, call: impl FnOnce(*mut c_void, c_int) -> c_int) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0_u8; bytes];
    let length = c_int::try_from(bytes).map_err(|_| Errno::INVAL)?;
    // SAFETY: the address of this thread's errno is always valid.
    unsafe { *ffi::__error() = 0 };
    let filled = call(buffer.as_mut_ptr().cast(), length);
    if filled <= 0 {
        let errno = last_error();
        if errno.raw_os_error() != 0 {
            return Err(errno);
        }
    }
    buffer.truncate(usize::try_from(filled).unwrap_or(0));
    Ok(buffer)
}

/// Asks for a value by numbers. Returns its length; with an empty buffer, the length that it would have.
fn sysctl(name: &mut [c_int], buffer: &mut [u8]) -> Result<usize, Errno> {
    let count = u32::try_from(name.len()).map_err(|_| Errno::INVAL)?;
    let mut length = buffer.len();
    let place = if buffer.is_empty() {
        ptr::null_mut()
    } else {
        buffer.as_mut_ptr().cast()
    };
    // SAFETY: `name` has `count` numbers; `place` is null, or has `length` bytes; nothing is set.
    let failed = unsafe {
        ffi::sysctl(
            name.as_mut_ptr(),
            count,
            place,
            &raw mut length,
            ptr::null_mut(),
            0,
        )
    };
    if failed == 0 {
        Ok(length)
    } else {
        Err(last_error())
    }
}

fn by_name(name: &CStr, place: *mut c_void, length: &mut usize) -> Result<(), Errno> {
    // SAFETY: `name` ends in a NUL; `place` is null, or has `length` bytes by the caller; nothing is set.
    let failed = unsafe { ffi::sysctlbyname(name.as_ptr(), place, &raw mut *length, ptr::null_mut(), 0) };
    if failed == 0 { Ok(()) } else { Err(last_error()) }
}
