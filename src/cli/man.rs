//! The manual page, made from the same tables as the program.

use std::io;

use clap::{Command, CommandFactory as _};
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::args::Cli;
use super::config::{READ_ONLY_VARIABLE, SYSTEM_FILE};
use super::exit::Exit;
use crate::app;
use crate::model::finding::Finding;

/// What each finding means, in one sentence.
pub fn meaning(finding: Finding) -> &'static str {
    match finding {
        Finding::Severed => "nobody can talk on its wire any more: the other end of its stdin is closed",
        Finding::Held => {
            "the other end is held, but by no client: a helper or the server itself keeps it open; the facts \
             name every holder"
        }
        Finding::Wedged => {
            "the client that holds the other end, or a relay between, cannot act: stopped, traced, or stuck in the kernel"
        }
        Finding::Defunct => "the server has exited and its parent has not waited for it",
        Finding::Unknown => "it cannot be said; the facts name what could not be read and what would help",
        Finding::Network => "it listens on a socket and needs no wire",
        Finding::Attached => {
            "a live client holds the other end; its session may be over all the same: see older twins and facts"
        }
    }
}

const FILES: [(&str, &str); 3] = [
    (
        SYSTEM_FILE,
        "read first. sudo strips the environment, so a read_only here holds there too.",
    ),
    (
        "$XDG_CONFIG_HOME/mcpwake/config.toml",
        "read second, or the file named with --config instead; ~/.config without the variable, on macOS too. \
         Keys, all optional: refresh_ms, second_look_ms, read_only, ascii, [[rules]], [[clients]], [[commands]].",
    ),
    (
        "$XDG_STATE_HOME/mcpwake/",
        "incidents, each a directory with journal.jsonl, snapshots/ and attachments/, and the snapshots of no \
         incident; without the variable ~/.local/state/mcpwake, as root /var/lib/mcpwake. Only for its owner: \
         with another owner or mode nothing is written there.",
    ),
];

const ENVIRONMENT: [(&str, &str); 4] = [
    (READ_ONLY_VARIABLE, "anything but empty or 0: as --read-only."),
    ("NO_COLOR", "when set and not empty: no colour."),
    ("XDG_CONFIG_HOME", "where the user's configuration is."),
    ("XDG_STATE_HOME", "where incidents and snapshots are."),
];

const SECURITY: [&str; 5] = [
    "It sends TERM, KILL and CONT only from the screen, only to the process that was seen, only after its digits \
     were typed, and only once that is journalled on disk; no command sends a signal, but doctor ends a child of \
     its own. It changes nothing but its own screen and its own files, and runs configured commands only after a \
     typed yes.",
    "It never opens, duplicates, locks, traces or stops a descriptor of another process. It reads links and \
     text files under /proc, asks the kernel's socket diagnostics, and asks systemctl for the units of what \
     it found.",
    "What another process wrote (command lines, names, paths, configurations) is shown with control, bidi and \
     invisible characters escaped. JSON has the exact text, as JSON escapes it.",
    "Secrets in command lines are replaced by a mark that names the rule and the length; values of environment \
     variables are not kept, but for named identifiers such as a session id. --redact off changes this \
     terminal only: JSON, files and pipes stay redacted. A secret that no rule knows is not found.",
    "Without root, processes of other users cannot be read in full: their instances are unknown, and the header, host.visibility and problems say so.",
];

const INTEGRITY: [&str; 4] = [
    "Each line of a journal names the SHA-256 of the line before it, newline included, and ends with a hash over \
     that and its own bytes. Snapshots and attachments are named with their SHA-256. An entry is on disk before \
     anything depends on it.",
    "verify follows the chain and names the first line that was edited, inserted, reordered, duplicated or is \
     missing, and every file that was changed or is missing. A last line that was never completed is a warning.",
    "The chain has no key. Whoever can write the files can write all of them anew, with hashes that agree; a \
     journal that was cut at its end agrees too. The head (number and hash of the last entry) shows both: it goes \
     with every copy, and --expect-head compares with it. Keep one where the operator of this host cannot change it.",
    "What the chain cannot show at all: whether what was entered is true, whether the clock was right, and what \
     happened before the first or after the last entry.",
];

/// Writes the manual page as roff.
pub(super) fn write(out: &mut dyn io::Write) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    let page = clap_mangen::Man::new(command.clone()).manual("mcpwake");
    page.render_title(out)?;
    page.render_name_section(out)?;
    let mut roff = Roff::new();
    synopsis(&mut roff, &command);
    roff.to_writer(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    let mut roff = Roff::new();
    commands(&mut roff, &command);
    roff.control("SH", ["KEYS"]);
    for spec in app::command::commands() {
        pair(&mut roff, &spec.keys_label(), spec.doc);
    }
    pairs(
        &mut roff,
        "FINDINGS",
        Finding::ALL.map(|finding| (finding.word(), meaning(finding))),
    );
    roff.control("SH", ["EXIT CODES"]);
    for (exit, what) in Exit::DOCUMENTED {
        pair(&mut roff, &exit.code().to_string(), what);
    }
    pairs(&mut roff, "FILES", FILES);
    pairs(&mut roff, "ENVIRONMENT", ENVIRONMENT);
    paragraphs(&mut roff, "SECURITY", SECURITY);
    paragraphs(&mut roff, "INTEGRITY", INTEGRITY);
    roff.to_writer(out)
}

/// Writes how the program and each command are called, with the values that options take.
fn synopsis(roff: &mut Roff, root: &Command) {
    roff.control("SH", ["SYNOPSIS"]);
    let mut line = vec![bold(root.get_name())];
    let global = root.get_arguments().filter(|one| !one.is_hide_set());
    for argument in global.filter(|one| !matches!(one.get_id().as_str(), "help" | "version")) {
        line.push(roman(" "));
        line.extend(bracketed(argument));
    }
    line.extend([roman(" ["), italic("COMMAND"), roman("]")]);
    roff.text(line);
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        roff.control("br", []);
        let mut line = vec![bold(format!("{} {}", root.get_name(), command.get_name()))];
        if command.get_subcommands().next().is_some() {
            line.extend([roman(" "), italic("ACTION")]);
        }
        let own = command
            .get_arguments()
            .filter(|one| !one.is_global_set() && !matches!(one.get_id().as_str(), "help" | "version"));
        for argument in own {
            line.push(roman(" "));
            line.extend(bracketed(argument));
        }
        roff.text(line);
    }
}

/// Returns an argument with its value, in brackets where it may be left out.
fn bracketed(argument: &clap::Arg) -> Vec<Inline> {
    if argument.is_required_set() {
        return usage(argument);
    }
    let mut line = vec![roman("[")];
    line.extend(usage(argument));
    line.push(roman("]"));
    line
}

fn paragraphs<'a>(roff: &mut Roff, heading: &str, texts: impl IntoIterator<Item = &'a str>) {
    roff.control("SH", [heading]);
    for text in texts {
        roff.control("PP", []);
        roff.text([roman(text)]);
    }
}

fn pairs<'a>(roff: &mut Roff, heading: &str, rows: impl IntoIterator<Item = (&'a str, &'a str)>) {
    roff.control("SH", [heading]);
    for (name, what) in rows {
        pair(roff, name, what);
    }
}

fn pair(roff: &mut Roff, name: &str, what: &str) {
    roff.control("TP", []);
    roff.text([bold(name)]);
    roff.text([roman(what)]);
}

/// Writes every command with its own arguments; the global ones stand under OPTIONS.
fn commands(roff: &mut Roff, root: &Command) {
    roff.control("SH", ["COMMANDS"]);
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        roff.control("SS", [command.get_name()]);
        roff.text([roman(
            command.get_about().map(ToString::to_string).unwrap_or_default(),
        )]);
        let own = command
            .get_arguments()
            .filter(|argument| !argument.is_global_set() && argument.get_id() != "help");
        for argument in own {
            roff.control("TP", []);
            roff.text(usage(argument));
            roff.text([roman(
                argument.get_help().map(ToString::to_string).unwrap_or_default(),
            )]);
        }
        for inner in command
            .get_subcommands()
            .filter(|inner| inner.get_name() != "help")
        {
            let mut line = vec![bold(format!("{} {}", command.get_name(), inner.get_name()))];
            let own = inner
                .get_arguments()
                .filter(|argument| !argument.is_global_set() && argument.get_id() != "help");
            for argument in own {
                line.push(roman(" "));
                line.extend(usage(argument));
            }
            roff.control("TP", []);
            roff.text(line);
            roff.text([roman(
                inner.get_about().map(ToString::to_string).unwrap_or_default(),
            )]);
        }
    }
}

fn usage(argument: &clap::Arg) -> Vec<Inline> {
    let value = argument
        .get_value_names()
        .and_then(|names| names.first())
        .filter(|_| argument.is_positional() || argument.get_action().takes_values());
    let mut line = Vec::new();
    if let Some(long) = argument.get_long() {
        line.push(bold(format!("--{long}")));
        if value.is_some() {
            line.push(roman(" "));
        }
    }
    if argument.is_last_set() {
        line.push(bold("-- "));
    }
    if let Some(value) = value {
        line.push(italic(value.to_string()));
    }
    line
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_synopsis_names_the_values_of_options() {
        let mut page = Vec::new();
        super::write(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let (_, rest) = page.split_once(".SH SYNOPSIS").unwrap();
        let (synopsis, _) = rest.split_once(".SH").unwrap();
        let plain = ["\\fB", "\\fI", "\\fR"]
            .iter()
            .fold(synopsis.replace("\\-", "-"), |text, font| text.replace(font, ""));
        for wanted in [
            "[--redact WHEN]",
            "[--config FILE]",
            "[--refresh MS]",
            "mcpwake open PATH",
            "[--finding FINDING]",
            "mcpwake show PID",
            "[-- ARGV]",
            "mcpwake incident ACTION",
        ] {
            assert!(plain.contains(wanted), "{wanted} in {plain}");
        }
    }
}
