//! The platform layer against a second reader of the same system, on processes that the test started.

#[cfg(target_os = "linux")]
mod linux;
