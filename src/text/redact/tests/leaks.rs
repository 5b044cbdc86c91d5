//! Places where a secret hides from a rule that looks at one spelling only, and the ordinary text beside each.

use super::*;

/// Lines whose secret is the word `hunter2Pw`, and lines that stay as they are, of one kind.
fn check_lines(gone: &[(&str, &str)], stays: &[&str]) {
    for (given, expected) in gone {
        assert_eq!(line(given), *expected, "{given}");
        let elements: Vec<&str> = given.split(' ').collect();
        if elements.iter().all(|element| !element.contains(['"', '\''])) {
            assert_eq!(argv(&elements).join(" "), *expected, "{given}");
        }
    }
    for given in stays {
        assert_eq!(line(given), *given);
        let elements: Vec<&str> = given.split(' ').collect();
        assert_eq!(argv(&elements), elements);
    }
}

#[test]
fn the_user_of_a_url_that_is_a_token() {
    check_lines(
        &[
            ("https://hunter2Pw@host/x.git", "https://<*>@host/x.git"),
            (
                "pip install git+https://Hunter2@host/x",
                "pip install git+https://<*>@host/x",
            ),
            ("x --url=wss://Hunter2@host/mcp", "x --url=wss://<*>@host/mcp"),
            ("http://abcdefabcdefabcdefabcdef@host", "http://<*>@host"),
            ("https://hunter2Pw:x-oauth-basic@host/", "https://<*>:<*>@host/"),
            ("https://hunter2Pw:@host/", "https://<*>:@host/"),
            (
                "https://x-access-token:abc@host/",
                "https://x-access-token:<*>@host/",
            ),
            ("mcp://Hunter2@host/", "mcp://<*>@host/"),
            ("ssh://a8f3b91c7d2e4f60a1b2c3d4@host/", "ssh://<*>@host/"),
            ("https://hunter%32@host/", "https://<*>@host/"),
        ],
        &[
            "git clone ssh://git@host/x.git",
            "git clone git@github.com:o/r.git",
            "git clone https://alex@dev.azure.com/o/r",
            "git clone git+ssh://git@host/x.git",
            "psql postgres://App_user1@db.internal:5432/x",
            "sftp://deploy2024@host/",
            "ssh user2@host",
            "npx @scope/pkg@1.2.3 https://host:8080/@scope/x",
        ],
    );
}

#[test]
fn logins_of_name_and_password() {
    check_lines(
        &[
            ("curl -u alex:hunter2Pw https://h/", "curl -u alex:<*> https://h/"),
            (
                "curl --user alex:hunter2Pw https://h/",
                "curl --user alex:<*> https://h/",
            ),
            (
                "curl --user=alex:hunter2Pw https://h/",
                "curl --user=alex:<*> https://h/",
            ),
            ("curl -ualex:hunter2Pw https://h/", "curl -ualex:<*> https://h/"),
            (
                "curl -U p:hunter2Pw --proxy-user p:hunter2Pw",
                "curl -U p:<*> --proxy-user p:<*>",
            ),
            ("x --user alex:1234", "x --user alex:<*>"),
            (
                "python3 server.py --user alex:hunter2Pw",
                "python3 server.py --user alex:<*>",
            ),
            (
                "docker run mcp/x --user alex:hunter2Pw",
                "docker run mcp/x --user alex:<*>",
            ),
            ("ssh h tool --user alex:hunter2Pw", "ssh h tool --user alex:<*>"),
            (
                "sudo -u alex tool -u alex:hunter2Pw",
                "sudo -u alex tool -u alex:<*>",
            ),
            ("curl -sSu alex:hunter2Pw h", "curl -sSu alex:<*> h"),
            ("curl -b sid=hunter2Pw h", "curl -b <*> h"),
            ("sh -c \"curl -u 'a:b c' h\"", "sh -c \"curl -u 'a:<*>' h\""),
        ],
        &[
            "docker run --user 1000:1000 -u node:node img",
            "sudo -u alex cmd",
            "docker run --user 1000:root img",
            "rsync -u host:/srv /srv",
            "git push -u origin main:main",
            "python -u server.py",
            "x -u http://localhost:8080/mcp",
            "x --user alex",
            "curl -u alex:$PASSWORD h",
            "curl -b cookies.txt -sSL h",
        ],
    );
}

#[test]
fn programs_whose_short_flag_is_a_password() {
    check_lines(
        &[
            ("sshpass -p hunter2Pw ssh a@h", "sshpass -p <*> ssh a@h"),
            (
                "/usr/bin/sshpass -phunter2Pw ssh -p 22 a@h",
                "/usr/bin/sshpass -p<*> ssh -p 22 a@h",
            ),
            (
                "mysql -h db -u root -phunter2Pw app",
                "mysql -h db -u root -p<*> app",
            ),
            (
                "redis-cli -a hunter2Pw -p 6379 ping",
                "redis-cli -a <*> -p 6379 ping",
            ),
            (
                "docker login -u alex -p hunter2Pw reg",
                "docker login -u alex -p <*> reg",
            ),
            (
                "docker exec db mysqldump -phunter2Pw x",
                "docker exec db mysqldump -p<*> x",
            ),
            ("openssl enc -k hunter2Pw -in k", "openssl enc -k <*> -in k"),
            (
                "openssl rsa -passin pass:hunter2Pw -in k",
                "openssl rsa -passin pass:<*> -in k",
            ),
            (
                "sh -c 'sshpass -p hunter2Pw ssh h'",
                "sh -c 'sshpass -p <*> ssh h'",
            ),
            (
                r#"{"command":"sshpass","args":["-p","hunter2Pw","ssh","h"]}"#,
                r#"{"command":"sshpass","args":["-p","<*>","ssh","h"]}"#,
            ),
        ],
        &[
            "docker run -p 8080:80 img",
            "ssh -p 2222 host",
            "mkdir -p /srv/x",
            "claude -p explain-this",
            "mysql -h db -u root -p app",
            "sshpass -e ssh h",
            "docker run --name mysql -p3306:3306 img",
            "server --kind mysql -port 3306 -path=/x",
            "docker run -i -e GITHUB_TOKEN ghcr.io/o/server:v0.9 stdio",
        ],
    );
}

#[test]
fn headers_whose_name_says_key_token_secret_auth_api_or_cookie() {
    for name in [
        "X-Custom-Api",
        "X-My-Key-Id",
        "X-Tok-Token-A",
        "App-Secret-V",
        "X-Auth-User",
        "X-Cookie-Jar",
        "Ocp-Apim-Subscription-Key",
    ] {
        for (given, expected) in [
            (vec!["x", "-H"], format!("{name}: abc def")),
            (vec!["x", "--header"], format!("{name}:abc")),
        ]
        .map(|(mut given, header)| {
            given.push("");
            (given, header)
        }) {
            let mut given: Vec<String> = given.into_iter().map(str::to_owned).collect();
            *given.last_mut().unwrap() = expected.clone();
            let redacted = REDACTOR.argv(&given);
            let last = String::from_utf8(redacted.last().unwrap().clone()).unwrap();
            assert!(last.starts_with(name) && !last.contains("abc"), "{last}");
        }
        let quoted = line(&format!("curl -H '{name}: abc' h"));
        assert_eq!(quoted, format!("curl -H '{name}: <*>' h"));
        assert_eq!(
            argv(&["x", &format!("-H{name}: abc")])[1],
            format!("-H{name}: <*>")
        );
        assert_eq!(
            argv(&["x", &format!("--header={name}: abc")])[1],
            format!("--header={name}: <*>")
        );
    }
    assert_eq!(argv(&["x", "-sSH", "X-My-Api: abc"])[2], "X-My-Api: <*>");
    assert_eq!(
        argv(&["x", "--headers", r#"{"X-Api":"abc","Accept":"${A}"}"#])[2],
        r#"{"X-Api":"<*>","Accept":"${A}"}"#
    );
    check_lines(
        &[],
        &[
            "docker run my-api:latest api:v1",
            "curl -H Accept:text/plain -H X-Api-Version:2024-01-01 h",
        ],
    );
}

#[test]
fn assignments_in_the_code_of_a_program_text() {
    for (given, expected) in [
        (
            "import os; os.environ['API_TOKEN']='hunter2 Pw'; run()",
            "import os; os.environ['API_TOKEN']='<*>'; run()",
        ),
        (
            "os.environ[\"DB_PASSWORD\"] = \"it's\"; run()",
            "os.environ[\"DB_PASSWORD\"] = \"<*>\"; run()",
        ),
        (
            "os.environ.setdefault('API_KEY', 'abc')",
            "os.environ.setdefault('API_KEY', '<*>')",
        ),
        ("os.putenv(\"API_KEY\",\"abc\")", "os.putenv(\"API_KEY\",\"<*>\")"),
        (
            "c = Client(api_key=\"abc\", port=\"80\")",
            "c = Client(api_key=\"<*>\", port=\"80\")",
        ),
        (
            "process.env.API_KEY = 'abc'; require('./x')",
            "process.env.API_KEY = '<*>'; require('./x')",
        ),
        ("process.env['API_KEY']=`abc`", "process.env['API_KEY']=`<*>`"),
        ("const apiKey = 'abc'; x()", "const apiKey = '<*>'; x()"),
        (
            "os.environ.update({'A_SECRET': 'abc'})",
            "os.environ.update({'A_SECRET': '<*>'})",
        ),
        ("$env:API_KEY = 'abc'; x", "$env:API_KEY = '<*>'; x"),
        ("t := \"x\"; token := \"abc\"", "t := \"x\"; token := \"<*>\""),
    ] {
        for flag in ["-c", "-e"] {
            assert_eq!(argv(&["python3", flag, given])[2], expected, "{given}");
        }
        assert!(
            !line(&format!("python3 -c \"{}\"", given.replace('"', "\\\""))).contains("abc"),
            "{given}"
        );
    }
    let plain = "import os; os.environ['MODE']='fast'; x(name=\"abc\"); d = {'a': 'b'}";
    assert_eq!(argv(&["python3", "-c", plain])[2], plain);
}

#[test]
fn json_in_base64_or_percent_signs() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    let secret = [
        r#"{"apiKey":"abc","debug":true}"#,
        "{\n  \"mode\": \"x\",\n  \"nested\": {\"token\": \"abc\"}\n}",
        r#"{ "profile": "a", "url": "https://u:pw@h/" }"#,
        r#"[{"password":"abc"}]"#,
    ];
    for json in secret {
        for encoded in [STANDARD.encode(json), URL_SAFE_NO_PAD.encode(json)] {
            for (before, after) in [
                ("https://server.smithery.ai/x/mcp?config=", "&profile=a"),
                ("--config=", ""),
                ("", ""),
            ] {
                let given = format!("{before}{encoded}{after}");
                assert_eq!(argv(&["npx", &given])[1], format!("{before}<*>{after}"), "{json}");
                assert_eq!(line(&format!("x {given} y")), format!("x {before}<*>{after} y"));
            }
        }
    }
    let harmless = STANDARD.encode(r#"{"debug":true,"mode":"fast","name":"x"}"#);
    let given = format!("https://h/mcp?config={harmless}");
    assert_eq!(line(&given), given);
    assert_eq!(
        line("https://h/mcp?config=%7B%22apiKey%22%3A%22abc%22%7D&x=1"),
        "https://h/mcp?config=<*>&x=1"
    );
    assert_eq!(
        line("https://h/?next=https%3A%2F%2Fu%3Apw%40h%2F"),
        "https://h/?next=<*>"
    );
    let given = "https://h/?next=https%3A%2F%2Fh%2Fa%20b&q=%7B%22a%22%3A1%7D";
    assert_eq!(line(given), given);
}

#[test]
fn names_written_with_other_characters() {
    for name in [
        "\u{2013}api-key",
        "\u{2010}\u{2010}api\u{2011}key",
        "\u{2014}api-key",
        "-\u{200b}-api-key",
        "--api\u{200d}-key",
        "--ap\u{ad}i-key",
        "--api-key\u{feff}",
        "\u{202e}--api-key",
        "--api\u{1}-key",
        "--api\x1b-key",
        "\u{2212}\u{2212}api_key",
        "\u{ff0d}\u{ff0d}api-key",
        "--\u{ff41}pi-key",
    ] {
        assert_eq!(argv(&["x", name, "hunter2Pw"]), ["x", name, "<*>"]);
        let joined = format!("{name}=hunter2Pw");
        assert_eq!(argv(&["x", &joined])[1], format!("{name}=<*>"));
        assert_eq!(line(&format!("x {joined} y")), format!("x {name}=<*> y"));
        assert_eq!(line(&format!("x {name} hunter2Pw y")), format!("x {name} <*> y"));
    }
    assert_eq!(argv(&["x", "--api-key\u{ff1d}abc"])[1], "--api-key\u{ff1d}<*>");
    assert_eq!(argv(&["x", "--api-key\u{a0}abc"])[1], "--api-key\u{a0}<*>");
    assert_eq!(
        line("{\"api\\u200bKey\":\"abc\",\"n\":1}"),
        "{\"api\\u200bKey\":\"<*>\",\"n\":1}"
    );
    let split = token("ghp_", 36).replacen('b', "\u{200b}b", 1);
    assert_eq!(line(&split), "<*>");
    for plain in [
        "--n\u{200b}ame=x",
        "caf\u{e9} \u{2013} a \u{2014} b",
        "\u{ff21}\u{ff22} \u{1}x",
    ] {
        assert_eq!(line(plain), plain);
    }
}

#[test]
fn tokens_by_their_shape_short_or_long() {
    let fake = "abcdefghij1234567890";
    for secret in [
        format!("ghp_{fake}"),
        format!("gho_{fake}"),
        format!("github_pat_{fake}"),
        format!("glpat-{fake}"),
        format!("sk-{fake}"),
        format!("sk-proj-{fake}"),
        format!("sk-ant-api03-{fake}"),
        format!("sk_live_{fake}"),
        format!("npm_{fake}{fake}"),
        format!("hf_{fake}{fake}"),
        format!("pypi-AgEIcHlwaS5vcmc{fake}"),
        format!("pypi-{fake}{fake}"),
        format!("xoxb-123456789012-{fake}"),
        format!("xoxc-123456789012-{fake}"),
        format!("xoxd-{fake}"),
        format!("xoxe.xoxp-1-{fake}"),
        "AKIA1234567890ABCDEF".to_owned(),
        format!("AIzaSy{fake}{fake}"),
        format!("dop_v1_{}", "0123456789abcdef".repeat(4)),
        format!("dop_v1_{}", "0123456789abcdef".repeat(2)),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln".to_owned(),
        "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0.QR1Owv2ug2Wy.ljTh0aLq.Rm9vYmFyQmF6.c2lnbmF0dXJl".to_owned(),
    ] {
        for (before, after) in [
            ("", ""),
            ("/srv/", "/x"),
            ("a ", " b"),
            ("(", ")"),
            ("x=", ";"),
            ("\u{200b}", ""),
        ] {
            let given = format!("{before}{secret}{after}");
            assert_eq!(line(&given), format!("{before}<*>{after}"), "{given}");
        }
    }
    for plain in [
        "npm_config_registry npm_package_json npm_lifecycle_event",
        "/srv/sk-learn-classifier/sk-model /usr/share/pypi-server-plugins hf_hub hf_transformers_cache",
        "task-abcdefghij1234567890 disk-usage-report-for-2024-06",
    ] {
        assert_eq!(line(plain), plain);
    }
}

/// Command lines that are met.
const LINES: &str = include_str!("../../../../tests/fixtures/cmdlines.tsv");

#[test]
fn command_lines_that_are_met_stay_readable() {
    let mut changed = Vec::new();
    for row in LINES.lines().skip(1) {
        let given = row.split('\t').nth(2).unwrap();
        if line(given) != given {
            changed.push(line(given));
        }
    }
    // Values of secret names, or of variables, that stand here as placeholders.
    let expected = [
        "node /PATH/@kiro/agent/dist/server/acp-server.js --transport=stdio --auth=<*>",
        "env TZ=<*> uvx mcp-server-time --local-timezone=UTC",
        "npx -y mongodb-mcp-server --connectionString <*>",
        "sh -c 'demo-mcp' --api-key <*>",
        "mercato ai_assistant mcp:serve --api-key <*>",
        "npx -y @sentry/mcp-server@latest --access-token=<*>",
        "npx -y @stripe/mcp --tools=all --api-key=<*>",
        "npx -y @smithery/cli@latest run @acme/weather --key <*>",
    ];
    assert_eq!(changed, expected);
}
