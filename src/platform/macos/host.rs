//! Facts on the machine and on who looks at it.

use std::collections::BTreeSet;

use super::decode::{arguments, arguments::Surroundings, system};
use super::kernel::{Clocks, Kernel};
use super::users::Users;
use crate::model::bytes::OsBytes;
use crate::model::host::{Host, Observer, Os};
use crate::model::identity::Pid;
use crate::model::time::UnixMillis;
use crate::platform::SourceError;
use crate::platform::ancestry::ancestors;

const SSH: &str = "SSH_CONNECTION";

/// Reads what does not change while the program runs.
pub(super) fn machine(kernel: &mut dyn Kernel) -> Result<Host, SourceError> {
    let mut text = |name: &str| kernel.named(name).map(|answer| system::text(&answer));
    let boot_id = text("kern.bootsessionuuid").map_err(|errno| SourceError {
        path: "sysctl kern.bootsessionuuid".into(),
        operation: "read".into(),
        reason: format!("{errno}; without it no process can be told from one of another boot"),
    })?;
    let kernel_release = text("kern.osrelease").unwrap_or_default();
    let hostname = text("kern.hostname").unwrap_or_default();
    let mut number = |name: &str| {
        kernel
            .named(name)
            .ok()
            .and_then(|answer| system::number(&answer))
            .unwrap_or(0)
    };
    Ok(Host {
        hostname: OsBytes::from(hostname),
        os: Os::Macos,
        kernel: kernel_release,
        boot_id,
        booted_at: UnixMillis(0),
        start_units_per_second: 1_000_000,
        cpus: u32::try_from(number("hw.ncpu")).unwrap_or(0),
        load_centi: [0; 3],
        memory_bytes: number("hw.memsize"),
    })
}

/// Returns the machine as it is now.
pub(super) fn now(kernel: &mut dyn Kernel, host: &mut Host, clocks: Clocks) -> Host {
    let boot = kernel
        .named("kern.boottime")
        .ok()
        .and_then(|answer| system::boot_time(&answer));
    // Without it: what the clocks say.
    let since_ms = i64::try_from(clocks.since_boot_ns / 1_000_000).unwrap_or(0);
    host.booted_at = boot.unwrap_or(UnixMillis(clocks.wall_ms.saturating_sub(since_ms)));
    if let Some(load) = kernel
        .named("vm.loadavg")
        .ok()
        .and_then(|answer| system::load_centi(&answer))
    {
        host.load_centi = load;
    }
    host.clone()
}

/// Reads who looks. `parent_of` answers from a table of all processes.
pub(super) fn observer(
    kernel: &mut dyn Kernel,
    users: &mut Users,
    parent_of: impl Fn(Pid) -> Option<Pid>,
) -> Observer {
    let own = kernel.own();
    let ancestors = ancestors(own.pid, parent_of);
    let ssh_from = own
        .ssh_connection
        .as_deref()
        .and_then(first_word)
        .or_else(|| ancestors.iter().find_map(|pid| ssh_from(kernel, *pid)));
    Observer {
        pid: own.pid,
        uid: own.uid,
        user: users.name(kernel, own.uid),
        login_uid: own.sudo_uid,
        ssh_from,
        program: own.program,
        pid_namespace: None,
        net_namespace: None,
        ancestors,
    }
}

/// sudo strips the variable, so the ancestors' environments are asked too. It begins with the address that the
/// session came from.
fn ssh_from(kernel: &mut dyn Kernel, pid: Pid) -> Option<String> {
    let wanted = BTreeSet::from([SSH.to_owned()]);
    let found = arguments::decode(&kernel.arguments(pid).ok()?, &wanted)?;
    let Surroundings::Whole(environment) = found.environment else {
        return None;
    };
    environment
        .identifiers
        .get(SSH)
        .and_then(OsBytes::as_str)
        .and_then(first_word)
}

fn first_word(value: &str) -> Option<String> {
    value.split_ascii_whitespace().next().map(str::to_owned)
}
