//! The desk: a thread of its own for whatever goes to the disk, so that a slow disk never blocks a
//! key. Takes orders, one after the other, and answers each.

use std::sync::mpsc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::app::{JobId, Order, Outcome};

use super::fault;

/// A running desk. Dropping it lets the thread finish the orders that it has, and end.
pub(super) struct Desk {
    orders: mpsc::Sender<(JobId, Order)>,
    /// One answer for each order.
    pub(super) answers: UnboundedReceiver<(JobId, Outcome)>,
}

impl Desk {
    /// Starts the thread.
    pub(super) fn start() -> std::io::Result<Self> {
        let (orders, taken) = mpsc::channel();
        let (sender, answers) = unbounded_channel();
        std::thread::Builder::new()
            .name("desk".to_owned())
            .spawn(move || run(&taken, &sender))?;
        Ok(Self { orders, answers })
    }

    /// Gives an order.
    pub(super) fn order(&self, job: JobId, order: Order) {
        // The thread may have ended; the loop learns that from the closed channel.
        let _ = self.orders.send((job, order));
    }
}

fn run(orders: &mpsc::Receiver<(JobId, Order)>, answers: &UnboundedSender<(JobId, Outcome)>) {
    for (job, order) in orders {
        fault::point("desk");
        if answers.send((job, carry_out(&order))).is_err() {
            return;
        }
    }
}

fn carry_out(order: &Order) -> Outcome {
    match order {
        Order::Save(_) => Outcome::Saved(Err("this version writes no snapshots".to_owned())),
    }
}
