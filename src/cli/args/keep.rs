//! The arguments of the commands that keep, check and compare what was seen.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::journal::Head;

#[derive(Debug, Args)]
pub(in crate::cli) struct SnapshotArgs {
    /// File to write, or `-` for stdout; without it the snapshot goes into the newest open incident of this
    /// operator, else to the state directory, and into the next incident that is opened
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Write FILE also where there is one already
    #[arg(long, requires = "output")]
    pub(in crate::cli) force: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Verify {
    /// Directory of an incident, or its journal
    pub(in crate::cli) path: PathBuf,
    /// The head that went with a copy: its entry must be there and be the same; finds a journal that
    /// was cut, also where it was continued
    #[arg(long, value_name = "SEQ:HASH")]
    pub(in crate::cli) expect_head: Option<Head>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct IncidentArgs {
    #[command(subcommand)]
    pub(in crate::cli) command: IncidentCommand,
    /// Id of the incident or its title, or the beginning of either, or its directory; without it the newest
    /// open one of this operator
    #[arg(long, global = true, value_name = "ID")]
    pub(in crate::cli) incident: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum IncidentCommand {
    /// Open an incident and print its directory
    New {
        /// Title, usually a ticket number; it goes into every copy
        title: String,
    },
    /// List all incidents, the newest first, each open or closed
    List,
    /// Close the incident and print the head; says what is left open in it
    Close {
        /// What is left to be done
        text: Option<String>,
    },
    /// Add a note and print the new head
    Note {
        /// The text; without it, or `-`: from stdin, all its lines
        text: Option<String>,
    },
    /// Print the first page for the next shift and the records
    Export {
        /// How
        #[arg(long, value_name = "FORMAT", default_value = "markdown")]
        format: Format,
    },
    /// Print the directory
    Path,
}

/// How an incident is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// For a ticket, in GitHub's flavour
    Markdown,
    /// mcpwake.record/1
    Json,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    /// The earlier snapshot: a file, an incident's directory (its newest), or `-`
    pub(in crate::cli) a: PathBuf,
    /// The later one
    pub(in crate::cli) b: PathBuf,
    /// Print mcpwake.diff/1
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
