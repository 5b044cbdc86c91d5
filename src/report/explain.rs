//! The answer of `explain`, as JSON and as text: what a command line or a process is taken for.

use schemars::JsonSchema;
use serde::Serialize;

use super::page::Page;
use super::publish::Secrets;
use crate::text::{Safe, width};

/// What one command line, or one process, is taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "mcpwake explain, one object a line")]
pub struct Explained {
    /// The command line, redacted; of an argument vector, quoted as for a shell.
    pub line: String,
    /// Whether it is, or starts, an MCP server.
    pub mcp: bool,
    /// What it is.
    #[schemars(extend("enum" = ["client", "launcher", "server", "helper", "other"]))]
    pub role: &'static str,
    /// How sure that is; null where it is no MCP server.
    #[schemars(extend("enum" = ["configured", "known", "likely", null]))]
    pub confidence: Option<&'static str>,
    /// Id of the rule that decided.
    pub rule: Option<String>,
    /// What decided.
    pub because: String,
    /// What nearly matched, and why it did not.
    pub near_misses: Vec<Miss>,
    /// Whether the command line alone cannot decide: configuration, package or wire must.
    pub undecided: bool,
    /// The process, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Id of the instance that the process is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
}

/// A rule that nearly matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Miss {
    /// Id of the rule; null where it is no rule on the command line.
    pub rule: Option<String>,
    /// Why it did not match.
    pub why: String,
}

impl Explained {
    /// Returns the answer with the secrets in its sentences treated as asked. `line` is left as it
    /// is: who made it knows whether it was a vector or a line.
    #[must_use]
    pub fn publish(mut self, secrets: Secrets<'_>) -> Self {
        self.because = secrets.line(&self.because);
        for miss in &mut self.near_misses {
            miss.why = secrets.line(&miss.why);
        }
        self
    }

    /// Returns whether it is an MCP server, in one word: `?` where the command line alone cannot
    /// say.
    fn answer(&self) -> &'static str {
        match (self.mcp, self.undecided) {
            (true, _) => "mcp",
            (false, true) => "?",
            (false, false) => "no",
        }
    }

    /// Returns the answer as one line: answer, role, confidence, rule, command line.
    pub fn one_line(&self) -> String {
        format!(
            "{:<3}  {:<8}  {:<10}  {}  {}",
            self.answer(),
            self.role,
            self.confidence.unwrap_or("-"),
            padded(self.rule.as_deref().unwrap_or("-"), 24),
            Safe::from_text(&self.line),
        )
    }

    /// Returns the answer as a paragraph: what decided, and what nearly did. `columns` of the
    /// terminal; `None`: nothing is wrapped.
    pub fn paragraph(&self, columns: Option<usize>) -> String {
        let mut page = Page::new(columns);
        page.heading(&self.line);
        page.row(
            "is",
            match (self.mcp, self.undecided) {
                (true, _) => "an MCP server, or what starts one",
                (false, true) => "undecided: the command line alone cannot say",
                (false, false) => "no MCP server",
            },
        );
        let rule = self.rule.as_ref().map(|rule| format!("rule {rule}"));
        let parts = [
            Some(self.role.to_owned()),
            self.confidence.map(str::to_owned),
            rule,
        ];
        page.row(
            "role",
            &parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        );
        if let Some(instance) = &self.instance {
            page.row("instance", instance);
        }
        page.row("because", &self.because);
        for miss in &self.near_misses {
            let rule = miss
                .rule
                .as_ref()
                .map(|rule| format!("{rule}: "))
                .unwrap_or_default();
            page.row("not", &format!("{rule}{}", miss.why));
        }
        page.into_text()
    }
}

fn padded(text: &str, columns: usize) -> String {
    let safe = Safe::from_text(text);
    let missing = columns.saturating_sub(width::columns(safe.as_str()));
    format!("{safe}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Explained {
        Explained {
            line: "npx \u{1b}[31m -y mcp-server-x".to_owned(),
            mcp: true,
            role: "launcher",
            confidence: Some("known"),
            rule: Some("npx-package".to_owned()),
            because: "package mcp-server-x".to_owned(),
            near_misses: vec![Miss {
                rule: None,
                why: "no\nentry".to_owned(),
            }],
            undecided: false,
            pid: None,
            instance: None,
        }
    }

    #[test]
    fn an_answer_is_one_line_whatever_the_command_line_holds() {
        let line = answer().one_line();
        assert_eq!(
            line,
            "mcp  launcher  known       npx-package               npx \\x1b[31m -y mcp-server-x"
        );
        let undecided = Explained {
            mcp: false,
            undecided: true,
            ..answer()
        };
        assert!(undecided.one_line().starts_with("?  "));
        let no = Explained {
            mcp: false,
            ..answer()
        };
        assert!(no.one_line().starts_with("no "));
    }

    #[test]
    fn a_paragraph_says_what_decided_and_what_did_not() {
        assert_eq!(
            answer().paragraph(None),
            "npx \\x1b[31m -y mcp-server-x\n  is              an MCP server, or what starts one\n  role            \
             launcher, known, rule npx-package\n  because         package mcp-server-x\n  not             \
             no\\nentry\n"
        );
    }

    #[test]
    fn keys_that_only_a_process_has_are_left_out() {
        let value = serde_json::to_value(answer()).unwrap();
        assert!(value.get("pid").is_none() && value.get("instance").is_none());
        assert_eq!(value["near_misses"][0]["rule"], serde_json::Value::Null);
    }
}
