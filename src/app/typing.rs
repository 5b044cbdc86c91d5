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
    if let Purpose::Note { complaint, .. } = &mut prompt.purpose {
        *complaint = None;
    }
    match key {
        Key::Enter => return accept(app, prompt),
        Key::Esc => cancel(app, &prompt),
        Key::Tab if prompt.is_note() => {
            keep::toggle_about(&mut prompt.purpose);
            app.prompt = Some(prompt);
        }
        Key::Ctrl('e') if prompt.is_note() => {
            let text = prompt.text().to_owned();
            app.prompt = Some(prompt);
            return vec![Effect::Edit(text)];
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

/// Takes what the editor has left as the note; without anything new the prompt stays as it was.
pub(super) fn edited(app: &mut App, result: Result<String, String>) -> Vec<Effect> {
    let Some(mut prompt) = app.prompt.take_if(|prompt| prompt.is_note()) else {
        return Vec::new();
    };
    let said = match result {
        Err(why) => format!("NO NOTE WRITTEN: {why}"),
        Ok(text) if text.trim().is_empty() => "no note written: the text is empty".to_owned(),
        Ok(text) if text.trim() == prompt.text().trim() => {
            "no note written yet: the text is unchanged; Enter writes it".to_owned()
        }
        Ok(text) => {
            let Purpose::Note { on, whole, .. } = prompt.purpose else {
                return Vec::new();
            };
            return keep::take_note(app, &text, on, whole);
        }
    };
    if let Purpose::Note { complaint, .. } = &mut prompt.purpose {
        *complaint = Some(said);
    }
    app.prompt = Some(prompt);
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
        Purpose::Title { .. } | Purpose::Note { .. } | Purpose::Close { .. } => {}
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
        Purpose::Title {
            then, offer, doubted, ..
        } => keep::titled(app, &text, then, offer.as_ref(), doubted.as_deref()),
        Purpose::Close { .. } => keep::close(app, &text),
        Purpose::Note { on, whole, .. } => keep::take_note(app, &text, on, whole),
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
        Purpose::Close { .. } => return app.say("the incident stays open".to_owned()),
    }
    app.settle(Change::View);
}
