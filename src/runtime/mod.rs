//! The running program: event loop, terminal, collector thread.
//!
//! One loop owns the state. Keys come first; samples come from a thread that keeps only the newest,
//! so that a slow terminal queues nothing and a slow scan blocks no key.

pub mod caps;
pub mod collector;
mod feed;
mod keys;
mod terminal;

use std::future::poll_fn;
use std::io::{self, IsTerminal as _};
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use crossterm::event::EventStream;
use futures_core::Stream as _;
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::app::{App, Effect, Event, Options, update};
use crate::platform::{own, wall_clock};
use crate::view::Scroll;

use self::caps::{Capabilities, Surroundings};
use self::collector::Collector;
use self::feed::{Feed, Update};
use self::terminal::Screen;

/// A flush that takes longer stretches the refresh.
const SLOW_FLUSH: Duration = Duration::from_millis(200);
/// The refresh is never stretched beyond this.
const SLOWEST: Duration = Duration::from_secs(10);

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

/// What the command line decided.
pub struct RunOptions {
    /// Options of the screen; colour and ASCII are narrowed by what the terminal can show.
    pub screen: Options,
    /// Samples and judges.
    pub collector: Collector,
}

/// Shows the screen until the user leaves it.
pub fn run(options: RunOptions) -> Result<(), RunError> {
    let surroundings = Surroundings::of_this_process();
    check_terminal(&surroundings)?;
    let capabilities = surroundings.capabilities(options.screen.ascii);
    let mut faults = catch_panics();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(show(options, capabilities, &mut faults));
    terminal::restore();
    // A reader thread may still wait for a key that never comes.
    runtime.shutdown_background();
    ended
}

fn check_terminal(surroundings: &Surroundings) -> Result<(), RunError> {
    let why = if !io::stdin().is_terminal() {
        "standard input is none"
    } else if !io::stdout().is_terminal() {
        "standard output is none"
    } else if !surroundings.is_terminal_type() {
        "TERM says that it has no screen"
    } else {
        return Ok(());
    };
    Err(RunError::NoTerminal(why.to_owned()))
}

/// Where the panic hook sends the message of a thread that is not the screen's.
static FAULTS: OnceLock<UnboundedSender<String>> = OnceLock::new();

/// A panic of the screen's own thread restores the terminal before it is printed. One of another
/// thread is handed to the loop, which restores and reports: two threads never write to the
/// terminal at once.
fn catch_panics() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    let screen = std::thread::current().id();
    let _ = FAULTS.set(sender);
    let printing = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let other = std::thread::current().id() != screen;
        if other
            && FAULTS
                .get()
                .is_some_and(|faults| faults.send(info.to_string()).is_ok())
        {
            return;
        }
        terminal::restore();
        printing(info);
    }));
    receiver
}

struct Signals {
    end: [Signal; 3],
    stop: Signal,
    resume: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            end: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
                signal(SignalKind::interrupt())?,
            ],
            stop: signal(SignalKind::from_raw(own::STOP_REQUEST))?,
            resume: signal(SignalKind::from_raw(own::CONTINUED))?,
        })
    }
}

async fn show(
    options: RunOptions,
    capabilities: Capabilities,
    faults: &mut UnboundedReceiver<String>,
) -> Result<(), RunError> {
    let RunOptions {
        mut screen,
        collector,
    } = options;
    screen.ascii = capabilities.ascii;
    screen.colour = capabilities.colour;
    let asked = Duration::from_millis(screen.refresh_ms);
    let mut signals = Signals::listen()?;
    let feed = Feed::start(collector, asked)?;
    let mut window = Window {
        app: App::new(screen),
        scroll: Scroll::default(),
        screen: Screen::enter(capabilities)?,
        feed,
        asked,
        slow: false,
    };
    let (width, height) = crossterm::terminal::size()?;
    window.handle(Event::Resized { width, height })?;
    let mut inputs = EventStream::new();
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        let [terminate, hang_up, interrupt] = &mut signals.end;
        let event = tokio::select! {
            biased;
            Some(fault) = faults.recv() => return Err(RunError::Panicked(fault)),
            input = poll_fn(|context| Pin::new(&mut inputs).poll_next(context)) => match input {
                Some(Ok(input)) => keys::translate(input),
                // The terminal is gone: nobody is there to be told.
                Some(Err(_)) | None => return Ok(()),
            },
            _ = terminate.recv() => return Ok(()),
            _ = hang_up.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
            _ = signals.stop.recv() => {
                window.suspend()?;
                None
            }
            _ = signals.resume.recv() => {
                window.resume()?;
                None
            }
            changed = window.feed.updates.changed() => match changed {
                Ok(()) => window.newest(),
                Err(_) => return Err(ended(faults)),
            },
            _ = tick.tick() => Some(Event::Tick(wall_clock())),
        };
        fault_point();
        let Some(event) = event else { continue };
        if window.handle(event)? == Flow::End {
            return Ok(());
        }
    }
}

fn ended(faults: &mut UnboundedReceiver<String>) -> RunError {
    RunError::Panicked(
        faults
            .try_recv()
            .unwrap_or_else(|_| "the collector has ended".to_owned()),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Go,
    End,
}

/// The state with everything that its effects need.
struct Window {
    app: App,
    scroll: Scroll,
    screen: Screen,
    feed: Feed,
    asked: Duration,
    slow: bool,
}

impl Window {
    fn newest(&mut self) -> Option<Event> {
        match self.feed.updates.borrow_and_update().clone() {
            Update::World(world) => Some(Event::World(world)),
            Update::Problem(problem) => Some(Event::Problem(problem)),
            Update::Waiting => None,
        }
    }

    fn handle(&mut self, event: Event) -> io::Result<Flow> {
        for effect in update(&mut self.app, event) {
            match effect {
                Effect::Demand(demand) => self.feed.demand(demand),
                Effect::Redraw => self.screen.forget()?,
                Effect::Suspend => self.suspend()?,
                Effect::Quit => return Ok(Flow::End),
            }
        }
        let took = match self.screen.draw(&self.app, &mut self.scroll) {
            Ok(took) => took,
            // EIO: the terminal was closed.
            Err(_) if self.feed.has_ended() => return Ok(Flow::End),
            Err(error) => return Err(error),
        };
        self.adapt(took);
        Ok(Flow::Go)
    }

    /// A terminal that takes long gets fewer samples, and is told so.
    fn adapt(&mut self, took: Duration) {
        let slow = took > SLOW_FLUSH;
        if slow == self.slow {
            return;
        }
        self.slow = slow;
        let every = if slow {
            (took * 5).clamp(self.asked, SLOWEST.max(self.asked))
        } else {
            self.asked
        };
        self.feed.pace(every);
        let because = slow.then(|| format!("the terminal took {} ms", took.as_millis()));
        let refresh_ms = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
        update(&mut self.app, Event::Pace { refresh_ms, because });
    }

    fn suspend(&mut self) -> io::Result<()> {
        terminal::restore();
        own::stop_own_job()?;
        self.resume()
    }

    fn resume(&mut self) -> io::Result<()> {
        self.screen.enter_again()?;
        self.handle(Event::Resumed).map(|_| ())
    }
}

fn fault_point() {
    #[cfg(debug_assertions)]
    fault("screen");
}

/// Panics where a test asks for it by `MCPWAKE_TEST_PANIC=screen` or `=collector`.
#[cfg(debug_assertions)]
#[expect(
    clippy::panic,
    reason = "the point of it: a test looks at what a panic leaves behind"
)]
fn fault(place: &str) {
    if std::env::var("MCPWAKE_TEST_PANIC").is_ok_and(|wanted| wanted == place) {
        panic!("asked for by MCPWAKE_TEST_PANIC={place}");
    }
}
