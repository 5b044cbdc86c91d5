//! Declarations of the calls: each in libSystem, as the header that is named declares it.

use std::ffi::{c_char, c_int, c_void};

/// `mach/mach_time.h`: `struct mach_timebase_info`.
#[repr(C)]
#[derive(Default)]
pub(super) struct Timebase {
    pub(super) numerator: u32,
    pub(super) denominator: u32,
}

/// `pwd.h`: `struct passwd`.
#[repr(C)]
pub(super) struct Passwd {
    pub(super) name: *mut c_char,
    password: *mut c_char,
    uid: u32,
    gid: u32,
    change: i64,
    class: *mut c_char,
    gecos: *mut c_char,
    pub(super) directory: *mut c_char,
    shell: *mut c_char,
    expire: i64,
}

const _: () = {
    assert!(size_of::<Timebase>() == 8);
    assert!(size_of::<Passwd>() == 72);
    assert!(std::mem::offset_of!(Passwd, directory) == 48);
};

// SAFETY: the signatures are those of the headers named at each; arguments are checked where it is called.
unsafe extern "C" {
    /// `libproc.h`.
    pub(super) fn proc_pidinfo(
        pid: c_int,
        flavor: c_int,
        arg: u64,
        buffer: *mut c_void,
        buffersize: c_int,
    ) -> c_int;

    /// `libproc.h`.
    pub(super) fn proc_pidfdinfo(
        pid: c_int,
        fd: c_int,
        flavor: c_int,
        buffer: *mut c_void,
        buffersize: c_int,
    ) -> c_int;

    /// `libproc.h`.
    pub(super) fn proc_pidpath(pid: c_int, buffer: *mut c_void, buffersize: u32) -> c_int;

    /// `sys/sysctl.h`.
    pub(super) fn sysctl(
        name: *mut c_int,
        namelen: u32,
        oldp: *mut c_void,
        oldlenp: *mut usize,
        newp: *mut c_void,
        newlen: usize,
    ) -> c_int;

    /// `sys/sysctl.h`.
    pub(super) fn sysctlbyname(
        name: *const c_char,
        oldp: *mut c_void,
        oldlenp: *mut usize,
        newp: *mut c_void,
        newlen: usize,
    ) -> c_int;

    /// `pwd.h`.
    pub(super) fn getpwuid_r(
        uid: u32,
        entry: *mut Passwd,
        buffer: *mut c_char,
        bytes: usize,
        result: *mut *mut Passwd,
    ) -> c_int;

    /// `mach/mach_time.h`.
    pub(super) fn mach_timebase_info(info: *mut Timebase) -> c_int;

    /// `sys/errno.h`: where errno of this thread is.
    pub(super) fn __error() -> *mut c_int;
}
