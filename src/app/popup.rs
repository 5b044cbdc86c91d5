//! Popups: each owns what it shows and takes every key.

use tui_input::Input;

use super::App;
use super::act::{self, Dialog};
use super::command::{self, Availability, CommandSpec};
use super::dispatch;
use super::effect::Effect;
use super::keep::{self, Form};
use super::key::Key;
use super::prompt;
use crate::analysis::Explanation;
use crate::model::time::UnixMillis;

/// A page of lines that is scrolled to its end, whatever its length.
const FAR: i64 = 1_000_000;

/// What lies over the screen.
#[derive(Debug)]
pub struct Popup {
    /// What it shows.
    pub(super) content: Content,
    /// Lines scrolled so far, up and down summed.
    pub(super) scrolled: i64,
}

/// What a popup shows.
#[derive(Debug)]
pub enum Content {
    /// Keys, columns, words.
    Help,
    /// Every command by name.
    Palette(Palette),
    /// How one process is identified.
    Explain {
        /// The row, as it was called.
        label: String,
        /// The sample that was explained.
        at: UnixMillis,
        /// The explanation.
        explanation: Explanation,
    },
    /// Counts by client and server.
    Counts,
    /// What could not be read.
    Problems,
    /// The incident that is open: its records, directory, head and entries.
    Incident {
        /// The place of the chosen record.
        at: usize,
    },
    /// The record of one instance, to be filled.
    Record(Box<Form>),
    /// The dialog before a signal.
    Act(Box<Dialog>),
    /// The signals that are under way, or were the last.
    Acting,
    /// Whether to end the program all the same.
    Quit {
        /// What would be lost, or is left open.
        reasons: Vec<String>,
    },
}

/// The palette.
#[derive(Debug, Default)]
pub struct Palette {
    input: Input,
    at: usize,
}

impl Palette {
    /// Returns what was typed.
    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// Returns the cursor's place, in characters.
    pub fn cursor(&self) -> usize {
        self.input.cursor()
    }

    /// Returns the place of the chosen command among those that match.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the commands whose names hold the typed letters in that order, best first.
    pub fn matches(&self, app: &App) -> Vec<(&'static CommandSpec, Availability)> {
        let mut found: Vec<(usize, usize, &'static CommandSpec)> = command::commands()
            .iter()
            .enumerate()
            .filter_map(|(at, spec)| Some((spread(spec.name, self.text())?, at, spec)))
            .collect();
        found.sort_by_key(|(spread, at, spec)| (*spread, spec.name != self.text(), *at));
        found
            .into_iter()
            .map(|(_, _, spec)| (spec, (spec.available)(app)))
            .filter(|(_, available)| *available != Availability::Hidden)
            .collect()
    }
}

/// Returns how far the letters of `typed` are spread over `name`, in order; `None` where they do
/// not occur in that order. Less is a better match.
fn spread(name: &str, typed: &str) -> Option<usize> {
    let mut letters = typed
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_ascii_lowercase())
        .peekable();
    let mut first = None;
    let mut last = 0;
    for (at, c) in name.char_indices() {
        if letters.peek() == Some(&c) {
            letters.next();
            first.get_or_insert(at);
            last = at;
        }
    }
    let first = first.unwrap_or(0);
    letters.peek().is_none().then_some((last - first) * 100 + first)
}

impl Popup {
    /// Returns a popup at its beginning.
    pub(super) fn new(content: Content) -> Self {
        Self { content, scrolled: 0 }
    }

    /// Returns what it shows.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Returns the sum of all lines scrolled so far.
    pub fn scrolled(&self) -> i64 {
        self.scrolled
    }
}

/// Gives a key to the popup.
pub(super) fn key(app: &mut App, mut popup: Popup, key: Key) -> Vec<Effect> {
    if let Content::Record(form) = popup.content {
        // Where nothing is typed `q` closes, as in every popup.
        let closes = key == Key::Char('q') && form.typing().is_none();
        return keep::form_key(app, form, if closes { Key::Esc } else { key });
    }
    if let Content::Act(dialog) = popup.content {
        return act::key(app, dialog, key);
    }
    if let Content::Palette(palette) = &mut popup.content {
        let ended = palette_key(app, palette, key);
        if ended.is_none() {
            app.popup = Some(popup);
        }
        return ended.unwrap_or_default();
    }
    if matches!(popup.content, Content::Quit { .. }) {
        return match key {
            Key::Char('y') => keep::leave(app),
            _ => Vec::new(),
        };
    }
    // A title that is typed blind into it must not close it halfway, and run the rest as commands.
    if let Content::Incident { at } = &mut popup.content
        && let Some(ended) = incident_key(app, at, key)
    {
        if !ended {
            app.popup = Some(popup);
        }
        return Vec::new();
    }
    let typed = matches!(key, Key::Char(_)) && matches!(popup.content, Content::Incident { .. });
    if typed && !matches!(key, Key::Char('j' | 'k' | 'g' | 'G' | ' ')) {
        app.popup = Some(popup);
        app.say("this incident is open: Esc closes the list; Alt-i closes the incident".to_owned());
        return Vec::new();
    }
    if matches!(popup.content, Content::Acting) && key == Key::Char('x') {
        app.popup = Some(popup);
        let rest = act::withdraw(app);
        app.say(format!("withdrawn: nothing is sent to the {rest} that wait"));
        return Vec::new();
    }
    let page = i64::from(app.size.1.saturating_sub(6).max(1));
    let lines = match key {
        Key::Up | Key::Char('k') => -1,
        Key::Down | Key::Char('j') => 1,
        Key::PageUp => -page,
        Key::PageDown | Key::Char(' ') => page,
        Key::Home | Key::Char('g') => -FAR,
        Key::End | Key::Char('G') => FAR,
        Key::Esc | Key::Enter | Key::Char('q') => return Vec::new(),
        _ if command::of_key(key).is_some_and(|spec| opens(spec.command, &popup.content)) => {
            return Vec::new();
        }
        _ => 0,
    };
    popup.scrolled = popup.scrolled.saturating_add(lines);
    app.popup = Some(popup);
    Vec::new()
}

/// The key that opened a popup closes it.
fn opens(command: command::Command, content: &Content) -> bool {
    use command::Command;
    matches!(
        (command, content),
        (Command::Help, Content::Help)
            | (Command::Explain, Content::Explain { .. })
            | (Command::Counts, Content::Counts)
            | (Command::Problems, Content::Problems)
            | (Command::Incident, Content::Incident { .. })
            | (Command::Term | Command::Kill | Command::Signal, Content::Acting)
    )
}

/// Chooses among the records of the incident, or opens one. Answers whether another popup takes its place;
/// `None` for keys of the text below.
fn incident_key(app: &mut App, at: &mut usize, key: Key) -> Option<bool> {
    let last = app.listed().len().checked_sub(1)?;
    match key {
        Key::Up | Key::Char('k') => *at = at.saturating_sub(1),
        Key::Down | Key::Char('j') => *at = (*at + 1).min(last),
        Key::Enter => {
            keep::open_listed(app, *at);
            return Some(true);
        }
        _ => return None,
    }
    Some(false)
}

/// Answers `None` while the palette stays open.
fn palette_key(app: &mut App, palette: &mut Palette, key: Key) -> Option<Vec<Effect>> {
    let found = palette.matches(app);
    let last = found.len().saturating_sub(1);
    match key {
        Key::Esc => return Some(Vec::new()),
        Key::Up | Key::BackTab => palette.at = palette.at.saturating_sub(1),
        Key::Down | Key::Tab => palette.at = (palette.at + 1).min(last),
        Key::PageUp => palette.at = palette.at.saturating_sub(10),
        Key::PageDown => palette.at = (palette.at + 10).min(last),
        Key::Enter => {
            let (spec, _) = found.get(palette.at)?;
            return Some(dispatch::ask(app, spec));
        }
        _ => {
            if prompt::edit(&mut palette.input, key) == Some(true) {
                palette.at = 0;
            }
        }
    }
    None
}

/// Types pasted text into the palette.
pub(super) fn paste(popup: &mut Popup, text: &str) {
    match &mut popup.content {
        Content::Palette(palette) => {
            prompt::paste(&mut palette.input, text);
            palette.at = 0;
        }
        Content::Record(form) => keep::form_paste(form, text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::spread;
    use crate::app::testkit::{app, live, pid, press};
    use crate::app::{Event, update};

    #[test]
    fn that_the_selection_moved_is_still_said_when_the_popup_over_it_goes() {
        let mut app = app(live().world(), 80, 24);
        press(&mut app, "?");
        let mut next = live();
        next.seq = 3;
        next.sample.processes.remove(&pid(48_271));
        let instances = &mut next.judged.instances;
        instances.retain(|one| one.lead_process().pid != pid(48_271));
        update(&mut app, Event::World(next.world()));
        press(&mut app, "j <esc>");
        let said = app.status().expect("a message").to_owned();
        assert!(said.starts_with("git 48271 is gone, last seen "), "{said}");
        press(&mut app, "<down>");
        assert_eq!(app.status(), None, "it was read");
    }

    #[test]
    fn q_closes_every_popup_and_is_typed_where_text_is_typed() {
        for opens in ["?", "e", "c", "!"] {
            let mut app = app(live().world(), 80, 24);
            press(&mut app, opens);
            assert!(app.popup().is_some(), "{opens}");
            assert_eq!(press(&mut app, "q"), [], "{opens}");
            assert!(app.popup().is_none(), "{opens}");
        }
        let mut app = app(live().world(), 80, 24);
        press(&mut app, ": q");
        assert!(app.popup().is_some(), "the palette takes it as a letter");
        press(&mut app, "<esc> / q");
        assert_eq!(app.filter().text(), "q");
    }

    #[test]
    fn letters_match_in_their_order_and_the_closest_is_best() {
        assert_eq!(spread("next-problem", "xt"), Some(102));
        assert_eq!(spread("next-problem", "tx"), None);
        assert_eq!(spread("help", ""), Some(0));
        assert!(spread("next-pane", "np") < spread("next-problem", "nb"));
    }
}
