//! The operator's own editor: chosen from the environment, started in the foreground, waited for on a
//! thread of its own, so that samples and answers go on meanwhile.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::store::Draft;

/// Longest note that is taken from an editor, bytes.
const LONGEST: u64 = 1 << 16;

/// Tried in this order where the environment names none.
const USUAL: [&str; 2] = ["vi", "nano"];

/// Starts editors, one at a time.
pub(super) struct Editors {
    sender: UnboundedSender<io::Result<ExitStatus>>,
    /// How the editor has ended.
    pub(super) ended: UnboundedReceiver<io::Result<ExitStatus>>,
}

/// An editor that has the terminal.
pub(super) struct Editing {
    draft: Draft,
    before: String,
    program: String,
}

impl Editors {
    pub(super) fn new() -> Self {
        let (sender, ended) = unbounded_channel();
        Self { sender, ended }
    }

    /// Starts an editor on a file with this text.
    pub(super) fn start(&self, text: &str) -> Result<Editing, String> {
        let draft = Draft::new(&place(), text).map_err(|error| error.to_string())?;
        let before = draft.read(u64::MAX - 1).map_err(|error| error.to_string())?;
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let named = variable("VISUAL").or_else(|| variable("EDITOR"));
        let (program, child) = spawn(named.as_deref(), &draft)?;
        let sender = self.sender.clone();
        std::thread::Builder::new()
            .name("editor".to_owned())
            .spawn(move || wait(child, &sender))
            .map_err(|error| format!("start a thread: {error}"))?;
        Ok(Editing {
            draft,
            before,
            program,
        })
    }
}

impl Editing {
    /// Returns what the editor has left; or why there is nothing, and where the text is.
    pub(super) fn result(mut self, ended: io::Result<ExitStatus>) -> Result<String, String> {
        let text = self.draft.read(LONGEST);
        let failed = match ended {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("{} ended with {status}", self.program)),
            Err(error) => Some(format!("wait for {}: {error}", self.program)),
        };
        match (failed, text) {
            (None, Ok(text)) => Ok(text),
            (Some(why), Ok(text)) if text == self.before => Err(why),
            (why, text) => {
                self.draft.stay();
                let why = why.or(text.err().map(|error| error.to_string()));
                Err(format!(
                    "{}; the text is in {}",
                    why.unwrap_or_default(),
                    self.draft.path().display()
                ))
            }
        }
    }
}

impl Editing {
    /// Leaves the editor to itself, and its text where it is.
    pub(super) fn abandon(mut self) {
        self.draft.stay();
    }
}

fn wait(mut child: Child, sender: &UnboundedSender<io::Result<ExitStatus>>) {
    // Nobody listens any more when the program has ended.
    let _ = sender.send(child.wait());
}

/// A directory of the user's session that goes with it, else the one for temporary files.
fn place() -> PathBuf {
    let session: Option<OsString> = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty());
    session
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_dir())
        .unwrap_or_else(std::env::temp_dir)
}

/// Starts the named editor, without a shell; where none is named, the usual ones.
fn spawn(named: Option<&str>, draft: &Draft) -> Result<(String, Child), String> {
    if let Some(named) = named {
        let words = shlex::split(named).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| format!("EDITOR is no command line: {named}"))?;
        return start(&words, draft).map_err(|error| format!("start {}: {error}", words[0]));
    }
    let mut why = String::new();
    for usual in USUAL {
        match start(&[usual.to_owned()], draft) {
            Ok(started) => return Ok(started),
            Err(error) => why = format!("start {usual}: {error}; set EDITOR"),
        }
    }
    Err(why)
}

fn start(words: &[String], draft: &Draft) -> io::Result<(String, Child)> {
    let child = Command::new(&words[0])
        .args(&words[1..])
        .arg(draft.path())
        .spawn()?;
    Ok((words[0].clone(), child))
}
