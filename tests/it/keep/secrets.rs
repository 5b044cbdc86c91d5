//! No token of a command line, a URL or a configuration reaches a byte of the state directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use mcpwake::journal::Entry;
use mcpwake::journal::entry::SnapshotReason;
use mcpwake::model::known::ConfiguredServer;
use mcpwake::store::Snapshot;

use super::kit::{self, State};

/// Made for this test; the shapes are those of real ones.
const TOKENS: [&str; 3] = [
    "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
    "s3cr3t-Passw0rd-9fK2",
    "xoxb-210987654321-AbCdEfGhIjKlMnOpQrStUvWx",
];

fn holds(directory: &Path, token: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holds(&path, token));
        } else if contains(&fs::read(&path).unwrap(), token.as_bytes()) {
            found.push(path.display().to_string());
        }
        if path.file_name().unwrap().to_string_lossy().contains(token) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn contains(bytes: &[u8], token: &[u8]) -> bool {
    bytes.windows(token.len()).any(|window| window == token)
}

#[test]
fn no_token_reaches_the_disk() {
    let [token, password, slack] = TOKENS;
    let url = format!("https://user:{password}@example.org/mcp");
    let mut world = kit::world(2);
    let argv = [
        "node",
        "server.js",
        "--token",
        token,
        &url,
        &format!("SLACK_TOKEN={slack}"),
    ];
    world
        .sample
        .processes
        .insert(kit::pid(9), Arc::new(kit::process(9, &argv)));
    world.sample.problems.push(mcpwake::model::sample::Problem {
        pid: None,
        what: url.clone(),
        kind: mcpwake::model::reading::Absence::Failed,
        detail: format!("--token {token}"),
    });
    let configured = ConfiguredServer {
        client: "claude-code".to_owned(),
        client_name: "Claude Code".to_owned(),
        file: "/home/deploy/.claude.json".into(),
        scope: "user".to_owned(),
        name: "git".into(),
        home: "/home/deploy".into(),
        project: None,
        command: "node".to_owned(),
        args: vec!["server.js".to_owned(), "--token".to_owned(), token.to_owned()],
        cwd: None,
        env: BTreeMap::from([("SLACK_TOKEN".to_owned(), slack.to_owned())]),
        disabled: false,
        guess: false,
    };
    assert!(contains(&serde_json::to_vec(&world).unwrap(), token.as_bytes()));
    let snapshot = Snapshot::new(&world, &[configured], "builtin", kit::NOW, &kit::redactor());
    let state = State::new();
    let store = state.store();
    let incident = kit::open(&store, &format!("leak of {token}"));
    let operator = kit::operator();
    incident
        .save(&snapshot, SnapshotReason::Freeze, &operator)
        .unwrap();
    store.save_loose(&snapshot).unwrap();
    incident
        .append(kit::note(&format!("curl {url}")), &operator, kit::NOW)
        .unwrap();
    let remaining = Some(format!("revoke --token={token}"));
    incident
        .append(Entry::Closed { remaining }, &operator, kit::NOW)
        .unwrap();
    for token in TOKENS {
        assert_eq!(holds(&state.root(), token), Vec::<String>::new(), "{token}");
    }
    assert!(!holds(&state.root(), "<redacted:").is_empty());
}
