//! Where a fact was read: written as Linux names it, said as the system of the sample does.

use crate::model::finding::Fact;
use crate::model::host::Os;

/// Names the sources of facts as the system that was read calls them.
pub(crate) fn name(os: Os, facts: &mut [Fact]) {
    if os == Os::Macos {
        for fact in facts {
            fact.source = on_macos(&fact.source);
        }
    }
}

/// A file in `/proc/PID` is a call about that process; socket diagnostics come with the descriptors.
fn on_macos(source: &str) -> String {
    if source.starts_with("sock_diag") {
        return "proc_pidfdinfo PROC_PIDFDSOCKETINFO".to_owned();
    }
    let Some(path) = source.strip_prefix("/proc") else {
        return source.to_owned();
    };
    let mut parts = path.split('/').skip(1);
    let (pid, file) = (parts.next().unwrap_or("*"), parts.next().unwrap_or("stat"));
    let call = match file.split([',', ' ']).next().unwrap_or_default() {
        "fd" => "proc_pidfdinfo",
        "exe" => "proc_pidpath",
        "cwd" => "proc_pidinfo PROC_PIDVNODEPATHINFO",
        "cmdline" | "environ" => "sysctl kern.procargs2",
        _ => "sysctl kern.proc",
    };
    match pid {
        "*" | "PID" => call.to_owned(),
        pid => format!("{call}, pid {pid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::on_macos;

    #[test]
    fn sources_are_named_as_macos_calls_them() {
        for (linux, macos) in [
            ("/proc", "sysctl kern.proc"),
            ("/proc/*/stat", "sysctl kern.proc"),
            ("/proc/PID/stat", "sysctl kern.proc"),
            ("/proc/712/stat", "sysctl kern.proc, pid 712"),
            ("/proc/*/fd, fdinfo", "proc_pidfdinfo"),
            ("/proc/712/fd/0", "proc_pidfdinfo, pid 712"),
            ("/proc/712/cmdline", "sysctl kern.procargs2, pid 712"),
            ("/proc/712/exe", "proc_pidpath, pid 712"),
            ("/proc/712/cwd", "proc_pidinfo PROC_PIDVNODEPATHINFO, pid 712"),
            (
                "sock_diag UNIX_DIAG_PEER, /proc/*/fd",
                "proc_pidfdinfo PROC_PIDFDSOCKETINFO",
            ),
            ("~/.claude.json", "~/.claude.json"),
        ] {
            assert_eq!(on_macos(linux), macos, "{linux}");
        }
    }
}
