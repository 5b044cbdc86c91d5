//! What a name says of its value: the name of a flag, a variable, a header, a parameter, a key.

use super::plain;
use super::rules::Document;

/// What a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing.
    Plain,
    /// A secret, unless it is a file or a plain choice.
    Weak,
    /// A secret.
    Strong,
}

/// Longer names are no names.
const MAX_NAME: usize = 128;

/// Lists of names in the form that lookups need: words with a blank before each.
#[derive(Debug)]
pub(super) struct Names {
    strong: Vec<String>,
    weak: Vec<String>,
    endings: Vec<String>,
    anywhere: Vec<String>,
    harmless: Vec<String>,
    about: Vec<String>,
    headers: Vec<String>,
    header_words: Vec<String>,
    parameters: Vec<String>,
    maps: Vec<String>,
    chance: Vec<String>,
}

impl Names {
    pub(super) fn new(rules: &Document) -> Self {
        let spaced = |list: &[String]| list.iter().map(|phrase| format!(" {phrase}")).collect();
        let closed = |list: &[String]| list.iter().map(|phrase| format!(" {phrase} ")).collect();
        Self {
            strong: spaced(&rules.names.strong),
            weak: spaced(&rules.names.weak),
            endings: rules.names.endings.clone(),
            anywhere: closed(&rules.names.anywhere),
            harmless: spaced(&rules.names.harmless),
            about: spaced(&rules.names.about),
            headers: spaced(&rules.headers.names),
            header_words: closed(&rules.headers.words),
            parameters: closed(&rules.url.parameters),
            maps: spaced(&rules.json.maps),
            chance: spaced(&rules.chance.words),
        }
    }

    /// Of a flag, without its dashes, or a key in JSON.
    pub(super) fn of_flag(&self, name: &[u8]) -> Meaning {
        match words(name) {
            Some(words) => self.by_tail(&words),
            None => Meaning::Plain,
        }
    }

    /// Of a variable, which is also judged by what stands in the middle.
    pub(super) fn of_variable(&self, name: &[u8]) -> Meaning {
        let Some(words) = words(name) else {
            return Meaning::Plain;
        };
        match self.by_tail(&words) {
            Meaning::Plain
                if !ends(&self.about, &words)
                    && !ends(&self.harmless, &words)
                    && contains(&self.anywhere, &words) =>
            {
                Meaning::Strong
            }
            meaning => meaning,
        }
    }

    /// Of a header.
    pub(super) fn of_header(&self, name: &[u8]) -> Meaning {
        match words(name) {
            Some(words) if self.headers.contains(&words) => Meaning::Strong,
            Some(words) => self.by_tail(&words),
            None => Meaning::Plain,
        }
    }

    /// Of what a flag says to be a header: there one word in its name is enough.
    pub(super) fn of_told_header(&self, name: &[u8]) -> Meaning {
        match (self.of_header(name), words(name)) {
            (Meaning::Plain, Some(words))
                if !ends(&self.about, &words)
                    && !ends(&self.harmless, &words)
                    && contains(&self.header_words, &words) =>
            {
                Meaning::Strong
            }
            (meaning, _) => meaning,
        }
    }

    /// Of a parameter of a URL.
    pub(super) fn of_parameter(&self, name: &[u8]) -> Meaning {
        match words(name) {
            Some(words) if contains(&self.parameters, &words) => Meaning::Strong,
            Some(words) => self.by_tail(&words),
            None => Meaning::Plain,
        }
    }

    /// Whether every value below this key of JSON goes.
    pub(super) fn is_map(&self, name: &[u8]) -> bool {
        words(name).is_some_and(|words| self.maps.contains(&words))
    }

    /// Whether a random-looking run behind this word is a secret.
    pub(super) fn is_telling(&self, word: &[u8]) -> bool {
        words(word).is_some_and(|words| ends(&self.chance, &words))
    }

    fn by_tail(&self, words: &str) -> Meaning {
        if ends(&self.harmless, words) {
            Meaning::Plain
        } else if ends(&self.weak, words) && !ends(&self.strong, words) {
            Meaning::Weak
        } else if ends(&self.strong, words)
            || self.endings.iter().any(|ending| words.ends_with(ending.as_str()))
        {
            Meaning::Strong
        } else {
            Meaning::Plain
        }
    }
}

fn ends(phrases: &[String], words: &str) -> bool {
    phrases.iter().any(|phrase| words.ends_with(phrase.as_str()))
}

fn contains(phrases: &[String], words: &str) -> bool {
    let closed = format!("{words} ");
    phrases.iter().any(|phrase| closed.contains(phrase.as_str()))
}

/// Returns the words of a name in lower case, each with a blank before it, without numbers at
/// the end; `None` where it is no name.
fn words(name: &[u8]) -> Option<String> {
    let seen = plain::normal(name);
    let name = seen.as_ref().map_or(name, |view| &view.bytes);
    if name.is_empty()
        || name.len() > MAX_NAME
        || !name[0].is_ascii_alphanumeric() && !matches!(name[0], b'_' | b'$')
    {
        return None;
    }
    let mut words = String::with_capacity(name.len() + 4);
    let mut before = b' ';
    for (at, &byte) in name.iter().enumerate() {
        let after = name.get(at + 1).copied().unwrap_or(b' ');
        if byte.is_ascii_alphanumeric() {
            let begins = !before.is_ascii_alphanumeric()
                || byte.is_ascii_uppercase()
                    && (before.is_ascii_lowercase()
                        || before.is_ascii_digit()
                        || before.is_ascii_uppercase() && after.is_ascii_lowercase());
            if begins {
                words.push(' ');
            }
            words.push(char::from(byte.to_ascii_lowercase()));
        } else if !matches!(byte, b'-' | b'_' | b'.' | b'[' | b']' | b' ' | b'/' | b'$' | b'@') {
            return None;
        }
        before = byte;
    }
    words.truncate(
        words
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ')
            .len(),
    );
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_into_words() {
        for (name, expected) in [
            ("githubApiKey", " github api key"),
            ("GITHUB_API_KEY", " github api key"),
            ("github.api-key", " github api key"),
            ("APIKey2", " api key"),
            ("API_KEY_2", " api key"),
            ("oauth2", " oauth"),
            ("oauth2Bearer", " oauth2 bearer"),
            ("HTTPSProxy", " https proxy"),
            ("$schema", " schema"),
        ] {
            assert_eq!(words(name.as_bytes()).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(words(b"<redacted:flag:len=3>"), None);
        assert_eq!(words(b""), None);
    }
}
