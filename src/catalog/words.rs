//! Splits what a process shows into words: argument vectors, rewritten titles, `ps` lines, shell
//! strings.

use std::borrow::Cow;

use crate::model::bytes::OsBytes;

/// Elements looked at; what follows is data in every real command line.
const WORDS: usize = 192;
/// Bytes of an element looked at.
const WORD_BYTES: usize = 4096;
/// Bytes of a line looked at.
const LINE_BYTES: usize = 16 * 1024;
/// Simple commands of a shell string looked at.
const COMMANDS: usize = 8;

/// A word; borrowed wherever it is UTF-8.
pub(super) type Word<'a> = Cow<'a, str>;

/// A command's words, and whether they were elements of a vector.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    pub(super) words: Vec<Word<'a>>,
    /// The words come from one string: quotes and empty arguments may be lost.
    pub(super) joined: bool,
}

/// Returns the words of an argument vector; a vector of one element with spaces is a title that
/// the process wrote over it.
pub(super) fn of_argv(argv: &[OsBytes]) -> Words<'_> {
    let used = argv
        .iter()
        .rposition(|element| !element.is_empty())
        .map_or(0, |last| last + 1);
    let argv = &argv[..used.min(WORDS)];
    if let [title] = argv
        && title.as_bytes().contains(&b' ')
    {
        return Words {
            words: split_line(text(title, LINE_BYTES)),
            joined: true,
        };
    }
    Words {
        words: argv.iter().map(|element| text(element, WORD_BYTES)).collect(),
        joined: false,
    }
}

/// Returns the words of a line as `ps` shows it.
pub(super) fn of_line(line: &str) -> Words<'_> {
    let mut words = split_line(Cow::Borrowed(cut(line, LINE_BYTES)));
    words.truncate(WORDS);
    Words { words, joined: true }
}

fn text(element: &OsBytes, limit: usize) -> Word<'_> {
    let bytes = element.as_bytes();
    String::from_utf8_lossy(&bytes[..bytes.len().min(limit)])
}

/// Cuts at a character.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns a program's name: the last part of its path, without a login shell's dash, the mark of
/// a deleted file, and a suffix that says only "executable".
pub(super) fn program(word: &str) -> &str {
    let word = word.strip_suffix(" (deleted)").unwrap_or(word);
    let name = basename(word);
    let name = name
        .strip_prefix('-')
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name);
    for suffix in [".exe", ".cmd", ".bat", ".EXE", ".CMD"] {
        if let Some(stem) = name.strip_suffix(suffix) {
            return stem;
        }
    }
    name
}

/// Returns an interpreter's name without its version: `python` for `python3.11` and `Python`.
pub(super) fn unversioned(program: &str) -> &str {
    if program == "Python" {
        return "python";
    }
    for plain in [
        "python", "pypy", "nodejs", "node", "ruby", "php", "perl", "lua", "pip", "java",
    ] {
        if let Some(rest) = program.strip_prefix(plain) {
            let rest = rest.strip_suffix('t').unwrap_or(rest);
            if rest
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
            {
                return &program[..plain.len()];
            }
        }
    }
    program
}

/// Returns the part after the last separator, also of a Windows path.
pub(super) fn basename(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let slash = path.rfind('/').map(|at| at + 1);
    let start = slash.or_else(|| is_windows(path).then(|| path.rfind('\\').map_or(0, |at| at + 1)));
    &path[start.unwrap_or(0)..]
}

/// Returns whether a path is written with backslashes.
pub(super) fn is_windows(path: &str) -> bool {
    path.contains('\\') && !path.contains('/')
}

/// Returns whether a word is `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit())
    })
}

/// Splits a joined line with care for what joining lost.
fn split_line(line: Word<'_>) -> Vec<Word<'_>> {
    match line {
        Cow::Borrowed(line) => spans(line).into_iter().map(|span| unquote(&line[span])).collect(),
        Cow::Owned(line) => spans(&line)
            .into_iter()
            .map(|span| Cow::Owned(unquote(&line[span]).into_owned()))
            .collect(),
    }
}

fn unquote(word: &str) -> Word<'_> {
    for quote in ['"', '\''] {
        if word.len() >= 2 && word.starts_with(quote) && word.ends_with(quote) {
            return Cow::Borrowed(&word[1..word.len() - 1]);
        }
    }
    Cow::Borrowed(word)
}

/// Returns where the words of a line lie.
fn spans(line: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = line.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    while at < bytes.len() && spans.len() < WORDS {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let end = match bytes[at] {
            b'"' | b'\'' => quoted_end(bytes, at),
            b'{' | b'[' => json_end(bytes, at),
            b'/' if spans.is_empty() => bundle_end(line, at),
            _ => None,
        };
        let end = end.unwrap_or_else(|| plain_end(line, at));
        spans.push(at..end);
        at = end;
    }
    spans
}

/// Directories of macOS whose names have a space, which a joined line would tear apart.
const SPACED: [&str; 4] = [
    "/Application Support/",
    "/Claude Extensions/",
    "/Group Containers/",
    "/LM Studio/",
];

fn plain_end(line: &str, at: usize) -> usize {
    let bytes = line.as_bytes();
    let mut end = at;
    while end < bytes.len() {
        if bytes[end].is_ascii_whitespace() {
            let inside = SPACED.iter().any(|name| {
                let space = name.find(' ').unwrap_or(0);
                end >= at + space && line.as_bytes()[end - space..].starts_with(name.as_bytes())
            });
            if !inside {
                break;
            }
        }
        end += 1;
    }
    end
}

fn quoted_end(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let close = at + 1 + bytes[at + 1..].iter().position(|byte| *byte == quote)?;
    let end = close + 1;
    (end == bytes.len() || bytes[end].is_ascii_whitespace()).then_some(end)
}

/// The end of balanced JSON; strings are skipped.
fn json_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut string, mut escaped) = (0usize, false, false);
    for (offset, byte) in bytes[at..].iter().enumerate() {
        match (string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => string = !string,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let end = at + offset + 1;
                    return (end == bytes.len() || bytes[end].is_ascii_whitespace()).then_some(end);
                }
            }
            _ => {}
        }
    }
    None
}

/// The end of a program inside a macOS bundle, whose name may have spaces:
/// `/Applications/Google Chrome.app/Contents/MacOS/Google Chrome --type=renderer`.
fn bundle_end(line: &str, at: usize) -> Option<usize> {
    let head = &line[at..];
    let head = head.find(" -").map_or(head, |end| &head[..end]);
    let marker = head.rfind(".app/Contents/")?;
    let app = basename(&head[..marker]);
    let inside = marker + ".app/Contents/".len();
    let folder = head[inside..]
        .find('/')
        .map_or(inside, |slash| inside + slash + 1);
    let rest = &head[folder..];
    let bare = app.split(" (").next().unwrap_or(app);
    let length = if rest.starts_with(app) && (rest.len() == app.len() || rest[app.len()..].starts_with(' ')) {
        app.len()
    } else if app.contains(' ') && rest.starts_with(bare) && rest[bare.len()..].starts_with(' ') {
        bare.len()
    } else {
        rest.find(' ').unwrap_or(rest.len())
    };
    Some(at + folder + length)
}

/// Words that begin more than a simple command; a string with one is not looked into.
const COMPOUND: [&str; 12] = [
    "if", "while", "for", "until", "case", "trap", "function", "select", "{", "(", "[[", "eval",
];
/// Commands that prepare and end.
const PREPARE: [&str; 14] = [
    "cd", "export", "source", ".", "set", "ulimit", "umask", "true", ":", "unset", "pushd", "popd", "wait",
    "shopt",
];

/// Splits a shell string into its simple commands, without those that only prepare; empty where it
/// is more than that.
pub(super) fn shell_commands(script: &str) -> Vec<Vec<String>> {
    let mut scan = ShellScan::default();
    if scan.read(script).is_none() {
        return Vec::new();
    }
    let mut commands = Vec::new();
    for mut command in scan.commands {
        let lead = command.iter().take_while(|word| is_assignment(word)).count();
        command.drain(..lead);
        let Some(first) = command.first() else { continue };
        if COMPOUND.contains(&first.as_str()) {
            return Vec::new();
        }
        if !PREPARE.contains(&first.as_str()) {
            commands.push(command);
        }
    }
    commands
}

#[derive(Default)]
struct ShellScan {
    commands: Vec<Vec<String>>,
    command: Vec<String>,
    word: Option<String>,
    drop_next: bool,
}

impl ShellScan {
    /// Reads all; `None` where a quote is open or a command is substituted.
    fn read(&mut self, script: &str) -> Option<()> {
        let mut chars = script.chars().peekable();
        while let Some(c) = chars.next() {
            if self.commands.len() >= COMMANDS {
                break;
            }
            match c {
                '\'' => self.quoted(&mut chars)?,
                '"' => self.double_quoted(&mut chars)?,
                '\\' => match chars.next() {
                    Some('\n') => {}
                    Some(next) => self.push(next),
                    None => return None,
                },
                '`' | '(' | ')' => return None,
                '&' if chars.peek() == Some(&'>') => self.end_word(),
                ';' | '\n' | '|' | '&' => self.end_command(),
                '>' | '<' => {
                    self.redirect();
                    while chars
                        .next_if(|next| matches!(next, '>' | '<' | '&' | '|'))
                        .is_some()
                    {}
                }
                '#' if self.word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
        Some(())
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self, chars: &mut impl Iterator<Item = char>) -> Option<()> {
        let word = self.word.get_or_insert_default();
        loop {
            match chars.next()? {
                '\'' => return Some(()),
                c => word.push(c),
            }
        }
    }

    fn double_quoted(&mut self, chars: &mut impl Iterator<Item = char>) -> Option<()> {
        let word = self.word.get_or_insert_default();
        loop {
            match chars.next()? {
                '"' => return Some(()),
                '\\' => word.push(chars.next()?),
                '`' => return None,
                c => word.push(c),
            }
        }
    }

    /// A redirection: the number before it and the file after it are no arguments.
    fn redirect(&mut self) {
        match self.word.take() {
            Some(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => {}
            word => {
                self.word = word;
                self.end_word();
            }
        }
        self.drop_next = true;
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            if self.drop_next {
                self.drop_next = false;
            } else {
                self.command.push(word);
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.drop_next = false;
        if !self.command.is_empty() {
            self.commands.push(std::mem::take(&mut self.command));
        }
    }
}
