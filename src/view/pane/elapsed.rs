//! Pane 5: a time line to scale. What was read from the system is drawn; what nobody saw is dotted.

use super::super::paint::{Drawn, Para, lit};
use super::super::theme::{Theme, Tone};
use super::no_process;
use super::subject::Subject;
use crate::app::App;
use crate::model::instance::Role;
use crate::model::process::Process;
use crate::model::time::UnixMillis;
use crate::text::width::{columns, pad, pad_left};
use crate::text::{Safe, format};

/// Columns of the names at the left.
const NAMES: usize = 14;

/// Columns of elapsed time and pid at the right.
const FIGURES: usize = 15;

/// A shorter time line shows seconds, milliseconds.
const SECONDS_BELOW_MS: i64 = 2 * 3_600_000;

/// One line of the picture.
struct Span {
    name: Safe,
    kind: Kind,
    tone: Tone,
}

/// What is drawn.
enum Kind {
    /// A process that runs: from its start until now.
    Running { start: UnixMillis, end: Safe },
    /// Something that is not there any more: nobody saw when it ended.
    Unseen { text: Safe },
}

/// The scale: which time is at which column.
struct Scale {
    from: i64,
    to: i64,
    width: usize,
}

impl Scale {
    /// Returns the column of a point in time, from 0.
    fn column(&self, at: UnixMillis) -> usize {
        let span = u128::try_from((self.to - self.from).max(1)).unwrap_or(1);
        let since = u128::try_from((at.0 - self.from).clamp(0, self.to - self.from)).unwrap_or(0);
        let last = u128::try_from(self.width.saturating_sub(1)).unwrap_or(0);
        usize::try_from(since * last / span).unwrap_or(0)
    }
}

/// Lines of the pane.
pub(super) fn lines(app: &App, subject: &Subject<'_>, width: usize, theme: Theme) -> Vec<Drawn> {
    if subject.process.is_none() {
        return no_process(subject).lines(width, true, theme);
    }
    let sample = &subject.shown.world.sample;
    let spans = spans(app, subject);
    let starts = spans.iter().filter_map(|span| match span.kind {
        Kind::Running { start, .. } => Some(start.0),
        Kind::Unseen { .. } => None,
    });
    let from = starts.min().unwrap_or(sample.taken_at.0);
    let room = width.saturating_sub(NAMES + FIGURES + 1).max(10);
    let scale = Scale {
        from,
        to: sample.taken_at.0.max(from + 1),
        width: room,
    };
    let mut out = vec![axis(&scale, theme)];
    out.extend(spans.iter().map(|span| draw(span, &scale, app, theme)));
    let text = lit(
        "What is drawn was read from the system; what nobody saw is dotted.",
        Tone::Dim,
    );
    out.extend(Para::bare(text).lines(width, true, theme));
    out
}

fn spans(app: &App, subject: &Subject<'_>) -> Vec<Span> {
    let shown = subject.shown;
    let running = |name: Safe, process: &Process, tone: Tone| {
        let elapsed = format::elapsed(shown.world.sample.elapsed_ms(process));
        let end = Safe::from_text(&format!("{elapsed:>5} {}", process.key.pid));
        Span {
            name,
            kind: Kind::Running {
                start: shown.world.sample.started_at(process),
                end,
            },
            tone,
        }
    };
    let mut spans = Vec::new();
    if let Some(instance) = subject.instance {
        let client = instance
            .client
            .as_ref()
            .and_then(|client| shown.process(client.process));
        if let Some(client) = client {
            spans.push(running(Safe::literal("client"), client, Tone::Plain));
        } else {
            let since = app.since().map_or_else(String::new, UnixMillis::clock);
            let text = Safe::from_text(&format!(" not seen; nobody looked before {since}"));
            spans.push(Span {
                name: Safe::literal("client"),
                kind: Kind::Unseen { text },
                tone: Tone::Warning,
            });
        }
        for (key, role) in instance.members() {
            let Some(process) = shown.process(key) else {
                continue;
            };
            let name = match role {
                Role::Server => Safe::literal("server"),
                _ => Safe::join([shown.name(process), Safe::literal(role.word())], " "),
            };
            let own = subject.process.is_some_and(|one| one.key == key);
            spans.push(running(
                name,
                process,
                if own { Tone::Strong } else { Tone::Plain },
            ));
        }
    } else if let Some(process) = subject.process {
        if let Some(parent) = process.ppid.and_then(|pid| shown.by_pid(pid)) {
            spans.push(running(Safe::literal("parent"), parent, Tone::Plain));
        }
        spans.push(running(shown.name(process), process, Tone::Strong));
        for child in shown.index.children(process.key.pid) {
            if let Some(child) = shown.by_pid(*child) {
                let name = Safe::join([Safe::literal(" "), shown.name(child)], "");
                spans.push(running(name, child, Tone::Plain));
            }
        }
    }
    spans
}

/// The start at the left, the middle where there is room, the time of the sample at the right.
fn axis(scale: &Scale, theme: Theme) -> Drawn {
    let seconds = scale.to - scale.from < SECONDS_BELOW_MS;
    let label = |at: i64| {
        let text = UnixMillis(at).day_and_clock();
        let end = if seconds {
            text.len() - 1
        } else {
            text.rfind(':').unwrap_or(text.len())
        };
        text.get(..end).unwrap_or_default().to_owned()
    };
    let (first, last) = (label(scale.from), format!("{}Z", label(scale.to)));
    let middle = label(scale.from + (scale.to - scale.from) / 2);
    let fits = columns(&first) + columns(&middle) + columns(&last) + 4 <= scale.width;
    let mut text = " ".repeat(NAMES);
    text.push_str(&first);
    if fits {
        let before = scale.width / 2 - columns(&middle) / 2;
        text.push_str(&" ".repeat(before.saturating_sub(columns(&first))));
        text.push_str(&middle);
    }
    let fill = (NAMES + scale.width).saturating_sub(columns(&text) + columns(&last));
    text.push_str(&" ".repeat(fill));
    text.push_str(&last);
    Drawn::one(theme.plain(&text).into_owned(), Tone::Dim)
}

fn draw(span: &Span, scale: &Scale, app: &App, theme: Theme) -> Drawn {
    let [begin, middle, end, dot] = theme.bar();
    let mut line = Drawn::one(pad(&theme.text(&span.name), NAMES - 1, theme.glyphs()), span.tone);
    line.push(" ".to_owned(), Tone::Plain);
    match &span.kind {
        Kind::Running { start, end: figures } => {
            let from = scale.column(*start);
            let length = scale.width.saturating_sub(from + 2);
            let mut bar = " ".repeat(from);
            bar.push_str(begin);
            bar.push_str(&middle.repeat(length));
            bar.push_str(end);
            line.push(bar, span.tone);
            line.push(
                pad_left(&theme.text(figures), FIGURES - 1, theme.glyphs()),
                Tone::Plain,
            );
        }
        Kind::Unseen { text } => {
            let until = app
                .since()
                .map_or(scale.width, |since| scale.column(since))
                .max(1);
            let text = theme.text(text);
            let dots = until
                .min(scale.width)
                .min((scale.width + FIGURES).saturating_sub(columns(&text)))
                .max(3);
            line.push(dot.repeat(dots), Tone::Dim);
            line.push(format!("?{text}"), span.tone);
        }
    }
    line
}
