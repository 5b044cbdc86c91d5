//! The screen's state with everything that its effects need.

use std::io;
use std::time::{Duration, Instant};

use crate::app::{App, Effect, Event, Options, update};
use crate::platform::own::{self, Stop};
use crate::view::Scroll;

use super::Happened;
use super::desk::Desk;
use super::feed::{Feed, Update};
use super::signals::Heard;
use super::terminal::{self, Screen};

/// A frame that takes longer to arrive stretches the refresh.
const SLOW: Duration = Duration::from_millis(200);
/// The refresh is never stretched beyond this.
const SLOWEST: Duration = Duration::from_secs(10);

/// A terminal that was slow is taken for fast after so long without a slow frame.
const RECOVERED: Duration = Duration::from_secs(5);

/// Whether the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Go,
    End,
}

/// What the terminal is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminal {
    /// It shows the last frame.
    Idle,
    /// A frame is on its way to it.
    Printing,
}

/// Whether the terminal is this program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ground {
    /// It is.
    Fore,
    /// It was given back; the shell has stopped the program, or is about to.
    Stopped,
}

pub(super) struct Window {
    app: App,
    scroll: Scroll,
    pub(super) screen: Screen,
    pub(super) feed: Feed,
    pub(super) desk: Desk,
    terminal: Terminal,
    ground: Ground,
    /// Whether the state is newer than the last frame.
    stale: bool,
    asked: Duration,
    /// When the last frame that was slow has arrived; `None`: the pace is the one asked for.
    slow: Option<Instant>,
}

impl Window {
    pub(super) fn new(options: Options, screen: Screen, feed: Feed, desk: Desk, asked: Duration) -> Self {
        Self {
            app: App::new(options),
            scroll: Scroll::default(),
            screen,
            feed,
            desk,
            terminal: Terminal::Idle,
            ground: Ground::Fore,
            stale: true,
            asked,
            slow: None,
        }
    }

    /// Gives the terminal back, and waits for the desk: what was ordered is done.
    pub(super) fn close(self) {
        let Self { screen, desk, .. } = self;
        drop(screen);
        desk.finish();
    }

    /// Does what has happened asks for, and draws where the terminal is ready for a frame.
    pub(super) fn react(&mut self, happened: Happened) -> io::Result<Flow> {
        let flow = match happened {
            Happened::Events(events) => self.handle(events)?,
            Happened::Signal(Heard::End) => Flow::End,
            Happened::Signal(Heard::HangUp) | Happened::Gone => {
                self.desk.terminal_lost();
                Flow::End
            }
            Happened::Signal(Heard::Stop) => {
                self.suspend()?;
                Flow::Go
            }
            Happened::Signal(Heard::Resume) => {
                self.resume()?;
                Flow::Go
            }
            Happened::Signal(Heard::Resized) => {
                self.resized()?;
                Flow::Go
            }
            Happened::Printed(took) => {
                self.terminal = Terminal::Idle;
                self.adapt(took);
                Flow::Go
            }
            Happened::Answered(answer) => {
                if let Some(bytes) = answer.terminal {
                    self.screen.send(bytes);
                }
                self.handle(vec![Event::Done(answer.job, answer.outcome)])?
            }
            Happened::Update => {
                let newest = self.newest();
                self.handle(newest)?
            }
        };
        if flow == Flow::Go {
            self.draw()?;
        }
        Ok(flow)
    }

    /// Tells the state the terminal's size.
    pub(super) fn resized(&mut self) -> io::Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        self.handle(vec![Event::Resized { width, height }]).map(|_| ())
    }

    fn newest(&mut self) -> Vec<Event> {
        match self.feed.updates.borrow_and_update().clone() {
            Update::World(world) => vec![Event::World(world)],
            Update::Problem(problem) => vec![Event::Problem(problem)],
            Update::Saved(world, incident) => {
                let incident = incident.map(Event::Incident);
                std::iter::once(Event::World(world)).chain(incident).collect()
            }
            Update::Waiting => Vec::new(),
        }
    }

    fn handle(&mut self, events: Vec<Event>) -> io::Result<Flow> {
        // A key is there: whatever has become of SIGCONT, the program runs in the foreground.
        if self.ground == Ground::Stopped && events.iter().any(|event| matches!(event, Event::Key(_))) {
            self.resume()?;
        }
        for event in events {
            self.stale = true;
            for effect in update(&mut self.app, event) {
                match effect {
                    Effect::Demand(demand) => self.feed.demand(demand),
                    Effect::Desk(job, order) => self.desk.order(job, order),
                    Effect::Redraw => self.screen.forget()?,
                    Effect::Suspend => self.suspend()?,
                    Effect::Quit => return Ok(Flow::End),
                }
            }
        }
        Ok(Flow::Go)
    }

    fn draw(&mut self) -> io::Result<()> {
        if self.stale && self.terminal == Terminal::Idle && self.ground == Ground::Fore {
            self.screen.draw(&self.app, &mut self.scroll)?;
            self.terminal = Terminal::Printing;
            self.stale = false;
        }
        Ok(())
    }

    /// A terminal that takes long gets fewer samples, and is told so; one that has been fast again
    /// for a while gets what was asked for.
    fn adapt(&mut self, took: Duration) {
        let (every, because) = if took > SLOW {
            self.slow = Some(Instant::now());
            let every = (took * 5).clamp(self.asked, SLOWEST.max(self.asked));
            (every, Some(format!("the terminal took {} ms", took.as_millis())))
        } else if self.slow.is_some_and(|last| last.elapsed() > RECOVERED) {
            self.slow = None;
            (self.asked, None)
        } else {
            return;
        };
        self.feed.pace(every);
        let refresh_ms = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
        update(&mut self.app, Event::Pace { refresh_ms, because });
        self.stale = true;
    }

    fn suspend(&mut self) -> io::Result<()> {
        terminal::restore();
        match own::stop_own_job()? {
            Stop::Sent => {
                self.ground = Ground::Stopped;
                Ok(())
            }
            Stop::NoShell => self.resume(),
        }
    }

    /// Takes the terminal again. From the background, the system stops the program here until it
    /// is in the foreground (`tty_ioctl(4)`, `SIGTTOU`).
    fn resume(&mut self) -> io::Result<()> {
        self.ground = Ground::Fore;
        self.screen.enter_again()?;
        self.resized()?;
        self.handle(vec![Event::Resumed]).map(|_| ())
    }
}
