//! What holds for any bytes.

use proptest::prelude::*;

use super::*;
use crate::model::host::Os;

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        proptest::sample::select(vec![
            "npx",
            "-y",
            "node",
            "sh",
            "-c",
            "uv",
            "run",
            "tool",
            "uvx",
            "docker",
            "-i",
            "mcp",
            "python3",
            "-m",
            "--",
            "env",
            "-p",
            "claude",
            "ssh",
            "timeout",
            "npm exec x",
            "mcp-server-git",
            "--mcp-config",
            "{",
            "'",
            "\"",
            "$(",
            "bash -c 'npx x'",
            "/x/_npx/",
            "\\",
            "node_modules/.bin/",
            "node_modules/@",
            "@",
            "exec \"$@\"",
            "-um",
            "=",
            "/Applications/A b.app/Contents/MacOS/A b",
        ])
        .prop_map(str::to_owned),
    ]
}

fn vector() -> impl Strategy<Value = Vec<OsBytes>> {
    let element = prop_oneof![
        4 => word().prop_map(OsBytes::from),
        1 => proptest::collection::vec(any::<u8>(), 0..24).prop_map(OsBytes::from),
    ];
    proptest::collection::vec(element, 0..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_vector_breaks_a_judgement(argv in vector()) {
        let verdict = CATALOG.verdict(&argv);
        prop_assert_eq!(verdict.mcp, verdict.confidence.is_some());
        prop_assert_eq!(verdict.mcp, matches!(verdict.role, Role::Server | Role::Launcher));
        prop_assert!(!(verdict.mcp && verdict.undecided));
        prop_assert!(!verdict.because.is_empty());
        let _ = CATALOG.is_transparent(&argv);
        let seen = Seen { argv: &argv, exe: argv.last(), cwd: argv.first(), home: None, variables: None };
        let _ = CATALOG.client(&seen);
        for client in ["claude-code", "codex", "copilot-cli"] {
            let _ = CATALOG.parse_client_argv(client, &argv);
        }
    }

    #[test]
    fn no_line_breaks_a_judgement(line in "\\PC{0,80}", words in proptest::collection::vec(word(), 0..8)) {
        let _ = CATALOG.verdict_line(&line);
        let _ = CATALOG.verdict_line(&words.join(" "));
    }

    #[test]
    fn no_file_breaks_a_reader(bytes in proptest::collection::vec(any::<u8>(), 0..64), text in "[\\[\\]{}:,\"'a-z/*=\\n -]{0,64}") {
        let (file, home) = (OsBytes::from("f"), OsBytes::from("/h"));
        for file_index in CATALOG.config_files(Os::Linux).iter().map(|file| file.index).step_by(9) {
            let _ = CATALOG.parse_config(file_index, &file, &home, None, &bytes);
            let _ = CATALOG.parse_config(file_index, &file, &home, None, text.as_bytes());
        }
    }

    #[test]
    fn no_path_breaks_a_lead(bytes in proptest::collection::vec(any::<u8>(), 0..48)) {
        let _ = CATALOG.credential_file(&bytes);
        let _ = CATALOG.credential_name(&bytes);
        let _ = CATALOG.socket_meaning(&bytes);
    }

    #[test]
    fn an_entry_equals_its_own_words(
        command in "[a-zA-Z0-9_./@ -]{1,16}",
        args in proptest::collection::vec("[a-zA-Z0-9_./@= \"'é-]{0,12}", 0..6),
        client in proptest::sample::select(vec!["claude-code", "codex", "vscode", "opencode", "gemini-cli", "unknown"]),
    ) {
        let given: Vec<&str> = args.iter().map(String::as_str).collect();
        let entry = matching::entry(client, &command, &given);
        let argv: Vec<OsBytes> = std::iter::once(command.as_str()).chain(given).map(OsBytes::from).collect();
        let seen = Seen { argv: &argv, exe: None, cwd: None, home: None, variables: None };
        let found = CATALOG.matches(&entry, &seen);
        prop_assert!(found.is_some_and(|found| !found.lossy && found.rule == "configured-exact"));
    }

    #[test]
    fn any_process_and_entry_can_be_compared(argv in vector(), words in proptest::collection::vec(word(), 1..6)) {
        let given: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let entry = matching::entry("claude-code", &words[0], &given);
        let seen = Seen { argv: &argv, exe: None, cwd: None, home: None, variables: None };
        let _ = CATALOG.matches(&entry, &seen);
    }
}
