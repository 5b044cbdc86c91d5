//! Asks the built program, and finds the instances of a test in its answer.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns the instances whose server, or one of whose launchers, is one of these processes.
pub(crate) fn instances(home: &Path, pids: &[u32]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_mcpwake"))
        .args(["list", "--json"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let inventory: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = inventory["instances"].as_array().unwrap();
    all.iter()
        .filter(|instance| {
            let launchers = numbers(&instance["launcher_pids"]);
            let server = number(&instance["server_pid"]);
            pids.iter()
                .any(|pid| server == Some(*pid) || launchers.contains(pid))
        })
        .cloned()
        .collect()
}

pub(crate) fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| number.try_into().ok())
}

pub(crate) fn numbers(value: &Value) -> Vec<u32> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(number)
        .collect()
}

/// Collects what is not as it was wanted.
#[derive(Default)]
pub(crate) struct Complaints(Vec<String>);

impl Complaints {
    /// Compares two values by what they show.
    pub(crate) fn check(&mut self, what: &str, wanted: &impl std::fmt::Debug, found: &impl std::fmt::Debug) {
        let (wanted, found) = (format!("{wanted:?}"), format!("{found:?}"));
        if wanted != found {
            self.0.push(format!("{what}: wanted {wanted}, found {found}"));
        }
    }

    /// Fails with all of them, and the instance.
    pub(crate) fn verdict(self, instance: &Value) -> Result<(), libtest_mimic::Failed> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(format!("{}\n{instance:#}", self.0.join("\n")).into())
    }
}
