//! Keys while a prompt is open.

use super::App;
use super::effect::Effect;
use super::keep;
use super::key::Key;
use super::nav::{Change, Jump, Step};
use super::prompt::{self, Prompt, Purpose};
use crate::table::Query;

/// Gives a key to the prompt.
pub(super) fn key(app: &mut App, mut prompt: Prompt, key: Key) -> Vec<Effect> {
    match key {
        Key::Enter => return accept(app, prompt),
        Key::Esc => cancel(app, &prompt),
        Key::Tab if prompt.is_note() => {
            keep::toggle_about(&mut prompt.purpose);
            app.prompt = Some(prompt);
        }
        Key::Up | Key::Down if !prompt.is_of_the_tree() => app.prompt = Some(prompt),
        Key::Up | Key::Down => {
            app.nav.step(Step::By(if key == Key::Up { -1 } else { 1 }));
            app.remember();
            app.prompt = Some(prompt);
        }
        _ => {
            if prompt::edit(&mut prompt.input, key) == Some(true) {
                changed(app, &prompt);
            }
            app.prompt = Some(prompt);
        }
    }
    Vec::new()
}

/// Types pasted text.
pub(super) fn paste(app: &mut App, mut prompt: Prompt, text: &str) {
    prompt::paste(&mut prompt.input, text);
    changed(app, &prompt);
    app.prompt = Some(prompt);
}

fn changed(app: &mut App, prompt: &Prompt) {
    match &prompt.purpose {
        Purpose::Filter { .. } => {
            app.filter.set(prompt.text());
            app.settle(Change::View);
        }
        Purpose::Search { origin } => {
            app.search.set(prompt.text());
            if let Some(origin) = origin {
                app.nav.return_to(origin);
            }
            search(app);
        }
        Purpose::Title { .. } | Purpose::Note { .. } => {}
    }
}

/// Stays where the selected row matches; else goes to the next one that does.
fn search(app: &mut App) {
    let Some((nav, shown, filter, search)) = app.parts() else {
        return;
    };
    if !search.is_set() || nav.node().is_some_and(|node| search.query().finds(shown, node)) {
        return;
    }
    let outcome = nav.jump(shown, filter, true, |node| search.query().finds(shown, node));
    if outcome == Jump::Nothing {
        let text = format!("no match of \"{}\"", search.text());
        app.say(text);
    }
    app.settle(Change::View);
}

fn accept(app: &mut App, prompt: Prompt) -> Vec<Effect> {
    let text = prompt.text().to_owned();
    match prompt.purpose {
        Purpose::Filter { .. } if !text.is_empty() && app.nav.rows().is_empty() => {
            let wrong = Query::complaint(&text).map_or_else(String::new, |wrong| format!(" ({wrong})"));
            app.say(format!("the filter matches no row; Esc clears it{wrong}"));
            Vec::new()
        }
        Purpose::Filter { .. } => {
            app.nav.stay();
            if let Some(wrong) = Query::complaint(&text) {
                app.say(wrong);
            }
            Vec::new()
        }
        Purpose::Search { .. } => Vec::new(),
        Purpose::Title { then } => keep::titled(app, &text, then),
        Purpose::Note { on, whole } => keep::take_note(app, &text, on, whole),
    }
}

fn cancel(app: &mut App, prompt: &Prompt) {
    match &prompt.purpose {
        Purpose::Filter { before } => app.filter.set(before),
        Purpose::Search { origin } => {
            app.search.set("");
            if let Some(origin) = origin {
                app.nav.return_to(origin);
            }
        }
        Purpose::Title { .. } => return app.say("no incident opened".to_owned()),
        Purpose::Note { .. } => return app.say("no note written".to_owned()),
    }
    app.settle(Change::View);
}
