//! Tests of `text::redact`: tables and properties.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;

mod leaks;
mod properties;

use super::*;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::builtin().unwrap());
static MARK: LazyLock<Regex> = LazyLock::new(|| Regex::new("<redacted:[a-z0-9-]+:len=[0-9]+>").unwrap());

/// The redacted elements, each mark as `<*>`.
fn argv(argv: &[&str]) -> Vec<String> {
    let redacted = REDACTOR.argv(argv);
    redacted
        .into_iter()
        .map(|element| marks_hidden(&String::from_utf8(element).unwrap()))
        .collect()
}

fn line(line: &str) -> String {
    marks_hidden(&REDACTOR.line(line))
}

fn marks_hidden(text: &str) -> String {
    MARK.replace_all(text, "<*>").into_owned()
}

/// A token as services hand them out, put together here so that no scanner takes it for a real one.
fn token(prefix: &str, length: usize) -> String {
    let alphabet = b"a8F3b91C7d2E4f60x1B2c3D4y5Z6w7V8u9T0";
    let body: String = (0..length)
        .map(|at| char::from(alphabet[at * 7 % alphabet.len()]))
        .collect();
    format!("{prefix}{body}")
}

#[test]
fn the_mark_gives_rule_and_length_only() {
    assert_eq!(
        REDACTOR.line("x --token abc123"),
        "x --token <redacted:flag:len=6>"
    );
    let github = token("ghp_", 36);
    assert_eq!(REDACTOR.line(&github), "<redacted:github-token:len=40>");
    assert_eq!(
        REDACTOR.line("x 'https://u:pässword@h/'"),
        "x 'https://u:<redacted:url-password:len=9>@h/'"
    );
}

/// Arguments, and what is left of them.
type Case<'a> = (&'a [&'a str], &'a [&'a str]);

fn check(cases: &[Case<'_>]) {
    for (given, expected) in cases {
        assert_eq!(argv(given), *expected, "{given:?}");
    }
}

#[test]
fn flags_and_assignments() {
    check(&[
        (
            &["npx", "-y", "x", "--api-key", "abc123"],
            &["npx", "-y", "x", "--api-key", "<*>"],
        ),
        (
            &[
                "docker",
                "run",
                "-i",
                "-e",
                "GITHUB_PERSONAL_ACCESS_TOKEN",
                "-e",
                "FOO_TOKEN=abc",
                "img",
            ],
            &[
                "docker",
                "run",
                "-i",
                "-e",
                "GITHUB_PERSONAL_ACCESS_TOKEN",
                "-e",
                "FOO_TOKEN=<*>",
                "img",
            ],
        ),
        (
            &[
                "mcp-remote",
                "https://u:pw@example.invalid/mcp?api_key=zz",
                "--header",
                "Authorization:Bearer abcdefgh12",
            ],
            &[
                "mcp-remote",
                "https://u:<*>@example.invalid/mcp?api_key=<*>",
                "--header",
                "Authorization:<*>",
            ],
        ),
        (
            &["x", "--connectionString", "mongodb://u:p@h/db"],
            &["x", "--connectionString", "<*>"],
        ),
        (
            &["npm exec demo-mcp --api-key abc123"],
            &["npm exec demo-mcp --api-key <*>"],
        ),
        (
            &["sh", "-c", "'demo-mcp' --token=abc123 --port 80"],
            &["sh", "-c", "'demo-mcp' --token=<*> --port 80"],
        ),
        (
            &["x", "--auth-timeout", "120", "--token-file", "/p/t"],
            &["x", "--auth-timeout", "120", "--token-file", "/p/t"],
        ),
        (
            &["x", "--token=abc", "-token=abc", "--githubToken", "abc"],
            &["x", "--token=<*>", "-token=<*>", "--githubToken", "<*>"],
        ),
    ]);
}

#[test]
fn environment_headers_and_shells() {
    check(&[
        (
            &["env", "-i", "A=x", "B=2", "cmd", "C=3"],
            &["env", "-i", "A=<*>", "B=<*>", "cmd", "C=3"],
        ),
        (
            &["/usr/bin/env", "NODE_ENV=production", "node"],
            &["/usr/bin/env", "NODE_ENV=<*>", "node"],
        ),
        (
            &["docker", "run", "-eFOO=abc", "--env=BAR=abc", "--env", "BAZ=abc"],
            &["docker", "run", "-eFOO=<*>", "--env=BAR=<*>", "--env", "BAZ=<*>"],
        ),
        (
            &["x", "SECRET_VALUE=a b", "PASSWORD=my pass phrase"],
            &["x", "SECRET_VALUE=<*>", "PASSWORD=<*>"],
        ),
        (
            &["x", "-H", "X-Api-Key: abc", "-H", "Accept: text/plain"],
            &["x", "-H", "X-Api-Key: <*>", "-H", "Accept: text/plain"],
        ),
        (
            &["x", "-HAuthorization: Basic abc", "--header=Cookie: a=b; c=d"],
            &["x", "-HAuthorization: <*>", "--header=Cookie: <*>"],
        ),
        (
            &["x", "--header", "Authorization:", "Bearer", "abc1"],
            &["x", "--header", "Authorization:", "Bearer", "<*>"],
        ),
        (&["x", "--password", "-abc9Xk2Lq8"], &["x", "--password", "<*>"]),
        (&["x", "--token", "--verbose"], &["x", "--token", "--verbose"]),
        (
            &["kubectl", "--from-literal=password=abc"],
            &["kubectl", "--from-literal=password=<*>"],
        ),
        (
            &["java", "-Dapi.token=abc", "-Dfile.encoding=UTF-8"],
            &["java", "-Dapi.token=<*>", "-Dfile.encoding=UTF-8"],
        ),
        (
            &["x", "login", "token", "q7xK2mPz9LwB4vNs8TdR"],
            &["x", "login", "token", "<*>"],
        ),
        (
            &["sh", "-c", "TOKEN=abc exec server --port 80"],
            &["sh", "-c", "TOKEN=<*> exec server --port 80"],
        ),
        (
            &["bash", "-lc", "export A_TOKEN=\"abc\"; run"],
            &["bash", "-lc", "export A_TOKEN=\"<*>\"; run"],
        ),
        (
            &["node", "-e", "x=require('y')"],
            &["node", "-e", "x=require('y')"],
        ),
    ]);
}

#[test]
fn names_and_values_as_two_elements() {
    check(&[
        (
            &[
                "mcp-proxy",
                "--headers",
                "Authorization",
                "Bearer abc",
                "-H",
                "Accept",
                "text/plain",
            ],
            &[
                "mcp-proxy",
                "--headers",
                "Authorization",
                "<*>",
                "-H",
                "Accept",
                "text/plain",
            ],
        ),
        (
            &[
                "aws",
                "configure",
                "set",
                "aws_secret_access_key",
                "abc1",
                "--oauth2Bearer",
                "a",
                "--api_key:abc",
            ],
            &[
                "aws",
                "configure",
                "set",
                "aws_secret_access_key",
                "<*>",
                "--oauth2Bearer",
                "<*>",
                "--api_key:<*>",
            ],
        ),
    ]);
}

#[test]
fn urls() {
    for (given, expected) in [
        ("postgres://u:p@ss@h/db", "postgres://u:<*>@h/db"),
        ("postgres://u:p/w@h/db", "postgres://u:<*>@h/db"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("http://[::1]:8080/a@b", "http://[::1]:8080/a@b"),
        ("ssh://git@host/x.git", "ssh://git@host/x.git"),
        (
            "https://h/mcp?sessionId=abc&x=1#access_token=q",
            "https://h/mcp?sessionId=<*>&x=1#access_token=<*>",
        ),
        (
            "https://h/a?keyword=x&authuser=0&page=2",
            "https://h/a?keyword=x&authuser=0&page=2",
        ),
        (
            "https://mcp.example/a8f3b91c7d2e4f60a1b2c3d4e5f6/mcp",
            "https://mcp.example/<*>/mcp",
        ),
        (
            "https://h/server/0190a2f4-1111-7abc-8def-0123456789ab",
            "https://h/server/<*>",
        ),
        (
            "https://h/sessions/0190a2f4-1111-7abc-8def-0123456789ab",
            "https://h/sessions/0190a2f4-1111-7abc-8def-0123456789ab",
        ),
        (
            "https://github.com/o/r/commit/3f786850e387550fdab836ed7e6dc881de23001b",
            "https://github.com/o/r/commit/3f786850e387550fdab836ed7e6dc881de23001b",
        ),
        (
            "https://h/@scope/chrome-devtools-mcp-server-2025/-/x-1.2.3.tgz",
            "https://h/@scope/chrome-devtools-mcp-server-2025/-/x-1.2.3.tgz",
        ),
        (
            "Server=h;User Id=sa;Password=abc;Port=1",
            "Server=h;User Id=sa;Password=<*>;Port=1",
        ),
    ] {
        assert_eq!(line(given), expected);
    }
}

#[test]
fn json_stays_json() {
    for (given, expected) in [
        (r#"{"token":"abc","n":1}"#, r#"{"token":"<*>","n":1}"#),
        (
            r#"{"env":{"A":"b","C":"${C}"},"port":80}"#,
            r#"{"env":{"A":"<*>","C":"${C}"},"port":80}"#,
        ),
        (
            r#"{"headers":{"Authorization":"Bearer ${T}","X":"y"}}"#,
            r#"{"headers":{"Authorization":"Bearer ${T}","X":"<*>"}}"#,
        ),
        (
            r#"{"args":["-y","x","--api-key","abc","--port","80"]}"#,
            r#"{"args":["-y","x","--api-key","<*>","--port","80"]}"#,
        ),
        (
            r#"{"password": 1234, "use": true, "secret": null}"#,
            r#"{"password": "<*>", "use": true, "secret": null}"#,
        ),
        (
            r#"{"headers":[{"name":"X","value":"v"}]}"#,
            r#"{"headers":[{"name":"X","value":"<*>"}]}"#,
        ),
        (
            r#"[{"name":"API_TOKEN","value":"abc"},{"name":"HOST","value":"abc"}]"#,
            r#"[{"name":"API_TOKEN","value":"<*>"},{"name":"HOST","value":"abc"}]"#,
        ),
        (
            r#"{"secrets":{"a":["b",{"c":"d"}]},"e":"f"}"#,
            r#"{"secrets":{"a":["<*>",{"c":"<*>"}]},"e":"f"}"#,
        ),
        (
            r#"{"url":"https://u:p@h/?token=x"}"#,
            r#"{"url":"https://u:<*>@h/?token=<*>"}"#,
        ),
        (
            r#"{"cmd":"sh -c \"x --token 'a b'\""}"#,
            r#"{"cmd":"sh -c \"x --token '<*>'\""}"#,
        ),
        (
            r#"{"inner":"{\"token\":\"a\\n\",\"n\":1}"}"#,
            r#"{"inner":"{\"token\":\"<*>\",\"n\":1}"}"#,
        ),
        (
            r#"{"inner":"{\"pin\":1,\"password\":5}"}"#,
            r#"{"inner":"{\"pin\":1,\"password\":\"<*>\"}"}"#,
        ),
    ] {
        assert_eq!(line(given), expected);
        assert_eq!(
            argv(&["x", &format!("--config={given}")])[1],
            format!("--config={expected}")
        );
        assert!(
            serde_json::from_str::<serde_json::Value>(&REDACTOR.line(given)).is_ok(),
            "{given}"
        );
    }
}

#[test]
fn broken_json_is_still_searched() {
    for (given, expected) in [
        (
            r#"{"env":{"A":"b","TOKEN":"cut of"#,
            r#"{"env":{"A":"<*>","TOKEN":"<*>"#,
        ),
        (r#"{"token":"abc",}"#, r#"{"token":"<*>",}"#),
        (r"{'password': 'abc', }", r"{'password': '<*>', }"),
        (
            r#"x --cfg {"token":"a b","n":1} --v"#,
            r#"x --cfg {"token":"<*>","n":1} --v"#,
        ),
    ] {
        assert_eq!(line(given), expected);
    }
}

#[test]
fn shell_strings_keep_the_rest() {
    for (given, expected) in [
        ("  npx  -y x   --api-key  abc  ", "  npx  -y x   --api-key  <*>  "),
        ("x --token='a b' --v", "x --token='<*>' --v"),
        ("x --token=\"a b\" --v", "x --token=\"<*>\" --v"),
        ("x --token=ab'cd' --v", "x --token=<*>'' --v"),
        ("x '--token=ab'cd --v", "x '--token=<*>' --v"),
        ("x --token=a\\ b --v", "x --token=<*> --v"),
        ("sh -c \"x --token 'a b' --v\"", "sh -c \"x --token '<*>' --v\""),
        (
            "A=1;B_TOKEN=x cmd && C_TOKEN=y",
            "A=1;B_TOKEN=<*> cmd && C_TOKEN=<*>",
        ),
        (
            "mcp-remote https://h --header Authorization: Bearer abc123 --allow-http",
            "mcp-remote https://h --header Authorization: Bearer <*> --allow-http",
        ),
        (
            "curl -b x --header Cookie: a=b; c=d --v",
            "curl -b x --header Cookie: <*>; <*> --v",
        ),
        (
            "x --token abc; y --token 'abc'; z",
            "x --token <*>; y --token '<*>'; z",
        ),
        ("say it's fine --token abc", "say it's fine --token <*>"),
        ("password: abc", "password: <*>"),
        (
            "x --cfg \"{\\\"token\\\":\\\"a\\\"}\" --v",
            "x --cfg \"{\\\"token\\\":\\\"<*>\\\"}\" --v",
        ),
    ] {
        assert_eq!(line(given), expected, "{given}");
    }
}

#[test]
fn shapes_are_found_anywhere() {
    for secret in [
        token("ghp_", 36),
        token("glpat-", 20),
        token("sk-ant-api03-", 40),
        token("sk-proj-", 40),
        format!("AKIA{}", "ABCDEFGH234567AB"),
        token("xoxb-", 20),
        token("hf_", 34),
        token("npm_", 36),
        token("tvly-", 24),
        format!("eyJ{}.eyJ{}.{}", token("", 20), token("", 20), token("", 20)),
    ] {
        for (before, after) in [
            ("", ""),
            ("x ", " y"),
            ("a=", ""),
            ("https://h/", "?a=1"),
            ("(", ")"),
        ] {
            let given = format!("{before}{secret}{after}");
            let redacted = REDACTOR.line(&given);
            assert!(
                !redacted.contains(&secret[secret.len() - 8..]),
                "{given}: {redacted}"
            );
            assert!(redacted.starts_with(before), "{redacted}");
        }
    }
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----";
    assert_eq!(line(&format!("a {key} b")), "a <*> b");
    assert_eq!(
        line("use Basic authentication or bearer authentication"),
        "use Basic authentication or bearer authentication"
    );
}

#[test]
fn ordinary_things_stay() {
    for given in [
        "node --keyboard us --author alex --monkey=1 --tokenizer bpe --max-tokens 4096 --session-id abc",
        "ssh -i ~/.ssh/id_ed25519 host",
        "x --key server.pem --private-key /etc/ssl/key.pem --auth none --auth=oauth2 --key ./k --use-token true",
        "git show 3f786850e387550fdab836ed7e6dc881de23001b",
        "x 0190a2f4-1111-7abc-8def-0123456789ab --resume 0190a2f4-1111-7abc-8def-0123456789ab",
        "node /home/alex/.npm/_npx/5f3a9c1b2d4e6f70/node_modules/.bin/mcp-server-git",
        "/nix/store/0c5kz1f3w9m2a7b8d4q6x5y3v1n0r8s2-node/bin/node server.js",
        "docker run --rm -i -v /a:/b --user 1000:1000 ghcr.io/o/r@sha256:3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed",
        "x --sort-key name --public-key abc TOKEN_URL=https://h/t MAX_TOKENS=5 PWD=/home/alex KEYBOARD=us",
        "x --token ${TOKEN} --api-key=$API_KEY --password <YOUR_PASSWORD> -e A=${A} --header \"Authorization: Bearer ${T}\"",
        "x --api-key YOUR_API_KEY --token xxx --dsn ${A}:${B} --secret {{secret}} --token $(cat)",
        "python -m mcp_server_git --repository /src/mcpwake -v",
        "claude --print explain-the-session-handling --model x",
        "SSH_AUTH_SOCK=/run/user/1000/ssh-agent.sock x",
    ] {
        assert_eq!(REDACTOR.line(given), given);
        let elements: Vec<&str> = given.split(' ').collect();
        if !given.contains(['"', '{', '<']) {
            assert_eq!(argv(&elements), elements);
        }
    }
}

/// Notes say what became of a secret behind its name; a secret in that place still goes.
#[test]
fn what_became_of_a_secret_stays() {
    for given in [
        "psql as token: 401 at 08:16Z",
        "key: rotated by anna",
        "password: rejected",
        "secret=gone",
        "GITHUB_TOKEN=revoked",
        "Authorization: 401",
        "token: not revoked",
    ] {
        assert_eq!(REDACTOR.line(given), given);
    }
    for (given, left) in [
        ("token: 4011 at 08:16Z", "token: <*> at 08:16Z"),
        ("password: revoked1", "password: <*>"),
        ("GITHUB_TOKEN=gone7x", "GITHUB_TOKEN=<*>"),
    ] {
        assert_eq!(line(given), left);
    }
}

#[test]
fn bytes_that_are_no_text_are_redacted_too() {
    let redacted = REDACTOR.argv(&[
        b"x\xff".as_slice(),
        b"--token",
        b"\xffabc",
        b"A_TOKEN=\xfe",
        b"\xfe --token=\xff b",
    ]);
    let expected: [&[u8]; 5] = [
        b"x\xff",
        b"--token",
        b"<redacted:flag:len=4>",
        b"A_TOKEN=<redacted:variable:len=1>",
        b"\xfe --token=<redacted:flag:len=1> b",
    ];
    assert_eq!(redacted, expected);
}

#[test]
fn off_changes_nothing() {
    assert_eq!(Redactor::off().line("x --token abc"), "x --token abc");
    assert_eq!(
        Redactor::off().argv(&["--token", "abc"]),
        [b"--token".to_vec(), b"abc".to_vec()]
    );
}

#[test]
fn time_grows_with_the_text_only() {
    for hostile in [
        "a",
        " ",
        "'",
        "\"",
        "\\",
        "--a=",
        "{\"a\":",
        "[[",
        "http://",
        "http://a:b@",
        "token ",
        "?a=b&",
        "'a\" ",
        "\"\\\\",
        "sk-",
        "a=\"",
        "-----BEGIN PRIVATE KEY-----",
        "{\"env\":{\"",
        "Authorization: ",
        "<redacted:flag:len=1>",
        "é",
        "ey",
        "s.A1",
        "-e A=",
        "-u a:b ",
        "sshpass -p x ",
        "https://a@",
        "eyJ",
        "eyJh ",
        "eyJ0b2tlbiI6ImFiYyJ9 ",
        "?a=%7B&",
        "?a=%2525",
        "\u{200b}",
        "a='b' ",
        "x['a_token']='",
        "setdefault('a','b')",
    ] {
        let time_of = |size: usize| {
            let text = hostile.repeat(size / hostile.len());
            let began = Instant::now();
            REDACTOR.line(&text);
            REDACTOR.argv(&["x", &text]);
            began.elapsed()
        };
        // Sixteen times the text may take sixteen times as long; a square law would take 256. A
        // busy machine may disturb one measurement, not each of fifty.
        let linear = (0..50).any(|_| time_of(64 << 10) < time_of(4 << 10).max(Duration::from_millis(1)) * 80);
        assert!(linear, "{hostile:?}");
    }
}
