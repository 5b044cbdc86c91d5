//! What this user may not see on this machine: there, a pipe without a visible writer proves nothing.

use std::collections::BTreeMap;

/// A process as far as everybody may see it.
struct Seen {
    parent: u32,
    session: u32,
    uid: u32,
}

/// Returns whether somebody who might hold the other end of a server's pipe cannot be looked into:
/// a process of the same user or session, or an ancestor of the test. A pipe whose writer is not
/// seen is then no severed one: it has to be called unknown.
pub(crate) fn hides_writers() -> bool {
    // Hidden altogether from this user (`hidepid`).
    if !std::path::Path::new("/proc/1").exists() {
        return true;
    }
    let processes: BTreeMap<u32, Seen> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, look(pid)?))
        })
        .collect();
    let own = &processes[&std::process::id()];
    let mut ancestors = Vec::new();
    let mut above = own.parent;
    while let Some(process) = processes.get(&above) {
        ancestors.push(above);
        above = process.parent;
    }
    processes.iter().any(|(pid, process)| {
        let close = process.uid == own.uid || process.session == own.session || ancestors.contains(pid);
        close && *pid != 1 && is_closed(*pid) && runs(*pid)
    })
}

/// Its own user is refused the descriptors of a process that has ended or is about to (`PF_EXITING`), too.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let mut fields = stat
        .rsplit_once(')')
        .map_or("", |(_, rest)| rest)
        .split_whitespace();
    let state = fields.next();
    let flags = fields.nth(5).and_then(|flags| flags.parse::<u64>().ok());
    state.is_some_and(|state| !matches!(state, "Z" | "X")) && flags.is_some_and(|flags| flags & 4 == 0)
}

fn look(pid: u32) -> Option<Seen> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    Some(Seen {
        parent,
        session,
        uid: uid.split_whitespace().next()?.parse().ok()?,
    })
}

/// Root without the right to trace may list the directory, and read nothing in it.
fn is_closed(pid: u32) -> bool {
    let denied = |error: &std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
    match std::fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(entries) => entries
            .flatten()
            .any(|entry| std::fs::read_link(entry.path()).as_ref().is_err_and(denied)),
        Err(error) => denied(&error),
    }
}
