//! Entries as sentences, for the list of what was done.

use super::entry::{AttachedFrom, Entry, SnapshotReason};
use super::export::named;
use super::record::moment;
use super::returned;
use super::subject::{InstanceRef, TargetRef};
use crate::model::time::UnixMillis;

/// Returns an entry as a sentence; `None` for what only a record tells.
pub(super) fn sentence(entry: &Entry) -> Option<String> {
    Some(match entry {
        Entry::Opened { title, host, .. } => format!("opened {title} on {host}"),
        Entry::Note { .. } | Entry::SinceRevoked { .. } => return None,
        Entry::Field {
            on,
            field,
            value,
            source,
        } => {
            let value = if value.is_empty() { "withdrawn" } else { value };
            format!("{}: {}, {}: {value}", named(on), field.title(), source.word())
        }
        Entry::Snapshot {
            file,
            processes,
            instances,
            why,
            ..
        } => format!(
            "saved {} ({processes} processes, {instances} instances, {}), sha256 {}",
            file.path,
            reason(*why),
            file.sha256
        ),
        Entry::Attached {
            file, label, from, ..
        } => {
            let from = match from {
                AttachedFrom::Pasted => "pasted".to_owned(),
                AttachedFrom::File { path } => format!("from {path}"),
                AttachedFrom::Command { status, .. } => format!("output of a configured command, {status}"),
            };
            format!(
                "attached {label} ({from}) as {}, sha256 {}",
                file.path, file.sha256
            )
        }
        Entry::Revoked { .. } | Entry::Denied { .. } | Entry::JobCancelled { .. } => {
            return about_authority(entry);
        }
        Entry::ClientUnavailable {
            on,
            after,
            before,
            basis,
            source,
        } => {
            let time = |time: &Option<UnixMillis>| time.map_or_else(|| "an unknown time".to_owned(), moment);
            format!(
                "{}: client unavailable between {} and {} ({basis}; {})",
                named(on),
                time(after),
                time(before),
                source.word()
            )
        }
        Entry::Override { on, missing } => passed_over(on.as_ref(), missing),
        Entry::AboutToSignal { .. } | Entry::Sent { .. } | Entry::Outcome { .. } | Entry::CameBack { .. } => {
            return about_signal(entry);
        }
        Entry::ClockChanged { from, to } => {
            let direction = if to < from { "back" } else { "forward" };
            format!(
                "the clock was set {direction} from {} to {}",
                moment(*from),
                moment(*to)
            )
        }
        Entry::TornTailMoved { to, bytes, .. } => {
            format!("moved an unfinished line of {bytes} bytes to {to}")
        }
        Entry::TerminalLost {} => "the terminal went away".to_owned(),
        Entry::Closed { remaining } => remaining
            .as_ref()
            .map_or_else(|| "closed".to_owned(), |left| format!("closed; left: {left}")),
    })
}

/// Tells which steps were passed over, and of which server.
fn passed_over(on: Option<&InstanceRef>, missing: &[String]) -> String {
    let on = on.map_or_else(String::new, |on| format!("{}: ", named(on)));
    format!("{on}passed over: {}", missing.join(", "))
}

/// What was taken away, with who did it and how.
fn about_authority(entry: &Entry) -> Option<String> {
    Some(match entry {
        Entry::Revoked {
            on,
            lead,
            revoked_at,
            by,
            how,
            done_by,
            done_at,
        } => {
            let by = done_by.as_ref().or(by.as_ref());
            let by = by.map_or_else(String::new, |by| format!(" by {by}"));
            let how = how.as_ref().map_or_else(String::new, |how| format!(" ({how})"));
            format!(
                "{}: revoked {lead} at {}{by}{how}",
                named(on),
                moment(done_at.unwrap_or(*revoked_at))
            )
        }
        Entry::Denied {
            on,
            lead,
            denied_at,
            how,
            done_by,
            done_at,
        } => {
            let by = done_by
                .as_ref()
                .map_or_else(String::new, |by| format!(" by {by}"));
            let at = moment(done_at.unwrap_or(*denied_at));
            let how = how
                .as_ref()
                .map_or_else(|| ", check not named".to_owned(), |how| format!(" ({how})"));
            format!("{}: {lead} was denied at {at}{by}{how}", named(on))
        }
        Entry::JobCancelled {
            on,
            job,
            cancelled_at,
            ..
        } => {
            format!(
                "{}: cancelled remote job {job} at {}",
                named(on),
                moment(*cancelled_at)
            )
        }
        _ => return None,
    })
}

fn about_signal(entry: &Entry) -> Option<String> {
    Some(match entry {
        Entry::AboutToSignal { signal, targets, way } => {
            let called: Vec<String> = targets.iter().map(TargetRef::called).collect();
            format!("announced {signal} to {} by {way}", called.join(", "))
        }
        Entry::Sent {
            signal,
            target,
            way,
            refused,
            ..
        } => match refused {
            Some(why) => format!("{signal} to {} by {way} was refused: {why}", target.called()),
            None => format!("sent {signal} to {} by {way}", target.called()),
        },
        Entry::Outcome {
            signal,
            target,
            outcome,
            after_ms,
            detail,
            ..
        } => {
            let after = after_ms.map_or_else(String::new, |ms| format!(" after {ms} ms"));
            let detail = detail
                .as_ref()
                .map_or_else(String::new, |detail| format!("; {detail}"));
            let called = target.called();
            format!("{signal} to {called}: {}{after}{detail}", outcome.words())
        }
        Entry::CameBack {
            signal,
            target,
            successor,
            parent,
            started_at,
            after_ms,
            ..
        } => format!(
            "{} {}, started {}",
            target.called(),
            returned::words(successor.key, *after_ms, signal, parent.as_ref()),
            moment(*started_at)
        ),
        _ => return None,
    })
}

fn reason(why: SnapshotReason) -> &'static str {
    match why {
        SnapshotReason::Freeze => "frozen screen",
        SnapshotReason::Command => "by command",
        SnapshotReason::BeforeSignal => "before a signal",
        SnapshotReason::AfterSignal => "after a signal",
        SnapshotReason::CopiedIn => "taken before the incident was opened",
    }
}
