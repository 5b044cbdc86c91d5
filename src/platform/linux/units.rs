//! Services and their main processes, from what the kernel and the process itself tell: the service manager
//! is not asked.
//!
//! The control group names the unit: the kernel's word. systemd (248 and later) starts a service's process with
//! `SYSTEMD_EXEC_PID` set to that process's own pid; what it starts in turn inherits the variable, with a number
//! that is not its own. A service that forks away from the process that was started (`Type=forking`) has no
//! main process by this rule.

use crate::model::identity::Pid;
use crate::model::process::Process;
use crate::model::sample::Unit;

/// The variable that names the process which systemd started.
pub(super) const EXEC_PID: &str = "SYSTEMD_EXEC_PID";

/// Returns the service that a process belongs to, with the process as the main one where it is that.
pub(super) fn unit(process: &Process, exec_pid: Option<u32>) -> Option<Unit> {
    let (manager, name) = service(process.cgroup.value()?.as_bytes())?;
    let own = |pid: Pid| {
        let inner = process.namespace_pids.value().map_or(&[][..], Vec::as_slice);
        exec_pid.is_some_and(|started| started == pid.get() || inner.contains(&started))
    };
    let name = String::from_utf8_lossy(name).into_owned();
    Some(Unit {
        manager: manager.into(),
        name,
        main_pid: Some(process.key.pid).filter(|pid| own(*pid)),
    })
}

/// Returns manager and name of the service that a control group is, or lies in. A scope is no service: nobody
/// restarts what runs there.
fn service(group: &[u8]) -> Option<(&'static str, &[u8])> {
    let mut units = group
        .split(|byte| *byte == b'/')
        .filter(|part| part.ends_with(b".service") || part.ends_with(b".scope") && *part != b"init.scope");
    let first = units.next()?;
    let (manager, unit) = match units.next() {
        Some(own) if first.starts_with(b"user@") => ("systemd --user", own),
        // A service that delegates its group has others below: they are its own affair.
        _ => ("systemd", first),
    };
    unit.ends_with(b".service").then_some((manager, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_names_the_service_and_its_manager() {
        for (group, expected) in [
            ("/system.slice/nginx.service", Some(("systemd", "nginx.service"))),
            ("/system.slice/a.service/worker", Some(("systemd", "a.service"))),
            (
                "/user.slice/user-1000.slice/user@1000.service/init.scope",
                Some(("systemd", "user@1000.service")),
            ),
            (
                "/user.slice/user-1000.slice/user@1000.service/app.slice/mcp.service",
                Some(("systemd --user", "mcp.service")),
            ),
            (
                "/user.slice/user-1000.slice/user@1000.service/app.slice/term-7.scope",
                None,
            ),
            ("/user.slice/user-1000.slice/session-3.scope", None),
            (
                "/system.slice/containerd.service/x.service",
                Some(("systemd", "containerd.service")),
            ),
            ("/init.scope", None),
            ("/", None),
            ("", None),
        ] {
            let found = service(group.as_bytes());
            let expected = expected.map(|(manager, name)| (manager, name.as_bytes()));
            assert_eq!(found, expected, "{group}");
        }
    }
}
