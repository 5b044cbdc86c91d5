//! State of the screen and what a key does to it: pure, no I/O.

pub mod effect;
pub mod event;
pub mod key;
pub mod options;

use std::sync::Arc;

use crate::model::time::UnixMillis;
use crate::model::world::World;

pub use effect::{Demand, Effect};
pub use event::Event;
pub use key::Key;
pub use options::{Colour, Explainer, Options};

/// State of the screen.
#[derive(Debug)]
pub struct App {
    options: Options,
    world: Option<Arc<World>>,
    now: UnixMillis,
    size: (u16, u16),
}

impl App {
    /// Returns the state before the first sample.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            world: None,
            now: UnixMillis(0),
            size: (80, 24),
        }
    }

    /// Returns the world that is shown.
    pub fn world(&self) -> Option<&World> {
        self.world.as_deref()
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }
}

/// Changes the state by one event; answers with what the runtime has to do.
pub fn update(app: &mut App, event: Event) -> Vec<Effect> {
    match event {
        Event::World(world) => app.world = Some(world),
        Event::Tick(now) => app.now = now,
        Event::Resized { width, height } => app.size = (width, height),
        Event::Key(Key::Char('q')) => return vec![Effect::Quit],
        Event::Resumed => return vec![Effect::Redraw],
        Event::Key(_) | Event::Paste(_) | Event::Problem(_) | Event::Pace { .. } => {}
    }
    Vec::new()
}
