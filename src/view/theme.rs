//! Colours and signs, by what the terminal can show. Colour never stands alone: every tone also
//! differs in its words or signs.

use std::borrow::Cow;
use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};

use crate::app::{Colour, Options};
use crate::journal::record::DOT;
use crate::model::finding::Finding;
use crate::text::Safe;
use crate::text::width::Glyphs;

/// What a text is to the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
    /// What matters less.
    Dim,
    /// What matters more.
    Strong,
    /// A bar: headings, titles.
    Bar,
    /// The chosen one of a bar or list.
    Chosen,
    /// A key that can be pressed.
    Key,
    /// Something to look at first.
    Alarm,
    /// Something to look at.
    Warning,
    /// Something that is well.
    Good,
}

impl Tone {
    /// Returns the tone of a finding.
    pub(super) fn of(finding: Finding) -> Self {
        match finding {
            Finding::Severed | Finding::Defunct => Self::Alarm,
            Finding::Held | Finding::Wedged | Finding::Unknown => Self::Warning,
            Finding::Network => Self::Plain,
            Finding::Attached => Self::Good,
        }
    }
}

/// Colours and signs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    colour: Colour,
    ascii: bool,
}

impl Theme {
    /// Returns the theme that the options ask for.
    pub(super) fn new(options: &Options) -> Self {
        Self {
            colour: options.colour,
            ascii: options.ascii,
        }
    }

    /// Returns how a tone is drawn.
    pub(super) fn style(self, tone: Tone) -> Style {
        let style = Style::default();
        let colour = |sixteen: Color, many: u8| match self.colour {
            Colour::None => style,
            Colour::Sixteen => style.fg(sixteen),
            Colour::Many => style.fg(Color::Indexed(many)),
        };
        match tone {
            Tone::Plain => style,
            Tone::Dim if self.colour == Colour::Many => colour(Color::Gray, 245),
            Tone::Dim => style.add_modifier(Modifier::DIM),
            Tone::Strong => style.add_modifier(Modifier::BOLD),
            Tone::Bar => match self.colour {
                Colour::None => style.add_modifier(Modifier::UNDERLINED),
                _ => colour(Color::Cyan, 74),
            },
            Tone::Chosen => style.add_modifier(Modifier::REVERSED),
            Tone::Key => colour(Color::Cyan, 117).add_modifier(Modifier::BOLD),
            Tone::Alarm => colour(Color::Red, 203).add_modifier(Modifier::BOLD),
            Tone::Warning => colour(Color::Yellow, 221).add_modifier(Modifier::BOLD),
            Tone::Good => colour(Color::Green, 114),
        }
    }

    /// Returns the sign set for cutting text.
    pub(super) fn glyphs(self) -> Glyphs {
        if self.ascii {
            Glyphs::Ascii
        } else {
            Glyphs::Unicode
        }
    }

    /// Returns the sign of a row whose children are shown.
    pub(super) fn open(self) -> &'static str {
        if self.ascii { "v" } else { "▾" }
    }

    /// Returns the sign of a row whose children are not shown.
    pub(super) fn folded(self) -> &'static str {
        if self.ascii { ">" } else { "▸" }
    }

    /// Returns the line of titles and borders.
    pub(super) fn line(self) -> &'static str {
        if self.ascii { "-" } else { "─" }
    }

    /// Returns the upright line of borders.
    pub(super) fn upright(self) -> &'static str {
        if self.ascii { "|" } else { "│" }
    }

    /// Returns the four corners: top left, top right, bottom left, bottom right.
    pub(super) fn corners(self) -> [&'static str; 4] {
        if self.ascii {
            ["+"; 4]
        } else {
            ["┌", "┐", "└", "┘"]
        }
    }

    /// Returns beginning, middle and end of a time that was seen, and the dot of one that was not.
    pub(super) fn bar(self) -> [&'static str; 4] {
        if self.ascii {
            ["|", "=", ">", "."]
        } else {
            ["├", "─", "▸", "·"]
        }
    }

    /// Returns what stands between two values of one field.
    pub(super) fn between(self) -> &'static str {
        if self.ascii { "-" } else { DOT }
    }

    /// Returns escaped text as it may be drawn: in ASCII only, where that is asked for.
    pub(super) fn text(self, text: &Safe) -> Cow<'_, str> {
        self.plain(text.as_str())
    }

    /// Like `text`, for what is escaped already and was cut or joined since.
    pub(super) fn plain(self, text: &str) -> Cow<'_, str> {
        if !self.ascii || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '…' => out.push('~'),
                c if c.is_ascii() => out.push(c),
                c => {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
                }
            }
        }
        Cow::Owned(out)
    }
}
