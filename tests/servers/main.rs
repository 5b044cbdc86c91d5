//! Published servers and clients from pinned lock files, in known situations.
//!
//! The packages are installed once into the target directory. A download that fails fails the test
//! that needs it, and names itself.

#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::unwrap_used,
        clippy::panic,
        reason = "a test that cannot go on fails there"
    )
)]

#[cfg(target_os = "linux")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "one test sits before the screen here")]
#[path = "../it/act/desk.rs"]
mod desk;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "one test sits before the screen here")]
#[path = "../it/pty/harness.rs"]
mod harness;
#[cfg(target_os = "linux")]
mod install;
#[cfg(target_os = "linux")]
mod launched;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod situations;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "one test sits before the screen here")]
#[path = "../it/support/mod.rs"]
mod support;

/// Where the tests of the screen have it.
#[cfg(target_os = "linux")]
mod pty {
    pub(crate) use crate::harness;
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    common::watched::adopt_orphans();
    let mut trials = situations::trials();
    trials.push(launched::trial());
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The situations need Linux: pidfds, and a parent that adopts orphans.
#[cfg(not(target_os = "linux"))]
fn main() {}
