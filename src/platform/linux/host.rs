//! Facts on the machine and on who looks at it.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStringExt as _;

use super::clock::Moment;
use super::parse::{decimal, process, system};
use super::reader::Reader;
use super::users::Users;
use crate::model::bytes::OsBytes;
use crate::model::host::{Host, Observer, Os};
use crate::model::identity::Pid;
use crate::model::time::UnixMillis;
use crate::platform::SourceError;

pub(super) use crate::platform::ancestry::ancestors;

/// How far the clocks' difference may drift before the time of boot is asked for again.
const CLOCK_STEP_MS: i64 = 500;
/// `loginuid` of a process that no login started.
const NO_LOGIN: u32 = u32::MAX;

/// The machine, with what is needed to keep its changing parts true.
pub(super) struct Machine {
    host: Host,
    clocks_apart_ms: i64,
}

impl Machine {
    /// Reads everything once.
    pub(super) fn read(reader: &mut Reader) -> Result<Self, SourceError> {
        let boot_id = reader
            .system("sys/kernel/random/boot_id")
            .map(|text| String::from_utf8_lossy(text.trim_ascii()).into_owned())
            .map_err(|errno| SourceError {
                path: "sys/kernel/random/boot_id".into(),
                operation: "read".into(),
                reason: format!("{errno}; without it no process can be told from one of another boot"),
            })?;
        let stat = reader.system("stat").map(<[u8]>::to_vec).unwrap_or_default();
        let mut memory = sysinfo::System::new().ok();
        if let Some(system) = memory.as_mut() {
            system.refresh_memory_specifics(sysinfo::MemoryRefreshKind::nothing().with_ram());
        }
        let host = Host {
            hostname: OsBytes::from(sysinfo::System::host_name().unwrap_or_default()),
            os: Os::Linux,
            kernel: sysinfo::System::kernel_version().unwrap_or_default(),
            boot_id,
            booted_at: UnixMillis(0),
            start_units_per_second: rustix::param::clock_ticks_per_second(),
            cpus: u32::try_from(system::processors(&stat)).unwrap_or(u32::MAX),
            load_centi: [0; 3],
            memory_bytes: memory.map_or(0, |system| system.total_memory()),
        };
        let mut machine = Self {
            host,
            clocks_apart_ms: Moment::now().apart_ms(),
        };
        machine.set_boot_time(&stat);
        Ok(machine)
    }

    /// Returns the machine as it is now.
    pub(super) fn now(&mut self, reader: &mut Reader) -> Host {
        let apart = Moment::now().apart_ms();
        if (apart - self.clocks_apart_ms).abs() > CLOCK_STEP_MS {
            self.clocks_apart_ms = apart;
            let stat = reader.system("stat").map(<[u8]>::to_vec).unwrap_or_default();
            self.set_boot_time(&stat);
        }
        if let Ok(load) = sysinfo::System::load_average() {
            self.host.load_centi = [load.one, load.five, load.fifteen].map(centi);
        }
        self.host.clone()
    }

    fn set_boot_time(&mut self, stat: &[u8]) {
        let seconds = system::boot_seconds(stat).and_then(|seconds| i64::try_from(seconds).ok());
        self.host.booted_at = UnixMillis(seconds.map_or(self.clocks_apart_ms, |seconds| seconds * 1000));
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a load average is small and not negative"
)]
fn centi(load: f64) -> u32 {
    (load * 100.0).round() as u32
}

/// Reads who looks. `parent_of` answers from a table of all processes.
pub(super) fn observer(
    reader: &mut Reader,
    users: &Users,
    parent_of: impl Fn(Pid) -> Option<Pid>,
) -> Observer {
    let pid = own_pid(reader);
    let ancestors = ancestors(pid, parent_of);
    let uid = rustix::process::geteuid().as_raw();
    Observer {
        pid,
        uid,
        user: users.name(uid),
        login_uid: login_uid(reader, pid),
        ssh_from: ssh_from(reader, &ancestors),
        program: program(),
        pid_namespace: namespace(reader, pid, "ns/pid"),
        net_namespace: namespace(reader, pid, "ns/net"),
        ancestors,
    }
}

/// Returns the own pid as the proc file system that is read numbers it: it may be that of another pid
/// namespace.
pub(super) fn own_pid(reader: &Reader) -> Pid {
    let seen = rustix::fs::readlinkat(reader.root(), "self", Vec::new())
        .ok()
        .and_then(|text| decimal(text.as_bytes()))
        .and_then(|pid| i64::try_from(pid).ok())
        .and_then(Pid::new);
    seen.or_else(|| Pid::new(i64::from(std::process::id())))
        .unwrap_or(Pid::INIT)
}

fn login_uid(reader: &mut Reader, pid: Pid) -> Option<u32> {
    let number = |text: &[u8]| decimal(text.trim_ascii()).and_then(|uid| u32::try_from(uid).ok());
    let login = reader
        .whole(pid, "loginuid")
        .ok()
        .and_then(number)
        .filter(|uid| *uid != NO_LOGIN);
    login.or_else(|| {
        std::env::var("SUDO_UID")
            .ok()
            .and_then(|uid| number(uid.as_bytes()))
    })
}

/// `SSH_CONNECTION` begins with the address that the session came from. sudo strips it, so the ancestors'
/// environments are asked too.
fn ssh_from(reader: &mut Reader, ancestors: &[Pid]) -> Option<String> {
    const NAME: &str = "SSH_CONNECTION";
    let first = |value: &str| value.split_ascii_whitespace().next().map(str::to_owned);
    if let Some(address) = std::env::var(NAME).ok().and_then(|value| first(&value)) {
        return Some(address);
    }
    let wanted = BTreeSet::from([NAME.to_owned()]);
    ancestors.iter().find_map(|pid| {
        let environment = process::environment(reader.whole(*pid, "environ").ok()?, &wanted);
        environment
            .identifiers
            .get(NAME)
            .and_then(OsBytes::as_str)
            .and_then(first)
    })
}

fn program() -> OsBytes {
    std::env::args_os()
        .next()
        .map(std::ffi::OsString::into_vec)
        .unwrap_or_default()
        .into()
}

fn namespace(reader: &mut Reader, pid: Pid, name: &str) -> Option<u64> {
    process::namespace(reader.link(pid, name).ok()?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_end_at_the_first_process_and_in_a_circle() {
        let pid = |raw| Pid::new(raw).unwrap();
        let chain = |child: Pid| match child.get() {
            9 => Some(pid(5)),
            5 => Some(pid(1)),
            _ => None,
        };
        assert_eq!(ancestors(pid(9), chain), [pid(5), pid(1)]);
        let circle = |child: Pid| Some(pid(if child.get() == 9 { 5 } else { 9 }));
        assert_eq!(ancestors(pid(9), circle), [pid(5)]);
        assert_eq!(ancestors(pid(9), |_| Some(pid(5))), [pid(5)]);
    }
}
