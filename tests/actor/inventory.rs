//! Asks the built program, and finds the instances of a stage in its answer.

use std::process::Command;

use serde_json::Value;

use crate::stage::Stage;

/// Returns the instances whose server, or one of whose launchers, is a process of the stage.
pub(crate) fn instances(stage: &Stage, pids: &[u32]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_mcpwake"))
        .args(["list", "--json"])
        .env("HOME", stage.home())
        .env("XDG_CONFIG_HOME", stage.home().join("config"))
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
