//! What earlier samples showed of one instance and the newest one does not show any more: its client, its
//! parent.

use std::sync::Arc;

use super::observe;
use super::record::{Piece, moment};
use super::story::Unavailable;
use crate::journal::entry::FieldSource;
use crate::model::identity::Pid;
use crate::model::instance::Instance;
use crate::model::process::Process;
use crate::model::time::UnixMillis;
use crate::model::world::World;
use crate::text::redact::Redactor;

/// A dead process that nobody has waited for: it does nothing any more.
const ZOMBIE: char = 'Z';

/// What was seen of one instance, sample by sample, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    client: Option<Client>,
    parent: Option<Parent>,
    /// The parent before the present one.
    earlier: Option<Parent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Client {
    process: Arc<Process>,
    /// When it was last seen.
    seen: UnixMillis,
    /// The first sample without it.
    gone: Option<UnixMillis>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parent {
    pid: Pid,
    /// Its process, where it was seen.
    process: Option<Arc<Process>>,
    seen: UnixMillis,
}

impl Past {
    /// Adds what the next sample shows of the instance.
    pub fn add(&mut self, world: &World, instance: &Instance) {
        self.add_client(world, instance);
        let sample = &world.sample;
        let Some(pid) = sample.get(instance.top).and_then(|top| top.ppid) else {
            return;
        };
        let present = Parent {
            pid,
            process: sample.processes.get(&pid).map(Arc::clone),
            seen: sample.taken_at,
        };
        if let Some(before) = self.parent.replace(present).filter(|before| before.pid != pid) {
            self.earlier = Some(before);
        }
    }

    fn add_client(&mut self, world: &World, instance: &Instance) {
        let sample = &world.sample;
        let wanted = match (&instance.client, &self.client) {
            (Some(client), _) => client.process,
            (None, Some(known)) => known.process.key,
            (None, None) => return,
        };
        let process = sample.processes.get(&wanted.pid);
        let alive = process.filter(|process| process.key == wanted && process.state != ZOMBIE);
        match (alive, &mut self.client) {
            (Some(process), known) => {
                *known = Some(Client {
                    process: Arc::clone(process),
                    seen: sample.taken_at,
                    gone: None,
                });
            }
            (None, Some(known)) if known.process.key == wanted => {
                known.gone.get_or_insert(sample.taken_at);
            }
            (None, _) => {}
        }
    }

    /// Returns between which samples the client has gone; `None`: it was never seen, or is there.
    pub fn unavailable(&self) -> Option<Unavailable> {
        let client = self.client.as_ref()?;
        let gone = client.gone?;
        Some(Unavailable {
            after: Some(client.seen),
            before: Some(gone),
            basis: format!(
                "client {} ({}) was in the first of these samples, not in the second",
                client.process.key.pid,
                client.process.comm.lossy()
            ),
            source: FieldSource::Observed,
        })
    }

    /// Returns whether a client was seen.
    pub(super) fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// Returns the client that was seen and is none any more.
    pub(super) fn client(&self, redactor: &Redactor) -> Option<Vec<Piece>> {
        let client = self.client.as_ref()?;
        let key = client.process.key;
        let state = if client.gone.is_some() {
            "gone since"
        } else {
            "not its client any more"
        };
        Some(vec![
            Piece::Words(format!("{} (start key {})", key.pid, key.start.0)),
            observe::command(&client.process, redactor),
            Piece::Words(format!("last seen {}, {state}", moment(client.seen))),
        ])
    }

    /// Returns the parent before the present one.
    pub(super) fn parent(&self, redactor: &Redactor) -> Option<String> {
        let before = self.earlier.as_ref()?;
        let name = before.process.as_ref();
        let name = name.map_or_else(String::new, |process| {
            format!(" ({})", redactor.line(&process.comm.lossy()))
        });
        Some(format!(
            "before it {}{name}, last seen {}",
            before.pid,
            moment(before.seen)
        ))
    }
}
