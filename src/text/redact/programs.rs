//! Passwords behind short flags, whose meaning depends on the program: `sshpass -p`, `mysql -pPASSWORD`; and
//! logins, `curl -u name:password`.

use super::edits::Edits;
use super::engine::{Engine, Strength, is_flag};

const PROGRAM: &str = "program";
const LOGIN: &str = "login";

/// What the words so far say of the next one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Follow {
    /// The program that was named last, by its place in the rules.
    program: Option<usize>,
    /// Its sub-command was read, or it needs none.
    in_command: bool,
    next: Next,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Any,
    Password,
    Login,
}

/// Long flags with one dash, of other programs on the same line, that begin as `-pPASSWORD` does.
const LONG_FLAGS: [&str; 10] = [
    "-port",
    "-path",
    "-profile",
    "-project",
    "-prefix",
    "-print",
    "-pid",
    "-plugin",
    "-proxy",
    "-protocol",
];

/// Returns whether a word is short flags in one, `-sSu`, of which the last is in the list.
pub(super) fn cluster_ends(word: &[u8], flags: &[String]) -> bool {
    const LONGEST: usize = 6;
    let Some((last, before)) = word.split_last() else {
        return false;
    };
    (3..=LONGEST).contains(&word.len())
        && before[0] == b'-'
        && before[1..].iter().all(u8::is_ascii_alphabetic)
        && flags
            .iter()
            .any(|flag| flag.len() == 2 && flag.as_bytes()[1] == *last)
}

impl Engine {
    /// Finds the password of one word, behind the words that came before.
    pub(super) fn follow<'r>(&'r self, so_far: &mut Follow, word: &[u8], edits: &mut Edits<'r>) {
        match std::mem::take(&mut so_far.next) {
            Next::Password if !is_flag(word) => {
                let needs_pair = so_far
                    .program
                    .is_some_and(|index| self.document.program[index].needs_pair);
                if !needs_pair || word.contains(&b'=') {
                    self.password(word, 0, edits);
                }
                return;
            }
            Next::Login if !is_flag(word) => return self.login(*so_far, word, 0, edits),
            _ => {}
        }
        if word.starts_with(b"-") {
            self.follow_flag(so_far, word, edits);
        } else {
            self.follow_word(so_far, word);
        }
    }

    fn follow_word(&self, so_far: &mut Follow, word: &[u8]) {
        let base = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
        let rules = &self.document.program;
        let is_named = |name: &String| name.as_bytes() == base;
        if let Some(index) = rules.iter().position(|rule| rule.names.iter().any(is_named)) {
            so_far.program = Some(index);
            so_far.in_command = rules[index].command.is_none();
        } else if let Some(index) = so_far.program
            && rules[index]
                .command
                .as_ref()
                .is_some_and(|command| command.as_bytes() == word)
        {
            so_far.in_command = true;
        }
    }

    fn follow_flag<'r>(&'r self, so_far: &mut Follow, word: &[u8], edits: &mut Edits<'r>) {
        let program = so_far.program.map(|index| &self.document.program[index]);
        if let Some(program) = program.filter(|_| so_far.in_command) {
            if program.next.iter().any(|flag| flag.as_bytes() == word) {
                so_far.next = Next::Password;
                return;
            }
            let long = word.split(|byte| *byte == b'=').next().unwrap_or(word);
            if LONG_FLAGS.iter().any(|flag| flag.as_bytes() == long) {
                return;
            }
            if let Some(flag) = program
                .attached
                .iter()
                .find(|flag| word.starts_with(flag.as_bytes()))
            {
                return self.password(word, flag.len(), edits);
            }
        }
        if cluster_ends(word, &self.document.flags.logins) {
            so_far.next = Next::Login;
            return;
        }
        for flag in &self.document.flags.logins {
            let Some(rest) = word.strip_prefix(flag.as_bytes()) else {
                continue;
            };
            match rest.first() {
                None => so_far.next = Next::Login,
                Some(b'=') => self.login(*so_far, word, flag.len() + 1, edits),
                // `-uname:password`; a single dash may also begin a long flag, as `-url:`.
                Some(_) if flag.len() == 2 => self.login(*so_far, word, flag.len(), edits),
                Some(_) => continue,
            }
            return;
        }
    }

    fn password<'r>(&'r self, word: &[u8], start: usize, edits: &mut Edits<'r>) {
        let value = &word[start..];
        let is_port =
            value.contains(&b':') && value.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
        if !is_port && self.is_secret(value, Strength::Strong) {
            edits.add(start..word.len(), PROGRAM);
        }
    }

    /// `name:password`; user and group by number, URLs and drives are none. Behind a program whose `-u` takes
    /// something else, neither are a user with the group of that name, or with a number, and a path. Only
    /// those: what follows may be the command line of another program.
    fn login<'r>(&'r self, so_far: Follow, word: &[u8], start: usize, edits: &mut Edits<'r>) {
        let value = &word[start..];
        let Some(colon) = value.iter().position(|byte| *byte == b':') else {
            return;
        };
        let (name, password) = (&value[..colon], &value[colon + 1..]);
        let numbers = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
        if numbers(name) && numbers(password)
            || name.iter().any(|byte| matches!(byte, b'/' | b'='))
            || password.starts_with(b"//")
            || name.len() == 1 && password.starts_with(b"\\")
        {
            return;
        }
        let other = so_far
            .program
            .is_some_and(|index| self.document.program[index].user_is_other);
        let path = matches!(password.first(), Some(b'/' | b'~' | b'.'));
        if other && (name == password || numbers(name) || numbers(password) || path) {
            return;
        }
        if self.is_secret(password, Strength::Strong) {
            edits.add(start + colon + 1..word.len(), LOGIN);
        }
    }
}
