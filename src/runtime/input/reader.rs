//! Reads what is typed, on a thread of its own: a read from a terminal cannot be cancelled.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::AsFd as _;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::platform::own::{self, Ready};

/// Chunks that may wait for the loop; a faster paste waits in the terminal's own buffer.
const CHUNKS: usize = 16;

/// Starts reading standard input. The channel closes when the terminal is gone.
///
/// The thread may outlive the screen, inside its last read; it ends with the process.
pub(in crate::runtime) fn start() -> io::Result<Receiver<Vec<u8>>> {
    let terminal = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (sender, receiver) = channel(CHUNKS);
    std::thread::Builder::new()
        .name("keys".to_owned())
        .spawn(move || read(terminal, &sender))?;
    Ok(receiver)
}

fn read(mut terminal: File, sender: &Sender<Vec<u8>>) {
    let mut buffer = [0; 1024];
    loop {
        match terminal.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another program has left the terminal in non-blocking mode.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if own::wait_until(&terminal, Ready::Reading).is_err() {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}
