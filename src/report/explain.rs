//! The answer of `explain`, as JSON and as text: what a command line or a process is taken for.

use schemars::JsonSchema;
use serde::Serialize;

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

    /// Returns the answer as a paragraph: what decided, and what nearly did.
    pub fn paragraph(&self) -> String {
        let mut text = format!("{}\n", Safe::from_text(&self.line));
        let sure = self
            .confidence
            .map(|confidence| format!(", {confidence}"))
            .unwrap_or_default();
        let rule = self
            .rule
            .as_ref()
            .map(|rule| format!(", rule {}", Safe::from_text(rule)));
        let answer = match (self.mcp, self.undecided) {
            (true, _) => "an MCP server, or what starts one",
            (false, true) => "undecided: the command line alone cannot say",
            (false, false) => "no MCP server",
        };
        text.push_str(&format!("  is        {answer}\n"));
        text.push_str(&format!(
            "  role      {}{sure}{}\n",
            self.role,
            rule.unwrap_or_default()
        ));
        if let Some(instance) = &self.instance {
            text.push_str(&format!("  instance  {instance}\n"));
        }
        text.push_str(&format!("  because   {}\n", Safe::from_text(&self.because)));
        for miss in &self.near_misses {
            let rule = miss
                .rule
                .as_ref()
                .map(|rule| format!("{}: ", Safe::from_text(rule)));
            let rule = rule.unwrap_or_default();
            text.push_str(&format!("  not       {rule}{}\n", Safe::from_text(&miss.why)));
        }
        text
    }
}

fn padded(text: &str, columns: usize) -> String {
    let safe = Safe::from_text(text);
    let missing = columns.saturating_sub(width::columns(safe.as_str()));
    format!("{safe}{}", " ".repeat(missing))
}
