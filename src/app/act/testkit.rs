//! A desk that answers as it is told, for the tests of signals: it sends nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::app::effect::{Effect, JobId, Order, Outcome, Signalling};
use crate::app::freeze::SavedFile;
use crate::app::keep::testkit::{Journal, opened};
use crate::app::testkit::{NOW, Scene, app_with, options, press};
use crate::app::{App, Event, Options, update};
use crate::journal::entry::{FileRef, OutcomeKind, SnapshotReason};
use crate::journal::{Digest, Entry};
use crate::model::act::{Look, Sent, Standing, Target, Watched, Way};
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// A screen, its desk and the journal in memory.
pub(crate) struct Bench {
    pub(crate) app: App,
    pub(crate) journal: Journal,
    /// The machine that a look reads.
    pub(crate) machine: Arc<World>,
    /// What a look finds of a pid, where it is not the same.
    pub(crate) looks: BTreeMap<u32, Standing>,
    pub(crate) way: Way,
    /// What becomes of the next signals; accepted where there is none.
    pub(crate) sent: VecDeque<Result<Sent, String>>,
    /// Why nothing can be saved.
    pub(crate) disk_full: Option<String>,
    /// Whether the desk journals the outcome of what it did not send.
    pub(crate) desk_tells: bool,
    /// Whether looks and the opening of incidents are left unanswered.
    pub(crate) slow: bool,
    /// Every signal that was ordered.
    pub(crate) signals: Vec<Signalling>,
    /// Every entry that was written, in order; saves stand for their snapshot entries.
    pub(crate) written: Vec<Entry>,
    /// The last signal that was accepted.
    pub(crate) last: Option<JobId>,
}

impl Bench {
    pub(crate) fn new(scene: Scene) -> Self {
        Self::with(options(), scene, (80, 24))
    }

    pub(crate) fn with(options: Options, scene: Scene, size: (u16, u16)) -> Self {
        let world = scene.world();
        Self {
            app: app_with(options, Arc::clone(&world), size.0, size.1),
            journal: Journal::of(&world),
            machine: world,
            looks: BTreeMap::new(),
            way: Way::KeptPidfd,
            sent: VecDeque::new(),
            disk_full: None,
            slow: false,
            desk_tells: false,
            signals: Vec::new(),
            written: Vec::new(),
            last: None,
        }
    }

    /// Presses keys, one after the other, and answers what each of them orders.
    pub(crate) fn press(&mut self, script: &str) {
        for word in script.split_whitespace() {
            let effects = press(&mut self.app, word);
            self.serve(effects);
        }
    }

    pub(crate) fn event(&mut self, event: Event) {
        let effects = update(&mut self.app, event);
        self.serve(effects);
    }

    /// Answers every order, and whatever the answers order.
    pub(crate) fn serve(&mut self, effects: Vec<Effect>) {
        let mut queue: VecDeque<Effect> = effects.into();
        while let Some(effect) = queue.pop_front() {
            let Effect::Desk(job, order) = effect else {
                continue;
            };
            if let Some(outcome) = self.answer(job, order) {
                queue.extend(update(&mut self.app, Event::Done(job, outcome)));
            }
        }
    }

    fn answer(&mut self, job: JobId, order: Order) -> Option<Outcome> {
        Some(match order {
            Order::Look(targets) if !self.slow => {
                Outcome::Looked(targets.iter().map(|target| self.look(target)).collect())
            }
            Order::Open { title, on, .. } if !self.slow => {
                let (entry, answer) = opened(&mut self.journal, title, &on);
                self.written.push(entry);
                Outcome::Opened(Ok(answer))
            }
            Order::Append(entry) => Outcome::Written(match &self.disk_full {
                Some(why) => Err(why.clone()),
                None => Ok(vec![self.write(*entry)]),
            }),
            Order::Save { world, why } => Outcome::Saved(match &self.disk_full {
                Some(why) => Err(why.clone()),
                None => Ok(self.save(&world, why)),
            }),
            Order::Signal(signal) => self.signal(job, *signal),
            Order::FindOpen(_)
            | Order::Follow
            | Order::Leave(_)
            | Order::Look(_)
            | Order::Open { .. }
            | Order::Attach(_)
            | Order::Copy(_)
            | Order::Run(_) => {
                return None;
            }
        })
    }

    fn write(&mut self, entry: Entry) -> crate::journal::Line {
        let line = self.journal.add(&entry);
        self.written.push(entry);
        line
    }

    fn save(&mut self, world: &World, why: SnapshotReason) -> (SavedFile, Vec<crate::journal::Line>) {
        let sha256 = Digest::of(world.sample.taken_at.rfc3339().as_bytes());
        let entry = Entry::Snapshot {
            file: FileRef {
                path: "snapshots/one.json".to_owned(),
                bytes: 1,
                sha256,
            },
            taken_at: world.sample.taken_at,
            processes: 1,
            instances: 1,
            why,
        };
        let line = self.write(entry);
        let file = SavedFile {
            path: "/var/lib/mcpwake/snapshots/one.json".to_owned(),
            sha256,
        };
        (file, vec![line])
    }

    fn look(&self, target: &Target) -> Look {
        let pid = target.key.pid.get();
        let process = self.machine.sample.get(target.key);
        let standing = self.looks.get(&pid).cloned();
        let standing = standing.unwrap_or_else(|| match process {
            Some(process) => Standing::Same(Box::new(process.clone())),
            None => Standing::Gone,
        });
        Look {
            at: UnixMillis(NOW + 500),
            standing,
            way: self.way,
        }
    }

    fn signal(&mut self, job: JobId, signal: Signalling) -> Outcome {
        let sent = self.sent.pop_front().unwrap_or(Ok(Sent::Accepted));
        let named = signal.named.clone();
        let word = signal.signal.word().to_owned();
        self.signals.push(signal);
        let sent = match sent {
            Ok(sent) => sent,
            Err(why) => return Outcome::Signalled(Err(why)),
        };
        let about = self.write(Entry::AboutToSignal {
            signal: word.clone(),
            targets: vec![named.clone()],
            way: self.way.word().to_owned(),
        });
        if let Sent::Withheld(_) = sent {
            return Outcome::Signalled(Ok((sent, vec![about])));
        }
        let refused = match &sent {
            Sent::Refused(why) => Some(why.clone()),
            Sent::Accepted | Sent::Withheld(_) => None,
        };
        if sent == Sent::Accepted {
            self.last = Some(job);
        }
        let line = self.write(Entry::Sent {
            signal: word.clone(),
            target: named.clone(),
            way: self.way.word().to_owned(),
            refused,
            announced: None,
        });
        let mut lines = vec![about, line];
        if self.desk_tells && sent != Sent::Accepted {
            lines.push(self.write(Entry::Outcome {
                signal: word,
                target: named,
                outcome: OutcomeKind::NotPermitted,
                after_ms: None,
                detail: None,
                announced: None,
            }));
        }
        Outcome::Signalled(Ok((sent, lines)))
    }

    /// Answers the wait of the last signal.
    pub(crate) fn watched(&mut self, exited_after_ms: Option<u64>) {
        let job = self.last.expect("a signal that was accepted");
        let watched = Watched {
            exited_after_ms,
            at: UnixMillis(NOW + 3000),
        };
        self.event(Event::Done(job, Outcome::Watched(watched)));
    }

    /// The next sample, so many milliseconds after the first.
    pub(crate) fn later(&mut self, ms: i64, mut scene: Scene) {
        scene.seq = 100 + u64::try_from(ms).expect("a positive time");
        scene.sample.taken_at = UnixMillis(NOW + ms);
        scene.sample.since_boot_ms += u64::try_from(ms).expect("a positive time");
        self.event(Event::World(scene.world()));
    }

    pub(crate) fn said(&self) -> &str {
        self.app.status().unwrap_or_default()
    }

    /// Pids that were signalled, in order.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.signals.iter().map(|one| one.target.key.pid.get()).collect()
    }
}
