//! What servers do since their first revocation: counted with every sample, journalled where somebody
//! will read it or the count could be lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::update::order;
use crate::analysis::since::Counter;
use crate::app::App;
use crate::app::effect::{Effect, Order};
use crate::journal::entry::SinceRevoked;
use crate::journal::{Entry, InstanceRef};
use crate::model::identity::InstanceId;
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// A connection that was opened is journalled this long after the entry before, without being asked for:
/// the machine may go down.
const SOONEST_MS: i64 = 60_000;

/// Servers with a revoked authority.
#[derive(Debug, Default)]
pub(super) struct Tallies(BTreeMap<InstanceId, Tally>);

#[derive(Debug)]
struct Tally {
    on: InstanceRef,
    /// What was journalled before this run began to count.
    before: Option<SinceRevoked>,
    counter: Counter,
    /// The sample that this run counts from.
    from: UnixMillis,
    /// What was ordered last, and when.
    ordered: Option<(SinceRevoked, UnixMillis)>,
}

impl Tally {
    fn figures(&self) -> SinceRevoked {
        let seen = self.counter.activity();
        let before = self.before.unwrap_or(SinceRevoked {
            connections_opened: Some(0),
            bytes_sent: Some(0),
            calls_attempted: None,
            calls_denied: None,
            since: Some(self.from),
        });
        let sum = |before: Option<u64>, more: Option<u64>| before.zip(more).map(|(one, two)| one + two);
        SinceRevoked {
            connections_opened: sum(before.connections_opened, seen.connections_opened),
            bytes_sent: sum(before.bytes_sent, seen.bytes_sent),
            // Nobody reads what goes over the wire.
            calls_attempted: before.calls_attempted,
            calls_denied: before.calls_denied,
            since: before.since,
        }
    }
}

/// Begins to count for servers whose first revocation was journalled; from the newest sample on.
pub(super) fn begin(app: &mut App) {
    if app.options.read_only {
        return;
    }
    let (Some(world), Some(incident)) = (app.feed.newest().map(Arc::clone), &app.keep.incident) else {
        return;
    };
    for thread in incident.story.threads.values() {
        // Of what is gone nothing can be counted.
        let is_there = world.judged.instance(thread.on.id).is_some();
        if is_there && thread.revoked_between().is_some() {
            app.keep.tallies.0.entry(thread.on.id).or_insert_with(|| Tally {
                on: thread.on.clone(),
                before: thread.since,
                counter: Counter::from(&world, thread.on.id),
                from: world.sample.taken_at,
                ordered: thread.since.map(|since| (since, world.sample.taken_at)),
            });
        }
    }
}

/// Counts what a new sample shows.
pub(in crate::app) fn count(app: &mut App, world: &World) -> Vec<Effect> {
    for tally in app.keep.tallies.0.values_mut() {
        tally.counter.add(world);
    }
    let now = world.sample.taken_at;
    let opened = |tally: &Tally| {
        let Some((ordered, at)) = tally.ordered else {
            return false;
        };
        tally.figures().connections_opened > ordered.connections_opened && now.0 - at.0 >= SOONEST_MS
    };
    if app.keep.tallies.0.values().any(opened) {
        return tally(app);
    }
    Vec::new()
}

/// Returns what a server did since its first revocation, where this run counts it.
pub(super) fn figures(app: &App, id: InstanceId) -> Option<SinceRevoked> {
    app.keep.tallies.0.get(&id).map(Tally::figures)
}

/// Has the journal say every count that it does not say yet.
pub(in crate::app) fn tally(app: &mut App) -> Vec<Effect> {
    if app.keep.closing {
        return Vec::new();
    }
    let at = app.now;
    let mut entries = Vec::new();
    for tally in app.keep.tallies.0.values_mut() {
        let counts = tally.figures();
        if tally.ordered.is_none_or(|(ordered, _)| ordered != counts) {
            tally.ordered = Some((counts, at));
            entries.push((tally.on.clone(), counts));
        }
    }
    let mut effects = Vec::new();
    for (on, counts) in entries {
        // A count that could not be written is outdone by this one.
        app.keep.unsaved.retain(
            |one| !matches!(&one.order, Order::Append(entry) if matches!(&**entry, Entry::SinceRevoked { on: known, .. } if known.id == on.id)),
        );
        let what = format!("what {} {} did since", on.name, on.pid());
        let entry = Entry::SinceRevoked { on, counts };
        effects.extend(order(app, Order::Append(Box::new(entry)), what));
    }
    effects
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::app::effect::Effect;
    use crate::app::keep::testkit::{Journal, serve, served};
    use crate::app::testkit::{app, app_with, live, options, press};
    use crate::app::{App, Event, update};
    use crate::journal::Entry;
    use crate::journal::entry::{FieldName, SinceRevoked};
    use crate::model::reading::Reading;
    use crate::model::time::UnixMillis;
    use crate::model::world::World;

    /// The live world so many milliseconds later, with git's connection having sent so much and a second
    /// one in its place where `other`.
    fn later(ms: i64, bytes: u64, other: bool) -> Arc<World> {
        let mut scene = live();
        scene.seq += 1;
        scene.sample.taken_at = UnixMillis(scene.sample.taken_at.0 + ms);
        scene.sample.since_boot_ms = scene.sample.since_boot_ms.saturating_add_signed(ms);
        let Reading::Value(sockets) = &mut scene.sample.sockets else {
            panic!("no sockets")
        };
        let (inode, socket) = sockets.inet.iter_mut().next().expect("a connection");
        socket.bytes_sent = Some(bytes);
        if other {
            let (inode, socket) = (*inode, socket.clone());
            sockets.inet.remove(&inode);
            sockets.inet.insert(inode + 1, socket);
            for process in scene.sample.processes.values_mut() {
                let process = Arc::make_mut(process);
                if let Reading::Value(descriptors) = &mut process.descriptors {
                    for descriptor in descriptors {
                        if let crate::model::descriptor::Target::Socket { inode: one } =
                            &mut descriptor.target
                            && *one == inode
                        {
                            *one = inode + 1;
                        }
                    }
                }
            }
        }
        scene.world()
    }

    fn counts(entries: &[Entry]) -> Vec<(Option<u64>, Option<u64>)> {
        let of = |entry: &Entry| match entry {
            Entry::SinceRevoked { counts, .. } => Some((counts.connections_opened, counts.bytes_sent)),
            _ => None,
        };
        entries.iter().filter_map(of).collect()
    }

    /// An app whose git has its first lead revoked.
    fn revoked() -> (App, Journal) {
        let world = later(0, 100, false);
        let mut app = app(Arc::clone(&world), 100, 40);
        let mut journal = Journal::of(&world);
        served(&mut app, &mut journal, "r T <enter> G v gateway <enter> <esc>");
        (app, journal)
    }

    fn take(app: &mut App, journal: &mut Journal, world: Arc<World>) -> Vec<Entry> {
        let effects = update(app, Event::World(world));
        serve(app, journal, effects)
    }

    #[test]
    fn counting_goes_on_from_sample_to_sample_and_is_journalled_when_the_record_is_shown() {
        let (mut app, mut journal) = revoked();
        for world in [
            later(1000, 150, false),
            later(2000, 7, true),
            later(3000, 160, false),
        ] {
            assert_eq!(take(&mut app, &mut journal, world), [], "not with every sample");
        }
        // 50, then 7 on the other connection, then the first one again, all of whose bytes are counted.
        let written = served(&mut app, &mut journal, "r");
        assert_eq!(counts(&written), [(Some(2), Some(50 + 7 + 160))]);
        let incident = app.keep().incident().expect("an incident");
        let thread = incident.story().threads.values().next().expect("git");
        assert_eq!(
            thread.since,
            Some(SinceRevoked {
                connections_opened: Some(2),
                bytes_sent: Some(217),
                calls_attempted: None,
                calls_denied: None,
                since: Some(UnixMillis(later(0, 100, false).sample.taken_at.0)),
            })
        );
        let record = app.record(thread.on.id).expect("a record");
        let field = record
            .fields
            .iter()
            .find(|field| field.name == FieldName::Revocation)
            .expect("it");
        let told = crate::journal::record::plain(&field.value);
        assert!(
            told.ends_with("seen since then: 2 connections opened, 217 bytes sent, calls: not known"),
            "{told}"
        );
        let written = served(&mut app, &mut journal, "<esc> r <esc>");
        assert_eq!(counts(&written), [], "nothing is new");
    }

    #[test]
    fn a_denial_and_the_end_of_the_program_are_preceded_by_the_count() {
        let (mut app, mut journal) = revoked();
        take(&mut app, &mut journal, later(1000, 130, false));
        let written = served(&mut app, &mut journal, "r G d 401 <enter> <esc>");
        assert_eq!(counts(&written), [(Some(0), Some(30))]);
        assert!(
            matches!(written.last(), Some(Entry::Denied { .. })),
            "{written:?}"
        );
        take(&mut app, &mut journal, later(2000, 131, false));
        let effects = press(&mut app, "q y");
        assert_eq!(effects.last(), Some(&Effect::Quit));
        let written = serve(&mut app, &mut journal, effects);
        assert_eq!(counts(&written), [(Some(0), Some(31))]);
        take(&mut app, &mut journal, later(3000, 132, false));
        let effects = update(&mut app, Event::Leaving);
        assert_eq!(
            counts(&serve(&mut app, &mut journal, effects)),
            [(Some(0), Some(32))]
        );
    }

    #[test]
    fn a_connection_that_was_opened_is_journalled_within_a_minute() {
        let (mut app, mut journal) = revoked();
        served(&mut app, &mut journal, "r <esc>");
        let written = take(&mut app, &mut journal, later(10_000, 5, true));
        assert_eq!(counts(&written), []);
        let written = take(&mut app, &mut journal, later(70_000, 6, true));
        assert_eq!(counts(&written), [(Some(1), Some(6))]);
    }

    #[test]
    fn a_second_run_goes_on_from_what_was_journalled() {
        let (mut app, mut journal) = revoked();
        take(&mut app, &mut journal, later(1000, 150, false));
        served(&mut app, &mut journal, "r <esc>");
        let story = app.keep().incident().expect("an incident").story().clone();
        let mut second = app_with(options(), later(2000, 1000, false), 100, 40);
        second.keep.incident = Some(crate::app::keep::Incident {
            path: "/one".to_owned(),
            story,
            faults: Vec::new(),
        });
        super::begin(&mut second);
        assert_eq!(
            counts(&served(&mut second, &mut journal, "r <esc>")),
            [],
            "it is journalled"
        );
        take(&mut second, &mut journal, later(3000, 1001, false));
        let written = served(&mut second, &mut journal, "r");
        assert_eq!(counts(&written), [(Some(0), Some(51))]);
    }

    #[test]
    fn a_clock_that_was_set_is_journalled_both_ways() {
        let (mut app, mut journal) = revoked();
        let mut moved = |ms: i64| {
            let mut world = World::clone(&later(1000, 100, false));
            world.sample.taken_at = UnixMillis(world.sample.taken_at.0 + ms);
            let at = world.sample.taken_at;
            (take(&mut app, &mut journal, Arc::new(world)), at)
        };
        assert_eq!(moved(2_000).0, [], "slewed");
        let (written, at) = moved(3_600_000);
        assert_eq!(
            written,
            [Entry::ClockChanged {
                from: UnixMillis(at.0 - 3_600_000),
                to: at
            }]
        );
        assert_eq!(moved(3_600_000).0, [], "said once");
        let (written, at) = moved(0);
        assert_eq!(
            written,
            [Entry::ClockChanged {
                from: UnixMillis(at.0 + 3_600_000),
                to: at
            }]
        );
    }
}
