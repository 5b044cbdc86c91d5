//! `doctor`: the self-test, as text or as JSON. A wrong configuration is one of its answers.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use super::args::{Doctor, Global};
use super::config::{self, ConfigError, SYSTEM_FILE, Settings};
use super::exit::Exit;
use super::output;
use crate::catalog::Catalog;
use crate::doctor::{self, Setup};
use crate::journal::Digest;
use crate::report::Paper;
use crate::report::doctor::{Answer, Check};
use crate::runtime::caps::Surroundings;
use crate::store::Access;
use crate::text::width::Glyphs;

/// Runs the command.
pub(super) fn run(args: &Doctor, global: &Global) -> anyhow::Result<Exit> {
    let (setup, ascii) = setup(global)?;
    let diagnosis = doctor::examine(setup);
    let text = if args.json {
        let json = serde_json::to_string_pretty(&diagnosis).context("write JSON")?;
        format!("{json}\n")
    } else {
        let ascii = Surroundings::of_this_process().capabilities(ascii).ascii;
        diagnosis.text(Paper {
            columns: output::columns(),
            glyphs: if ascii { Glyphs::Ascii } else { Glyphs::Unicode },
        })
    };
    // The answer counts also where nobody reads it to its end.
    match output::print(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    Ok(if diagnosis.is_trouble() {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// A configuration file in words that hold no user's name.
struct Place {
    id: &'static str,
    title: &'static str,
    words: &'static str,
    path: PathBuf,
}

fn places(global: &Global) -> Vec<Place> {
    let system = Place {
        id: "configuration.system",
        title: "configuration, system",
        words: SYSTEM_FILE,
        path: SYSTEM_FILE.into(),
    };
    let user = match &global.config {
        Some(path) => Some(("the file named with --config", path.clone())),
        None => config::user_file().map(|path| ("$XDG_CONFIG_HOME/mcpwake/config.toml", path)),
    };
    let user = user.map(|(words, path)| Place {
        id: "configuration.user",
        title: "configuration, user",
        words,
        path,
    });
    std::iter::once(system).chain(user).collect()
}

/// Returns what the self-test is told, and whether ASCII was asked for. A configuration that is not accepted
/// counts as none, and as read-only: it may have asked for it.
fn setup(global: &Global) -> anyhow::Result<(Setup, bool)> {
    let mut fault = None;
    let loaded = config::load(global);
    let settings = loaded.map_err(|error| fault = Some(fault_of(&error))).ok();
    let mut catalogs = None;
    if let Some(settings) = &settings {
        match extended(settings).and_then(|one| Ok((one, extended(settings)?))) {
            Ok(two) => catalogs = Some(two),
            Err(error) => fault = Some(error),
        }
    }
    let (catalog, own_catalog) = match catalogs {
        Some(two) => two,
        None => (Catalog::builtin()?, Catalog::builtin()?),
    };
    let sound = settings.filter(|_| fault.is_none());
    let writes = sound.as_ref().is_some_and(|settings| !settings.read_only);
    let setup = Setup {
        catalog: Arc::new(catalog),
        own_catalog,
        rules: rules(sound.as_ref()),
        access: if writes {
            Access::ReadWrite
        } else {
            Access::ReadOnly
        },
        configuration: places(global)
            .iter()
            .map(|place| check(place, fault.as_ref()))
            .collect(),
    };
    Ok((setup, sound.map_or(global.ascii, |settings| settings.ascii)))
}

/// What is wrong with a configuration, and in which file.
struct Fault {
    file: String,
    words: String,
}

fn fault_of(error: &ConfigError) -> Fault {
    match error {
        // What the line says may be private.
        ConfigError::Content { file, line, .. } => Fault {
            file: file.clone(),
            words: format!("not accepted: line {line} is wrong"),
        },
        ConfigError::Named { file, source } => Fault {
            file: file.clone(),
            words: format!("it cannot be read: {}", source.kind()),
        },
    }
}

fn extended(settings: &Settings) -> Result<Catalog, Fault> {
    let fault = |file: &str, line| Fault {
        file: file.to_owned(),
        words: format!("not accepted: a rule or client at line {line} is wrong"),
    };
    let mut catalog = Catalog::builtin().map_err(|error| fault(&error.file, error.line))?;
    for addition in &settings.catalogs {
        catalog = catalog
            .extended(&addition.file, &addition.text)
            .map_err(|error| fault(&addition.file, error.line))?;
    }
    Ok(catalog)
}

fn rules(settings: Option<&Settings>) -> String {
    let built_in = "built in".to_owned();
    let additions = settings.into_iter().flat_map(|settings| &settings.catalogs);
    let digests =
        additions.map(|addition| format!("additions sha256 {}", Digest::of(addition.text.as_bytes())));
    std::iter::once(built_in)
        .chain(digests)
        .collect::<Vec<_>>()
        .join(", ")
}

fn check(place: &Place, fault: Option<&Fault>) -> Check {
    let check =
        |answer, what: &str| Check::new(place.id, place.title, answer, format!("{}: {what}", place.words));
    if let Some(fault) = fault.filter(|fault| Path::new(&fault.file) == place.path) {
        return check(Answer::Failed, &fault.words)
            .advised("no command but this one runs with it: `mcpwake list` says what is wrong there");
    }
    match std::fs::read(&place.path) {
        Ok(_) if fault.is_some() => check(Answer::Works, "found"),
        Ok(_) => check(Answer::Works, "found and accepted"),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            check(Answer::Works, "none, which is fine")
        }
        Err(error) => check(
            Answer::Denied,
            &format!("{}: read-only holds, it may ask for it", error.kind()),
        )
        .advised("make it readable for this user, or remove it"),
    }
}
