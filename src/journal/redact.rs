//! Which parts of an entry are free text: those lose their secrets before they are written.

use super::entry::{AttachedFrom, Entry, FieldName};
use super::subject::{InstanceRef, LeadRef, Subject, TargetRef};
use crate::text::redact::Redactor;

impl Entry {
    /// Removes secrets from everything that a person or another process wrote. Digests, ids, times and
    /// file names of this program stay as they are.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        Removal(redactor).entry(&mut self);
        self
    }
}

struct Removal<'a>(&'a Redactor);

impl Removal<'_> {
    fn entry(&self, entry: &mut Entry) {
        match entry {
            Entry::Opened { title, .. } => self.line(title),
            Entry::Note { on, text } => {
                self.line(text);
                self.subject(on);
            }
            Entry::Attached {
                label,
                on,
                lead,
                from,
                ..
            } => {
                self.line(label);
                self.subject(on);
                self.lead(lead.as_mut());
                self.origin(from);
            }
            Entry::AboutToSignal { targets, .. } => {
                for target in targets {
                    self.target(target);
                }
            }
            Entry::Sent { target, refused, .. } => {
                self.target(target);
                self.some(refused);
            }
            Entry::Outcome { target, detail, .. } => {
                self.target(target);
                self.some(detail);
            }
            Entry::CameBack {
                target,
                successor,
                parent,
                ..
            } => {
                self.target(target);
                self.target(successor);
                if let Some(parent) = parent {
                    self.line(&mut parent.comm);
                }
            }
            Entry::Override { on, missing } => {
                self.name(on.as_mut());
                for text in missing {
                    self.line(text);
                }
            }
            Entry::Closed { remaining } => self.some(remaining),
            _ => self.on_instance(entry),
        }
    }

    fn on_instance(&self, entry: &mut Entry) {
        match entry {
            Entry::Field { on, field, value, .. } => {
                self.line(&mut on.name);
                // A session id is an identifier that the record is for: a random look is its nature.
                if *field != FieldName::Session {
                    self.line(value);
                }
            }
            Entry::Revoked {
                on,
                lead,
                by,
                how,
                done_by,
                ..
            } => {
                self.line(&mut on.name);
                self.lead(Some(lead));
                self.some(by);
                self.some(how);
                self.some(done_by);
            }
            Entry::Denied {
                on,
                lead,
                how,
                done_by,
                ..
            } => {
                self.line(&mut on.name);
                self.lead(Some(lead));
                self.some(how);
                self.some(done_by);
            }
            Entry::JobCancelled { on, by, .. } => {
                self.line(&mut on.name);
                self.some(by);
            }
            Entry::ClientUnavailable { on, basis, .. } => {
                self.line(&mut on.name);
                self.line(basis);
            }
            Entry::SinceRevoked { on, .. } => self.line(&mut on.name),
            Entry::Opened { .. }
            | Entry::Note { .. }
            | Entry::Attached { .. }
            | Entry::AboutToSignal { .. }
            | Entry::Sent { .. }
            | Entry::Outcome { .. }
            | Entry::CameBack { .. }
            | Entry::Override { .. }
            | Entry::Closed { .. }
            | Entry::Snapshot { .. }
            | Entry::ClockChanged { .. }
            | Entry::TornTailMoved { .. }
            | Entry::TerminalLost {} => {}
        }
    }

    fn line(&self, text: &mut String) {
        *text = self.0.line(text);
    }

    fn some(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.line(text);
        }
    }

    fn name(&self, on: Option<&mut InstanceRef>) {
        if let Some(on) = on {
            self.line(&mut on.name);
        }
    }

    fn subject(&self, on: &mut Option<Subject>) {
        match on {
            Some(Subject::Instance(instance)) => self.line(&mut instance.name),
            Some(Subject::Process { comm, .. }) => self.line(comm),
            Some(Subject::Other(text)) => self.line(text),
            None => {}
        }
    }

    fn lead(&self, lead: Option<&mut LeadRef>) {
        if let Some(lead) = lead {
            self.line(&mut lead.target);
        }
    }

    fn origin(&self, from: &mut AttachedFrom) {
        match from {
            AttachedFrom::Pasted => {}
            AttachedFrom::File { path } => self.line(path),
            AttachedFrom::Command { argv, status, .. } => {
                self.arguments(argv);
                self.line(status);
            }
        }
    }

    fn target(&self, target: &mut TargetRef) {
        self.arguments(&mut target.argv);
        self.name(target.instance.as_mut());
    }

    fn arguments(&self, argv: &mut Vec<String>) {
        let redacted = self.0.argv(argv);
        *argv = redacted
            .iter()
            .map(|element| String::from_utf8_lossy(element).into_owned())
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Digest;
    use crate::journal::entry::{FieldSource, FileRef, OutcomeKind};
    use crate::journal::subject::{ParentRef, parse_key};
    use crate::model::finding::LeadKind;
    use crate::model::identity::InstanceId;
    use crate::model::time::UnixMillis;

    /// Made for this test; the shape is that of a GitHub token.
    const TOKEN: &str = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

    fn leaking() -> (InstanceRef, String, LeadRef, TargetRef) {
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
        (on, text, lead, target)
    }

    fn assert_redacted(entries: impl IntoIterator<Item = Entry>) {
        let redactor = Redactor::builtin().unwrap();
        for entry in entries {
            assert!(format!("{entry:?}").contains(TOKEN));
            let redacted = format!("{:?}", entry.redacted(&redactor));
            assert!(!redacted.contains(TOKEN), "{redacted}");
            assert!(redacted.contains("<redacted:"), "{redacted}");
        }
    }

    #[test]
    fn what_was_written_and_attached_keeps_no_token() {
        let (on, text, lead, target) = leaking();
        let at = UnixMillis(0);
        let file = FileRef {
            path: "attachments/1".to_owned(),
            bytes: 1,
            sha256: Digest::ZERO,
        };
        assert_redacted([
            Entry::Note {
                on: Some(Subject::Other(text.clone())),
                text: text.clone(),
            },
            Entry::Attached {
                file,
                label: text.clone(),
                on: Some(Subject::Instance(on.clone())),
                lead: Some(lead),
                from: AttachedFrom::Command {
                    argv: target.argv,
                    started_at: at,
                    ended_at: at,
                    status: text.clone(),
                },
            },
            Entry::Field {
                on,
                field: FieldName::Server,
                value: text.clone(),
                source: FieldSource::Entered,
            },
            Entry::Closed {
                remaining: Some(text),
            },
        ]);
    }

    #[test]
    fn what_was_done_keeps_no_token() {
        let (on, text, lead, target) = leaking();
        let at = UnixMillis(0);
        assert_redacted([
            Entry::Revoked {
                on: on.clone(),
                lead: lead.clone(),
                revoked_at: at,
                by: Some(text.clone()),
                how: Some(text.clone()),
                done_by: Some(text.clone()),
                done_at: None,
            },
            Entry::Denied {
                on: on.clone(),
                lead,
                denied_at: at,
                how: Some(text.clone()),
                done_by: Some(text.clone()),
                done_at: None,
            },
            Entry::ClientUnavailable {
                on: on.clone(),
                after: None,
                before: None,
                basis: text.clone(),
                source: FieldSource::Entered,
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
                target: target.clone(),
                outcome: OutcomeKind::Exited,
                after_ms: None,
                detail: Some(text.clone()),
                announced: None,
            },
            Entry::CameBack {
                signal: "TERM".to_owned(),
                parent: Some(ParentRef {
                    key: target.key,
                    comm: text,
                }),
                successor: target.clone(),
                target,
                started_at: at,
                after_ms: Some(1),
                seen_at: at,
                announced: 1,
            },
        ]);
    }
}
