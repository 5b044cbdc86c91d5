//! Draws the state: reads `App`, changes nothing, does no I/O.

use ratatui::Frame;

use crate::app::App;

/// Scroll positions, private to the drawing.
#[derive(Debug, Default)]
pub struct Scroll {
    tree: usize,
}

/// Draws one frame.
pub fn draw(frame: &mut Frame, app: &App, scroll: &mut Scroll) {
    scroll.tree = 0;
    let text = app.world().map_or("", |_| "mcpwake");
    frame.render_widget(text, frame.area());
}
