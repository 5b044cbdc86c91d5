//! The configuration files: where they are, what they may say, how two of them and the arguments
//! add up. Reads files; changes nothing.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use super::args::Global;
use super::commands::{self, CommandFormat};
use crate::app::keep::Configured;
use crate::platform::own;

/// Read before the user's: sudo strips the environment, and the safety switch must hold there too.
pub(super) const SYSTEM_FILE: &str = "/etc/mcpwake/config.toml";

/// Names the variable that switches `--read-only` on.
pub(super) const READ_ONLY_VARIABLE: &str = "MCPWAKE_READ_ONLY";

const DEFAULT_REFRESH_MS: u64 = 1000;
const REFRESH_MS: Range<u64> = 100..600_001;

const DEFAULT_SECOND_LOOK_MS: u64 = 2000;
const SECOND_LOOK_MS: Range<u64> = 500..60_001;

/// What the arguments, the environment and the files add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Milliseconds between two samples of the live screen.
    pub(super) refresh_ms: u64,
    /// Milliseconds from a signal to the second look.
    pub(super) second_look_ms: u64,
    /// Whether nothing but this program's own files may be changed.
    pub(super) read_only: bool,
    /// Whether to draw with ASCII characters only.
    pub(super) ascii: bool,
    /// Configuration texts with rules or clients, in the order in which they are added.
    pub(super) catalogs: Vec<CatalogText>,
    /// Commands that may be run against a lead.
    pub(super) commands: Vec<Configured>,
    /// What the operator should know: files that could not be read.
    pub(super) warnings: Vec<String>,
}

/// A configuration file that adds to the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogText {
    /// The file.
    pub(super) file: String,
    /// Its whole text, so that errors count the lines that the operator sees.
    pub(super) text: String,
}

/// A configuration file that cannot be used.
#[derive(Debug, Error)]
pub(super) enum ConfigError {
    /// Not TOML, an unknown key, or a wrong value.
    #[error("{file}:{line}: {key}: {what}")]
    Content {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The key, or the text at the place.
        key: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// The file named with `--config` could not be read.
    #[error("read {file}: {source}: name a readable file with --config, or leave it out")]
    Named {
        /// The file.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
}

/// One file. `rules` and `clients` are checked by the catalogue, which knows their keys.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFormat {
    refresh_ms: Option<toml::Spanned<u64>>,
    second_look_ms: Option<toml::Spanned<u64>>,
    read_only: Option<bool>,
    ascii: Option<bool>,
    #[serde(default)]
    commands: Vec<toml::Spanned<CommandFormat>>,
    rules: Option<IgnoredAny>,
    clients: Option<IgnoredAny>,
}

/// Returns the user's configuration file, whether it is there or not.
pub(super) fn user_file() -> Option<PathBuf> {
    etcetera::base_strategy::Xdg::new()
        .ok()
        .map(|xdg| xdg.config_dir().join("mcpwake/config.toml"))
}

/// Returns the settings from the files of this machine, the environment and the arguments.
pub(super) fn load(global: &Global) -> Result<Settings, ConfigError> {
    let user = user_file();
    let variable = std::env::var_os(READ_ONLY_VARIABLE);
    load_from(Path::new(SYSTEM_FILE), user, variable, global)
}

fn load_from(
    system: &Path,
    user: Option<PathBuf>,
    variable: Option<OsString>,
    global: &Global,
) -> Result<Settings, ConfigError> {
    let mut settings = Settings {
        refresh_ms: DEFAULT_REFRESH_MS,
        second_look_ms: DEFAULT_SECOND_LOOK_MS,
        read_only: global.read_only || variable.is_some_and(|value| !value.is_empty() && value != "0"),
        ascii: global.ascii,
        catalogs: Vec::new(),
        commands: Vec::new(),
        warnings: Vec::new(),
    };
    let second = global.config.clone().or(user);
    for path in std::iter::once(system.to_path_buf()).chain(second) {
        let file = path.display().to_string();
        let named = global.config.as_deref() == Some(&path);
        match read(&path) {
            Ok((bytes, metadata)) => {
                let before = settings.commands.len();
                add(&mut settings, file, &bytes)?;
                let distrust = commands::distrust(&path, &metadata, own::effective_uid());
                if let Some(why) = distrust.filter(|_| settings.commands.len() > before) {
                    settings.commands.truncate(before);
                    settings
                        .warnings
                        .push(format!("the commands of {} are not taken: {why}", path.display()));
                }
            }
            Err(source) if named => return Err(ConfigError::Named { file, source }),
            Err(error) if is_missing(&error) => {}
            Err(error) => {
                // What cannot be read might have asked for it: fail to the safe side.
                settings.read_only = true;
                settings.warnings.push(format!(
                    "read {file}: {error}: it may ask for read-only, so read-only holds"
                ));
            }
        }
    }
    if let Some(refresh_ms) = global.refresh {
        settings.refresh_ms = refresh_ms;
    }
    Ok(settings)
}

/// Reads a file, with what the system says of the very file that was read.
fn read(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((bytes, metadata))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Adds one file: a later value replaces an earlier one, but read-only is never switched off.
fn add(settings: &mut Settings, file: String, bytes: &[u8]) -> Result<(), ConfigError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        ConfigError::Content {
            file: file.clone(),
            line: 1 + before.matches('\n').count(),
            key: "text".to_owned(),
            what: "not UTF-8; TOML is always UTF-8".to_owned(),
        }
    })?;
    let parsed: FileFormat =
        toml::from_str(text).map_err(|error| content(&file, text, error.span(), error.message()))?;
    let within = |name: &str, value: Option<toml::Spanned<u64>>, range: &Range<u64>| {
        let Some(value) = value else { return Ok(None) };
        if range.contains(value.get_ref()) {
            return Ok(Some(*value.get_ref()));
        }
        Err(ConfigError::Content {
            line: line_at(text, value.span().start),
            file: file.clone(),
            key: name.to_owned(),
            what: format!("from {} to {} milliseconds", range.start, range.end - 1),
        })
    };
    if let Some(refresh) = within("refresh_ms", parsed.refresh_ms, &REFRESH_MS)? {
        settings.refresh_ms = refresh;
    }
    if let Some(wait) = within("second_look_ms", parsed.second_look_ms, &SECOND_LOOK_MS)? {
        settings.second_look_ms = wait;
    }
    for command in parsed.commands {
        let line = line_at(text, command.span().start);
        let checked = command.into_inner().checked();
        let command = checked.map_err(|(key, what)| ConfigError::Content {
            file: file.clone(),
            line,
            key: format!("commands.{key}"),
            what,
        })?;
        settings.commands.push(command);
    }
    settings.read_only |= parsed.read_only.unwrap_or(false);
    settings.ascii |= parsed.ascii.unwrap_or(false);
    if parsed.rules.is_some() || parsed.clients.is_some() {
        settings.catalogs.push(CatalogText {
            file,
            text: text.to_owned(),
        });
    }
    Ok(())
}

fn content(file: &str, text: &str, span: Option<Range<usize>>, message: &str) -> ConfigError {
    let span = span.unwrap_or(0..0);
    let line = line_at(text, span.start);
    let whole = text.lines().nth(line - 1).unwrap_or_default();
    let key = whole.split(['=', '#']).next().unwrap_or_default().trim();
    ConfigError::Content {
        file: file.to_owned(),
        line,
        key: if key.is_empty() { "text" } else { key }.to_owned(),
        what: message.trim().replace('\n', ": "),
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.get(..offset).unwrap_or(text).matches('\n').count()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;

    fn global(args: &[&str]) -> Global {
        Cli::parse_from([&["mcpwake"], args].concat()).global
    }

    /// The examples of the README, one file together.
    #[test]
    fn the_examples_of_the_readme_are_read_and_do_what_it_says() {
        let readme = include_str!("../../README.md");
        let (_, rest) = readme.split_once("### Configuration").unwrap();
        let (section, _) = rest.split_once("\n### ").unwrap();
        let blocks = section.split("```toml\n").skip(1);
        let text: String = blocks.map(|block| block.split("```").next().unwrap()).collect();
        assert_eq!(
            text.matches("[[").count(),
            3 + text.matches("[[\"").count(),
            "{text}"
        );
        let files = Files::new();
        let file = files.write("config.toml", &text);
        let settings = load_from(&file, None, None, &global(&[])).unwrap();
        assert!(settings.read_only && settings.refresh_ms == 1000);
        let [command] = &settings.commands[..] else {
            panic!("{:?}", settings.warnings)
        };
        assert_eq!(
            (command.name.as_str(), command.timeout_s),
            ("end the ssh master", 10)
        );
        let addition = settings.catalogs.first().unwrap();
        let catalog = crate::catalog::Catalog::builtin()
            .unwrap()
            .extended(&addition.file, &addition.text)
            .unwrap();
        let verdict = catalog.verdict_line("/opt/bin/billingd serve tools");
        assert_eq!(verdict.rule.as_deref(), Some("billing"));
        let os = crate::model::host::Os::Linux;
        let mut files = catalog.config_files(os).into_iter();
        assert!(files.any(|file| file.client_name == "Acme Agent" && file.path == "~/.acme/mcp.json"));
    }

    struct Files {
        folder: tempfile::TempDir,
    }

    impl Files {
        fn new() -> Self {
            Self {
                folder: tempfile::tempdir().unwrap(),
            }
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
            let path = self.folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            // Whatever the umask is.
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            path
        }

        fn load(&self, args: &[&str], variable: Option<&str>) -> Result<Settings, ConfigError> {
            load_from(
                &self.folder.path().join("system"),
                Some(self.folder.path().join("user")),
                variable.map(OsString::from),
                &global(args),
            )
        }
    }

    #[test]
    fn missing_files_are_fine() {
        let settings = Files::new().load(&[], None).unwrap();
        assert_eq!(settings.refresh_ms, DEFAULT_REFRESH_MS);
        assert_eq!(settings.second_look_ms, 2000);
        assert!(!settings.read_only && !settings.ascii);
        assert!(settings.warnings.is_empty() && settings.catalogs.is_empty());
    }

    #[test]
    fn the_argument_wins_over_the_user_and_the_user_over_the_system() {
        let files = Files::new();
        files.write("system", "refresh_ms = 3000\nascii = true\n");
        assert_eq!(files.load(&[], None).unwrap().refresh_ms, 3000);
        files.write("user", "refresh_ms = 2000\n");
        let settings = files.load(&[], None).unwrap();
        assert_eq!(settings.refresh_ms, 2000);
        assert!(settings.ascii);
        assert_eq!(files.load(&["--refresh", "500"], None).unwrap().refresh_ms, 500);
    }

    #[test]
    fn read_only_cannot_be_undone() {
        let files = Files::new();
        assert!(files.load(&["--read-only"], None).unwrap().read_only);
        assert!(files.load(&[], Some("1")).unwrap().read_only);
        assert!(!files.load(&[], Some("0")).unwrap().read_only);
        assert!(!files.load(&[], Some("")).unwrap().read_only);
        files.write("system", "read_only = true\n");
        files.write("user", "read_only = false\n");
        assert!(files.load(&[], Some("0")).unwrap().read_only);
        let other = files.write("other", "read_only = false\n");
        let other = other.display().to_string();
        assert!(files.load(&["--config", &other], None).unwrap().read_only);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_said_and_holds_read_only() {
        let files = Files::new();
        std::fs::create_dir(files.folder.path().join("system")).unwrap();
        let settings = files.load(&[], None).unwrap();
        assert!(settings.read_only);
        assert!(settings.warnings[0].contains("system"), "{:?}", settings.warnings);
    }

    #[test]
    fn a_named_file_must_be_there() {
        let error = Files::new()
            .load(&["--config", "/nowhere/c.toml"], None)
            .unwrap_err();
        assert!(error.to_string().contains("/nowhere/c.toml"), "{error}");
    }

    #[test]
    fn errors_name_file_line_and_key() {
        let files = Files::new();
        let cases: [(&[u8], usize, &str, &str); 7] = [
            (b"ascii = true\n\nrefresh = 3\n", 3, "refresh", "unknown field"),
            (b"[colours]\n", 1, "[colours]", "unknown field"),
            (b"read_only = \"yes\"\n", 1, "read_only", "boolean"),
            (b"\nrefresh_ms = 1\n", 2, "refresh_ms", "from 100"),
            (b"second_look_ms = 0\n", 1, "second_look_ms", "from 500"),
            (b"a\nb = \n", 1, "a", ""),
            (b"ascii = true\n# \xff\n", 2, "text", "UTF-8"),
        ];
        for (text, wanted_line, wanted_key, wanted) in cases {
            let path = files.write("user", text).display().to_string();
            match files.load(&[], None).unwrap_err() {
                ConfigError::Content {
                    file,
                    line,
                    key,
                    what,
                } => {
                    assert_eq!(
                        (file, line, key.as_str()),
                        (path, wanted_line, wanted_key),
                        "{what}"
                    );
                    assert!(what.contains(wanted), "{what}");
                }
                other @ ConfigError::Named { .. } => panic!("{other}"),
            }
        }
    }

    #[test]
    fn commands_of_a_file_that_others_can_write_are_not_taken_and_said() {
        let files = Files::new();
        let text = "[[commands]]\nname = \"who\"\nargv = [\"/usr/bin/id\", \"{pid}\"]\n";
        let path = files.write("user", text);
        let mode =
            |mode: u32| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o600);
        let settings = files.load(&[], None).unwrap();
        assert_eq!(settings.commands.len(), 1, "{:?}", settings.warnings);
        assert_eq!(settings.commands[0].name, "who");
        mode(0o620);
        let settings = files.load(&[], None).unwrap();
        assert!(settings.commands.is_empty());
        assert!(
            settings.warnings[0].contains("mode 620"),
            "{:?}",
            settings.warnings
        );
        files.write(
            "user",
            "ascii = true\n\n[[commands]]\nname = \"x\"\nargv = [\"id\"]\n",
        );
        let error = files.load(&[], None).unwrap_err().to_string();
        assert!(error.contains(":3: commands.argv:"), "{error}");
    }

    #[test]
    fn rules_and_clients_are_handed_on_with_the_whole_text() {
        let files = Files::new();
        let text = "ascii = true\n[[rules]]\nid = \"x\"\n";
        files.write("user", text);
        assert_eq!(files.load(&[], None).unwrap().catalogs[0].text, text);
    }
}
