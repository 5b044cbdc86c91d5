//! Asks the service managers which unit a process is the main one of, by their own interface:
//! `systemctl show` (systemctl(1)), whose answer replaces what control group and environment
//! say.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::model::identity::{Pid, ProcessKey};
use crate::model::reading::Absence;
use crate::model::sample::{Problem, Sample, Unit};

/// A manager that does not answer is not waited for longer.
const DEADLINE: Duration = Duration::from_millis(500);
/// An answer is asked for anew after this time.
const FRESH: Duration = Duration::from_secs(10);
/// There while systemd is the system's manager (`sd_booted`(3)).
const BOOTED: &str = "/run/systemd/system";
/// An answer is a handful of lines.
const ANSWER_BYTES: u64 = 64 * 1024;

/// A unit and the manager that knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Address {
    /// User id of a user's manager; `None`: the system's.
    user: Option<u32>,
    unit: String,
}

/// Answers that were given.
#[derive(Debug, Default)]
pub(super) struct ServiceManagers {
    answers: BTreeMap<Address, (Instant, Result<Option<Pid>, String>)>,
}

impl ServiceManagers {
    /// Fills `units` for the processes whose control group names a service, one question a unit.
    pub(super) fn fill<'k>(&mut self, sample: &mut Sample, closely: impl Iterator<Item = &'k ProcessKey>) {
        if !Path::new(BOOTED).exists() {
            return;
        }
        let now = Instant::now();
        let mut addresses: Vec<Address> = closely
            .filter_map(|key| address(sample.get(*key)?.cgroup.value()?.as_str()?))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        self.answers.retain(|address, _| addresses.contains(address));
        for address in addresses {
            let fresh = self
                .answers
                .get(&address)
                .filter(|(asked, _)| now.duration_since(*asked) < FRESH);
            let answer = fresh.map_or_else(|| ask(&address), |(_, answer)| answer.clone());
            if fresh.is_none() {
                self.answers.insert(address.clone(), (now, answer.clone()));
            }
            note(sample, address, answer);
        }
    }
}

fn note(sample: &mut Sample, address: Address, answer: Result<Option<Pid>, String>) {
    match answer {
        Ok(main_pid) => {
            let manager = if address.user.is_some() {
                "systemd --user"
            } else {
                "systemd"
            };
            sample
                .units
                .retain(|unit| !(unit.manager == manager && unit.name == address.unit));
            sample.units.push(Unit {
                manager: manager.to_owned(),
                name: address.unit,
                main_pid,
            });
        }
        Err(detail) => sample.problems.push(Problem {
            pid: None,
            what: format!("systemctl show {}", address.unit),
            kind: Absence::Failed,
            detail,
        }),
    }
}

/// Returns the service that a process's control group names, with its manager:
/// `/system.slice/NAME.service`, `/user.slice/user-UID.slice/user@UID.service/…/NAME.service`.
fn address(path: &str) -> Option<Address> {
    let mut user = None;
    let mut unit = None;
    for segment in path.split('/') {
        if let Some(id) = segment
            .strip_prefix("user@")
            .and_then(|rest| rest.strip_suffix(".service"))
        {
            user = id.parse().ok();
            unit = None;
        } else if segment.ends_with(".service") {
            unit = Some(segment.to_owned());
        }
    }
    Some(Address { user, unit: unit? })
}

/// Asks; an error says what could not be done.
fn ask(address: &Address) -> Result<Option<Pid>, String> {
    let mut command = Command::new("systemctl");
    if let Some(user) = address.user {
        let own = rustix::process::geteuid().as_raw() == user;
        if own {
            command.arg("--user");
        } else {
            command.args(["--user", "--machine", &format!("{user}@.host")]);
        }
    }
    command.args(["show", "--property=Id,MainPID", "--", &address.unit]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command
        .spawn()
        .map_err(|error| format!("systemctl could not be started: {error}"))?;
    let Some(output) = child.stdout.take() else {
        return Err("systemctl has no output".to_owned());
    };
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::Builder::new()
        .name("systemctl".to_owned())
        .spawn(move || {
            let mut text = String::new();
            let read = output.take(ANSWER_BYTES).read_to_string(&mut text);
            // Nobody may wait any more.
            let _ = sender.send(read.map(|_| text));
            let _ = child.wait();
        });
    reader.map_err(|error| format!("no thread to read the answer: {error}"))?;
    match receiver.recv_timeout(DEADLINE) {
        Ok(Ok(text)) => main_pid(&text, &address.unit),
        Ok(Err(error)) => Err(format!("its answer could not be read: {error}")),
        Err(_) => Err(format!("no answer within {} ms", DEADLINE.as_millis())),
    }
}

/// Reads `Id=` and `MainPID=`; 0 means that no main process runs.
fn main_pid(answer: &str, unit: &str) -> Result<Option<Pid>, String> {
    let value = |name: &str| {
        answer
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    };
    if value("Id") != Some(unit) {
        return Err("the manager did not answer, or the unit is not loaded".to_owned());
    }
    match value("MainPID").map(str::parse::<i64>) {
        Some(Ok(number)) => Ok(Pid::new(number)),
        _ => Err("the answer has no MainPID".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, address, main_pid};
    use crate::model::identity::Pid;

    #[test]
    fn recorded_answers_are_read() {
        let recorded = "MainPID=812\nId=mcp-http.service\n";
        assert_eq!(main_pid(recorded, "mcp-http.service"), Ok(Pid::new(812)));
        assert_eq!(
            main_pid("MainPID=0\nId=mcp-http.service\n", "mcp-http.service"),
            Ok(None)
        );
        assert!(main_pid("MainPID=812\nId=other.service\n", "mcp-http.service").is_err());
        assert!(main_pid("", "mcp-http.service").is_err());
        assert!(main_pid("Id=mcp-http.service\nMainPID=x\n", "mcp-http.service").is_err());
    }

    #[test]
    fn a_control_group_names_unit_and_manager() {
        let named = |user, unit: &str| {
            Some(Address {
                user,
                unit: unit.to_owned(),
            })
        };
        assert_eq!(
            address("/system.slice/mcp-http.service"),
            named(None, "mcp-http.service")
        );
        assert_eq!(
            address("/user.slice/user-1000.slice/user@1000.service/app.slice/mcp.service"),
            named(Some(1000), "mcp.service")
        );
        assert_eq!(
            address("/user.slice/user-1000.slice/user@1000.service/app.slice/app-tmux.scope"),
            None
        );
        assert_eq!(address("/user.slice/user-1000.slice/session-3.scope"), None);
    }
}
