//! What is looked up again and again in one world: instances by id, children, command lines.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::model::bytes::OsBytes;
use crate::model::identity::{InstanceId, Pid, ProcessKey};
use crate::model::instance::Instance;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::world::World;
use crate::text::redact::Redactor;
use crate::text::{Safe, shell};

/// Characters of a command line that are kept for the screen.
const LINE_CHARS: usize = 4096;

/// Look-ups of one world.
#[derive(Debug)]
pub struct Index {
    instances: HashMap<InstanceId, usize>,
    leads: HashMap<ProcessKey, InstanceId>,
    children: HashMap<Pid, Vec<Pid>>,
    lines: HashMap<ProcessKey, Line>,
    redactor: Arc<Redactor>,
}

/// A command line, made when it is first needed and kept while argv stays the same.
#[derive(Debug)]
struct Line {
    process: Arc<Process>,
    shown: OnceCell<Safe>,
    folded: OnceCell<String>,
}

impl Index {
    /// Returns the index of no world.
    pub fn empty(redactor: Arc<Redactor>) -> Self {
        Self {
            instances: HashMap::new(),
            leads: HashMap::new(),
            children: HashMap::new(),
            lines: HashMap::new(),
            redactor,
        }
    }

    /// Makes the index of a world, taking over the command lines that did not change.
    pub fn renew(&mut self, world: &World) {
        self.instances.clear();
        self.leads.clear();
        for (at, instance) in world.judged.instances.iter().enumerate() {
            self.instances.insert(instance.id, at);
            self.leads.insert(instance.lead_process(), instance.id);
        }
        self.children.clear();
        let mut earlier = std::mem::take(&mut self.lines);
        self.lines.reserve(world.sample.processes.len());
        for process in world.sample.processes.values() {
            if let Some(parent) = process.ppid {
                self.children.entry(parent).or_default().push(process.key.pid);
            }
            let line = match earlier.remove(&process.key) {
                Some(line) if same_command(&line.process, process) => Line {
                    process: Arc::clone(process),
                    ..line
                },
                _ => Line {
                    process: Arc::clone(process),
                    shown: OnceCell::new(),
                    folded: OnceCell::new(),
                },
            };
            self.lines.insert(process.key, line);
        }
    }

    /// Returns the children of a process, by pid.
    pub fn children(&self, pid: Pid) -> &[Pid] {
        self.children.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Returns the instance that a process stands for.
    pub fn lead_of(&self, key: ProcessKey) -> Option<InstanceId> {
        self.leads.get(&key).copied()
    }

    /// Returns how many command lines were made.
    #[cfg(test)]
    pub(crate) fn lines_made(&self) -> usize {
        self.lines
            .values()
            .filter(|line| line.shown.get().is_some())
            .count()
    }

    /// Returns the redaction rules.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    fn line(&self, key: ProcessKey) -> Option<&Safe> {
        let line = self.lines.get(&key)?;
        Some(
            line.shown
                .get_or_init(|| command_line(&line.process, &self.redactor)),
        )
    }

    fn folded(&self, key: ProcessKey) -> Option<&str> {
        let shown = self.line(key)?;
        let line = self.lines.get(&key)?;
        Some(line.folded.get_or_init(|| shown.as_str().to_lowercase()))
    }
}

fn same_command(a: &Arc<Process>, b: &Arc<Process>) -> bool {
    Arc::ptr_eq(a, b) || (a.argv == b.argv && a.comm == b.comm && a.is_zombie() == b.is_zombie())
}

/// Returns the command line of a process as it may be shown: secrets removed, escaped.
pub fn command_line(process: &Process, redactor: &Redactor) -> Safe {
    let comm = || Safe::from_bytes(process.comm.as_bytes());
    match &process.argv {
        Reading::Value(argv) if !argv.is_empty() => {
            let elements: Vec<Vec<u8>> = argv.iter().map(|element| element.as_bytes().to_vec()).collect();
            shell::line(&redactor.argv(&elements), LINE_CHARS)
        }
        Reading::Value(_) => {
            let end = if process.is_zombie() {
                "] (exited, command line gone)"
            } else {
                "]"
            };
            let mut text = Safe::literal("[");
            text.push(&comm());
            text.push_literal(end);
            text
        }
        other => {
            let mut text = comm();
            text.push_literal(match other {
                Reading::Denied => " (command line: denied)",
                Reading::Gone => " (command line: gone)",
                Reading::Unsupported => " (command line: not available on this system)",
                Reading::Failed(_) => " (command line: reading failed)",
                Reading::Value(_) | Reading::Unread => " (command line: not read)",
            });
            text
        }
    }
}

/// A world with its index: what cells are made from.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The world.
    pub world: &'a World,
    /// Its index.
    pub index: &'a Index,
}

impl<'a> Shown<'a> {
    /// Returns the instance with this id.
    pub fn instance(&self, id: InstanceId) -> Option<&'a Instance> {
        self.world.judged.instances.get(*self.index.instances.get(&id)?)
    }

    /// Returns the process with this key.
    pub fn process(&self, key: ProcessKey) -> Option<&'a Process> {
        self.world.sample.get(key)
    }

    /// Returns the process that runs with this pid.
    pub fn by_pid(&self, pid: Pid) -> Option<&'a Process> {
        self.world.sample.process(pid)
    }

    /// Returns the command line of a process, secrets removed and escaped.
    pub fn line(&self, key: ProcessKey) -> Option<&'a Safe> {
        self.index.line(key)
    }

    /// Returns the command line of a process in lower case, for searching.
    pub fn folded_line(&self, key: ProcessKey) -> &'a str {
        self.index.folded(key).unwrap_or_default()
    }

    /// Returns the short name of a process: its program, or its title's first word.
    pub fn name(&self, process: &Process) -> Safe {
        let comm = process.comm.as_bytes();
        let program = process
            .args()
            .first()
            .map(OsBytes::basename)
            .filter(|name| !name.is_empty() && !name.contains(&b' ') && name.len() <= 64);
        self.safe_bytes(program.unwrap_or(comm))
    }

    /// Returns name and pid of a process that is named in a sentence: `node 4821`.
    pub fn name_and_pid(&self, pid: Pid) -> Safe {
        match self.by_pid(pid) {
            Some(process) => {
                let mut text = self.name(process);
                text.push(&Safe::from_text(&format!(" {pid}")));
                text
            }
            None => Safe::from_text(&format!("{pid} (gone)")),
        }
    }

    /// Returns text of the judgement with secrets removed and escaped: facts and leads may quote
    /// what other processes wrote.
    pub fn safe_text(&self, text: &str) -> Safe {
        Safe::from_text(&self.index.redactor.line(text))
    }

    /// Returns bytes that another process chose, with secrets removed and escaped.
    pub fn safe_bytes(&self, bytes: &[u8]) -> Safe {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.safe_text(text),
            Err(_) => Safe::from_bytes(&self.index.redactor.bytes(bytes)),
        }
    }
}
