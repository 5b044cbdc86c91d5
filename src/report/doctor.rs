//! The published format `mcpwake.doctor/1`, and the same as text: what the self-test found.
//!
//! Nothing in it is private: no names of users or hosts, no home directories, no command lines or
//! addresses of others.

use schemars::JsonSchema;
use serde::Serialize;

use super::list::Paper;
use crate::text::{Safe, width};

/// Name of the format, in `schema`.
pub const SCHEMA: &str = "mcpwake.doctor/1";

/// Said at the end: what a reader of the report may rely on.
const PRIVATE: &str = "none: no names of users or hosts, no home directories, no command lines of other processes, no \
                       addresses";

/// Columns that the first two cells of a line take, with the spaces behind them.
const INDENT: usize = ANSWER + TITLE;
const ANSWER: usize = 13;
const TITLE: usize = 26;

/// Fewest columns that the last cell is wrapped to.
const NARROWEST: usize = 24;

/// Whether a capability is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It was tried, and what was seen is true; or it is as the program needs it.
    Works,
    /// This system, or this build, has no such thing.
    Unsupported,
    /// The system refuses it to this user, or read-only does.
    Denied,
    /// It should work here, and does not.
    Failed,
    /// What was seen is not true: a fault of the program.
    Wrong,
}

impl Answer {
    /// All values, the best first.
    pub const ALL: [Self; 5] = [
        Self::Works,
        Self::Unsupported,
        Self::Denied,
        Self::Failed,
        Self::Wrong,
    ];

    /// Returns the word as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Unsupported => "unsupported",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Wrong => "wrong",
        }
    }

    /// Returns whether something is amiss with the program or this machine's set-up.
    pub fn is_trouble(self) -> bool {
        matches!(self, Self::Failed | Self::Wrong)
    }
}

/// One capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// Which, in words that do not change: `processes.argv`.
    pub id: &'static str,
    /// Which, for people.
    pub title: &'static str,
    /// Whether it is there.
    pub answer: Answer,
    /// What was seen, or why nothing was.
    pub seen: String,
    /// What to do; null where nothing needs doing or nothing helps.
    #[serde(rename = "do")]
    pub advice: Option<String>,
}

/// How many capabilities got each answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// `works`.
    pub works: usize,
    /// `unsupported`.
    pub unsupported: usize,
    /// `denied`.
    pub denied: usize,
    /// `failed`.
    pub failed: usize,
    /// `wrong`.
    pub wrong: usize,
}

/// What the self-test found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "mcpwake.doctor/1")]
pub struct Diagnosis {
    /// Always `mcpwake.doctor/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// When, RFC 3339 UTC with milliseconds.
    pub taken_at: String,
    /// Version of the program.
    pub program: &'static str,
    /// Which rules judge: the program's own, and digests of what configuration files add.
    pub rules: String,
    /// Operating system; null where no sample could be taken.
    #[schemars(extend("enum" = ["linux", "macos", null]))]
    pub os: Option<&'static str>,
    /// Its release as people call it, where known.
    pub release: Option<String>,
    /// Kernel release; null where no sample could be taken.
    pub kernel: Option<String>,
    /// Whether it ran as root.
    pub root: Option<bool>,
    /// The capabilities.
    pub checks: Vec<Check>,
    /// How many got each answer.
    pub answers: Counts,
    /// Says that there is no private data in this.
    #[schemars(extend("const" = PRIVATE))]
    pub private_data: &'static str,
}

impl Check {
    /// Returns one that needs nothing to be done.
    pub fn new(id: &'static str, title: &'static str, answer: Answer, seen: impl Into<String>) -> Self {
        Self {
            id,
            title,
            answer,
            seen: seen.into(),
            advice: None,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn advised(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// What was examined, for a diagnosis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// Operating system.
    pub os: Option<crate::model::host::Os>,
    /// Its release.
    pub release: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Whether it ran as root.
    pub root: Option<bool>,
    /// Which rules judge.
    pub rules: String,
}

impl Diagnosis {
    /// Returns the diagnosis that these checks make.
    pub fn new(taken_at: String, examined: Examined, checks: Vec<Check>) -> Self {
        let count = |answer| checks.iter().filter(|check| check.answer == answer).count();
        let answers = Counts {
            works: count(Answer::Works),
            unsupported: count(Answer::Unsupported),
            denied: count(Answer::Denied),
            failed: count(Answer::Failed),
            wrong: count(Answer::Wrong),
        };
        Self {
            schema: SCHEMA,
            taken_at,
            program: env!("CARGO_PKG_VERSION"),
            rules: examined.rules,
            os: examined.os.map(super::word::os),
            release: examined.release,
            kernel: examined.kernel,
            root: examined.root,
            checks,
            answers,
            private_data: PRIVATE,
        }
    }

    /// Returns whether any answer is `failed` or `wrong`.
    pub fn is_trouble(&self) -> bool {
        self.checks.iter().any(|check| check.answer.is_trouble())
    }

    /// Returns it as a table for people.
    pub fn text(&self, paper: Paper) -> String {
        let mut text = String::new();
        let mut head = |label: &str, value: &str| line(&mut text, paper, label, "", value);
        head("program", &format!("mcpwake {}", self.program));
        head("rules", &self.rules);
        let known = |value: Option<&str>| value.unwrap_or("not known").to_owned();
        let system = match (&self.os, &self.release) {
            (_, Some(release)) => release.clone(),
            (os, None) => known(*os),
        };
        head("system", &system);
        head("kernel", &known(self.kernel.as_deref()));
        let user = self.root.map(|root| if root { "root" } else { "not root" });
        head("user", &known(user));
        head("at", &self.taken_at);
        text.push('\n');
        line(&mut text, paper, "ANSWER", "CAPABILITY", "SEEN");
        for check in &self.checks {
            line(&mut text, paper, check.answer.word(), check.title, &check.seen);
            if let Some(advice) = &check.advice {
                line(&mut text, paper, "", "", &format!("-> {advice}"));
            }
        }
        let counts = Answer::ALL.map(|answer| {
            let of = |check: &&Check| check.answer == answer;
            format!("{} {}", self.checks.iter().filter(of).count(), answer.word())
        });
        text.push('\n');
        let sum = format!("{} capabilities: {}", self.checks.len(), counts.join(", "));
        let private = format!("private data in this report: {PRIVATE}");
        let room = paper.columns.unwrap_or(usize::MAX).max(NARROWEST);
        for part in [sum, private].iter().flat_map(|line| width::wrap(line, room)) {
            text.push_str(part.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Writes one line of three cells; the last goes on below itself where the terminal is narrow.
fn line(text: &mut String, paper: Paper, first: &str, second: &str, last: &str) {
    let second_at = if second.is_empty() && !first.is_empty() {
        0
    } else {
        TITLE
    };
    let head = format!("{first:<ANSWER$}{second:<second_at$}");
    let indent = width::columns(&head);
    let room = paper.columns.map_or(usize::MAX, |columns| {
        columns.saturating_sub(indent).max(NARROWEST)
    });
    let last = Safe::from_text(last);
    for (number, part) in width::wrap(last.as_str(), room).iter().enumerate() {
        let before = if number == 0 {
            head.clone()
        } else {
            " ".repeat(indent.min(INDENT))
        };
        text.push_str(format!("{before}{part}").trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::host::Os;
    use crate::text::width::Glyphs;

    fn diagnosis() -> Diagnosis {
        let checks = vec![
            Check::new(
                "processes.argv",
                "command lines",
                Answer::Works,
                "6 of 6 own children, byte for byte",
            ),
            Check::new(
                "processes.others",
                "other users' processes",
                Answer::Denied,
                "0 of 93 could be read: \u{1b}[31m the system refuses it to this user",
            )
            .advised("run it as root"),
        ];
        let examined = Examined {
            os: Some(Os::Linux),
            kernel: Some("6.1.0".to_owned()),
            root: Some(false),
            rules: "built into mcpwake".to_owned(),
            ..Examined::default()
        };
        Diagnosis::new("2026-12-01T01:08:02.123Z".to_owned(), examined, checks)
    }

    #[test]
    fn the_text_has_a_line_for_each_capability_and_ends_with_what_is_private() {
        let paper = Paper {
            columns: None,
            glyphs: Glyphs::Ascii,
        };
        let text = diagnosis().text(paper);
        let wanted = "works        command lines             6 of 6 own children, byte for byte\n\
                      denied       other users' processes    0 of 93 could be read: \\x1b[31m the system refuses it to this user\n\
                      \x20                                      -> run it as root\n\
                      \n\
                      2 capabilities: 1 works, 0 unsupported, 1 denied, 0 failed, 0 wrong\n";
        assert!(text.contains(wanted), "{text}");
        assert!(
            text.lines()
                .last()
                .unwrap()
                .starts_with("private data in this report: none")
        );
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn a_terminal_gets_lines_that_fit() {
        for columns in 64..140 {
            let paper = Paper {
                columns: Some(columns),
                glyphs: Glyphs::Ascii,
            };
            let text = diagnosis().text(paper);
            assert!(
                text.lines().all(|line| width::columns(line) <= columns),
                "{columns}\n{text}"
            );
        }
    }

    #[test]
    fn only_what_failed_or_is_wrong_is_trouble() {
        assert!(!diagnosis().is_trouble());
        for answer in Answer::ALL {
            let mut one = diagnosis();
            one.checks[0].answer = answer;
            assert_eq!(
                one.is_trouble(),
                matches!(answer, Answer::Failed | Answer::Wrong),
                "{answer:?}"
            );
            assert_eq!(serde_json::to_value(answer).unwrap(), answer.word());
        }
    }
}
