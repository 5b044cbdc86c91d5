//! Facts that never decide alone: what else was seen of an instance.

use crate::model::finding::{End, Fact, Finding, PeerState, Relation};
use crate::model::identity::ProcessKey;
use crate::model::process::Process;
use crate::model::reading::Reading;

use super::court::{Court, context, supporting};
use super::finding::{Case, Judgement};
use super::wire;

/// Above this share of one CPU between two samples a process is called busy, permille.
const BUSY_PERMILLE: u32 = 900;
const SIGTERM_BIT: u64 = 1 << 14;

/// Returns the facts of an instance beside those that decided.
pub(crate) fn of(case: &Case<'_, '_>, judgement: &Judgement) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(sentence) = case.wire.and_then(|wire| wire.place.sentence()) {
        facts.push(supporting("private_wire", sentence, "/proc/PID/fd"));
    }
    about_wire(case, judgement, &mut facts);
    if let Some(server) = case.chain.first() {
        about_server(case.court, server, judgement.finding, &mut facts);
        about_signals(server, &mut facts);
        about_files(server, &mut facts);
    }
    about_titles(case, &mut facts);
    about_launchers(case, &mut facts);
    about_group(case, &mut facts);
    about_namespace(case, &mut facts);
    facts
}

fn about_wire(case: &Case<'_, '_>, judgement: &Judgement, facts: &mut Vec<Fact>) {
    let Some(stdio) = &judgement.stdio else { return };
    let client_reads = |end: &End| {
        end.holders
            .iter()
            .any(|holder| holder.relation == Relation::Client)
    };
    if let Some(stdout) = stdio.stdout.as_ref().filter(|_| case.wire.is_some()) {
        let held_outside = stdout.peer == PeerState::Held;
        if judgement.finding == Finding::Severed && held_outside {
            let who: Vec<String> = stdout
                .holders
                .iter()
                .map(|holder| holder.pid.to_string())
                .collect();
            let text = format!(
                "half open: stdout is still read by {}, stdin has no writer",
                who.join(", ")
            );
            facts.push(supporting("half_open", text, "sock_diag, /proc/*/fd"));
        }
        if judgement.finding == Finding::Attached && stdout.peer == PeerState::None {
            facts.push(supporting(
                "stdout_no_reader",
                "nobody reads its stdout any more",
                "/proc/*/fd",
            ));
        }
    }
    if let Some(stdin) = stdio
        .stdin
        .as_ref()
        .filter(|end| end.holder_count > 1 && client_reads(end))
    {
        facts.push(more_holders(stdin));
    }
    about_unread(case, facts);
}

/// Names the holders beside the client, as far as they are named, and counts the rest.
fn more_holders(stdin: &End) -> Fact {
    let others: Vec<String> = stdin
        .holders
        .iter()
        .filter(|holder| holder.relation != Relation::Client)
        .map(|holder| holder.pid.to_string())
        .collect();
    let named = u32::try_from(stdin.holders.len()).unwrap_or(u32::MAX);
    let rest = match stdin.holder_count.saturating_sub(named) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let text = format!(
        "more than the client hold the other end of stdin: {}{rest}; no end of file comes while one of them \
         lives",
        others.join(", ")
    );
    supporting("more_holders", text, "/proc/*/fd")
}

/// Bytes that wait in the queue of stdin: requests that nobody reads.
fn about_unread(case: &Case<'_, '_>, facts: &mut Vec<Fact>) {
    let Some(end) = case.wire.map(|wire| wire.stdin).filter(|end| end.socket) else {
        return;
    };
    let waiting =
        |sample: &crate::model::sample::Sample| sample.sockets.value()?.unix.get(&end.inode)?.unread;
    let Some(now) = waiting(case.court.sample).filter(|bytes| *bytes > 0) else {
        return;
    };
    let trend = match case.court.previous.and_then(|previous| waiting(&previous.sample)) {
        Some(before) if before < now => ", growing since the sample before",
        Some(before) if before == now => ", as many as in the sample before",
        Some(_) => ", fewer than in the sample before",
        None => "",
    };
    let text = format!("{now} bytes wait unread on stdin{trend}");
    facts.push(supporting("stdin_unread", text, "sock_diag UNIX_DIAG_RQLEN"));
}

fn about_server(court: &Court<'_>, server: &Process, finding: Finding, facts: &mut Vec<Fact>) {
    let stat = format!("/proc/{}/stat", server.key.pid);
    if server.is_stopped() {
        let text =
            "the server is stopped: it reads no end of file, and TERM stays pending until it continues";
        facts.push(supporting("server_stopped", text, stat.clone()));
    }
    if server.lost_main_thread() {
        let text = "its main thread has exited; others run";
        facts.push(supporting("main_thread_exited", text, stat.clone()));
    }
    if let Some(permille) = server.cpu_permille.filter(|permille| *permille >= BUSY_PERMILLE) {
        let percent = permille / 10;
        let text = if finding == Finding::Severed {
            format!(
                "{percent} % of a CPU since the sample before, with nobody to work for: a loop on a dead wire?"
            )
        } else {
            format!("{percent} % of a CPU since the sample before")
        };
        facts.push(supporting("cpu_busy", text, stat));
    }
    if let Some(swapped) = server.swap_bytes.value().filter(|swap| **swap > server.rss_bytes) {
        let text = format!(
            "most of it is swapped out ({} MiB): it has not run for long",
            swapped / (1 << 20)
        );
        facts.push(context(
            "swapped_out",
            text,
            format!("/proc/{}/status VmSwap", server.key.pid),
        ));
    }
    if let Some(sid) = server
        .sid
        .filter(|sid| *sid != server.key.pid && court.by_pid(*sid).is_none())
    {
        let (code, text) = if court.sees_all() {
            (
                "session_leader_gone",
                format!("the leader of its session ({sid}) is gone"),
            )
        } else {
            (
                "session_leader_unseen",
                format!(
                    "the leader of its session ({sid}) is not among the visible processes: gone, or hidden"
                ),
            )
        };
        facts.push(supporting(code, text, format!("/proc/{}/stat", server.key.pid)));
    }
}

fn about_signals(server: &Process, facts: &mut Vec<Fact>) {
    let Reading::Value(masks) = &server.signals else {
        return;
    };
    let source = format!("/proc/{}/status", server.key.pid);
    let text = if masks.pending & SIGTERM_BIT != 0 {
        Some(("term_pending", "TERM was sent to it and is pending"))
    } else if masks.ignored & SIGTERM_BIT != 0 {
        Some(("term_ignored", "it ignores TERM"))
    } else if masks.blocked & SIGTERM_BIT != 0 {
        Some(("term_blocked", "it blocks TERM"))
    } else if masks.caught & SIGTERM_BIT != 0 {
        Some(("term_caught", "it handles TERM itself"))
    } else {
        None
    };
    if let Some((code, text)) = text {
        facts.push(context(code, text, source));
    }
}

fn about_files(server: &Process, facts: &mut Vec<Fact>) {
    let deleted = |path: &Reading<crate::model::bytes::OsBytes>| {
        path.value()
            .is_some_and(|path| path.as_bytes().ends_with(b" (deleted)"))
    };
    let pid = server.key.pid;
    if deleted(&server.exe) {
        facts.push(supporting(
            "exe_deleted",
            "its program file was deleted or replaced",
            format!("/proc/{pid}/exe"),
        ));
    }
    if deleted(&server.cwd) {
        facts.push(supporting(
            "cwd_deleted",
            "its working directory was deleted",
            format!("/proc/{pid}/cwd"),
        ));
    }
    if server.argv_kept {
        facts.push(context(
            "argv_kept",
            "its argv is gone: it was read while it lived",
            format!("/proc/{pid}/cmdline"),
        ));
    }
}

/// A command line that was overwritten says no more what it is; what it said before holds on while the
/// program is the same.
fn about_titles(case: &Case<'_, '_>, facts: &mut Vec<Fact>) {
    for process in &case.chain {
        let identity = case.court.identities.get(process.key);
        if !identity.is_some_and(super::identify::Identity::is_overwritten) {
            continue;
        }
        let pid = process.key.pid;
        let same = if process.image.is_some() {
            "it runs the same program file and memory image as then"
        } else {
            "it runs the same program file as then"
        };
        let text = format!(
            "{} has overwritten its command line since it was identified: {same}",
            case.court.call(process.key)
        );
        let source = format!("/proc/{pid}/cmdline, exe, stat");
        facts.push(supporting("title_overwritten", text, source));
    }
}

fn about_launchers(case: &Case<'_, '_>, facts: &mut Vec<Fact>) {
    for key in &case.draft.launchers {
        let Some(launcher) = case.court.get(*key) else {
            continue;
        };
        if launcher.is_stopped() {
            let text = format!("its launcher {} is stopped", case.court.call(*key));
            facts.push(supporting(
                "launcher_stopped",
                text,
                format!("/proc/{}/stat", key.pid),
            ));
        }
    }
}

fn about_group(case: &Case<'_, '_>, facts: &mut Vec<Fact>) {
    let Some(server) = case.chain.first() else { return };
    let Some(group) = server.pgid else { return };
    let leader = case.court.by_pid(group);
    if leader.is_none() {
        let (code, text) = if case.court.sees_all() {
            (
                "group_without_leader",
                format!("its process group {group} has no leader any more"),
            )
        } else {
            (
                "group_leader_unseen",
                format!(
                    "the leader of its process group ({group}) is not among the visible processes: gone, or \
                     hidden"
                ),
            )
        };
        facts.push(supporting(code, text, format!("/proc/{}/stat", server.key.pid)));
    }
    let strangers: Vec<ProcessKey> = case
        .court
        .sample
        .processes
        .values()
        .filter(|process| process.pgid == Some(group) && !case.members.contains(&process.key))
        .map(|process| process.key)
        .collect();
    if !strangers.is_empty() {
        let named: Vec<String> = strangers
            .iter()
            .take(4)
            .map(|key| case.court.call(*key))
            .collect();
        let more = strangers.len().saturating_sub(named.len());
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more")
        };
        let text = format!(
            "its process group {group} has members of others: {}{more}; a group signal would hit them",
            named.join(", ")
        );
        facts.push(context("shared_group", text, "/proc/*/stat"));
    }
}

fn about_namespace(case: &Case<'_, '_>, facts: &mut Vec<Fact>) {
    let Some(server) = case.chain.first() else { return };
    let observer = &case.court.sample.observer;
    let (Some(own), Some(theirs)) = (observer.pid_namespace, server.pid_namespace.value()) else {
        return;
    };
    if own == *theirs {
        return;
    }
    let inner = server
        .namespace_pids
        .value()
        .and_then(|pids| pids.last().copied());
    let inner = inner.map_or_else(String::new, |pid| format!(", where it is pid {pid}"));
    let text = format!("it lives in another pid namespace{inner}; it can be judged and signalled from here");
    facts.push(context(
        "other_pid_namespace",
        text,
        format!("/proc/{}/ns/pid", server.key.pid),
    ));
}

/// What an instance does now: CPU, state, traffic since the sample before. Nothing after one
/// sample.
pub(crate) fn acts_now(case: &Case<'_, '_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(server) = case.chain.first() else {
        return facts;
    };
    let stat = format!("/proc/{}/stat", server.key.pid);
    if let Some(permille) = server.cpu_permille {
        let text = format!(
            "{}.{} % CPU, state {}",
            permille / 10,
            permille % 10,
            server.state
        );
        facts.push(context("cpu", text, stat));
    }
    let Some(interval) = case.court.interval_ms() else {
        return facts;
    };
    let (Some(now), Some(before)) = (
        case.court.sample.sockets.value(),
        case.court.previous.and_then(|one| one.sample.sockets.value()),
    ) else {
        return facts;
    };
    for key in &case.members {
        let Some(process) = case.court.get(*key) else {
            continue;
        };
        for inode in wire::descriptors(process)
            .iter()
            .filter_map(|one| one.target.inode())
        {
            let (Some(socket), Some(earlier)) = (now.inet.get(&inode), before.inet.get(&inode)) else {
                continue;
            };
            let moved = |now: Option<u64>, before: Option<u64>| {
                now.zip(before).map_or(0, |(a, b)| a.saturating_sub(b))
            };
            let sent = moved(socket.bytes_sent, earlier.bytes_sent);
            let received = moved(socket.bytes_received, earlier.bytes_received);
            if let Some(remote) = socket.remote.filter(|_| sent + received > 0) {
                let text = format!(
                    "{remote}: {sent} bytes sent, {received} received in {} s",
                    interval.div_ceil(1000)
                );
                facts.push(context("traffic", text, "sock_diag INET_DIAG_INFO"));
            }
        }
    }
    facts
}
