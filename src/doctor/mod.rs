//! The self-test: starts processes whose truth it knows, and compares what the program sees of them with it.
//!
//! The processes are the program itself, started with a hidden command. They end with it, however it ends.

mod clients;
mod compare;
mod here;
mod observe;
mod part;
mod signal;
mod stage;
mod state;
mod truth;
mod within;

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::time::Duration;

use crate::catalog::Catalog;
use crate::model::sample::Sample;
use crate::platform::{limits, wall_clock};
use crate::report::doctor::{Answer, Check, Diagnosis, Examined};
use crate::store::Access;

use observe::{Instruments, Seen};
use stage::Stage;
use state::{Probe, Tried};
use truth::Truth;
use within::{Begun, begin};

pub use part::{COMMAND, play};

/// Starting the children, three samples, and the two seconds that a zombie needs.
const LOOKING: Duration = Duration::from_secs(6);
/// A state directory on a mount that hangs; clients' files have deadlines of their own.
const FILES: Duration = Duration::from_secs(2);
/// One signal, and the end of every child.
const SIGNAL: Duration = Duration::from_millis(2_500);

/// What the self-test is told.
pub struct Setup {
    /// The rules and clients that judge.
    pub catalog: Arc<Catalog>,
    /// The same once more: the self-test adds a rule of its own to it.
    pub own_catalog: Catalog,
    /// Which rules they are.
    pub rules: String,
    /// Whether anything may be written.
    pub access: Access,
    /// What was found of the program's own configuration files.
    pub configuration: Vec<Check>,
}

/// What the children showed.
struct Looked {
    truth: Truth,
    seen: Seen,
    stage: Stage,
    instruments: Instruments,
}

/// Examines this machine; takes at most about ten seconds.
pub fn examine(setup: Setup) -> Diagnosis {
    let at = wall_clock().rfc3339();
    let mut examined = Examined {
        release: limits::release(),
        rules: setup.rules,
        ..Examined::default()
    };
    let token = match random_word() {
        Ok(token) => token,
        Err(error) => {
            let why = format!("no random numbers: {}", error.kind());
            let checks = vec![Check::new("processes.own", "own processes", Answer::Failed, why)];
            return Diagnosis::new(at, examined, checks);
        }
    };
    let looking = {
        let (catalog, token) = (setup.own_catalog, token.clone());
        begin(LOOKING, move || look(catalog, &token))
    };
    let mut checks = match looking
        .end()
        .map_err(|late| late.sentence())
        .and_then(|looked| looked)
    {
        Ok(looked) => {
            let sample = &looked.seen.alive.sample;
            examined.os = Some(looked.seen.os);
            examined.kernel = Some(sample.host.kernel.clone());
            examined.root = Some(sample.observer.uid == 0);
            after(looked, &setup.catalog, setup.access, &token)
        }
        Err(why) => {
            let advice =
                "a bug report with this helps; `mcpwake list --once` says what the first sample says";
            let mut checks =
                vec![Check::new("processes.own", "own processes", Answer::Failed, why).advised(advice)];
            checks.extend(here::checks(false));
            checks
        }
    };
    checks.extend(setup.configuration);
    Diagnosis::new(at, examined, checks)
}

/// Starts the children and looks at them.
fn look(catalog: Catalog, token: &str) -> Result<Looked, String> {
    let known = observe::known(catalog)?;
    let mut instruments = Instruments::of_this_system().map_err(|error| error.to_string())?;
    let program = stage::own_program().map_err(|error| error.to_string())?;
    let value: String = token.chars().rev().collect();
    let mut stage = Stage::set(program, token, &value);
    let truth = stage.truth();
    let seen = observe::observe(&mut instruments, &mut stage, &known).map_err(|error| error.to_string())?;
    Ok(Looked {
        truth,
        seen,
        stage,
        instruments,
    })
}

/// Compares, and tries what needs to know who runs the program.
fn after(looked: Looked, catalog: &Arc<Catalog>, access: Access, token: &str) -> Vec<Check> {
    let sample = &looked.seen.alive.sample;
    let state = begin_state(sample, access, token);
    let clients = begin_clients(sample, catalog, &looked.seen);
    let mut checks = compare::all(&looked.truth, &looked.seen);
    let over_ssh = sample.observer.ssh_from.is_some();
    let Tried {
        checks: of_state,
        probe,
    } = state.end().unwrap_or_else(|late| {
        let why = late.sentence();
        Tried {
            checks: vec![Check::new(
                "state",
                "state directory",
                Answer::Failed,
                why.clone(),
            )],
            probe: Err(why),
        }
    });
    let signalling = begin(SIGNAL, move || signal_and_end(looked, probe));
    let ended = signalling.end();
    checks
        .push(ended.unwrap_or_else(|late| Check::new("signals", "signals", Answer::Failed, late.sentence())));
    checks.extend(here::checks(over_ssh));
    checks.extend(of_state);
    checks.push(clients.end().unwrap_or_else(|late| {
        Check::new(
            "clients",
            "clients' configurations",
            Answer::Failed,
            late.sentence(),
        )
    }));
    checks
}

fn begin_state(sample: &Sample, access: Access, token: &str) -> Begun<Tried> {
    let wanted = state::Wanted::of(sample, access, token);
    begin(FILES, move || state::try_out(&wanted))
}

fn begin_clients(sample: &Sample, catalog: &Arc<Catalog>, seen: &Seen) -> Begun<Check> {
    let (wanted, catalog, os) = (clients::wanted(sample), Arc::clone(catalog), seen.os);
    begin(FILES, move || clients::try_out(&catalog, os, &wanted))
}

/// Sends the signal, ends the children, removes the probe.
fn signal_and_end(mut looked: Looked, probe: Result<Probe, String>) -> Check {
    let signaller = looked.instruments.signaller.as_mut();
    let with = probe.as_ref().map_err(Clone::clone);
    let outcome = signal::try_out(&looked.truth, &looked.seen, signaller, with);
    drop(looked.stage);
    drop(probe);
    signal::check(&outcome)
}

/// Returns 128 random bits, as 32 hexadecimal digits.
fn random_word() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
