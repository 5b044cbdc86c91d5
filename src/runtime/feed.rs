//! The collector's thread: samples and judges at its own pace; the screen takes the newest.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::app::{Demand, Opened};
use crate::model::world::World;

use super::collector::Collector;
use super::fault;
use super::follow::Follower;

/// What the collector has to say.
#[derive(Clone, Debug)]
pub(super) enum Update {
    /// Nothing yet.
    Waiting,
    /// A judged sample.
    World(Arc<World>),
    /// No sample could be taken.
    Problem(String),
    /// A world that was saved, and the incident that it is from as its journal is now.
    Saved(Arc<World>, Option<Opened>),
}

#[derive(Clone, Copy, Debug)]
struct Order {
    demand: Demand,
    every: Duration,
}

/// A running collector. Dropping it asks it to end and does not wait: a sample that hangs in the
/// kernel must not keep the program.
pub(super) struct Feed {
    order: Arc<Mutex<Order>>,
    wake: mpsc::Sender<()>,
    /// The newest update; older ones are dropped, never queued.
    pub(super) updates: watch::Receiver<Update>,
}

impl Feed {
    /// Starts the thread.
    pub(super) fn start(collector: Collector, every: Duration) -> std::io::Result<Self> {
        let order = Arc::new(Mutex::new(Order {
            demand: Demand::default(),
            every,
        }));
        let (wake, woken) = mpsc::channel();
        let (sender, updates) = watch::channel(Update::Waiting);
        let shared = Arc::clone(&order);
        std::thread::Builder::new()
            .name("collector".to_owned())
            .spawn(move || run(collector, &shared, &woken, &sender))?;
        Ok(Self { order, wake, updates })
    }

    /// Starts a thread that shows what was saved, and what is added to it.
    pub(super) fn follow(mut follower: Follower, every: Duration) -> std::io::Result<Self> {
        let order = Arc::new(Mutex::new(Order {
            demand: Demand::default(),
            every,
        }));
        let (wake, woken) = mpsc::channel();
        let (sender, updates) = watch::channel(Update::Waiting);
        std::thread::Builder::new()
            .name("follower".to_owned())
            .spawn(move || {
                loop {
                    let update = follower.look();
                    if update.is_some_and(|update| sender.send(update).is_err()) {
                        return;
                    }
                    if woken.recv_timeout(every) == Err(RecvTimeoutError::Disconnected) {
                        return;
                    }
                }
            })?;
        Ok(Self { order, wake, updates })
    }

    /// Tells what the screen needs; the next sample follows at once where the selection is new.
    pub(super) fn demand(&self, demand: Demand) {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let new = order.demand != demand;
        order.demand = demand;
        drop(order);
        if new {
            // The thread may have ended; the loop learns that from the closed channel.
            let _ = self.wake.send(());
        }
    }

    /// Changes the time between two samples.
    pub(super) fn pace(&self, every: Duration) {
        self.order.lock().unwrap_or_else(PoisonError::into_inner).every = every;
    }
}

/// A changed selection is answered soon, but a held arrow key must not make a sample per row.
const SOONEST: Duration = Duration::from_millis(250);

fn run(
    mut collector: Collector,
    order: &Mutex<Order>,
    woken: &mpsc::Receiver<()>,
    sender: &watch::Sender<Update>,
) {
    loop {
        let begun = Instant::now();
        fault::point("collector");
        let demand = order.lock().unwrap_or_else(PoisonError::into_inner).demand;
        let update = match collector.next(demand.selected) {
            Ok(world) => Update::World(world),
            Err(error) => Update::Problem(error.to_string()),
        };
        if sender.send(update).is_err() {
            return;
        }
        let every = order.lock().unwrap_or_else(PoisonError::into_inner).every;
        let mut due = begun + every;
        while let Some(rest) = due
            .checked_duration_since(Instant::now())
            .filter(|rest| !rest.is_zero())
        {
            match woken.recv_timeout(rest) {
                Ok(()) => due = due.min((begun + SOONEST).max(Instant::now() + Duration::from_millis(30))),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        while woken.try_recv().is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::{Duration, Instant};

    use super::{Feed, Update};
    use crate::app::Demand;
    use crate::catalog::Catalog;
    use crate::model::host::Os;
    use crate::model::identity::{Pid, ProcessKey, StartKey};
    use crate::model::interest::Interest;
    use crate::model::sample::Sample;
    use crate::platform::{Source, SourceError};
    use crate::runtime::collector::Collector;

    /// Says that it was asked, and fails when it is let go.
    struct Gate {
        asked: Sender<Instant>,
        go: Receiver<()>,
    }

    impl Source for Gate {
        fn sample(&mut self) -> Result<Sample, SourceError> {
            self.asked.send(Instant::now()).unwrap();
            let why = match self.go.recv() {
                Ok(()) => "let go",
                Err(_) => "the test is over",
            };
            Err(SourceError {
                path: "/proc".to_owned(),
                operation: "list".to_owned(),
                reason: why.to_owned(),
            })
        }

        fn look_closer(&mut self, _: &mut Sample, _: &Interest) {}
    }

    fn feed(every: Duration) -> (Feed, Receiver<Instant>, Sender<()>) {
        let ((asked, asks), (go, going)) = (channel(), channel());
        let source = Box::new(Gate { asked, go: going });
        let catalog = Arc::new(Catalog::builtin().unwrap());
        let collector = Collector::at_once(source, catalog, Os::Linux);
        (Feed::start(collector, every).unwrap(), asks, go)
    }

    const SOON: Duration = Duration::from_secs(20);
    const NEVER: Duration = Duration::from_hours(1);

    #[test]
    fn a_sample_that_fails_is_told_and_tried_again() {
        let (mut feed, asks, go) = feed(Duration::from_millis(1));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..2 {
            asks.recv_timeout(SOON).unwrap();
            go.send(()).unwrap();
            runtime.block_on(feed.updates.changed()).unwrap();
            let update = feed.updates.borrow_and_update().clone();
            assert!(matches!(update, Update::Problem(why) if why == "list /proc: let go"));
        }
    }

    #[test]
    fn a_new_selection_is_looked_at_before_its_time() {
        let (feed, asks, go) = feed(NEVER);
        asks.recv_timeout(SOON).unwrap();
        go.send(()).unwrap();
        let selected = Some(ProcessKey {
            pid: Pid::INIT,
            start: StartKey(1),
        });
        feed.demand(Demand { selected });
        asks.recv_timeout(SOON).unwrap();
        // The same again is no reason.
        go.send(()).unwrap();
        feed.demand(Demand { selected });
        assert!(asks.recv_timeout(Duration::from_millis(400)).is_err());
    }

    #[test]
    fn a_sample_that_hangs_keeps_nobody() {
        let (feed, asks, go) = feed(NEVER);
        asks.recv_timeout(SOON).unwrap();
        let begun = Instant::now();
        drop(feed);
        assert!(begun.elapsed() < Duration::from_secs(1));
        drop(go);
    }
}
