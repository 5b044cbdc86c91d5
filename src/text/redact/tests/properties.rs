//! Properties of redaction, on text made of everything that matters to it.

use proptest::prelude::*;

use super::REDACTOR;

/// What hostile text is put together from.
const PIECES: [&str; 78] = [
    "--token",
    "--key",
    "-e",
    "-H",
    "-c",
    "env",
    "sh",
    "node",
    " ",
    " ",
    " ",
    "=",
    "=",
    ":",
    ": ",
    "'",
    "\"",
    "\\",
    "\\\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    "A_TOKEN=",
    "password",
    "token",
    "abc",
    "é",
    "https://",
    "@",
    "?",
    "&",
    "#",
    ";",
    "/",
    "u:p@h",
    "Authorization:",
    "Bearer ",
    "\"token\":",
    "\"env\":{",
    "\"a\"",
    "\"password\":5",
    "<redacted:flag:len=3>",
    "<YOUR_KEY>",
    "${A}",
    "$(",
    ")",
    "Cookie: a;",
    "a;b=c",
    "q7xK2mPz9LwB4vNs8TdRq7xK2mPz9",
    "0190a2f4-1111-7abc-8def-0123456789ab",
    "\n",
    "-----BEGIN PRIVATE KEY-----",
    "-",
    "--a=",
    "\\u0041",
    "%20",
    "|",
    "(",
    "curl ",
    "docker ",
    "sshpass ",
    "-p",
    "-u",
    "-b",
    "\u{2013}",
    "\u{200b}",
    "\u{a0}",
    "\u{1}",
    "\u{ff1d}",
    "eyJ0b2tlbiI6ImFiYyJ9",
    "%22",
    "?c=%7B%22token%22%3A%22a%22",
    "os.environ['A_TOKEN']",
    "setdefault('API_KEY',",
    "git+https://Tok3n@",
    "`",
];

/// Text in which everything that matters here is frequent.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(&PIECES[..]);
    prop_oneof![
        4 => prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn twice_is_once(text in hostile(), second in hostile()) {
        let once = REDACTOR.line(&text);
        prop_assert_eq!(REDACTOR.line(&once), once.clone(), "{}", text);
        let once = REDACTOR.argv(&["x", &text, &second]);
        prop_assert_eq!(once.len(), 3);
        prop_assert_eq!(REDACTOR.argv(&once), once.clone(), "{} {}", text, second);
    }

    #[test]
    fn valid_json_stays_valid(text in hostile(), key in hostile()) {
        let value = serde_json::json!({ key.clone(): [text.clone(), {"token": 5, "env": {key: text}}] }).to_string();
        let redacted = REDACTOR.line(&value);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok(), "{} -> {}", value, redacted);
    }

    #[test]
    fn any_bytes_do(elements in prop::collection::vec(any::<Vec<u8>>(), 0..4)) {
        prop_assert_eq!(REDACTOR.argv(&elements).len(), elements.len());
    }

    #[test]
    fn what_stands_behind_a_flag_is_gone(secret in "[a-zA-Z0-9!%^*_+]{1,12}[0-9]{4}", flag in "--(api-key|token|my-secret|password)") {
        for redacted in [
            REDACTOR.line(&format!("npx x {flag} {secret} --port 1")),
            REDACTOR.line(&format!("npx x {flag}={secret} --port 1")),
            REDACTOR.line(&format!("sh -c \"npx x {flag}='{secret}'\" --port 1")),
        ] {
            prop_assert!(!redacted.contains(&secret), "{}", redacted);
        }
    }
}
