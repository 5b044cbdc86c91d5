//! Fills one process of the inventory.

use crate::model::bytes::OsBytes;
use crate::model::identity::Pid;
use crate::model::process::Process;
use crate::model::reading::Reading;
use crate::model::world::World;
use crate::report::inventory::{self, RoleOf};
use crate::report::publish::{self, Exact, Secrets};

/// Returns a process as the inventory shows it.
pub(in crate::report) fn process(
    world: &World,
    process: &Process,
    secrets: Secrets<'_>,
) -> inventory::Process {
    let sample = &world.sample;
    let argv = process.argv.value().map(|argv| publish::argv(argv, secrets));
    let (argv, argv_base64) = argv.map_or((None, None), |argv| (Some(argv.text), argv.base64));
    let (user, user_base64) = text(&process.user, secrets);
    let (exe, exe_base64) = text(&process.exe, secrets);
    let (cwd, cwd_base64) = text(&process.cwd, secrets);
    let Exact {
        text: comm,
        base64: comm_base64,
    } = publish::redacted(&process.comm, secrets);
    inventory::Process {
        pid: process.key.pid.get(),
        ppid: process.ppid.map(Pid::get),
        pgid: process.pgid.map(Pid::get),
        sid: process.sid.map(Pid::get),
        tty: process.tty.clone(),
        state: process.state.to_string(),
        stat: process.stat.clone(),
        uid: process.uid.value().copied(),
        user,
        user_base64,
        start_time: sample.started_at(process).rfc3339(),
        start_key: process.key.start.0,
        elapsed_s: seconds(sample.elapsed_ms(process)),
        cpu_percent: process.cpu_permille.map(|permille| f64::from(permille) / 10.0),
        rss_bytes: process.rss_bytes,
        comm,
        comm_base64,
        argv,
        argv_base64,
        exe,
        exe_base64,
        cwd,
        cwd_base64,
        roles: world
            .judged
            .roles
            .get(&process.key)
            .map_or_else(Vec::new, |roles| {
                roles
                    .iter()
                    .map(|role| RoleOf {
                        instance: role.instance.to_string(),
                        role: role.role.word(),
                    })
                    .collect()
            }),
    }
}

fn text(reading: &Reading<OsBytes>, secrets: Secrets<'_>) -> (Option<String>, Option<String>) {
    reading
        .value()
        .map(|bytes| publish::redacted(bytes, secrets))
        .map_or((None, None), |exact| (Some(exact.text), exact.base64))
}

/// Returns milliseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "2^53 ms are 285,000 years")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
