//! Which processes are clients, and where authority may live.

use super::*;

fn seen<'a>(argv: &'a [OsBytes], exe: Option<&'a OsBytes>) -> Seen<'a> {
    Seen {
        argv,
        exe,
        cwd: None,
        home: None,
        variables: None,
    }
}

#[test]
fn clients_are_known_by_program_script_path_and_title() {
    let catalog = catalog();
    for (words, exe, id) in [
        (
            &["claude"][..],
            Some("/home/u/.local/share/claude/versions/2.1.197"),
            "claude-code",
        ),
        (&["claude", "--resume"], None, "claude-code"),
        (
            &["node", "--max-old-space-size=8192", "/usr/bin/gemini"],
            Some("/usr/bin/node"),
            "gemini-cli",
        ),
        (
            &["node", "/x/node_modules/@qwen-code/qwen-code/cli.js"],
            Some("/usr/bin/node"),
            "qwen-code",
        ),
        (
            &["/x/vendor/bin/codex", "exec", "hello"],
            Some("/x/vendor/bin/codex"),
            "codex",
        ),
        (&["opencode"], Some("/x/opencode (deleted)"), "opencode"),
        (&["/usr/bin/copilot"], Some("/usr/bin/copilot"), "copilot-cli"),
        (
            &["/Applications/Claude.app/Contents/MacOS/Claude"],
            None,
            "claude-desktop",
        ),
        (&["Cursor Helper (Plugin): extension-host [1-1]"], None, "cursor"),
        (
            &["docker", "mcp", "gateway", "run"],
            Some("/usr/bin/docker"),
            "docker-mcp-gateway",
        ),
    ] {
        let argv = argv(words);
        let exe = exe.map(OsBytes::from);
        let found = catalog.client(&seen(&argv, exe.as_ref()));
        assert_eq!(
            found.as_ref().map(|found| found.id.as_str()),
            Some(id),
            "{words:?}: {found:?}"
        );
    }
}

#[test]
fn others_are_no_clients() {
    let catalog = catalog();
    for words in [
        &["node", "server.js"][..],
        &["docker", "ps"],
        &["bash"],
        &["sshd: u@notty"],
        &[],
        &["python", "claude.py"],
    ] {
        let argv = argv(words);
        assert_eq!(catalog.client(&seen(&argv, None)), None, "{words:?}");
    }
}

#[test]
fn a_client_that_manages_or_serves_stays_a_client() {
    let catalog = catalog();
    for (words, call) in [
        (&["claude", "mcp", "list"][..], ClientCall::Management),
        (&["claude", "mcp", "serve"], ClientCall::Serving),
        (&["codex", "-c", "a=b", "mcp-server"], ClientCall::Serving),
        (&["claude", "-p", "mcp list"], ClientCall::Session),
    ] {
        let argv = argv(words);
        let found = catalog.client(&seen(&argv, None)).expect("a client");
        assert_eq!(found.call, call, "{words:?}");
    }
}

#[test]
fn a_guess_is_marked() {
    let catalog = catalog();
    let guess = argv(&["windsurf"]);
    assert!(
        catalog
            .client(&seen(&guess, None))
            .is_some_and(|found| found.guess)
    );
    let run = argv(&["claude"]);
    assert!(
        catalog
            .client(&seen(
                &run,
                Some(&OsBytes::from("/home/u/.local/share/claude/versions/2"))
            ))
            .is_some_and(|found| !found.guess)
    );
}

#[test]
fn environment_marks_corroborate_and_hold_no_secret() {
    let catalog = catalog();
    let names = argv(&["PATH", "CLAUDE_CODE_SESSION_ID", "AI_AGENT"]);
    assert_eq!(
        catalog.client_of_environment(&names),
        Some(("claude-code", "Claude Code"))
    );
    assert_eq!(catalog.client_of_environment(&argv(&["AGENT", "OPENCODE"])), None);
    assert_eq!(
        catalog.client_of_environment(&argv(&["CLAUDECODE", "GEMINI_CLI"])),
        None
    );
    let kept = catalog.env_identifiers();
    for name in [
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_PROJECT_DIR",
        "OPENCODE_PID",
        "COPILOT_AGENT_SESSION_ID",
        "SSH_AUTH_SOCK",
    ] {
        assert!(kept.contains(name), "{name}");
    }
    for name in &kept {
        let service = catalog.credential_name(name.as_bytes());
        assert!(
            service.as_deref().is_none_or(|service| service != "credential"),
            "{name} looks like a secret"
        );
    }
}

#[test]
fn names_of_credentials_name_the_service() {
    let catalog = catalog();
    for (name, service) in [
        ("GITHUB_PERSONAL_ACCESS_TOKEN", Some("github")),
        ("TF_TOKEN_app_terraform_io", Some("terraform")),
        ("ACME_API_KEY", Some("credential")),
        ("acme_password", Some("credential")),
        ("DATABASE_URL", Some("database")),
        ("PATH", None),
        ("TOKENIZERS_PARALLELISM", None),
        ("KEYBOARD", None),
        ("COMPATIBLE", None),
    ] {
        assert_eq!(
            catalog.credential_name(name.as_bytes()).as_deref(),
            service,
            "{name}"
        );
    }
}

#[test]
fn files_and_sockets_mean_something_by_their_path() {
    let catalog = catalog();
    for (path, meaning) in [
        ("/home/u/.aws/credentials", Some("AWS credentials")),
        ("/root/.aws/sso/cache/abc.json", Some("AWS credentials")),
        (
            "/Users/u/.mcp-auth/mcp-remote-0.1/tokens.json",
            Some("tokens of mcp-remote"),
        ),
        ("/srv/app/.env", Some("environment file of a project")),
        ("/home/u/credentials", None),
        ("/home/u/.aws/credentials.bak", None),
    ] {
        assert_eq!(
            catalog.credential_file(path.as_bytes()).as_deref(),
            meaning,
            "{path}"
        );
    }
    for (path, meaning) in [
        ("/tmp/ssh-XXXXabc/agent.4242", Some("SSH agent")),
        ("/home/u/.ssh/agent/s.abc.agent", Some("SSH agent")),
        (
            "/home/u/.ssh/cm-u@host:22",
            Some("SSH control connection (ControlMaster)"),
        ),
        ("/run/user/1000/gnupg/S.gpg-agent", Some("gpg-agent")),
        ("/var/run/docker.sock", Some("Docker engine")),
        ("/home/u/.colima/default/docker.sock", Some("Docker engine")),
        ("/run/user/1000/bus", Some("session bus")),
        ("/home/u/.1password/agent.sock", Some("1Password agent")),
        ("/run/user/1000/keyring/control", Some("keyring")),
        ("/tmp/some.sock", None),
    ] {
        let found = catalog.socket_meaning(path.as_bytes());
        assert_eq!(found.map(|found| found.meaning).as_deref(), meaning, "{path}");
    }
    let advice = catalog
        .socket_meaning(b"/home/u/.ssh/cm/a b")
        .and_then(|found| found.advice)
        .expect("advice");
    assert!(
        advice.starts_with("ssh -O exit -S '/home/u/.ssh/cm/a b' HOST"),
        "{advice}"
    );
    assert_eq!(catalog.port_name(5432), Some("postgresql"));
    assert_eq!(catalog.port_name(4), None);
}
