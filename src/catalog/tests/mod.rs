//! Tests of the catalogue as a whole: labelled lines, names, forms of one command.

mod clients;
mod config;
mod matching;
mod properties;

use std::sync::LazyLock;

use super::*;
use crate::model::bytes::OsBytes;
use crate::model::instance::{Confidence, Role};

const LINES: &str = include_str!("../../../tests/fixtures/cmdlines.tsv");

/// Server names without `mcp` in them that the rules know.
const KNOWN: [&str; 6] = [
    "supergateway",
    "context-mode",
    "contextplus",
    "lean-ctx",
    "gbrain",
    "serena",
];

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::builtin().expect("the built-in rules are valid"));

fn catalog() -> &'static Catalog {
    &CATALOG
}

fn argv(words: &[&str]) -> Vec<OsBytes> {
    words.iter().map(|word| OsBytes::from(*word)).collect()
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.lines().skip(1).filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.nth(1)?))
    })
}

fn has_marker(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.contains("mcp")
        || lower.contains("modelcontextprotocol")
        || KNOWN.iter().any(|name| lower.contains(name))
}

#[test]
fn labelled_lines_are_told_apart() {
    let catalog = catalog();
    let (mut marked, mut right, mut wrong, mut alarms) = (0, 0, Vec::new(), 0);
    for (label, line) in lines() {
        let verdict = catalog.verdict_line(line);
        let is_right = match label {
            "server" | "launcher" if has_marker(line) => {
                marked += 1;
                let is_right = verdict.mcp && verdict.role.word() == label;
                right += usize::from(is_right);
                is_right
            }
            "server" | "launcher" => verdict.mcp || verdict.undecided,
            _ => {
                alarms += usize::from(verdict.mcp);
                !verdict.mcp
            }
        };
        if !is_right {
            wrong.push(format!("{label} {line}\n    {verdict:?}"));
        }
    }
    assert!(lines().count() > 400, "the table is there");
    assert!(
        alarms == 0 && right * 100 >= marked * 95,
        "{right} of {marked}\n{}",
        wrong.join("\n")
    );
    // A line without any mark is said to be undecided, never passed over in silence.
    assert!(wrong.len() <= marked - right, "{}", wrong.join("\n"));
}

#[test]
fn a_version_in_the_name_of_an_archive_does_not_hide_it() {
    let catalog = catalog();
    for archive in [
        "acme-mcp-server.jar",
        "acme-mcp-server-1.2.3.jar",
        "acme-mcp-server-0.3.0-SNAPSHOT.jar",
        "acme-mcp-server-2.0-jar-with-dependencies.jar",
        "acme-mcp-server-all.jar",
        "Acme-MCP-Server-1.0.0-runner.JAR",
    ] {
        let verdict = catalog.verdict_line(&format!("java -jar /opt/{archive} --stdio"));
        assert_eq!(verdict.role, Role::Server, "{archive}: {}", verdict.because);
        let name = verdict.name.map(|name| name.to_lowercase());
        assert_eq!(name.as_deref(), Some("acme"), "{archive}");
    }
    for other in ["log4j-1.2-mcp-server.jar", "-1.0.jar", "acme-mcp-server-1.0.txt"] {
        let verdict = catalog.verdict_line(&format!("java -jar {other}"));
        assert!(!verdict.mcp, "{other}: {}", verdict.because);
    }
}

#[test]
fn a_program_of_windows_is_seen_behind_what_starts_it_from_linux() {
    let catalog = catalog();
    let judge = |argv: &[&str]| {
        let argv: Vec<OsBytes> = argv.iter().map(|word| OsBytes::from(*word)).collect();
        let verdict = catalog.verdict(&argv);
        (verdict.role, verdict.name)
    };
    let launcher = |name: &str| (Role::Launcher, Some(name.to_owned()));
    let cmd = "/mnt/c/Windows/System32/cmd.exe";
    assert_eq!(
        judge(&["/init", cmd, "cmd.exe", "/c", "npx", "-y", "mcp-server-x"]),
        launcher("x")
    );
    let node = "/mnt/c/Program Files/nodejs/node.exe";
    let script = "C:\\Users\\u\\node_modules\\@scope\\mcp-server-x\\dist\\index.js";
    assert_eq!(judge(&["/init", node, "node.exe", script]).0, Role::Launcher);
    for init in [
        &["/sbin/init"][..],
        &["/init"],
        &["/sbin/init", "splash"],
        &["/init", cmd, "cmd.exe"],
    ] {
        assert_eq!(judge(init), (Role::Other, None), "{init:?}");
    }
}

#[test]
fn a_launcher_and_its_server_have_one_name() {
    let catalog = catalog();
    let chains: [(&str, &[&str]); 9] = [
        (
            "everything",
            &[
                "npm exec @modelcontextprotocol/server-everything",
                "sh -c mcp-server-everything",
                "node /h/.npm/_npx/0123456789abcdef/node_modules/.bin/mcp-server-everything",
                "node /x/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
            ],
        ),
        (
            "git",
            &[
                "uvx mcp-server-git",
                "/usr/bin/uv tool uvx mcp-server-git",
                "/c/uv/archive-v0/AbC/bin/python /c/uv/archive-v0/AbC/bin/mcp-server-git",
                "python -m mcp_server_git",
                "docker run -i --rm mcp/git",
            ],
        ),
        (
            "playwright",
            &[
                "npx @playwright/mcp@latest",
                "node /x/node_modules/.bin/playwright-mcp",
                "docker run -i mcr.microsoft.com/playwright/mcp",
            ],
        ),
        (
            "context7",
            &[
                "bunx -y @upstash/context7-mcp",
                "node /tmp/bunx-501-@upstash/context7-mcp@latest/node_modules/.bin/context7-mcp",
            ],
        ),
        (
            "chrome-devtools",
            &["npx chrome-devtools-mcp@latest", "chrome-devtools-mcp"],
        ),
        (
            "mcp-remote",
            &[
                "npm exec mcp-remote https://example.invalid/sse",
                "node /x/.bin/mcp-remote https://example.invalid/sse",
            ],
        ),
        (
            "weather",
            &[
                "uv run --with mcp[cli] mcp run src/weather.py",
                "/p/bin/python /p/bin/mcp run src/weather.py:app",
            ],
        ),
        (
            "paper-search",
            &[
                "uv run --directory /p -m paper_search_mcp.server",
                "/p/.venv/bin/python -m paper_search_mcp.server",
            ],
        ),
        ("mcp-server", &["node /h/src/mcp-server/build/index.js"]),
    ];
    for (name, forms) in chains {
        for line in forms {
            let verdict = catalog.verdict_line(line);
            assert_eq!(verdict.name.as_deref(), Some(name), "{line}: {verdict:?}");
        }
    }
}

#[test]
fn ordinary_disguises_change_nothing() {
    let catalog = catalog();
    let forms: [&[&str]; 10] = [
        &[
            "/usr/bin/node20",
            "--inspect",
            "--require",
            "./x.js",
            "/x/.bin/mcp-server-git",
        ],
        &["node", "/x/.bin/mcp-server-git", "", ""],
        &["python3.11", "-u", "-X", "dev", "-I", "-m", "mcp_server_git"],
        &[
            "/opt/Python.framework/Versions/3.12/Resources/Python.app/Contents/MacOS/Python",
            "-m",
            "mcp_server_git",
        ],
        &[
            "/lib64/ld-linux-x86-64.so.2",
            "--library-path",
            "/lib",
            "/x/mcp-server-git",
        ],
        &["/x/mcp-server-git (deleted)"],
        &["-mcp-server-git"],
        &["mcp-server-git.exe"],
        &[
            "/usr/bin/python3",
            "/usr/local/bin/mcp-server-git",
            "--repository",
            "/with space/r",
        ],
        &["C:\\py\\python.exe", "-m", "mcp_server_git"],
    ];
    for form in forms {
        let verdict = catalog.verdict(&argv(form));
        let got = (verdict.mcp, verdict.role, verdict.name.as_deref());
        assert_eq!(got, (true, Role::Server, Some("git")), "{form:?}: {verdict:?}");
    }
    let mut bytes = argv(&["node", "/x/.bin/mcp-server-git"]);
    bytes.push(vec![0xff, 0xfe].into());
    assert!(catalog.verdict(&bytes).mcp);
}

#[test]
fn confidence_follows_from_what_decided() {
    let catalog = catalog();
    for (line, confidence) in [
        ("node /x/.bin/playwright-mcp", Confidence::Known),
        ("claude mcp serve", Confidence::Known),
        ("deja mcp", Confidence::Likely),
        ("uvx mcp-doc", Confidence::Likely),
        ("node /h/src/mcp-server/build/index.js", Confidence::Likely),
    ] {
        assert_eq!(catalog.verdict_line(line).confidence, Some(confidence), "{line}");
    }
}

#[test]
fn an_anonymous_script_is_undecided_and_says_so() {
    let catalog = catalog();
    for line in [
        "node dist/index.js",
        "bun server.ts",
        "python server.py",
        "sh -c \"node build/index.js\"",
        "uv run server.py",
    ] {
        let verdict = catalog.verdict_line(line);
        assert!(verdict.undecided && !verdict.mcp, "{line}: {verdict:?}");
        assert!(verdict.because.contains("does not say what it is"), "{verdict:?}");
    }
    assert!(!catalog.verdict_line("node /x/node_modules/.bin/vite").undecided);
}

#[test]
fn near_misses_say_why_not() {
    let verdict = catalog().verdict_line("ghost --mcp https://example.invalid");
    assert!(!verdict.mcp);
    assert!(
        verdict
            .near_misses
            .iter()
            .any(|miss| miss.rule == "flag" && miss.why.contains("has a value")),
        "{verdict:?}"
    );
}

#[test]
fn only_what_stays_and_starts_another_is_transparent() {
    let catalog = catalog();
    for words in [
        &["npx", "-y", "x"][..],
        &["npm exec x y"],
        &["sh", "-c", "x"],
        &["uv", "run", "server.py"],
        &["env", "A=1", "x"],
        &["timeout", "5", "x"],
        &["docker", "run", "-i", "x"],
        &["ssh", "h", "x"],
        &["node", "/usr/bin/npx", "-y", "x"],
    ] {
        assert!(catalog.is_transparent(&argv(words)), "{words:?}");
    }
    for words in [
        &["node", "x.js"][..],
        &["python", "-m", "x"],
        &["mcp-server-git"],
        &["sh", "x.sh"],
        &["bash"],
        &[],
        &["ssh", "h"],
    ] {
        assert!(!catalog.is_transparent(&argv(words)), "{words:?}");
    }
}

#[test]
fn a_huge_argument_vector_is_given_up_early() {
    let catalog = catalog();
    let mut huge = argv(&["node", "/x/.bin/mcp-server-git"]);
    huge.extend((0..2000).map(|_| OsBytes::from(vec![b'"'; 1024])));
    assert!(catalog.verdict(&huge).mcp);
    let title = OsBytes::from(format!("x {}", "\" { ".repeat(500_000)));
    assert!(!catalog.verdict(&[title]).mcp);
    assert!(!catalog.verdict(&argv(&["sh", "-c", &"( ".repeat(1_000_000)])).mcp);
}

#[test]
fn the_users_rules_come_first_and_errors_name_the_line() {
    let text = "theme = 'x'\n[[rules]]\nid = 'mine'\nrole = 'server'\nconfidence = 'known'\nprograms = ['acme']\nbecause = 'ours'\nevidence = 'docs'\n\n[[rules]]\nid = 'git'\nrole = 'other'\nprograms = ['mcp-server-git']\nbecause = 'not ours'\nevidence = 'run'\n";
    let extended = Catalog::builtin()
        .and_then(|catalog| catalog.extended("config.toml", text))
        .expect("valid");
    assert_eq!(
        extended.verdict_line("/opt/acme --x").rule.as_deref(),
        Some("mine")
    );
    assert!(!extended.verdict_line("mcp-server-git").mcp);

    for (bad, line, key) in [
        (
            "[[rules]]\nid = 'x'\nrole = 'server'\nconfidence = 'known'\npath = '('\nbecause = 'b'\nevidence = 'run'\n",
            5,
            "path",
        ),
        ("a = 1\n[[rules]]\nid = 'x'\nroll = 'server'\n", 4, "roll"),
        ("[[rules]]\nid = 'x'\nrole = 'serving'\n", 3, "role"),
        (
            "[[rules]]\nid = 'x'\nrole = 'server'\nprograms = ['y']\nbecause = 'b'\nevidence = 'run'\n",
            2,
            "id",
        ),
        (
            "\n[[clients]]\nid = 'x'\nname = 'X'\nevidence = 'run'\nfiles = [{ path = 'rel', format = 'json', pointers = ['/a'], scope = 's', evidence = 'run' }]\n",
            6,
            "files",
        ),
        ("x = \n", 1, "x"),
    ] {
        let error = Catalog::builtin()
            .and_then(|catalog| catalog.extended("config.toml", bad))
            .expect_err(bad);
        assert_eq!(
            (error.file.as_str(), error.line, error.key.as_str()),
            ("config.toml", line, key),
            "{error}"
        );
    }
}

#[test]
fn the_user_can_add_a_client() {
    let text = "[[clients]]\nid = 'acme'\nname = 'Acme'\nevidence = 'docs'\nexpands = ['braces']\n\
        files = [{ path = '~/.acme.json', format = 'json', pointers = ['/servers/*'], scope = 'user', evidence = 'docs' }]\n\
        processes = [{ programs = ['acme'], evidence = 'docs' }]\n";
    let catalog = Catalog::builtin()
        .and_then(|catalog| catalog.extended("config.toml", text))
        .expect("valid");
    let words = argv(&["/opt/acme", "chat"]);
    let seen = Seen {
        argv: &words,
        exe: None,
        cwd: None,
        home: None,
        variables: None,
    };
    assert_eq!(
        catalog.client(&seen).map(|found| found.id),
        Some("acme".to_owned())
    );
    let files = catalog.config_files(crate::model::host::Os::Linux);
    let file = files.iter().find(|file| file.client == "acme").expect("its file");
    let (path, home) = (OsBytes::from("/home/u/.acme.json"), OsBytes::from("/home/u"));
    let text = br#"{"servers":{"a":{"command":"${HOME}/x"}}}"#;
    let servers = catalog
        .parse_config(file.index, &path, &home, None, text)
        .expect("valid");
    let words = argv(&["/home/u/x"]);
    let seen = Seen {
        argv: &words,
        exe: None,
        cwd: None,
        home: None,
        variables: None,
    };
    assert!(
        catalog
            .matches(&servers[0], &seen)
            .is_some_and(|found| !found.lossy)
    );
}

#[test]
fn a_name_made_of_a_title_carries_no_secret() {
    let names = &catalog().names;
    for (title, expected) in [
        ("y --api-key SECRET", "y"),
        ("mcp-server-git --token SECRET", "git"),
        ("  weather-mcp\tSECRET", "weather"),
        ("acme_mcp\u{a0}SECRET", "acme"),
        ("acme-mcp\u{1}SECRET", "acme"),
        ("ghp_A1b2C3d4E5f6G7h8I9j0", "ghp_A1b2C3d4E5f6G7h8I9j0"),
        (" ", ""),
    ] {
        assert_eq!(names.short(title), expected, "{title:?}");
    }
}
