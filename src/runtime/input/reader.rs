//! Reads what is typed, on a thread of its own: a read from a terminal cannot be cancelled. It can be
//! told to leave the terminal to another program for a while.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::mpsc as plain;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::platform::own::{self, Either};

/// Chunks that may wait for the loop; a faster paste waits in the terminal's own buffer.
const CHUNKS: usize = 16;

/// A thread that does not stop reading in this time cannot: the system does not let it wait for two
/// things.
const PATIENCE: Duration = Duration::from_millis(500);

/// Tells the thread when to read. The thread ends when this is dropped.
pub(in crate::runtime) struct Reading {
    orders: PipeWriter,
    paused: plain::Receiver<()>,
}

impl Reading {
    /// Has the thread stop reading; answers whether it has.
    pub(in crate::runtime) fn pause(&mut self) -> bool {
        self.order() && self.paused.recv_timeout(PATIENCE).is_ok()
    }

    /// Has the thread read on.
    pub(in crate::runtime) fn go_on(&mut self) {
        // A thread that has ended has closed the channel of its chunks: the loop learns it there.
        let _ = self.order();
    }

    fn order(&mut self) -> bool {
        self.orders.write_all(b".").is_ok()
    }
}

/// Starts reading standard input. The channel closes when the terminal is gone.
///
/// The thread may outlive the screen, inside its last read; it ends with the process.
pub(in crate::runtime) fn start() -> io::Result<(Receiver<Vec<u8>>, Reading)> {
    let terminal = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (taken, orders) = io::pipe()?;
    let (pause, paused) = plain::channel();
    let (sender, receiver) = channel(CHUNKS);
    std::thread::Builder::new()
        .name("keys".to_owned())
        .spawn(move || {
            // Both ends of what can go wrong mean the same: there is nothing more to read.
            let _ = read(terminal, taken, &pause, &sender);
        })?;
    Ok((receiver, Reading { orders, paused }))
}

fn read(
    mut terminal: File,
    mut orders: PipeReader,
    pause: &plain::Sender<()>,
    sender: &Sender<Vec<u8>>,
) -> io::Result<()> {
    let mut buffer = [0; 1024];
    let mut order = [0; 1];
    loop {
        if own::wait_for_either(&terminal, &orders)? == Either::Second {
            orders.read_exact(&mut order)?;
            if pause.send(()).is_err() {
                return Ok(());
            }
            orders.read_exact(&mut order)?;
            continue;
        }
        match terminal.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                    return Ok(());
                }
            }
            // Another program has left the terminal in non-blocking mode.
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
}
