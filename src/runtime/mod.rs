//! Runs the screen: one loop owns the state. Keys come first; samples come from a thread that
//! keeps only the newest and frames go out through a thread of their own, so that a slow terminal
//! queues nothing and neither a slow scan nor a stalled line blocks a key or a signal.

pub mod caps;
pub mod clipboard;
pub mod collector;
mod desk;
mod editor;
mod fault;
mod feed;
mod follow;
mod input;
mod printer;
mod signals;
mod terminal;
mod window;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver};
use tokio::time::{Instant, sleep_until};

use crate::app::{Event, Options};
use crate::platform::{NoSignaller, Signaller, wall_clock};
use crate::store::Access;

use self::caps::{Capabilities, Surroundings};
use self::collector::{Collector, Knowledge};
use self::desk::{Answer, Desk, Work};
use self::feed::Feed;
use self::follow::Follower;
pub use self::follow::Saved;
use self::input::Decoder;
use self::signals::{Heard, Signals};
use self::terminal::Screen;
use self::window::{Flow, Window};

/// Why the screen could not be shown, or ended.
#[derive(Debug, Error)]
pub enum RunError {
    /// Standard input or output is no terminal, or one without a screen.
    #[error(
        "the screen needs a terminal ({0}); for scripts and pipes use `mcpwake list` or `mcpwake list --json`"
    )]
    NoTerminal(String),
    /// The terminal failed.
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    /// A thread of the program ended by a fault of its own.
    #[error("a fault in this program, please report it: {0}")]
    Panicked(String),
}

/// Where worlds come from.
pub enum Worlds {
    /// From this machine, now; with what signals its processes.
    Live(Box<Collector>, Box<dyn Signaller>),
    /// From the disk; with what the judgement knew then.
    Saved(Saved, Knowledge),
}

/// What the command line decided.
pub struct RunOptions {
    /// Options of the screen; colour and ASCII are narrowed by what the terminal can show.
    pub screen: Options,
    /// Where worlds come from.
    pub worlds: Worlds,
    /// Which rules judge, for snapshots.
    pub rules: String,
}

/// Shows the screen until the user leaves it, a signal ends it, or the terminal is gone.
pub fn run(options: RunOptions) -> Result<(), RunError> {
    let surroundings = Surroundings::of_this_process();
    check_terminal(&surroundings)?;
    let capabilities = surroundings.capabilities(options.screen.ascii);
    let mut faults = fault::catch();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(show(options, capabilities, &mut faults));
    terminal::restore();
    ended
}

fn check_terminal(surroundings: &Surroundings) -> Result<(), RunError> {
    let why = if !io::stdin().is_terminal() {
        "standard input is none"
    } else if !io::stdout().is_terminal() {
        "standard output is none"
    } else if !surroundings.is_terminal_type() {
        "TERM names none that has a screen"
    } else {
        return Ok(());
    };
    Err(RunError::NoTerminal(why.to_owned()))
}

/// The sources of events.
struct Sources<'a> {
    faults: &'a mut UnboundedReceiver<String>,
    input: Receiver<Vec<u8>>,
    decoder: Decoder,
    /// When a key sequence that was cut is given up.
    cut: Option<Instant>,
    signals: Signals,
    tick: tokio::time::Interval,
}

/// What has happened.
enum Happened {
    /// Something for the screen; a burst of keys comes as one.
    Events(Vec<Event>),
    /// A signal.
    Signal(Heard),
    /// A frame has arrived, and took so long.
    Printed(Duration),
    /// The desk has carried out an order.
    Answered(Answer),
    /// The editor has ended, and how.
    Edited(io::Result<std::process::ExitStatus>),
    /// The collector has something new.
    Update,
    /// The terminal is gone: nobody is there to be told.
    Gone,
}

async fn show(
    options: RunOptions,
    capabilities: Capabilities,
    faults: &mut UnboundedReceiver<String>,
) -> Result<(), RunError> {
    let RunOptions {
        mut screen,
        worlds,
        rules,
    } = options;
    screen.ascii = capabilities.ascii;
    screen.colour = capabilities.colour;
    let asked = Duration::from_millis(screen.refresh_ms);
    let (input, reading) = input::start()?;
    let mut sources = Sources {
        faults,
        signals: Signals::listen()?,
        input,
        decoder: Decoder::default(),
        cut: None,
        tick: tokio::time::interval(Duration::from_secs(1)),
    };
    sources
        .tick
        .set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let access = if screen.read_only {
        Access::ReadOnly
    } else {
        Access::ReadWrite
    };
    let (knowledge, feed, signaller) = match worlds {
        Worlds::Live(collector, signaller) => {
            (collector.knowledge(), Feed::start(*collector, asked)?, signaller)
        }
        Worlds::Saved(saved, knowledge) => {
            let feed = Feed::follow(Follower::new(saved), asked)?;
            (knowledge, feed, nobody())
        }
    };
    let redactor = Arc::clone(&screen.keep_redactor);
    let work = Work::new(access, redactor, knowledge, rules, signaller);
    let desk = Desk::start(work)?;
    let mut window = Window::new(screen, Screen::enter(capabilities)?, feed, desk, reading, asked);
    window.resized()?;
    loop {
        let happened = sources.next(&mut window).await?;
        fault::point("screen");
        if window.react(happened)? == Flow::End {
            window.close();
            return Ok(());
        }
    }
}

/// The processes of a saved world may be another machine's, and have ended.
fn nobody() -> Box<dyn Signaller> {
    Box::new(NoSignaller::new(
        "these processes were saved: start mcpwake on their machine to signal them",
    ))
}

/// Says of the keys of one read that they came together, where there are several.
fn together(mut events: Vec<Event>) -> Vec<Event> {
    let keys = events
        .iter()
        .filter(|event| matches!(event, Event::Key(_)))
        .count();
    if keys > 1 {
        events.insert(0, Event::Together(keys));
    }
    events
}

impl Sources<'_> {
    /// Waits for whatever comes next: a fault first, then keys, then signals.
    async fn next(&mut self, window: &mut Window) -> Result<Happened, RunError> {
        let cut = self.cut.unwrap_or_else(Instant::now);
        Ok(tokio::select! {
            biased;
            Some(fault) = self.faults.recv() => return Err(RunError::Panicked(fault)),
            bytes = self.input.recv() => match bytes {
                Some(bytes) => Happened::Events(self.decode(&bytes)),
                None => Happened::Gone,
            },
            () = sleep_until(cut), if self.cut.is_some() => {
                self.cut = None;
                Happened::Events(self.decoder.give_up().into_iter().collect())
            }
            heard = self.signals.next() => Happened::Signal(heard),
            printed = window.screen.printed.recv() => match printed {
                Some(Ok(took)) => Happened::Printed(took),
                // EIO: the terminal was closed.
                Some(Err(_)) => Happened::Gone,
                None => return Err(self.fault("the printer has ended")),
            },
            done = window.desk.answers.recv() => match done {
                Some(answer) => Happened::Answered(answer),
                None => return Err(self.fault("the desk has ended")),
            },
            Some(ended) = window.editors.ended.recv() => {
                // What was typed before the editor had the terminal was meant for it.
                self.decoder = Decoder::default();
                self.cut = None;
                while self.input.try_recv().is_ok() {}
                Happened::Edited(ended)
            }
            changed = window.feed.updates.changed() => match changed {
                Ok(()) => Happened::Update,
                Err(_) => return Err(self.fault("the collector has ended")),
            },
            _ = self.tick.tick() => Happened::Events(vec![Event::Tick(wall_clock())]),
        })
    }

    /// Decodes what was typed, with everything that waits behind it.
    fn decode(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = together(self.decoder.feed(bytes));
        while let Ok(more) = self.input.try_recv() {
            events.extend(together(self.decoder.feed(&more)));
        }
        self.cut = self.decoder.patience().map(|patience| Instant::now() + patience);
        events
    }

    /// Says why a thread has ended: its panic is on the way, or has come.
    fn fault(&mut self, otherwise: &str) -> RunError {
        RunError::Panicked(self.faults.try_recv().unwrap_or_else(|_| otherwise.to_owned()))
    }
}
