//! `[[commands]]` of a configuration file: what may be run against a lead, and whose word it is.

use std::fs::{self, Metadata};
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Deserialize;

use crate::app::keep::{Configured, Placeholder};
use crate::model::finding::LeadKind;

/// After this long a command is ended, where the file does not say, seconds.
const USUAL_TIMEOUT_S: u64 = 30;
const TIMEOUT_S: Range<u64> = 1..601;

/// One `[[commands]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandFormat {
    name: String,
    argv: Vec<String>,
    #[serde(default)]
    kinds: Vec<LeadKind>,
    timeout_s: Option<u64>,
}

impl CommandFormat {
    /// Checks it; answers with key and complaint where it cannot be used.
    pub(super) fn checked(self) -> Result<Configured, (&'static str, String)> {
        let Self {
            name,
            argv,
            kinds,
            timeout_s,
        } = self;
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err(("name", "a name of one line".to_owned()));
        }
        let program = argv.first().map_or("", String::as_str);
        if !Path::new(program).is_absolute() || program.contains('{') {
            let what =
                "the first element is the program's absolute path: no PATH is searched, no shell is asked";
            return Err(("argv", what.to_owned()));
        }
        if let Some(unknown) = argv.iter().find_map(|element| unknown_placeholder(element)) {
            let known: Vec<&str> = Placeholder::ALL.iter().map(|one| one.written()).collect();
            return Err(("argv", format!("{unknown} is none of {}", known.join(", "))));
        }
        if let Some(script) = shell_text(&argv) {
            let what = format!(
                "{script} is in text for a shell, which would read a target as commands: hand it over as an \
                 argument behind, as in `sh -c 'check \"$1\"' sh {script}`"
            );
            return Err(("argv", what));
        }
        let timeout_s = timeout_s.unwrap_or(USUAL_TIMEOUT_S);
        if !TIMEOUT_S.contains(&timeout_s) {
            let what = format!("from {} to {} seconds", TIMEOUT_S.start, TIMEOUT_S.end - 1);
            return Err(("timeout_s", what));
        }
        Ok(Configured {
            name,
            argv,
            kinds,
            timeout_s,
        })
    }
}

/// Returns a placeholder that stands in the text that a shell or an interpreter would read.
fn shell_text(argv: &[String]) -> Option<&'static str> {
    let reads = |option: &String| {
        let short = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        short.is_some_and(|letters| letters.ends_with(['c', 'e']))
    };
    let texts = argv.windows(2).filter(|pair| reads(&pair[0]));
    let mut placeholders = texts.filter_map(|pair| {
        let known = Placeholder::ALL.into_iter();
        known
            .map(Placeholder::written)
            .find(|written| pair[1].contains(written))
    });
    placeholders.next()
}

/// Returns a word in braces that is no placeholder. Other braces are text.
fn unknown_placeholder(element: &str) -> Option<String> {
    let mut rest = element;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let end = rest.find('}')?;
        let written = &rest[..=end];
        let word = &rest[1..end];
        let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if is_word && Placeholder::ALL.iter().all(|known| known.written() != written) {
            return Some(written.to_owned());
        }
        rest = &rest[1..];
    }
    None
}

/// Says why commands of a file are not taken: anybody else than root and this user could have written
/// them, into the file or by putting another one in its place. `file` is what was read.
pub(super) fn distrust(path: &Path, file: &Metadata, uid: u32) -> Option<String> {
    if let Some(why) = foreign(file, uid) {
        return Some(format!("{} {why}", path.display()));
    }
    // Through a link, both directories decide which file it is.
    let places = [Some(path.to_path_buf()), fs::canonicalize(path).ok()];
    for place in places.into_iter().flatten() {
        let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new("."));
        let why = match fs::metadata(directory) {
            Ok(metadata) => foreign(&metadata, uid),
            Err(error) => Some(format!("cannot be looked at: {error}")),
        };
        if let Some(why) = why {
            return Some(format!("{} {why}", directory.display()));
        }
    }
    None
}

fn foreign(metadata: &Metadata, uid: u32) -> Option<String> {
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if owner != 0 && owner != uid {
        return Some(format!("belongs to uid {owner}"));
    }
    (mode & 0o022 != 0).then(|| format!("can be written by others (mode {mode:o}): chmod go-w it"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn checked(text: &str) -> Result<Configured, String> {
        let format: CommandFormat = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        format.checked().map_err(|(key, what)| format!("{key}: {what}"))
    }

    #[test]
    fn a_command_is_taken_as_it_is_written() {
        let text = r#"
            name = "close master"
            argv = ["/usr/bin/ssh", "-O", "exit", "-S", "{control_path}", "{target}", '{"a": 1}']
            kinds = ["ssh", "unix-socket"]
            timeout_s = 5
        "#;
        let command = checked(text).unwrap();
        assert_eq!(command.argv.len(), 7);
        assert_eq!(command.kinds, [LeadKind::Ssh, LeadKind::UnixSocket]);
        assert_eq!(command.timeout_s, 5);
        let least = checked("name = \"x\"\nargv = [\"/bin/true\"]").unwrap();
        assert_eq!((least.kinds.len(), least.timeout_s), (0, USUAL_TIMEOUT_S));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let cases = [
            ("name = \" \"\nargv = [\"/bin/true\"]", "name"),
            ("name = \"x\"\nargv = []", "absolute path"),
            ("name = \"x\"\nargv = [\"ssh\"]", "absolute path"),
            ("name = \"x\"\nargv = [\"/{target}\"]", "absolute path"),
            (
                "name = \"x\"\nargv = [\"/bin/a\", \"x{taget}\"]",
                "{taget} is none of {pid}",
            ),
            (
                "name = \"x\"\nargv = [\"/bin/sh\", \"-ec\", \"ping {target}\"]",
                "would read a target as commands",
            ),
            ("name = \"x\"\nargv = [\"/bin/a\"]\ntimeout_s = 0", "timeout_s"),
            ("name = \"x\"\nargv = [\"/bin/a\"]\ntimeout_s = 601", "timeout_s"),
            ("name = \"x\"\nargv = [\"/bin/a\"]\nkinds = [\"disk\"]", "disk"),
            ("name = \"x\"\nargv = \"/bin/a b\"", "sequence"),
            ("name = \"x\"\nargv = [\"/bin/a\"]\nshell = true", "shell"),
        ];
        for (text, wanted) in cases {
            let why = checked(text).unwrap_err();
            assert!(why.contains(wanted), "{text}: {why}");
        }
    }

    #[test]
    fn only_a_file_that_nobody_else_can_change_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let file = inner.join("config.toml");
        fs::write(&file, "").unwrap();
        let uid = fs::metadata(&file).unwrap().uid();
        let why = |path: &Path, uid: u32| distrust(path, &fs::metadata(path).unwrap(), uid);
        mode(&inner, 0o755);
        mode(&file, 0o644);
        assert_eq!(why(&file, uid), None);
        for (file_mode, directory_mode, wanted) in [
            (0o664, 0o755, "config.toml can be written"),
            (0o646, 0o755, "config.toml can be written"),
            (0o600, 0o775, "inner can be written"),
            (0o600, 0o1777, "inner can be written"),
        ] {
            mode(&file, file_mode);
            mode(&inner, directory_mode);
            let why = why(&file, uid).unwrap_or_default();
            assert!(why.contains(wanted), "{why}");
        }
        let link = folder.path().join("link.toml");
        symlink(&file, &link).unwrap();
        mode(folder.path(), 0o700);
        assert!(
            why(&link, uid)
                .unwrap_or_default()
                .contains("inner can be written")
        );
        mode(&inner, 0o700);
        assert_eq!(why(&link, uid), None);
        if uid != 0 {
            assert!(why(&file, uid + 1).unwrap_or_default().contains("belongs to uid"));
        }
    }
}
