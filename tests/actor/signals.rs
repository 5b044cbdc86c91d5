//! Signals to real processes: each outcome, each refusal, and pids that change hands at every moment.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on fails there; what was not tried is said"
)]

mod kit;
mod outcomes;
mod refusals;
mod reuse;
mod ways;

use libtest_mimic::Trial;

/// Plays the one that signals where the environment says so; returns whether it did.
pub(crate) fn play() -> bool {
    outcomes::play_another_user() || ways::play_another_namespace()
}

/// Returns the trials of all parts.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = outcomes::trials();
    trials.extend(refusals::trials());
    trials.extend(ways::trials());
    trials.extend(reuse::trials());
    trials
}
