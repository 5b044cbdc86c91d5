//! Secrets found by their own look: parts of URLs, `name=value` in the middle, shapes of tokens,
//! random runs behind a telling word.

use regex::bytes::Regex;

use super::edits::Edits;
use super::engine::{Engine, MAX_DEPTH, Strength};
use super::names::Meaning;
use super::rules::{Check, Document, RuleError, ascii_regex};

const URL_PASSWORD: &str = "url-password";
const URL_USER: &str = "url-user";
const URL_QUERY: &str = "url-query";
const URL_PATH: &str = "url-path";
const PAIR: &str = "pair";
const CHANCE: &str = "chance";

/// A userinfo longer than this is not looked for: it bounds the search for its end.
const MAX_USERINFO: usize = 4096;

/// A quoted value of code or JSON up to its quote, in one of three groups.
const VALUE: &str = r#"(?:"((?:[^"\\]|\\[\w/.$'])+)|'((?:[^'\\]|\\[\w/.$"])+)|`((?:[^`\\]|\\[\w/.$"'])+))"#;

/// Expressions for what stands anywhere in a text.
#[derive(Debug)]
pub(super) struct Anywhere {
    /// `?name=value`, and the same behind other separators.
    parameter: Regex,
    /// `;name=value` of connection strings, where `;` also ends the value.
    semicolon: Regex,
    /// `"name": "value"`, quotes escaped or not: JSON that is broken, YAML, code. Also `["name"] = "value"`
    /// and `setdefault("name", "value")`.
    quoted: Regex,
    /// `name = "value"` of code.
    code: Regex,
    /// A run of base64 that begins as JSON does.
    pub(super) base64: Regex,
    /// A telling word and a run of characters behind it.
    chance: Regex,
}

impl Anywhere {
    pub(super) fn new(rules: &Document) -> Result<Self, RuleError> {
        let words: Vec<String> = rules
            .chance
            .words
            .iter()
            .map(|word| word.replace(' ', "[ _.-]?"))
            .collect();
        let chance = format!(
            r#"(?i)(?:{})\\*["']?[\s:=>]{{1,4}}\\*["']?([A-Za-z0-9+/_=-]{{{},}})"#,
            words.join("|"),
            rules.chance.min_length
        );
        Ok(Self {
            parameter: constant(r#"([?&#|(\{,`])([A-Za-z_][\w.\[\]%-]{0,63})=([^&#\s"'`\\]+)"#)?,
            semicolon: constant(r#";[ ]*([A-Za-z_][\w. -]{0,63})=([^;\s"'`\\]+)"#)?,
            quoted: constant(&format!(
                r#"(?:\\*["']([\w. -]{{1,64}})\\*["']\s*\]?\s*[:=]|(?:setdefault|[sg]et|putenv|[sg]etenv|setItem)\(\s*\\*["']([\w. -]{{1,64}})\\*["']\s*,)\s*\\*{VALUE}"#
            ))?,
            code: constant(&format!(
                r"([A-Za-z_$][\w.$-]{{0,63}})(?:\s{{0,4}}:\s{{0,4}}(\w{{1,64}}))?\s{{0,4}}:?=\s{{0,4}}\\*{VALUE}"
            ))?,
            base64: constant(r"(?:^|[^A-Za-z0-9+_-])((?:ey|ew|W[3wy])[A-Za-z0-9+/_-]{14,}={0,2})")?,
            chance: constant(&chance)?,
        })
    }
}

fn constant(expression: &str) -> Result<Regex, RuleError> {
    ascii_regex(expression).map_err(|error| RuleError {
        file: "redact".to_owned(),
        line: 0,
        key: "expression".to_owned(),
        what: error.to_string(),
    })
}

impl Engine {
    /// Finds what can be told without knowing where the text came from.
    pub(super) fn leaf<'r>(&'r self, text: &[u8], depth: usize, edits: &mut Edits<'r>) {
        if text.contains(&b'=') || text.contains(&b':') || text.contains(&b'(') {
            self.pairs(text, depth, edits);
            self.code(text, edits);
        }
        if depth < MAX_DEPTH {
            self.base64(text, depth, edits);
        }
        if text.contains(&b'/') {
            self.urls(text, edits);
        }
        self.shapes(text, edits);
        for found in self.anywhere.chance.captures_iter(text) {
            if let Some(run) = found.get(1)
                && looks_random(run.as_bytes())
            {
                edits.add(run.range(), CHANCE);
            }
        }
    }

    /// Finds tokens of known shape.
    pub(super) fn shapes<'r>(&'r self, text: &[u8], edits: &mut Edits<'r>) {
        const SHORTEST: usize = 12;
        if text.len() < SHORTEST {
            return;
        }
        for index in self.shape_set.matches(text) {
            let shape = &self.shapes[index];
            for found in shape.regex.captures_iter(text) {
                let Some(secret) = found.get(1).or_else(|| found.get(0)) else {
                    continue;
                };
                let passes = match shape.check {
                    Check::None => true,
                    Check::Mixed => is_mixed(secret.as_bytes()),
                    Check::Random => looks_random(secret.as_bytes()),
                };
                if passes {
                    edits.add(secret.range(), &shape.id);
                }
            }
        }
    }

    fn pairs<'r>(&'r self, text: &[u8], depth: usize, edits: &mut Edits<'r>) {
        for found in self.anywhere.parameter.captures_iter(text) {
            let (Some(separator), Some(name), Some(value)) = (found.get(1), found.get(2), found.get(3))
            else {
                continue;
            };
            let in_url = matches!(separator.as_bytes(), b"?" | b"&" | b"#");
            let (meaning, rule) = if in_url {
                (self.names.of_parameter(name.as_bytes()), URL_QUERY)
            } else {
                (self.names.of_variable(name.as_bytes()), PAIR)
            };
            if self.is_secret_by(meaning, value.as_bytes())
                || in_url && depth < MAX_DEPTH && self.hides_in_percents(value.as_bytes(), depth)
            {
                let kept = if in_url { 0 } else { punctuation(value.as_bytes()) };
                edits.add(value.start()..value.end() - kept, rule);
            }
        }
        for found in self.anywhere.semicolon.captures_iter(text) {
            let (Some(name), Some(value)) = (found.get(1), found.get(2)) else {
                continue;
            };
            if self.is_secret_by(self.names.of_variable(name.as_bytes()), value.as_bytes()) {
                edits.add(value.range(), PAIR);
            }
        }
    }

    /// Finds values in quotes that a program text or broken JSON gives to a name.
    fn code<'r>(&'r self, text: &[u8], edits: &mut Edits<'r>) {
        for found in self.anywhere.quoted.captures_iter(text) {
            let value = found.get(3).or(found.get(4)).or(found.get(5));
            let (Some(name), Some(value)) = (found.get(1).or(found.get(2)), value) else {
                continue;
            };
            if self.is_secret_by(self.names.of_variable(name.as_bytes()), value.as_bytes()) {
                edits.add(value.range(), PAIR);
            }
        }
        for found in self.anywhere.code.captures_iter(text) {
            let value = found.get(3).or(found.get(4)).or(found.get(5));
            let (Some(name), Some(value)) = (found.get(1), value) else {
                continue;
            };
            // In code a weak name is met too often: `sort(key="name")`.
            let is_strong = |name: &[u8]| self.names.of_variable(name) == Meaning::Strong;
            // `$env:NAME = …` of PowerShell; else a type stands there.
            let behind_colon = found.get(2).is_some_and(|name| is_strong(name.as_bytes()));
            if (behind_colon || is_strong(name.as_bytes()))
                && self.is_secret(value.as_bytes(), Strength::Strong)
            {
                edits.add(value.range(), PAIR);
            }
        }
    }

    fn is_secret_by(&self, meaning: Meaning, value: &[u8]) -> bool {
        match meaning {
            Meaning::Plain => false,
            Meaning::Weak => self.is_secret(value, Strength::Weak),
            Meaning::Strong => self.is_secret(value, Strength::Strong),
        }
    }

    fn urls<'r>(&'r self, text: &[u8], edits: &mut Edits<'r>) {
        let mut from = 0;
        let mut path_done = 0;
        while let Some(found) = find(&text[from..], b"://") {
            let authority = from + found + 3;
            let scheme = text[..from + found]
                .rsplit(|byte| !is_scheme(*byte))
                .next()
                .unwrap_or(b"");
            let host_start = self.userinfo(text, authority, scheme, edits);
            let host_end = end_of(text, host_start, |byte| matches!(byte, b'/' | b'?' | b'#'));
            if matches!(scheme, b"http" | b"https" | b"ws" | b"wss" | b"sse") {
                let host = &text[host_start..host_end];
                path_done = self.path(text, host_end.max(path_done), host, edits);
            }
            from = host_start.max(authority);
        }
    }

    /// Finds a password, or a user name that is a token; returns where the host starts.
    fn userinfo<'r>(&'r self, text: &[u8], start: usize, scheme: &[u8], edits: &mut Edits<'r>) -> usize {
        let window = &text[..text.len().min(start + MAX_USERINFO)];
        let strict_end = end_of(window, start, |byte| matches!(byte, b'/' | b'?' | b'#'));
        let strict = window[start..strict_end].iter().rposition(|byte| *byte == b'@');
        let at = match strict {
            Some(at) => start + at,
            None => match sloppy_userinfo(window, start, strict_end) {
                Some(at) => at,
                None => return start,
            },
        };
        let userinfo = &text[start..at];
        // A mark of ours has colons itself.
        if find(userinfo, b"<redacted:").is_some() {
            return at + 1;
        }
        let user_len = userinfo
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or(userinfo.len());
        let password = userinfo.get(user_len + 1..).unwrap_or_default();
        if self.is_secret(password, Strength::Strong) {
            edits.add(start + user_len + 1..at, URL_PASSWORD);
        }
        let user = &userinfo[..user_len];
        if !self.is_login(user, scheme) && self.is_secret(user, Strength::Strong) {
            edits.add(start..start + user_len, URL_USER);
        }
        at + 1
    }

    /// Returns whether the user of a URL is a login name. Where people log in (`ssh`, databases) it
    /// is, unless it is long and random; elsewhere, as in `https://TOKEN@host`, only a known name or a
    /// short word of small letters is.
    fn is_login(&self, user: &[u8], scheme: &[u8]) -> bool {
        const LOGIN: usize = 32;
        const WORD: usize = 16;
        const RANDOM: usize = 16;
        let url = &self.document.url;
        let is_in =
            |list: &[String], word: &[u8]| list.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(word));
        if is_in(&url.logins, user) {
            return true;
        }
        if is_in(&url.login_schemes, scheme) {
            return user.len() <= LOGIN && !(user.len() >= RANDOM && looks_random(user));
        }
        user.len() <= WORD
            && user
                .iter()
                .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-' | b'_'))
    }

    /// Finds keys among the parts of a path; returns where it ends.
    fn path<'r>(&'r self, text: &[u8], start: usize, host: &[u8], edits: &mut Edits<'r>) -> usize {
        let end = end_of(text, start, |byte| matches!(byte, b'?' | b'#'));
        let mut at = start;
        let mut before: &[u8] = b"";
        for part in text[start..end].split(|byte| *byte == b'/') {
            if self.is_key_in_path(part, before, host) {
                edits.add(at..at + part.len(), URL_PATH);
            }
            at += part.len() + 1;
            before = part;
        }
        end
    }

    fn is_key_in_path(&self, part: &[u8], before: &[u8], host: &[u8]) -> bool {
        let url = &self.document.url;
        let token = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=' | b'+' | b'.' | b'~')
        };
        if part.len() < url.path_min_length || !part.iter().all(token) {
            return false;
        }
        let behind = |list: &[String]| {
            list.iter()
                .any(|word| word.as_bytes().eq_ignore_ascii_case(before))
        };
        if is_uuid(part) {
            return !behind(&url.uuid_after);
        }
        let stem = part.split(|byte| *byte == b'.').next().unwrap_or(part);
        if stem.len() == 40 && stem.iter().all(u8::is_ascii_hexdigit) {
            let on_host = url
                .commit_hosts
                .iter()
                .any(|name| name.as_bytes().eq_ignore_ascii_case(host));
            return !on_host && !behind(&url.commit_after);
        }
        looks_random(part)
    }
}

/// Returns how many signs at the end of a value belong to the code around it.
fn punctuation(value: &[u8]) -> usize {
    let signs = value
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b',' | b')' | b'}' | b']'))
        .count();
    if signs == value.len() { 0 } else { signs }
}

/// Returns where a password ends that holds a `/`, `?` or `#` that should have been encoded.
fn sloppy_userinfo(window: &[u8], start: usize, strict_end: usize) -> Option<usize> {
    let colon = start + window[start..strict_end].iter().position(|byte| *byte == b':')?;
    let behind = &window[colon + 1..strict_end];
    if behind.is_empty() || behind.iter().all(u8::is_ascii_digit) || behind.starts_with(b"]") {
        return None;
    }
    // `http://[::1]:80/x@y` is an address, not a password.
    if window[start] == b'[' {
        return None;
    }
    let end = end_of(window, start, |_| false);
    let at = window[strict_end..end].iter().position(|byte| *byte == b'@')?;
    Some(strict_end + at)
}

/// Returns where a URL's part ends: at what `ends` says, a blank, a quote, or the text's end.
fn end_of(text: &[u8], start: usize, ends: impl Fn(u8) -> bool) -> usize {
    let stops =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\') || ends(*byte);
    text[start..]
        .iter()
        .position(stops)
        .map_or(text.len(), |length| start + length)
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A digit, or a capital behind a small letter: no ordinary word.
fn is_mixed(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit)
        || text
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Returns whether letters and digits, small and capital, follow each other as by chance: words,
/// versions and dates joined by dashes do not, nor do names in camel case.
pub(super) fn looks_random(text: &[u8]) -> bool {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = text.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if digits == 0 || letters == 0 || is_uuid(text) {
        return false;
    }
    let mut changes = 0;
    let mut before = b' ';
    let mut before_that = b' ';
    for &byte in text {
        let digit_edge = before.is_ascii_alphanumeric()
            && byte.is_ascii_alphanumeric()
            && before.is_ascii_digit() != byte.is_ascii_digit();
        let rises = before.is_ascii_lowercase() && byte.is_ascii_uppercase();
        // `Ab` behind no capital begins a word of camel case.
        let falls =
            before.is_ascii_uppercase() && byte.is_ascii_lowercase() && before_that.is_ascii_uppercase();
        changes += usize::from(digit_edge || rises || falls);
        (before_that, before) = (before, byte);
    }
    changes * 4 >= digits + letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_told_from_words() {
        for random in [
            "a8f3b91c7d2e4f60a1b2c3d4",
            "Zx9Qp2Lm7Rt4Vb8Nc1Ka6Jd3",
            "q7xK2mPz9LwB4vNs8TdR",
            "3f786850e387550fdab836ed7e6dc881de23001b",
        ] {
            assert!(looks_random(random.as_bytes()), "{random}");
        }
        for ordinary in [
            "chrome-devtools-mcp-server-2025",
            "modelcontextprotocol-server-filesystem-v2",
            "MyVeryLongCamelCaseIdentifier1",
            "2025-06-18-release-candidate",
            "x86_64-unknown-linux-gnu",
            "123456789012345678901234",
            "0190a2f4-1111-7abc-8def-0123456789ab",
        ] {
            assert!(!looks_random(ordinary.as_bytes()), "{ordinary}");
        }
    }
}
