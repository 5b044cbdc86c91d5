//! Secrets in a command line, by the place where they stand: everybody on the host can read them.

use crate::model::bytes::OsBytes;
use crate::text::redact::Redactor;

/// What stands in the place of a secret begins so.
const MARK: &[u8] = b"<redacted:";

/// Longest element that names the place by itself; of a longer one (JSON, a program text) the number does.
const ELEMENT_BYTES: usize = 120;

/// Returns the places of secrets in a command line: the flag in front of one, the name that one is given to,
/// else the element as it is without its secret, or its number. Values that were removed before, as in a
/// saved sample, count too.
pub(super) fn secrets(argv: &[OsBytes]) -> Vec<OsBytes> {
    // The rules come with the program; a test holds that they compile.
    let Ok(redactor) = Redactor::builtin() else {
        return Vec::new();
    };
    let argv: Vec<&[u8]> = argv.iter().map(OsBytes::as_bytes).collect();
    let shown = redactor.argv(&argv);
    let mut places = Vec::new();
    for (index, element) in shown.iter().enumerate() {
        let Some(at) = find(element, MARK) else {
            continue;
        };
        places.push(place(&shown, index, at));
    }
    places
}

fn place(shown: &[Vec<u8>], index: usize, at: usize) -> OsBytes {
    let element = &shown[index];
    let before = index.checked_sub(1).and_then(|index| shown.get(index));
    if at == 0
        && let Some(flag) = before.filter(|flag| is_flag(flag))
    {
        return flag.clone().into();
    }
    let given = &element[..at];
    if let Some(name) = given.strip_suffix(b"=")
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    {
        return name.to_vec().into();
    }
    if at == 0 || element.len() > ELEMENT_BYTES {
        return format!("argument {index}").into();
    }
    element.clone().into()
}

fn is_flag(element: &[u8]) -> bool {
    element.starts_with(b"-") && find(element, MARK).is_none()
}

fn find(element: &[u8], what: &[u8]) -> Option<usize> {
    element.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    fn places(argv: &[&str]) -> Vec<String> {
        let argv: Vec<OsBytes> = argv.iter().map(|element| (*element).into()).collect();
        secrets(&argv)
            .iter()
            .map(|place| String::from_utf8_lossy(place.as_bytes()).into_owned())
            .collect()
    }

    #[test]
    fn a_secret_is_told_by_its_place() {
        let given = format!("--api-key={TOKEN}");
        let variable = format!("GITHUB_TOKEN={TOKEN}");
        let url = format!("https://u:{TOKEN}@h/mcp");
        let long = format!("{{\"token\":\"{TOKEN}\",\"rest\":\"{}\"}}", "x ".repeat(80));
        for (argv, wanted) in [
            (&["billingd", "serve", "--token", TOKEN][..], "--token"),
            (&["x", &given], "--api-key"),
            (&["env", &variable, "x"], "GITHUB_TOKEN"),
            (&["x", TOKEN], "argument 1"),
            (&["x", "y", &long], "argument 2"),
        ] {
            assert_eq!(places(argv), [wanted], "{argv:?}");
        }
        let told = places(&["mcp-remote", &url]).join(" ");
        assert!(told.starts_with("https://") && told.ends_with("@h/mcp"), "{told}");
    }

    #[test]
    fn no_place_has_a_secret_in_it() {
        for argv in [
            vec!["x", "--token", TOKEN],
            vec!["x", "--header", "Authorization: Bearer abcdefgh12345678"],
            vec!["sh", "-c", "TOKEN=abcdefgh12345678 node server.js"],
        ] {
            let told = places(&argv).join(" ");
            assert!(!told.is_empty() && !told.contains("12345678"), "{told}");
            assert!(!told.contains(TOKEN), "{told}");
        }
    }

    #[test]
    fn a_saved_command_line_has_the_same_places() {
        assert_eq!(places(&["x", "--token", "<redacted:flag:len=40>"]), ["--token"]);
    }

    #[test]
    fn nothing_is_told_of_a_line_without_one() {
        for argv in [
            vec!["npx", "-y", "@modelcontextprotocol/server-everything"],
            vec!["x", "--token", "${TOKEN}", "--key", "./server.pem"],
            vec![],
        ] {
            assert_eq!(places(&argv), [""; 0], "{argv:?}");
        }
    }
}
