//! What the terminal can show, decided from the environment: crossterm does not ask terminfo.

use crate::app::Colour;

/// The variables that decide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// Whether `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// The first of `LC_ALL`, `LC_CTYPE`, `LANG` that is set and not empty.
    pub locale: Option<String>,
}

/// What the screen may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Colours.
    pub colour: Colour,
    /// Whether only ASCII may be drawn.
    pub ascii: bool,
    /// Whether bracketed paste is understood.
    pub paste: bool,
}

impl Capabilities {
    /// Returns how many colours there are, in words.
    pub fn colours(self) -> &'static str {
        match self.colour {
            Colour::None => "no colour",
            Colour::Sixteen => "16 colours",
            Colour::Many => "256 colours or more",
        }
    }
}

impl Surroundings {
    /// Reads them from this process's environment.
    pub fn of_this_process() -> Self {
        let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            term: value("TERM"),
            colorterm: value("COLORTERM"),
            no_color: value("NO_COLOR").is_some(),
            locale: ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value),
        }
    }

    /// Returns whether a full screen can be drawn at all.
    pub fn is_terminal_type(&self) -> bool {
        self.term
            .as_deref()
            .is_some_and(|term| term != "dumb" && term != "unknown")
    }

    /// Decides what the screen may use. `ascii` is the user's own wish.
    pub fn capabilities(&self, ascii: bool) -> Capabilities {
        let term = self.term.as_deref().unwrap_or_default();
        let kind = |prefix: &str| term == prefix || term.starts_with(&format!("{prefix}-"));
        let monochrome =
            ["vt52", "vt100", "vt102", "vt220", "vt320"].into_iter().any(kind) || term.ends_with("-mono");
        let many = term.contains("256color")
            || term.contains("direct")
            || self
                .colorterm
                .as_deref()
                .is_some_and(|kind| kind == "truecolor" || kind == "24bit");
        let colour = if self.no_color || monochrome {
            Colour::None
        } else if many {
            Colour::Many
        } else {
            Colour::Sixteen
        };
        // The Linux console has no font for most of Unicode, whatever the locale says.
        let plain = monochrome || kind("linux");
        Capabilities {
            colour,
            ascii: ascii || plain || !self.is_utf8(),
            paste: !plain,
        }
    }

    fn is_utf8(&self) -> bool {
        let locale = self.locale.as_deref().unwrap_or_default().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    }
}

#[cfg(test)]
mod tests {
    use super::{Capabilities, Surroundings};
    use crate::app::Colour;

    fn of(term: &str, locale: &str, no_color: bool) -> Capabilities {
        Surroundings {
            term: Some(term.to_owned()),
            locale: Some(locale.to_owned()).filter(|locale| !locale.is_empty()),
            no_color,
            colorterm: None,
        }
        .capabilities(false)
    }

    #[test]
    fn terminals_degrade() {
        let cases = [
            ("xterm-256color", "C.UTF-8", false, Colour::Many, false, true),
            ("screen-256color", "en_US.utf8", false, Colour::Many, false, true),
            ("screen", "en_US.utf8", false, Colour::Sixteen, false, true),
            ("xterm-256color", "C.UTF-8", true, Colour::None, false, true),
            ("xterm-256color", "", false, Colour::Many, true, true),
            ("xterm", "POSIX", false, Colour::Sixteen, true, true),
            ("vt100", "C.UTF-8", false, Colour::None, true, false),
            ("linux", "C.UTF-8", false, Colour::Sixteen, true, false),
        ];
        for (term, locale, no_color, colour, ascii, paste) in cases {
            assert_eq!(
                of(term, locale, no_color),
                Capabilities { colour, ascii, paste },
                "{term} {locale}"
            );
        }
    }

    #[test]
    fn a_terminal_without_a_type_is_none() {
        let with = |term: Option<&str>| Surroundings {
            term: term.map(str::to_owned),
            ..Surroundings::default()
        };
        assert!(!with(None).is_terminal_type());
        assert!(!with(Some("dumb")).is_terminal_type());
        assert!(with(Some("vt100")).is_terminal_type());
    }
}
