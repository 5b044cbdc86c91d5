//! The store of this user, and who uses it.

use std::sync::Arc;

use anyhow::Context as _;

use super::config::Settings;
use super::machine::Machine;
use crate::model::sample::Sample;
use crate::platform::{self, Ability};
use crate::store::place::state_directory;
use crate::store::{Access, Store};

/// Returns the store of the user who runs the program.
pub(super) fn store(settings: &Settings, machine: &Machine, uid: u32) -> anyhow::Result<Store> {
    let root = state_directory(uid, std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))?;
    let access = if settings.read_only {
        Access::ReadOnly
    } else {
        Access::ReadWrite
    };
    Ok(Store::new(root, uid, access, Arc::clone(machine.redactor())))
}

/// Takes a sample for what it says of host and operator; looks at no process closely.
pub(super) fn glance() -> anyhow::Result<Sample> {
    let mut system = platform::system(Ability::Looks).context("open the process table")?;
    system.source.sample().context("take a sample")
}
