//! The dialog before a signal: each target as it is now, what would follow, what is not done, and what
//! has to be typed. What has to be typed is always in sight; the rest scrolls.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::Scroll;
use super::paint::{Drawn, Para, fill, lit, say};
use super::popup::{centred, frame};
use super::theme::{Theme, Tone};
use crate::analysis::plan::{LOSES_NOBODY, consequences, fate};
use crate::app::App;
use crate::app::act::{Code, Dialog};
use crate::journal::story::SignalState;
use crate::model::act::Signal;
use crate::model::identity::ProcessKey;
use crate::model::plan::{Consequence, Item, Topic};
use crate::model::process::Process;
use crate::table::index::command_line;
use crate::text::width::{columns, truncate, wrap};
use crate::text::{Safe, format};

/// Widest dialog.
const WIDEST: u16 = 100;

/// Below this width what has to be typed is said in few words.
const NARROW: usize = 60;

/// Lines of a target's command line.
const COMMAND_LINES: usize = 3;

/// More strangers of a group than this are counted.
const STRANGERS: usize = 4;

/// Draws the dialog; answers with the place of the cursor.
pub(super) fn draw(
    buffer: &mut Buffer,
    screen: Rect,
    app: &App,
    dialog: &Dialog,
    scroll: &mut Scroll,
    theme: Theme,
) -> Option<Position> {
    let width = screen.width.min(WIDEST);
    let inner = usize::from(width.saturating_sub(4));
    let paper = Paper {
        app,
        dialog,
        width: inner,
        theme,
    };
    let (lines, chosen) = paper.body();
    let foot = paper.foot();
    let wanted = u16::try_from(lines.len() + foot.len() + 2).unwrap_or(u16::MAX);
    let height = wanted.clamp(4, screen.height.saturating_sub(2));
    let area = centred(screen, width, height);
    let foot_height = u16::try_from(foot.len())
        .unwrap_or(u16::MAX)
        .min(area.height.saturating_sub(3));
    let body = Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2 + foot_height),
    };
    let room = usize::from(body.height);
    let mut top = scroll.popup.to(dialog.scrolled(), lines.len(), room);
    if dialog.scrolled() == 0 {
        // Unless it was scrolled by hand, the chosen line stays in sight.
        top = chosen.end.saturating_sub(room).min(chosen.start);
    }
    let last = (top + room).min(lines.len());
    let place = if lines.len() > room {
        let keys = match (top > 0, last < lines.len()) {
            (true, true) => "PgUp PgDn",
            (true, false) => "PgUp",
            (false, _) => "PgDn",
        };
        format!(" {}-{last} of {}, {keys} ", top + 1, lines.len())
    } else {
        String::new()
    };
    frame(buffer, area, &paper.title(), &place, theme);
    for ((at, line), y) in lines.iter().enumerate().skip(top).zip(body.y..body.bottom()) {
        let row = Rect { y, height: 1, ..body };
        line.draw(buffer, row, theme);
        if at == chosen.start && dialog.plan().items.len() > 1 {
            fill(buffer, row, theme, Tone::Chosen);
        }
    }
    // The end of the foot says what has to be typed: where there is no room, its beginning goes.
    let skipped = foot.len().saturating_sub(usize::from(foot_height));
    let mut cursor = None;
    for (line, y) in foot.into_iter().skip(skipped).zip(body.bottom()..) {
        line.draw(buffer, Rect { y, height: 1, ..body }, theme);
        cursor = Some(y);
    }
    let (_, x) = paper.prompt();
    Some(Position {
        x: body.x + u16::try_from(x).unwrap_or(0).min(body.width.saturating_sub(1)),
        y: cursor?,
    })
}

/// Returns what the journal tells of a signal that another screen has sent.
fn told(state: &SignalState) -> String {
    let became = match (&state.outcome, &state.refused) {
        (Some(found), _) => found.outcome.words(),
        (None, Some(why)) => why,
        (None, None) => "no outcome yet",
    };
    format!(
        "{} to {} by {} at {}: {became}",
        state.signal,
        state.target.key.pid,
        state.operator,
        state.announced_at.clock()
    )
}

struct Paper<'a> {
    app: &'a App,
    dialog: &'a Dialog,
    width: usize,
    theme: Theme,
}

impl Paper<'_> {
    fn title(&self) -> Safe {
        let signal = match self.dialog.signal() {
            Some(Signal::Kill) => "KILL (forced containment)",
            Some(signal) => signal.word(),
            None => "SIGNAL",
        };
        let plan = self.dialog.plan();
        let first = plan.items.iter().find(|item| item.ticked);
        let name = first.map_or_else(String::new, |item| self.name_of(item));
        let name = match plan.items.iter().filter(|item| item.ticked).count() {
            0 => "no target".to_owned(),
            1 => name,
            many => format!("{name} and {} more", many - 1),
        };
        let sample = &self.dialog.now().sample;
        let read = match self.dialog.read_at() {
            Some(at) => format!("read {}", at.clock()),
            None => "being read again".to_owned(),
        };
        let text = format!(
            "{signal} {name}  on {} as {}  {read}",
            sample.host.hostname.lossy(),
            sample.observer.user.lossy()
        );
        Safe::from_text(&self.app.options().redactor.line(&text))
    }

    fn name_of(&self, item: &Item) -> String {
        let instance = item
            .target
            .member
            .and_then(|(id, _)| self.dialog.now().judged.instance(id));
        instance.map_or_else(|| item.name.clone(), |one| one.name.lossy().into_owned())
    }

    /// Text of the judgement and of other processes: without secrets, escaped.
    fn text(&self, text: &str, tone: Tone) -> super::paint::Piece {
        say(&self.app.options().redactor.line(text), tone)
    }

    /// The lines that scroll, and those of the chosen item.
    fn body(&self) -> (Vec<Drawn>, std::ops::Range<usize>) {
        let warnings = self.warnings().into_iter();
        let mut lines: Vec<Drawn> = warnings
            .flat_map(|para| para.lines(self.width, true, self.theme))
            .collect();
        let mut chosen = 0..0;
        for (at, item) in self.dialog.plan().items.iter().enumerate() {
            let drawn = self.item(item);
            if at == self.dialog.at() {
                chosen = lines.len()..lines.len() + drawn.len();
            }
            lines.extend(drawn);
        }
        for para in self.rest() {
            lines.extend(para.lines(self.width, true, self.theme));
        }
        (lines, chosen)
    }

    fn item(&self, item: &Item) -> Vec<Drawn> {
        let key = item.target.key;
        let process = self.dialog.now().sample.get(key);
        let lost = self.dialog.lost(key);
        let refused = item.refused.as_ref().map(crate::model::plan::Refusal::words);
        let mark = match (item.ticked, lost.is_some() || refused.is_some()) {
            (true, _) => "[x]",
            (false, true) => " - ",
            (false, false) => "[ ]",
        };
        let role = item.role().map_or("no member", |role| role.word());
        let mut head = format!("{mark} {} {role}", key.pid);
        let command = process.map(|process| command_line(process, &self.app.options().redactor));
        let command = command.unwrap_or_default();
        if let Some(why) = refused.as_deref().or(lost) {
            let text = format!("{head} {}: {why}", item.name);
            return Para::bare(self.text(&text, Tone::Dim)).lines(self.width, true, self.theme);
        }
        let Some(process) = process.filter(|_| item.ticked) else {
            return self.offered(key, &head, &command);
        };
        head.push_str(&self.state(process));
        let mut lines = Para::bare(self.text(&head, Tone::Strong)).lines(self.width, true, self.theme);
        let indent = 4.min(self.width / 4);
        let room = self.width.saturating_sub(indent).max(1);
        let command = self.theme.text(&command);
        let mut wrapped = wrap(&command, room);
        if wrapped.len() > COMMAND_LINES {
            wrapped.truncate(COMMAND_LINES);
            let end = wrapped.pop().unwrap_or_default();
            let cut = truncate(&end, room.saturating_sub(2), self.theme.glyphs()).into_owned();
            wrapped.push(format!("{cut} {}", self.theme.glyphs().ellipsis()));
        }
        lines.extend(
            wrapped
                .into_iter()
                .map(|line| Drawn::one(format!("{}{line}", " ".repeat(indent)), Tone::Plain)),
        );
        lines
    }

    /// A process that is offered: one line, and what becomes of it.
    fn offered(&self, key: ProcessKey, head: &str, command: &Safe) -> Vec<Drawn> {
        let signal = self.dialog.signal().unwrap_or(Signal::Term);
        let fate = fate(self.dialog.now(), self.dialog.plan(), key, signal);
        let fate = self.theme.text(&Safe::from_text(&fate)).into_owned();
        let head = self.theme.text(&Safe::from_text(head)).into_owned();
        let room = self.width.saturating_sub(columns(&head) + columns(&fate) + 4);
        let command = self.theme.text(command);
        let tone = if fate.starts_with("SURVIVES") {
            Tone::Warning
        } else {
            Tone::Plain
        };
        if room >= 8 {
            let cut = truncate(&command, room, self.theme.glyphs());
            let mut line = Drawn::one(format!("{head} {cut}   "), Tone::Plain);
            line.push(fate, tone);
            return vec![line];
        }
        let room = self.width.saturating_sub(columns(&head) + 1);
        let cut = truncate(&command, room, self.theme.glyphs());
        vec![
            Drawn::one(format!("{head} {cut}"), Tone::Plain),
            Drawn::one(format!("    {fate}"), tone),
        ]
    }

    fn state(&self, process: &Process) -> String {
        let sample = &self.dialog.now().sample;
        let user = process
            .user
            .value()
            .map_or_else(|| "user not known".to_owned(), |user| user.lossy().into_owned());
        // The sample may be older than the reading that the title names.
        let since = self.dialog.read_at().map_or(0, |read| read.0 - sample.taken_at.0);
        let elapsed_ms = sample.elapsed_ms(process) + u64::try_from(since).unwrap_or(0);
        let cpu = process
            .cpu_permille
            .map_or_else(String::new, |permille| format!(" {} %", permille / 10));
        format!(
            " {} since {}  {user}  {}{cpu}",
            format::elapsed(elapsed_ms),
            sample.started_at(process).day_and_clock(),
            process.stat,
        )
    }

    /// What stands above the targets: that other rows are meant than those in sight, and that a live
    /// client is among them.
    fn warnings(&self) -> Vec<Para> {
        let mut out = Vec::new();
        if !self.dialog.hidden().is_empty() {
            let text = format!("Marked, but not visible now: {}", self.dialog.hidden().join(", "));
            out.push(Para::bare(self.text(&text, Tone::Warning)));
        }
        if let Some(row) = self.dialog.not_meant() {
            let text = format!("The marked rows are meant; {row} is selected and is not one of them.");
            out.push(Para::bare(self.text(&text, Tone::Warning)));
        }
        for client in self.dialog.clients() {
            out.push(Para::bare(self.text(&client, Tone::Alarm)));
        }
        for item in self.dialog.plan().items.iter().filter(|item| item.ticked) {
            let others = self.app.signals_of_others(item.target.key);
            // CONT goes with another signal, and has no outcome of its own.
            let mut telling = others
                .iter()
                .rev()
                .filter(|state| state.signal != Signal::Cont.word());
            if let Some(state) = telling.next() {
                out.push(Para::bare(self.text(&told(state), Tone::Alarm)));
            }
        }
        let loss = self.consequences().into_iter().find(is_loss);
        out.extend(loss.map(|loss| Para::bare(self.text(&loss.text, Tone::Alarm))));
        out
    }

    fn consequences(&self) -> Vec<Consequence> {
        let signal = self.dialog.signal().unwrap_or(Signal::Term);
        consequences(self.dialog.now(), self.dialog.plan(), signal)
    }

    /// What stands below the targets.
    fn rest(&self) -> Vec<Para> {
        let mut out = self.strangers();
        let all = self.consequences();
        let brief: Vec<&str> = all
            .iter()
            .filter(|one| {
                matches!(one.topic, Topic::Loses | Topic::Restart | Topic::Handling) && !is_loss(one)
            })
            .map(|one| one.text.as_str())
            .collect();
        out.push(Para::bare(self.text(&brief.join(" "), Tone::Plain)));
        for one in all.iter().filter(|one| one.topic > Topic::Handling) {
            let tone = if matches!(one.topic, Topic::Survives | Topic::Remote) {
                Tone::Warning
            } else {
                Tone::Plain
            };
            out.push(Para::bare(self.text(&one.text, tone)));
        }
        if let Some(window) = self.dialog.window() {
            out.push(Para::bare(lit(window, Tone::Warning)));
        }
        out.push(Para::bare(self.text(&self.kept(), Tone::Plain)));
        out
    }

    fn strangers(&self) -> Vec<Para> {
        let beside = &self.dialog.plan().beside;
        let mut out: Vec<Para> = beside
            .iter()
            .take(STRANGERS)
            .map(|one| {
                let text = format!(" -  {} {}, not offered", one.pid, one.text);
                Para::row(self.text(&text, Tone::Dim))
            })
            .collect();
        if beside.len() > STRANGERS {
            let text = format!(
                " -  and {} more of the same group, not offered",
                beside.len() - STRANGERS
            );
            out.push(Para::row(say(&text, Tone::Dim)));
        }
        out
    }

    fn kept(&self) -> String {
        let at = self.dialog.seen_at().clock();
        let snapshot = if self.dialog.is_kept(self.app) {
            format!("snapshot {at} holds what was seen")
        } else {
            format!("what was seen {at} is saved before anything is sent")
        };
        match self.app.keep().incident() {
            Some(incident) => {
                let seq = incident.head().map_or(0, |head| head.seq);
                format!("kept {} #{seq}, {snapshot}", incident.title())
            }
            None if self.app.keep().is_open() => format!("the incident is being opened; {snapshot}"),
            None => "NO INCIDENT IS OPEN: nothing can be sent".to_owned(),
        }
    }

    /// The lines that never scroll away: missing steps, and what has to be typed.
    fn foot(&self) -> Vec<Drawn> {
        let mut out = Vec::new();
        let missing = self.dialog.missing(self.app);
        if self.dialog.signal().is_some() && !missing.is_empty() {
            let steps = self.dialog.missing_words(self.app);
            let brief = self.width < NARROW;
            let (text, tone) = match (self.dialog.passes_over(&missing), brief) {
                (true, true) => (format!("PASSED OVER: {steps}"), Tone::Warning),
                (true, false) => (format!("PASSED OVER, to be journalled: {steps}"), Tone::Warning),
                (false, true) => (format!("NOT DONE (o): {steps}"), Tone::Alarm),
                (false, false) => (format!("NOT DONE, o = go on without: {steps}"), Tone::Alarm),
            };
            let para = Para::bare(self.text(&text, tone));
            let lines = para.lines(self.width, self.width >= NARROW, self.theme);
            out.extend(lines.into_iter().take(2));
        }
        if self.dialog.signal() == Some(Signal::Term) && !self.dialog.stopped().is_empty() {
            let text = if self.dialog.continues() {
                "[x] CONT with it: it goes on and takes the TERM   c"
            } else {
                "[ ] CONT with it: without, the TERM stays pending   c"
            };
            out.push(Drawn::one(text.to_owned(), Tone::Warning));
        }
        out.extend(
            self.prompt()
                .0
                .into_iter()
                .map(|line| Drawn::one(line, Tone::Key)),
        );
        out
    }

    /// What has to be typed, with the column of the cursor in the last line.
    fn prompt(&self) -> (Vec<String>, usize) {
        let Some(signal) = self.dialog.signal() else {
            let text = "T asks it to end (TERM); K is forced containment (KILL), clean-up is lost. Esc back";
            return (wrap(text, self.width), 0);
        };
        let Some(code) = Code::of(self.dialog) else {
            let text = "No target is ticked: Space ticks the chosen line. Esc back";
            return (wrap(text, self.width), 0);
        };
        let again = self.dialog.asks_again();
        let word = signal.word();
        let what = match (self.dialog.read_at(), self.width < NARROW) {
            (None, _) => "Wait: the targets are being read again.".to_owned(),
            (Some(_), true) if again => format!("{word} CLIENT, {}", code.brief()),
            (Some(_), true) => format!("{word} {}", code.brief()),
            (Some(_), false) if again => {
                format!(
                    "A LIVE CLIENT: once more {} and Enter to send {word}:",
                    code.words()
                )
            }
            (Some(_), false) => format!("Type {} and Enter to send {word}:", code.words()),
        };
        let typed = self.dialog.input();
        let fill = code.columns().saturating_sub(typed.len());
        let input = format!("[{typed}{}]", " ".repeat(fill));
        let text = format!("{what} {input}");
        let (mut lines, cursor) = if columns(&text) <= self.width {
            let cursor = columns(&what) + 2 + typed.len();
            (vec![text], cursor)
        } else {
            let mut lines = wrap(&what, self.width);
            lines.push(input);
            (lines, 1 + typed.len())
        };
        if let Some(last) = lines.last_mut()
            && columns(last) + 10 <= self.width
        {
            last.push_str("  Esc back");
        }
        (lines, cursor)
    }
}

/// Whether somebody loses something, or that cannot be told: it stands above the targets.
fn is_loss(one: &Consequence) -> bool {
    one.topic == Topic::Loses && one.text != LOSES_NOBODY
}
