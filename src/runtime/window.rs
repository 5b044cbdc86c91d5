//! The screen's state with everything that its effects need.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::app::{App, Effect, Event, Key, Options, update};
use crate::platform::own::{self, Stop};
use crate::view::{self, Scroll};

use super::Happened;
use super::desk::Desk;
use super::editor::{Editing, Editors};
use super::feed::{Feed, Update};
use super::input::Reading;
use super::signals::Heard;
use super::terminal::{self, Screen};

/// A frame that takes longer to arrive stretches the refresh.
const SLOW: Duration = Duration::from_millis(200);
/// The refresh is never stretched beyond this.
const SLOWEST: Duration = Duration::from_secs(10);

/// A signal may come so long behind the end of the program that it was meant for.
const BEHIND: Duration = Duration::from_secs(1);

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
    /// The operator's editor has it.
    Lent,
    /// Text is shown on its usual screen.
    Plain,
}

pub(super) struct Window {
    app: App,
    scroll: Scroll,
    pub(super) screen: Screen,
    pub(super) feed: Feed,
    pub(super) desk: Desk,
    reading: Reading,
    pub(super) editors: Editors,
    editing: Option<Editing>,
    /// When the editor gave the terminal back.
    back: Option<Instant>,
    /// The text that is shown plain.
    plain: Option<String>,
    terminal: Terminal,
    ground: Ground,
    /// Whether the state is newer than the last frame.
    stale: bool,
    asked: Duration,
    /// When the last frame that was slow has arrived; `None`: the pace is the one asked for.
    slow: Option<Instant>,
}

impl Window {
    pub(super) fn new(
        options: Options,
        screen: Screen,
        feed: Feed,
        desk: Desk,
        reading: Reading,
        asked: Duration,
    ) -> Self {
        Self {
            app: App::new(options),
            scroll: Scroll::default(),
            screen,
            feed,
            desk,
            reading,
            editors: Editors::new(),
            editing: None,
            back: None,
            plain: None,
            terminal: Terminal::Idle,
            ground: Ground::Fore,
            stale: true,
            asked,
            slow: None,
        }
    }

    /// Gives the terminal back, and waits for the desk: what was ordered is done.
    pub(super) fn close(self) {
        let Self {
            screen,
            desk,
            editing,
            ..
        } = self;
        drop(screen);
        if let Some(editing) = editing {
            editing.abandon();
        }
        desk.finish();
    }

    /// Does what has happened asks for, and draws where the terminal is ready for a frame.
    pub(super) fn react(&mut self, happened: Happened) -> io::Result<Flow> {
        let flow = match happened {
            Happened::Events(events) => self.handle(events)?,
            // A key of the editor's, for the editor.
            Happened::Signal(Heard::Interrupt) if self.is_of_editor() => Flow::Go,
            Happened::Signal(Heard::End | Heard::Interrupt) => {
                self.handle(vec![Event::Leaving])?;
                Flow::End
            }
            Happened::Signal(Heard::HangUp) | Happened::Gone => {
                self.handle(vec![Event::Leaving])?;
                self.desk.terminal_lost();
                Flow::End
            }
            Happened::Signal(Heard::Stop) if self.ground == Ground::Lent => {
                own::stop_self()?;
                Flow::Go
            }
            Happened::Signal(Heard::Resume) if self.ground == Ground::Lent => Flow::Go,
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
            Happened::Edited(ended) => self.edited(ended)?,
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
        // What was typed before the screen is back was typed blind.
        let mut blind = false;
        for event in events {
            if let Event::Key(_) | Event::Paste(_) = event {
                blind |= self.takes(&event)?;
                if blind {
                    continue;
                }
            }
            self.stale = true;
            for effect in update(&mut self.app, event) {
                if self.carry_out(effect)? == Flow::End {
                    return Ok(Flow::End);
                }
            }
        }
        Ok(Flow::Go)
    }

    fn carry_out(&mut self, effect: Effect) -> io::Result<Flow> {
        match effect {
            Effect::Demand(demand) => self.feed.demand(demand),
            Effect::Desk(job, order) => self.desk.order(job, order),
            Effect::Excerpt(excerpt, what_for) => {
                let text = view::excerpt(&self.app, excerpt, &self.scroll);
                return self.handle(vec![Event::Excerpt(what_for, text)]);
            }
            Effect::Plain(text) => self.show_plain(text)?,
            Effect::Edit(text) => return self.edit(&text),
            Effect::Redraw => self.screen.forget()?,
            Effect::Suspend => self.suspend()?,
            Effect::Quit => return Ok(Flow::End),
        }
        Ok(Flow::Go)
    }

    fn show_plain(&mut self, text: String) -> io::Result<()> {
        self.screen.plain(&text)?;
        self.plain = Some(text);
        self.ground = Ground::Plain;
        Ok(())
    }

    /// Returns whether what was typed is not for the screen. A key, but no pasted text, ends the plain view.
    fn takes(&mut self, event: &Event) -> io::Result<bool> {
        match (self.ground, event) {
            (Ground::Fore | Ground::Stopped, _) => return Ok(false),
            (Ground::Plain, Event::Key(Key::Ctrl('z'))) => self.suspend()?,
            (Ground::Plain, Event::Key(_)) => {
                self.plain = None;
                self.resume()?;
            }
            _ => {}
        }
        Ok(true)
    }

    /// Lends the terminal to the operator's editor.
    fn edit(&mut self, text: &str) -> io::Result<Flow> {
        if !self.reading.pause() {
            let why = "keys cannot be left to an editor on this terminal".to_owned();
            return self.handle(vec![Event::Edited(Err(why))]);
        }
        terminal::restore();
        match self.editors.start(text) {
            Ok(editing) => {
                self.editing = Some(editing);
                self.ground = Ground::Lent;
                Ok(Flow::Go)
            }
            Err(why) => self.take_back(Err(why)),
        }
    }

    /// Returns whether a signal of a key was meant for the editor. One that ends it comes here too, perhaps
    /// only after its end.
    fn is_of_editor(&self) -> bool {
        self.ground == Ground::Lent || self.back.is_some_and(|back| back.elapsed() < BEHIND)
    }

    fn edited(&mut self, ended: io::Result<ExitStatus>) -> io::Result<Flow> {
        match self.editing.take() {
            Some(editing) => self.take_back(editing.result(ended)),
            None => Ok(Flow::Go),
        }
    }

    /// Takes the terminal back from the editor.
    fn take_back(&mut self, result: Result<String, String>) -> io::Result<Flow> {
        self.reading.go_on();
        self.back = Some(Instant::now());
        self.resume()?;
        self.handle(vec![Event::Edited(result)])
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
        if let Some(text) = self.plain.take() {
            return self.show_plain(text);
        }
        self.ground = Ground::Fore;
        self.screen.enter_again()?;
        self.resized()?;
        self.handle(vec![Event::Resumed]).map(|_| ())
    }
}
