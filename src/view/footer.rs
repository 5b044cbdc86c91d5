//! The last two lines: what the procedure wants next, a message or a prompt; and the keys that do
//! something here and now.

use std::borrow::Cow;

use super::acting;
use super::paint::Drawn;
use super::record;
use super::theme::{Theme, Tone};
use crate::app::App;
use crate::app::act;
use crate::app::command::{self, Availability, Command};
use crate::app::keep::Form;
use crate::app::panes::Focus;
use crate::app::popup::{Content, Popup};
use crate::app::prompt::Prompt;
use crate::model::finding::Finding;
use crate::model::instance::Instance;
use crate::text::Safe;
use crate::text::width::{Glyphs, columns, truncate, truncate_middle};

/// The step line: a prompt, else a message, else the next step.
pub(super) fn step(app: &App, width: usize, theme: Theme) -> (Drawn, Option<usize>) {
    if let Some(prompt) = app.prompt() {
        let label = theme.text(&prompt.label()).into_owned();
        return typed(&label, prompt.text(), prompt.cursor(), width, theme);
    }
    let room = width.saturating_sub(1);
    let mut line = Drawn::one(" ".to_owned(), Tone::Plain);
    if let Some((first, _)) = message(app, width, theme) {
        line.push(first, Tone::Strong);
        return (line, None);
    }
    let mut parts: Vec<String> = next_steps(app, width)
        .iter()
        .map(|part| theme.text(&Safe::from_text(part)).into_owned())
        .collect();
    if is_pane_hidden(app) && width < ROOMY && app.popup().is_none() {
        parts.push("Enter: pane".to_owned());
    }
    line.push(whole(&parts, room, theme.glyphs()), Tone::Plain);
    (line, None)
}

/// The message in one line, or in two where one would lose its end, which is where a reason stands: a dialog
/// needs the second for its keys.
fn message(app: &App, width: usize, theme: Theme) -> Option<(String, Option<String>)> {
    let status = app.status()?;
    let room = width.saturating_sub(1);
    let text = theme.text(&Safe::from_escaped(status)).into_owned();
    let short = shorten_path(&text, room, theme.glyphs());
    let in_dialog = app
        .popup()
        .is_some_and(|popup| matches!(popup.content(), Content::Act(_)));
    if columns(&short) <= room || in_dialog {
        return Some((cut_at_word(&short, room, theme.glyphs()), None));
    }
    let at = last_blank_within(&text, room).unwrap_or(text.len());
    let (first, rest) = text.split_at(at);
    let rest = rest.trim_start();
    let rest = shorten_path(rest, room, theme.glyphs());
    let first = cut_at_word(first, room, theme.glyphs());
    let second = (!rest.is_empty()).then(|| cut_at_word(&rest, room, theme.glyphs()));
    Some((first, second))
}

/// Returns where the last blank stands before which a text fits.
fn last_blank_within(text: &str, width: usize) -> Option<usize> {
    let blanks = text.match_indices(' ').map(|(at, _)| at);
    blanks.take_while(|at| columns(&text[..*at]) <= width).last()
}

/// Joins what fits, from the first part on: the first is cut behind a word where it must be, a later one
/// is there in full or not at all, and nothing stands behind one that is not there.
fn whole(parts: &[String], width: usize, glyphs: Glyphs) -> String {
    let Some((first, rest)) = parts.split_first() else {
        return String::new();
    };
    let mut line = cut_at_word(first, width, glyphs);
    for part in rest {
        let longer = format!("{line}  {part}");
        if columns(&longer) > width {
            break;
        }
        line = longer;
    }
    line
}

/// Columns that a path keeps at least: its end says which file it is.
const PATH_LEAST: usize = 12;

/// Returns the text with its longest path cut in the middle as far as the rest needs the room; as it is where
/// that does not make it fit.
fn shorten_path(text: &str, width: usize, glyphs: Glyphs) -> Cow<'_, str> {
    let too_long = columns(text).saturating_sub(width);
    let paths = text.split(' ').filter(|word| word.contains('/'));
    let Some(path) = paths.max_by_key(|word| columns(word)).filter(|_| too_long > 0) else {
        return Cow::Borrowed(text);
    };
    let room = columns(path).saturating_sub(too_long);
    if room < PATH_LEAST {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replacen(path, &truncate_middle(path, room, glyphs), 1))
}

/// Returns the text, cut behind a word where it does not fit: half a word may read as another.
fn cut_at_word(text: &str, width: usize, glyphs: Glyphs) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let cut = truncate(text, width, glyphs);
    let kept = cut.strip_suffix(glyphs.ellipsis()).unwrap_or(&cut);
    let ends_a_word = text[kept.len()..].starts_with(' ');
    match kept.rfind(' ').filter(|_| !ends_a_word) {
        Some(blank) if blank > 0 => format!("{} {}", kept[..blank].trim_end(), glyphs.ellipsis()),
        _ => cut.into_owned(),
    }
}

/// Lays out a line that is being typed, with the column of its cursor: its end stays in sight.
pub(super) fn typed(
    label: &str,
    text: &str,
    cursor: usize,
    width: usize,
    theme: Theme,
) -> (Drawn, Option<usize>) {
    let before: String = text.chars().take(cursor).collect();
    let after: String = text.chars().skip(cursor).collect();
    let before = theme.text(&Safe::from_text(&before)).into_owned();
    let after = theme.text(&Safe::from_text(&after)).into_owned();
    let room = width.saturating_sub(columns(label) + 3);
    let mut shown = before.as_str();
    while columns(shown) > room {
        let first = shown.chars().next().map_or(shown.len(), char::len_utf8);
        shown = &shown[first..];
    }
    let mut line = Drawn::one(format!(" {label}"), Tone::Key);
    line.push(format!("{shown}{after}"), Tone::Plain);
    (line, Some(1 + columns(label) + columns(shown)))
}

/// What the procedure wants next, what matters most first.
fn next_steps(app: &App, width: usize) -> Vec<String> {
    if let Some(text) = acting::under_way(app) {
        return vec![text];
    }
    match acting::unresolved(app) {
        Some(acting::Unresolved::Here(text)) => vec![text],
        Some(acting::Unresolved::Elsewhere(text)) => {
            let mut parts = vec![text];
            parts.extend(of_selected(app, width));
            parts
        }
        None => of_selected(app, width),
    }
}

fn of_selected(app: &App, width: usize) -> Vec<String> {
    let Some((shown, node)) = app.selected() else {
        return Vec::new();
    };
    if let Some(ghost) = app.nav().ghost() {
        let mut parts = vec![format!("gone since {}", ghost.gone().clock())];
        if let Some(id) = node.instance {
            parts[0].push_str("; r: its record");
            if width >= BOXES {
                parts.extend(record::boxes(app, id));
            }
        }
        return parts;
    }
    match node.instance.and_then(|id| shown.instance(id)) {
        Some(instance) => of_instance(app, instance, width),
        None if node.figures.trouble() > 0 => {
            vec![format!(
                "next: {} in trouble below; ] goes there",
                node.figures.trouble()
            )]
        }
        None => Vec::new(),
    }
}

/// From this width on the keys have room for one that only low screens need.
const ROOMY: usize = 60;

/// Whether the screen is too low for the pane below the tree.
fn is_pane_hidden(app: &App) -> bool {
    app.panes().shown().is_some() && app.layout().pane == 0
}

/// Below this width the step line names the next step alone.
const BOXES: usize = 76;

/// Identify, prove, keep, revoke, verify, then end: in that order.
fn of_instance(app: &App, instance: &Instance, width: usize) -> Vec<String> {
    let next = advice(app, instance);
    let told = app.keep().incident().is_some() || app.keep().is_saved(instance.id);
    let boxes = match &next {
        Some(_) => instance.finding == Finding::Severed && instance.reach.is_some(),
        None => told,
    };
    let mut parts: Vec<String> = next.map(|next| format!("next: {next}")).into_iter().collect();
    if boxes && width >= BOXES {
        parts.extend(record::boxes(app, instance.id));
    }
    parts
}

fn advice(app: &App, instance: &Instance) -> Option<String> {
    let text = match instance.finding {
        Finding::Attached | Finding::Network if !instance.older_twin => return None,
        Finding::Attached | Finding::Network => {
            "a younger twin runs: find out whether the session of this one has ended"
        }
        Finding::Wedged => "its client cannot act: look at the client first, it may be resumed",
        Finding::Held => "find out what the holder is for: ending it may be the remedy",
        Finding::Defunct => "it has exited; what is left is for its parent to wait for it",
        Finding::Unknown => "read what is not known (1) with the rights that it needs",
        Finding::Severed if instance.reach.is_none() => {
            "wait for the closer look, then read what it reaches (1)"
        }
        Finding::Severed => return record::next(app, instance.id),
    };
    Some(text.to_owned())
}

/// The commands of the footer that would do something, in its order; where they do not fit, those
/// in front of its order of importance.
fn commands(app: &App, width: usize) -> Vec<(String, &'static str)> {
    let useful = command::FOOTER.iter().filter_map(|(command, importance)| {
        let spec = command::of(*command)?;
        let of_a_row = matches!(command, Command::Note | Command::Copy);
        let available = (spec.available)(app) == Availability::Yes && (!of_a_row || app.means_rows());
        let word = match command {
            Command::Freeze if !app.feed().is_live() => "thaw",
            _ => spec.footer?,
        };
        Some((*importance, spec.keys.first()?.label(), word)).filter(|_| available)
    });
    let mut shown: Vec<(u8, String, &'static str)> = useful.collect();
    if acting::is_advertised(app)
        && let Some(spec) = command::of(Command::Term)
        && let (Some(key), Some(word)) = (spec.keys.first(), spec.footer)
    {
        let before_last = shown.len().saturating_sub(1);
        shown.insert(before_last, (ADVERTISED, key.label(), word));
    }
    while shown
        .iter()
        .map(|(_, key, word)| columns(key) + columns(word) + 3)
        .sum::<usize>()
        > width + 1
    {
        let Some(least) = shown.iter().map(|(importance, ..)| *importance).min() else {
            break;
        };
        shown.retain(|(importance, ..)| *importance != least);
    }
    shown.into_iter().map(|(_, key, word)| (key, word)).collect()
}

/// Importance of the key for TERM, once the evidence is kept.
const ADVERTISED: u8 = 4;

/// The keys of the record's form.
fn record_keys(app: &App, form: &Form) -> Vec<(&'static str, &'static str)> {
    match form.typing() {
        Some(typing) if typing.command().is_some() => vec![
            ("Enter", "run"),
            ("Esc", "cancel"),
            ("Ctrl-U", "clear"),
            ("Up Down", "another"),
        ],
        Some(_) => vec![("Enter", "write"), ("Esc", "cancel"), ("Ctrl-U", "clear")],
        None => {
            let back = if form.is_listed() { "back" } else { "close" };
            if app.options().read_only {
                return vec![("Up Down", "choose"), ("P", "plain"), ("q Esc", back)];
            }
            let mut keys = vec![
                ("Enter", "fill"),
                ("v", "revoked"),
                ("d", "denied"),
                ("a", "attach"),
            ];
            if !app.options().commands.is_empty() {
                keys.push(("x", "run"));
            }
            keys.extend([("Up Down", "choose"), ("q Esc", back), ("m", "note")]);
            keys
        }
    }
}

/// The keys of the list of records, and of the journal below it.
fn incident_keys(app: &App) -> &'static [(&'static str, &'static str)] {
    if app.listed().is_empty() {
        return &[("Up Down PgUp PgDn", "scroll"), ("Esc Enter", "close")];
    }
    &[
        ("Up Down", "choose"),
        ("Enter", "record"),
        ("PgUp PgDn", "journal"),
        ("Esc", "close"),
    ]
}

/// The keys of what lies over the tree.
fn popup_keys(app: &App, popup: &Popup) -> Vec<(&'static str, &'static str)> {
    match popup.content() {
        Content::Record(form) => record_keys(app, form),
        Content::Act(dialog) => acting::keys(app, dialog),
        Content::Acting if app.act().run().is_some_and(act::Run::can_withdraw) => {
            vec![("x", "withdraw the rest"), ("Esc", "hide, it goes on")]
        }
        Content::Acting if app.act().under_way().is_some() => vec![("Esc", "hide, it goes on")],
        Content::Acting => vec![("q Esc", "close")],
        Content::Quit { .. } => vec![("y", "quit all the same"), ("Esc", "stay")],
        Content::Palette(_) => vec![("Enter", "run"), ("Up Down", "choose"), ("Esc", "close")],
        Content::Incident { .. } => incident_keys(app).to_vec(),
        _ => vec![("Up Down PgUp PgDn", "scroll"), ("q Esc", "close")],
    }
}

/// The keys that do something here and now.
pub(super) fn keys(app: &App, width: usize, theme: Theme) -> Drawn {
    if app.prompt().is_none()
        && let Some((_, Some(rest))) = message(app, width, theme)
    {
        return Drawn::one(format!(" {rest}"), Tone::Strong);
    }
    let mut entries: Vec<(String, &str)> = Vec::new();
    let mut fixed = |pairs: &[(&str, &'static str)]| {
        entries.extend(pairs.iter().map(|(key, word)| ((*key).to_owned(), *word)));
    };
    if let Some(popup) = app.popup() {
        fixed(&popup_keys(app, popup));
    } else if let Some(why) = app.prompt().and_then(Prompt::complaint) {
        return Drawn::one(format!(" {}", theme.text(&Safe::from_text(why))), Tone::Warning);
    } else if app.prompt().is_some_and(|prompt| !prompt.is_of_the_tree()) {
        fixed(&[("Enter", "write"), ("Esc", "cancel")]);
        if app.prompt().is_some_and(Prompt::is_note) {
            if app.prompt().is_some_and(Prompt::has_rows) {
                fixed(&[("Tab", "row or incident")]);
            }
            fixed(&[("Ctrl-E", "editor")]);
        }
        fixed(&[("Ctrl-U", "clear")]);
    } else if let Some(wrong) = app.filter_complaint() {
        return Drawn::one(
            format!(" {}", theme.text(&Safe::from_text(&wrong))),
            Tone::Warning,
        );
    } else if app.prompt().is_some() {
        fixed(&[
            ("Enter", "keep"),
            ("Esc", "cancel"),
            ("Up Down", "select"),
            ("Ctrl-U", "clear"),
        ]);
    } else if app.panes().focus() == Focus::Tree {
        let enter = (is_pane_hidden(app) && width >= ROOMY).then(|| ("Enter".to_owned(), "pane"));
        let taken = enter
            .as_ref()
            .map_or(0, |(key, word)| columns(key) + columns(word) + 3);
        entries = commands(app, width.saturating_sub(taken));
        entries.splice(0..0, enter);
    } else {
        let full = if app.panes().focus() == Focus::FullPane {
            "back to the tree"
        } else {
            "full screen"
        };
        fixed(&[
            ("Up Down", "move"),
            ("y", "copy line"),
            ("Tab", "next pane"),
            ("Enter", full),
            ("Esc", "back"),
            ("?", "help"),
        ]);
    }
    let mut line = Drawn::one(" ".to_owned(), Tone::Plain);
    let mut used = 1;
    for (at, (key, word)) in entries.into_iter().enumerate() {
        let gap = if at == 0 { "" } else { "  " };
        let needed = columns(gap) + columns(&key) + columns(word) + 1;
        if used + needed > width {
            break;
        }
        line.push(gap.to_owned(), Tone::Plain);
        line.push(key, Tone::Key);
        line.push(format!(" {word}"), Tone::Plain);
        used += needed;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_behind_the_first_part_is_dropped_whole() {
        let parts = ["unresolved signals: 8421", "next: revoke a b", "[x]kept"].map(str::to_owned);
        for (width, expected) in [
            (60, "unresolved signals: 8421  next: revoke a b  [x]kept"),
            (50, "unresolved signals: 8421  next: revoke a b"),
            (41, "unresolved signals: 8421"),
            (20, "unresolved signals:…"),
        ] {
            assert_eq!(whole(&parts, width, Glyphs::Unicode), expected, "{width}");
        }
        assert_eq!(whole(&[], 10, Glyphs::Unicode), "");
    }

    #[test]
    fn a_path_is_cut_in_its_middle_and_what_is_said_of_it_stays() {
        let saved = "saved /root/.local/state/mcpwake/snapshots/20261201T010712.000Z.json";
        let denied = "denial of /run/user/0/control/one.sock is on disk";
        for (text, width) in [(saved, 40), (saved, 67), (denied, 36)] {
            let shown = shorten_path(text, width, Glyphs::Unicode);
            let (start, end) = shown.split_once('…').unwrap();
            assert!(text.starts_with(start) && text.ends_with(end), "{shown}");
            assert!(end.len() >= 6 && columns(&shown) == width, "{shown}");
        }
        for (text, width) in [(saved, 80), (saved, 12), ("no path but words", 4)] {
            assert_eq!(shorten_path(text, width, Glyphs::Unicode), text, "{width}");
        }
    }

    #[test]
    fn a_sentence_is_cut_between_words() {
        for (width, expected) in [
            (40, "next: revoke a, verify the denial"),
            (33, "next: revoke a, verify the denial"),
            (32, "next: revoke a, verify the …"),
            (28, "next: revoke a, verify the …"),
            (27, "next: revoke a, verify the…"),
            (26, "next: revoke a, verify …"),
            (4, "nex…"),
        ] {
            let text = "next: revoke a, verify the denial";
            let cut = cut_at_word(text, width, Glyphs::Unicode);
            assert_eq!(cut, expected, "{width}");
            assert!(columns(&cut) <= width);
        }
    }
}
