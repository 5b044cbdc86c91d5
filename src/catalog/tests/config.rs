//! Configuration files and clients' command lines.

use super::*;
use crate::model::host::Os;
use crate::model::known::ConfiguredServer;

fn index(catalog: &Catalog, client: &str, path: &str, scope: &str) -> usize {
    let all = catalog
        .config_files(Os::Linux)
        .into_iter()
        .chain(catalog.config_files(Os::Macos));
    let mut found = all.filter(|file| file.client == client && file.path == path && file.scope == scope);
    found
        .next()
        .unwrap_or_else(|| panic!("{client} {path} {scope}"))
        .index
}

fn parse(client: &str, path: &str, scope: &str, text: &str) -> Vec<ConfiguredServer> {
    let catalog = catalog();
    let index = index(catalog, client, path, scope);
    let (file, home) = (OsBytes::from("/h/f"), OsBytes::from("/home/u"));
    catalog
        .parse_config(index, &file, &home, None, text.as_bytes())
        .expect(text)
}

fn shown(servers: &[ConfiguredServer]) -> Vec<String> {
    servers
        .iter()
        .map(|one| {
            format!("{}={} {}", one.name.lossy(), one.command, one.args.join(" "))
                .trim_end()
                .to_owned()
        })
        .collect()
}

/// Client, file, scope, text, entries.
const FORMS: [(&str, &str, &str, &str, &[&str]); 13] = [
    (
        "claude-code",
        "~/.claude.json",
        "user",
        r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"]},"r":{"type":"http","url":"https://h"}}}"#,
        &["a=npx -y x"],
    ),
    (
        "vscode",
        "{project}/.vscode/mcp.json",
        "workspace",
        "// c\n{\"servers\":{\"a\":{\"command\":\"x\",\"args\":[1,true,],},}}",
        &["a=x 1 true"],
    ),
    (
        "codex",
        "~/.codex/config.toml",
        "user",
        "model='x'\n[mcp_servers.a]\ncommand='x'\nargs=['y']\nenv_vars=['K']\n",
        &["a=x y"],
    ),
    (
        "opencode",
        "~/.config/opencode/opencode.json",
        "user",
        r#"{"mcp":{"a":{"type":"local","command":["bun","x"],"enabled":false}}}"#,
        &["a=bun x"],
    ),
    (
        "goose",
        "~/.config/goose/config.yaml",
        "user",
        "extensions:\n  a:\n    cmd: uvx\n    args: [x]\n    envs: {K: v}\n    enabled: true\n  b:\n    type: builtin\n",
        &["a=uvx x"],
    ),
    (
        "continue",
        "~/.continue/config.yaml",
        "user",
        "mcpServers:\n  - name: a\n    command: npx\n    args:\n      - x\n",
        &["a=npx x"],
    ),
    (
        "zed",
        "~/.config/zed/settings.json",
        "user",
        r#"{"context_servers":{"a":{"command":{"path":"x","args":["y"],"env":{}}},"b":{"source":"extension","settings":{}}}}"#,
        &["a=x y"],
    ),
    (
        "amp",
        "~/.config/amp/settings.json",
        "user",
        r#"{"amp.mcpServers":{"a":{"command":"x"}}}"#,
        &["a=x"],
    ),
    (
        "cline",
        "~/.cline/data/settings/cline_mcp_settings.json",
        "user",
        r#"{"mcpServers":{"a":{"transport":{"type":"stdio","command":"x","args":["y"]}}}}"#,
        &["a=x y"],
    ),
    (
        "claude-code",
        "~/.claude/plugins/cache/**/.mcp.json",
        "plugin",
        r#"{"a":{"command":"x"}}"#,
        &["a=x"],
    ),
    (
        "copilot-cli",
        "~/.copilot/mcp-config.json",
        "user",
        r#"{"mcpServers":{"a":{"type":"local","command":"x","args":[]}}}"#,
        &["a=x"],
    ),
    (
        "claude-desktop",
        "~/Library/Application Support/Claude/Claude Extensions/*/manifest.json",
        "extension",
        r#"{"name":"n","server":{"mcp_config":{"command":"node","args":["${__dirname}/s.js"]}}}"#,
        &["n=node ${__dirname}/s.js"],
    ),
    ("gemini-cli", "~/.gemini/settings.json", "user", "{}", &[]),
];

#[test]
fn every_clients_form_is_read() {
    for (client, path, scope, text, wanted) in FORMS {
        assert_eq!(
            shown(&parse(client, path, scope, text)),
            wanted,
            "{client} {path}"
        );
    }
}

#[test]
fn a_projects_key_is_its_directory() {
    let text = r#"{"projects":{"/srv/p":{"mcpServers":{"a":{"command":"x"}}}}}"#;
    let servers = parse("claude-code", "~/.claude.json", "local", text);
    assert_eq!(servers[0].project, Some("/srv/p".into()));
    assert_eq!(servers[0].name, "a".into());
}

#[test]
fn no_secret_value_of_the_environment_is_kept() {
    let text = r#"{"mcpServers":{"a":{"command":"${TOOL}","args":["--t","${GITHUB_TOKEN}","${URL}"],
        "env":{"TOOL":"/bin/x","GITHUB_TOKEN":"s3cret","URL":"https://u:p@h","UNUSED":"kept-not"}}}}"#;
    let servers = parse("claude-code", "~/.claude.json", "user", text);
    let env: Vec<(&str, &str)> = servers[0]
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        env,
        [
            ("GITHUB_TOKEN", ""),
            ("TOOL", "/bin/x"),
            ("UNUSED", ""),
            ("URL", "")
        ]
    );
}

#[test]
fn disabled_entries_and_guesses_are_marked() {
    let off = parse(
        "opencode",
        "~/.config/opencode/opencode.json",
        "user",
        r#"{"mcp":{"a":{"command":["x"],"enabled":false}}}"#,
    );
    assert!(off[0].disabled && !off[0].guess);
    let guess = parse(
        "windsurf",
        "~/.codeium/windsurf-next/mcp_config.json",
        "user",
        r#"{"mcpServers":{"a":{"command":"x"}}}"#,
    );
    assert!(guess[0].guess && !guess[0].disabled);
}

#[test]
fn a_text_that_does_not_parse_names_its_line_and_quotes_nothing() {
    let catalog = catalog();
    for (client, path, scope, text, line) in [
        (
            "claude-code",
            "~/.claude.json",
            "user",
            "{\n  \"mcpServers\": {\n    \"a\" \"hunter2\"\n}}",
            3,
        ),
        ("codex", "~/.codex/config.toml", "user", "a = 1\nb = hunter2\n", 2),
        (
            "goose",
            "~/.config/goose/config.yaml",
            "user",
            "a: 1\nb: [hunter2\nc: }\n",
            3,
        ),
    ] {
        let at = index(catalog, client, path, scope);
        let (file, home) = (OsBytes::from("/h/f"), OsBytes::from("/home/u"));
        let error = catalog
            .parse_config(at, &file, &home, None, text.as_bytes())
            .expect_err(text);
        assert_eq!((error.file.as_str(), error.line), ("/h/f", line), "{error}");
        assert!(
            !error.to_string().contains("hunter2") && !error.what.is_empty(),
            "{error}"
        );
    }
    let deep = "[".repeat(100_000);
    let at = index(catalog, "claude-code", "~/.claude.json", "user");
    let (file, home) = (OsBytes::from("/h/f"), OsBytes::from("/home/u"));
    for hidden in [
        deep.clone(),
        format!("/*/ \" */ {deep}"),
        format!("// \"\n{deep}"),
        format!("[\"\\\\\", {deep}"),
    ] {
        assert!(
            catalog
                .parse_config(at, &file, &home, None, hidden.as_bytes())
                .is_err()
        );
    }
    for (client, path, start) in [
        ("codex", "~/.codex/config.toml", "a = "),
        ("goose", "~/.config/goose/config.yaml", "a: "),
    ] {
        let at = index(catalog, client, path, "user");
        assert!(
            catalog
                .parse_config(at, &file, &home, None, format!("{start}{deep}").as_bytes())
                .is_err(),
            "{client}"
        );
    }
    assert!(
        catalog
            .parse_config(usize::MAX, &file, &home, None, b"{}")
            .is_err()
    );
}

#[test]
fn systems_have_their_own_files() {
    let catalog = catalog();
    let has = |os, path: &str| catalog.config_files(os).iter().any(|file| file.path == path);
    assert!(
        has(Os::Linux, "~/.config/Code/User/mcp.json") && !has(Os::Macos, "~/.config/Code/User/mcp.json")
    );
    assert!(has(Os::Macos, "~/Library/Application Support/Code/User/mcp.json"));
    assert!(
        catalog
            .config_files(Os::Linux)
            .iter()
            .all(|file| !file.path.is_empty())
    );
}

#[test]
fn a_clients_command_line_names_files_and_entries() {
    let catalog = catalog();
    let claude = argv(&[
        "claude",
        "--mcp-config",
        "a.json",
        r#"{"mcpServers":{"b":{"command":"x"}}}"#,
        "--model",
        "m",
        "--mcp-config=c.json",
    ]);
    let found = catalog.parse_client_argv("claude-code", &claude);
    let [
        ArgvConfig::File { path, index },
        ArgvConfig::Inline(servers),
        ArgvConfig::File { path: last, .. },
    ] = found.as_slice()
    else {
        panic!("{found:?}");
    };
    assert_eq!(
        (path.lossy().as_ref(), last.lossy().as_ref()),
        ("a.json", "c.json")
    );
    assert_eq!(shown(servers), ["b=x"]);
    let file = OsBytes::from("/w/a.json");
    let read = catalog.parse_config(
        *index,
        &file,
        &OsBytes::default(),
        None,
        br#"{"mcpServers":{"a":{"command":"y"}}}"#,
    );
    assert_eq!(shown(&read.expect("valid")), ["a=y"]);

    let codex = argv(&[
        "codex",
        "-c",
        "mcp_servers.a.command=\"npx\"",
        "-c",
        "mcp_servers.a.args=[\"-y\", \"x\"]",
        "-c",
        "mcp_servers.\"b.c\".command=tool",
        "-c",
        "model=o",
    ]);
    let found = catalog.parse_client_argv("codex", &codex);
    let [ArgvConfig::Inline(servers)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(shown(servers), ["a=npx -y x", "b.c=tool"]);

    let copilot = argv(&[
        "copilot",
        "--additional-mcp-config",
        "@m.json",
        "--additional-mcp-config",
        "{\"mcpServers\":{}}",
    ]);
    assert!(
        matches!(catalog.parse_client_argv("copilot-cli", &copilot).as_slice(), [ArgvConfig::File { path, .. }] if path.as_bytes() == b"m.json")
    );
    assert!(catalog.parse_client_argv("nobody", &claude).is_empty());
}
