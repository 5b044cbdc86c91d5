//! Which parts of an entry are free text: those lose their secrets before they are written.

use super::entry::{AttachedFrom, Entry, FieldName};
use super::subject::{LeadRef, Subject, TargetRef};
use crate::text::redact::Redactor;

impl Entry {
    /// Removes secrets from everything that a person or another process wrote. Digests, ids, times and
    /// file names of this program stay as they are.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        let line = |text: &mut String| *text = redactor.line(text);
        let some = |text: &mut Option<String>| {
            if let Some(text) = text {
                line(text);
            }
        };
        match &mut self {
            Self::Opened { title, .. } => line(title),
            Self::Note { on, text } => {
                line(text);
                subject(on.as_mut(), redactor);
            }
            Self::Attached {
                label,
                on,
                lead,
                from,
                ..
            } => {
                line(label);
                subject(on.as_mut(), redactor);
                if let Some(lead) = lead {
                    lead_text(lead, redactor);
                }
                match from {
                    AttachedFrom::Pasted => {}
                    AttachedFrom::File { path } => line(path),
                    AttachedFrom::Command { argv, status, .. } => {
                        arguments(argv, redactor);
                        line(status);
                    }
                }
            }
            Self::Field { on, field, value, .. } => {
                line(&mut on.name);
                // A session id is an identifier that the record is for: a random look is its nature.
                if *field != FieldName::Session {
                    line(value);
                }
            }
            Self::Revoked {
                on, lead, by, how, ..
            } => {
                line(&mut on.name);
                lead_text(lead, redactor);
                some(by);
                some(how);
            }
            Self::Denied { on, lead, how, .. } => {
                line(&mut on.name);
                lead_text(lead, redactor);
                some(how);
            }
            Self::JobCancelled { on, by, .. } => {
                line(&mut on.name);
                some(by);
            }
            Self::SinceRevoked { on, .. } => line(&mut on.name),
            Self::Override { on, missing } => {
                if let Some(on) = on {
                    line(&mut on.name);
                }
                missing.iter_mut().for_each(line);
            }
            Self::AboutToSignal { targets, .. } => {
                targets.iter_mut().for_each(|one| target(one, redactor));
            }
            Self::Sent {
                target: one, refused, ..
            } => {
                target(one, redactor);
                some(refused);
            }
            Self::Outcome {
                target: one, detail, ..
            } => {
                target(one, redactor);
                some(detail);
            }
            Self::Closed { remaining } => some(remaining),
            Self::Snapshot { .. }
            | Self::ClockChanged { .. }
            | Self::TornTailMoved { .. }
            | Self::TerminalLost {} => {}
        }
        self
    }
}

fn subject(on: Option<&mut Subject>, redactor: &Redactor) {
    match on {
        Some(Subject::Instance(instance)) => instance.name = redactor.line(&instance.name),
        Some(Subject::Process { comm, .. }) => *comm = redactor.line(comm),
        Some(Subject::Other(text)) => *text = redactor.line(text),
        None => {}
    }
}

fn lead_text(lead: &mut LeadRef, redactor: &Redactor) {
    lead.target = redactor.line(&lead.target);
}

fn target(target: &mut TargetRef, redactor: &Redactor) {
    arguments(&mut target.argv, redactor);
    if let Some(instance) = &mut target.instance {
        instance.name = redactor.line(&instance.name);
    }
}

fn arguments(argv: &mut Vec<String>, redactor: &Redactor) {
    let redacted = redactor.argv(argv);
    *argv = redacted
        .iter()
        .map(|element| String::from_utf8_lossy(element).into_owned())
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::subject::{InstanceRef, parse_key};
    use crate::model::finding::LeadKind;
    use crate::model::identity::InstanceId;
    use crate::model::time::UnixMillis;

    /// Made for this test; the shape is that of a GitHub token.
    const TOKEN: &str = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

    #[test]
    fn no_free_text_keeps_a_token() {
        let redactor = Redactor::builtin().unwrap();
        let on = InstanceRef {
            id: InstanceId(parse_key("48271-8123411").unwrap()),
            name: format!("git --token={TOKEN}"),
        };
        let text = format!("curl https://user:{TOKEN}@example.org/");
        let lead = LeadRef {
            letter: "a".to_owned(),
            kind: LeadKind::Ssh,
            target: text.clone(),
        };
        let target = TargetRef {
            key: on.id.0,
            pidfd_inode: None,
            argv: vec!["server".to_owned(), "--token".to_owned(), TOKEN.to_owned()],
            instance: Some(on.clone()),
        };
        let at = UnixMillis(0);
        let file = crate::journal::entry::FileRef {
            path: "attachments/1".to_owned(),
            bytes: 1,
            sha256: crate::journal::Digest::ZERO,
        };
        let entries = [
            Entry::Note {
                on: Some(Subject::Other(text.clone())),
                text: text.clone(),
            },
            Entry::Attached {
                file,
                label: text.clone(),
                on: Some(Subject::Instance(on.clone())),
                lead: Some(lead.clone()),
                from: AttachedFrom::Command {
                    argv: target.argv.clone(),
                    started_at: at,
                    ended_at: at,
                    status: text.clone(),
                },
            },
            Entry::Field {
                on: on.clone(),
                field: FieldName::Server,
                value: text.clone(),
                source: crate::journal::entry::FieldSource::Entered,
            },
            Entry::Revoked {
                on: on.clone(),
                lead: lead.clone(),
                revoked_at: at,
                by: Some(text.clone()),
                how: Some(text.clone()),
            },
            Entry::Denied {
                on: on.clone(),
                lead,
                denied_at: at,
                how: Some(text.clone()),
            },
            Entry::Override {
                on: Some(on),
                missing: vec![text.clone()],
            },
            Entry::AboutToSignal {
                signal: "TERM".to_owned(),
                targets: vec![target.clone()],
                way: "pidfd".to_owned(),
            },
            Entry::Outcome {
                signal: "TERM".to_owned(),
                target,
                outcome: crate::journal::entry::OutcomeKind::Exited,
                after_ms: None,
                detail: Some(text.clone()),
            },
            Entry::Closed {
                remaining: Some(text),
            },
        ];
        for entry in entries {
            assert!(format!("{entry:?}").contains(TOKEN));
            let redacted = format!("{:?}", entry.redacted(&redactor));
            assert!(!redacted.contains(TOKEN), "{redacted}");
            assert!(redacted.contains("<redacted:"), "{redacted}");
        }
    }
}
