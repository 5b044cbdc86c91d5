//! Whether a launcher hands a TERM on to what it started. Known from the programs' own behaviour; what
//! is not known is said to be so.

use crate::model::process::Process;

/// What a launcher does with a TERM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forwarding {
    /// It ends, and what it started does not hear of it.
    No,
    /// It hands it on.
    Yes,
    /// Not known.
    Unknown,
}

/// Package runners of Node and shells: they end on TERM without handing it on.
const DEAF: [&[u8]; 15] = [
    b"npm",
    b"npx",
    b"npm-cli.js",
    b"npx-cli.js",
    b"pnpm",
    b"pnpx",
    b"yarn",
    b"sh",
    b"bash",
    b"dash",
    b"ash",
    b"zsh",
    b"ksh",
    b"fish",
    b"busybox",
];

/// Runners and inits that hand signals on.
const FORWARDING: [&[u8]; 6] = [b"uv", b"uvx", b"docker", b"podman", b"tini", b"dumb-init"];

/// Interpreters whose script is the launcher.
const INTERPRETERS: [&[u8]; 2] = [b"node", b"bun"];

/// Returns what a launcher does with a TERM, by its command line.
pub(super) fn forwarding(process: &Process) -> Forwarding {
    let mut words = process.args().iter();
    let Some(first) = words.next() else {
        return Forwarding::Unknown;
    };
    // npm rewrites its title: all of it in one element.
    let program = first.as_bytes().split(|byte| *byte == b' ').next().unwrap_or(b"");
    let mut name = basename(program);
    if INTERPRETERS.contains(&name) {
        name = words.next().map_or(b"", |script| script.basename());
    }
    let name = name.strip_prefix(b"-").unwrap_or(name);
    if DEAF.contains(&name) {
        Forwarding::No
    } else if FORWARDING.contains(&name) {
        Forwarding::Yes
    } else {
        Forwarding::Unknown
    }
}

fn basename(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testkit::Machine;

    #[test]
    fn launchers_are_known_by_program_or_script() {
        for (argv, expected) in [
            (&["npm exec @playwright/mcp@latest"][..], Forwarding::No),
            (&["/usr/bin/npx", "-y", "x"], Forwarding::No),
            (
                &["node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "x"],
                Forwarding::No,
            ),
            (&["sh", "-c", "playwright-mcp"], Forwarding::No),
            (&["-bash"], Forwarding::No),
            (&["/home/u/.local/bin/uv", "tool", "run", "x"], Forwarding::Yes),
            (&["uvx", "mcp-server-git"], Forwarding::Yes),
            (&["docker", "run", "-i", "x"], Forwarding::Yes),
            (&["node", "server.js"], Forwarding::Unknown),
            (&["node"], Forwarding::Unknown),
            (&["pipx", "run", "x"], Forwarding::Unknown),
            (&[], Forwarding::Unknown),
        ] {
            let mut machine = Machine::new();
            let argv: Vec<_> = argv.iter().map(|word| (*word).into()).collect();
            let process = machine.add_argv(10, 1, argv);
            assert_eq!(forwarding(process), expected, "{:?}", process.argv);
        }
    }
}
