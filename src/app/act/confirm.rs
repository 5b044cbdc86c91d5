//! What has to be typed before a signal is sent: a part of the targets themselves, never Enter alone.

use super::Dialog;
use crate::analysis::plan::takes_along;
use crate::model::identity::{Pid, ProcessKey};
use crate::model::plan::wants_whole_pid;

/// What has to be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// How many targets there are, where there are several.
    pub count: Option<usize>,
    /// The last target.
    pub pid: Pid,
    /// Whether its whole pid is wanted, not the last three digits.
    pub whole: bool,
}

impl Code {
    /// Returns what has to be typed for the ticked targets; `None`: none is ticked, or no signal is
    /// chosen.
    ///
    /// One target whose whole pid is wanted makes it so for the last one of several.
    pub fn of(dialog: &Dialog) -> Option<Self> {
        let signal = dialog.signal()?;
        if dialog.asks_again() {
            let (client, _) = live_clients(dialog).pop()?;
            return Some(Self {
                count: None,
                pid: client.pid,
                whole: true,
            });
        }
        let targets: Vec<_> = dialog.targets().collect();
        let last = targets.last()?;
        Some(Self {
            count: (targets.len() > 1).then_some(targets.len()),
            pid: last.key.pid,
            whole: targets.iter().any(|target| wants_whole_pid(signal, target)),
        })
    }

    /// Returns the digits.
    pub(super) fn digits(&self) -> String {
        let pid = self.pid.to_string();
        let from = if self.whole {
            0
        } else {
            pid.len().saturating_sub(3)
        };
        let count = self.count.map_or_else(String::new, |count| count.to_string());
        format!("{count}{}", &pid[from..])
    }

    /// Returns what has to be typed, in words: `the last 3 digits of 48271`.
    pub fn words(&self) -> String {
        let pid = self.pid;
        let digits = if self.whole {
            format!("the whole pid {pid}")
        } else {
            format!("the last 3 digits of {pid}")
        };
        match self.count {
            Some(count) => format!("{count} (targets), then {digits},"),
            None => digits,
        }
    }

    /// Returns what has to be typed in few words: `last 3 of 48271`.
    pub fn brief(&self) -> String {
        let digits = if self.whole { "all" } else { "last 3" };
        match self.count {
            Some(count) => format!("{count}, {digits} of {}", self.pid),
            None => format!("{digits} of {}", self.pid),
        }
    }

    /// Returns how many digits that are.
    pub fn columns(&self) -> usize {
        self.digits().len()
    }
}

/// Returns the live clients among the targets, with the servers that each would take along.
pub(super) fn live_clients(dialog: &Dialog) -> Vec<(ProcessKey, Vec<String>)> {
    let keys = dialog.ticked().into_iter();
    keys.filter_map(|key| Some((key, takes_along(dialog.now(), key)?)))
        .collect()
}

impl Dialog {
    /// Returns the live clients among the targets in words: what each would take along.
    pub fn clients(&self) -> Vec<String> {
        live_clients(self)
            .into_iter()
            .map(|(key, servers)| {
                let with = match servers.len() {
                    0 => "no server that is seen".to_owned(),
                    1..=6 => servers.join(", "),
                    many => format!("{} and {} more", servers[..6].join(", "), many - 6),
                };
                format!("{} is a LIVE CLIENT: it takes along {with}", key.pid)
            })
            .collect()
    }
}
