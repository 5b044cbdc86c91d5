//! What a filter asks for: terms that must all hold.

use super::cells;
use super::index::Shown;
use super::processes;
use super::row::{Node, RowId};
use crate::model::finding::Finding;
use crate::model::identity::ProcessKey;
use crate::model::instance::{Instance, OwnerKey};
use crate::model::process::Process;

/// One term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// `finding:severed`; a beginning is enough, so that it works while it is typed.
    Finding(String),
    /// `user:root`, name or number.
    User(String),
    /// `pid:48271`: the process with exactly that pid, or what stands for it: the instance that it is a
    /// member of, the instances that it is the client of; never those that it adopted.
    Pid(u32),
    /// `session:ID`: a part of an identifier in the environment of a member.
    Session(String),
    /// Text in a name, a command line, a working directory, a finding or a client's name.
    Text(String),
}

/// All terms of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
}

impl Query {
    /// Reads a filter. A word with an unknown key is text.
    pub fn parse(text: &str) -> Self {
        Self {
            terms: text
                .split_whitespace()
                .map(|word| term(&word.to_lowercase(), word))
                .collect(),
        }
    }

    /// Returns what is wrong with the first term of a filter that cannot mean what it says; `None` where
    /// nothing is. A term that is not finished is not wrong.
    pub fn complaint(text: &str) -> Option<String> {
        text.split_whitespace().find_map(|word| {
            let (key, value) = word.split_once(':')?;
            let is_name = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic());
            if value.is_empty() || !is_name || value.starts_with('/') {
                return None;
            }
            let lower = value.to_lowercase();
            match key.to_lowercase().as_str() {
                "user" | "session" => None,
                "finding" if Finding::ALL.iter().any(|one| one.word().starts_with(&lower)) => None,
                "finding" => {
                    let all = Finding::ALL.map(Finding::word).join(" ");
                    Some(format!("no finding \"{value}\": {all}"))
                }
                "pid" if value.parse::<u32>().is_ok() => None,
                "pid" => Some(format!("pid:{value}: a pid is a number; looked for as text")),
                _ => Some(format!(
                    "\"{key}\" is no field (finding user pid session); looked for as text"
                )),
            }
        })
    }

    /// Reads text that is searched as it is, blanks included.
    pub fn text(text: &str) -> Self {
        let text = text.trim().to_lowercase();
        Self {
            terms: if text.is_empty() {
                Vec::new()
            } else {
                vec![Term::Text(text)]
            },
        }
    }

    /// Returns the terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns whether everything matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns whether a row matches by itself. Rows of owners do by their pid alone, rows of counts never:
    /// they are shown for what is below them.
    pub fn matches(&self, shown: Shown<'_>, node: &Node) -> bool {
        match &node.id {
            RowId::Owner(owner) => {
                let pid = super::row::owner_pid(owner);
                let is_it = |term: &Term| matches!(term, Term::Pid(wanted) if pid.is_some_and(|pid| pid.get() == *wanted));
                !self.terms.is_empty() && self.terms.iter().all(is_it)
            }
            RowId::Kind(..) => false,
            RowId::Instance(id) => shown
                .instance(*id)
                .is_some_and(|instance| self.terms.iter().all(|term| instance_has(shown, instance, term))),
            RowId::Process(key) => shown
                .process(*key)
                .is_some_and(|process| self.terms.iter().all(|term| process_has(shown, process, term))),
        }
    }

    /// Returns whether a row is what a search looks for: like `matches`, and by name for rows of
    /// owners and counts.
    pub fn finds(&self, shown: Shown<'_>, node: &Node) -> bool {
        match &node.id {
            RowId::Owner(_) | RowId::Kind(..) => {
                let name = cells::name(shown, node).as_str().to_lowercase();
                self.terms
                    .iter()
                    .all(|term| matches!(term, Term::Text(text) if name.contains(text.as_str())))
            }
            RowId::Instance(_) | RowId::Process(_) => self.matches(shown, node),
        }
    }
}

fn term(word: &str, exact: &str) -> Term {
    let Some((key, value)) = word.split_once(':') else {
        return Term::Text(word.to_owned());
    };
    match (key, value.parse::<u32>()) {
        ("finding", _) => Term::Finding(value.to_owned()),
        ("user", _) => Term::User(exact[key.len() + 1..].to_owned()),
        ("pid", Ok(pid)) => Term::Pid(pid),
        ("pid", _) if value.is_empty() => Term::Text(String::new()),
        ("session", _) => Term::Session(value.to_owned()),
        _ => Term::Text(word.to_owned()),
    }
}

fn instance_has(shown: Shown<'_>, instance: &Instance, term: &Term) -> bool {
    let mut members = instance.members().map(|(key, _)| key);
    match term {
        Term::Finding(word) => instance.finding.word().starts_with(word.as_str()),
        Term::User(user) => shown
            .process(instance.lead_process())
            .is_some_and(|process| is_user(process, user)),
        Term::Pid(pid) => {
            let client = instance.client.as_ref().map(|client| client.process.pid);
            members.any(|key| key.pid.get() == *pid) || client.is_some_and(|one| one.get() == *pid)
        }
        Term::Session(id) => members.any(|key| has_session(shown, key, id)),
        Term::Text(text) => {
            let numbered = |key: ProcessKey| key.pid.get().to_string() == *text;
            instance.name.lossy().to_lowercase().contains(text)
                || instance.finding.word().contains(text.as_str())
                || members.any(|key| numbered(key) || has_text(shown, key, text))
                || instance
                    .client
                    .as_ref()
                    .is_some_and(|one| one.name.lossy().to_lowercase().contains(text))
                || owner_has(shown, &instance.owner, text)
        }
    }
}

fn process_has(shown: Shown<'_>, process: &Process, term: &Term) -> bool {
    match term {
        Term::Finding(_) => false,
        Term::User(user) => is_user(process, user),
        Term::Pid(pid) => process.key.pid.get() == *pid,
        Term::Session(id) => has_session(shown, process.key, id),
        Term::Text(text) => process.key.pid.get().to_string() == *text || has_text(shown, process.key, text),
    }
}

fn is_user(process: &Process, user: &str) -> bool {
    processes::user_is(process, user)
        || process
            .user
            .value()
            .is_some_and(|name| name.lossy().starts_with(user) && !user.is_empty())
}

fn has_session(shown: Shown<'_>, key: ProcessKey, id: &str) -> bool {
    let environment = shown.process(key).and_then(|process| process.environment.value());
    environment.is_some_and(|environment| {
        environment
            .identifiers
            .values()
            .any(|value| value.lossy().to_lowercase().contains(id))
    })
}

fn has_text(shown: Shown<'_>, key: ProcessKey, text: &str) -> bool {
    let Some(process) = shown.process(key) else {
        return false;
    };
    shown.folded_line(key).contains(text)
        || process.comm.lossy().to_lowercase().contains(text)
        || process
            .cwd
            .value()
            .is_some_and(|cwd| cwd.lossy().to_lowercase().contains(text))
}

fn owner_has(shown: Shown<'_>, owner: &OwnerKey, text: &str) -> bool {
    match owner {
        OwnerKey::Adopter(key) | OwnerKey::Process(key) => {
            shown
                .process(*key)
                .is_some_and(|process| process.comm.lossy().to_lowercase().contains(text))
                || shown
                    .world
                    .judged
                    .clients
                    .get(key)
                    .is_some_and(|one| one.name.to_lowercase().contains(text))
        }
        OwnerKey::User(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_by_key_and_the_rest_is_text() {
        let query = Query::parse("finding:sev user:Root pid:48271 session:5F0E Node http://x pid:12a");
        assert_eq!(
            query.terms(),
            [
                Term::Finding("sev".to_owned()),
                Term::User("Root".to_owned()),
                Term::Pid(48271),
                Term::Session("5f0e".to_owned()),
                Term::Text("node".to_owned()),
                Term::Text("http://x".to_owned()),
                Term::Text("pid:12a".to_owned()),
            ]
        );
    }

    #[test]
    fn terms_that_cannot_be_meant_are_told() {
        for (text, expected) in [
            (
                "finding:sevred",
                "no finding \"sevred\": severed held wedged defunct unknown network attached",
            ),
            ("x pid:abc", "pid:abc: a pid is a number; looked for as text"),
            (
                "fidning:held",
                "\"fidning\" is no field (finding user pid session); looked for as text",
            ),
        ] {
            assert_eq!(Query::complaint(text).as_deref(), Some(expected));
            assert!(expected.len() < 80, "fits the narrowest usual screen");
        }
        for text in [
            "",
            "finding:sev",
            "Finding:SEVERED",
            "finding:",
            "pid:",
            "pid:12 user:root session:x",
            "http://x",
            "a:/b :c 10.0.0.1:80",
        ] {
            assert_eq!(Query::complaint(text), None, "{text}");
        }
    }

    #[test]
    fn a_search_keeps_its_blanks() {
        assert_eq!(
            Query::text(" -m MCP_git ").terms(),
            [Term::Text("-m mcp_git".to_owned())]
        );
        assert!(Query::text("  ").is_empty());
    }
}
