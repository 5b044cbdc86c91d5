//! The command line: arguments, subcommands, exit codes.

mod args;
mod commands;
mod config;
mod diff;
mod doctor;
pub mod exit;
mod explain;
mod incident;
mod keeping;
mod list;
mod machine;
pub mod man;
mod output;
#[cfg(test)]
mod readme;
mod saved;
mod screen;
mod show;
mod snapshot;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Cli, Command};
use config::Settings;
use exit::Exit;
use machine::Machine;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error).into(),
    };
    match run(cli) {
        Ok(exit) => exit.into(),
        Err(error) if output::is_closed_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            output::say(&format!("{error:#}"));
            Exit::Failed.into()
        }
    }
}

/// Prints what clap says: help and version to stdout, anything else to stderr.
fn usage(error: &clap::Error) -> Exit {
    // Neither a closed pipe nor a full disk changes what the arguments are worth.
    let _ = error.print();
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

fn run(cli: Cli) -> anyhow::Result<Exit> {
    // These need no configuration: a wrong one must not stop them.
    match &cli.command {
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "mcpwake", &mut text);
            return printed(&text);
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            man::write(&mut text)?;
            return printed(&text);
        }
        Some(Command::Verify(args)) => return verify::run(args),
        // Says itself what is wrong with the configuration.
        Some(Command::Doctor(args)) => return doctor::run(args, &cli.global),
        Some(Command::DoctorPart { arguments }) => {
            crate::doctor::play(arguments)?;
            return Ok(Exit::Done);
        }
        _ => {}
    }
    let settings = match config::load(&cli.global) {
        Ok(settings) => settings,
        Err(error) => {
            output::say(&error.to_string());
            return Ok(Exit::Usage);
        }
    };
    for warning in &settings.warnings {
        output::say(warning);
    }
    dispatch(cli, &settings)
}

fn printed(text: &[u8]) -> anyhow::Result<Exit> {
    output::print(text)?;
    Ok(Exit::Done)
}

fn dispatch(cli: Cli, settings: &Settings) -> anyhow::Result<Exit> {
    let machine = match Machine::new(&cli.global, settings) {
        Ok(machine) => machine,
        Err(error) => {
            output::say(&error.to_string());
            return Ok(Exit::Usage);
        }
    };
    match cli.command {
        None => screen::run(settings, &machine),
        Some(Command::Open { path }) => screen::open(&path, settings, &machine),
        Some(Command::List(list)) => list::run(list, &machine),
        Some(Command::Show(show)) => show::run(&show, &machine),
        Some(Command::Explain(explain)) => explain::run(explain, &machine),
        Some(Command::Snapshot(args)) => snapshot::run(&args, settings, &machine),
        Some(Command::Diff(args)) => diff::run(&args, &machine),
        Some(Command::Incident(args)) => incident::run(args, settings, &machine),
        // Answered before the configuration was read.
        Some(
            Command::Completions { .. }
            | Command::Man
            | Command::Verify(_)
            | Command::Doctor(_)
            | Command::DoctorPart { .. },
        ) => Ok(Exit::Done),
    }
}
