//! Processes in known situations, and what the program says of them.
//!
//! The binary plays every process itself: it starts again under the name and arguments of a client,
//! a launcher or a server, and does what a part says. Nothing is asserted about the machine: only
//! about the pids that a stage has started.

#![cfg_attr(
    target_os = "linux",
    expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")
)]

#[cfg(target_os = "linux")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod part;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
#[path = "../common/public.rs"]
mod public;
#[cfg(target_os = "linux")]
#[path = "../common/short.rs"]
mod short;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod situations;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod undisturbed;
#[cfg(target_os = "linux")]
mod unlisted;
#[cfg(target_os = "linux")]
mod unseen;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    if let Some(part) = part::of_this_process() {
        part::play(&part);
        return std::process::ExitCode::SUCCESS;
    }
    if signals::play() {
        return std::process::ExitCode::SUCCESS;
    }
    let arguments = libtest_mimic::Arguments::from_args();
    common::watched::adopt_orphans();
    let mut trials = situations::trials();
    trials.extend(programs::trials());
    trials.extend(undisturbed::trials());
    trials.extend(signals::trials());
    trials.extend(unlisted::trials());
    let beside_each_other = libtest_mimic::run(&arguments, trials);
    let arguments = libtest_mimic::Arguments {
        test_threads: Some(1),
        ..arguments
    };
    let one_by_one = libtest_mimic::run(&arguments, unlisted::trials_alone());
    if beside_each_other.has_failed() {
        return beside_each_other.exit_code();
    }
    one_by_one.exit_code()
}

/// The situations need Linux: pidfds, and a parent that adopts orphans.
#[cfg(not(target_os = "linux"))]
fn main() {}
