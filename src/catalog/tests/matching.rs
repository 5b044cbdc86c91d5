//! Processes against configuration entries.

use std::collections::BTreeMap;

use super::*;
use crate::model::known::ConfiguredServer;

pub(super) fn entry(client: &str, command: &str, args: &[&str]) -> ConfiguredServer {
    ConfiguredServer {
        client: client.to_owned(),
        client_name: client.to_owned(),
        file: "/home/u/.x.json".into(),
        scope: "user".to_owned(),
        name: "demo".into(),
        home: "/home/u".into(),
        project: Some("/srv/p".into()),
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: None,
        env: BTreeMap::new(),
        disabled: false,
        guess: false,
    }
}

/// Words are written with `|` between them.
fn compare(entry: &ConfiguredServer, words: &str) -> Option<(MatchedAs, String, bool)> {
    let argv: Vec<OsBytes> = words.split('|').map(OsBytes::from).collect();
    let cwd = OsBytes::from("/srv/p");
    let seen = Seen {
        argv: &argv,
        exe: None,
        cwd: Some(&cwd),
        home: None,
        variables: None,
    };
    catalog()
        .matches(entry, &seen)
        .map(|found| (found.part, found.rule, found.lossy))
}

fn is(entry: &ConfiguredServer, words: &str, part: MatchedAs, rule: &str, lossy: bool) {
    assert_eq!(
        compare(entry, words),
        Some((part, rule.to_owned(), lossy)),
        "{words}"
    );
}

fn is_not(entry: &ConfiguredServer, words: &str) {
    assert_eq!(compare(entry, words), None, "{words}");
}

use MatchedAs::{Launcher, Server};

#[test]
fn a_command_equals_by_name_path_and_shebang() {
    let git = entry("claude-code", "mcp-server-git", &["--repository", "/r"]);
    is(
        &git,
        "mcp-server-git|--repository|/r",
        Server,
        "configured-exact",
        false,
    );
    is(
        &git,
        "/usr/bin/mcp-server-git|--repository|/r",
        Server,
        "configured-exact",
        false,
    );
    is(
        &git,
        "/v/bin/python3|/v/bin/mcp-server-git|--repository|/r",
        Server,
        "configured-shebang",
        false,
    );
    is(
        &git,
        "/v/bin/python3|-sE|/v/bin/mcp-server-git|--repository|/r",
        Server,
        "configured-shebang",
        false,
    );
    is_not(&git, "mcp-server-git|--repository|/other");
    is_not(&git, "mcp-server-git|--repository");
    is_not(&git, "mcp-server-git|--repository|/r|-v");
    is_not(&git, "grep|mcp-server-git|--repository|/r");
    let path = entry("claude-code", "./bin/x", &[]);
    is(&path, "/srv/p/bin/x", Server, "configured-exact", false);
    is_not(&path, "/srv/q/bin/x");
    let node = entry("claude-code", "/opt/a/node", &["s.js"]);
    is_not(&node, "/opt/b/node|s.js");
}

#[test]
fn npx_is_followed_through_title_shell_and_cache() {
    let npx = entry(
        "claude-code",
        "npx",
        &["-y", "@playwright/mcp@latest", "--headless"],
    );
    is(
        &npx,
        "npx|-y|@playwright/mcp@latest|--headless",
        Launcher,
        "configured-exact",
        false,
    );
    is(
        &npx,
        "node|/usr/bin/npx|-y|@playwright/mcp@latest|--headless",
        Launcher,
        "configured-shebang",
        false,
    );
    is(
        &npx,
        "npm exec @playwright/mcp@latest --headless",
        Launcher,
        "configured-title",
        true,
    );
    is(
        &npx,
        "npm exec @playwright/mcp@latest --headless||",
        Launcher,
        "configured-title",
        true,
    );
    is(
        &npx,
        "sh|-c|playwright-mcp --headless",
        Launcher,
        "configured-npm-shell",
        true,
    );
    is(
        &npx,
        "sh|-c|'playwright-mcp' --headless",
        Launcher,
        "configured-npm-shell",
        true,
    );
    is(
        &npx,
        "node|/home/u/.npm/_npx/9833c18b2d85bc59/node_modules/.bin/playwright-mcp|--headless",
        Server,
        "configured-npx-join",
        false,
    );
    is_not(
        &npx,
        "node|/home/u/.npm/_npx/9833c18b2d85bc59/node_modules/.bin/playwright-mcp",
    );
    is_not(
        &npx,
        "node|/home/u/.npm/_npx/9833c18b2d85bc59/node_modules/.bin/playwright-mcp|--headed",
    );
    is_not(
        &npx,
        "node|/h/_npx/0123456789abcdef/node_modules/.bin/playwright-mcp|--headless",
    );
    is_not(&npx, "npm exec @playwright/mcp@latest");
    is_not(&npx, "npm exec @playwright/mcp@latest --headless --more");
}

#[test]
fn npx_takes_its_package_from_an_option() {
    let by_option = entry(
        "codex",
        "npx",
        &["-y", "-p", "@playwright/mcp@latest", "playwright-mcp"],
    );
    is(
        &by_option,
        "npm exec playwright-mcp",
        Launcher,
        "configured-title",
        true,
    );
    is(
        &by_option,
        "node|/home/u/.npm/_npx/9833c18b2d85bc59/node_modules/.bin/playwright-mcp",
        Server,
        "configured-npx-join",
        false,
    );
}

#[test]
fn other_runners_are_followed() {
    let uvx = entry("cursor", "uvx", &["mcp-server-time", "--local-timezone=UTC"]);
    is(
        &uvx,
        "/usr/bin/uv|tool|uvx|mcp-server-time|--local-timezone=UTC",
        Launcher,
        "configured-runner",
        false,
    );
    is(
        &uvx,
        "/c/uv/archive-v0/Ab/bin/python|/c/uv/archive-v0/Ab/bin/mcp-server-time|--local-timezone=UTC",
        Server,
        "configured-uvx-join",
        false,
    );
    is_not(
        &uvx,
        "/c/uv/archive-v0/Ab/bin/python|/c/uv/archive-v0/Ab/bin/mcp-server-git|--local-timezone=UTC",
    );
    let from = entry("cursor", "uvx", &["--from", "prefect-mcp", "prefect-mcp-server"]);
    is(
        &from,
        "/c/uv/archive-v0/Ab/bin/python|/c/uv/archive-v0/Ab/bin/prefect-mcp-server",
        Server,
        "configured-uvx-join",
        false,
    );

    let bunx = entry("cursor", "bunx", &["-y", "@upstash/context7-mcp", "--x"]);
    is(
        &bunx,
        "bun|x|@upstash/context7-mcp|--x",
        Launcher,
        "configured-runner",
        false,
    );
    is(
        &bunx,
        "node|/h/.bun/install/cache/.bunx-501/@upstash/context7-mcp@latest/node_modules/.bin/context7-mcp|--x",
        Server,
        "configured-bunx-join",
        false,
    );

    let pnpm = entry("cursor", "pnpm", &["dlx", "demo-mcp"]);
    is(&pnpm, "pnpm|dlx|demo-mcp", Launcher, "configured-exact", false);
    is(
        &pnpm,
        "node|/h/.cache/pnpm/dlx/0a/1b/node_modules/.bin/../.pnpm/demo-mcp@1.0.0/node_modules/demo-mcp/dist/index.js",
        Server,
        "configured-pnpm-join",
        true,
    );
}

#[test]
fn uv_run_is_followed() {
    let run = entry(
        "cursor",
        "uv",
        &["run", "--directory", "/srv/d", "server.py", "--x"],
    );
    is(
        &run,
        "/srv/d/.venv/bin/python|server.py|--x",
        Server,
        "configured-shebang",
        false,
    );
    let module = entry("cursor", "uv", &["run", "--with", "p", "--", "python", "-m", "m"]);
    is(
        &module,
        "/c/uv/builds-v0/.tmpX/bin/python|-m|m",
        Server,
        "configured-payload",
        false,
    );
    let short = entry("cursor", "uv", &["run", "-m", "acme.server"]);
    is(
        &short,
        "/srv/.venv/bin/python|-m|acme.server",
        Server,
        "configured-payload",
        false,
    );
    let sdk = entry(
        "cursor",
        "uv",
        &["run", "--with", "mcp[cli]", "mcp", "run", "server.py"],
    );
    is(
        &sdk,
        "/e/bin/python|/e/bin/mcp|run|server.py",
        Server,
        "configured-shebang",
        false,
    );
}

#[test]
fn wrappers_are_taken_off() {
    let wrapped = entry("codex", "env", &["A=1", "timeout", "60", "mcp-server-git", "-r"]);
    is(
        &wrapped,
        "env|A=1|timeout|60|mcp-server-git|-r",
        Launcher,
        "configured-exact",
        false,
    );
    is(
        &wrapped,
        "timeout|60|mcp-server-git|-r",
        Launcher,
        "configured-payload",
        false,
    );
    is(&wrapped, "mcp-server-git|-r", Server, "configured-payload", false);
    let op = entry(
        "codex",
        "op",
        &["run", "--", "npx", "-y", "@notionhq/notion-mcp-server"],
    );
    is(
        &op,
        "npm exec @notionhq/notion-mcp-server",
        Launcher,
        "configured-title",
        true,
    );
    let shell = entry("codex", "bash", &["-c", "cd /srv && exec node dist/index.js --x"]);
    is(
        &shell,
        "node|dist/index.js|--x",
        Server,
        "configured-payload",
        false,
    );
    let desktop = entry("claude-desktop", "npx", &["-y", "demo-mcp"]);
    is(
        &desktop,
        "/Applications/Claude.app/Contents/Helpers/disclaimer|/opt/homebrew/bin/npx|-y|demo-mcp",
        Launcher,
        "configured-wrapped",
        false,
    );
    let docker = entry("codex", "docker", &["run", "-i", "--rm", "mcp/git", "--x"]);
    is(
        &docker,
        "/usr/bin/docker|run|-i|--rm|mcp/git|--x",
        Launcher,
        "configured-exact",
        false,
    );
    is_not(&docker, "mcp/git|--x");
}

#[test]
fn variables_follow_the_client_and_are_lossy_where_unknown() {
    let claude = entry(
        "claude-code",
        "${HOME}/bin/x",
        &["--d", "${DIR:-/tmp}/a", "$HOME"],
    );
    is(
        &claude,
        "/home/u/bin/x|--d|/data/a|$HOME",
        Server,
        "configured-exact",
        true,
    );
    is_not(&claude, "/home/u/bin/x|--d|/data/b|$HOME");
    let vscode = entry("vscode", "~/x", &["${workspaceFolder}/a", "${env:TOKEN}"]);
    is(
        &vscode,
        "/home/u/x|/srv/p/a|whatever",
        Server,
        "configured-exact",
        true,
    );
    let opencode = entry("opencode", "{env:HOME}/x", &["{file:./k}"]);
    is(&opencode, "/home/u/x|k", Server, "configured-exact", true);
    let codex = entry("codex", "x", &["${HOME}"]);
    is(&codex, "x|${HOME}", Server, "configured-exact", false);
    is_not(&codex, "x|/home/u");
    let only = entry("claude-code", "${TOOL}", &["${A}", "-v"]);
    is_not(&only, "anything|goes|-v");

    let known = BTreeMap::from([("DIR".to_owned(), OsBytes::from("/data"))]);
    let words = argv(&["/home/u/bin/x", "--d", "/data/a", "$HOME"]);
    let seen = Seen {
        argv: &words,
        exe: None,
        cwd: None,
        home: None,
        variables: Some(&known),
    };
    let found = catalog().matches(&claude, &seen).expect("equal");
    assert!(!found.lossy && found.because.contains("`demo`"), "{found:?}");
    let mut own = entry("claude-code", "x", &["${DIR}/a"]);
    own.env.insert("DIR".to_owned(), "/own".to_owned());
    is(&own, "x|/own/a", Server, "configured-exact", false);
    is_not(&own, "x|/data/a");
}

#[test]
fn the_cache_directory_of_npx_is_computed() {
    assert_eq!(
        crate::catalog::fit::npx_directory(&["@playwright/mcp@latest"]),
        "9833c18b2d85bc59"
    );
}
