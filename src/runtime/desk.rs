//! The desk: a thread of its own for whatever goes to the disk, so that a slow disk never blocks a
//! key. Takes orders, one after the other, and answers each.

mod act;
mod run;
mod work;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::app::{JobId, Order, Outcome};
use crate::journal::Entry;

use super::fault;

use run::{Ending, Runner};
use work::After;
pub(super) use work::Work;

/// Orders that are not done in this time when the screen ends are left behind.
const LAST_ORDERS: Duration = Duration::from_secs(5);

/// A running desk.
pub(super) struct Desk {
    orders: mpsc::Sender<(JobId, Order)>,
    /// Closed by the thread when it ends.
    ended: mpsc::Receiver<()>,
    /// Told to commands that run: they end with the program.
    ending: Arc<Ending>,
    /// One answer for each order; after a signal, a second one.
    pub(super) answers: UnboundedReceiver<Answer>,
}

/// What the desk answers.
pub(super) struct Answer {
    /// The order.
    pub(super) job: JobId,
    /// What became of it.
    pub(super) outcome: Outcome,
    /// Bytes for the terminal: the screen's thread alone writes there.
    pub(super) terminal: Option<Vec<u8>>,
}

impl Desk {
    /// Starts the thread.
    pub(super) fn start(work: Work) -> std::io::Result<Self> {
        let (orders, taken) = mpsc::channel();
        let (sender, answers) = unbounded_channel();
        let (end, ended) = mpsc::channel();
        let ending = Arc::new(Ending::default());
        let runner = Runner::new(work.access(), Arc::clone(&ending));
        std::thread::Builder::new()
            .name("desk".to_owned())
            .spawn(move || {
                run(work, &runner, &taken, &sender);
                drop(end);
            })?;
        Ok(Self {
            orders,
            ended,
            ending,
            answers,
        })
    }

    /// Gives an order.
    pub(super) fn order(&self, job: JobId, order: Order) {
        // The thread may have ended; the loop learns that from the closed channel.
        let _ = self.orders.send((job, order));
    }

    /// Has the journal of an open incident say that the terminal went away. Nobody waits for the
    /// answer.
    pub(super) fn terminal_lost(&self) {
        let entry = Box::new(Entry::TerminalLost {});
        self.order(JobId(u64::MAX), Order::Append(entry));
    }

    /// Waits, not for ever, until the orders that were given are done.
    pub(super) fn finish(self) {
        let Self {
            orders,
            ended,
            ending,
            answers,
        } = self;
        ending.begin();
        drop(orders);
        // Nothing is ever sent: it ends when the thread does.
        let _ = ended.recv_timeout(LAST_ORDERS);
        drop(answers);
    }
}

fn run(
    mut work: Work,
    runner: &Runner,
    orders: &mpsc::Receiver<(JobId, Order)>,
    answers: &UnboundedSender<Answer>,
) {
    for (job, order) in orders {
        fault::point("desk");
        let order = match order {
            Order::Run(run) => {
                runner.start(job, *run, answers);
                continue;
            }
            order => order,
        };
        let (outcome, after) = work.carry_out(order);
        let (terminal, wait) = match after {
            After::Nothing => (None, None),
            After::Terminal(bytes) => (Some(bytes), None),
            After::Wait(wait) => (None, Some(wait)),
        };
        // Nobody listens any more when the screen has ended: what was ordered is done all the same.
        let _ = answers.send(Answer {
            job,
            outcome,
            terminal,
        });
        if let Some(wait) = wait {
            wait.tell(job, answers);
        }
    }
}
