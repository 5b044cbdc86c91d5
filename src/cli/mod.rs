//! The command line: arguments, subcommands, exit codes.

mod args;
mod config;
pub mod exit;
mod output;

use std::process::ExitCode;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
