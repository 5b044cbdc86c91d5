//! A pseudo-terminal with a program in it, and a model of its screen to wait on.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::Signal;

use crate::support::{DEADLINE, Home, signal, wait_for_exit};

/// Everything that came out of the terminal so far.
pub(crate) struct Seen {
    model: vt100::Parser,
    /// Every byte, as it was written.
    pub(crate) raw: Vec<u8>,
    closed: bool,
}

/// How a program is started in a terminal.
pub(crate) struct Start {
    /// Words of the command; the first is a path.
    words: Vec<String>,
    variables: Vec<(String, String)>,
    home: Home,
    size: (u16, u16),
    shown: Shown,
    controls: Controls,
}

/// Whether the terminal sends its hang-up to the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controls {
    /// It is the controlling terminal of the program's session: `SIGHUP` comes when it closes.
    Yes,
    /// It is none: only reading and writing tell that it is gone.
    No,
}

/// Whether a thread reads what the program writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    /// Nobody reads: a line that has stalled.
    No,
}

impl Start {
    /// The program under test, 80x24, with colours and UTF-8.
    pub(crate) fn program() -> Self {
        Self::words(&[env!("CARGO_BIN_EXE_mcpwake")])
    }

    /// A shell that runs a script in which the program is `$PROGRAM`.
    pub(crate) fn in_a_shell(script: &str) -> Self {
        Self::words(&["/usr/bin/env", "bash", "-c", script]).with("PROGRAM", env!("CARGO_BIN_EXE_mcpwake"))
    }

    /// The program on a line that has stalled: the terminal's buffer is full before it starts, and
    /// nobody reads, so that its first frame does not arrive.
    pub(crate) fn stalled() -> Self {
        // Without output processing, as the program writes: with it, less fits into the buffer.
        let fill = r#"stty -opost
        for i in 1 2 3 4 5; do dd if=/dev/zero of=/dev/tty bs=1 oflag=nonblock 2>/dev/null; done
        stty opost
        exec "$PROGRAM""#;
        let mut start = Self::words(&["/bin/sh", "-c", fill]).with("PROGRAM", env!("CARGO_BIN_EXE_mcpwake"));
        start.shown = Shown::No;
        start
    }

    /// Some other command, in the same surroundings.
    pub(crate) fn words(words: &[&str]) -> Self {
        let home = Home::new();
        let variables = home.variables();
        let start = Self {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            variables,
            home,
            size: (80, 24),
            shown: Shown::Yes,
            controls: Controls::Yes,
        };
        start.with("TERM", "xterm-256color").with("LANG", "C.UTF-8")
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn sized(mut self, columns: u16, lines: u16) -> Self {
        self.size = (columns, lines);
        self
    }

    pub(crate) fn controlled(mut self, controls: Controls) -> Self {
        self.controls = controls;
        self
    }

    /// Starts, and waits for the first sample: keys do nothing to rows before it.
    pub(crate) fn live(self) -> Terminal {
        let terminal = self.start();
        terminal.has_started();
        terminal.sees("LIVE");
        terminal
    }

    pub(crate) fn start(self) -> Terminal {
        let (columns, lines) = self.size;
        let pair = native_pty_system().openpty(size(columns, lines)).unwrap();
        let before = modes(pair.master.as_ref());
        let mut command = CommandBuilder::new(&self.words[0]);
        command.args(&self.words[1..]);
        command.cwd(self.home.path());
        command.env_clear();
        command.set_controlling_tty(self.controls == Controls::Yes);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let pid = child.process_id().unwrap();
        let seen = Arc::new((
            Mutex::new(Seen {
                model: vt100::Parser::new(cells(lines), cells(columns), 0),
                raw: Vec::new(),
                closed: false,
            }),
            Condvar::new(),
        ));
        if self.shown == Shown::Yes {
            read_along(pair.master.try_clone_reader().unwrap(), Arc::clone(&seen));
        }
        let (tell, exited) = channel();
        std::thread::spawn(move || {
            wait_for_exit(pid);
            // Nobody may wait for it any more.
            let _ = tell.send(());
        });
        Terminal {
            writer: pair.master.take_writer().unwrap(),
            master: pair.master,
            child,
            exited,
            status: None,
            seen,
            before,
            _home: self.home,
        }
    }
}

fn size(columns: u16, lines: u16) -> PtySize {
    PtySize {
        rows: lines,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

/// The terminal's modes (termios), as text: they have to be the same, whatever they are.
fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios())
}

fn read_along(mut reader: Box<dyn Read + Send>, seen: Arc<(Mutex<Seen>, Condvar)>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let count = reader.read(&mut buffer).unwrap_or(0);
            let mut state = locked(&seen.0);
            state.model.process(&buffer[..count]);
            state.raw.extend_from_slice(&buffer[..count]);
            state.closed = count == 0;
            seen.1.notify_all();
            if count == 0 {
                return;
            }
        }
    });
}

fn locked(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running program in its terminal. Ended by its pid when dropped.
pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    exited: Receiver<()>,
    status: Option<ExitStatus>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    before: String,
    _home: Home,
}

impl Terminal {
    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Types.
    pub(crate) fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    pub(crate) fn resize(&mut self, columns: u16, lines: u16) {
        locked(&self.seen.0)
            .model
            .screen_mut()
            .set_size(cells(lines), cells(columns));
        self.master.resize(size(columns, lines)).unwrap();
    }

    /// Reads from now on: the line runs again.
    pub(crate) fn reads_on(&self) {
        read_along(self.master.try_clone_reader().unwrap(), Arc::clone(&self.seen));
    }

    pub(crate) fn signal(&self, which: Signal) {
        signal(self.pid(), which);
    }

    /// Waits until the output is as wanted; fails with the screen as it is then.
    pub(crate) fn wait_for(
        &self,
        what: &str,
        deadline: std::time::Duration,
        wanted: impl Fn(&Seen) -> bool,
    ) -> Result<(), String> {
        let until = Instant::now() + deadline;
        let mut seen = locked(&self.seen.0);
        loop {
            if wanted(&seen) {
                return Ok(());
            }
            let rest = until.saturating_duration_since(Instant::now());
            if seen.closed || rest.is_zero() {
                let closed = if seen.closed {
                    ", the terminal was closed"
                } else {
                    ""
                };
                return Err(format!("waited for {what}{closed}; the screen:\n{}", seen.text()));
            }
            let answer = self.seen.1.wait_timeout(seen, rest);
            seen = answer.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the screen shows a text.
    pub(crate) fn sees(&self, text: &str) {
        let shown = self.wait_for(&format!("{text:?}"), DEADLINE, |seen| seen.text().contains(text));
        if let Err(why) = shown {
            panic!("{why}");
        }
    }

    /// Waits until the screen shows a text no longer.
    pub(crate) fn sees_no(&self, text: &str) {
        let gone = self.wait_for(&format!("no {text:?}"), DEADLINE, |seen| {
            !seen.text().contains(text)
        });
        if let Err(why) = gone {
            panic!("{why}");
        }
    }

    /// Waits until the screen of the program is entered and has been drawn with a sample.
    pub(crate) fn has_started(&self) {
        self.sees("mcpwake");
        let entered = self.wait_for("the alternate screen", DEADLINE, |seen| {
            seen.model.screen().alternate_screen()
        });
        entered.unwrap();
    }

    /// Opens the help and closes it again: keys are taken, and nothing else is open.
    pub(crate) fn helps(&mut self) {
        self.press("?");
        self.sees("Move and fold");
        self.press("\x1b");
        self.sees_no("Move and fold");
    }

    /// Quits by its key; checks that it ends well and leaves the terminal as it was.
    pub(crate) fn quits(&mut self) {
        self.press("q");
        assert!(self.ends().success());
        self.is_restored();
    }

    /// The same under a shell that says how the program ended.
    pub(crate) fn quits_to_the_shell(&mut self) {
        self.press("q");
        self.sees("ended with 0");
        assert!(self.ends().success());
        self.is_restored();
    }

    pub(crate) fn with_seen<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&locked(&self.seen.0))
    }

    /// Waits for the program to end by itself; returns how.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        match self.exited.recv_timeout(DEADLINE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => {
                panic!("still running; the screen:\n{}", self.with_seen(Seen::text));
            }
            Err(RecvTimeoutError::Disconnected) => panic!("nobody waits for the program"),
        }
        let status = self.child.wait().unwrap();
        self.status = Some(status.clone());
        status
    }

    /// After the end: waits for the last output, and checks that the terminal is as it was.
    pub(crate) fn is_restored(&self) {
        let closed = self.wait_for("the end of the output", DEADLINE, |seen| seen.closed);
        closed.unwrap();
        assert_eq!(modes(self.master.as_ref()), self.before, "modes of the terminal");
        self.with_seen(|seen| {
            let screen = seen.model.screen();
            assert!(!screen.alternate_screen(), "the alternate screen was left");
            assert!(!screen.hide_cursor(), "the cursor is visible");
            assert!(!screen.bracketed_paste(), "bracketed paste is off");
        });
    }

    /// Waits until the program has taken the terminal, where nothing of its output can be seen.
    pub(crate) fn enters_raw_mode(&self) {
        let until = Instant::now() + DEADLINE;
        while modes(self.master.as_ref()).contains("ICANON") {
            assert!(Instant::now() < until, "the terminal still edits lines");
            std::thread::yield_now();
        }
    }

    /// Returns whether the modes are those from before the start.
    pub(crate) fn has_first_modes(&self) -> bool {
        modes(self.master.as_ref()) == self.before
    }
}

impl Seen {
    /// Returns the screen's text.
    pub(crate) fn text(&self) -> String {
        self.model.screen().contents()
    }

    /// Returns whether the alternate screen is shown.
    pub(crate) fn is_entered(&self) -> bool {
        self.model.screen().alternate_screen()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.signal(Signal::KILL);
            // It was killed: its status is of no use.
            let _ = self.child.wait();
        }
    }
}
