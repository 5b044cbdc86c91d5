//! The arguments as clap parses them; no logic.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::TypedValueParser as _;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::model::finding::Finding;
use crate::model::identity::Pid;

pub(super) mod keep;

use keep::{DiffArgs, IncidentArgs, SnapshotArgs, Verify};

/// A terminal process explorer for what MCP clients leave in their wake.
///
/// Without a command it opens the live screen.
#[derive(Debug, Parser)]
#[command(
    name = "mcpwake",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What holds for every command.
#[derive(Clone, Debug, Args)]
pub(super) struct Global {
    /// Send no signal, run nothing, and write no file, this program's own included (also:
    /// `MCPWAKE_READ_ONLY=1`, `read_only` in a configuration file; none can be undone by another)
    #[arg(long, global = true)]
    pub(super) read_only: bool,
    /// Remove secrets from command lines: `off` shows them on this terminal only, never in JSON or a pipe
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) redact: Redact,
    /// Configuration file to read instead of `$XDG_CONFIG_HOME/mcpwake/config.toml`; /etc is read before it
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Milliseconds between two samples of the live screen
    #[arg(long, global = true, value_name = "MS", value_parser = clap::value_parser!(u64).range(100..=600_000))]
    pub(super) refresh: Option<u64>,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub(super) ascii: bool,
    /// Say more on stderr
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
}

/// When secrets are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Redact {
    /// Always
    Auto,
    /// Not on this terminal
    Off,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the screen over a snapshot or an incident, read-only; follows an incident that grows
    Open {
        /// Snapshot, directory of an incident, or `-` for a snapshot from stdin
        path: PathBuf,
    },
    /// List MCP server instances, those in trouble first
    ///
    /// CPU% is measured between two samples. A second one is taken only where a finding needs it: with one, CPU%
    /// is `-`; `?` is a process that the first sample did not have.
    List(List),
    /// Show the evidence on one process and its instance
    Show(Show),
    /// Say how a process or a command line is identified, and why not otherwise
    Explain(Explain),
    /// Take a snapshot of the whole machine and write it, without secrets
    Snapshot(SnapshotArgs),
    /// Compare two snapshots
    Diff(DiffArgs),
    /// Work with incidents without the screen
    Incident(IncidentArgs),
    /// Check an incident offline: exits with 3 where something was changed
    Verify(Verify),
    /// Test itself on this machine: what works, is denied, unsupported, failed or wrong; holds no private data
    Doctor(Doctor),
    /// A child of the self-test.
    #[command(hide = true, name = crate::doctor::COMMAND)]
    DoctorPart {
        /// What it is to do
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff)
    Man,
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Print mcpwake.inventory/1
    #[arg(long)]
    pub(super) json: bool,
    /// All processes instead of instances; with --json both
    #[arg(long)]
    pub(super) all: bool,
    /// Only instances with one of these findings
    #[arg(long, value_name = "FINDING", value_delimiter = ',', value_parser = finding())]
    pub(super) finding: Vec<Finding>,
    /// Only instances of this session: the value of a session identifier in the environment of a
    /// member or its client, or the number of a process session
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
    /// Exit with 4 when a listed instance has one of these findings
    #[arg(long, value_name = "FINDING", value_delimiter = ',', value_parser = finding())]
    pub(super) fail_on: Vec<Finding>,
    /// Take one sample, and say `unknown` where a second would be needed
    #[arg(long)]
    pub(super) once: bool,
    /// A snapshot instead of this machine: a file, an incident's directory (its newest), or `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with = "once")]
    pub(super) from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// Process id
    #[arg(value_parser = pid)]
    pub(super) pid: Pid,
    /// Print mcpwake.evidence/1
    #[arg(long)]
    pub(super) json: bool,
    /// A snapshot instead of this machine: a file, an incident's directory (its newest), or `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub(super) from: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "mcpwake explain [OPTIONS] PID\n       mcpwake explain [OPTIONS] -- COMMAND [ARGUMENT]...\n       \
                      mcpwake explain [OPTIONS] --lines < FILE"
)]
pub(super) struct Explain {
    /// Process id
    #[arg(value_parser = pid, required_unless_present_any = ["argv", "lines"], conflicts_with_all = ["argv", "lines"])]
    pub(super) pid: Option<Pid>,
    /// A command line, element by element, after `--`
    #[arg(last = true, value_name = "ARGV", conflicts_with = "lines")]
    pub(super) argv: Vec<OsString>,
    /// Read command lines as ps shows them from stdin, one answer a line
    #[arg(long)]
    pub(super) lines: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Print mcpwake.doctor/1
    #[arg(long)]
    pub(super) json: bool,
}

/// Parses a finding; a wrong word is answered with the list of all.
fn finding() -> impl clap::builder::TypedValueParser<Value = Finding> {
    clap::builder::PossibleValuesParser::new(Finding::ALL.map(Finding::word))
        .try_map(|word| Finding::from_word(&word).ok_or("no finding"))
}

fn pid(text: &str) -> Result<Pid, String> {
    let number: i64 = text
        .parse()
        .map_err(|_| "a process id is a whole number, such as 4821".to_owned())?;
    Pid::new(number).ok_or_else(|| format!("a process id is between 1 and {}", 1 << 22))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn unknown_findings_list_the_valid_ones() {
        let error = Cli::try_parse_from(["mcpwake", "list", "--finding", "severed,dead"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("dead"), "{error}");
        for finding in Finding::ALL {
            assert!(error.contains(finding.word()), "{error}");
        }
    }

    #[test]
    fn pids_that_no_kernel_gives_out_are_refused() {
        for wrong in ["0", "4194305", "99999999999999999999", "x", ""] {
            assert!(
                Cli::try_parse_from(["mcpwake", "show", wrong]).is_err(),
                "{wrong}"
            );
        }
        assert!(Cli::try_parse_from(["mcpwake", "show", "--", "-1"]).is_err());
        assert!(Cli::try_parse_from(["mcpwake", "show", "4194304"]).is_ok());
    }

    #[test]
    fn the_usage_of_explain_names_its_three_subjects() {
        let help = Cli::try_parse_from(["mcpwake", "explain", "--help"])
            .unwrap_err()
            .to_string();
        for usage in [
            "Usage: mcpwake explain [OPTIONS] PID\n",
            "       mcpwake explain [OPTIONS] -- COMMAND [ARGUMENT]...\n",
            "       mcpwake explain [OPTIONS] --lines < FILE\n",
        ] {
            assert!(help.contains(usage), "{help}");
        }
    }

    #[test]
    fn explain_takes_exactly_one_subject() {
        let parse = |args: &[&str]| Cli::try_parse_from([&["mcpwake", "explain"], args].concat());
        assert!(parse(&[]).is_err());
        assert!(parse(&["1", "--lines"]).is_err());
        assert!(parse(&["1", "--", "npx"]).is_err());
        assert!(parse(&["--lines", "--", "npx"]).is_err());
        assert!(parse(&["--", "npx", "--json"]).is_ok());
        assert!(parse(&["--lines", "--json"]).is_ok());
    }
}
