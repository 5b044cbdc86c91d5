//! The collector's thread: samples and judges at its own pace; the screen takes the newest.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::app::Demand;
use crate::model::world::World;

use super::collector::Collector;
use super::fault;

/// What the collector has to say.
#[derive(Clone, Debug)]
pub(super) enum Update {
    /// Nothing yet.
    Waiting,
    /// A judged sample.
    World(Arc<World>),
    /// No sample could be taken.
    Problem(String),
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
