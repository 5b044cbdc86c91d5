//! The incident in words: its directory, its head, what was done; and what stands against quitting.

use super::paint::{Para, lit, say};
use super::theme::Tone;
use crate::app::App;
use crate::journal::Story;
use crate::journal::story::Note;
use crate::text::Safe;

/// Columns of number and time of an entry.
const ENTRY: usize = 15;

/// Text of the popup of the incident.
pub(super) fn incident(app: &App) -> Vec<Para> {
    let Some(incident) = app.keep().incident() else {
        return vec![Para::bare(lit("The incident is being opened.", Tone::Plain))];
    };
    let labelled =
        |label: &'static str, text: &str| Para::labelled(lit(label, Tone::Strong), say(text, Tone::Plain));
    let mut out = vec![
        labelled("title", incident.title()),
        labelled("directory", incident.path()),
    ];
    if let Some(head) = incident.head() {
        out.push(labelled("head", &head.to_string()));
    }
    out.extend(faults(app));
    for what in app.keep().not_on_disk() {
        out.push(Para::labelled(
            lit("NOT YET", Tone::Alarm),
            say(&format!("{what} is not on disk"), Tone::Alarm),
        ));
    }
    out.push(Para::blank());
    for event in &incident.story().events {
        let mut para = Para::labelled(
            say(&format!("{:>3} {}", event.seq, event.at.clock()), Tone::Dim),
            say(&event.what, Tone::Plain),
        )
        .note(Safe::from_text(&event.operator.to_string()));
        para.gutter = ENTRY;
        out.push(para);
    }
    out.extend(notes(incident.story()));
    out
}

/// The notes of all instances and of the incident, the oldest first.
fn notes(story: &Story) -> Vec<Para> {
    let whole = story.notes.iter().map(|note| (String::new(), note));
    let of_instances = story.threads.values().flat_map(|thread| {
        let name = format!("{} {}: ", thread.on.name, thread.on.pid());
        thread.notes.iter().map(move |note| (name.clone(), note))
    });
    let mut all: Vec<(String, &Note)> = whole.chain(of_instances).collect();
    all.sort_by_key(|(_, note)| note.at);
    let mut out: Vec<Para> = all
        .into_iter()
        .flat_map(|(about, note)| {
            let at = say(&format!("    {}", note.at.clock()), Tone::Dim);
            let text = format!("{about}{}", note.text);
            let operator = Safe::from_text(&note.operator.to_string());
            let paras = Para::several(at, &text, Tone::Plain, operator);
            paras.into_iter().map(|para| Para {
                gutter: ENTRY,
                ..para
            })
        })
        .collect();
    if !out.is_empty() {
        out.insert(0, Para::bare(lit("Notes", Tone::Strong)));
    }
    out
}

/// Returns what the header says of an incident that is not as it was written.
pub(super) fn fault_line(faults: &[String]) -> Option<String> {
    let first = faults.first()?;
    Some(match faults.len() {
        1 => format!("NOT AS WRITTEN (!): {first}"),
        many => format!("NOT AS WRITTEN ({many}, !): {first}"),
    })
}

/// Returns what is not as it was written, one paragraph each.
pub(super) fn faults(app: &App) -> Vec<Para> {
    let faults = app.keep().faults().iter();
    faults
        .map(|fault| Para::labelled(lit("FAULT", Tone::Alarm), say(fault, Tone::Alarm)))
        .collect()
}

/// Text of the question before the program ends.
pub(super) fn quit(reasons: &[String]) -> Vec<Para> {
    let mut out: Vec<Para> = reasons
        .iter()
        .map(|reason| Para::bare(say(reason, Tone::Warning)))
        .collect();
    out.push(Para::blank());
    out.push(Para::bare(lit(
        "y quits all the same; any other key stays.",
        Tone::Plain,
    )));
    out
}
