//! Plain data: what was read from the system, and what was judged from it.
//!
//! Nothing here does I/O or knows which operating system it was compiled for: the OS is data in
//! the sample. The serde derives are the format of a saved snapshot.

pub mod act;
pub mod bytes;
pub mod descriptor;
pub mod finding;
pub mod host;
pub mod identity;
pub mod instance;
pub mod interest;
pub mod known;
pub mod plan;
pub mod process;
pub mod reading;
pub mod sample;
pub mod socket;
#[cfg(test)]
pub(crate) mod testkit;
pub mod time;
pub mod world;
