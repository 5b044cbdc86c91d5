//! The platform layer against a second reader of the same system, on processes that the test started; and
//! snapshots of another one.

#[cfg(target_os = "linux")]
mod linux;
mod macos;
