//! Installs pinned packages, once for all tests and runs, under a file lock.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A set of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kit {
    /// The TypeScript SDK with node servers.
    Node,
    /// The Python SDK 1.x: the wire is on descriptors 0 and 1.
    Python1,
    /// The Python SDK 2.x: the wire is moved to private descriptors.
    Python2,
}

impl Kit {
    fn folder(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python1 => "python-mcp1",
            Self::Python2 => "python-mcp2",
        }
    }

    /// The files that pin it: a change of one installs anew.
    fn pins(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["package.json", "package-lock.json", "client.mjs"],
            Self::Python1 => &["requirements-mcp1.txt", "client.py"],
            Self::Python2 => &["requirements-mcp2.txt", "client.py"],
        }
    }

    /// Returns the folder where it is installed, after having installed it where needed.
    pub(crate) fn installed(self) -> Result<PathBuf, String> {
        let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers");
        // The tests' own temporary directory lies in the target directory.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let folder = target.join("mcp-servers").join(self.folder());
        fs::create_dir_all(&folder).map_err(|error| format!("create {}: {error}", folder.display()))?;
        let lock = File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let wanted: Vec<Vec<u8>> = self
            .pins()
            .iter()
            .map(|pin| fs::read(pins.join(pin)).unwrap())
            .collect();
        let (wanted, stamp) = (wanted.concat(), folder.with_extension("stamp"));
        if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(folder);
        }
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir_all(&folder).unwrap();
        for pin in self.pins() {
            fs::copy(pins.join(pin), folder.join(pin)).unwrap();
        }
        self.install(&folder)?;
        fs::write(stamp, wanted).unwrap();
        Ok(folder)
    }

    fn install(self, folder: &Path) -> Result<(), String> {
        if self == Self::Node {
            return run(
                folder,
                "npm",
                &["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            );
        }
        run(folder, "python3", &["-m", "venv", "."])?;
        let pip = folder.join("bin/pip").display().to_string();
        let arguments = [
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
            self.pins()[0],
        ];
        run(folder, &pip, &arguments)
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let said = format!("{program} {} in {}", arguments.join(" "), folder.display());
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{said}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Err(format!(
        "{said}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    ))
}
