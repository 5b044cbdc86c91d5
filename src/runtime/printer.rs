//! Writes frames to the terminal, on a thread of its own: a line that has stalled blocks no key
//! and no signal. One frame is on its way at a time; the next is drawn when it has arrived.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd as _;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::platform::own::{self, Ready};

/// What the thread writes.
enum Sheet {
    /// A frame; the loop is told when it has arrived.
    Frame(Vec<u8>),
    /// A sequence that draws nothing: nobody waits for it.
    Aside(Vec<u8>),
    /// The terminal's restoration; the sender waits for the answer.
    Last(Vec<u8>, mpsc::Sender<()>),
}

/// How a frame went: the time it took, or why the terminal is gone.
pub(super) type Printed = io::Result<Duration>;

/// Sends to the thread; can be kept where the terminal is restored.
#[derive(Clone)]
pub(super) struct Printer(mpsc::Sender<Sheet>);

/// What became of the last words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// They are written.
    Written,
    /// The terminal does not take them.
    Stalled,
    /// The thread has ended before.
    NoPrinter,
}

impl Printer {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<(Self, UnboundedReceiver<Printed>)> {
        let terminal = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let (sender, sheets) = mpsc::channel();
        let (printed, answers) = unbounded_channel();
        std::thread::Builder::new()
            .name("printer".to_owned())
            .spawn(move || run(terminal, &sheets, &printed))?;
        Ok((Self(sender), answers))
    }

    /// Sends a frame. One answer follows on the channel, unless the thread has ended.
    pub(super) fn frame(&self, bytes: Vec<u8>) {
        // A thread that has ended has closed the answers' channel: the loop learns it there.
        let _ = self.0.send(Sheet::Frame(bytes));
    }

    /// Sends a sequence that draws nothing.
    pub(super) fn aside(&self, bytes: Vec<u8>) {
        let _ = self.0.send(Sheet::Aside(bytes));
    }

    /// Sends the last bytes and waits for them, at most so long.
    pub(super) fn last(&self, bytes: Vec<u8>, at_most: Duration) -> Last {
        let (done, answer) = mpsc::channel();
        if self.0.send(Sheet::Last(bytes, done)).is_err() {
            return Last::NoPrinter;
        }
        match answer.recv_timeout(at_most) {
            Ok(()) => Last::Written,
            Err(mpsc::RecvTimeoutError::Timeout) => Last::Stalled,
            Err(mpsc::RecvTimeoutError::Disconnected) => Last::NoPrinter,
        }
    }
}

fn run(mut terminal: File, sheets: &mpsc::Receiver<Sheet>, printed: &UnboundedSender<Printed>) {
    for sheet in sheets {
        match sheet {
            Sheet::Frame(bytes) => {
                let begun = Instant::now();
                let answer = write(&mut terminal, &bytes).map(|()| begun.elapsed());
                let failed = answer.is_err();
                if printed.send(answer).is_err() || failed {
                    return;
                }
            }
            Sheet::Aside(bytes) => {
                if let Err(error) = write(&mut terminal, &bytes) {
                    let _ = printed.send(Err(error));
                    return;
                }
            }
            Sheet::Last(bytes, done) => {
                // Whether it could be written or not: there is nothing to be done about it.
                let _ = write(&mut terminal, &bytes);
                let _ = done.send(());
            }
        }
    }
}

fn write(terminal: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match terminal.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another program has left the terminal in non-blocking mode.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                own::wait_until(terminal, Ready::Writing)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
