//! The platform layer against a second reader of the same system, on processes that the test started.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail the test they serve"
)]

#[cfg(target_os = "linux")]
mod linux;
